// What went wrong, in words.

import type { Speech } from "./language";
import { Problem } from "./sources/service";
import type { Column, Entered } from "./types";

/** Which columns of a row have to be corrected or filled in; empty if none. */
export function complaintAbout(columns: Column[], row: Entered[], say: Speech["say"]): string {
  const named = (key: "correct" | "fillIn", those: (column: Column, k: number) => boolean) => {
    const found = columns.filter(those).map((column) => column.title);
    return found.length ? say(key, { columns: found.join(", ") }) : "";
  };
  const [wrong, empty] = [named("correct", (_, k) => row[k] === undefined), named("fillIn", (column, k) => row[k] === null && !column.nullable)];
  return [wrong, empty].filter(Boolean).join(" ");
}

export function spoken(error: unknown, speech: Speech): string {
  if (error instanceof Problem) {
    // There is one person on the page, whose row needs no number.
    const places = error.errors.map((each) => `${each.field.replace(/^(rows\[0\]|row|after)\./, "")}: ${each.detail}`);
    return speech.say("serviceSays", { detail: places.join(" ") || error.message });
  }
  if (error instanceof TypeError) return speech.say("noService");
  return error instanceof Error ? error.message : String(error);
}
