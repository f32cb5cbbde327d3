"""Sums without rounding against Python's fractions, on every path."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from credo.stats.exact import Exact, ExactFloat, added, exact_sum, shown_as, summed, total_of
from hypothesis import given
from hypothesis import strategies as st

from credo import _core
from credo.stats.moments import Moments

finite = st.floats(allow_nan=False, allow_infinity=False)


def value(digits, low) -> Fraction:
    whole = int.from_bytes(digits.astype("<u4").tobytes(), "little", signed=True)
    return whole * Fraction(2) ** (32 * low)


def values(numbers) -> list[Fraction]:
    digits, low = numbers
    return [value(row, low) for row in digits]


def nearest(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return np.inf if exact > 0 else -np.inf


@given(st.lists(finite, max_size=20))
def test_every_double_is_an_exact_number(given_values):
    x = np.array(given_values)
    found = _core.exact_of(x)
    assert values(found) == [Fraction(v) for v in x]
    assert np.array_equal(_core.exact_rounded(*found), x)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20))
def test_every_whole_number_is_one(given_values):
    found = _core.exact_of(np.array(given_values, dtype=np.int64))
    assert values(found) == given_values
    assert _core.exact_rounded(*found).tolist() == [float(v) for v in given_values]


@given(st.lists(finite, min_size=1, max_size=30), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_sums_are_those_of_fractions_and_rounded_to_nearest(given_values, groups, seed):
    group = np.random.default_rng(seed).integers(0, groups, len(given_values))
    digits, low = _core.exact_of(np.array(given_values))
    found = _core.exact_gathered(digits, low, group, groups)
    expected = [
        sum((Fraction(v) for v, g in zip(given_values, group, strict=True) if g == k), Fraction(0))
        for k in range(groups)
    ]
    assert values(found) == expected
    assert values(_core.exact_summed(np.array(given_values), group, groups)) == expected
    assert _core.exact_rounded(*found).tolist() == [nearest(e) for e in expected]
    assert total_of(np.array(given_values)) == nearest(sum(expected))


@given(st.lists(st.tuples(finite, finite), min_size=1, max_size=10))
def test_equal_numbers_are_equal_digits(pairs):
    """What cancels leaves no digits behind, so that windows are the least."""
    a = Exact.of(np.array([p[0] for p in pairs]))
    b = Exact.of(np.array([p[1] for p in pairs]))
    minus = Exact.of(np.array([-p[1] for p in pairs]))
    again = (a + b) + minus
    assert np.array_equal(again.digits, a.digits) and again.low == a.low


def test_halves_round_to_even_and_small_numbers_keep_their_bits():
    one, tiny = 1.0, 2.0**-53
    for terms, expected in [
        ([one, tiny], one),
        ([one, tiny, 2.0**-200], one + 2 * tiny),
        ([one, 3 * tiny], one + 4 * tiny),
        ([one, 3 * tiny, -(2.0**-200)], one + 2 * tiny),
        ([2.0**-1074, 2.0**-1074], 2.0**-1073),
        ([1e308, 1e308, -1e308], 1e308),
        ([1e308, 1e308], np.inf),
    ]:
        assert Exact.of(np.array(terms)).summed(np.zeros(len(terms)), 1).rounded()[0] == expected


def columns_of(kind: str, n: int, d: int, rng) -> list[np.ndarray]:
    out = []
    for _ in range(d):
        x = rng.normal(size=n)
        x = {
            "decimals": np.round(x, 2),
            "whole": np.round(10 * x),
            "far apart": x * 10.0 ** rng.integers(-250, 250, n),
            "far from 0": x + 1e9,
            "wide": x * 10.0 ** rng.integers(-9, 9, n),
            "normal": x,
            "zeros": np.where(rng.random(n) < 0.9, 0.0, x),
        }[kind]
        x[rng.random(n) < 0.05] = np.nan
        out.append(x)
    return out


@pytest.mark.parametrize(
    "kind", ["decimals", "whole", "far apart", "far from 0", "wide", "normal", "zeros"]
)
@pytest.mark.parametrize("weighting", [None, "fractions", "whole", "far apart"])
def test_moments_are_those_of_fractions_on_every_path(kind, weighting):
    rng = np.random.default_rng(7)
    for n, d, groups in ((1, 1, 1), (3, 2, 2), (40, 3, 3), (1100, 2, 1), (1300, 1, 3)):
        columns = columns_of(kind, n, d, rng)
        group = rng.integers(0, groups + 1, n).astype(np.uint32) if groups > 1 else None
        weights = {
            None: None,
            "fractions": rng.random(n),
            "whole": rng.integers(0, 4, n).astype(float),
            "far apart": rng.random(n) * 10.0 ** rng.integers(-150, 150, n),
        }[weighting]
        check_moments(columns, group, groups, weights)


def check_moments(columns, group, groups, weights):
    first_found = None
    for path in _core.paths():
        for threads in (1, 3):
            found = _core.exact_moments(columns, group, groups, weights, threads, path)
            if first_found is None:
                first_found = found
            assert np.array_equal(found[0], first_found[0])
            for (a, low), (b, other) in zip(found[1:], first_found[1:], strict=True):
                assert np.array_equal(a, b) and low == other
    seen, *numbers = first_found
    n, first, second = (values(x) for x in numbers)
    size, mean, scatter = _core.exact_spread(*(part for x in numbers for part in x))
    d = len(columns)
    keep = ~np.isnan(columns).any(axis=0)
    if weights is not None:
        keep &= weights > 0
    groups_there = [0] if group is None else sorted({int(g) for g in group[keep] if g < groups})
    assert seen.tolist() == (groups_there if keep.any() else [])
    for u, g in enumerate(seen):
        rows = np.flatnonzero(keep if group is None else keep & (group == g))
        w = [Fraction(1) if weights is None else Fraction(weights[r]) for r in rows]
        x = [[Fraction(c[r]) for r in rows] for c in columns]
        assert n[u] == sum(w) and size[u] == float(n[u])
        for i in range(d):
            total = sum(a * b for a, b in zip(w, x[i], strict=True))
            assert first[u * d + i] == total
            assert close(mean[u, i], total / n[u])
            for j in range(i + 1):
                products = sum(a * b * c for a, b, c in zip(w, x[i], x[j], strict=True))
                assert second[u * (d * (d + 1) // 2) + i * (i + 1) // 2 + j] == products
                spread = products - total * first[u * d + j] / n[u]
                assert close(scatter[u, i, j], spread) and scatter[u, i, j] == scatter[u, j, i]


def close(found: float, exact: Fraction) -> bool:
    """The nearest double; never 0 for what is not."""
    expected = nearest(exact)
    return found == expected or (expected == 0 != exact and abs(found) == 2.0**-1074)


def test_a_mean_between_two_doubles_is_rounded_once():
    values = [1.1738150459869843, -0.42188998803108974]
    assert Moments.of({"x": values}, weights=[0.7, 0.7]).mean[0, 0] == 0.37596252897794724
    rng = np.random.default_rng(3)
    for _ in range(2_000):
        x, w = rng.normal(size=2), np.full(2, rng.random())
        exact = sum(map(Fraction, x)) / 2
        assert Moments.of({"x": x}, weights=w).mean[0, 0] == float(exact)


def test_what_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="finite"):
        _core.exact_of(np.array([1.0, np.inf]))
    with pytest.raises(ValueError, match="finite"):
        _core.exact_moments([np.array([1.0, np.inf])], None, 1, None)
    with pytest.raises(ValueError, match="below"):
        _core.exact_gathered(np.zeros((1, 1), np.uint32), 0, np.array([3]), 2)


def test_arrays_of_exact_numbers_go_as_arrays_do():
    rng = np.random.default_rng(0)
    x = np.round(rng.random((2, 3, 4)), 3)
    exact = Exact.of(x)
    assert exact.shape == x.shape and len(exact) == 2
    assert np.array_equal(exact[1].rounded(), x[1])
    assert np.array_equal(exact[:, 1:].rounded(), x[:, 1:])
    assert np.array_equal(exact.transpose([2, 0, 1]).rounded(), x.transpose(2, 0, 1))
    assert exact.sum([0, 2]).rounded() == pytest.approx(x.sum(axis=(0, 2)), rel=1e-15)
    assert exact.total == float(sum(map(Fraction, x.ravel())))
    whole = np.arange(24).reshape(2, 3, 4)
    assert np.array_equal(shown_as(added(x, exact))[0], 2 * x)
    assert np.array_equal(shown_as(added(whole, exact))[0], whole + x)
    assert np.array_equal(added(whole, whole), 2 * whole)
    with pytest.raises(ValueError, match="read-only"):
        exact.digits[...] = 0
    with pytest.raises(TypeError):
        exact + 1
    again = pickle.loads(pickle.dumps(exact))
    assert np.array_equal(again.digits, exact.digits) and again.low == exact.low
    assert Exact.of(np.zeros(0)).total == 0


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=20), st.randoms())
def test_exact_floats_add_up_to_the_same_in_any_order(given_values, random):
    def total(terms):
        out = 0
        for term in terms:
            out = exact_sum(out, term)
        return out

    shuffled = list(given_values)
    random.shuffle(shuffled)
    a, b = total(given_values), total(shuffled)
    assert a == b == float(sum(map(Fraction, given_values)))
    assert a - b == 0 and pickle.loads(pickle.dumps(a)).exact == a.exact
    assert exact_sum(1, 2) == 3 and isinstance(exact_sum(1, 2), int)
    assert 1 - ExactFloat(Fraction(1, 4)) == 0.75 and 1 + ExactFloat(Fraction(1, 4)) == 1.25


def test_exact_floats_beside_what_is_not_finite_are_floats():
    a = ExactFloat(Fraction(1, 4))
    assert a + math.inf == math.inf - a == math.inf and math.isnan(a + math.nan)
    huge = ExactFloat(Fraction(10) ** 308 * 2)
    assert huge == math.inf and -huge == -math.inf and huge - huge == 0
    assert isinstance(summed(np.array([0.5, 0.25]), np.array([0, 0]), 1), Exact)
