// Where the page begins: with the data beside it, or with the service that serves it.

import { render } from "preact";
import type { Json } from "./sources/reading";
import { Connection } from "./sources/service";
import { still } from "./sources/still";
import { App } from "./views/app";

declare global {
  // Written by `to_explorer` into the script beside the page.
  var recourseData: string | undefined;
}

const root = document.getElementById("page");
if (root) {
  const data = globalThis.recourseData;
  render(<App data={data === undefined ? null : still(JSON.parse(data) as Json)} connection={data === undefined ? new Connection() : null} />, root);
}
