"""The studio as a person uses it: in a real browser, and from a terminal.

Needs Debian's Chromium and the built page (`make studio`); `.ci/run` has both.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from contextlib import contextmanager
from pathlib import Path

import pytest

import credo as cr

pytest.importorskip("uvicorn", reason="the studio's extra is not installed")

from credo.studio.opening import STATIC

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = os.environ.get("CREDO_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]  # fmt: skip
ODD = "<img src=x onerror=window.hacked=1>"

pytestmark = pytest.mark.skipif(
    not (STATIC / "index.html").exists(), reason="the studio's page is not built: make studio"
)


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


def chest():
    """A chest clinic: a logical `either`, so that some evidence is impossible."""
    no_yes = ["no", "yes"]
    return cr.Network(
        "[asia][smoke][tub|asia][lung|smoke][bronc|smoke][either|tub:lung][xray|either][dysp|bronc:either]",
        {
            "asia": [0.99, 0.01], "smoke": [0.5, 0.5],
            "tub": [[0.99, 0.01], [0.95, 0.05]], "lung": [[0.99, 0.01], [0.9, 0.1]],
            "bronc": [[0.7, 0.3], [0.4, 0.6]],
            "either": [[[1, 0], [0, 1]], [[0, 1], [0, 1]]],
            "xray": [[0.95, 0.05], [0.02, 0.98]],
            "dysp": [[[0.9, 0.1], [0.3, 0.7]], [[0.2, 0.8], [0.1, 0.9]]],
        },
        states=dict.fromkeys(["asia", "smoke", "tub", "lung", "bronc", "either", "xray", "dysp"], no_yes),
    )  # fmt: skip


@pytest.fixture(scope="module")
def net():
    return cr.fit(chest(), chest().sample(400, rng=0), prior=cr.BDeu(8))


@pytest.fixture(scope="module")
def address(net):
    with cr.studio(net, net.sample(40, rng=1), browser=False, title="chest clinic") as studio:
        yield studio.url


class Person:
    """What a person does at the page, and sees there."""

    def __init__(self, page):
        self.page = page

    def state(self, name, state):
        group = self.page.locator(f'.node[data-name="{name}"] [role=radiogroup]')
        return group.get_by_role("radio").nth(["no", "yes"].index(state))

    @contextmanager
    def change(self, name="click"):
        """Until what the block did is answered and drawn."""
        with self.page.expect_response(f"**/{name}") as answer:
            yield
        version = answer.value.json()["version"]
        self.page.locator(f'main[data-version="{version}"]').wait_for()

    def click(self, name, state, *keys):
        with self.change():
            self.state(name, state).click(modifiers=list(keys))

    def press(self, name, state, key):
        self.state(name, state).focus()
        with self.change():
            self.page.keyboard.press(key)

    def p(self, name, state):
        """The probability in the bar of a state, from what is drawn."""
        drawn = self.state(name, state)
        bar, track = (float(drawn.locator(c).get_attribute("width")) for c in (".bar", ".track"))
        return bar / track

    def select(self, name):
        self.page.locator(f'.node[data-name="{name}"] .head').click()

    def button(self, name):
        return self.page.get_by_role("button", name=name, exact=True)

    def panel(self):
        return self.page.get_by_label("Panel")

    def sees(self, text, within=None):
        (within or self.panel()).get_by_text(text).first.wait_for(timeout=5000)


@pytest.fixture
def person(browser, address):
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
    page.on(
        "request",
        lambda r: None if r.url.startswith(("http://127.0.0.1:", "blob:")) else wrong.append(r.url),
    )
    page.goto(address)
    page.locator(".node").first.wait_for()
    yield Person(page)
    context.close()
    assert not wrong


def gone(found):
    """A moment later there is none of it."""
    found.first.wait_for(state="detached")


def near(a, b):
    assert abs(a - b) < 0.002, (a, b)


def test_a_click_is_evidence_and_a_second_takes_it_back(person, net):
    near(person.p("lung", "yes"), net.p("lung")["yes"])
    person.click("xray", "yes")
    near(person.p("lung", "yes"), net.p("lung", {"xray": "yes"})["yes"])
    assert person.state("xray", "yes").get_attribute("aria-checked") == "true"
    person.sees("xray = yes")
    person.click("xray", "yes")
    near(person.p("lung", "yes"), net.p("lung")["yes"])
    person.sees("Nothing is known.")


def test_shift_sets_and_the_cut_is_drawn(person, net):
    person.click("lung", "yes", "Shift")
    near(person.p("smoke", "yes"), net.p("smoke")["yes"])
    near(person.p("xray", "yes"), net.do({"lung": "yes"}).p("xray")["yes"])
    person.sees("do(lung = yes)")
    node = person.page.locator('.node[data-name="lung"]')
    assert "do" in node.get_attribute("class").split()
    assert node.locator(".badge").text_content().endswith("set")
    assert person.page.locator(".edge.cut").count() == 1


slow = pytest.mark.slow


@slow
def test_control_is_one_of_several_and_alt_is_not(person, net):
    person.click("xray", "no", "Alt")
    near(person.p("lung", "yes"), net.p("lung", {"xray": "yes"})["yes"])
    person.sees("xray is not no")
    person.click("bronc", "yes", "Control")
    person.sees("bronc = yes")
    person.click("bronc", "no", "Control")
    assert person.page.locator(".chips li").count() == 1


@slow
def test_a_bar_that_is_dragged_stays_where_it_was_put(person, net):
    track = person.state("bronc", "yes").locator(".track").bounding_box()
    person.page.mouse.move(track["x"] + 5, track["y"] + 5)
    person.page.mouse.down()
    person.page.mouse.move(track["x"] + 0.8 * track["width"], track["y"] + 5, steps=4)
    with person.change("soft"):
        person.page.mouse.up()
    now = person.p("bronc", "yes")
    assert abs(now - 0.8) < 0.02
    p = net.p("bronc")
    report = {"no": (1 - now) / p["no"], "yes": now / p["yes"]}
    near(person.p("dysp", "yes"), net.p("dysp", {"bronc": report})["yes"])
    person.sees(re.compile("bronc is reported: no"))


@slow
def test_likelihoods_can_be_typed(person, net):
    person.select("xray")
    person.panel().get_by_text("Soft evidence").click()
    person.panel().get_by_label("no", exact=True).fill("0.2")
    with person.change("soft"):
        person.button("Report").click()
    near(person.p("lung", "yes"), net.p("lung", {"xray": {"no": 0.2, "yes": 1}})["yes"])
    person.sees("xray is reported: no 0.2, yes 1")


@slow
def test_the_mode_of_a_click_can_be_chosen_without_keys(person, net):
    person.page.get_by_label("Set", exact=True).check()
    person.click("smoke", "yes")
    person.sees("do(smoke = yes)")


@slow
def test_everything_by_keyboard(person, net):
    person.press("dysp", "yes", "Enter")
    near(person.p("bronc", "yes"), net.p("bronc", {"dysp": "yes"})["yes"])
    person.press("smoke", "yes", "Shift+Enter")
    person.sees("do(smoke = yes)")
    person.state("dysp", "no").focus()
    person.page.keyboard.press("ArrowDown")
    focused = person.page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused.startswith("yes, 100.0 %, observed")
    with person.change("undo"):
        person.page.keyboard.press("Control+z")
    with person.change("redo"):
        person.page.keyboard.press("Control+Shift+z")
    person.page.keyboard.press("/")
    person.page.keyboard.type("xra")
    person.page.keyboard.press("Enter")
    person.page.get_by_role("heading", name="xray").wait_for()


@slow
def test_ghost_bars_show_the_answer_before(person, net):
    person.click("xray", "yes")
    ghost = person.state("lung", "yes").locator(".ghost").get_attribute("width")
    track = person.state("lung", "yes").locator(".track").get_attribute("width")
    near(float(ghost) / float(track), net.p("lung")["yes"])


@slow
def test_undo_redo_and_clear(person):
    person.click("xray", "yes")
    person.click("smoke", "no")
    for button, left in (("Undo", 1), ("Redo", 2), ("Clear", 0), ("Undo", 2)):
        with person.change(button.lower()):
            person.button(button).click()
        assert person.page.locator(".chips li").count() == left


@slow
def test_the_panel_says_what_the_network_says(person, net):
    person.click("xray", "yes")
    person.click("dysp", "no")
    person.select("lung")
    given = {"xray": "yes", "dysp": "no"}
    from math import exp

    person.sees(re.compile(f"^{exp(net.log_evidence(given)):.3g}"[:6]))
    person.sees("Which evidence moved it most")
    first = person.panel().locator("ol").first.locator("li").first
    assert first.text_content().startswith("xray")
    person.sees("What to ask next")
    best = person.panel().locator("ol").nth(1).locator("li").first.text_content()
    assert best.startswith(net.evidence_value("lung", given).best.variable)
    person.panel().get_by_text("Most probable explanation").click()
    for name, state in net.mpe(given).items():
        person.sees(re.compile(rf"{name}\s*=\s*{state}"), person.panel().locator("ul.plain"))


@slow
def test_intervals_come_a_moment_later(person, net):
    person.select("lung")
    person.page.locator('.node[data-name="lung"] .whisker').first.wait_for()
    span = net.p("lung", interval=0.95, draws=200)
    person.sees(f"{100 * span.low[1]:.1f} % – {100 * span.high[1]:.1f} %")
    fine = net.p("lung", interval=0.95, draws=1000)
    person.sees(f"{100 * fine.low[1]:.1f} % – {100 * fine.high[1]:.1f} %")


@slow
def test_rows_step_as_evidence_and_leave_the_selected_open(person):
    person.select("lung")
    with person.change("row"):
        person.page.get_by_label("Next row").click()
    assert person.page.locator(".chips li").count() == 7
    person.sees("The row says")
    with person.change("row"):
        person.page.keyboard.press("]")
    assert person.page.locator(".tools input[type=number]").input_value() == "2"


@slow
def test_the_blanket_is_lit_and_the_rest_dimmed(person, net):
    person.select("bronc")
    person.button("Blanket").click()
    lit = {n.get_attribute("data-name") for n in person.page.locator(".node:not(.dim)").all()}
    assert lit == {"bronc", *net.dag.markov_blanket("bronc")}
    person.page.keyboard.press("Escape")
    gone(person.page.locator(".node.dim"))


@slow
def test_search_finds_by_part_of_a_name_or_says_so(person):
    find = person.page.get_by_label("Find a variable")
    find.fill("eith")
    find.press("Enter")
    person.page.get_by_role("heading", name="either").wait_for()
    find.fill("nobody")
    find.press("Enter")
    person.page.get_by_role("alert").get_by_text('No variable has "nobody" in its name.').wait_for()


@slow
def test_pan_and_zoom(person):
    where = person.page.locator(".canvas svg > g")
    before = where.get_attribute("transform")
    person.button("Zoom in").click()
    zoomed = where.get_attribute("transform")
    person.page.mouse.move(30, 600)
    person.page.mouse.down()
    person.page.mouse.move(90, 640, steps=3)
    person.page.mouse.up()
    panned = where.get_attribute("transform")
    person.page.mouse.wheel(0, -200)
    person.page.wait_for_function(
        "t => document.querySelector('.canvas svg > g').getAttribute('transform') !== t", arg=panned
    )
    assert len({before, zoomed, panned}) == 3
    person.button("Fit").click()
    assert where.get_attribute("transform") == before


@slow
def test_the_table_of_a_node_and_the_strength_of_an_edge(person, net):
    person.select("bronc")
    person.panel().get_by_text("Table with counts").click()
    table = person.page.get_by_role("region", name="Table of bronc")
    cells = table.locator("tbody tr").first.locator("td").all_text_contents()
    p = net.cpt("bronc").values
    assert cells[0] == "no"
    assert cells[1].startswith(f"{p[0, 0]:.3f}") and cells[2].startswith(f"{p[0, 1]:.3f}")
    person.button("smoke → bronc").click()
    person.sees(re.compile(r"smoke → bronc: its ends tell 0\.\d+ bits of each other"))
    assert person.page.locator(".edge.chosen").count() == 1


@slow
def test_the_table_is_a_heat_map_with_intervals(person, net):
    person.select("bronc")
    person.panel().get_by_text("Table with counts").click()
    cell = person.panel().locator("td.heat").first
    spans = net.cpt("bronc").interval(0.95)
    assert f"{spans.lower[0, 0]:.2f}–{spans.upper[0, 0]:.2f}" in cell.text_content()
    assert re.search(r"; \d+ rows", cell.get_attribute("title"))


@slow
def test_how_a_variable_fits_the_rows(person, net):
    person.select("smoke")
    person.panel().get_by_text("How it fits the rows").click()
    shares = net.sample(40, rng=1).values("smoke").tolist()
    person.sees(f"{100 * shares.count('yes') / 40:.1f} %")


@slow
def test_why_an_edge_is_there(person):
    person.select("bronc")
    person.button("smoke → bronc").click()
    person.sees(re.compile(r"Without it the \w+ score of the rows would (fall|rise) by \d"))


@slow
def test_how_probable_an_edge_is(browser):
    rows = chest().sample(300, rng=0)
    posterior = cr.average(rows, rng=0)
    a, b = posterior.network().dag.edges[0]
    with cr.studio(posterior, rows, browser=False) as studio:
        person = Person(page_of(browser, studio.url))
        person.select(b)
        person.button(f"{a} → {b}").click()
        p = float(posterior.edge(a, b))
        person.sees(f"{100 * p:.1f} %" if p < 0.999 else "weighed")
        person.page.context.close()


@slow
def test_the_paths_between_two_variables_are_lit(person, net):
    person.select("asia")
    person.panel().get_by_label("Paths to").fill("smoke")
    person.button("Show").click()
    person.sees("Separated: neither tells of the other now.")
    assert person.page.locator(".edge.way.blocked").count() >= 4
    person.click("xray", "yes")
    person.select("asia")
    person.button("Show").click()
    person.sees("Connected: one may tell of the other now.")
    told = str(net.dag.why("asia", "smoke", given=["xray"]))
    assert person.panel().get_by_label("Paths", exact=True).text_content() == told
    assert person.page.locator(".edge.way").count() >= 4
    gone(person.page.locator(".edge.way.blocked"))


@slow
def test_what_to_ask_weighs_what_it_costs(person):
    person.select("lung")
    person.sees("What to ask next")
    best = person.panel().get_by_label("Cost of asking either")
    best.fill("1000")
    best.press("Enter")
    person.page.wait_for_function(
        "() => !document.querySelector('aside ol li').textContent.trim().startsWith('either')"
    )


@slow
def test_names_only_and_the_map_of_what_is_beyond(person):
    assert person.page.locator(".map").count() == 0
    tall = person.page.locator('.node[data-name="lung"] .box').get_attribute("height")
    person.button("Names only").click()
    person.page.locator('.node [role="radiogroup"]').first.wait_for(state="detached")
    assert person.page.locator('.node[data-name="lung"] .box').get_attribute("height") < tall
    person.page.locator("body").press("c")
    person.page.locator('.node [role="radiogroup"]').first.wait_for()
    for _ in range(5):
        person.button("Zoom in").click()
    before = person.page.locator(".canvas svg > g").first.get_attribute("transform")
    person.page.locator(".map").click(position={"x": 5, "y": 5})
    assert person.page.locator(".canvas svg > g").first.get_attribute("transform") != before


@slow
def test_the_script_repeats_what_was_clicked(person, net, tmp_path):
    person.click("xray", "yes")
    person.click("smoke", "no", "Shift")
    line = "net.do({'smoke': 'no'}).marginals(given={'xray': 'yes'})"
    person.sees(re.compile(re.escape(line)))
    near(person.p("lung", "yes"), eval(line, {"net": net})["lung"]["yes"])


@slow
def test_the_picture_is_saved_as_svg(person):
    person.click("xray", "yes")
    with person.page.expect_download() as download:
        person.button("Save SVG").click()
    text = Path(download.value.path()).read_text()
    texts = {e.text for e in ET.fromstring(text).iter() if e.tag.endswith("text")}
    assert {"asia", "xray", "lung"} <= texts and "script" not in text
    assert download.value.suggested_filename == "chest-clinic.svg"


@slow
def test_a_reload_keeps_the_session_and_a_new_tab_has_its_own(person, address):
    person.click("xray", "yes")
    person.page.reload()
    person.sees("xray = yes")
    person.click("smoke", "yes")
    person.sees("smoke = yes")
    other = person.page.context.new_page()
    other.goto(address)
    other.get_by_text("Nothing is known.").wait_for()
    other.close()


@slow
@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_no_violation_of_accessibility(person, theme):  # with all parts of the panel open
    if not AXE.exists():
        pytest.skip("axe-core is not installed: make studio")
    person.page.select_option("#theme", theme)
    person.click("xray", "yes")
    person.click("smoke", "no", "Shift")
    person.select("lung")
    person.sees("What to ask next")
    for part in ("Table with counts", "How it fits the rows", "Soft evidence"):
        person.panel().get_by_text(part, exact=True).click()
    person.panel().get_by_label("Paths to").fill("asia")
    person.button("Show").click()
    person.panel().get_by_label("Paths", exact=True).wait_for()
    person.page.evaluate(AXE.read_text())
    found = person.page.evaluate("axe.run({resultTypes: ['violations']}).then(r => r.violations)")
    assert not [
        (v["id"], v["nodes"][0]["html"][:200], v["nodes"][0]["failureSummary"]) for v in found
    ]


@slow
def test_nothing_overlaps_and_nothing_is_cut_off(person):
    person.click("xray", "yes")
    boxes = [n.bounding_box() for n in person.page.locator(".node .box").all()]
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            apart = (
                a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"]
                or a["y"] + a["height"] <= b["y"] or b["y"] + b["height"] <= a["y"]
            )  # fmt: skip
            assert apart
    cut = person.page.evaluate("""() => [...document.querySelectorAll('.node .label')].filter(t => {
        const clip = document.getElementById(t.getAttribute('clip-path').slice(5, -1)).firstElementChild;
        return t.getBBox().width > Number(clip.getAttribute('width'));
    }).map(t => t.textContent)""")
    assert not cut
    assert person.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def page_of(browser, address):
    page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
    page.goto(address)
    page.locator(".node").first.wait_for()
    return page


@slow
def test_impossible_evidence_is_said_in_words(browser):
    with cr.studio(chest(), browser=False) as studio:
        person = Person(page_of(browser, studio.url))
        person.click("either", "no")
        person.click("lung", "yes")
        person.sees(re.compile(r"either=no and lung=yes cannot be true together"))
        person.click("lung", "yes")
        person.panel().get_by_role("alert").wait_for(state="detached")
        person.sees("P(evidence)")
        person.select("smoke")
        person.sees("No intervals: This network has no posterior")
        person.page.context.close()


@slow
def test_names_and_states_are_text(browser):
    net = cr.Network(
        cr.Dag([(ODD, "b")]),
        {ODD: [0.3, 0.7], "b": [[0.2, 0.8], [0.6, 0.4]]},
        states={ODD: [ODD, "</script><script>window.hacked=1</script>"], "b": ["'\"`", "{x}"]},
    )
    with cr.studio(net, browser=False, title=ODD) as studio:
        page = page_of(browser, studio.url)
        group = page.get_by_role("radiogroup", name=ODD, exact=True)
        with Person(page).change():
            group.get_by_role("radio").first.click()
        page.get_by_text(f"{ODD} = {ODD}").first.wait_for()
        assert page.evaluate("window.hacked") is None
        assert page.locator("img").count() == 0
        assert page.locator(".name").first.text_content() == ODD
        page.context.close()


@slow
def test_numbers_are_densities_that_move(browser):
    table = cr.examples.gender_measurements()
    net = cr.learn(table, rng=0)
    with cr.studio(net, table, browser=False) as studio:
        page = page_of(browser, studio.url)
        page.locator('.node[data-name="weight"] .head').click()
        page.get_by_label("Value").fill("200")
        with Person(page).change("value"):
            page.get_by_role("button", name="Observe", exact=True).click()
        page.get_by_text("weight = 200").wait_for()
        height = page.locator('.node[data-name="height"]')
        mean = net.p("height", {"weight": 200}).mean
        assert height.locator(".share").text_content().startswith(f"{mean:.4g}")
        assert height.locator(".density").count() == 1 and height.locator(".ghost").count() == 1
        page.get_by_label("Value").fill("heavy")
        page.get_by_role("button", name="Set", exact=True).click()
        page.get_by_text("The value must be a number.").wait_for()
        page.context.close()


@slow
def test_seven_hundred_nodes_are_usable(browser):
    n = 700
    names = [f"v{i}" for i in range(n)]
    dag = cr.Dag([(names[(i - 1) // 2], names[i]) for i in range(1, n)], nodes=names)
    tables = {v: [[0.9, 0.1], [0.2, 0.8]] if i else [0.5, 0.5] for i, v in enumerate(names)}
    with cr.studio(cr.Network(dag, tables), browser=False) as studio:
        page = page_of(browser, studio.url)
        find = page.get_by_label("Find a variable")
        find.fill("v640")
        find.press("Enter")
        with Person(page).change():
            page.locator('.node[data-name="v640"] [role=radio]').nth(1).click()
        page.get_by_text("v640 = 1").wait_for()
        assert page.locator(".node").count() < 200
        page.context.close()


def test_the_command_serves_until_ctrl_c(tmp_path):
    chest().save(tmp_path / "chest.bif")
    command = [sys.executable, "-m", "credo", "studio", "chest.bif", "--no-browser", "--json"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        said = ""
        while not said.endswith("}\n"):
            line = process.stdout.readline()
            assert line, process.stderr.read()
            said += line
            if line == "}\n":
                break
        document = json.loads(said)
        assert document["credo"]["schema"] == "credo.studio" and document["model"] == "chest.bif"
        assert document["url"].startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=20)
        assert process.returncode == 130 and told.strip() == "Stopped."
    finally:
        process.kill()
