// Numbers, values and dates in the signs of whoever reads the page.

import { type Reading, type Signs, type Takes, readingOf, signsOf, typed } from "./numbers";
import type { Cell, Column } from "./types";

const SIGNS: Record<string, string> = { "€": "EUR", $: "USD", "£": "GBP", "¥": "JPY" };
const SINCE = "days since ";

/** Text with everything that is not printable (controls, changes of direction) as an escape. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]/gu, (sign) => {
    const code = sign.codePointAt(0) ?? 0;
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
  });
}

export interface ValueWords {
  missing: string;
  yes: string;
  no: string;
  empty: string;
  about: string;
  infinite: string;
}

export class Format {
  private readonly made = new Map<string, Intl.NumberFormat>();
  private readonly signs: Signs;

  constructor(
    readonly locale: string,
    private readonly words: ValueWords,
  ) {
    this.signs = signsOf(locale);
  }

  /** A count. */
  count(number: number): string {
    return this.with({ maximumFractionDigits: 0 }).format(number);
  }

  /** A measured number such as a cost: three digits, or all before the point. */
  amount(number: number | null): string {
    if (number === null) return "–";
    if (!Number.isFinite(number)) return this.words.infinite;
    return Math.abs(number) < 100
      ? this.with({ maximumSignificantDigits: 3 }).format(number)
      : this.with({ maximumFractionDigits: 0 }).format(number);
  }

  /** A share as a whole number of percent, never more than it is. */
  share(share: number | null): string {
    if (share === null) return "–";
    return this.with({ style: "percent", maximumFractionDigits: 0 }).format(Math.floor(100 * share + 1e-9) / 100);
  }

  /** A day, from ISO 8601. */
  day(text: string): string {
    const whole = /^\d{4}-\d\d-\d\d$/.test(text);
    const date = new Date(whole ? `${text}T00:00:00Z` : text);
    if (Number.isNaN(date.getTime())) return printable(text);
    return new Intl.DateTimeFormat(this.locale, { dateStyle: "long", ...(whole ? { timeZone: "UTC" } : {}) }).format(date);
  }

  /** A value of a column; `exact`: with all its digits, as what to change to is told. */
  value(cell: Cell, column: Column, exact = false): string {
    if (cell === null) return this.words.missing;
    if (typeof cell === "boolean") return cell ? this.words.yes : this.words.no;
    if (typeof cell === "string") return this.text(cell, column);
    if (column.unit.startsWith(SINCE)) return this.day(sinceDay(column.unit, cell));
    const digits = exact ? null : column.digits;
    const rounded = digits === null ? cell : Number(cell.toFixed(Math.min(digits, 100)));
    const told = this.number(rounded, column.unit);
    return rounded === cell ? told : this.words.about.replace("{value}", told);
  }

  /** A number as somebody would type it. */
  typed(number: number): string {
    return typed(number, this.signs);
  }

  /** What somebody has typed for a column. */
  read(text: string, column: Column, takes: Takes): Reading {
    const { unit } = column;
    const percent = unit === "%" ? 1 : unit === "fraction" ? 0.01 : null;
    return readingOf(text, this.signs, takes, this.units(unit), percent);
  }

  /** How a unit may be written beside a number. */
  private units(unit: string): string[] {
    const code = codeOf(unit);
    if (!code) return unit ? [unit] : [];
    const named = (["symbol", "narrowSymbol", "name"] as const).flatMap((currencyDisplay) =>
      [1, 2].flatMap((n) => this.with({ style: "currency", currency: code, currencyDisplay }).formatToParts(n)),
    );
    return [unit, code, ...named.filter((part) => part.type === "currency").map((part) => part.value)];
  }

  private text(text: string, column: Column): string {
    if (column.unit === "date" || /^\d{4}-\d\d-\d\d(T00:00:00)?$/.test(text)) return this.day(text.slice(0, 10));
    return printable(text) || this.words.empty;
  }

  private number(number: number, unit: string): string {
    const digits = { maximumFractionDigits: 20 };
    if (!Number.isFinite(number)) return String(number);
    if (unit === "%" || unit === "fraction") {
      const share = Number((unit === "%" ? number / 100 : number).toPrecision(15));
      return this.with({ style: "percent", ...digits }).format(share);
    }
    const code = codeOf(unit);
    if (code) {
      return this.with({ style: "currency", currency: code, minimumFractionDigits: 0, ...digits }).format(number);
    }
    const told = Math.abs(number) >= 1e16 ? String(number) : this.with(digits).format(number);
    return unit ? `${told} ${printable(unit)}` : told;
  }

  private with(options: Intl.NumberFormatOptions): Intl.NumberFormat {
    const key = JSON.stringify(options);
    let made = this.made.get(key);
    if (!made) {
      made = new Intl.NumberFormat(this.locale, options);
      this.made.set(key, made);
    }
    return made;
  }
}

/** The currency that a unit is; empty if it is none. */
function codeOf(unit: string): string {
  const code = SIGNS[unit] ?? unit;
  return /^[A-Z]{3}$/.test(code) ? code : "";
}

function sinceDay(unit: string, days: number): string {
  const first = Date.parse(`${unit.slice(SINCE.length)}T00:00:00Z`);
  const date = new Date(first + days * 86_400_000);
  return Number.isNaN(date.getTime()) ? String(days) : date.toISOString().slice(0, 10);
}
