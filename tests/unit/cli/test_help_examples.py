"""Every example in every command's help runs as it is written, and every command has the same manners."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from tests.cli_stage import build

from credo.cli import app
from credo.cli.json_schemas import SCHEMAS
from credo.cli.options import examples_of

COMMANDS = app.list_commands(click.Context(app))


def command_named(name):
    return app.get_command(click.Context(app), name)


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    return build(tmp_path_factory.mktemp("stage"))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_of_the_help_run(name, stage, monkeypatch):
    monkeypatch.chdir(stage)
    examples = examples_of(command_named(name))
    assert len(examples) >= 2, f"credo {name} has no examples"
    for line in examples:
        if line == "credo demo":
            continue  # a long story, which e2e/test_cli.py runs and reads
        if name == "studio":
            continue  # it stays until Ctrl-C: e2e/test_studio.py runs it
        if "|" in shlex.split(line) or ">" in shlex.split(line):
            folder = Path(sys.executable).parent
            env = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
            done = subprocess.run(line, shell=True, capture_output=True, text=True, env=env)
            assert done.returncode == 0, f"{line}\n{done.stderr}"
            out = done.stdout
        else:
            words = shlex.split(line)
            assert words[:2] == ["credo", name], line
            result = CliRunner().invoke(app, words[1:], standalone_mode=False)
            assert result.exception is None, f"{line}\n{result.exception!r}"
            out = result.stdout
        if "--json" in line:
            assert json.loads(out)["credo"]["schema"] == f"credo.{name}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_the_options_of_every_command(name):
    command = command_named(name)
    options = {o for p in command.params for o in p.opts}
    assert {"--json", "--quiet", "--seed", "--threads"} <= options, name
    assert name in SCHEMAS, f"credo {name} --json has no schema in cli/json_schemas.txt"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_reads_like_a_manual_page(name):
    result = CliRunner().invoke(app, [name, "--help"], terminal_width=80)
    text = result.output
    for part in ("Usage: ", "Every command:", "Examples:", "Exit codes:"):
        assert part in text, part
    first = text.split("\n\n")[1].strip()
    assert first.endswith(".") or "." in first
    for parameter in command_named(name).params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts}"


def test_the_list_of_commands_says_what_each_does():
    text = CliRunner().invoke(app, ["--help"]).output
    assert all(f"  {name} " in text for name in COMMANDS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell):
    out = CliRunner().invoke(app, ["completion", shell]).output
    assert "_CREDO_COMPLETE" in out
    mark = {"bash": "complete -o", "zsh": "#compdef credo", "fish": "complete --no-files --command"}
    assert mark[shell] in out
    manual = CliRunner().invoke(app, ["completion", "--help"]).output
    assert f"credo completion {shell}" in manual


def test_bash_completes_commands_files_and_variables(stage):
    def completed(*words):
        env = os.environ | {
            "_CREDO_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(map(shlex.quote, words)),
            "COMP_CWORD": str(len(words) - 1),
        }
        credo = Path(sys.executable).with_name("credo")
        return subprocess.run([credo], capture_output=True, text=True, env=env, cwd=stage).stdout

    assert "plain,schema" in completed("credo", "sch")
    assert "--interval" in completed("credo", "ask", "--in")
    assert completed("credo", "ask", "as").startswith("file,")
    assert "P(lung" in completed("credo", "ask", "asia.bif", "P(lu")
    assert "P(lung | smoke=yes" in completed("credo", "ask", "asia.bif", "P(lung | smoke=y")
