"""What many clusters are: the numbers of the definition, each column looked at once."""

import numpy as np
import pytest

import credo as cr
from credo.train.clusters import profiles as module
from credo.train.clusters.profiles import edges_of, profiles_of


def table_and_labels(k=30, n=900):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n) + 1e4
    x[::11] = np.nan
    rows = {"x": x, "y": rng.gamma(2.0, size=n), "c": rng.choice(list("abcd"), n)}
    labels = rng.integers(0, k, n)
    labels[labels == 7] = 8  # a cluster without a row
    return cr.read(rows), labels


def test_profiles_are_those_of_the_definition():
    table, labels = table_and_labels()
    found = profiles_of(table.schema, [(table, labels)], 30, edges_of(table))
    edges = edges_of(table)
    for name in table.schema.names:
        values = table.block.arrays[table.schema.index(name)]
        number = name != "c"
        there = ~np.isnan(values) if number else np.ones(len(values), dtype=bool)
        codes = np.searchsorted(edges[name], values[there]) if number else values[there]
        q = np.bincount(codes) / there.sum()
        for c in range(30):
            told = next(t for t in found[c] if t.column == name)
            own = labels[there] == c
            if not own.any():
                assert told.bits == 0 and not told.inside
                continue
            p = np.bincount(codes[own], minlength=len(q)) / own.sum()
            on = p > 0
            assert told.bits == pytest.approx((p[on] * np.log2(p[on] / q[on])).sum(), abs=1e-12)
            if number:
                x = values[there]
                want = {"mean": x[own].mean(), "sd": x[own].std()}
                assert told.inside == pytest.approx(want, rel=1e-9)
                assert told.whole == pytest.approx({"mean": x.mean(), "sd": x.std()}, rel=1e-9)
            else:
                assert list(told.inside.values()) == pytest.approx(p.tolist())
                assert list(told.whole.values()) == pytest.approx(q.tolist())
    for tellings in found:
        bits = [t.bits for t in tellings]
        assert bits == sorted(bits, reverse=True)


def test_clusters_are_merged_once(monkeypatch):
    table, labels = table_and_labels()
    calls, merged = [], module._merged
    monkeypatch.setattr(module, "_merged", lambda a, b: calls.append(1) or merged(a, b))
    profiles_of(table.schema, [(table, labels)], 30, edges_of(table))
    assert len(calls) <= 2 + 30  # the part of each column, then the clusters
