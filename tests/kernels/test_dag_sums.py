"""Sums over all DAGs against the same sums in fractions, and against the graphs themselves."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from credo import _core


def lists_of(n, weight, threads=1):
    """Lists of all families whose weights are given by (child, frozenset of parents)."""

    def local(asked):
        return np.array([math.log(weight(c, frozenset(ps))) for c, ps in asked])

    scores = _core.FamilyScores.function(n, local, [], None)
    allowed = np.ones((n, n), np.uint8) - np.eye(n, dtype=np.uint8)
    return _core.FamilyLists(
        scores, np.ascontiguousarray(allowed), np.zeros((n, n), np.uint8), [n - 1] * n, [0.0] * n
    )


def by_hand(n, weight):
    """Z and the edges by inclusion and exclusion over sinks, in fractions."""
    every = range(1 << n)

    def bits(s):
        return [i for i in range(n) if s >> i & 1]

    def total(b):
        a = [{} for _ in range(n)]
        for j in range(n):
            for s in every:
                if not s >> j & 1:
                    inside = bits(s)
                    a[j][s] = sum(
                        b[j, frozenset(x for x, k in zip(inside, keep, strict=True) if k)]
                        for keep in product((0, 1), repeat=len(inside))
                    )
        r = {0: Fraction(1)}
        for s in every[1:]:
            r[s] = Fraction(0)
            t = s
            while t:
                rest = s & ~t
                term = r[rest]
                for j in bits(t):
                    term *= a[j][rest]
                r[s] += term if bin(t).count("1") % 2 else -term
                t = (t - 1) & s
        return r[(1 << n) - 1]

    b = {}
    for j in range(n):
        others = [i for i in range(n) if i != j]
        for keep in product((0, 1), repeat=n - 1):
            ps = frozenset(x for x, k in zip(others, keep, strict=True) if k)
            b[j, ps] = Fraction(weight(j, ps))
    z = total(b)
    edges = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                with_edge = {k: v if k[0] != j or i in k[1] else Fraction(0) for k, v in b.items()}
                edges[i, j] = float(total(with_edge) / z)
    return z, edges


def edges_of(lists, n, **options):
    log_total, error, path, shares = lists.sums(**options)
    edges = np.zeros((n, n))
    for c, p in enumerate(shares):
        for s, x in zip(lists.sets(c)[0], p, strict=True):
            edges[s, c] += x
    return log_total, error, path, edges


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("kind", ["any", "independent", "wide"])
def test_the_sums_are_those_in_fractions(n, kind):
    rng = np.random.default_rng(n)
    chosen = {}

    def weight(c, ps):
        if (c, ps) not in chosen:
            if kind == "any":
                chosen[c, ps] = float(rng.integers(1, 1000))
            elif kind == "independent":  # edges hardly ever: the terms cancel most
                chosen[c, ps] = 2.0 ** (-10 * len(ps))
            else:  # from 2^-700 to 2^700
                chosen[c, ps] = 2.0 ** int(rng.integers(-700, 700))
        return chosen[c, ps]

    lists = lists_of(n, weight)
    log_total, error, _, edges = edges_of(lists, n)
    z, wanted = by_hand(n, lambda c, ps: chosen[c, ps])
    exact = math.log(z.numerator) - math.log(z.denominator)
    assert log_total == pytest.approx(exact, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(edges, wanted, atol=1e-12)
    assert error < 1e-12


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(0)
    chosen = {}
    lists = lists_of(9, lambda c, ps: chosen.setdefault((c, ps), float(rng.random() + 0.01)))
    one, two = lists.sums(threads=1), lists.sums(threads=3)
    assert one[0] == two[0]
    for a, b in zip((one[2], *one[3]), (two[2], *two[3]), strict=True):
        np.testing.assert_array_equal(a, b)


def test_many_independent_columns_are_summed_to_many_digits():
    """13 columns that hardly depend: 5 · 10¹¹ ordered partitions cancel."""
    n, w = 13, 2.0**-20
    lists = lists_of(n, lambda c, ps: w ** len(ps))
    log_total, error, path, edges = edges_of(lists, n)
    assert error < 1e-12
    # Z = Σ graphs w^edges; to the first order each of the n (n − 1) edges has probability w
    off = ~np.eye(n, dtype=bool)
    np.testing.assert_allclose(edges[off], w, rtol=1e-4)
    np.testing.assert_allclose(path[off], w, rtol=1e-4)
    assert log_total == pytest.approx(n * (n - 1) * w, rel=1e-3)


def test_no_graph_is_said_as_minus_infinity():
    n = 2
    scores = _core.FamilyScores.function(n, lambda asked: np.zeros(len(asked)), [], None)
    marks = np.array([[0, 1], [1, 0]], np.uint8)
    lists = _core.FamilyLists(scores, marks, marks, [1, 1], [0.0, 0.0])  # each needs the other
    assert lists.sums()[0] == -math.inf
    with pytest.raises(ValueError, match="No order"):
        _core.Chains(lists, [1])


def test_sets_that_are_left_out_of_a_list_weigh_what_is_said():
    """Chains on pruned lists may be wrong by what `outside` bounds: here it is seen exactly."""
    rng = np.random.default_rng(3)
    chosen = {}

    def weight(c, ps):
        return chosen.setdefault((c, ps), math.exp(-3.0 * len(ps) + rng.normal()))

    n = 5
    whole = lists_of(n, weight)

    def local(asked):
        return np.array([math.log(weight(c, frozenset(ps))) for c, ps in asked])

    scores = _core.FamilyScores.function(n, local, [], None)
    allowed = np.ascontiguousarray(np.ones((n, n), np.uint8) - np.eye(n, dtype=np.uint8))
    none = np.zeros((n, n), np.uint8)
    few = _core.FamilyLists(scores, allowed, none, [n - 1] * n, [0.0] * n, 5.0)
    assert few.size < whole.size
    lost = 1 - math.exp(few.sums()[0] - whole.sums()[0])
    assert 0 < lost <= few.outside.sum()
