"""`--costs` and `--reject`: what errors cost, for `credo classify` and `credo check`."""

import csv
import json

import numpy as np
import pytest
from tests.cli_stage import ASIA
from tests.in_process import call, credo

import credo as cr
from credo.cli.costs import costs_by_state, read_costs
from credo.estimators import NaiveBayes

TEXT = "yes:no=9, no:yes=1"
COSTS = {"yes": {"no": 9}, "no": {"yes": 1}}


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    folder = tmp_path_factory.mktemp("costs")
    (folder / "asia.bif").write_text(ASIA)
    for name, rows, seed in (("patients", 400, 1), ("more", 30, 2)):
        cr.load(folder / "asia.bif").sample(rows, seed, path=folder / f"{name}.csv")
    (folder / "errors.csv").write_text("lung,called,cost\nyes,no,9\nno,yes,1\n")
    return folder


def test_predictions_are_the_cheapest_class_as_in_python(stage, tmp_path):
    clf = NaiveBayes().fit(cr.read(stage / "patients.csv"), "lung")
    rows = cr.read(stage / "more.csv")
    arguments = ["classify", stage / "patients.csv", "--target", "lung", "--cv", 0,
                 "--predict", stage / "more.csv"]  # fmt: skip
    for more, how in (
        ([], {}),
        (["--costs", TEXT], {"costs": COSTS}),
        (["--costs", stage / "errors.csv"], {"costs": COSTS}),
        (["--reject", 0.02], {"reject": 0.02}),
        (["--costs", TEXT, "--reject", 0.3], {"costs": COSTS, "reject": 0.3}),
    ):
        document = json.loads(call(*arguments, *more, "--json"))
        found = [p["class"] for p in document["predictions"]]
        assert found == clf.predict(rows, **how).tolist()
    assert None in found and len(set(found)) > 1
    out = call(*arguments, "--costs", TEXT, "--reject", 0.3)
    assert "(none)" in out
    path = tmp_path / "predictions.csv"
    call(*arguments, "--costs", TEXT, "--reject", 0.3, "-o", path)
    with open(path, newline="", encoding="utf-8") as lines:
        written = [row["lung"] for row in csv.DictReader(lines)]
    assert written == [c or "" for c in found]


def test_a_check_tells_what_decisions_cost_as_in_python(stage):
    wanted = cr.check(
        cr.load(stage / "asia.bif"), stage / "patients.csv", sections=["costs"],
        costs={"lung": COSTS},
    ).costs["lung"]  # fmt: skip
    for costs in (f"lung={TEXT}", f"lung={stage / 'errors.csv'}"):
        arguments = ["check", stage / "asia.bif", stage / "patients.csv", "--costs", costs]
        document = json.loads(call(*arguments, "--section", "parameters", "--json"))
        [found] = document["costs"]["variables"]
        assert found["paid"] == pytest.approx(wanted.paid)
        assert found["promised"] == pytest.approx(wanted.promised)
    assert "cost of decisions for each row" in call(*arguments, "--section", "costs")


def test_states_have_their_own_types_and_may_hold_the_signs():
    assert costs_by_state(read_costs("1:0=5,0:1=2"), [0, 1]) == {(1, 0): 5, (0, 1): 2}
    assert costs_by_state(read_costs("<=50K:>50K=5, >50K:<=50K=1"), ["<=50K", ">50K"]) == {
        ("<=50K", ">50K"): 5, (">50K", "<=50K"): 1}  # fmt: skip
    assert costs_by_state(read_costs("10:00:10:30=1"), ["10:00", "10:30"]) == {
        ("10:00", "10:30"): 1}  # fmt: skip
    assert np.isfinite(list(dict(read_costs("a : b = 1e3")).values())).all()


@pytest.mark.parametrize(("costs", "says"), [
    ("yes", "--costs must be a CSV file or have the form CLASS:CALLED=COST, …, got 'yes'"),
    ("yes:no=much", "got 'yes:no=much'"),
    ("yes=9", "got 'yes=9'"),
    ("yes:no=9", "There is no cost for calling 'no' 'yes'"),
    ("yes:nope=9, no:yes=1", "State 'nope' is not one of"),
    ("yes:no=nan, no:yes=1", "A cost must be"),
    ("gone.csv", "The file of costs gone.csv cannot be read"),
])  # fmt: skip
def test_bad_costs(stage, costs, says):
    done = credo("classify", stage / "patients.csv", "--target", "lung", "--cv", 0, "--predict",
                 stage / "more.csv", "--costs", costs)  # fmt: skip
    assert done.returncode == 2 and says in done.stderr
    done = credo("check", stage / "asia.bif", stage / "patients.csv", "--costs", f"lung={costs}",
                 "--section", "costs")  # fmt: skip
    assert done.returncode == 2 and says in done.stderr


def test_what_does_not_go_together(stage, tmp_path):
    done = credo("classify", stage / "patients.csv", "--target", "lung", "--costs", TEXT)
    assert done.returncode == 2 and "the rows of --predict, and none are given" in done.stderr
    done = credo("check", stage / "asia.bif", stage / "patients.csv", "--costs", "lnug=yes:no=1")
    assert done.returncode == 2 and "Did you mean 'lung'" in done.stderr
    done = credo("check", stage / "asia.bif", stage / "patients.csv", "--costs", "lung")
    assert done.returncode == 2 and "NAME=CLASS:CALLED=COST" in done.stderr
    two = tmp_path / "two.csv"
    two.write_text("lung,cost\nyes,9\n")
    done = credo("check", stage / "asia.bif", stage / "patients.csv", "--costs", f"lung={two}")
    assert done.returncode == 2 and "must have three columns" in done.stderr
