"""The report on missingness: rates, patterns, gaps that go together and with values."""

import numpy as np
import pytest

import credo as cr
from credo.errors import TableError


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


def test_no_rows():
    with pytest.raises((TableError, ValueError)):
        cr.missingness({"x": []})


def test_trace_is_drawn():
    rows, _ = table()
    net = cr.em("[a][c|a]", rows)
    ax = cr.plot.trace(net)
    assert ax.get_ylabel() == "ln P(rows)"
    with pytest.raises(ValueError, match="no trace"):
        cr.plot.trace(cr.Network("[a]", {"a": 0.5}))
