"""The page in Chromium: from a moved value to the verdict, beyond the time of the service; scrolling; and its size.

The service is this process: it answers at once, so that what is measured is the page alone.
"""

import gzip
import json
import shutil
import statistics
import tempfile
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from robust_recourse import NearestAccepted
from robust_recourse.notices import explorer

MOVES, FRAMES, LINES = 40, 240, 10_000
BROWSER = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
COLUMN = {"kind": "number", "movable": True, "direction": "any", "lower": 0, "upper": 100, "integer": True}
ROW = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "h": 8}
SCHEMA = {
    "name": "bench",
    "columns": [{"name": name, "default": value, "seen": [0, 100], **COLUMN} for name, value in ROW.items()],
    "jury": {"models": 20},
    "ledger": False,
    "people": {"search": True},
}
PLAN = {"person": 0, "rank": 1, "status": "ok", "reason": "", "valid": True, "cost": 1.0, "jury_share": 0.9}
CHANGES = [{"column": "a", "from": 1, "to": 9, "cost": 1.0}]
# When the input was moved, when the answer had come, and when the page showed it.
MEASURE = """async (value) => {
  const slider = document.querySelector('.whatif input[type=range]');
  const status = document.querySelector('.whatif [role=status]');
  const fetched = window.fetch;
  let service = 0;
  window.fetch = async (...asked) => {
    const began = performance.now();
    const answer = await fetched(...asked);
    service += performance.now() - began;
    return answer;
  };
  const start = performance.now();
  slider.value = value;
  slider.dispatchEvent(new Event('input', { bubbles: true }));
  await new Promise((shown) => {
    const look = () => (status.innerText.includes(`${value} of 20`) ? shown() : requestAnimationFrame(look));
    look();
  });
  window.fetch = fetched;
  return performance.now() - start - service;
}"""


# How long frames take: while nothing happens, and while a list is scrolled, some screens in each.
SCROLL = """async ([frames, pixels]) => {
  const list = document.querySelector('.list');
  const times = [];
  let last = await new Promise(requestAnimationFrame);
  for (let k = 0; k < frames; k++) {
    list.scrollTop += pixels * (k < frames / 2 ? 1 : -1);
    const now = await new Promise(requestAnimationFrame);
    times.push(now - last);
    last = now;
  }
  return times;
}"""


class Service(BaseHTTPRequestHandler):
    """A service that knows its answers; how many of the jury accept is the first value of the row."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle(self):
        with suppress(ConnectionError):  # of a browser that was closed
            super().handle()

    def do_GET(self):
        path = self.path.partition("?")[0].lstrip("/")
        if path in explorer.FILES:
            self.answer(explorer.asset(path), explorer.FILES[path])
        elif path == "":
            self.answer(explorer.page().encode(), "text/html; charset=utf-8")
        elif path == "v1/schema":
            self.answer_json(SCHEMA)
        elif path == "v1/people":
            self.answer_json({"total": 1, "people": [{"id": "1", "accepted": False, "row": ROW}]})
        else:
            self.send_error(404)

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/v1/verdict":
            said = [{"accepted": row["a"] > 9, "jury_share": row["a"] / 20} for row in asked["rows"]]
            self.answer_json({"verdicts": said})
        else:
            self.answer_json({"rows": [{**PLAN, "changes": CHANGES, "before": ROW, "after": {**ROW, "a": 9}}]})

    def answer_json(self, value):
        self.answer(json.dumps(value).encode(), "application/json")

    def answer(self, body, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        with suppress(ConnectionError):  # an answer that the page does not want any more
            self.end_headers()
            self.wfile.write(body)


def milliseconds(program):
    from playwright.sync_api import sync_playwright

    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=BROWSER)
        page = browser.new_page(locale="en-GB")
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        page.locator(".people button").first.click()
        page.locator(".whatif [data-state=said]").wait_for()
        page.wait_for_timeout(500)
        measured = [page.evaluate(MEASURE, 2 + (7 * k) % 18) for k in range(MOVES)]
        browser.close()
    server.shutdown()
    return measured


def frames(program):
    """Return the milliseconds of frames: of a still page, and of one with many people that is scrolled."""
    from playwright.sync_api import sync_playwright

    X = np.column_stack([-1.0 - np.arange(LINES) % 3, np.arange(LINES) % 7])
    method = NearestAccepted(lambda x: x[:, 0] > 0.0, random_state=0).fit(np.array([[0.5, 1.0], [-1.0, 2.0]]))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        address = method.explain(X).to_explorer(folder, with_notices=False).as_uri()
        browser = started.chromium.launch(executable_path=program, args=BROWSER)
        page = browser.new_page(locale="en-GB")
        page.goto(f"{address}#everybody")
        page.locator(".list tbody button").first.wait_for()
        page.wait_for_timeout(500)
        measured = [page.evaluate(SCROLL, [FRAMES, pixels]) for pixels in (0, 1500)]
        browser.close()
    return measured


def run():
    size = sum(len(gzip.compress(explorer.asset(name), 9)) for name in explorer.FILES) / 1000
    lines = [("page: JavaScript and CSS, compressed, kB", "<= 150", size, size <= 150)]
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        return [*lines, ("page: moved value to verdict, ms", "<= 100", "no Chromium here", None)]
    measured = milliseconds(program)
    middle, most = statistics.median(measured), max(measured)
    return [
        *lines,
        ("page: moved value to verdict, beyond the service, median ms", "<= 100", middle, middle <= 100),
        ("page: the same, longest ms", "", most, None),
        *_smoothness(program),
    ]


def _smoothness(program):
    still, scrolled = (np.array(times) for times in frames(program))
    ratio = float(np.median(scrolled) / np.median(still))
    return [
        (f"page: a frame while {LINES:,} people are scrolled / while nothing happens", "<= 1.5", ratio, ratio <= 1.5),
        ("page: the same, 95 % of the frames within ms", "", float(np.quantile(scrolled, 0.95)), None),
        ("page: frames of nothing, 95 % within ms", "", float(np.quantile(still, 0.95)), None),
    ]


if __name__ == "__main__":
    for line in run():
        print(line)
