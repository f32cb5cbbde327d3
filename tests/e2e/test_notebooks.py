"""The widget in real notebooks: JupyterLab and marimo, each with a kernel, in Chromium."""

import gzip
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from tests.e2e.test_studio import Person, browser, chest  # noqa: F401

import credo as cr
from credo.studio.opening import STATIC

pytest.importorskip("anywidget", reason="the notebook's extra is not installed")

slow = pytest.mark.slow

pytestmark = pytest.mark.skipif(
    not (STATIC / "widget.js").exists(), reason="the studio's page is not built: make studio"
)

CELLS = ["%load_ext credo", "import credo as cr; net = cr.load('chest.bif')", "net"]
MARIMO = """
import marimo
app = marimo.App()

@app.cell
def _():
    import credo as cr
    net = cr.load("chest.bif")
    net.widget()
    return

if __name__ == "__main__":
    app.run()
"""


def test_the_widget_is_small_and_answers_as_a_session_does():
    widget = chest().widget()
    assert len(gzip.compress(widget._esm.encode())) < 250_000
    said = []
    widget.send = said.append
    click = {"seq": 1, "name": "xray", "state": 1, "how": "is"}
    widget._handle_custom_msg({"id": 7, "name": "click", "request": click}, [])
    widget._handle_custom_msg({"id": 8, "name": "nothing", "request": {}}, [])
    widget._handle_custom_msg("?", [])
    right = chest().p("lung", {"xray": "yes"})["yes"]
    assert said[0]["id"] == 7 and abs(said[0]["answer"]["beliefs"]["lung"]["p"][1] - right) < 1e-12
    assert "nothing" in said[1]["error"] and said[2]["id"] is None


def test_load_ext_shows_networks_as_widgets():
    ipython = pytest.importorskip("IPython.core.interactiveshell", reason="IPython is missing")
    shell = ipython.InteractiveShell.instance()
    shell.run_line_magic("load_ext", "credo")
    bundle, _ = shell.display_formatter.format(chest())
    assert "application/vnd.jupyter.widget-view+json" in bundle


@pytest.fixture
def served(tmp_path):
    """Starts a notebook server in a folder with a model, and ends it."""
    chest().save(tmp_path / "chest.bif")
    started = []

    def start(port, *command):
        env = {**os.environ, "JUPYTER_CONFIG_DIR": str(tmp_path), "HOME": str(tmp_path)}
        process = subprocess.Popen(
            [sys.executable, "-m", *command], cwd=tmp_path, env=env,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        started.append(process)
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).read()
                return
            except OSError:
                time.sleep(0.2)
        raise AssertionError("the notebook server did not start")

    yield start
    for process in started:
        process.terminate()
        process.wait(20)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask(page):
    """Click in the widget, and see the answer of the kernel."""
    page.locator('.node[data-name="xray"]').first.wait_for(timeout=90_000)
    person = Person(page)
    person.state("xray", "yes").click()
    page.get_by_role("button", name="xray = yes", exact=True).wait_for(timeout=20_000)
    right = chest().p("lung", {"xray": "yes"})["yes"]
    assert abs(person.p("lung", "yes") - right) < 1e-9


@slow
def test_in_jupyterlab(browser, served, tmp_path):  # noqa: F811
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed")
    cells = [
        {"cell_type": "code", "id": str(i), "source": c, "metadata": {}, "outputs": [], "execution_count": None}
        for i, c in enumerate(CELLS)
    ]  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "book.ipynb").write_text(json.dumps(book))
    port = free_port()
    served(port, "jupyterlab", "--no-browser", f"--port={port}", "--IdentityProvider.token=",
           "--allow-root", "--ServerApp.ip=127.0.0.1")  # fmt: skip
    page = browser.new_context(viewport={"width": 1400, "height": 1000}).new_page()
    page.goto(f"http://127.0.0.1:{port}/lab/tree/book.ipynb")
    page.locator(".jp-Notebook .cm-content").first.click(timeout=60_000)
    for _ in CELLS:
        page.keyboard.press("Shift+Enter")
    ask(page)
    page.context.close()


@slow
def test_in_marimo(browser, served, tmp_path):  # noqa: F811
    pytest.importorskip("marimo", reason="marimo is not installed")
    (tmp_path / "book.py").write_text(MARIMO)
    port = free_port()
    served(port, "marimo", "run", "book.py", "--headless", "--no-token", f"--port={port}")
    page = browser.new_context(viewport={"width": 1400, "height": 1000}).new_page()
    page.goto(f"http://127.0.0.1:{port}/")
    ask(page)
    page.context.close()


def test_without_anywidget_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(cr.errors.MissingPackageError, match=r"credo\[notebook\]"):
        chest().widget()
