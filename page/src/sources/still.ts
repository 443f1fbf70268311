// Data that were written beside the page: for reading, without a server.

import { masks, wished } from "../plans";
import type { Column, Person, Plan, Source, Wishes } from "../types";
import { type Fields, type Json, columnOf, columnsOf, distribution, fields, list, number, peopleOf, stillPeople, text } from "./reading";

const MOST_FOUND = 50;

/** The source of the data that `to_explorer` wrote. */
export function still(data: Json): Source {
  const told: Fields = fields(data);
  const people = stillPeople(told);
  const shown = list(told["background"]);
  const columns = list(told["columns"]).map((column, k) => columnOf(column, { distribution: distribution(shown[k]) }));
  return reading(columns, people, text(told["title"]), text(told["when"]), number(told["jurors"]), told["guided"] !== false);
}

/** The source of a result file, a document of `to_json`; null if it is none. */
export function opened(document: Json, title: string): Source | null {
  const columns = columnsOf(document);
  const people = peopleOf(document, columns);
  return columns.length && people.length ? reading(columns, people, title, "", null, true) : null;
}

function reading(columns: Column[], people: Person[], title: string, when: string, jurors: number | null, guided: boolean): Source {
  fillIn(columns, people);
  const some = (known: (plan: Plan) => boolean) => people.some((person) => person.plans?.some(known));
  const jury = some((plan) => plan.share !== null);
  const check = some((plan) => plan.bound !== null);
  const refuse = () => Promise.reject(new Error("needs a service"));
  return {
    title,
    when,
    columns,
    offers: { asks: false, search: true, jury, jurors, guided, check, ledger: false, notice: people.some((person) => person.notice) },
    find(wanted) {
      const matching = matchingPeople(people, wanted);
      return Promise.resolve({ people: matching.slice(0, MOST_FOUND), total: matching.length });
    },
    plans: (person: Person, wishes: Wishes) => Promise.resolve(wished(person.plans ?? [], wishes)),
    verdicts: refuse,
    today: (person: Person) => Promise.resolve(person.plans?.map((plan) => plan.steps?.get(0)).find((said) => said) ?? null),
    steps: (_person: Person, plan: Plan, order: number[]) =>
      Promise.resolve(masks(order).map((mask) => plan.steps?.get(mask) ?? null)),
    everybody(told) {
      told(people, people.length);
      return Promise.resolve();
    },
    notice: refuse,
    promise: refuse,
    receipt: refuse,
  };
}

export function matchingPeople(people: Person[], wanted: string): Person[] {
  const sought = wanted.trim().toLowerCase();
  if (!sought) return people;
  const starts = people.filter((person) => person.id.toLowerCase().startsWith(sought));
  const holds = people.filter(
    (person) =>
      !person.id.toLowerCase().startsWith(sought) &&
      (person.id.toLowerCase().includes(sought) || person.row.some((value) => String(value ?? "").toLowerCase().includes(sought))),
  );
  return [...starts, ...holds];
}

/** What a result does not tell of its columns is taken from the values in it. */
function fillIn(columns: Column[], people: Person[]): void {
  columns.forEach((column, k) => {
    const seen = new Set(people.map((person) => person.row[k] ?? null));
    for (const person of people) {
      for (const plan of person.plans ?? []) for (const change of plan.changes) if (change.column === k) seen.add(change.to);
    }
    const moved = people.some((person) => person.plans?.some((plan) => plan.changes.some((change) => change.column === k)));
    column.movable &&= moved;
    if (column.kind === "number") {
      const numbers = [...seen].filter((value): value is number => typeof value === "number");
      column.lower = numbers.reduce((least, value) => Math.min(least, value), Infinity);
      column.upper = numbers.reduce((most, value) => Math.max(most, value), -Infinity);
      column.integer = numbers.every(Number.isInteger);
    } else if (!column.categories.length && seen.size <= 100) {
      column.categories = [...seen].filter((value) => value !== null).sort((one, other) => String(one).localeCompare(String(other)));
    }
  });
}
