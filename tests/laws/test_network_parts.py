"""A network classifier learns the same from any parts of the rows: partial_fit and merge are fit."""

import pickle
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import credo as cr
from credo.estimators import NetworkClassifier
from credo.stats.block import Block
from credo.stats.family_counts import FamilyCounts

CUTS = [-0.5, 0.5]
METHODS = ("tan", "aode", "naive-bayes", "graph")


def graph(names):
    """A class with a parent, and a feature with two others on top of it."""
    a, b, c, *rest = names
    edges = [(a, "y"), ("y", b), ("y", c), (b, c), *(("y", n) for n in rest)]
    return cr.Dag(edges, nodes=["y", *names])


def rows_of(seed, n):
    """Columns with gaps, states that come late, and one value for a while."""
    rng = np.random.default_rng(seed)
    at = int(rng.integers(0, n + 1))
    late = [*("u" for _ in range(at)), *rng.choice(["u", "v", "w"], n - at)]
    first = [*rng.choice(["b", "d"], at), *rng.choice(["a", "b", "c", "d"], n - at)]
    gaps = [None if rng.random() < 0.3 else v for v in rng.choice(["s", "t"], n)]
    table = {"late": late, "first": first, "gaps": gaps, "real": rng.normal(size=n)}
    y = rng.choice(["no", "yes", "maybe"], n, p=[0.5, 0.4, 0.1])
    return table, y, rng


def parts(n, rng):
    ends = np.unique([0, *rng.integers(0, n + 1, rng.integers(0, 4)), n])
    return [np.arange(a, b) for a, b in pairwise(ends)]


def take(form, table, y, rows):
    """Some rows as a table of one kind, and y: the classes, or the name of their column."""
    part = {n: [v[i] for i in rows] for n, v in table.items()}
    if form == "objects":
        return np.array([list(cells) for cells in zip(*part.values(), strict=True)], object), y[
            rows
        ]
    part["real"] = np.array(part["real"])
    if form == "dict":
        return part, y[rows]
    if form == "pandas":
        return pd.DataFrame(part), y[rows]
    named = part | {"y": y[rows].tolist()}
    if form == "polars":
        return pl.DataFrame(named), "y"
    return pa.table(named), "y"


def answers(clf, table, y, form):
    rows = np.arange(len(y))
    x, _ = take(form, table, y, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clf.predict_proba(x)


def learned(method, bins, form, table, y, chunks, weights=None, rng=None):
    """A classifier of all chunks, one after the other; pickled in between, sometimes."""
    clf = NetworkClassifier(method, bins=bins)
    for rows in chunks:
        x, labels = take(form, table, y, rows)
        clf.partial_fit(x, labels, sample_weight=None if weights is None else weights[rows])
        if rng is not None and rng.random() < 0.3:
            clf = pickle.loads(pickle.dumps(clf))
    return clf


def assert_same(clf, expected, table, y, form):
    assert clf.classes_.tolist() == expected.classes_.tolist()
    np.testing.assert_allclose(clf.class_count_, expected.class_count_, rtol=1e-12)
    np.testing.assert_allclose(
        answers(clf, table, y, form), answers(expected, table, y, form), rtol=0, atol=1e-12
    )


def telling(table):
    """Whether every column of text has two states: fit sets others aside, a graph needs them."""
    return all(len({v for v in table[k] if v is not None}) > 1 for k in ("late", "first", "gaps"))


def shown(table, rows):
    """Whether rows have a value in every column: one without is set aside by the first rows."""
    return any(table["gaps"][i] is not None for i in rows)


@pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")
@pytest.mark.parametrize(
    ("method", "form"),
    [
        *((m, "dict") for m in METHODS),
        *(("graph", f) for f in ("objects", "pandas", "polars", "arrow")),
    ],
)
@given(st.integers(0, 10_000), st.integers(4, 60), st.sampled_from([None, "whole", "decimal"]))
def test_any_parts_in_any_order(method, form, seed, n, weighted):
    table, y, rng = rows_of(seed, n)
    names = [f"x{i}" for i in range(4)] if form == "objects" else list(table)
    if method == "graph":
        assume(telling(table))
        method = graph(names)
    bins = {names[3]: CUTS}
    weights = None
    if weighted and form not in ("polars", "arrow"):  # those have the class by its name
        weights = rng.integers(1, 4, n) if weighted == "whole" else rng.random(n) + 0.1
    x, labels = take(form, table, y, np.arange(n))
    expected = NetworkClassifier(method, bins=bins).fit(x, labels, weights)
    chunks = [c for c in parts(n, rng) if len(c)]
    chunks = [chunks[i] for i in rng.permutation(len(chunks))]
    assume(shown(table, chunks[0]))
    clf = learned(method, bins, form, table, y, chunks, weights, rng)
    assert_same(clf, expected, table, y, form)


@pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")
@pytest.mark.parametrize("method", METHODS)
@given(st.integers(0, 10_000), st.integers(4, 60))
def test_merging_is_learning_from_both(method, seed, n):
    table, y, rng = rows_of(seed, n)
    if method == "graph":
        assume(telling(table))
        method = graph(list(table))
    bins = {"real": CUTS}
    expected = NetworkClassifier(method, bins=bins).fit(*take("dict", table, y, np.arange(n)))
    at = int(rng.integers(1, n))
    assume(shown(table, range(at)) and shown(table, range(at, n)))
    one, two = (
        learned(method, bins, "dict", table, y, [rows])
        for rows in (np.arange(at), np.arange(at, n))
    )
    assert_same(one.merge(two), expected, table, y, "dict")
    assert_same(two.merge(one), expected, table, y, "dict")


@pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")
@pytest.mark.parametrize("method", ["tan", "naive-bayes"])
@given(st.integers(0, 10_000), st.integers(8, 60))
def test_gaussian_leaves_of_any_parts(method, seed, n):
    table, y, rng = rows_of(seed, n)
    expected = NetworkClassifier(method, bins=None).fit(*take("dict", table, y, np.arange(n)))
    chunks = [c for c in parts(n, rng) if len(c)]
    assume(shown(table, chunks[0]))
    clf = learned(method, None, "dict", table, y, chunks, None, rng)
    np.testing.assert_allclose(
        answers(clf, table, y, "dict"), answers(expected, table, y, "dict"), atol=1e-8
    )


@given(st.integers(0, 10_000), st.integers(2, 80))
def test_whole_numbers_that_come_late_are_states(seed, n):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, rng.integers(1, 6, 3), (n, 3)) * [1, 3, -2]
    y = rng.integers(0, 3, n)
    expected = NetworkClassifier("aode").fit(x, y)
    clf = NetworkClassifier("aode")
    for rows in parts(n, rng):
        clf.partial_fit(x[rows], y[rows])
    np.testing.assert_allclose(clf.predict_proba(x), expected.predict_proba(x), atol=1e-12)


@given(st.integers(0, 10_000))
def test_counts_of_families_are_those_of_all_rows(seed):
    """Dense, sparse and mixed tables, over states of which each part has some."""
    rng = np.random.default_rng(seed)
    n, arities = int(rng.integers(1, 60)), rng.integers(1, rng.choice([8, 60, 400]), 3)
    columns = [rng.integers(0, k + 1, n) for k in arities]  # the last code is a gap
    x = rng.normal(size=n)
    families = [("b", ["a"]), ("c", ["a", "b"]), ("x", ["b"]), "a"]
    variables = [
        cr.Variable(m, "discrete", tuple(range(k))) for m, k in zip("abc", arities, strict=True)
    ]
    total = None
    for rows in parts(n, rng):
        own, arrays = [], []
        for v, codes in zip(variables, columns, strict=True):
            part = codes[rows]
            states, found = np.unique(part[part < v.arity], return_inverse=True)
            states = states.tolist() or [0]
            own.append(cr.Variable(v.name, "discrete", tuple(states)))
            new = np.full(len(part), len(states), dtype=np.uint16)
            new[part < v.arity] = found
            arrays.append(new)
        schema = cr.Schema((*own, cr.Variable("x", "continuous")))
        block = Block(schema, (*arrays, x[rows]))
        counts = FamilyCounts.of(schema, families, [block])
        total = counts if total is None else counts + total
    schema = cr.Schema((*variables, cr.Variable("x", "continuous")))
    block = Block(schema, (*(c.astype(np.uint16) for c in columns), x))
    found = total.on(schema).tally()
    whole = cr.Table(block).tally(families)
    assert found.rows == whole.rows and all(found[f].close_to(whole[f]) for f in whole)
    again = pickle.loads(pickle.dumps(total))
    assert again.tally() == total.tally()
