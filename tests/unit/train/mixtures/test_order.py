"""Starts look at what rows hold: neither the order of rows and columns nor names change a mixture."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

import credo as cr
from credo.core.schema import Variable
from credo.estimators import LatentClasses
from credo.predict.rows.mixture import Plan, Taken
from credo.train.mixtures.gathered import gathered


def mixed_frame(seed):
    """Numbers (some rounded, some missing) and states, of two groups that overlap."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(40, 250)), int(rng.integers(2, 5))
    group = rng.integers(0, 2, size=n)
    x = rng.normal(size=(n, d)) * rng.uniform(0.1, 10, d) + group[:, None] * rng.normal(size=d)
    x = np.round(x) if seed % 3 == 0 else x
    x[rng.random(x.shape) < 0.05 * (seed % 2)] = np.nan
    frame = pd.DataFrame(x, columns=list("abcd")[:d])
    for j in range(3):
        some = rng.choice(["u", "v", "w"], n, p=[0.5, 0.3, 0.2])
        frame[f"s{j}"] = np.where(rng.random(n) < 0.4, np.where(group, "u", "w"), some)
    return frame


def same(one, other):
    assert adjusted_rand_score(one.labels, other.labels) == 1
    height = one.quality["log-likelihood"]
    assert other.quality["log-likelihood"] == pytest.approx(height, rel=1e-9)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("method", ["gaussian", "latent-class"])
def test_columns_and_names_in_any_order(method, seed):
    rng = np.random.default_rng(seed)
    frame = mixed_frame(seed)
    numbers = [c for c in frame if not c.startswith("s")]
    frame = frame[numbers] if method == "gaussian" else frame
    k = 2 + seed % 3
    one = cr.cluster(frame, method, k=k, schema=dict.fromkeys(numbers, "continuous"))
    called = dict(zip(frame, rng.permutation(list("fghijkl"))[: frame.shape[1]], strict=True))
    other = frame[rng.permutation(frame.columns)].rename(columns=called)
    other = other.replace({"u": "three", "v": "one", "w": "two"})
    schema = {called[c]: "continuous" for c in numbers}
    same(one, cr.cluster(other, method, k=k, schema=schema))


def test_units_rows_and_weights_are_no_matter():
    frame = mixed_frame(5)
    cells = Taken(Plan(("a", "b")), frame[["a", "b"]].to_numpy().T, np.zeros((0, len(frame))), ())
    found = gathered(cells, np.arange(len(frame)), np.ones(len(frame)))
    wide = Taken(Plan(("b", "a")), cells.reals[::-1] * [[3], [7]] + 1, cells.counts, ())
    back = np.arange(len(frame))[::-1]
    again = gathered(wide, back, np.full(len(frame), 5.0))
    np.testing.assert_array_equal(again.rows, found.rows)
    np.testing.assert_array_equal(again.columns, 1 - found.columns)


def test_weights_tell_rows_apart_where_cells_cannot():
    """All eight combinations of three states: only how often each is there says which is which."""
    names = ("p", "q", "r")
    plan = Plan((), (), tuple(Variable(n, "discrete", ("no", "yes")) for n in names))
    codes = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).astype(np.uint8)
    w = np.array([273.0, 93, 104, 90, 79, 100, 94, 167])
    nothing = np.zeros((0, 8))
    found = gathered(Taken(plan, nothing, nothing, tuple(codes)), np.arange(8), w)
    turned = Plan((), (), plan.states[::-1])
    other = Taken(turned, nothing, nothing, tuple(1 - codes[::-1]))  # and the states by other names
    again = gathered(other, np.arange(8), w * 3)
    np.testing.assert_array_equal(again.rows, found.rows)
    np.testing.assert_array_equal(again.weights, found.weights * 3)


def test_rows_that_differ_in_a_column_of_many_states_only_are_different():
    plan = Plan(("x",), (), (Variable("s", "discrete", tuple(range(100))),))
    codes = np.arange(200, dtype=np.uint8) % 100
    cells = Taken(plan, np.zeros((1, 200)), np.zeros((0, 200)), (codes,))
    assert len(gathered(cells, np.arange(200), np.ones(200)).rows) == 100


# --- columns of more than 64 states ---------------------------------------------------------


def of_many_states(n=1500):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, n)
    draws = rng.integers(0, 30, size=(2, n)) + 30 * group
    return {"a": [f"a{i}" for i in draws[0]], "b": [f"b{i}" for i in draws[1]]}, group


def test_groups_of_columns_with_many_states_only():
    table, group = of_many_states()
    assert adjusted_rand_score(cr.cluster(table, "latent-class", k=3).labels, group) == 1
    assert adjusted_rand_score(cr.mixture(table, 3).predict(table), group) == 1
    still = table | {"c": ["same"] * len(group), "x": [1.5] * len(group)}  # tell no rows apart
    assert adjusted_rand_score(cr.cluster(still, "latent-class", k=3).labels, group) == 1
    rows = pd.DataFrame(table)
    labels = LatentClasses(3, random_state=0).fit_predict(rows)
    assert adjusted_rand_score(labels, group) == 1


def test_many_states_without_groups():
    rng = np.random.default_rng(0)
    s = [f"s{i}" for i in rng.integers(0, 100, 2000)]
    found = cr.cluster({"a": s, "b": s[::-1]}, "latent-class", k=2)
    assert found.k == 2 and np.bincount(found.labels).min() > 0
    assert cr.mixture({"a": s, "b": s[::-1]}, max_components=2, restarts=2).k == 1


@pytest.mark.parametrize("seed", range(6))
def test_numbers_on_a_grid(seed):
    """The mean was summed in the order of the rows, and its last digit parted what ties."""
    x = np.repeat([0.5, 1.5, 2.5, 3.5], [22, 16, 15, 20])
    rng = np.random.default_rng(seed)
    found = [
        cr.mixture({"x": rng.permutation(x)}, 3, restarts=5, rng=r).record.score
        for r in range(12)
        for _ in range(3)
    ]
    for three in np.reshape(found, (12, 3)):
        np.testing.assert_allclose(three, three[0], rtol=1e-9)
