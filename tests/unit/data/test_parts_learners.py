"""Learners of rows in parts: as from one table, and no row passes through this process."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from tests.unit.data.test_parts import cut, in_parts

import credo as cr
from credo.data.engines.distributed import Distributed

PLACES = [300, 301, 700]


def gappy(n=900, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    frame = pd.DataFrame({
        "a": np.array(["x", "y", "z"])[np.where(rng.random(n) < 0.8, group, rng.integers(0, 3, n))],
        "b": np.array(["u", "v"])[(rng.random(n) < np.array([0.1, 0.5, 0.9])[group]).astype(int)],
        "p": group * 2.0 + rng.normal(size=n),
        "q": group - 0.5 * rng.normal(size=n),
    })  # fmt: skip
    for name in frame:
        frame.loc[rng.random(n) < 0.1, name] = None
    return frame


@pytest.fixture
def apart(monkeypatch):
    """The rows of a frame in parts, none of which comes to this process whole."""

    def refuse(self, names=None):
        raise AssertionError("rows pass through the driver")

    monkeypatch.setattr(Distributed, "batches", refuse)
    monkeypatch.setattr(Distributed, "numbered", refuse)
    return lambda frame: in_parts(cut(frame, PLACES))


def close(a, b, tol=1e-6):
    """Whether two networks have the same numbers."""
    for name in a.names:
        one, two = a.distributions[name], b.distributions[name]
        for what in ("values", "intercept", "slope", "variance"):
            if hasattr(one, what):
                assert np.allclose(getattr(one, what), getattr(two, what), rtol=tol, atol=tol)


@pytest.mark.parametrize("most", [1 << 19, 0])  # problems that are merged, or solved where they are
@pytest.mark.parametrize(
    ("graph", "more"),
    [
        ("[a][b|a]", {}),
        ("[a][b|a][p|a][q|b:p]", {}),
        ("[H][a|H][b|H][p|H]", {"hidden": {"H": 2}, "restarts": 2, "max_iter": 40}),
    ],
)
def test_em_of_parts_is_em_of_the_table(apart, monkeypatch, most, graph, more):
    monkeypatch.setattr("credo.train.em.far_step._MOST", most)
    frame = gappy()
    with apart(frame) as read:
        found = cr.em(graph, read(), cr.BDeu(1), draws=20, **more)
    expected = cr.em(graph, frame, cr.BDeu(1), draws=20, **more)
    close(found, expected)
    assert found.record.score == pytest.approx(expected.record.score, rel=1e-9)
    own, other = found.record.details, expected.record.details
    assert own["missing"] == other["missing"] and own["observed"] == other["observed"]
    assert found.cpt("a").learned.completed is not None
    assert ("problems" in own) and (most == 0 or own["problems"] <= other["problems"] + 3)


def test_em_of_parts_whose_rows_go_to_the_engine(apart, monkeypatch):
    """Rows whose gaps hang together widely: merged, and in parts."""
    frame, graph = gappy()[["a", "b"]], "[a][b|a]"
    expected = cr.em(graph, frame)
    monkeypatch.setattr("credo.train.em.far_step._STATES", 1)
    for most in (1 << 19, 0):
        monkeypatch.setattr("credo.train.em.far_step._MOST", most)
        with apart(frame) as read:
            close(cr.em(graph, read()), expected)


def test_folded_rows_merge_and_are_pickled():
    """What a table folds to is what its parts fold to, merged, however they were carried."""
    from credo.train.em.far_step import Folding
    from credo.train.em.layout import Layout, Parameters

    table = cr.read(gappy())
    schema = table.schema
    layout = Layout(
        [(schema["a"], ()), (schema["b"], (schema["a"],)), (schema["p"], (schema["a"],))]
    )
    fold = Folding(layout, {"p": (1.0, 2.0)}, 256)
    whole = fold(table)
    parts = [fold(table.take(slice(i, i + 250))) for i in range(0, 900, 250)]
    merged = pickle.loads(pickle.dumps(parts[0]))
    for part in parts[1:]:
        merged = merged.merged(pickle.loads(pickle.dumps(part)))
    assert merged.native.problems == whole.native.problems and merged.rows == whole.rows
    assert np.array_equal(merged.native.counted()[0], whole.native.counted()[0])
    theta = np.random.default_rng(0).random(layout.cells) + 0.1
    x = Parameters(theta, np.tile([0.1, 1.3], 3))
    (one, log), (two, other) = (f.e_step.expect(x) for f in (whole, merged))
    assert np.allclose(one.counts, two.counts) and np.allclose(one.moments, two.moments)
    assert log == pytest.approx(other, rel=1e-12)
    with pytest.raises(ValueError, match="same network"):
        Folding(Layout([(schema["a"], ())]), {}, 256)(table.select(["a"])).native.absorb(
            *whole.native.packed()
        )


@pytest.mark.parametrize("scale", ["auto", "range"])
def test_k_means_of_parts_is_that_of_a_stream(apart, tmp_path, scale):
    frame = gappy()
    frame.to_csv(tmp_path / "rows.csv", index=False)
    stream = cr.read(tmp_path / "rows.csv", memory="1kB")
    with apart(frame) as read:
        found = cr.cluster(read(), method="k-means", k=3, scale=scale)
        told = str(found.profiles)
    expected = cr.cluster(stream, method="k-means", k=3, scale=scale)
    assert np.array_equal(found.labels, expected.labels) and found.sizes == expected.sizes
    assert np.allclose(found.partition.trace, expected.partition.trace, rtol=1e-12)
    assert found.quality["silhouette"] == pytest.approx(expected.quality["silhouette"])
    assert told == str(expected.profiles)
    assert found.notes == expected.notes


def test_missingness_of_parts_is_that_of_the_table(apart):
    frame = gappy(2000)
    frame.loc[frame["p"] > 3, "a"] = None  # gaps that go with a value, and with each other
    frame.loc[frame["a"].isna() & (frame.index % 2 == 0), "b"] = None
    with apart(frame) as read:
        found = cr.missingness(read())
    expected = cr.missingness(frame)
    assert found.rates == expected.rates and found.patterns == expected.patterns
    assert [t[:2] for t in found.together] == [t[:2] for t in expected.together]
    assert [d[:2] for d in found.depends] == [d[:2] for d in expected.depends]
    assert expected.depends and np.allclose(
        [d[2] for d in found.depends], [d[2] for d in expected.depends], rtol=1e-6
    )


def test_check_of_parts_looks_at_some_rows_and_scores_all(apart, monkeypatch):
    monkeypatch.setattr("credo.checking.again.folds.MOST", 400)
    frame = gappy(1500)[["a", "b"]].dropna()
    net = cr.fit("[a][b|a]", frame)
    some = {"sections": ["held_out", "calibration"], "folds": 2}
    with apart(frame) as read:
        source = read()
    half = cr.fit("[a][b|a]", frame[:700])
    own, other = (cr.check(n, source, **some) for n in (net, half))
    assert cr.check(net, frame, **some).how == own.how
    assert own.rows == 400 and f"400 of {len(frame):,} rows" in own.notes[0]
    assert "learned again" in own.how and "it has not seen" in other.how
    each = half.log_likelihood(frame) / len(frame)
    assert f"over all rows is {each:.6g}" in other.notes[0]


def test_classifiers_of_parts_are_those_of_the_table(apart):
    from credo.estimators import NaiveBayes, NetworkClassifier

    frame = gappy().dropna()
    rows = frame.drop(columns="b")
    with apart(frame) as read:
        source = read()
        found = NaiveBayes().fit(source, "b"), NetworkClassifier().fit(source, "b")
        model = cr.naive_bayes(source, "b")
    table = cr.read(frame)
    other = NaiveBayes().fit(table, "b"), NetworkClassifier().fit(table, "b")
    for a, b in zip(found, other, strict=True):
        assert np.allclose(a.predict_proba(rows), b.predict_proba(rows), atol=1e-6)
    expected = cr.naive_bayes(table, "b").predict_proba(rows)
    assert np.allclose(model.predict_proba(rows), expected, atol=1e-9)


@pytest.mark.parametrize("method", ["gaussian", "latent-class"])
def test_mixtures_of_parts_end_where_those_of_the_table_do(apart, monkeypatch, method):
    """Begun with some of the rows, and each step made of all of them where they are."""
    for room in ("clusters.clustering", "mixtures.spread"):
        monkeypatch.setattr(f"credo.train.{room}.SAMPLE", 500)
    frame = gappy(1200)
    frame["p"] += 4 * (frame["a"] == "z")
    known = {"k": 2, "tol": 1e-10, "rng": 3}
    with apart(frame) as read:
        found = cr.cluster(read(), method=method, **known)
        assert str(found.profiles)
    expected = cr.cluster(frame, method=method, **known)
    assert (found.labels == expected.labels).mean() > 0.995
    for what in ("log-likelihood", "bic", "icl"):
        assert found.quality[what] == pytest.approx(expected.quality[what], rel=1e-4)
    assert "500 rows drawn at random" in " ".join(found.notes)
    assert (np.diff(found.partition.trace) >= -1e-9).all()
    assert sum(found.sizes) == len(frame)


def test_rows_drawn_anew_hang_on_what_they_hold():
    """Rows in another order are drawn alike; equal rows apart; means and variances are Poisson's."""
    table = cr.read(gappy(4000)[["a", "b", "p"]])
    mixed = table.take(np.random.default_rng(1).permutation(len(table)))
    for names in (["a", "b"], ["a", "b", "p"]):
        one, two = (t.select(names).redrawn(7, 3) for t in (table, mixed))
        assert one.rows < 3000 and one.tally().close_to(two.tally())
    assert table.redrawn(8, 3).tally() != table.redrawn(7, 3).tally()
    same = cr.read({"x": ["a"] * 40_000}, schema={"x": ["a", "b"]})
    each = same.redrawn(5).weights
    drawn = np.concatenate([each, np.zeros(len(same) - len(each))])
    assert drawn.mean() == pytest.approx(1, abs=0.03) and drawn.var() == pytest.approx(1, abs=0.05)
    heavy = cr.read({"x": ["a", "b"] * 5000, "w": [3, 1] * 5000}, weights="w")
    counts = heavy.redrawn(2).tally(["x"])["x"]
    assert np.allclose(np.asarray(counts), [15_000, 5_000], rtol=0.05)
