"""The report on missingness: rates, patterns, gaps that go together and with values."""

import numpy as np
import pytest

import credo as cr
from credo.errors import InputError, SchemaError, TableError


def table():
    rng = np.random.default_rng(0)
    n = 2000
    a, b = rng.integers(0, 3, n).astype(object), rng.normal(size=n)
    c, d = rng.integers(0, 2, n).astype(object), rng.normal(size=n)
    gone = rng.random(n) < 0.2
    c[gone] = None
    d[gone | (rng.random(n) < 0.02)] = np.nan  # with c
    b[(a == 2) & (rng.random(n) < 0.5)] = np.nan  # by a
    return cr.read({"a": a, "b": b, "c": c, "d": d}), gone


def test_rates_patterns_and_pairs():
    rows, gone = table()
    report = cr.missingness(rows)
    assert report.rows == 2000 and report.rates["a"] == 0
    assert report.rates["c"] == pytest.approx(gone.mean())
    assert report.patterns[0][0] == ()
    assert sum(share for _, share in report.patterns) == pytest.approx(1)
    assert report.together[0][:2] == ("c", "d") and report.together[0][2] > 0.9
    assert ("b", "a") in [pair[:2] for pair in report.depends]
    assert all(pair[0] != "c" for pair in report.depends)
    text = str(report)
    assert "gaps that go together" in text and "not completely at random" in text
    assert "<table" in report._repr_html_() and "complete" in repr(report)


def test_weights_and_nothing_missing():
    report = cr.missingness(cr.read({"x": [1, None, 2], "w": [2, 1, 1]}, weights="w"))
    assert report.rates == {"x": 0.25} and report.complete == 0.75
    full = cr.missingness({"x": [1, 2, 1]})
    assert full.cells == 0 and full.complete == 1 and "0.00%" in str(full)


def test_a_weight_is_so_many_rows():
    rng = np.random.default_rng(1)
    n = 120
    a, x = rng.integers(0, 3, n), rng.normal(size=n)
    b = np.where(rng.random(n) < np.where(a == 2, 0.7, 0.1), None, rng.integers(0, 2, n))
    c = np.where(rng.random(n) < np.where(x > 0.5, 0.6, 0.1), None, rng.integers(0, 2, n))
    w = rng.integers(1, 4, n)
    columns = {"a": a, "x": x, "b": b, "c": c}
    weighted = cr.missingness(cr.read({**columns, "w": w}, weights="w"), level=0.5)
    copied = cr.missingness({k: np.repeat(v, w) for k, v in columns.items()}, level=0.5)
    assert [p[:2] for p in weighted.depends] == [p[:2] for p in copied.depends] != []
    for one, two in zip(weighted.depends, copied.depends, strict=True):
        assert one[2] == pytest.approx(two[2], rel=1e-9)
    assert weighted.rates == pytest.approx(copied.rates)


def test_columns_set_aside_are_named():
    rng = np.random.default_rng(0)
    cabin = [f"C{i}" if rng.random() < 0.3 else None for i in range(200)]
    rows = {"cabin": cabin, "y": rng.integers(0, 2, 200), "id": [f"n{i}" for i in range(200)]}
    report = cr.missingness(rows)
    assert list(report.set_aside) == ["cabin"] and "cabin" not in report.rates
    assert report.set_aside["cabin"][0] == pytest.approx(cabin.count(None) / 200)
    assert "set aside by reading" in str(report) and "cabin" in str(report)
    with pytest.raises(SchemaError, match="'cabin' was set aside") as error:
        cr.em("[y][cabin|y]", rows)
    assert "schema={'cabin': 'discrete'}" in error.value.hint and "hidden" not in error.value.hint


@pytest.mark.parametrize("level", ["x", 7, 0, None, -1, float("nan")])
def test_a_level_is_a_probability(level):
    with pytest.raises(InputError, match="level must be"):
        cr.missingness({"x": [1, None, 2]}, level=level)


def test_no_rows():
    with pytest.raises((TableError, ValueError)):
        cr.missingness({"x": []})


def test_trace_is_drawn():
    rows, _ = table()
    net = cr.em("[a][c|a]", rows)
    ax = cr.plot.trace(net)
    assert ax.get_ylabel() == "ln P(rows)"
    short = cr.plot.trace(cr.em("[a][c|a]", rows, max_iter=4))
    assert all(float(t).is_integer() for t in short.get_xticks())
    with pytest.raises(ValueError, match="no trace"):
        cr.plot.trace(cr.Network("[a]", {"a": 0.5}))


def test_a_number_in_one_bin_has_no_edges() -> None:
    """Where cells are missing, the rows that have them may score better by chance."""
    rng = np.random.default_rng(0)
    rows = {
        "k": rng.uniform(0, 150, 3000),
        "a": [None if rng.random() < 0.05 else int(x) for x in rng.integers(0, 3, 3000)],
        "b": rng.integers(0, 2, 3000),
    }
    rows["k"][rng.random(3000) < 0.05] = np.nan
    for search in ("auto", "order", "hill-climb", "naive-bayes"):
        target = {"target": "b"} if search == "naive-bayes" else {}
        net = cr.learn(rows, search=search, numbers={"k": "binned"}, **target)
        assert net.variable("k").arity == 1
        assert len(net.dag.edges) == (2 if target else 0)
    assert cr.learn(rows, numbers={"k": "binned"}, required=[("k", "a")]).dag.edges == (("k", "a"),)


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("starts", [1, 3])
def test_searches_among_graphs_of_one_kind_keep_to_them(mixed, starts) -> None:
    """Though another graph, such as one that a climb found on the rows with a cell, scores better."""
    rng = np.random.default_rng(1)
    b = rng.integers(0, 2, 400)
    rows = {"a": b ^ (rng.random(400) < 0.2), "b": b, "c": rng.integers(0, 2, 400)}
    rows["d"] = [None if rng.random() < 0.1 else int(x) for x in rows["a"] + rows["c"]]
    if mixed:
        rows["x"] = rng.normal(size=400) + b

    def graph(search, **more):
        return cr.learn(rows, search=search, starts=starts, numbers="gaussian", **more).dag

    for search in ("naive-bayes", "tan"):
        found = graph(search, target="c")
        assert all(n == "c" or "c" in found.parents(n) for n in rows)
    tree = graph("chow-liu")
    assert all(len(tree.parents(n)) < 2 for n in tree)
    order = list(rows)
    assert all(order.index(p) < order.index(n) for p, n in graph("k2", order=order).edges)
