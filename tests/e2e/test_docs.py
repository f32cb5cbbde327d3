"""Documentation is executed: the README's tour, every page, every docstring, every example."""

import doctest
import importlib
import pkgutil
import re
import runpy
from pathlib import Path

import pytest

import credo

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
MODULES = ["credo"] + [
    m.name for m in pkgutil.walk_packages(credo.__path__, "credo.") if not m.name.endswith("_core")
]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def snippets(page: Path) -> list[tuple[int, str]]:
    """The fenced python blocks of a page, each with the line it starts on."""
    found = []
    for match in re.finditer(r"^```python\n(.*?)^```$", page.read_text(), re.M | re.S):
        line = page.read_text()[: match.start()].count("\n") + 2
        found.append((line, match[1]))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_snippet_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict = {"__name__": "__main__"}
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    parser = doctest.DocTestParser()
    for line, code in snippets(page):
        if ">>>" not in code:
            exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
            continue
        test = parser.get_doctest(code, namespace, page.name, str(page), line - 1)
        output: list[str] = []
        runner.run(test, out=output.append, clear_globs=False)
        namespace.update(test.globs)
        assert not output, "".join(output)


def test_the_readme_has_a_tour():
    assert sum(code.count(">>>") for _, code in snippets(ROOT / "README.md")) >= 10


@pytest.mark.parametrize("module", MODULES)
def test_every_docstring_example_runs(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what an example writes is not left in the repository
    found = importlib.import_module(module)
    result = doctest.testmod(found, optionflags=FLAGS)
    assert result.failed == 0


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.name)
def test_every_example_runs(example, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("name", [n for n in credo.__all__ if n != "__version__"])
def test_every_public_name_has_a_docstring_with_an_example(name):
    value = getattr(credo, name)
    doc = value.__doc__ or ""
    if name in ("plot", "errors"):
        assert doc.strip()
        return
    assert ">>>" in doc, f"credo.{name} has no executed example"


def test_every_public_name_and_command_is_in_the_docs():
    text = "\n".join(p.read_text() for p in PAGES)
    for name in credo.__all__:
        if name != "__version__":
            assert re.search(rf"\b{name}\b", text), f"{name} is not in the docs"
    from credo.cli import app

    for command in (
        app.commands if hasattr(app, "commands") and app.commands else app.list_commands(None)
    ):
        assert f"credo {command}" in text, f"the command {command} is not in the docs"


def test_every_docs_page_is_linked_from_the_index():
    index = (ROOT / "docs" / "index.md").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "index.md" or page.name in index, page.name


def test_the_generated_pages_are_up_to_date():
    build = runpy.run_path(str(ROOT / "docs" / "build.py"))
    for page, make in build["GENERATED"].items():
        assert (ROOT / "docs" / page).read_text() == make(), f"run `make docs`: {page} is old"
