// What the page knows: columns, people, plans. Values of a row stand in the order of the columns.

import type { Takes } from "./numbers";

export type Cell = string | number | boolean | null;

/** A cell that is being filled in; undefined: what was typed could not be understood, or cannot be. */
export type Entered = Cell | undefined;

export interface Counts {
  accepted: number[];
  refused: number[];
}
export interface Histogram extends Counts {
  edges: number[];
}
export interface Tally extends Counts {
  values: Cell[];
}
export type Distribution = Histogram | Tally;

export interface Column {
  name: string;
  title: string;
  kind: "number" | "category" | "text";
  integer: boolean;
  ordered: boolean;
  movable: boolean;
  /** The column that this one follows from; empty if there is none. */
  follows: string;
  direction: "any" | "up" | "down";
  lower: number | null;
  upper: number | null;
  step: number | null;
  /** Numbers that a row may have here. */
  takes: Takes;
  /** The smallest and the largest number of the training rows. */
  seen: [number, number] | null;
  digits: number | null;
  unit: string;
  categories: Cell[];
  initial: Cell;
  nullable: boolean;
  distribution: Distribution | null;
}

export interface Change {
  column: number;
  from: Cell;
  to: Cell;
  cost: number;
}

export interface Verdict {
  accepted: boolean;
  share: number | null;
}

export interface Plan {
  rank: number;
  status: string;
  reason: string;
  valid: boolean;
  exists: boolean;
  cost: number | null;
  /** The share of the retrained models that accept. */
  share: number | null;
  /** The least survival that models apart from the search prove. */
  bound: number | null;
  changes: Change[];
  /** What models said when some changes are made, by the bits of those that cost something. */
  steps: Map<number, Verdict> | null;
}

export interface Person {
  id: string;
  row: Cell[];
  /** What the present model says, if that is known. */
  accepted: boolean | null;
  plans: Plan[] | null;
  notice: string;
}

export type Ease = "any" | "easy" | "hard" | "cannot";

/** What a person says about a column. */
export interface Wish {
  ease: Ease;
  /** Acceptable numbers; null: no limit, undefined: what was typed is none. */
  low: number | null | undefined;
  high: number | null | undefined;
  /** Acceptable categories; null: all of them. */
  values: Cell[] | null;
}
export type Wishes = ReadonlyMap<number, Wish>;

export interface Receipt {
  id: string;
  person: string;
  made: string;
  until: string;
  code: string;
  verified: boolean;
  notice: string;
}

export interface Offers {
  /** Models can be asked: new plans, what-if. */
  asks: boolean;
  search: boolean;
  jury: boolean;
  jurors: number | null;
  /** The jury guided the search, so that it cannot judge what was found. */
  guided: boolean;
  /** Models apart from the search have judged. */
  check: boolean;
  ledger: boolean;
  notice: boolean;
}

/** Where people, plans and verdicts come from: a service, or data that were written beside the page. */
export interface Source {
  title: string;
  when: string;
  columns: Column[];
  offers: Offers;
  /** People that match a text, and how many there are. */
  find(text: string, signal: AbortSignal): Promise<{ people: Person[]; total: number }>;
  /** The plans of a person; `told` hears those that are there before the rest. */
  plans(person: Person, wishes: Wishes, told: (plans: Plan[]) => void, signal: AbortSignal): Promise<Plan[]>;
  /** What models say about rows. */
  verdicts(rows: Cell[][], signal: AbortSignal): Promise<Verdict[]>;
  /** What models say about a person as they are; null if nobody was asked. */
  today(person: Person, signal: AbortSignal): Promise<Verdict | null>;
  /** What models say after each of the changes of a plan in an order; null where nobody was asked. */
  steps(person: Person, plan: Plan, order: number[], signal: AbortSignal): Promise<(Verdict | null)[]>;
  /** Everybody, with plans; `told` hears how many are there so far. */
  everybody(told: (people: Person[], total: number) => void, signal: AbortSignal): Promise<void>;
  /** The applicant's page as HTML, with numbers in the signs of a locale. */
  notice(person: Person, plan: Plan, locale: string): Promise<string>;
  promise(person: Person, plan: Plan, id: string): Promise<Receipt>;
  /** A promise that was made, and whether a code is its code. */
  receipt(id: string, code: string): Promise<Receipt>;
}
