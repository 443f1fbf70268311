// What went wrong, in words.

import type { Speech } from "./language";
import { Problem } from "./sources/service";

export function spoken(error: unknown, speech: Speech): string {
  if (error instanceof Problem) {
    const places = error.errors.map((each) => `${each.field}: ${each.detail}`).filter((each) => !error.message.includes(each));
    return speech.say("serviceSays", { detail: [error.message, ...places].join(" ") });
  }
  if (error instanceof TypeError) return speech.say("noService");
  return error instanceof Error ? error.message : String(error);
}
