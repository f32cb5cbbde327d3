"""Rows that are the same belong together: no more clusters than there are different rows."""

from __future__ import annotations

import numpy as np
import pytest

import credo as cr
from credo.errors import InputError
from credo.train.clusters.distinct import different_rows

THREE = np.repeat([[0.1, 0.7], [1.3, -0.2], [2.9, 0.4]], 50, axis=0)
METHODS = (
    "k-means", "single", "complete", "average", "ward", "spectral", "gaussian", "latent-class",
)  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_more_clusters_than_different_rows_are_refused(method: str) -> None:
    groups = cr.cluster(THREE, method, k=3)
    assert groups.sizes == (50, 50, 50)
    assert groups.assign(THREE).tolist() == groups.labels.tolist()
    with pytest.raises(InputError, match="only 3 different rows, which cannot make 4 clusters"):
        cr.cluster(THREE, method, k=4)


def test_another_cut_of_a_tree_is_refused_too() -> None:
    groups = cr.cluster(THREE, "average", k=3)
    with pytest.raises(InputError, match="only 3 different rows"):
        groups.cut(k=4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("by", [None, "silhouette"])
def test_auto_never_chooses_empty_clusters(method: str, by: str | None) -> None:
    groups = cr.cluster(THREE, method, by=by)
    assert groups.sizes == (50, 50, 50)


def test_a_mixture_with_empty_classes_does_not_win() -> None:
    x = np.random.default_rng(3).normal(size=(40, 2)).round()
    for seed in range(3):
        for method in ("gaussian", "latent-class"):
            groups = cr.cluster(x, method, rng=seed)
            assert min(groups.sizes) > 0
            candidates = groups.record.details["candidates"]
            best = max(candidates.rows, key=lambda k: candidates.rows[k]["bic"])
            passed_over = [n for n in groups.record.notes if "would hold no row" in n]
            assert (best == groups.k) == (not passed_over)


def test_gaps_are_the_same_gap_and_zero_is_zero() -> None:
    nan = np.nan
    x = np.array([[nan, 1.5], [nan, 1.5], [0.0, 1.5], [-0.0, 1.5], [nan, 2.5]])
    table = cr.read(x, {"a": "continuous", "b": "continuous"}, columns=["a", "b"])
    assert different_rows(table, 5) == 3
    assert different_rows(table, 2) == 2


def test_a_stream_of_equal_rows_is_refused(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "0.5,1.5\n2.5,3.5\n" * 40)
    kinds = {"a": "continuous", "b": "continuous"}
    with pytest.raises(InputError, match="only 2 different rows"):
        cr.cluster(cr.read(path, kinds, memory="100 B"), k=3)
