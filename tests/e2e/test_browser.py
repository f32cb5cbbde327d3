"""The report in a real browser: nothing is missing, nothing is cut off, nothing is asked of a network.

Needs Debian's Chromium (`apt-get install chromium`); `.ci/run` installs it.
"""

import io
import os
import random
import shutil

import matplotlib.image
import numpy as np
import pytest

import credo as cr

CHROMIUM = os.environ.get("CREDO_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
ODD = "<script>window.hacked=1</script>"
SECTIONS = [
    "summary", "data", "gaps", "network", "tables", "checks", "questions", "learned", "reproduce",
]  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    if not os.path.exists(CHROMIUM):
        pytest.skip("Chromium is not on this machine: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as p:
        try:
            made = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        except playwright.Error as error:
            pytest.skip(f"Chromium does not start here: {str(error).splitlines()[0]}")
        yield made
        made.close()


def odd_table(rows=160, seed=1):
    """A table with gaps, and with names and states that would break a careless page."""
    rng = random.Random(seed)
    out = {
        ODD: [],
        'a "quoted" & <b>bold</b> name': [],
        "日本語の変数": [],
        "x" * 140: [],
        "$y$": [],
    }
    for _ in range(rows):
        a = rng.choice(["<i>yes</i>", "no & never", "'\"`"])
        b = a if rng.random() < 0.7 else "no & never"
        row = [a, b, rng.choice(["はい", "いいえ"]), rng.choice(["s" * 90, "t"]), rng.choice("01")]
        row = [None if rng.random() < 0.06 else v for v in row]
        for column, value in zip(out.values(), row, strict=True):
            column.append(value)
    return cr.read(out)


def random_network(n, seed=0):
    rng = random.Random(seed)
    names = [f"{rng.choice(['pressure', 'X', 'FlowRate', 'v'])}_{i}" for i in range(n)]
    parents = {
        b: rng.sample(names[max(0, i - 12) : i], min(i, 12, rng.randint(0, 3)))
        for i, b in enumerate(names)
    }
    dag = cr.Dag([(a, b) for b, mine in parents.items() for a in mine], nodes=names)
    noise = np.random.default_rng(seed)
    tables, states = {}, {}
    for b in names:
        states[b] = ["low", "normal", "high"][: 2 + (hash_of(b) % 2)]
    for b in names:
        shape = [len(states[p]) for p in dag.parents(b)]
        tables[b] = noise.dirichlet(np.ones(len(states[b])), size=shape or None)
    return cr.Network(dag, tables, states=states)


def hash_of(text):
    return sum(map(ord, text))


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """One page of each kind of model."""
    folder = tmp_path_factory.mktemp("reports")
    odd = odd_table()
    learned = cr.learn(odd, search="hill-climb")
    question = 'P("日本語の変数")'
    cr.write_report(learned, folder / "odd.html", odd, [question], data_file="odd table.csv")
    wide = random_network(60)
    rows = wide.sample(300, rng=0)
    fitted = cr.fit(wide.dag, rows, prior=cr.BDeu(5))
    cr.write_report(fitted, folder / "wide.html", rows, checks=False)
    cr.write_report(random_network(500), folder / "large.html")
    lines = cr.read(
        {
            "sex": ["f", "m"] * 30,
            "height": [160 + (i * 7 % 23) + 12 * (i % 2) for i in range(60)],
            "weight": [55.5 + (i * 5 % 17) + 14 * (i % 2) for i in range(60)],
        },
        schema={"height": "continuous", "weight": "continuous"},
    )
    mixed = cr.fit("[sex][height|sex][weight|sex:height]", lines)
    cr.write_report(mixed, folder / "mixed.html", lines, checks=False)
    cr.write_report(cr.ising_grid(4), folder / "markov.html")
    return folder


TEXT = """() => {
  const scrolls = '.wide, .frame, pre, .index';
  const out = [];
  const wide = document.documentElement.clientWidth;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode, e = text.parentElement;
    if (!text.data.trim() || e.closest('script, style, svg')) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const box = range.getBoundingClientRect();
    if (!box.width) continue;
    const style = getComputedStyle(e);
    if (style.overflow === 'hidden' && e.scrollWidth > e.clientWidth + 1) out.push(text.data);
    if (!e.closest(scrolls) && (box.right > wide + 1 || box.left < -1)) out.push(text.data);
    const cell = e.closest('td, th, summary, .card, h1, h2, h3');
    if (cell) {
      const room = cell.getBoundingClientRect();
      if (box.right > room.right + 1.5 || box.left < room.left - 1.5) out.push(text.data);
    }
  }
  return out;
}"""

NODES = """() => {
  const out = [];
  for (const svg of document.querySelectorAll('svg.network')) {
    if (!svg.getBoundingClientRect().width) continue;
    const boxes = [...svg.querySelectorAll('rect.box')].map(r => [r, r.getBBox()]);
    for (const [rect, box] of boxes)
      for (const text of rect.parentElement.querySelectorAll('text')) {
        const t = text.getBBox();
        if (t.x < box.x - 1 || t.x + t.width > box.x + box.width + 1 ||
            t.y < box.y - 1 || t.y + t.height > box.y + box.height + 1) out.push(text.textContent);
      }
    boxes.sort((p, q) => p[1].y - q[1].y);
    for (let i = 0; i < boxes.length; i++)
      for (let j = i + 1; j < boxes.length; j++) {
        const a = boxes[i][1], b = boxes[j][1];
        if (b.y >= a.y + a.height) break;
        if (a.x < b.x + b.width && b.x < a.x + a.width) out.push('overlap');
      }
    const view = svg.viewBox.baseVal;
    for (const text of svg.querySelectorAll('text')) {
      const t = text.getBBox();
      if (t.x < -1 || t.x + t.width > view.width + 1 || t.y + t.height > view.height + 1)
        out.push('outside: ' + text.textContent);
    }
  }
  return out;
}"""


def opened(browser, path, width, scheme="light"):
    """The page, with what its console said and what it asked for."""
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    complaints, requests = [], []
    page.on("console", lambda m: complaints.append(m.text) if m.type != "log" else None)
    page.on("pageerror", lambda e: complaints.append(str(e)))
    page.on("request", lambda r: requests.append(r.url))
    page.goto(path.as_uri())
    return page, complaints, requests


def assert_whole(page, path, complaints, requests, data):
    """Every section is there, no text is cut off, no label leaves its node, no request was made."""
    found = page.eval_on_selector_all("main > section", "all => all.map(s => s.id)")
    if "effects" in found:  # where a network has edges between states
        assert found.pop(found.index("questions") + 1) == "effects"
    if "structures" in found:  # where averaging over graphs takes little time
        assert found.pop(found.index("network") + 1) == "structures"
    assert found == [s for s in SECTIONS if data or s not in ("gaps", "checks")]
    assert page.eval_on_selector_all(
        "nav a", "all => all.every(a => document.querySelector(a.hash))"
    )
    empty = "all => all.filter(s => s.innerText.trim().length < 30).map(s => s.id)"
    assert page.eval_on_selector_all("main > section", empty) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(NODES) == []
    assert page.evaluate(TEXT) == []
    assert page.evaluate("window.hacked") is None
    assert complaints == []
    assert [r for r in requests if not r.startswith(("data:", path.as_uri()))] == []
    page.evaluate("scrollTo(0, 0)")
    assert_drawn(page.screenshot())


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        ("odd", 390, "light"),
        ("odd", 1280, "dark"),
        ("wide", 390, "dark"),
        ("mixed", 390, "light"),
        ("markov", 1280, "dark"),
    ],
)
def test_a_report_is_whole_and_nothing_is_cut_off(browser, pages, name, width, scheme):
    path = pages / f"{name}.html"
    page, complaints, requests = opened(browser, path, width, scheme)
    page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    assert_whole(page, path, complaints, requests, data=name != "markov")
    if name == "markov":  # the eyes of these tests see what is wrong
        page.add_style_tag(content="h2{white-space:nowrap;overflow:hidden;width:3rem}")
        page.add_style_tag(content="svg.network text{font-size:30px}")
        assert page.evaluate(TEXT) and page.evaluate(NODES)
    page.close()


def assert_drawn(png):
    """The picture has text on it: many shades, and neither all one nor nearly all one."""
    pixels = matplotlib.image.imread(io.BytesIO(png))[..., :3]
    shades = np.unique((pixels.reshape(-1, 3) * 255).astype(np.uint8), axis=0)
    assert len(shades) > 30 and pixels.std() > 0.02


@pytest.mark.slow
def test_the_network_of_sixty_nodes_is_readable_at_full_size(browser, pages):
    path = pages / "wide.html"
    page, complaints, requests = opened(browser, path, 1280)
    assert_whole(page, path, complaints, requests, data=True)
    page.click("button[data-fit]")
    assert page.inner_text("button[data-fit]") == "Fit to the page"
    size = "e => e.getScreenCTM().a * parseFloat(getComputedStyle(e).fontSize)"
    sizes = page.eval_on_selector_all("#picture svg text", f"all => all.map({size})")
    assert len(sizes) > 300 and min(sizes) >= 10  # pixels on the screen
    page.close()


@pytest.mark.slow
def test_five_hundred_nodes_can_be_searched_and_their_parts_open(browser, pages):
    path = pages / "large.html"
    page, complaints, requests = opened(browser, path, 1280)
    assert_whole(page, path, complaints, requests, data=False)
    assert page.locator("#tables details").count() == 500
    name = page.locator("#tables .index a").nth(40).inner_text()
    page.fill("input[data-filter]", name)
    assert 1 <= page.locator("#tables details:visible").count() < 500
    page.fill("input[data-filter]", "")
    page.click(f"#tables .index a:text-is('{name}')")
    revealed = page.locator("#tables details[open]")
    revealed.first.wait_for()  # a browser tells the page of a new hash a moment after the click
    assert revealed.count() == 1
    part = page.locator("#network details").first
    part.locator("summary").click()
    assert part.locator("svg.network rect.bar").count() >= 2
    assert page.evaluate(NODES) == [] and complaints == []
    page.close()


def test_odd_names_are_text_and_the_paper_version_opens_every_part(browser, pages):
    page, complaints, _ = opened(browser, pages / "odd.html", 1000)
    text = page.inner_text("body")
    assert ODD in text and "日本語の変数" in text and "'\"`" in text
    assert page.locator("main script, main b:text('bold'), main i:text('yes')").count() == 0
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.eval_on_selector_all("details", "all => all.every(d => d.open)")
    assert not page.is_visible("nav")
    sheet = page.pdf(format="A4")
    assert sheet.startswith(b"%PDF") and len(sheet) > 20_000
    assert complaints == []
    page.close()


def test_a_report_names_no_address(pages):
    for path in pages.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in text and "@import" not in text and "url(" not in text
