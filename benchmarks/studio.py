"""The studio: from a click to the frame that shows every posterior, in Chromium.

The page is the real one, on the server of `cr.studio`, at 1400 × 900. A click goes to a state of a
node in sight; the turn ends in the frame after the answer is drawn. Beside the clock stand the
seconds of CPU that the server and the page's renderer took, which other work on the machine does
not change.
"""

from __future__ import annotations

import os
import shutil
import statistics
import time
from typing import Any

from benchmarks.harness import Bench
from benchmarks.networks import load

NETWORKS = ("alarm", "andes", "pigs", "link")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run"]

# clicks a state, and waits until the answer is drawn and a frame has passed
CLICK = """async ([name, state, version]) => {
  const node = document.querySelector(`.node[data-name="${CSS.escape(name)}"]`);
  const begun = performance.now();
  const state_ = node.querySelectorAll("[role=radio]")[state];
  state_.dispatchEvent(new MouseEvent("click", {bubbles: true}));
  while (document.querySelector('main').dataset.version !== String(version))
    await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return performance.now() - begun;
}"""


def run(bench: Bench) -> None:
    from playwright.sync_api import sync_playwright

    import credo as cr

    chromium = os.environ.get("CREDO_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        rows = []
        for name in NETWORKS[:2] if bench.quick else NETWORKS:
            net = load(name)
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            with cr.studio(net, browser=False) as studio:
                page.goto(studio.url)
                page.locator(".node").first.wait_for()
                rows.append([name, *_clicked(page, 10 if bench.quick else 30)])
            page.close()
        browser.close()
    bench.grid(
        "A click to the frame that shows every posterior",
        ["network", "nodes in sight", "median ms", "best ms", "page's CPU ms", "server's CPU ms"],
        rows,
    )


def _clicked(page: Any, clicks: int) -> list[Any]:
    """The nodes in sight; of so many clicks the clock's milliseconds, and those of CPU of both."""
    if not page.locator("[role=radio]").count():  # too far away to read: a part of it is looked at
        page.get_by_label("Find a variable").fill(
            page.locator(".node").nth(20).get_attribute("data-name")
        )
        page.keyboard.press("Enter")
    names = page.locator(".node").evaluate_all("all => all.map(node => node.dataset.name)")
    trace = page.context.new_cdp_session(page)
    trace.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> float:
        found = trace.send("Performance.getMetrics")["metrics"]
        return float(next(m["value"] for m in found if m["name"] == "TaskDuration"))

    took, page_cpu, server_cpu = [], [], []
    for i in range(clicks):
        page.wait_for_timeout(1500)  # what follows a click is over
        version = int(page.locator("main").get_attribute("data-version"))
        page_at, server_at = spent(), time.process_time()
        took.append(page.evaluate(CLICK, [names[i % len(names)], 0, version + 1]))
        page_cpu.append(1e3 * (spent() - page_at))
        server_cpu.append(1e3 * (time.process_time() - server_at))
    figures = (statistics.median(took), min(took), *map(statistics.median, (page_cpu, server_cpu)))
    return [str(len(names)), *(f"{x:.1f}" for x in figures)]
