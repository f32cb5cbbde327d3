"""The commands in this process: what they print, what they refuse."""

import json
import sys

import pytest
from click.testing import CliRunner

import credo as cr
from credo import cli
from credo.cli.commands.schema import schema_json


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


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--kind", "b=discrete", "--kind", "b=continuous"], "'discrete' and 'continuous'"),
        (["--states", "b=1,2", "--drop", "b"], "the states 1, 2 and 'drop'"),
        (["--kind", "b=continuous", "--states", "b=1,2"], "'continuous' and the states 1, 2"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options, told, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\nx,1\ny,2\n")
    result = call("schema", str(path), *options)
    assert f"The options say two things of 'b': {told}. Leave one" in str(result.exception)


def test_states_may_have_commas_and_may_repeat_what_was_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n"x,y",1\nz,2\n')
    options = ["--kind", "b=discrete", "--states", "b=2, 1", "--states", 'a=z,"x,y"']
    report = json.loads(call("schema", str(path), *options, "--json").output)
    assert [v["states"] for v in report["variables"]] == [["z", "x,y"], [2, 1]]


@pytest.mark.parametrize(
    ("header", "given", "states"),
    [
        ("c=d", "c=d=2,1", [2, 1]),
        ("c", "c=2,1", [2, 1]),
        ("c", "c=1,2,d=3", ["1", "2", "d=3"]),
        ("a=b=c", "a=b=c=2,1", [2, 1]),
    ],
)
def test_a_name_of_a_column_may_have_an_equals_sign(tmp_path, header, given, states):
    path = tmp_path / "t.csv"
    path.write_text(f"x;{header}\n0;1\n1;2\n")
    options = ["--states", given, "--delimiter", ";", "--json"]
    for table, text in ((str(path), None), ("-", path.read_text())):
        result = CliRunner().invoke(cli.app, ["schema", table, *options], input=text)
        found = json.loads(result.output)["variables"][1]
        assert (found["name"], found["states"]) == (header, states)
    said = CliRunner().invoke(cli.app, ["schema", str(path), "--states", "e=d=2,1"]).exception
    assert "Column 'e' is not in the table" in str(said)


def test_standard_input_may_be_an_array_of_objects():
    given = '\n[ {"a": "x"},\n  {"a": "y"}]\n'
    result = CliRunner().invoke(cli.app, ["schema", "-", "--json"], input=given)
    assert json.loads(result.output)["variables"][0]["states"] == ["x", "y"]


def test_states_on_the_command_line_have_the_type_of_the_cells(tmp_path):
    """1 stays the number 1, in a Parquet file, which has types, and in a text file."""
    from datetime import date
    from decimal import Decimal

    import pandas as pd

    frame = pd.DataFrame(
        {"n": [1, 2], "t": [True, False], "f": [0.5, 1.0], "s": ["1", "02"],
         "d": [Decimal("1.50"), Decimal("2.00")], "day": [date(2024, 2, 29), date(2024, 3, 1)]}
    )  # fmt: skip
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    given = [
        "n=3,2,1",
        "t=true,false",
        "f=1,0.5,2",
        "s=02,1,x",
        "d=2,1.5",
        "day=2024-03-01,2024-02-29",
    ]
    options = [word for states in given for word in ("--states", states)]
    for name in ("t.parquet", "t.csv"):
        report = json.loads(call("schema", str(tmp_path / name), *options, "--json").output)
        states = [v["states"] for v in report["variables"]]
        assert states[:5] == [
            [3, 2, 1],
            [True, False],
            [1.0, 0.5, 2.0],
            ["02", "1", "x"],
            [2.0, 1.5],
        ]
        assert [type(s) for s in states[0] + states[1][:1]] == [int, int, int, bool]
        assert states[5] == ["2024-03-01", "2024-02-29"]
