"""What a column is, the first rows say: any parts after them are the fit of all rows as those."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from credo.errors import CredoError, CredoWarning
from credo.estimators import NaiveBayes

COLUMNS = (
    "few", "many", "text", "late", "constant", "id", "count", "truth", "real", "mixed", "words",
    "none",
)  # fmt: skip


def cells(kind, n, rng):
    """The cells of a column whose first rows may look like something else."""
    at = int(rng.integers(0, n + 1))
    if kind == "few":
        values = rng.integers(0, rng.integers(1, 9), n).tolist()
    elif kind == "many":
        values = rng.integers(-40, 40, n).tolist()
    elif kind == "text":
        values = [f"t{i}" for i in rng.integers(0, rng.integers(1, 30), n)]
    elif kind == "late":
        values = [None] * at + [f"s{i}" for i in rng.integers(0, 3, n - at)]
    elif kind == "constant":
        values = [7] * at + rng.integers(5, 9, n - at).tolist()
    elif kind == "id":
        values = [f"k{i}" for i in rng.permutation(n)] if rng.random() < 0.5 else list(range(n))
        values[at:] = rng.choice(np.array(values[:3], dtype=object), n - at).tolist()
    elif kind == "count":
        values = (rng.permutation(n) + 1).tolist()
    elif kind == "truth":
        values = (rng.random(n) < 0.3).tolist()
    elif kind == "real":
        values = rng.normal(size=n).round(1).tolist()
    elif kind == "mixed":
        values = rng.integers(0, 4, at).tolist() + [f"s{i}" for i in rng.integers(0, 3, n - at)]
    elif kind == "words":
        values = [f"one two three four {i}" for i in rng.integers(0, rng.integers(1, 40), n)]
    else:
        values = [None] * n
    if rng.random() < 0.3 and kind not in ("late", "none"):
        values = [None if rng.random() < 0.2 else v for v in values]
    return values


def as_objects(table, where):
    return np.array([[table[n][i] for n in table] for i in where], dtype=object).reshape(
        len(where), len(table)
    )


def as_dict(table, where):
    return {n: [c[i] for i in where] for n, c in table.items()}


def as_arrow(table, where):
    return pa.table(as_dict(table, where))


def as_polars(table, where):
    whole = pl.DataFrame(table, strict=False, infer_schema_length=None)
    return whole[list(where)]


def as_pandas(table, where):
    return pd.DataFrame(table).iloc[list(where)]


FORMS = {
    "objects": as_objects, "dict": as_dict, "arrow": as_arrow, "polars": as_polars,
    "pandas": as_pandas,
}  # fmt: skip


def parts_of(n, rng):
    """Rows in any order cut into parts."""
    order = rng.permutation(n) if rng.random() < 0.5 else np.arange(n)
    cuts = np.sort(rng.integers(1, n, int(rng.integers(1, 5)))) if n > 1 else []
    return [p.tolist() for p in np.split(order, np.unique(cuts).astype(int)) if len(p)]


def same(a, b, rows):
    assert a.kinds_ == b.kinds_
    assert a.classes_.tolist() == b.classes_.tolist()
    np.testing.assert_allclose(a.class_count_, b.class_count_, rtol=1e-12)
    for name in a.kinds_:
        f, g = a.model_.feature(name), b.model_.feature(name)
        assert type(f) is type(g)
        if hasattr(f, "variable"):
            assert f.variable == g.variable
            np.testing.assert_allclose(f.alpha, g.alpha, rtol=1e-12)
        else:
            np.testing.assert_allclose(f.mean, g.mean, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(f.variance, g.variance, rtol=1e-11, atol=1e-12)
    p, q = a.predict_proba(rows), b.predict_proba(rows)
    np.testing.assert_allclose(p, q, rtol=0, atol=1e-12)
    p, q = a.predict_log_proba(rows), b.predict_log_proba(rows)
    np.testing.assert_allclose(p, q, rtol=1e-10, atol=1e-10)


def check(part, n, parts, rows, used):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CredoWarning)
        try:
            first = NaiveBayes().partial_fit(*part(parts[0]))
        except CredoError:
            return  # no column of the first rows can be used
        kinds = {name: first.kinds_.get(name, "ignore") for name in used}
        cut = [name for name, kind in kinds.items() if kind == "binned"]
        states = {name: first.model_.feature(name).variable.states for name in cut} or None
        whole = NaiveBayes(kinds=kinds, states=states).fit(*given_to_fit(part(range(n))))
        clf = NaiveBayes()
        try:
            for i in parts:
                clf.partial_fit(*part(i))
        except CredoError as error:
            assert "is not a number" in str(error)  # text among numbers
            return
        same(clf, whole, rows)
        halves = [NaiveBayes(kinds=kinds, states=states).partial_fit(*part(i)) for i in parts]
        total = halves[0]
        for other in halves[1:]:
            total = total.merge(other)
        same(total, whole, rows)


def given_to_fit(given):
    """The arguments of `partial_fit` as those of `fit`."""
    return given if len(given) == 2 else (given[0], given[1], given[3])


@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(FORMS)), st.booleans(), st.booleans())
def test_parts_of_a_table_are_the_table(seed, form, by_name, weighted):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    names = rng.choice(COLUMNS, int(rng.integers(1, 6)), replace=False)
    table = {str(name): cells(name, n, rng) for name in names}
    if form == "arrow" or form == "polars":
        table.pop("mixed", None)
    table["sure"] = [f"z{i}" for i in rng.integers(0, 2, n)]
    table["sure"][0:2] = ["z0", "z1"]
    y = [f"c{i}" for i in rng.integers(0, 3, n)]
    parts = parts_of(n, rng)
    if rng.random() < 0.4:
        y = [None if rng.random() < 0.2 else c for c in y]
        for p in parts:
            y[p[0]] = "c1"
    y[0] = "c0"
    y[1] = "c1"
    give = FORMS[form]
    weights = rng.integers(1, 4, n) if weighted else None

    def part(where):
        where = list(where)
        if by_name:
            return (give({**table, "y": y}, where), "y")
        w = None if weights is None else weights[where]
        return give(table, where), np.array(y, dtype=object)[where], None, w

    if by_name and form == "objects":
        by_name = False
    used = [f"x{i}" for i in range(len(table))] if form == "objects" else list(table)
    check(part, n, parts, give(table, range(n)), used)


@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from(["i8", "i2", "u1", "f8", "?"]))
def test_parts_of_an_array_are_the_array(seed, weighted, dtype):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 70)), int(rng.integers(1, 5))
    top = rng.choice([2, 3, 8, 18, 25, 70], d) if rng.random() < 0.7 else rng.choice([3, 18], 1)
    x = rng.integers(0, np.broadcast_to(top, (n, d)), (n, d))
    if dtype != "u1" and rng.random() < 0.1:
        x[-1] = 30_000
    x = x.astype(dtype)
    if dtype == "f8":
        x[rng.random(x.shape) < 0.1] = np.nan
    y = rng.integers(0, 3, n).astype(object)
    parts = parts_of(n, rng)
    if rng.random() < 0.4:
        y[rng.random(n) < 0.3] = None
        for p in parts:
            y[p[0]] = 1
    weights = rng.random(n) + 0.5 if weighted else None

    def part(where):
        where = list(where)
        return x[where], y[where], None, None if weights is None else weights[where]

    check(part, n, parts, x, [f"x{i}" for i in range(d)])
