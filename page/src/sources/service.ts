// The service that serves the page.

import { printable } from "../format";
import type { Takes } from "../numbers";
import { DIFFICULTY, MOST_PLANS, after, alike, beaten, stepRows, usable } from "../plans";
import type { Cell, Column, Person, Plan, Receipt, Source, Verdict, Wishes } from "../types";
import { type Fields, type Json, cell, columnOf, distribution, fields, label, list, number, peopleOf, text } from "./reading";

const AT_ONCE = 50; // people of a batch that are explained in one request
const PATIENCE = 5; // times that a busy service is asked again
const SECONDS = 10; // that the search for further plans may take, while the first one is shown

/** What a service refused, in its words. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    detail: string,
    readonly errors: { field: string; detail: string }[] = [],
  ) {
    super(detail);
  }
}

export class Connection {
  token = "";

  async get(address: string, signal?: AbortSignal): Promise<Json> {
    return (await this.fetch(address, { method: "GET" }, signal)).json() as Promise<Json>;
  }

  async post(address: string, body: Json, signal?: AbortSignal): Promise<Json> {
    return (await this.send(address, body, signal)).json() as Promise<Json>;
  }

  async html(address: string, body: Json): Promise<string> {
    return (await this.send(address, body)).text();
  }

  private send(address: string, body: Json, signal?: AbortSignal): Promise<Response> {
    return this.fetch(address, { method: "POST", body: JSON.stringify(body) }, signal);
  }

  private async fetch(address: string, request: RequestInit, signal?: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = request.body ? { "Content-Type": "application/json" } : {};
    if (this.token) headers["Authorization"] = `Bearer ${this.token}`;
    for (let attempt = 0; ; attempt++) {
      const answer = await fetch(address, { ...request, headers, signal: signal ?? null, credentials: "omit", cache: "no-store" });
      if (answer.ok) return answer;
      if (answer.status !== 503 || attempt >= PATIENCE) throw await problem(answer);
      await pause(1000 * Math.min(Number(answer.headers.get("Retry-After")) || 1, 10), signal);
    }
  }
}

async function problem(answer: Response): Promise<Problem> {
  const told = await answer.json().then(fields as (value: unknown) => Fields, () => ({}) as Fields);
  const errors = list(told["errors"]).map((each) => ({ field: text(fields(each)["field"]), detail: text(fields(each)["detail"]) }));
  return new Problem(answer.status, printable(text(told["detail"]) || text(told["title"]) || `${answer.status} ${answer.statusText}`), errors);
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = window.setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      window.clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}

/** The source of a service, once it has told what it knows. */
export async function served(connection: Connection): Promise<Source> {
  const schema = fields(await connection.get("v1/schema"));
  const properties = fields(fields(schema["row"])["properties"]);
  const columns = list(schema["columns"]).map((column) => servedColumn(column, fields(properties[text(fields(column)["name"])])));
  const jury = schema["jury"] === null ? null : fields(schema["jury"]);
  const searchable = fields(schema["people"])["search"] === true;
  const limited = fields(schema["limits_of_service"]);
  const most = Math.min(MOST_PLANS, number(limited["alternatives"]) ?? MOST_PLANS);
  const seconds = Math.min(SECONDS, number(limited["time_limit"]) ?? SECONDS);
  const named = (row: Cell[]): Fields => Object.fromEntries(columns.map((column, k) => [column.name, row[k] ?? null]));

  const explain = async (rows: Cell[][], alternatives: number, limits: Fields, signal: AbortSignal): Promise<Person[]> =>
    peopleOf(await connection.post("v1/recourse", { rows: rows.map(named), alternatives, ...limits }, signal), columns);

  const verdicts = async (rows: Cell[][], signal: AbortSignal): Promise<Verdict[]> => {
    const said = fields(await connection.post("v1/verdict", { rows: rows.map(named) }, signal));
    return list(said["verdicts"]).map((each) => {
      const verdict = fields(each);
      return { accepted: verdict["accepted"] === true, share: number(verdict["jury_share"]) };
    });
  };

  const page = async (query: string, signal: AbortSignal): Promise<{ people: Person[]; total: number }> => {
    const told = fields(await connection.get(`v1/people?${query}`, signal));
    const people = list(told["people"]).map((each) => {
      const person = fields(each);
      const row = fields(person["row"]);
      const accepted = typeof person["accepted"] === "boolean" ? person["accepted"] : null;
      return { id: label(person["id"]), row: columns.map((column) => cell(row[column.name])), accepted, plans: null, notice: "" };
    });
    return { people, total: number(told["total"]) ?? people.length };
  };

  return {
    title: printable(text(schema["name"])),
    when: "",
    columns,
    offers: {
      asks: true,
      search: searchable,
      jury: jury !== null,
      jurors: jury && number(jury["models"]),
      guided: jury !== null,
      check: jury !== null && number(jury["check"]) !== null,
      ledger: schema["ledger"] === true,
      notice: true,
    },
    find: (wanted, signal) => page(new URLSearchParams({ query: wanted, limit: "20" }).toString(), signal),
    async plans(person: Person, wishes: Wishes, told: (plans: Plan[]) => void, signal: AbortSignal): Promise<Plan[]> {
      const limits = limitsOf(wishes, columns);
      const plans = (await explain([person.row], 1, limits, signal))[0]?.plans ?? [];
      const first = plans.find(usable);
      if (!first || most === 1) return plans;
      told([first]);
      const more = (await explain([person.row], most, { ...limits, time_limit: seconds }, signal))[0]?.plans ?? [];
      // The first one was given all the time that it needed: others join it, and replace it only if they are better.
      const all = [first, ...more.filter((plan) => usable(plan) && !alike(plan, first))];
      return all.filter((plan) => !beaten(plan, all)).slice(0, most);
    },
    verdicts,
    today: async (person, signal) => (await verdicts([person.row], signal))[0] ?? null,
    steps: (person, plan, order, signal) => verdicts(stepRows(person, plan, order), signal),
    async everybody(told, signal) {
      const people: Person[] = [];
      for (let total = Infinity; people.length < total; ) {
        const query = new URLSearchParams({ status: "refused", offset: String(people.length), limit: String(AT_ONCE) });
        const next = await page(query.toString(), signal);
        total = next.total;
        if (!next.people.length) break;
        const explained = await explain(next.people.map((person) => person.row), 1, {}, signal);
        next.people.forEach((person, k) => people.push({ ...person, plans: explained[k]?.plans ?? [] }));
        told([...people], total);
      }
    },
    notice(person, plan, locale) {
      const body = { row: named(person.row), after: named(after(person, plan)) };
      const plain = () => connection.html("v1/notice", body);
      if (schema["locales"] !== true) return plain();
      // A locale that the service does not know is no reason to print nothing.
      return connection.html("v1/notice", { ...body, locale }).catch((error: unknown) => {
        if (error instanceof Problem && error.status === 422) return plain();
        throw error;
      });
    },
    async promise(person: Person, plan: Plan, id: string): Promise<Receipt> {
      const body = { person: id, row: named(person.row), after: named(after(person, plan)) };
      return receiptOf(await connection.post("v1/promises", body));
    },
    receipt: async (id, code) => receiptOf(await connection.get(`v1/promises/${encodeURIComponent(id)}?${new URLSearchParams({ code }).toString()}`)),
  };
}

function receiptOf(value: Json): Receipt {
  const told = fields(value);
  return {
    id: label(told["id"]),
    person: label(told["person"]),
    made: text(told["made"]),
    until: text(told["until"]),
    code: label(told["code"]),
    verified: told["verified"] === true,
    notice: printable(text(told["notice"])),
  };
}

function servedColumn(value: Json, row: Fields): Column {
  const told = fields(value);
  const kind = text(told["kind"]);
  const categories = list(told["categories"]).map((each) => cell(fields(each)["value"]));
  const direction = text(told["direction"]);
  const [low, high] = list(told["seen"]).map(number);
  const seen: [number, number] | null = typeof low === "number" && typeof high === "number" ? [low, high] : null;
  return columnOf(value, {
    title: printable(text(told["label"]) || text(told["name"])),
    kind: kind === "number" ? "number" : kind === "text" ? "text" : "category",
    integer: told["integer"] === true,
    ordered: told["ordered"] === true,
    movable: told["movable"] === true,
    follows: printable(text(told["follows"])),
    direction: direction === "up" || direction === "down" ? direction : "any",
    lower: number(told["lower"]) ?? low ?? null,
    upper: number(told["upper"]) ?? high ?? null,
    step: number(told["step"]),
    takes: takesOf(row, seen),
    seen,
    digits: number(told["decimals"]),
    categories,
    initial: cell(told["default"]),
    nullable: told["missing_allowed"] === true,
    distribution: distribution(told["histogram"]),
  });
}

/** Which numbers the service takes in a row; none below zero where nobody has one. */
function takesOf(row: Fields, seen: [number, number] | null): Takes {
  const end = (name: string) => (typeof row[name] === "number" ? Number(row[name].toPrecision(12)) : null);
  const low = end("minimum");
  const among = list(row["enum"]).filter((each) => typeof each === "number");
  return {
    low: seen && seen[0] >= 0 ? Math.max(low ?? 0, 0) : low,
    high: end("maximum"),
    whole: [row["type"]].flat().includes("integer"),
    among: among.length ? among : null,
  };
}

/** What a person says, as the limits of a request. */
export function limitsOf(wishes: Wishes, columns: Column[]): Fields {
  const fixed: string[] = [];
  const ranges: [string, Json][] = [];
  const categories: [string, Json][] = [];
  const difficulty: [string, Json][] = [];
  for (const [place, wish] of wishes) {
    const column = columns[place];
    if (column === undefined) continue;
    const { name, lower, upper } = column;
    // An end that the lender's own lies within says nothing more.
    const low = typeof wish.low === "number" && (lower === null || wish.low > lower) ? wish.low : null;
    const high = typeof wish.high === "number" && (upper === null || wish.high < upper) ? wish.high : null;
    if (wish.ease === "cannot") {
      fixed.push(name);
      continue;
    }
    if (wish.ease !== "any") difficulty.push([name, DIFFICULTY[wish.ease]]);
    if (low !== null || high !== null) ranges.push([name, [low, high]]);
    if (wish.values !== null) categories.push([name, wish.values]);
  }
  const told: [string, [string, Json][]][] = [["ranges", ranges], ["categories", categories], ["difficulty", difficulty]];
  const some = told.filter(([, entries]) => entries.length).map(([key, entries]) => [key, Object.fromEntries(entries)]);
  return { ...(fixed.length ? { fixed } : {}), ...Object.fromEntries(some) };
}
