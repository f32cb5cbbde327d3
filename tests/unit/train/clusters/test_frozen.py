"""Clusters are values: nothing in them can be written to, and a copy is the same value."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import joblib
import numpy as np
import pytest
from tests.unit.test_frozen import writable

import credo as cr
from credo.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2)) + 8 * np.repeat([0, 1], 30)[:, None]
GAPS = X.copy()
GAPS[3, 1] = np.nan
TIES = [(i, i + 1) for i in range(59)]

MAKE: dict[str, Callable[[], cr.Clusters]] = {
    "k-means": lambda: cr.cluster(X, k=2, stability=2),
    "auto": lambda: cr.cluster(X),
    "gaps": lambda: cr.cluster(GAPS, k=2),
    "single": lambda: cr.cluster(X, "single", k=2),
    "average": lambda: cr.cluster(X, "average", k=2),
    "ward": lambda: cr.cluster(X, "ward", k=2),
    "gower": lambda: cr.cluster(GAPS, "average", k=2),
    "spectral": lambda: cr.cluster(X, "spectral", k=2),
    "pieces": lambda: cr.cluster(np.r_[X, X + 30], "spectral", k=2, neighbours=3),
    "gaps by neighbours": lambda: cr.cluster(GAPS, "spectral", k=2),
    "rbf": lambda: cr.cluster(X, "spectral", k=2, affinity="rbf"),
    "landmarks": lambda: cr.cluster(X, "spectral", k=2, affinity="rbf", landmarks=20),
    "gaussian": lambda: cr.cluster(X, "gaussian", k=2),
    "latent-class": lambda: cr.cluster(X, "latent-class", k=2),
    "graph": lambda: cr.cluster(graph=TIES, method="average", k=2),
    "spectral graph": lambda: cr.cluster(graph=TIES, method="spectral", k=2),
    "rows and ties": lambda: cr.cluster(X, "average", k=2, graph=TIES),
}


@pytest.mark.parametrize("name", MAKE)
def test_a_copy_is_the_same_value(name: str) -> None:
    groups = MAKE[name]()
    told = str(groups)  # fills what is kept for later
    for other in (pickle.loads(pickle.dumps(groups)), copy.deepcopy(groups), copy.copy(groups)):
        assert str(other) == told
        assert other.labels.tolist() == groups.labels.tolist()
        if groups.tree is not None:
            assert other.cut(k=3).sizes == groups.cut(k=3).sizes
        if groups.table is not None and name not in ("rows and ties",):
            assert other.assign(X).tolist() == groups.assign(X).tolist()
        assert not writable(other, "groups", set())


@pytest.mark.parametrize("name", MAKE)
def test_nothing_in_it_can_be_written_to(name: str) -> None:
    groups = MAKE[name]()
    str(groups)
    assert not writable(groups, "groups", set())
    with pytest.raises(ValueError, match="read-only"):
        groups.order[0] = 5


@pytest.mark.parametrize("weights", [None, "w"])
def test_groups_of_a_stream_can_be_pickled(tmp_path, weights) -> None:
    path = tmp_path / "rows.csv"
    w = np.arange(len(X)) % 3
    np.savetxt(path, np.column_stack([X, w]), delimiter=",", header="a,b,w", comments="")
    groups = cr.cluster(cr.read(path, memory="100 B", weights=weights), k=2, columns=["a", "b"])
    assert not writable(groups.model, "model", set())
    told, numbers = str(groups), groups.row_numbers
    there = pickle.loads(pickle.dumps(groups))
    joblib.dump(groups, tmp_path / "groups")
    path.unlink()
    again = pickle.loads(pickle.dumps(there))  # once more, and without the source
    for other in (there, again, joblib.load(tmp_path / "groups"), copy.deepcopy(there)):
        assert str(other) == told and other.row_numbers == numbers
        assert other.labels.tolist() == groups.labels.tolist() and other.sizes == groups.sizes
        assert other.assign(X).tolist() == groups.assign(X).tolist()
        assert dict(other.quality) == dict(groups.quality)
        assert not writable(other, "groups", set())
        with pytest.raises(InputError, match="pickled without the rows of the stream"):
            other.table.load()
    assert copy.copy(groups).table is groups.table


def test_groups_of_a_stream_come_back_from_another_process(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    np.savetxt(path, X, delimiter=",", header="a,b", comments="")

    def streamed():  # a function of its own, since workers need not find this file
        return cr.cluster(cr.read(path, memory="100 B"), k=2)

    with joblib.parallel_config(backend="loky"):
        (there,) = joblib.Parallel(n_jobs=2)([joblib.delayed(streamed)()])
    assert str(there) == str(streamed())
