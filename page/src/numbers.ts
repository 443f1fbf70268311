// Numbers as people type them, in the signs of a language. What could be read in two ways is not read at all.

/** What a field takes. */
export interface Takes {
  low: number | null;
  high: number | null;
  whole: boolean;
  /** The only values there are; null: no such list. */
  among: number[] | null;
}
export const ANYTHING: Takes = { low: null, high: null, whole: false, among: null };

export type Wrong = "notNumber" | "notWhole" | "notAmong" | "tooLow" | "tooHigh";
export interface Reading {
  /** The number that was understood; null: the field is empty, or holds none. */
  value: number | null;
  wrong: Wrong | null;
}

/** The signs with which a language writes numbers. */
export interface Signs {
  decimal: string;
  groups: string[];
  digits: string[];
  /** Thousands, then hundreds of thousands, as in India: 12,34,567. */
  pairs: boolean;
}

export function signsOf(locale: string): Signs {
  const parts = (options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options).formatToParts(1_234_567_890.5);
  const [plain, money] = [parts({}), parts({ style: "currency", currency: "EUR" })]; // Austria writes 1 500, and 1.500 euros
  const sign = (type: string) => [...plain, ...money].filter((part) => part.type === type).map((part) => alike(part.value));
  const digit = new Intl.NumberFormat(locale, { useGrouping: false });
  return {
    decimal: sign("decimal")[0] ?? ".",
    groups: [...new Set([" ", "'", ...sign("group")])],
    digits: Array.from({ length: 10 }, (_, k) => digit.format(k)),
    pairs: plain.filter((part) => part.type === "integer").some((part, k) => k > 0 && part.value.length === 2),
  };
}

/** A number as somebody would type it: with all its digits, and nothing between them. */
export function typed(value: number, { decimal }: Signs): string {
  return String(value).replace(".", decimal);
}

/** What a text says; `units` are texts that may stand before or behind the number. */
export function readingOf(text: string, signs: Signs, takes: Takes, units: string[] = [], percent: 1 | 0.01 | null = null): Reading {
  if (!text.trim()) return { value: null, wrong: null };
  const value = numberIn(text, signs, units, percent);
  return { value, wrong: value === null ? "notNumber" : wrongWith(value, takes) };
}

function wrongWith(value: number, { low, high, whole, among }: Takes): Wrong | null {
  if (whole && !Number.isInteger(value)) return "notWhole";
  if (among) return among.includes(value) ? null : "notAmong";
  if (low !== null && value < low) return "tooLow";
  return high !== null && value > high ? "tooHigh" : null;
}

/** The number in a text; null if there is none, or more than one way to read it. */
export function numberIn(text: string, signs: Signs, units: string[] = [], percent: 1 | 0.01 | null = null): number | null {
  let rest = alike(signs.digits.reduce((known, digit, k) => known.replaceAll(digit, String(k)), text)).trim();
  let factor = 1;
  if (percent !== null && rest.endsWith("%")) {
    [rest, factor] = [rest.slice(0, -1).trim(), percent];
  } else {
    rest = without(rest, units, "end");
  }
  let sign = "";
  const signed = () => {
    const found = sign ? null : /^([+-]) ?/.exec(rest);
    if (found) [sign, rest] = [found[1]!, rest.slice(found[0].length)];
  };
  signed();
  rest = without(rest, units, "start");
  signed();
  const [, mantissa, power] = /^(.*?)(?:e([+-]?\d+))?$/i.exec(rest) ?? [];
  const digits = plainDigits(mantissa ?? "", signs, power === undefined);
  if (digits === null) return null;
  const value = Number(`${sign}${digits}e${power ?? "0"}`);
  if (!Number.isFinite(value)) return null;
  return (factor === 1 ? value : Number((value * factor).toPrecision(15))) || 0;
}

/** The digits of a number, with a point if there is a fraction; null if it is none. */
function plainDigits(text: string, { decimal, groups, pairs }: Signs, grouped: boolean): string | null {
  const between = groups.filter((group) => group !== decimal).map(escaped).join("|");
  const whole = grouped ? `[1-9]\\d{0,2}(?<between>${between})\\d{3}(?:\\k<between>\\d{3})*${pairs ? "|[1-9]\\d?(?:,\\d\\d)*,\\d{3}" : ""}|\\d*` : "\\d*";
  const found = new RegExp(`^(?<whole>${whole})(?:${escaped(decimal)}(?<part>\\d*))?$`).exec(text)?.groups;
  const [before, behind] = [(found?.["whole"] ?? "").replace(/\D/g, ""), found?.["part"] ?? ""];
  if (found) return before || behind ? `${before || "0"}.${behind || "0"}` : null;
  // A point is understood everywhere, but not where it may as well stand between thousands.
  return decimal === "," && /^\d*\.\d+$/.test(text) && !/^0*[1-9]\d{0,2}\.\d{3}$/.test(text) ? `0${text}` : null;
}

/** One sign for all spaces, apostrophes and minus signs. */
function alike(text: string): string {
  return text.replace(/[\u200e\u200f\u061c]/g, "").replace(/\s/g, " ").replace(/[\u2019\u2018`\u00b4]/g, "'").replace(/[\u2212\u2013]/g, "-");
}

function without(text: string, units: string[], end: "start" | "end"): string {
  for (const unit of units.map(alike)) {
    const [at, rest] = end === "end" ? [text.slice(-unit.length), text.slice(0, -unit.length)] : [text.slice(0, unit.length), text.slice(unit.length)];
    if (unit && at.toLowerCase() === unit.toLowerCase()) return rest.trim();
  }
  return text;
}

function escaped(sign: string): string {
  return sign.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
