// From JSON to what the page knows. Whatever is not as it should be is left out, never guessed.

import { printable } from "../format";
import { ANYTHING } from "../numbers";
import type { Cell, Change, Column, Distribution, Person, Plan, Verdict } from "../types";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Fields = Record<string, Json>;

export function fields(value: Json | undefined): Fields {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
}
export function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}
export function text(value: Json | undefined): string {
  return typeof value === "string" ? value : value === null || value === undefined ? "" : String(value);
}
export function number(value: Json | undefined): number | null {
  if (value === "inf" || value === "-inf") return value === "inf" ? Infinity : -Infinity;
  return typeof value === "number" ? value : null;
}
export function cell(value: Json | undefined): Cell {
  return value === undefined || (typeof value === "object" && value !== null) ? (value ? JSON.stringify(value) : null) : value;
}

/** The label of a person: as it is, several parts with strokes. */
export function label(value: Json | undefined): string {
  return Array.isArray(value) ? value.map(label).join(" / ") : printable(text(value));
}

export function distribution(value: Json | undefined): Distribution | null {
  const told = fields(value);
  const counts = (side: string) => list(told[side]).map((count) => number(count) ?? 0);
  const [accepted, refused] = [counts("accepted"), counts("refused")];
  const edges = list(told["edges"]).map((edge) => number(edge) ?? 0);
  if (edges.length > 1) return { edges, accepted, refused };
  const values = list(told["values"]).map(cell);
  return values.length ? { values, accepted, refused } : null;
}

/** A column as a result or the data of an explorer tells it. */
export function columnOf(value: Json, more: Partial<Column> = {}): Column {
  const told = fields(value);
  const kind = text(told["kind"]);
  return {
    name: text(told["name"]),
    title: printable(text(told["title"]) || text(told["name"])),
    kind: kind === "number" ? "number" : kind === "category" || kind === "ordered" ? "category" : "text",
    integer: false,
    ordered: kind === "ordered",
    movable: kind !== "fixed",
    follows: "",
    direction: "any",
    lower: null,
    upper: null,
    step: null,
    takes: ANYTHING,
    seen: null,
    digits: number(told["digits"]),
    unit: text(told["unit"]),
    categories: list(told["categories"]).map(cell),
    initial: null,
    nullable: false,
    distribution: null,
    ...more,
  };
}

/** A plan, from the row of a result; `places` are those of the columns by their names. */
export function planOf(told: Fields, changes: Change[], exists: boolean): Plan {
  return {
    rank: number(told["rank"]) ?? 1,
    status: text(told["status"]),
    reason: text(told["reason"]),
    valid: told["valid"] === true,
    exists,
    cost: number(told["cost"]),
    share: number(told["jury_share"]),
    bound: number(told["survival_bound"]),
    changes,
    steps: null,
  };
}

/** The people of a document that `to_json` wrote, each with all plans. */
export function peopleOf(document: Json, columns: Column[]): Person[] {
  const places = new Map(columns.map((column, place) => [column.name, place]));
  const people: Person[] = [];
  let last: Json | undefined;
  for (const entry of list(fields(document)["rows"])) {
    const told = fields(entry);
    const changes = list(told["changes"]).flatMap((each) => {
      const change = fields(each);
      const place = places.get(text(change["column"]));
      if (place === undefined) return [];
      return [{ column: place, from: cell(change["from"]), to: cell(change["to"]), cost: number(change["cost"]) ?? 0 }];
    });
    const plan = planOf(told, changes, told["after"] !== null);
    if (!people.length || told["person"] !== last) {
      const before = fields(told["before"]);
      people.push({ id: label(told["label"]), row: columns.map((column) => cell(before[column.name])), accepted: null, plans: [], notice: "" });
      last = told["person"];
    }
    people[people.length - 1]?.plans?.push(plan);
  }
  return people;
}

/** The columns of such a document. */
export function columnsOf(document: Json): Column[] {
  return list(fields(document)["columns"]).map((column) => columnOf(column));
}

/** The people of the data that `to_explorer` wrote. */
export function stillPeople(data: Fields): Person[] {
  return list(data["people"]).map((each) => {
    const person = fields(each);
    const row = list(person["row"]).map(cell);
    const plans = list(person["plans"]).map((entry) => {
      const told = fields(entry);
      const changes = list(told["changes"]).map((change) => {
        const [place, to, cost] = list(change);
        const column = number(place) ?? 0;
        return { column, from: row[column] ?? null, to: cell(to), cost: number(cost) ?? 0 };
      });
      return { ...planOf(told, changes, told["exists"] === true), steps: stepsOf(told["steps"]) };
    });
    return { id: label(person["label"]), row, accepted: null, plans: plans.map(withShare), notice: text(person["notice"]) };
  });
}

function stepsOf(value: Json | undefined): Map<number, Verdict> | null {
  if (value === undefined) return null;
  return new Map(
    Object.entries(fields(value)).map(([mask, said]) => [
      Number(mask),
      { accepted: list(said)[0] === true, share: number(list(said)[1]) },
    ]),
  );
}

/** A jury that was only asked for the page says how many accept the whole plan, too. */
function withShare(plan: Plan): Plan {
  const all = 2 ** plan.changes.filter((change) => change.cost !== 0).length - 1;
  return plan.share === null ? { ...plan, share: plan.steps?.get(all)?.share ?? null } : plan;
}
