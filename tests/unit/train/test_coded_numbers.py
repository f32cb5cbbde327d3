"""Whole numbers that came as decimals are named once, with the cure, by whatever learns."""

import warnings

import pandas as pd
import pytest
from click.testing import CliRunner

import credo as cr
from credo import cli
from credo.cli.words import in_options
from credo.errors import CredoWarning

FRAME = pd.DataFrame(
    {"surgery": [1, 2, None, 2] * 8, "outcome": [1, 3, 2, None] * 8, "x": [0.5, 1.25, 2.5, 9.1] * 8}
)
CURE = {"surgery": "discrete", "outcome": "discrete"}


@pytest.mark.parametrize(
    "learn",
    [lambda: cr.learn(FRAME, search="hill-climb"), lambda: cr.fit("[surgery][outcome][x]", FRAME)],
)
def test_one_warning_names_them_all_with_the_cure(learn):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        learn()
    about = [str(w.message) for w in said if "Taken as numbers" in str(w.message)]
    assert len(about) == 1
    assert "surgery, outcome. They have few values" in about[0]
    assert "schema={'surgery': 'discrete', 'outcome': 'discrete'}." in about[0]


def test_the_cure_works_and_other_columns_are_not_named():
    cr.learn(FRAME, schema=CURE, search="hill-climb", missing="complete-rows")
    cr.fit("[x]", FRAME)
    with pytest.warns(CredoWarning, match=r"noise: outcome\. They"):
        cr.fit("[outcome][x]", FRAME)
    table = cr.read(FRAME, schema={"surgery": "continuous", "outcome": "continuous"})
    cr.learn(table, search="hill-climb", missing="complete-rows")  # as told


def test_the_command_line_names_its_options(tmp_path):
    path = tmp_path / "rows.csv"
    FRAME.to_csv(path, index=False)
    line = [
        "learn",
        str(path),
        "--no-check",
        "--search",
        "hill-climb",
        "-o",
        str(tmp_path / "m.credo"),
    ]
    done = CliRunner().invoke(cli.app, line, catch_exceptions=False)
    assert "--kind surgery=discrete --kind outcome=discrete." in done.output
    one = "make states of them with schema={'a b': 'discrete'}."
    assert in_options(one) == "make states of them with --kind 'a b=discrete'."
