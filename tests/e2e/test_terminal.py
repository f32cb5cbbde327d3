"""The command line in a real terminal: the prompt, drawings, progress, Ctrl-C."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.cli_stage import ASIA

import credo as cr

pexpect = pytest.importorskip("pexpect", reason="pexpect is not installed")

CREDO = str(Path(sys.executable).with_name("credo"))
COLOURS = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture
def home(tmp_path):
    (tmp_path / "asia.bif").write_text(ASIA)
    return tmp_path


def terminal(home, *words, rows=40, columns=90, timeout=60):
    env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    env |= {"XDG_STATE_HOME": str(home / "state"), "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
    return pexpect.spawn(
        CREDO, list(map(str, words)), encoding="utf-8", dimensions=(rows, columns),
        timeout=timeout, env=env, cwd=str(home),
    )  # fmt: skip


def end(child):
    child.expect(pexpect.EOF)
    child.close()
    return COLOURS.sub("", child.before)


def test_the_prompt_answers_completes_and_remembers(home):
    child = terminal(home, "ask", "asia.bif")
    child.expect("credo>")
    for typed, shown in (("smo\t", "ke"), ("=y\t", "es")):  # Tab completes a name and a state
        child.send(typed)
        child.expect(shown)
    child.send("\r")
    child.expect("given smoke=yes, which has probability 0.48")
    child.expect("1 given")
    child.send("lung\r")
    child.expect("0.20000")
    child.send("P(lung=yes | bronc=yes)\r")
    child.expect("0.2")
    child.send("lug\r")
    child.expect("Did you mean 'lung'")
    child.send("\x1b[A\x1b[A\x1b[A\x1b[A\r")  # four lines back: the evidence
    child.expect("given smoke=yes, which")
    child.send("half a li\x03")  # Ctrl-C forgets the line, not the session
    child.send("evidence\r")
    child.expect("given smoke=yes")
    child.send("quit\r")
    end(child)
    assert child.exitstatus == 0
    kept = (home / "state" / "credo" / "history").read_text()
    assert "+smoke=yes" in kept and "+lung" in kept
    again = terminal(home, "ask", "asia.bif")  # the next session has the lines of the last
    again.expect("credo>")
    again.send("\x1b[A\x1b[A\r")
    again.expect("nothing is given")
    again.send("\x04")  # Ctrl-D
    end(again)
    assert again.exitstatus == 0


def test_learn_in_a_terminal_draws_and_folds(home):
    shutil.copyfile(cr.examples.path("restaurant"), home / "restaurant.csv")
    child = terminal(home, "learn", "restaurant.csv", "--details", columns=70)
    text = end(child)
    assert child.exitstatus == 0 and "└─ " in text and "Next" in text
    schema = text[: text.index("No cell is missing")]
    assert all(len(line) <= 70 for line in schema.splitlines())
    assert (home / "restaurant.credo").exists()


def interrupted(home, progress, *words):
    """Run in a terminal, press Ctrl-C when the line of progress is there."""
    child = terminal(home, *words)
    child.expect(progress)
    child.sendintr()
    text = end(child)
    return child.exitstatus, text


@pytest.fixture(scope="module")
def hard(tmp_path_factory):
    """A table that takes long: 40 variables, each with up to three parents."""
    folder = tmp_path_factory.mktemp("hard")
    rng = np.random.default_rng(0)
    columns: dict = {}
    for i in range(40):
        x = rng.integers(0, 3, 3000)
        for j in rng.choice(i, min(i, 3), replace=False) if i else []:
            x = np.where(rng.random(3000) < 0.3, columns[f"v{j}"], x)
        columns[f"v{i}"] = x
    lines = [
        ",".join(columns),
        *(",".join(map(str, r)) for r in zip(*columns.values(), strict=True)),
    ]
    (folder / "hard.csv").write_text("\n".join(lines) + "\n")
    return folder / "hard.csv"


def test_ctrl_c_during_learning_saves_the_best_so_far(home, hard):
    shutil.copyfile(hard, home / "hard.csv")
    code, text = interrupted(
        home,
        "learning by anneal: ",
        "learn",
        "hard.csv",
        "--search",
        "anneal",
        "--steps",
        10**9,
        "--seconds",
        0,
    )
    assert code == 130, text
    assert "Stopped by Ctrl-C" in text and "hard.credo" in text and "Traceback" not in text
    net = cr.load(home / "hard.credo")
    assert len(net.names) == 40 and net.dag.edges and net.record.reason == "interrupted"


def test_ctrl_c_during_em_saves_the_best_so_far(home, hard):
    rows = hard.read_text().splitlines()[:2000]
    (home / "some.csv").write_text("\n".join(r.rsplit(",", 32)[0] for r in rows) + "\n")
    graph = "[H]" + "".join(f"[v{i}|H]" for i in range(8))
    code, text = interrupted(
        home, "em: .* starts", "em", graph, "some.csv", "--hidden", "H=6", "--tol", "0", "--max-iter", 10**7,
        "--restarts", "2000", "-o", "h.credo",
    )  # fmt: skip
    assert code == 130, text
    assert "The best so far is in h.credo" in text and "Traceback" not in text
    assert cr.load(home / "h.credo").record.reason == "interrupted"


def test_ctrl_c_elsewhere_is_130_and_one_line(home):
    child = terminal(home, "sample", "asia.bif", 10**9, "-o", "rows.csv")
    child.expect("sampling|drawing|rows")
    child.sendintr()
    text = end(child)
    assert child.exitstatus == 130 and "Stopped" in text and "Traceback" not in text
    assert not (home / "rows.csv").exists()
    assert [p.name for p in home.iterdir() if p.name.startswith(".credo-")] == []


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_the_demo_in_tmux(home):
    name = f"credo-{os.getpid()}"
    tmux = ["tmux", "-L", name]
    line = f"{CREDO} demo; echo finished $?"
    env = {**os.environ, "HOME": str(home)}
    subprocess.run([*tmux, "-f", "/dev/null", "new-session", "-d", "-x", "110", "-y", "200", "-s", "d",
                    "-c", str(home)], check=True, env=env)  # fmt: skip
    try:
        subprocess.run([*tmux, "send-keys", "-t", "d", line, "Enter"], check=True)
        for _ in range(240):
            time.sleep(0.5)
            seen = subprocess.run(
                [*tmux, "capture-pane", "-p", "-t", "d"], capture_output=True, text=True
            )
            if "finished 0" in seen.stdout:
                break
        screen = seen.stdout
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)
    for part in (
        "891 rows",
        "Beta(234, 82)",
        "structural EM",
        "├─ ",
        "95 %",
        "commands to try",
        "finished 0",
    ):
        assert part in screen, part
    assert (home / "credo-demo" / "titanic.credo").exists()
