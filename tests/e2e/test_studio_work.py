"""The studio's other sections as a person uses them: Learn, Build, Check, Share, and what they survive."""

import re
import time
from pathlib import Path

import pytest
from tests.e2e.test_studio import AXE, ODD, STATIC, Person, browser, chest, gone, near, slow

import credo as cr

assert browser  # a fixture

pytestmark = pytest.mark.skipif(
    not (STATIC / "index.html").exists(), reason="the studio's page is not built: make studio"
)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    """600 rows of the chest clinic, with an identifier that no model uses."""
    table = chest().sample(600, rng=0)
    rows = zip(*(table.values(n) for n in table.schema.names), strict=True)
    lines = [",".join([*table.schema.names, "id"])]
    lines += [",".join([*row, f"p{i}"]) for i, row in enumerate(rows)]
    path = tmp_path_factory.mktemp("clinic") / "clinic.csv"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture(scope="module")
def address(clinic):
    with cr.studio(None, clinic, browser=False) as studio:
        yield studio.url


class Worker(Person):
    """What a person does in the other sections."""

    def section(self, name):
        self.page.get_by_label("Sections").get_by_role("button", name=name, exact=True).click()
        self.page.locator(f'main[aria-label="{name}"]').wait_for()

    def pick(self, *names):
        for name in names:
            self.page.locator(f'.stage .sketch [data-name="{name}"]').click()

    def edges(self, within=".stage"):
        titles = self.page.locator(f"{within} .sketch .edge title").all_text_contents()
        return {tuple(t.split(" → ")) for t in titles}

    def learn(self):
        self.page.locator("button.main").click()
        self.page.locator(".score").get_by_text("learned by").wait_for(timeout=30_000)

    def score(self):
        return float(self.page.locator(".score b").text_content().replace(",", ""))

    def field(self, label, value):
        box = self.page.get_by_label(label, exact=True)
        box.fill(value)
        box.press("Tab")

    def node(self, name, states):
        self.page.get_by_label("Name", exact=True).first.fill(name)
        self.page.get_by_label("States", exact=True).first.fill(states)
        self.button("Add node").click()
        self.page.locator(f'.stage .sketch [data-name="{name}"]').wait_for()

    def choose(self, label, option):
        self.page.get_by_role("combobox", name=label, exact=True).select_option(option)

    def edge(self, a, b):
        self.choose("From", a)
        self.choose("To", b)
        with self.change("add-edge"):
            self.button(f"Add {a} → {b}").click()

    def rows(self, values, button="Set table"):
        cells = self.page.locator(".typed td input")
        for i, value in enumerate(values):
            cells.nth(i).fill(str(value))
        self.button(button).click()

    def saved(self, button):
        with self.page.expect_download() as download:
            self.button(button).click()
        return download.value

    def says(self, text):
        self.page.get_by_role("alert").get_by_text(text).wait_for(timeout=5000)


def worker_at(browser, address):
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    page.set_default_timeout(10_000)
    page.wrong = []
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.goto(address)
    page.locator("main[data-version]").wait_for()
    return Worker(page)


@pytest.fixture
def worker(browser, address):
    made = worker_at(browser, address)
    yield made
    assert not made.page.wrong
    made.page.context.close()


# --- Learn -------------------------------------------------------------------------------------


def test_a_table_is_learned_and_then_asked(worker, clinic):
    expected = cr.learn(clinic, rng=0)
    assert worker.edges() == set()
    worker.learn()
    assert worker.edges() == set(expected.dag.edges)
    assert worker.score() == pytest.approx(expected.record.score, abs=0.01)
    worker.section("Ask")
    worker.click("xray", "yes")
    near(worker.p("lung", "yes"), expected.p("lung", {"xray": "yes"})["yes"])


@slow
def test_a_column_is_left_out_and_taken_back(worker):
    row = worker.page.get_by_role("row").filter(has_text="600 different values")
    assert "not used" in row.text_content()
    with worker.change("kind"):
        worker.page.get_by_label("Take asia as").select_option("drop")
    worker.page.locator('.stage .sketch [data-name="asia"]').wait_for(state="detached")
    worker.button("Undo").click()
    worker.page.locator('.stage .sketch [data-name="asia"]').wait_for()


@slow
def test_rules_are_painted_and_hold(worker):
    worker.pick("asia", "dysp")
    with worker.change("rule"):
        worker.choose("Rule", "required")
    worker.pick("xray", "either")  # the third and fourth picked begin a new pair
    with worker.change("rule"):
        worker.choose("Rule", "forbidden")
    worker.sees("required: asia → dysp", worker.page)
    with worker.change("tier"):
        worker.field("Tier of smoke", "2")
    with worker.change("tier"):
        worker.field("Tier of lung", "1")
    worker.learn()
    found = worker.edges()
    assert ("asia", "dysp") in found
    assert ("xray", "either") not in found and ("smoke", "lung") not in found
    with worker.change("rule"):
        worker.button("Free asia → dysp").click()
    gone(worker.page.get_by_text("required: asia"))


@slow
def test_the_score_and_the_search_are_picked(worker, clinic):
    with worker.change("choose"):
        worker.choose("Score", "bic")
    with worker.change("choose"):
        worker.choose("Search", "tan")
    with worker.change("choose"):
        worker.choose("Class", "lung")
    worker.learn()
    worker.sees("learned by tan with bic", worker.page.locator(".stage"))
    assert worker.edges() == set(cr.learn(clinic, "bic", "tan", target="lung").dag.edges)


@slow
def test_an_edge_by_hand_changes_the_score_as_it_was_said(worker):
    before = worker.score()
    worker.pick("lung", "either")
    add = worker.page.get_by_role("button", name=re.compile("^Add edge: "))
    gain = float(add.text_content().rpartition(" ")[2].replace("−", "-"))
    with worker.change("edit"):
        add.click()
    worker.page.get_by_text("1 edges.").wait_for()
    assert worker.score() == pytest.approx(before + gain, abs=0.02)
    worker.button("Undo").click()
    worker.page.get_by_text("0 edges.").wait_for()


@slow
def test_two_graphs_side_by_side(worker):
    worker.learn()
    worker.pick("tub", "either")
    with worker.change("edit"):
        worker.page.get_by_role("button", name=re.compile("^Remove edge: ")).click()
    worker.choose("First", "1")
    worker.button("Side by side").click()
    dialog = worker.page.get_by_role("dialog")
    dialog.get_by_text("1 in the first alone, 0 in the second alone").wait_for()
    assert dialog.locator(".edge.alone").count() == 1
    assert dialog.locator("figure").count() == 2
    worker.button("Close the comparison").click()
    gone(worker.page.get_by_role("dialog"))


@pytest.fixture(scope="module")
def slow_table():
    """A table whose search takes minutes."""
    n = 80
    names = [f"v{i}" for i in range(n)]
    dag = cr.Dag([(names[i // 2], names[i]) for i in range(1, n)], nodes=names)
    tables = {v: [[0.8, 0.2], [0.3, 0.7]] if i else [0.5, 0.5] for i, v in enumerate(names)}
    return cr.Network(dag, tables).sample(20_000, rng=0)


@slow
def test_learning_is_watched_reloaded_stopped_and_the_best_is_kept(browser, slow_table):
    with cr.studio(None, slow_table, browser=False) as studio:
        worker = worker_at(browser, studio.url)
        worker.page.locator("button.main").click()
        worker.page.get_by_text("Best so far").wait_for(timeout=60_000)
        assert worker.edges()
        worker.page.get_by_label("Learning").get_by_text(re.compile("families asked")).wait_for()
        worker.page.reload()
        worker.page.get_by_text("Best so far").wait_for(timeout=20_000)
        worker.section("Learn")
        worker.button("Stop and keep the best").click()
        worker.page.get_by_text("Learning ended").wait_for(timeout=60_000)
        worker.sees("interrupted", worker.page.locator(".stage"))
        assert worker.edges()
        worker.page.context.close()


@slow
def test_a_file_is_dropped_on_the_page(worker, tmp_path):
    (tmp_path / "pets.csv").write_text("cat,dog\n" + "yes,no\nno,yes\nno,no\n" * 9)
    worker.page.get_by_label("Open a table").set_input_files(tmp_path / "pets.csv")
    worker.sees("pets.csv: 27 rows", worker.page)
    worker.learn()
    drop = """() => {
        const data = new DataTransfer();
        data.items.add(new File(["a,b\\nx,y\\ny,x\\nx,x\\ny,y"], "two.csv"));
        document.querySelector(".drop").dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true}));
    }"""
    worker.page.evaluate(drop)
    worker.sees("two.csv: 4 rows", worker.page)
    (tmp_path / "what.pdf").write_text("%PDF")
    worker.page.get_by_label("Open a table").set_input_files(tmp_path / "what.pdf")
    worker.says("is that of no table, no model and no session")


@slow
def test_a_table_of_fifty_megabytes(browser, tmp_path):
    lines = "".join(f"{'yes' if i % 3 else 'no'},{'red' if i % 5 else 'blue'}\n" for i in range(15))
    text = "wet,colour\n" + lines * (50_000_000 // len(lines))
    (tmp_path / "large.csv").write_text(text)
    with cr.studio(browser=False) as studio:
        worker = worker_at(browser, studio.url)
        worker.section("Learn")
        worker.page.get_by_label("Open a table").set_input_files(tmp_path / "large.csv")
        worker.page.get_by_text(re.compile("large.csv: ")).wait_for(timeout=120_000)
        rows = f"{text.count(chr(10)) - 1:,}"
        worker.sees(f"large.csv: {rows} rows", worker.page)
        worker.learn()
        worker.page.context.close()


# --- Build -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def empty():
    with cr.studio(browser=False) as studio:
        yield studio.url


@pytest.fixture
def builder(browser, empty):
    made = worker_at(browser, empty)
    yield made
    assert not made.page.wrong
    made.page.context.close()


def built(builder):
    builder.node("rain", "no, yes")
    with builder.change("type"):
        builder.rows([0.8, 0.2])
    builder.node("wet", "no, yes")
    builder.edge("rain", "wet")
    with builder.change("type"):
        builder.rows([0.9, 0.1, 0.2, 0.8])


def test_a_network_from_nothing(builder):
    built(builder)
    assert builder.edges() == {("rain", "wet")}
    builder.section("Ask")
    builder.click("wet", "yes")
    near(builder.p("rain", "yes"), 2 / 3)


@slow
def test_rows_that_miss_one_are_said_and_normalised(builder):
    builder.node("coin", "heads, tails")
    builder.rows([1, 3])
    builder.says("Row 1 of 'coin' must add up to 1, and adds up to 4.")
    assert "⚠" in builder.page.locator(".typed tbody tr").text_content()
    with builder.change("type"):
        builder.button("Normalise rows and set").click()
    assert builder.page.locator(".typed td input").first.input_value() == "0.25"
    builder.rows(["half", 0.5])
    builder.says("Row 1 of coin has a cell that is no number.")


@slow
@pytest.mark.parametrize("between", ["\t", "  ", ", ", ";"])
def test_a_table_is_pasted_from_a_sheet(builder, between):
    built(builder)
    text = between.join(["0.7", "0.3"]) + "\n" + between.join(["0.1", "0.9"]) + "\n"
    builder.page.wait_for_timeout(300)  # a hand is slower than what comes back
    paste = """text => {
        const data = new DataTransfer();
        data.setData("text/plain", text);
        const first = document.querySelector(".typed td input");
        first.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
    }"""
    builder.page.evaluate(paste, text)
    with builder.change("type"):
        builder.button("Set table").click()
    cells = builder.page.locator(".typed td input").all()
    assert [c.input_value() for c in cells] == ["0.7", "0.3", "0.1", "0.9"]


@slow
def test_nodes_are_renamed_and_removed_and_all_is_undone(builder):
    built(builder)
    form = builder.page.get_by_label("Node wet")
    form.get_by_label("Name").fill("grass")
    form.get_by_label("States").fill("dry, wet")
    with builder.change("change-node"):
        form.get_by_role("button", name="Change").click()
    builder.page.locator('.stage .sketch [data-name="grass"]').wait_for()
    assert builder.edges() == {("rain", "grass")}
    with builder.change("drop-node"):
        builder.page.get_by_label("Node grass").get_by_role("button", name="Remove node").click()
    builder.page.locator('.stage .sketch [data-name="grass"]').wait_for(state="detached")
    for name in ("grass", "wet"):
        with builder.change("undo"):
            builder.button("Undo").click()
        builder.page.locator(f'.stage .sketch [data-name="{name}"]').wait_for()
    assert builder.edges() == {("rain", "wet")}


@slow
def test_a_cycle_is_refused_in_a_sentence(builder):
    built(builder)
    builder.choose("From", "wet")
    builder.choose("To", "rain")
    builder.button("Add wet → rain").click()
    builder.says(re.compile("cycle"))


@slow
def test_a_network_is_built_by_the_keyboard_alone(builder):
    keys = builder.page.keyboard
    builder.page.get_by_label("Name", exact=True).focus()
    for name in ("a", "b"):
        keys.type(name)
        keys.press("Enter")
        builder.page.locator(f'.stage .sketch [data-name="{name}"]').wait_for()
        builder.page.get_by_label("Name", exact=True).first.focus()
    for name in ("a", "b"):
        builder.page.locator(f'.stage .sketch [data-name="{name}"]').focus()
        keys.press("Enter")
    builder.button("Add a → b").focus()
    with builder.change("add-edge"):
        keys.press("Enter")
    builder.page.locator(".stage .sketch .edge").wait_for(state="attached")
    assert builder.edges() == {("a", "b")}


# --- Check -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def checked(browser, clinic):
    """A network without an edge that the rows have, checked."""
    net = cr.fit("[asia][smoke][tub][lung][bronc|smoke][either|tub:lung][xray][dysp|bronc]", clinic)
    with cr.studio(net, clinic, browser=False) as studio:
        worker = worker_at(browser, studio.url)
        worker.section("Check")
        worker.page.get_by_label("Seconds").fill("30")
        worker.page.locator("button.main").click()
        worker.page.get_by_text("Checking ended").wait_for(timeout=90_000)
        worker.page.get_by_role("heading", name="Findings").wait_for()
        yield worker
        worker.page.context.close()


@slow
def test_findings_are_ranked_and_lead_to_their_place(checked):
    checked.section("Check")
    signs = checked.page.locator(".findings .sign").all_text_contents()
    order = ["problem", "warning", "note", "good"]
    ranks = [order.index(s.split()[1]) for s in signs]
    assert ranks == sorted(ranks) and ranks[0] < 2
    links = checked.page.locator(".findings .link")
    name = links.first.text_content().split(" – ")[0]
    links.first.click()
    checked.page.locator('main[aria-label="Ask"], main[aria-label="Learn"]').wait_for()
    assert checked.page.get_by_text(name).count() > 0


@slow
def test_a_surprising_row_becomes_the_evidence(checked):
    checked.section("Check")
    link = checked.page.locator("table .link").first
    row = link.text_content()
    link.click()
    checked.page.locator('main[aria-label="Ask"]').wait_for()
    assert checked.page.locator(".tools input[type=number]").input_value() == row
    assert checked.page.locator(".chips li").count() >= 7
    with checked.change("clear"):
        checked.button("Clear").click()


@slow
def test_calibration_is_drawn(checked):
    checked.section("Check")
    pictures = checked.page.get_by_role("img", name=re.compile("^Calibration of "))
    pictures.first.wait_for()
    assert pictures.count() == 8
    points = pictures.first.locator("circle").all()
    assert points and all(0 <= float(c.get_attribute("cx")) <= 132 for c in points)


# --- Share -------------------------------------------------------------------------------------


@slow
def test_the_model_is_saved_in_every_format(builder, tmp_path):
    built(builder)
    builder.section("Share")
    buttons = builder.page.get_by_role("button", name=re.compile(r"^Save as \."))
    buttons.first.wait_for()
    names = buttons.all_text_contents()
    assert len(names) >= 7
    for name in names:
        download = builder.saved(name)
        assert download.suggested_filename == f"a-new-network{name.removeprefix('Save as ')}"
        path = tmp_path / download.suggested_filename
        download.save_as(path)
        net = cr.load(path)
        two = net.names[1]
        assert net.cpt(two).values.tolist() == [[0.9, 0.1], [0.2, 0.8]]


@slow
def test_a_session_is_a_file_that_goes_on(builder, tmp_path, browser, empty):
    built(builder)
    builder.section("Ask")
    builder.click("wet", "yes")
    builder.section("Share")
    builder.saved("Save the session").save_as(tmp_path / "mine.studio")
    other = worker_at(browser, empty)
    other.section("Share")
    other.page.get_by_label(re.compile("^Open a session")).set_input_files(tmp_path / "mine.studio")
    other.page.get_by_role("button", name="Undo").and_(other.page.locator(":enabled")).wait_for()
    other.section("Ask")
    other.sees("wet = yes")
    with other.change("undo"):
        other.button("Undo").click()
    other.sees("Nothing is known.")
    other.page.context.close()


@slow
def test_the_script_that_is_saved_runs(worker, tmp_path):
    worker.learn()
    worker.section("Share")
    worker.sees(re.compile("net = cr.learn"), worker.page)
    worker.saved("Save the script").save_as(tmp_path / "script.py")
    space = {}
    exec((tmp_path / "script.py").read_text(), space)
    worker.section("Ask")
    near(worker.p("lung", "yes"), space["net"].p("lung")["yes"])


@slow
def test_the_picture_is_saved_as_png(worker):
    worker.section("Ask")
    download = worker.saved("Save PNG")
    data = Path(download.path()).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) > 5000
    assert download.suggested_filename == "clinic.csv.png"


# --- what it survives --------------------------------------------------------------------------


@slow
def test_the_server_is_started_again_and_the_page_goes_on(browser, clinic, tmp_path):
    with cr.studio(None, clinic, browser=False, folder=tmp_path) as studio:
        worker = worker_at(browser, studio.url)
        worker.learn()
        edges = worker.edges()
        worker.section("Ask")
        worker.click("xray", "yes")
    worker.page.get_by_text("The studio does not answer.").wait_for()
    with cr.studio(None, clinic, browser=False, folder=tmp_path):
        worker.page.get_by_text("The studio does not answer.").wait_for(
            state="detached", timeout=20_000
        )
        worker.sees("xray = yes")
        worker.click("smoke", "yes")
        worker.section("Learn")
        worker.page.locator(".stage .sketch").wait_for()
        assert worker.edges() == edges
        worker.page.context.close()


@slow
def test_a_tab_that_is_duplicated_follows_and_is_followed(worker, address):
    worker.section("Ask")
    worker.click("xray", "yes")
    key = worker.page.evaluate("sessionStorage.getItem('credo')")
    page = worker.page.context.new_page()
    page.add_init_script(f"sessionStorage.setItem('credo', {key!r})")
    page.goto(address)
    other = Worker(page)
    other.section("Ask")
    other.sees("xray = yes")
    other.click("smoke", "yes")
    worker.sees("smoke = yes")
    worker.click("bronc", "yes")
    other.sees("bronc = yes")
    page.close()


# --- how it looks, and who can use it ----------------------------------------------------------

SECTIONS = ["Learn", "Build", "Check", "Share"]


def shown(worker, section):
    """A section with something in it."""
    worker.section(section)
    if section == "Learn":
        if not worker.edges():
            worker.learn()
        worker.pick("lung", "either")
        worker.page.get_by_role("combobox", name="Rule").wait_for()
    if section == "Build":
        worker.pick("dysp")
        worker.page.locator(".typed").wait_for()


@slow
@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_no_violation_of_accessibility(worker, checked, theme):
    if not AXE.exists():
        pytest.skip("axe-core is not installed: make studio")
    for at, section in [(worker, s) for s in SECTIONS] + [(checked, "Check")]:
        at.page.select_option("#theme", theme)
        shown(at, section)
        at.page.evaluate(AXE.read_text())
        found = at.page.evaluate("axe.run({resultTypes: ['violations']}).then(r => r.violations)")
        assert not [
            (section, v["id"], v["nodes"][0]["html"][:200], v["nodes"][0]["failureSummary"])
            for v in found
        ]


CLIPPED = """() => {
    const out = [];
    for (const e of document.querySelectorAll("main button, main label, main p, main h2, main h3, main li, main th")) {
        const r = e.getBoundingClientRect();
        if (!r.width || e.closest(".scroll, .hidden, .script")) continue;
        if (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflow !== "visible") out.push(["cut", e.textContent]);
        const room = e.closest("aside, .stage").getBoundingClientRect();
        if (r.left < room.left - 1 || r.right > room.right + 1) out.push(["outside", e.textContent]);
    }
    const controls = [...document.querySelectorAll("main button, main input, main select")].filter(
        e => e.getBoundingClientRect().width && !e.closest("dialog") && !e.closest(".scroll"));
    for (const a of controls) for (const b of controls) {
        if (a === b) break;
        const p = a.getBoundingClientRect(), q = b.getBoundingClientRect();
        if (p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 1 && q.top < p.bottom - 1)
            out.push(["over", a.textContent, b.textContent]);
    }
    if (document.documentElement.scrollWidth > innerWidth) out.push(["wide", ""]);
    return out;
}"""


@slow
@pytest.mark.parametrize("size", [(1400, 900), (1000, 640), (700, 900)])
def test_nothing_overlaps_and_nothing_is_cut_off(worker, checked, size):
    for at, section in [(worker, s) for s in SECTIONS] + [(checked, "Check")]:
        at.page.set_viewport_size({"width": size[0], "height": size[1]})
        shown(at, section)
        assert not at.page.evaluate(CLIPPED), section
    checked.page.set_viewport_size({"width": 1400, "height": 900})


@slow
def test_names_are_text_in_every_section(browser, tmp_path):
    (tmp_path / "odd.csv").write_text(f'"{ODD}",b\n' + f'"{ODD}",x\ny,z\ny,x\n' * 9)
    with cr.studio(None, tmp_path / "odd.csv", browser=False) as studio:
        worker = worker_at(browser, studio.url)
        worker.learn()
        for section in SECTIONS:
            worker.section(section)
            time.sleep(0.2)
            assert worker.page.evaluate("window.hacked") is None
            assert worker.page.locator("img").count() == 0
        worker.page.context.close()
