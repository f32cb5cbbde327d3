"""Statistics as frames take them, their correlations, and what a slice knows."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import credo as cr
from credo.errors import InputError, LimitError

SEX, SMOKER = (
    cr.Variable("sex", "discrete", ("f", "m")),
    cr.Variable("s", "discrete", (False, True)),
)


def people(n=200, seed=0):
    rng = np.random.default_rng(seed)
    sex, smoker = rng.choice(["f", "m"], n), rng.random(n) < 0.3
    height = 170 + 8 * (sex == "m") + rng.normal(0, 6, n)
    weight = 0.8 * height + rng.normal(-60, 5, n)
    return pd.DataFrame({"sex": sex, "s": smoker, "height": height, "weight": weight})


def test_counts_as_pandas_groups_them():
    frame = people()
    counts = cr.read(frame[["sex", "s"]]).tally([("s", ["sex"])])["s", ["sex"]]
    ours = pd.DataFrame(counts.columns())
    theirs = frame.groupby(["sex", "s"]).size().reset_index(name="count")
    pd.testing.assert_frame_equal(ours, theirs, check_dtype=False)
    assert pl.DataFrame(counts.columns()).to_dict(as_series=False) == counts.columns()
    assert pa.table(counts.columns()).to_pydict() == counts.columns()


def test_a_table_of_counts_counts_the_same():
    frame = people()
    counts = cr.read(frame[["sex", "s"]]).tally([("s", ["sex"])])["s", ["sex"]]
    table = cr.read(counts.columns(), weights="count")
    assert table.tally([("s", ["sex"])])["s", ["sex"]] == counts


def test_states_are_the_user_s_own_values():
    states = (dt.date(2024, 1, 1), Decimal("1.50"), (1, 2), True, 1, "x")
    odd = cr.Variable("odd", "discrete", states)
    found = cr.Counts((odd,), np.arange(1, 7)).columns()
    assert [type(s) for s in found["odd"]] == [type(s) for s in states]
    assert found["odd"] == list(states) and found["count"] == [1, 2, 3, 4, 5, 6]
    assert all(type(n) is int for n in found["count"])
    assert pd.DataFrame(found)["odd"].tolist() == list(states)


def test_cells_that_nobody_fell_in():
    counts = cr.Counts((SEX, SMOKER), [[0, 2], [3, 0]])
    seen = {"sex": ["f", "m"], "s": [True, False], "count": [2, 3]}
    assert counts.columns() == counts.sparse().columns() == seen
    every = counts.columns(zeros=True)
    assert every == counts.sparse().columns(zeros=True)
    assert every["count"] == [0, 2, 3, 0] and every["sex"] == ["f", "f", "m", "m"]
    assert cr.Counts((), np.array(5)).columns() == {"count": [5]}
    assert cr.Counts((), np.array(5)).columns(zeros=True) == {"count": [5]}
    assert cr.Counts((SEX,), [0, 0]).columns() == {"sex": [], "count": []}
    wide = tuple(cr.Variable(f"v{i}", "discrete", (0, 1)) for i in range(40))
    one = cr.Counts(wide, [2], np.ones((1, 40), dtype=np.uint32))
    assert len(one.columns()) == 41 and one.columns()["count"] == [2]
    with pytest.raises(LimitError, match="A dense table over"):
        one.columns(zeros=True)


def test_a_variable_of_the_same_name():
    counts = cr.Counts((cr.Variable("count", "discrete", (0, 1)),), [1, 2])
    with pytest.raises(InputError, match=r"two columns called 'count'.* columns\('weight'\)"):
        counts.columns()
    assert counts.columns("weight") == {"count": [0, 1], "weight": [1, 2]}
    with pytest.raises(InputError, match="must be a text, got 3"):
        counts.columns(3)


def test_moments_as_pandas_groups_them():
    frame = people()
    family = ("height", ["sex", "s", "weight"])
    moments = cr.read(frame).tally([family])[family]
    ours = pd.DataFrame(moments.columns("rows"))
    groups = frame.groupby(["sex", "s"])
    assert list(ours)[:3] == ["sex", "s", "rows"]
    assert ours["rows"].tolist() == groups.size().tolist()
    for name in ("height", "weight"):
        np.testing.assert_allclose(ours[f"mean {name}"], groups[name].mean(), rtol=1e-12)
        np.testing.assert_allclose(ours[f"sd {name}"], groups[name].std(ddof=0), rtol=1e-9)


def test_correlations_as_numpy_has_them():
    frame = people()
    family = ("height", ["sex", "weight"])
    moments = cr.read(frame.drop(columns="s")).tally([family])[family]
    names = [v.name for v in moments.continuous]
    for sex, r in zip(("f", "m"), moments.correlation, strict=True):
        rows = frame[frame["sex"] == sex][names].to_numpy()
        np.testing.assert_allclose(r, np.corrcoef(rows.T), atol=1e-12)
    assert (np.diagonal(moments.correlation, axis1=1, axis2=2) == 1).all()
    np.testing.assert_allclose(moments[{"sex": "f"}].correlation[0], moments.correlation[0])


def test_correlations_stay_within_their_range():
    x = np.array([0.1, 0.2, 0.7, 1.9])
    for slope in (3.0, -1e-9, 1e12):
        r = cr.Moments.of({"x": x, "y": slope * x, "z": 1e9 + x}).correlation
        assert (np.abs(r) <= 1).all() and r[0, 0, 1] == pytest.approx(np.sign(slope))
    none = cr.Moments.of({"x": [np.nan], "y": [1.0]})
    assert none.correlation.shape == (0, 2, 2)


def test_a_constant_has_no_correlation():
    rows = {"sex": list("fffmm"), "x": [1.0, 2, 3, 4, 5], "y": [1e9, 2, 3, 0.1, 0.1]}
    kinds = {"x": "continuous", "y": "continuous"}
    m = cr.read(rows, kinds).tally([("x", ["sex", "y"])])["x", ["sex", "y"]]
    with pytest.raises(
        InputError,
        match=r"^'y' is constant where sex is 'm', so that it has no correlation\. Leave it out: "
        r"moments\.marginal\(\['sex', 'x'\]\)\. Take the slices apart: moments\[",
    ):
        m.correlation
    assert m["f"].correlation.shape == (1, 2, 2)
    with pytest.raises(InputError, match=r"^'x' is constant, so that it has no correlation\.$"):
        cr.Moments.of({"x": [0.1] * 3}).correlation
    with pytest.raises(InputError, match=r"One row has no spread.* Give more rows"):
        cr.Moments.of({"x": [0.1], "y": [2.0]}).correlation


def test_a_slice_does_not_claim_the_rows_that_were_skipped():
    table = cr.read({"sex": ["m", "m", "f", "f"], "age": [1.0, None, 2.0, 3.5]})
    m = table.tally([("age", ["sex"])])["age", ["sex"]]
    assert m.skipped == 1 and m[{}].skipped == 1 and m.marginal("age").skipped == 1
    assert m["f"].skipped == m[{"sex": "m"}].skipped == 0
    assert "skipped" not in str(m["f"]) and "1 row skipped" in str(m)

    table = cr.read({"a": ["x", None, "y", "x"], "b": ["u", "u", "v", "v"], "c": list("ppqp")})
    dense = table.tally([("a", ["b", "c"])])["a", ["b", "c"]]
    for counts in (dense, dense.sparse()):
        assert counts.skipped == counts[{}].skipped == counts.marginal(["a", "b"]).skipped == 1
        parts = [counts[{"b": b}] for b in ("u", "v")]
        assert [p.skipped for p in parts] == [0, 0]
        assert sum(p.total for p in parts) == counts.total
        assert parts[0].marginal("a").skipped == 0


def test_names_steer_no_terminal():
    name = "a\n\tb\x1b[31m"
    columns = {name: ["x\x1b", "y\x1b", "y\x1b"], "v": [1.5, 2.5, 4.0]}
    told = r"a\n\tb\x1b[31m"
    table = cr.read(columns, schema={name: "discrete", "v": "continuous"})
    tally = cr.tally(table, [name, ("v", [name])])
    belief = cr.distributions.NormalInverseGamma(0, 1, 2, 2, name=name)
    shown = [
        tally,
        tally[name],
        tally["v", [name]],
        next(iter(tally)),
        cr.Distribution.of({"x\x1b": 0.25, "y\x1b": 0.75}, name=name),
        belief,
        cr.distributions.NormalMean(0, 1, 1, name=name),
        cr.Categorical.likelihood_curve(["x\x1b", "y"]),
    ]
    for value in shown:
        for text in (str(value), repr(value), value._repr_html_()):
            assert "\x1b" not in text and "\t" not in text
    for text in (str(tally).splitlines()[0], str(belief).splitlines()[0], repr(tally[name])):
        assert told in text
