// What went wrong, in words.

import type { Speech } from "./language";
import { Problem } from "./sources/service";

export function spoken(error: unknown, speech: Speech): string {
  if (error instanceof Problem) {
    // There is one person on the page, whose row needs no number.
    const places = error.errors.map((each) => `${each.field.replace(/^(rows\[0\]|row|after)\./, "")}: ${each.detail}`);
    return speech.say("serviceSays", { detail: places.join(" ") || error.message });
  }
  if (error instanceof TypeError) return speech.say("noService");
  return error instanceof Error ? error.message : String(error);
}
