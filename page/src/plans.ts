// Plans: which is the cheapest, which the safest, and what a person's wishes make of them.

import type { Cell, Change, Column, Ease, Offers, Person, Plan, Wish, Wishes } from "./types";

export const MOST_PLANS = 4;
/** Factors on the cost of what a person finds easy or hard. */
export const DIFFICULTY: Record<Ease, number> = { any: 1, easy: 1 / 3, hard: 3, cannot: Infinity };
export const NO_WISH: Wish = { ease: "any", low: null, high: null, values: null };

/** The changes that a person makes; the others follow from them. */
export function own(plan: Plan): Change[] {
  return plan.changes.filter((change) => change.cost !== 0);
}

export function usable(plan: Plan): boolean {
  return plan.exists && plan.valid && plan.changes.length > 0;
}

/** Whether a person is accepted as they are. */
export function needsNothing(plan: Plan): boolean {
  return plan.exists && plan.valid && plan.changes.length === 0;
}

/** Whether two plans are the same changes, whatever they cost whom. */
export function alike(one: Plan, other: Plan): boolean {
  const told = (plan: Plan) => JSON.stringify(plan.changes.map((change) => [change.column, change.to]));
  return told(one) === told(other);
}

export function after(person: Person, plan: Plan): Cell[] {
  const row = [...person.row];
  for (const change of plan.changes) row[change.column] = change.to;
  return row;
}

export function cheapest(plans: Plan[]): Plan | undefined {
  return best(plans, (plan) => -(plan.cost ?? Infinity));
}

/** The plan with the highest proven bound, then with the largest share, then the cheapest; none if nobody was asked. */
export function safest(plans: Plan[]): Plan | undefined {
  const known = plans.filter((plan) => plan.share !== null || plan.bound !== null);
  const proven = most(known, (plan) => plan.bound);
  return known.length > 1 ? cheapest(most(proven, (plan) => plan.share)) : undefined;
}

function most(plans: Plan[], value: (plan: Plan) => number | null): Plan[] {
  const top = Math.max(...plans.map((plan) => value(plan) ?? -1));
  return plans.filter((plan) => (value(plan) ?? -1) === top);
}

/** Plans that are accepted, and are less than was asked for. */
const SHORT = new Set(["promised odds out of reach", "margin out of reach", "quorum out of reach", "promised survival out of reach"]);

/** The plans that can be chosen: those that are what was asked for first, the cheapest before all others. */
export function inOrder(plans: Plan[]): Plan[] {
  const cost = (plan: Plan) => plan.cost ?? Infinity;
  const order = (one: Plan, other: Plan) => Number(SHORT.has(one.status)) - Number(SHORT.has(other.status)) || (cost(one) === cost(other) ? 0 : cost(one) - cost(other));
  return plans.filter(usable).sort(order);
}

/** Whether another plan costs less, and is worse in nothing. */
export function beaten(plan: Plan, plans: Plan[]): boolean {
  const level = (one: number | null, other: number | null) => (one ?? -1) >= (other ?? -1);
  return plans.some(
    (other) =>
      (other.cost ?? Infinity) < (plan.cost ?? Infinity) &&
      level(other.share, plan.share) &&
      level(other.bound, plan.bound) &&
      (SHORT.has(plan.status) || !SHORT.has(other.status)),
  );
}

/** Whether models apart from the search have judged a plan. */
export function measured(plan: Plan, offers: Offers): boolean {
  return plan.bound !== null || (plan.share !== null && !offers.guided);
}

function best(plans: Plan[], score: (plan: Plan) => number): Plan | undefined {
  return plans.reduce<Plan | undefined>((top, plan) => (top === undefined || score(plan) > score(top) ? plan : top), undefined);
}

/** The plans that keep to a person's wishes, with costs as the person sees them, the cheapest first. */
export function wished(plans: Plan[], wishes: Wishes): Plan[] {
  if (![...wishes.values()].some(isWish)) return plans;
  return plans
    .filter((plan) => plan.changes.every((change) => allows(wishes.get(change.column) ?? NO_WISH, change)))
    .map((plan) => {
      const changes = plan.changes.map((change) => ({ ...change, cost: change.cost * factor(wishes, change.column) }));
      return { ...plan, changes, cost: plan.cost === null ? null : changes.reduce((sum, change) => sum + change.cost, 0) };
    })
    .sort((one, other) => (one.cost ?? Infinity) - (other.cost ?? Infinity));
}

export function isWish(wish: Wish): boolean {
  return wish.ease !== "any" || wish.low !== null || wish.high !== null || wish.values !== null;
}

/** Whether a limit was typed that cannot be understood. */
export function isWrong(wish: Wish): boolean {
  return wish.low === undefined || wish.high === undefined;
}

function factor(wishes: Wishes, column: number): number {
  return DIFFICULTY[wishes.get(column)?.ease ?? "any"];
}

function allows(wish: Wish, change: Change): boolean {
  if (wish.ease === "cannot") return change.cost === 0;
  if (wish.values !== null) return wish.values.includes(change.to);
  if (typeof change.to !== "number") return true;
  return change.to >= (wish.low ?? -Infinity) && change.to <= (wish.high ?? Infinity);
}

/** 1 if a change raises a value, -1 if it lowers it, 0 if its values have no order. */
export function direction(column: Column, change: Change): number {
  if (/^(date$|days since )/.test(column.unit)) return 0;
  if (typeof change.from === "number" && typeof change.to === "number" && column.kind === "number") return Math.sign(change.to - change.from);
  if (!column.ordered) return 0;
  const [from, to] = [column.categories.indexOf(change.from), column.categories.indexOf(change.to)];
  return from < 0 || to < 0 ? 0 : Math.sign(to - from);
}

/** The bits of the changes that have been made after each step. */
export function masks(order: number[]): number[] {
  let made = 0;
  return order.map((place) => (made |= 1 << place));
}

/** The rows after each step; what follows from other changes comes with the last one. */
export function stepRows(person: Person, plan: Plan, order: number[]): Cell[][] {
  const changes = own(plan);
  const row = [...person.row];
  return order.map((place, step) => {
    const change = changes[place];
    if (change) row[change.column] = change.to;
    return step === order.length - 1 ? after(person, plan) : [...row];
  });
}
