"""Pages for people: their commands run, their tables of names run, nothing is left undocumented."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import click
import pytest
from tests.cli_stage import build
from tests.in_process import credo

import credo as cr
from credo.cli import app
from credo.errors import CredoWarning

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [DOCS / "start.md", *sorted(DOCS.glob("howto-*.md"))]


def consoles(page):
    """The commands of a page's console blocks, in order."""
    blocks = re.findall(r"^```console\n(.*?)^```$", page.read_text(), re.M | re.S)
    return [line for block in blocks for line in block.splitlines() if line.startswith("credo ")]


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    return build(tmp_path_factory.mktemp("stage"))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_command_of_a_page_runs(page, stage, tmp_path):
    shutil.copytree(stage, tmp_path, dirs_exist_ok=True)
    (tmp_path / "titanic.csv").write_bytes(cr.examples.path("titanic").read_bytes())
    lines = consoles(page)
    assert len(lines) >= 4
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for line in lines:
        if "|" in shlex.split(line):  # pipes are the shell's
            done = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], cwd=tmp_path,
                                  capture_output=True, text=True,
                                  env=os.environ | {"PATH": path})  # fmt: skip
        else:
            done = credo(*shlex.split(line)[1:], cwd=tmp_path)
        assert done.returncode == 0, f"{line}\n{done.stderr[-2000:]}"


def cells(text):
    """The right-hand sides of the tables, one for each row."""
    for line in text.splitlines():
        row = re.match(r"\| .* \| `(.+)` \|$", line)
        if row:
            yield row[1].replace("\\|", "|")


def test_the_right_hand_names_of_coming_from_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "coming-from.md").read_text()
    names: dict = {}
    exec(re.search(r"```python\n(.*?)```", text, re.S)[1], names)
    exec("from credo.estimators import NaiveBayes, TextNaiveBayes, calibration_report", names)
    exec("from sklearn.model_selection import cross_val_score", names)
    found = list(cells(text))
    assert len(found) > 45
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CredoWarning)
        for code in found:
            try:
                names[code] = eval(code, names)
            except Exception as error:
                raise AssertionError(f"{code}: {error!r}") from error
    # d-connected and d-separated are opposites, and a map query is asked with its evidence
    assert names['not dag.d_separated("smoke", "xray", given=["lung"])'] is False
    assert (
        'map_query(["lung"], evidence={"xray": "yes"})` | `net.map(["lung"], given={"xray"' in text
    )
    assert "BayesNetFragment" not in text and "calibration_report" in text


def test_every_line_of_the_course_has_its_example():
    text = (DOCS / "course.md").read_text()
    for row in ["B1", "B2", "B3", "B4", "B5", "N1", "N2", "N3", "N4", "N5", "N6", "N7", "N8", "N9", "G1", "G2", "G3", "G4", "G5", "G6", "L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8", "L9", "U1", "U2", "U3", "U4", "X1", "X2", "X3", "X4", "X5", "X6"]:  # fmt: skip
        assert re.search(rf"\b{row}\. ", text), row
    for name in re.findall(r"`examples/(\w+\.py)`", text):
        assert (ROOT / "examples" / name).exists(), name


def test_every_command_and_option_is_documented():
    page = (DOCS / "command-line.md").read_text()
    schemas = (DOCS / "json.md").read_text()
    context = click.Context(app)
    for name in app.list_commands(context):
        section = page.split(f"## credo {name}\n", 1)
        assert len(section) == 2, name
        text = section[1].split("\n## ", 1)[0]
        command = app.get_command(context, name)
        for parameter in command.params:
            for option in parameter.opts if isinstance(parameter, click.Option) else []:
                assert option in text, f"{name} {option}"
        assert f"## credo {name}\n" in schemas, name


MODULES = ("distributions", "estimators", "plot", "examples", "errors")


def test_every_name_of_every_module_is_documented():
    page = (DOCS / "names.md").read_text()
    for module in MODULES:
        for name in getattr(cr, module).__all__:
            assert f"`{module}.{name}`" in page, name
            assert getattr(getattr(cr, module), name).__doc__, f"{module}.{name} says nothing"
    for name in cr.__all__:
        if name != "__version__" and name not in MODULES:
            assert f"## {name}\n" in page, name


def test_links_between_pages_lead_somewhere():
    for page in [ROOT / "README.md", *DOCS.glob("*.md")]:
        for link in re.findall(r"\]\(([\w./-]+\.md)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
