// The people of a batch as an analyst looks at them: filtered, sorted, in groups.

import { inOrder, needsNothing, own, usable } from "./plans";
import type { Cell, Person, Plan } from "./types";

export interface Line {
  person: Person;
  plan: Plan | null;
  outcome: "plan" | "accepted" | "none";
  status: string;
  changes: number | null;
  cost: number | null;
  /** What says whether the plan lasts: a proven bound where there are such, else the share of the retrained models. */
  share: number | null;
}

export type SortKey = "id" | "outcome" | "changes" | "cost" | "share" | "group";

export interface Filter {
  text: string;
  status: string;
  group: number | null;
  value: string | null;
}

export interface Group {
  value: string;
  people: number;
  helped: number;
  cost: number | null;
  share: number | null;
}

export function linesOf(people: Person[], proven: boolean): Line[] {
  return people.map((person) => {
    const plan = inOrder(person.plans ?? [])[0] ?? person.plans?.[0] ?? null;
    const outcome = plan && usable(plan) ? "plan" : plan && needsNothing(plan) ? "accepted" : "none";
    const some = outcome === "plan" ? plan : null;
    return {
      person,
      plan,
      outcome,
      status: plan?.status ?? "",
      changes: some && own(some).length,
      cost: some && some.cost,
      share: some && (proven ? some.bound : some.share),
    };
  });
}

export function groupOf(cell: Cell | undefined): string {
  return cell === null || cell === undefined ? "" : String(cell);
}

export function filtered(lines: Line[], filter: Filter): Line[] {
  const sought = filter.text.trim().toLowerCase();
  return lines.filter(
    (line) =>
      (!filter.status || line.status === filter.status) &&
      (filter.group === null || filter.value === null || groupOf(line.person.row[filter.group]) === filter.value) &&
      (!sought || line.person.id.toLowerCase().includes(sought) || line.person.row.some((cell) => groupOf(cell).toLowerCase().includes(sought))),
  );
}

/** Sorted; what is not known comes last, in either direction. */
export function sorted(lines: Line[], key: SortKey, down: boolean, group: number | null): Line[] {
  const compare = new Intl.Collator(undefined, { numeric: true }).compare;
  const value = (line: Line): string | number | null => {
    if (key === "id") return line.person.id;
    if (key === "group") return group === null ? null : groupOf(line.person.row[group]);
    return line[key === "outcome" ? "status" : key];
  };
  const keyed = lines.map((line) => ({ line, value: value(line) }));
  keyed.sort((one, other) => {
    if (one.value === null || other.value === null) return Number(one.value === null) - Number(other.value === null);
    const order =
      typeof one.value === "number" && typeof other.value === "number" ? one.value - other.value : compare(String(one.value), String(other.value));
    return down ? -order : order;
  });
  return keyed.map((each) => each.line);
}

export function groups(lines: Line[], column: number): Group[] {
  const parts = new Map<string, Line[]>();
  for (const line of lines) {
    const value = groupOf(line.person.row[column]);
    const part = parts.get(value);
    if (part) part.push(line);
    else parts.set(value, [line]);
  }
  return [...parts].map(([value, part]) => ({
    value,
    people: part.length,
    helped: part.filter((line) => line.outcome === "plan").length,
    cost: median(known(part.map((line) => line.cost))),
    share: mean(known(part.map((line) => line.share))),
  }));
}

function known(values: (number | null)[]): number[] {
  return values.filter((value): value is number => value !== null && Number.isFinite(value));
}
function mean(values: number[]): number | null {
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}
export function median(values: number[]): number | null {
  if (!values.length) return null;
  const ordered = [...values].sort((one, other) => one - other);
  const half = ordered.length >> 1;
  return ordered.length % 2 ? ordered[half]! : (ordered[half - 1]! + ordered[half]!) / 2;
}
