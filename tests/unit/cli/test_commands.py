"""The commands in this process: what they print, what they refuse."""

import json
import sys

import pytest
from click.testing import CliRunner

import credo as cr
from credo import cli
from credo.cli.schema import schema_json


def call(*args):
    return CliRunner().invoke(cli.app, list(args))


def test_demo_as_text_and_json():
    assert "powers of 2" in call("demo", "--course").output
    figures = json.loads(call("demo", "--json").output)
    assert figures["version"] == 1 and figures["next_candy_lime"] == pytest.approx(1453 / 1640)


def test_schema_json_keeps_plain_values_and_texts_others():
    import datetime

    table = cr.read(
        {"d": [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)], "n": [0, 1]},
        {"d": "discrete"},
    )
    report = schema_json(table.schema, 2)
    assert report["variables"][0]["states"] == ["2024-01-01", "2024-01-02"]
    assert report["variables"][1]["states"] == [0, 1]


def test_schema_notes_are_printed(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,x\nrot,1\nRot,0\nrot,1\n")
    out = call("schema", str(path)).output
    assert "noticed" in out and "'Rot', 'rot' look alike" in out and "repeats the name 'x'" in out


@pytest.mark.parametrize(
    ("args", "code", "text"),
    [
        (["schema", "nope.csv"], 2, "There is no file nope.csv"),
        (["nope"], 2, "There is no command 'nope'"),
        (["schema"], 2, "Missing argument"),
        (["--version"], 0, ""),
        ([], 2, ""),
    ],
)
def test_main_gives_exit_codes(monkeypatch, capsys, args, code, text):
    monkeypatch.setattr(sys, "argv", ["credo", *args])
    with pytest.raises(SystemExit) as done:
        cli.main()
    assert done.value.code == code
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (BrokenPipeError(), 0)])
def test_main_on_ctrl_c_and_a_closed_pipe(monkeypatch, error, code):
    def stop(**_):
        raise error

    monkeypatch.setattr(cli, "app", stop)
    monkeypatch.setattr(sys, "stderr", open("/dev/null", "w"))  # noqa: SIM115
    with pytest.raises(SystemExit) as done:
        cli.main()
    assert done.value.code == code


def test_terminal_tables(monkeypatch, capsys):
    from credo.cli import terminal

    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    terminal.print_schema(cr.examples.play_tennis().schema)
    out = capsys.readouterr().out
    assert "Outlook" in out and "─" in out
