"""A whole weight of k is k copies of the row: in groups, profiles, quality and the choice of k."""

from __future__ import annotations

import numpy as np
import pytest

import credo as cr
from credo.errors import InputError
from credo.train.clusters.profiles import _weighted_quantiles

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2)) + 8 * RNG.integers(0, 3, 60)[:, None]
W = RNG.integers(1, 6, 60)
S = np.array(list("abc"))[RNG.integers(0, 3, 60)]
WEIGHTED = {"x": X[:, 0], "y": X[:, 1], "s": S, "w": W}
COPIES = {n: np.repeat(WEIGHTED[n], W) for n in ("x", "y", "s")}


def test_profiles_and_quality_of_weights_are_those_of_copies() -> None:
    weighted, copies = cr.cluster(WEIGHTED, k=3, weights="w"), cr.cluster(COPIES, k=3)
    assert weighted.sizes == copies.sizes
    np.testing.assert_allclose(weighted.profiles.bits, copies.profiles.bits, atol=1e-12)
    assert dict(weighted.quality) == pytest.approx(dict(copies.quality))


def test_quantiles_of_weights_are_numpys_of_copies() -> None:
    shares = np.arange(1, 10) / 10
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x, w = rng.normal(size=17).round(1), rng.integers(1, 5, 17)
        wanted = np.quantile(np.repeat(x, w), shares)
        assert _weighted_quantiles(x, w, shares).tolist() == wanted.tolist()


def test_the_gap_of_weights_is_that_of_copies() -> None:
    weighted = {n: WEIGHTED[n] for n in ("x", "y", "w")}
    copies = {n: COPIES[n] for n in ("x", "y")}
    one = cr.which_k(weighted, by="gap", k=range(1, 5), weights="w")
    two = cr.which_k(copies, by="gap", k=range(1, 5))
    assert one.k == two.k == 3
    for k in range(1, 5):
        assert dict(one[k]) == pytest.approx(dict(two[k]))


def test_the_gap_of_weights_that_are_not_whole_compares_like_with_like() -> None:
    half = {"x": X[:, 0], "y": X[:, 1], "w": np.full(60, 0.5)}
    one = cr.which_k(half, by="gap", k=range(1, 5), weights="w")
    two = cr.which_k({n: half[n] for n in ("x", "y")}, by="gap", k=range(1, 5))
    for k in range(1, 5):
        assert one[k]["gap"] == pytest.approx(two[k]["gap"])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"by": "gap", "k": [59, 60]}, "fewer clusters than rows, 60, got k = 60"),
        ({"k": [60]}, "no silhouette to choose by for k = 60"),
        ({"k": [1]}, "no silhouette to choose by for k = 1"),
    ],
)
def test_candidates_that_no_criterion_can_judge(given: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        cr.which_k(X, **given)


@pytest.mark.parametrize("method", ["k-means", "single", "complete", "gaussian", "latent-class"])
def test_stability_of_weights_is_that_of_copies(method: str) -> None:
    names = ["x", "y"] if method == "gaussian" else ["x", "y", "s"]
    weighted = {n: WEIGHTED[n] for n in (*names, "w")}
    copies = {n: COPIES[n] for n in names}
    one = cr.cluster(weighted, method, k=4, weights="w", stability=4)
    two = cr.cluster(copies, method, k=4, stability=4)
    assert one.stability.agreement == pytest.approx(two.stability.agreement)


def test_few_rows_of_large_weights_are_not_left_out_whole() -> None:
    candy = {
        "flavour": ["cherry"] * 4 + ["lime"] * 4,
        "wrapper": ["red", "red", "green", "green"] * 2,
        "hole": ["yes", "no"] * 4,
        "n": [273, 93, 104, 90, 79, 100, 94, 167],
    }
    stable = cr.cluster(candy, "latent-class", k=2, weights="n", stability=5).stability
    assert stable.mean > 0.6
    many = candy | {"n": [n * 100_000 for n in candy["n"]]}
    assert cr.cluster(many, "latent-class", k=2, weights="n", stability=2).stability.mean > 0.9


@pytest.mark.parametrize("method", ["average", "spectral"])
def test_stability_of_methods_that_count_rows_once(method: str) -> None:
    weighted = cr.cluster(WEIGHTED, method, k=3, weights="w", stability=3)
    plain = cr.cluster(WEIGHTED, method, k=3, columns=["x", "y", "s"], stability=3)
    assert weighted.stability.agreement == pytest.approx(plain.stability.agreement)


@pytest.mark.parametrize("grid", [False, True], ids=["any numbers", "whole numbers"])
@pytest.mark.parametrize("seed", range(8))
def test_k_means_of_weights_is_that_of_copies_step_by_step(seed: int, grid: bool) -> None:
    """k-means++ draws rows by their weight; on a grid many rows are as near to two centres."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(40, 200)), int(rng.integers(1, 5))
    x = 2 * rng.normal(size=(n, d))
    x = rng.permutation(np.unique(np.round(x) if grid else x, axis=0))
    w = rng.integers(1, 6, len(x))
    names = [f"c{j}" for j in range(d)]
    kinds = dict.fromkeys(names, "continuous")
    k = min(int(rng.integers(2, 7)), len(x) - 1)
    weighted, copies = (
        cr.cluster(
            cr.read(dict(zip(names, rows.T, strict=True)), kinds, weights=weights),
            "k-means",
            k=k,
            rng=seed,
            restarts=1,
        )
        for rows, weights in ((x, w), (np.repeat(x, w, axis=0), None))
    )
    assert np.repeat(weighted.labels, w).tolist() == copies.labels.tolist()
    np.testing.assert_allclose(weighted.record.trace, copies.record.trace, rtol=1e-12)
    assert weighted.record.reason == copies.record.reason


def test_weights_of_k_means_end_where_copies_do() -> None:
    """The tolerance is a share of the variance, in which a weight counts as copies too."""
    for seed in range(6):
        x = np.random.default_rng(seed).normal(size=(1500, 2))
        w = np.where(np.abs(x[:, 0]) > 1.5, 9, 1)
        one, two = (
            cr.cluster(cr.read(rows, weights=given, columns=["x", "y"]), k=6, restarts=1, tol=1e-2)
            for rows, given in ((x, w), (np.repeat(x, w, axis=0), None))
        )
        assert "tolerance" in one.record.reason
        assert one.record.reason == two.record.reason


@pytest.mark.parametrize("method", ["gaussian", "latent-class"])
def test_weights_that_sum_to_1_say_that_bic_takes_them_for_one_row(method: str) -> None:
    def told(weights: np.ndarray) -> list[str]:
        groups = cr.cluster({"x": X[:, 0], "y": X[:, 1]}, method, k=2, weights=weights)
        return [n for n in groups.record.notes if "weights count as copies" in n]

    (note,) = told(np.full(60, 1 / 60))
    assert note.startswith("weights count as copies, and these add up to 1 row for ")
    assert note.endswith("weights divided by their mean add up to the 60 rows")
    assert not told(np.full(60, 1.0)) and not told(np.full(60, 0.5)) and not told(W)
