"""States that a network classifier did not see: missing, refused, or smoothed as a new one."""

import math
from itertools import product

import numpy as np
import pytest

import credo as cr
from credo.errors import CredoWarning, ImpossibleError, InputError, UnknownNameError
from credo.estimators import NetworkClassifier

METHODS = ("tan", "aode", "naive-bayes")
STATES = ("a", "b", "c", "new", None)


def training(seed=0, n=60, width=4):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = (rng.integers(0, 3, (n, width)) + (rng.random((n, width)) < 0.4) * y[:, None]) % 3
    x[:, 1] = np.where(rng.random(n) < 0.6, x[:, 0], x[:, 1])
    return np.array(["a", "b", "c"], dtype=object)[x], y


def new_rows(seed=1, n=40, width=4):
    rng = np.random.default_rng(seed)
    return np.array(STATES, dtype=object)[rng.integers(0, len(STATES), (n, width))]


def p_cell(rows, y, c, child, value, parents, more):
    """P(value | class, parents) by counting rows, one more state where the value is new."""
    hit = (y == c) if c is not None else np.ones(len(y), bool)
    for j, v in parents:
        hit = hit & (rows[:, j] == v)
    total, here = hit.sum(), (hit & (rows[:, child] == value)).sum()
    if total == 0 and all(v == "new" for _, v in parents) and parents:
        return 1 / 4 if value == "new" else 1 / 3
    return more / (total + 4 * more) if value == "new" else (here + more) / (total + 3 * more)


def summed(p_of, row):
    """The sum of P over the seen states of what is missing."""
    gaps = [j for j, v in enumerate(row) if v is None]
    total = 0.0
    for states in product("abc", repeat=len(gaps)):
        full = list(row)
        for j, s in zip(gaps, states, strict=True):
            full[j] = s
        total += p_of(full)
    return total


def normal(p):
    return np.array(p) / sum(p)


@pytest.mark.parametrize("smoothing", [1.0, 0.3])
def test_tan_by_counting(smoothing):
    rows, y = training()
    clf = NetworkClassifier("tan", smoothing=smoothing, unseen="smooth").fit(rows, y)
    parent = {
        j: [int(p[1:]) for p in clf.network_.dag.parents(f"x{j}") if p != "y"] for j in range(4)
    }
    new = new_rows()
    for row, found in zip(new, clf.predict_proba(new), strict=True):

        def joint(c, row=row):
            return (y == c).mean() * summed(
                lambda full: math.prod(
                    p_cell(rows, y, c, j, full[j], [(p, full[p]) for p in parent[j]], smoothing)
                    for j in range(4)
                ),
                row,
            )

        np.testing.assert_allclose(found, normal([joint(0), joint(1)]), rtol=1e-9)


def test_a_graph_by_counting():
    """A feature on top of the class and one with two parents, new or not."""
    rows, y = training()
    names = ["x0", "x1", "x2"]
    dag = cr.Dag([("x0", "y"), ("y", "x1"), ("y", "x2"), ("x1", "x2")], nodes=["y", *names])
    clf = NetworkClassifier(dag, unseen="smooth").fit(rows[:, :3], y)
    new = new_rows(width=3)

    def p_class(c, top):
        hit = rows[:, 0] == top
        return (y[hit] == c).mean() if hit.any() else 0.5

    for row, found in zip(new, clf.predict_proba(new), strict=True):

        def joint(c, row=row):
            return summed(
                lambda full: (
                    p_cell(rows, y, None, 0, full[0], [], 1)
                    * p_class(c, full[0])
                    * p_cell(rows, y, c, 1, full[1], [], 1)
                    * p_cell(rows, y, c, 2, full[2], [(1, full[1])], 1)
                ),
                row,
            )

        np.testing.assert_allclose(found, normal([joint(0), joint(1)]), rtol=1e-9)


def test_aode_by_counting():
    """A new state takes its own model out of the average, and is a new state in the others."""
    rows, y = training()
    clf = NetworkClassifier("aode", unseen="smooth").fit(rows, y)
    new = new_rows()

    def one(c, i, full):
        top = ((y == c) & (rows[:, i] == full[i])).sum() + 1
        others = (p_cell(rows, y, c, j, full[j], [(i, full[i])], 1) for j in range(4) if j != i)
        return top / (len(y) + 2 * 3) * math.prod(others)

    for row, found in zip(new, clf.predict_proba(new), strict=True):
        tops = [i for i in range(4) if row[i] != "new"]

        def joint(c, row=row, tops=tops):
            if not tops:
                return (y == c).mean() * math.prod(
                    p_cell(rows, y, c, j, "new", [], 1) for j in range(4)
                )
            return sum(summed(lambda full, i=i: one(c, i, full), row) for i in tops)

        np.testing.assert_allclose(found, normal([joint(0), joint(1)]), rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_one_warning_or_an_error_names_the_state(method):
    rows, y = training()
    new = rows[:3].copy()
    new[1, 2] = "z"
    clf = NetworkClassifier(method).fit(rows, y)
    gap = new.copy()
    gap[1, 2] = None
    with pytest.warns(CredoWarning, match=r"taken as missing: 'x2' \('z'\)") as caught:
        found = clf.predict_proba(new)
    assert len(caught) == 1
    assert (found == clf.predict_proba(gap)).all()
    clf.set_params(unseen="error")
    with pytest.raises(UnknownNameError, match="State 'z' is not one of 'x2'"):
        clf.predict(new)
    with pytest.raises(UnknownNameError, match="State 'z' is not one of 'x2'"):
        clf.explain(new[1])
    clf.set_params(unseen="smooth")
    assert not (clf.predict_proba(new)[1] == found[1]).all()
    assert (clf.predict_proba(new)[::2] == found[::2]).all()
    log_p = clf.predict_log_proba(new)[1]
    account = clf.explain(new[1], of=1, against=0)
    assert account.total == pytest.approx((log_p[1] - log_p[0]) / math.log(2))


@pytest.mark.parametrize("method", METHODS)
def test_without_smoothing_a_new_state_is_impossible(method):
    clf = NetworkClassifier(method, smoothing=0, unseen="smooth").fit([["u", 1], ["v", 0]], [0, 1])
    with pytest.raises(ImpossibleError, match=r"Row 2 has .* its state of 'x0' was never seen"):
        clf.predict([["u", 1], ["w", 1]])


def test_words_for_it():
    rows, y = training()
    with pytest.raises(InputError, match="unseen must be 'missing', 'error' or 'smooth'"):
        NetworkClassifier(unseen="new").fit(rows, y)
    net = NetworkClassifier().fit(rows, y).network_
    with pytest.raises(InputError, match=r"needs the counts of training, .* structure=net\.dag"):
        NetworkClassifier(net, unseen="smooth").fit(rows, y)
    assert NetworkClassifier(net.dag, unseen="smooth").fit(rows, y).predict([["z"] * 4]).shape == (
        1,
    )
