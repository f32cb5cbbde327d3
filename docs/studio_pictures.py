"""The pictures of docs/studio.md: `python docs/studio_pictures.py`, after `make studio`."""

import io
import os
import shutil
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import credo as cr

CHROMIUM = os.environ.get("CREDO_CHROMIUM") or shutil.which("chromium")
FOLDER = Path(__file__).with_name("studio")


def table():
    """Rows of a clinic: who smokes, who coughs, what the picture shows."""
    net = cr.Network(
        "[smoker][age][cancer|smoker:age][bronchitis|smoker][xray|cancer][cough|cancer:bronchitis]",
        {
            "smoker": [0.7, 0.3], "age": [0.4, 0.35, 0.25],
            "cancer": [
                [[0.99, 0.01], [0.98, 0.02], [0.95, 0.05]],
                [[0.97, 0.03], [0.9, 0.1], [0.75, 0.25]],
            ],
            "bronchitis": [[0.85, 0.15], [0.5, 0.5]], "xray": [[0.95, 0.05], [0.1, 0.9]],
            "cough": [[[0.9, 0.1], [0.3, 0.7]], [[0.4, 0.6], [0.1, 0.9]]],
        },
        states={"age": ["young", "middle", "old"]}
        | {n: ["no", "yes"] for n in ("smoker", "cancer", "bronchitis", "xray", "cough")},
    )  # fmt: skip
    return net.sample(800, rng=1)


def main():
    """Walk through the sections and keep a picture of each."""
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as p, cr.studio(None, table(), browser=False, title="clinic") as studio:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1120, "height": 640})
        page.goto(studio.url)
        page.locator("button.main").click()
        page.locator(".score").get_by_text("learned by").wait_for()
        for name in ("age", "xray"):
            page.locator(f'.stage .sketch [data-name="{name}"]').click()
        keep(page, "learn")
        page.get_by_role("button", name="Build", exact=True).click()
        page.locator('.stage .sketch [data-name="cancer"]').click()
        keep(page, "build")
        page.get_by_role("button", name="Check", exact=True).click()
        page.locator("button.main").click()
        page.get_by_role("heading", name="Findings").wait_for(timeout=120_000)
        keep(page, "check")
        page.get_by_role("button", name="Ask", exact=True).click()
        for name, state in (("xray", "yes"), ("cough", "yes")):
            page.locator(f'.node[data-name="{name}"]').get_by_role("radio", name=state).click()
        page.locator('.node[data-name="cancer"] .head').click()
        keep(page, "ask")
        browser.close()


def keep(page, name):
    """A picture in few colours, which is enough for what is drawn."""
    page.wait_for_timeout(1200)
    picture = Image.open(io.BytesIO(page.screenshot()))
    picture.convert("RGB").quantize(48).save(FOLDER / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
