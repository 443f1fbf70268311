// How a search ended, in the words of the page; a status that it does not know stays as it is.

import type { Speech } from "./language";
import type { Key } from "./words";

type Say = Speech["say"];

/** What a status is called. */
export function called(status: string, say: Say): string {
  return say(`status_${keyOf(status)}` as Key) || status;
}

/** What a status means for the person; empty for a plan without reservations. */
export function meaning(status: string, say: Say): string {
  return say(`why_${keyOf(status)}` as Key);
}

function keyOf(status: string): string {
  return status.replaceAll(/[ -]/g, "_");
}
