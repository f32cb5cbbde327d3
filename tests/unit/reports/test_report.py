"""A report: every section, every name escaped, what it says is true, what it tells to run works."""

import html
import json
import re
import shlex
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.in_process import credo

import credo as cr
from credo.cli.commands.report import command
from credo.errors import InputError, LimitError, UnknownNameError
from credo.predict.questions.question import quoted
from credo.reports import report_html, writing
from credo.reports.markup import Html, bar, folded, said, table, tag

VOID = {"meta", "link", "input", "img"}


@pytest.fixture(scope="module")
def net():
    return cr.fit("[Pneu][Fev|Pneu][Cou|Pneu]", cr.examples.pneumonia(), prior=cr.BDeu(2))


class Balanced(HTMLParser):
    def __init__(self):
        super().__init__()
        self.stack, self.ids, self.links, self.codes, self._in = [], [], [], [], ""

    def handle_starttag(self, name, attrs):
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []
        if name not in VOID:
            self.stack.append(name)
        if name == "pre":
            self.codes.append([given.get("class"), ""])

    def handle_endtag(self, name):
        assert self.stack.pop() == name

    def handle_data(self, data):
        if "pre" in self.stack:
            self.codes[-1][1] += data


def parsed(text):
    found = Balanced()
    found.feed(text)
    found.close()
    assert found.stack == [] and len(found.ids) == len(set(found.ids))
    assert all(href[1:] in found.ids for href in found.links if href.startswith("#"))
    assert all(href.startswith(("#", "data:")) for href in found.links)
    return found


def test_every_section_is_there_and_in_order(net):
    text = report_html(net, cr.examples.pneumonia(), ["P(Pneu=T | Fev=T)"])
    order = [
        "summary", "data", "gaps", "network", "tables", "checks", "questions", "effects", "learned",
        "reproduce",
    ]  # fmt: skip
    assert re.findall(r'<section id="(\w+)">', text) == order
    parsed(text)
    low, high = net.cpt("Fev").interval(0.95)
    assert f"<small>{low[1, 1]:.3f}–{high[1, 1]:.3f}</small>" in text
    answer = net.ask("P(Pneu=T | Fev=T)", interval=0.95)
    assert f"{float(answer):.6g} (95 % credible: {answer.low:.4g} to {answer.high:.4g})" in text
    assert "BDeu(2)" in text and "held-out" in text and "data:image/png" in text


def test_without_data_it_tells_of_the_model_alone(net):
    text = report_html(net)
    assert "No data was given" in text and 'id="checks"' not in text
    bare = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    text = report_html(bare, title="A <title>")
    assert "<h1>A &lt;title&gt;</h1>" in text and "carries no record" in text
    assert "keeps no posterior" in text
    parsed(text)


def test_gaps_are_told():
    rows = {"a": [1, None, 2, 2] * 20, "b": ["x", None, "y", None] * 20, "c": ["u", "v"] * 40}
    found = cr.em("[a][b|a][c]", rows, prior=cr.BDeu(1))
    text = report_html(found, rows, checks=False)
    assert "25 % of the cells are missing; 50 % of the rows are complete." in text
    assert "The checks were left out, as asked." in text
    assert "gaps that go together" in text and 'class="curve"' in text
    parsed(text)


def test_other_kinds_of_model():
    lines = cr.read(
        {"sex": ["f", "m"] * 12, "h": [150.5 + i for i in range(24)]}, schema={"h": "continuous"}
    )
    mixed = cr.fit("[sex][h|sex]", lines)
    text = report_html(mixed, lines, checks=False)
    assert "standard deviation" in text and "mean 162" in text
    parsed(text)
    sure = cr.fit("[h]", lines, prior=cr.LinePrior())
    low, high = sure.cpt("h").interval(0.95, of="intercept")
    assert f"{float(low):.4g} to {float(high):.4g}" in report_html(sure)
    grid = cr.ising_grid(3)
    text = report_html(grid, grid.sample(30, rng=0))
    assert "this model has no directions" in text and "not probabilities" in text
    parsed(text)
    factors = cr.MarkovNetwork({("A", "B"): [[1, 2], [3, 4]]}, states={"A": [0, 1], "B": [0, 1]})
    assert "10 numbers" not in report_html(factors) and "4 numbers" in report_html(factors)
    parsed(report_html(factors.to_factor_graph()))


def test_any_text_can_be_a_name_or_a_state():
    name, state = '<script>alert("1")</script>', "</td><img src=x onerror=alert(1)>"
    rows = {
        name: [state, "\x00", "\u202e", "ok"] * 10,
        "q\"uo'te\\": ["日本", "é"] * 20,
        "n" * 300: ["x" * 400, "y"] * 20,
    }
    table = cr.read(rows)
    found = cr.learn(table, search="hill-climb")
    text = report_html(found, table, [f"P({quoted(name)})"], title=name, data_file=f"{name}.csv")
    assert "<script>alert" not in text and "<img src=x" not in text
    assert text.count("<script>") == 1  # its own
    parsed(text)
    for v in found.variables:  # questions quote what needs it, and are understood again
        for s in v.states:
            assert 0 <= found.ask(f"P({quoted(v.name)}={quoted(s)})") <= 1


def test_wide_and_large_models_stay_small(monkeypatch):
    names = [f"v{i}" for i in range(300)]
    dag = cr.Dag([(names[i // 2], names[i]) for i in range(1, 300)], nodes=names)
    states = {n: list(range(6)) for n in names}
    tables = {n: np.full([6] * (1 + len(dag.parents(n))), 1 / 6) for n in names}
    large = cr.Network(dag, tables, states=states)
    text = report_html(large)
    assert len(text) < 3_000_000 and text.count("<details id=") == 300
    assert "Find a variable" in text
    from credo.reports import tables_section

    monkeypatch.setattr(tables_section, "_CELLS", 500)
    assert "Left out to keep this page short" in report_html(large)


def test_a_report_that_would_be_too_large_is_refused(net, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "MAX_BYTES", 10_000)
    path = tmp_path / "r.html"
    path.write_text("before")
    with pytest.raises(LimitError, match=r"at most 10,000 are written"):
        cr.write_report(net, path)
    assert path.read_text() == "before"


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"questions": ["P(Pneumonia)"]}, UnknownNameError, "Did you mean 'Pneu'"),
        ({"questions": "P(Pneu"}, InputError, "at character"),
        ({"questions": [3]}, InputError, "A question is a text, got 3"),
        ({"level": 2}, InputError, "level"),
        ({"data": "nowhere.csv"}, InputError, "nowhere.csv"),
    ],
)
def test_refusals(net, tmp_path, arguments, error, sentence):
    with pytest.raises(error, match=sentence):
        cr.write_report(net, tmp_path / "r.html", **arguments)
    assert not (tmp_path / "r.html").exists()
    with pytest.raises(InputError, match="A report is about a network"):
        cr.write_report("model.bif", tmp_path / "r.html")
    with pytest.raises(InputError, match="is a folder"):
        cr.write_report(net, tmp_path)


@pytest.mark.filterwarnings("ignore:What do")
def test_the_commands_and_the_python_it_names_work(tmp_path, monkeypatch):
    """What the report says will reproduce it does: the same model, the same report."""
    monkeypatch.chdir(tmp_path)
    cr.Network("[a][b|a]", {"a": 0.3, "b": {False: 0.2, True: 0.9}}).sample(
        120, rng=1, to="pandas"
    ).to_csv("the data.csv", index=False)
    first = cr.learn("the data.csv", search="hill-climb", score="bdeu", ess=3, rng=7)
    first.save("model.credo")
    second = cr.fit("[a][b|a]", "the data.csv", prior=cr.BDeu(2))
    second.save("fitted.credo")
    for name, model in (("model.credo", first), ("fitted.credo", second)):
        done = CliRunner().invoke(
            command,
            [
                name,
                "--data",
                "the data.csv",
                "-o",
                "r.html",
                "--no-checks",
                "--question",
                "P(b | a=true)",
            ],
        )
        assert done.exit_code == 0, done.output
        codes = {
            kind: text for kind, text in parsed(Path("r.html").read_text("utf-8")).codes if kind
        }
        commands = codes["commands"].splitlines()
        assert len(commands) == 3
        for line in commands:
            line = line.replace("credo report", "credo report --no-checks", 1)
            ran = credo(*shlex.split(line)[1:])
            assert ran.returncode == 0, (line, ran.stderr)
        again = cr.load("model.credo" if name == "model.credo" else "again.credo")
        assert again == model
        assert Path("report.html").stat().st_size > 10_000
        namespace = {}
        code = codes["python"].replace("write_report(net,", "write_report(net, checks=False, path=")
        exec(compile(code, "report", "exec"), namespace)
        assert namespace["net"] == model


def test_the_model_inside_the_page_is_the_model(net, tmp_path):
    import base64

    text = report_html(net)
    raw = base64.b64decode(re.search(r"data:application/octet-stream;base64,([^\"]+)", text)[1])
    (tmp_path / "m.credo").write_bytes(raw)
    again = cr.load(tmp_path / "m.credo")
    assert again == net and again.record.how == net.record.how


def test_the_command(tmp_path, net):
    net.save(tmp_path / "m.credo")
    run = CliRunner().invoke
    path = str(cr.examples.path("pneumonia"))
    out = str(tmp_path / "r.html")
    done = run(
        command, [str(tmp_path / "m.credo"), "--data", path, "-o", out, "--no-checks", "--json"]
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    assert found["version"] == 1 and found["bytes"] == Path(out).stat().st_size
    done = run(command, [str(tmp_path / "m.credo"), "-o", out, "--title", "T & T"])
    assert "opens in any browser" in done.output
    assert "<h1>T &amp; T</h1>" in Path(out).read_text("utf-8")
    bad = credo("report", tmp_path / "m.credo", "-o", tmp_path / "x.html", "--question", "P(Fever)")
    assert bad.returncode == 2 and "Did you mean 'Fev'" in bad.stderr
    assert bad.stderr.count("\n") == 1 and not (tmp_path / "x.html").exists()


def test_pieces_of_markup():
    assert said("<\x07>") == "&lt;\\x07&gt;" and said(Html("<b>")) == "<b>"
    assert tag("a", "x", href='"') == '<a href="&quot;">x</a>'
    assert 'style="width:100.00%"' in bar(1.5) and "left:20.00%" in bar(0.5, 0.2, 0.7)
    assert folded("s", "b", is_open=True, id_="i").startswith('<details id="i" open>')
    made = table(["a", "b"], [["<", tag("td", "x", class_="heat")]], right=[0], caption="c & d")
    assert '<td class="n">&lt;</td><td class="heat">x</td>' in made and "c &amp; d" in made
    assert html.unescape("&lt;") == "<"
    assert f'title="{"h" * 99}">{"h" * 47}…</th>' in table(["h" * 99], [])


def test_usual_questions_that_are_dear_come_without_their_interval(net, monkeypatch):
    from credo.reports import questions_section

    assert "takes longer" not in report_html(net)
    monkeypatch.setattr(questions_section, "_CHEAP", 1.0)
    text = report_html(net, questions=["P(Pneu | Fev=T)"])
    assert "The command below adds its interval, which takes longer." in text
    asked = text[text.index("Asked for this report") : text.index("any reader would ask")]
    assert "95 % interval" in asked and "takes longer" not in asked


# --- what it opens with, and what it reuses -----------------------------------------------


def _skewed():
    rng = np.random.default_rng(3)
    g = rng.integers(0, 2, 200)
    x = rng.standard_exponential(200) ** 2 + g
    rows = cr.read({"g": [f"s{i}" for i in g], "x": x, "y": x + rng.standard_exponential(200)})
    return cr.learn(rows, parameters=cr.BDeu(1)), rows


def _section(text, name):
    return re.search(rf'<section id="{name}">(.*?)</section>', text, re.S)[1]


def test_it_opens_with_a_summary_and_groups_what_is_alike():
    net, rows = _skewed()
    report = cr.check(net, rows, sections=["held_out", "calibration"])
    text = report_html(net, rows, checks=report)
    summary = _section(text, "summary")
    assert "A network of 3 variables and" in summary and "independent columns" in summary
    assert 1 < summary.count('class="finding') <= 4
    wrong = [f for f in report.findings if f.severity in ("problem", "warning")]
    both = [f for f in wrong if f.where in ("x", "y") and "values of" in f.sentence]
    if len(both) == 2:
        assert summary.count("of the values of") == 1


def test_each_number_has_a_histogram_with_the_models_density():
    net, rows = _skewed()
    data = _section(report_html(net, rows, checks=False), "data")
    assert data.count('class="fitted"') == 2 and data.count('class="bar"') == 2 * 24


def test_edges_have_their_strength():
    net, rows = _skewed()
    assert net.dag.edges
    network = _section(report_html(net, rows, checks=False), "network")
    assert "strongest first" in network and "mutual information" in network


def test_a_check_that_was_made_is_not_made_again(monkeypatch):
    from credo import checking
    from credo.checking.findings import keep

    net, rows = _skewed()
    report = cr.check(net, rows, sections=["held_out"])

    def never(*args, **settings):
        raise AssertionError("checked again")

    monkeypatch.setattr(checking, "check", never)
    given = report_html(net, rows, checks=report)
    assert html.escape(report.findings[0].sentence) in given
    kept = report_html(keep(net, report), rows)
    assert "Found when the model was learned" in kept
    assert html.escape(report.findings[0].sentence) in kept
    with pytest.raises(AssertionError, match="checked again"):
        report_html(keep(net, report), rows.take(slice(0, 100)))  # other rows
    with pytest.raises(InputError, match=r"checks must be a report of cr\.check"):
        report_html(net, rows, checks="all")


def test_the_schema_keeps_its_real_reasons(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,a,b\n" + "".join(f"{i + 1},{'xy'[i % 2]},{i % 3}\n" for i in range(60)))
    net = cr.learn(path, parameters=cr.BDeu(1))
    data = _section(report_html(net, str(path), checks=False), "data")
    assert "by the schema given" not in data
    assert "whole numbers, 3 different" in data


def test_a_decision_network_has_its_section(tmp_path):
    rows = {"Rain": [True] * 6 + [False] * 14}
    net = cr.fit("[Rain]", rows, prior=cr.Laplace(1))
    d = net.decide({"Take": ["yes", "no"]}, {"U|Rain:Take": [[20, 100], [70, 0]]})
    asked = ["EU(Take=yes)", "P(Rain=true)"]
    page = cr.write_report(d, tmp_path / "d.html", questions=asked).read_text("utf-8")
    for words in ("Decisions", "expected utility", "What is worth knowing", "EU(Take=yes)",
                 "What would change the decision", 'class="utility"', "P(Rain=true)"):  # fmt: skip
        assert words in page
    with pytest.raises(cr.errors.InputError, match="takes no rows"):
        cr.write_report(d, tmp_path / "d.html", data=rows)


def test_effects_and_counterfactuals_are_told(net):
    text = report_html(net, None, ["P(Fev_{Pneu=F}=T | Pneu=T, Fev=T)"])
    effects = _section(text, "effects")
    assert "Pneu: F → T" in effects and "credo effect" in effects
    found = cr.effect(net, "Pneu", "Fev", values=("F", "T"), outcome="T")
    assert f"{float(found.difference):.3g}" in effects
    assert "Fev_{Pneu=F}=T" in _section(text, "questions")
    with pytest.raises(UnknownNameError, match="Fever"):
        report_html(net, None, ["P(Fever_{Pneu=F}=T)"])
