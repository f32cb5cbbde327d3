"""The pages that describe the house say what is so: its layers, its folders."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "credo"


def test_the_design_page_shows_the_layers_of_the_contract():
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    (layers,) = (c["layers"] for c in tools["importlinter"]["contracts"] if c["type"] == "layers")
    told = [set(re.findall(r"credo\.(\w+)", layer)) for layer in reversed(layers)]
    page = (ROOT / "docs" / "design.md").read_text()
    picture = next(p for p in re.findall(r"```text\n(.*?)```", page, re.S) if "core →" in p)
    shown = [set(re.findall(r"\w+", floor)) for floor in picture.split("→")]
    assert shown == told


def test_every_folder_has_its_place_in_contributing():
    page = (ROOT / "CONTRIBUTING.md").read_text()
    folders = {f.parent.name for f in PACKAGE.glob("*/__init__.py")}
    assert folders == set(re.findall(r"`src/credo/(\w+)/`", page))
    for folder in (ROOT / "tests").iterdir():
        if folder.is_dir() and not folder.name.startswith("__"):
            assert f"`{folder.name}/`" in page


def test_the_files_that_the_pages_name_are_there():
    for page in ("CONTRIBUTING.md", "README.md", "docs/design.md"):
        for name in re.findall(r"`([\w/]+\.(?:py|cpp|hpp|sh))`", (ROOT / page).read_text()):
            places = (ROOT / name, PACKAGE / name, ROOT / "src" / name, ROOT / "cpp" / name)
            assert any(p.exists() for p in places), f"{page} names {name}"
