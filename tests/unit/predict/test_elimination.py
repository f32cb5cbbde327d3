"""A product of factors read backwards is the same distribution."""

from __future__ import annotations

import numpy as np
import pytest

from credo.errors import LimitError
from credo.predict.exact import elimination
from credo.predict.exact.elimination import Directed, eliminate, sliced


def random_factors(
    rng: np.random.Generator, n: int
) -> tuple[list[int], list[tuple[tuple[int, ...], np.ndarray]]]:
    arities = [int(r) for r in rng.choice([1, 2, 2, 3], n)]
    factors = []
    for _ in range(int(rng.integers(1, 2 * n))):
        scope = tuple(int(v) for v in rng.choice(n, int(rng.integers(0, min(n, 3) + 1)), False))
        table = rng.gamma(0.6, size=[arities[v] for v in scope])
        if rng.random() < 0.3:
            table = table * (rng.random(table.shape) < 0.8)
        factors.append((scope, table))
    return arities, factors


def joint(arities: list[int], factors: list[tuple[tuple[int, ...], np.ndarray]]) -> np.ndarray:
    operands: list[object] = []
    for scope, table in factors:
        operands += [table, list(scope)]
    for v, r in enumerate(arities):
        operands += [np.ones(r), [v]]
    return np.einsum(*operands, list(range(len(arities))))


def directed_joint(found: Directed) -> np.ndarray:
    shaped = [
        (s, t.reshape([found.arities[v] for v in s]))
        for s, t in zip(found.scopes, found.tables, strict=True)
    ]
    return joint(list(found.arities), shaped)


@pytest.mark.parametrize("seed", range(40))
def test_same_distribution_in_any_order_by_numbers_and_by_logarithms(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arities, factors = random_factors(rng, int(rng.integers(1, 7)))
    whole = joint(arities, factors)
    order = [int(v) for v in rng.permutation(len(arities))]
    with np.errstate(divide="ignore"):
        logs = [(s, np.log(t)) for s, t in factors]
    for found in (eliminate(arities, factors, order), eliminate(arities, logs, order, logs=True)):
        assert [s[-1] for s in found.scopes] == order
        for i, scope in enumerate(found.scopes):
            assert not set(scope[:-1]) & set(order[: i + 1])
        if whole.sum() == 0:
            assert found.log_z == -np.inf
            continue
        assert found.log_z == pytest.approx(np.log(whole.sum()), rel=1e-10, abs=1e-12)
        np.testing.assert_allclose(directed_joint(found), whole / whole.sum(), atol=1e-12)


def test_factors_beyond_the_range_of_a_double() -> None:
    # Two factors that each tell the states apart by e^±500 and cancel but for a factor of two.
    far = np.array([1.0, np.exp(-500.0)])
    near = np.array([np.exp(-500.0), 2.0])
    found = eliminate([2], [((0,), far), ((0,), near)], [0])
    np.testing.assert_allclose(found.tables[0], [1 / 3, 2 / 3], rtol=1e-12)
    assert found.log_z == pytest.approx(-500 + np.log(3), rel=1e-12)
    # And of a double itself, given as logarithms.
    far, near = np.array([0.0, -5000.0]), np.array([-5000.0, np.log(2)])
    found = eliminate([2], [((0,), far), ((0,), near)], [0], logs=True)
    np.testing.assert_allclose(found.tables[0], [1 / 3, 2 / 3], rtol=1e-12)
    assert found.log_z == pytest.approx(-5000 + np.log(3), rel=1e-12)


def test_a_variable_in_no_factor_is_uniform() -> None:
    found = eliminate([3], [], [0])
    assert found.tables[0].tolist() == [1 / 3] * 3
    assert found.log_z == pytest.approx(np.log(3))


def test_fixed_variables_are_sliced_and_not_drawn() -> None:
    table = np.array([0.9, 0.1, 0.2, 0.8])
    factors = sliced([2, 2], [((0,), np.array([0.5, 0.5])), ((0, 1), table)], {1: 1})
    found = eliminate([2, 2], factors, [0], fixed={1: 1})
    assert np.exp(found.log_z) == pytest.approx(0.45)
    first, second = found.draw(90_000, 0)
    assert (second == 1).all()
    assert first.mean() == pytest.approx(8 / 9, abs=5 * np.sqrt(8 / 81 / 90_000))


def test_drawn_rows_fit_the_joint() -> None:
    rng = np.random.default_rng(5)
    arities = [2, 3, 2]
    factors = [(s, rng.gamma(1.0, size=[arities[v] for v in s])) for s in ((0, 1), (1, 2), (2, 0))]
    whole = joint(arities, factors)
    whole /= whole.sum()
    columns = eliminate(arities, factors, [1, 0, 2]).draw(100_000, 7)
    counts = np.zeros(arities)
    np.add.at(counts, tuple(columns), 1)
    chi = float(((counts - 1e5 * whole) ** 2 / (1e5 * whole)).sum())
    assert chi < 34.5  # 0.9997 quantile for 11 degrees of freedom


def test_guard_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    star = [((0, v), np.ones((2, 10))) for v in range(1, 12)]
    arities = [2, *[10] * 11]
    with pytest.raises(LimitError, match=r"would have 3\.111e\+11 cells; at most 250,000,000"):
        eliminate(arities, star, list(range(12)))
    assert eliminate(arities, star, [*range(1, 12), 0]).log_z == pytest.approx(np.log(2e11))
    monkeypatch.setattr(elimination, "MAX_CELLS", 3)
    with pytest.raises(LimitError, match="would have 6 cells; at most 3 are allowed"):
        eliminate([2, 2], [((0, 1), np.ones((2, 2)))], [0, 1])
