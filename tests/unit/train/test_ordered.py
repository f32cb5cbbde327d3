"""Ordered states: runs of neighbours averaged exactly, against enumeration of all partitions."""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln

import credo as cr
from credo.train.parameters.ordered import smooth_neighbours


def by_enumeration(n, alpha):
    k = len(n)
    total, mean = 0.0, np.zeros(k)
    for ends in product([False, True], repeat=k - 1):
        runs, last = [], 0
        for i, end in enumerate([*ends, True], start=1):
            if end:
                runs.append(slice(last, i))
                last = i
        log, theta = 0.0, np.empty(k)
        for run in runs:
            a, seen = alpha[run].sum(), n[run].sum()
            log += gammaln(a + seen) - gammaln(a)
            log += (n[run] * np.log(alpha[run] / a)).sum()
            theta[run] = (a + seen) / (alpha.sum() + n.sum()) * alpha[run] / a
        total += np.exp(log)
        mean += np.exp(log) * theta
    return mean / total * (alpha.sum() + n.sum())


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_the_mean_over_all_partitions(k):
    rng = np.random.default_rng(k)
    n = rng.integers(0, 9, (5, k)).astype(float)
    alpha = rng.uniform(0.1, 2, (5, k))
    found = smooth_neighbours(n, alpha)
    expected = [by_enumeration(a, b) for a, b in zip(n, alpha, strict=True)]
    assert np.abs(found - expected).max() < 1e-10
    assert np.allclose(found.sum(axis=1), (n + alpha).sum(axis=1), rtol=1e-12)


STATES = ["0", "1", "2", "3", "4", "5", "6", "7"]


def scale(rng, n):
    y = rng.choice(["u", "v"], n)
    x = np.clip(np.round(rng.normal(np.where(y == "u", 2.5, 4.5), 1.5)), 0, 7).astype(int)
    return cr.read({"x": x.astype(str), "y": y}, schema={"x": STATES})


def test_few_rows_of_a_scale_foretell_new_ones_better():
    gains = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        train, test = scale(rng, 40), scale(rng, 500)
        plain, smooth = (
            cr.fit("[y][x|y]", train, cr.BDeu(1), ordered=o).log_likelihood(test) / 500
            for o in (False, True)
        )
        gains.append(smooth - plain)
    assert np.mean(gains) > 0.03 and np.mean(np.array(gains) > 0) >= 0.9


def test_it_is_kept_by_files_and_by_more_rows(tmp_path):
    rng = np.random.default_rng(0)
    a, b = scale(rng, 60), scale(rng, 60)
    net = cr.fit("[y][x|y]", a, cr.BDeu(2), ordered=True)
    net.save(tmp_path / "net.credo")
    assert cr.load(tmp_path / "net.credo") == net
    more = net.update(b)
    both = {n: np.concatenate([t.values(n) for t in (a, b)]) for n in "xy"}
    at_once = cr.fit("[y][x|y]", cr.read(both, {"x": STATES}), cr.BDeu(2), ordered=True)
    assert np.abs(more.cpt("x").values - at_once.cpt("x").values).max() < 1e-12
    low, high = net.cpt("x").interval(0.95)
    assert (low <= net.cpt("x").values).all() and (net.cpt("x").values <= high).all()


def test_it_is_refused_where_nothing_is_ordered():
    rows = {"x": ["a", "b"], "y": ["u", "v"]}
    with pytest.raises(cr.errors.InputError, match="there is none here"):
        cr.fit("[x][y|x]", rows, cr.BDeu(1), ordered=True)
    with pytest.raises(cr.errors.InputError, match="there is none here"):
        cr.fit("[x]", cr.read(rows, {"x": ["b", "a"]}), ordered=True)


def test_learn_gives_the_tables_of_fit_and_its_recipe_says_so() -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=80)
    x = np.clip(rng.poisson(1 + 2 * y), 0, 4)
    rows = cr.read({"y": y.tolist(), "x": x.tolist()}, {"x": [0, 1, 2, 3, 4]})
    net = cr.learn(rows, ordered=True, parameters=cr.BDeu(2))
    again = cr.fit(net.dag, rows, cr.BDeu(2), ordered=True)
    assert all((net.cpt(n).values == again.cpt(n).values).all() for n in net.names)
    assert net.record is not None and net.record.details["recipe"]["ordered"] is True
    gaps = cr.read({"y": [0, 1, None, 1] * 9, "x": [0, 3, 1, 4] * 9}, {"x": [0, 1, 2, 3, 4]})
    with pytest.raises(cr.errors.InputError, match="available-cases"):
        cr.learn(gaps, ordered=True)
    net = cr.learn(gaps, ordered=True, missing="available-cases")
    assert net.cpt("x").learned.estimate == "ordered"  # type: ignore[union-attr]
