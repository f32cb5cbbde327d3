"""States that are intervals: labels and cut points are the same thing, and numbers find theirs."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import credo as cr
from credo.core.interval_states import cuts_of, interval_labels, interval_of, short_cut
from credo.errors import UnknownNameError
from credo.estimators import NetworkClassifier

FINITE = st.floats(allow_nan=False, allow_infinity=False)
STATES = ("≤ 1.5", "(1.5, 2]", "> 2")


@given(st.lists(FINITE, min_size=1, max_size=6, unique=True))
def test_labels_carry_their_cut_points(cuts):
    cuts = sorted({c + 0.0 for c in cuts})
    labels = interval_labels(cuts)
    assert cuts_of(labels) == tuple(cuts)
    for x in [*cuts, *(math.nextafter(c, math.inf) for c in cuts), *(c - 1 for c in cuts)]:
        if math.isfinite(x):
            assert interval_of(x, labels) == int(np.searchsorted(cuts, x, side="left"))


@given(FINITE, FINITE)
def test_a_short_cut_parts_what_it_should(a, b):
    low, high = min(a, b), max(a, b)
    if low < high:
        assert low <= short_cut(low, high) < high


@pytest.mark.parametrize(
    "states",
    [
        ("≤ 1.5", "> 2"),
        ("≤ 2", "(2, 1]", "> 1"),
        ("> 2", "≤ 2"),
        ("≤ 2", "(2, 3]", "other"),
        ("low", "high"),
        (1, 2),
        ("≤ 2",),
    ],
)
def test_other_states_are_no_intervals(states):
    assert cuts_of(states) is None and interval_of(1.0, states) is None


def test_a_variable_takes_numbers_for_its_intervals():
    v = cr.Variable("x", "discrete", STATES)
    assert [v.code(x) for x in (1.5, 1.6, np.float32(9), np.int64(-3), "> 2")] == [0, 1, 2, 0, 2]
    assert v.code(10**400) == 2 and v.code(-(10**400)) == 0
    for odd in (True, "1.6", math.inf, 1j, [1]):
        with pytest.raises(UnknownNameError):
            v.code(odd)


@pytest.mark.parametrize("kind", ["csv", "pandas", "dict", "table"])
def test_numbers_are_read_for_intervals(tmp_path, kind):
    columns = {"x": [1.5, 1.75, None, 2.5, -1e300], "y": ["u", "v", "u", "v", "u"]}
    schema = cr.Schema(
        (cr.Variable("x", "discrete", STATES), cr.Variable("y", "discrete", ("u", "v")))
    )
    rows = columns
    if kind == "csv":
        rows = tmp_path / "rows.csv"
        pd.DataFrame(columns).to_csv(rows, index=False)
    elif kind == "pandas":
        rows = pd.DataFrame(columns)
    elif kind == "table":
        rows = cr.read(columns).to("arrow")
    assert cr.read(rows, schema).codes("x").tolist() == [0, 1, 3, 2, 0]


@pytest.mark.parametrize("text", [False, True])
def test_more_different_numbers_than_there_may_be_states(tmp_path, text):
    x = np.random.default_rng(0).normal(1.7, 1, 30_000)
    x[5] = np.nan
    rows = {"x": x}
    if text:
        rows = tmp_path / "many.csv"
        pd.DataFrame({"x": x}).to_csv(rows, index=False)
    schema = cr.Schema((cr.Variable("x", "discrete", STATES),))
    expected = np.where(np.isnan(x), 3, np.searchsorted([1.5, 2.0], x))
    assert (cr.read(rows, schema).codes("x") == expected).all()
    if text:
        stream = cr.read(rows, schema, memory=100_000)
        assert (stream.load().codes("x") == expected).all()


@pytest.mark.parametrize("ending", ["credo", "bif", "xdsl"])
def test_a_saved_classifier_predicts_from_the_table_it_came_from(shared_tables, tmp_path, ending):
    frame = pd.read_csv(shared_tables / "penguins.csv")
    clf = NetworkClassifier("tan").fit(frame, "species")
    path = tmp_path / f"penguins.{ending}"
    clf.network_.save(path)
    net = cr.load(path)
    expected = clf.predict_proba(frame)
    file = shared_tables / "penguins.csv"
    assert np.abs(net.predict_proba(file, "species") - expected).max() < 1e-6
    if ending == "credo":  # which keeps that years are numbers
        assert np.abs(net.predict_proba(frame, "species") - expected).max() < 1e-6
        again = NetworkClassifier(net).fit(frame, "species")
        assert np.abs(again.predict_proba(frame) - expected).max() < 1e-6
    asked = net.ask("P(species=Adelie | bill_length_mm=39.1)")
    state = clf.network_.variable("bill_length_mm").states[
        int(np.searchsorted(clf.cuts_["bill_length_mm"], 39.1))
    ]
    assert float(asked) == pytest.approx(
        clf.network_.p("species", {"bill_length_mm": state})["Adelie"], abs=1e-6
    )
