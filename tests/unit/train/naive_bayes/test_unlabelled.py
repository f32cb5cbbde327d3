"""Rows without a class: left out by default, shared out by EM when asked."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal

import credo as cr
from credo.errors import CredoError, CredoWarning, InputError
from credo.estimators import NaiveBayes

Floats = Any


def coins(n: int = 60, gaps: int = 45, seed: int = 0) -> tuple[np.ndarray, list[Any]]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = (rng.random((n, 3)) < np.where(y, 0.8, 0.25)[:, None]).astype(int)
    labels: list[Any] = ["ab"[v] for v in y]
    return x, labels[: n - gaps] + [None] * gaps


def brute_force(x: Floats, y: list[Any], l: float, turns: int = 4000) -> tuple[Floats, Floats]:  # noqa: E741
    """EM of two classes and 0/1 features in plain loops, from the labelled rows."""
    states = ["a", "b"]

    def maximise(p: Floats, smooth: float) -> tuple[Floats, Floats]:
        prior = p.sum(axis=0) / p.sum()
        theta = np.zeros((2, x.shape[1]))
        for c, j in product(range(2), range(x.shape[1])):
            n = p[:, c].sum()
            theta[c, j] = ((p[:, c] * x[:, j]).sum() + smooth) / (n + 2 * smooth)
        return prior, theta

    p = np.array([[float(v == s) for s in states] for v in y])
    free = np.array([v is None for v in y])
    prior, theta = maximise(p, max(l, 1.0))
    for _ in range(turns):
        joint = prior * np.prod(np.where(x[free][:, None], theta, 1 - theta), axis=2)
        p[free] = joint / joint.sum(axis=1, keepdims=True)
        prior, theta = maximise(p, l)
    return prior, theta


@pytest.mark.parametrize("l", [0.0, 0.5, 1.0])
def test_the_same_as_loops(l: float) -> None:  # noqa: E741
    x, y = coins()
    clf = NaiveBayes(l, unlabelled="em", tol=1e-12, budget=5000).fit(x, y)
    prior, theta = brute_force(x, y, l)
    np.testing.assert_allclose(np.exp(clf.model_.log_prior), prior, rtol=1e-8)
    found = np.array([np.exp(f.log_theta)[:, 1] for f in clf.model_.features]).T
    np.testing.assert_allclose(found, theta, rtol=1e-7)


def test_what_is_climbed_never_falls_and_is_what_it_says() -> None:
    x, y = coins()
    for smoothing in (0.0, 1.0):
        clf = NaiveBayes(smoothing, unlabelled="em").fit(x, y)
        record = clf.model_.record
        assert record is not None
        assert (np.diff(record.trace) >= -1e-9 * abs(record.trace[0])).all()
        value = 0.0
        for row, label in zip(x, y, strict=True):
            joint = clf.model_.log_joint(dict(zip(clf.model_.names, map(int, row), strict=True)))
            value += joint["ab".index(label)] if label else math.log(np.exp(joint).sum())
        if smoothing:
            value += sum(f.log_theta.sum() for f in clf.model_.features)
        assert record.score == pytest.approx(value, abs=1e-6)
        assert "changed" in record.reason or smoothing == 0  # 0 is reached in the limit


def test_the_same_as_em_of_networks_with_mixed_kinds_and_gaps() -> None:
    rng = np.random.default_rng(3)
    n = 200
    y = rng.integers(0, 2, n)
    a = np.where(rng.random(n) < np.where(y, 0.7, 0.2), "u", "v").astype(object)
    b = rng.normal(size=n) + 1.5 * y
    a[rng.random(n) < 0.1] = None
    b[rng.random(n) < 0.1] = np.nan
    label = np.array([["no", "yes"][v] for v in y], dtype=object)
    label[rng.random(n) < 0.6] = None
    table = {"y": label, "a": a, "b": b}
    clf = NaiveBayes(0, unlabelled="em", tol=1e-11, budget=5000).fit(cr.read(table), "y")
    net = cr.em("[y][a|y][b|y]", cr.read(table), start=clf.model_.network(), tol=1e-12)
    p = np.exp(clf.model_.log_prior)
    np.testing.assert_allclose([net.p("y")["no"], net.p("y")["yes"]], p, rtol=1e-6)
    mine = clf.model_.network()
    for s in ("no", "yes"):
        assert net.cpt("a").row({"y": s})["u"] == pytest.approx(
            mine.cpt("a").row({"y": s})["u"], rel=1e-5
        )
    rows = {"a": ["u", None, "v"], "b": [0.3, 1.0, None]}
    np.testing.assert_allclose(
        net.predict_proba(cr.read(rows), "y"), mine.predict_proba(cr.read(rows), "y"), atol=1e-5
    )


def test_gaussian_by_hand() -> None:
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.normal(0, 1, 40), rng.normal(3, 0.5, 40)])
    y: list[Any] = [0] * 5 + [None] * 35 + [1] * 5 + [None] * 35
    clf = NaiveBayes(unlabelled="em", variance="ml", tol=1e-12, budget=5000)
    clf.fit(x[:, None], y)
    p = np.array([[v == 0, v == 1] if v is not None else [0.5, 0.5] for v in y], dtype=float)
    mean, var, prior = (np.array(v, dtype=float) for v in ([0, 3], [1, 1], [0.5, 0.5]))
    free = np.array([v is None for v in y])
    for _ in range(3000):
        density = prior * np.exp(-((x[:, None] - mean) ** 2) / (2 * var)) / np.sqrt(var)
        p[free] = (density / density.sum(axis=1, keepdims=True))[free]
        n = p.sum(axis=0)
        mean, prior = p.T @ x / n, n / n.sum()
        var = np.array([(p[:, c] * (x - mean[c]) ** 2).sum() / n[c] for c in range(2)])
    (f,) = clf.model_.features
    np.testing.assert_allclose(f.mean, mean, rtol=1e-7)
    np.testing.assert_allclose(f.variance, var, rtol=1e-6)
    assert clf.classes_.tolist() == [0, 1]


def test_nan_labels_of_numbers_and_partial_fit() -> None:
    x, y = coins()
    numbers = np.array([math.nan if v is None else "ab".index(v) for v in y])
    with pytest.warns(CredoWarning, match="left out"):
        clf = NaiveBayes().fit(x, numbers)
    assert clf.classes_.tolist() == [0, 1]
    parts = NaiveBayes().partial_fit(x[:30], numbers[:30], classes=[0, 1])
    parts.partial_fit(x[30:40], np.zeros(10))
    assert parts.model_.statistic.unlabelled == 15


def test_every_row_labelled_is_the_plain_fit() -> None:
    x, y = coins(gaps=0)
    a, b = NaiveBayes(unlabelled="em").fit(x, y), NaiveBayes().fit(x, y)
    np.testing.assert_array_equal(a.predict_proba(x), b.predict_proba(x))
    a.merge(b)


def test_weights_are_rows() -> None:
    x, y = coins()
    w = np.random.default_rng(2).integers(1, 4, len(y))
    weighted = NaiveBayes(unlabelled="em", tol=1e-12).fit(x, y, sample_weight=w)
    again = np.repeat(np.arange(len(y)), w)
    repeated = NaiveBayes(unlabelled="em", tol=1e-12).fit(x[again], [y[i] for i in again])
    np.testing.assert_allclose(weighted.predict_proba(x), repeated.predict_proba(x), rtol=1e-7)


def test_a_stream_is_climbed_batch_by_batch(tmp_path: Path) -> None:
    x, y = coins()
    path = tmp_path / "t.csv"
    lines = [",".join(map(str, r)) + f",{v or ''}" for r, v in zip(x, y, strict=True)]
    path.write_text("p,q,r,y\n" + "\n".join(lines) + "\n")
    loaded = NaiveBayes(unlabelled="em").fit(cr.read(path), "y")
    streamed = NaiveBayes(unlabelled="em").fit(cr.read(path, memory="100 B"), "y")
    np.testing.assert_allclose(loaded.model_.log_prior, streamed.model_.log_prior, rtol=1e-12)


def test_states_that_only_rows_without_a_class_have() -> None:
    x = [["u"], ["v"], ["w"], ["w"], ["v"]]
    clf = NaiveBayes(0, unlabelled="em").fit(x, ["a", "b", None, None, "b"])
    assert clf.model_.feature("x0").variable.states == ("u", "v", "w")
    assert np.isfinite(clf.predict_proba([["w"]])).all()


@pytest.mark.slow
def test_they_help_where_the_features_are_independent_in_each_class() -> None:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 6000)
    x = (rng.random((6000, 12)) < np.where(y, 0.6, 0.4)[:, None]).astype(int)
    labels: list[Any] = [int(v) if i < 20 else None for i, v in enumerate(y)]
    few = NaiveBayes().fit(x[:20], y[:20])
    many = NaiveBayes(unlabelled="em").fit(x[:3000], labels[:3000])
    all_of_them = NaiveBayes().fit(x[:3000], y[:3000])
    right = [c.score(x[3000:], y[3000:]) for c in (few, many, all_of_them)]
    assert right[1] > right[0] + 0.02
    assert right[1] > right[2] - 0.02


@pytest.mark.parametrize(
    ("options", "y", "says"),
    [
        ({"unlabelled": "drop"}, ["a", None, "b", "b"], "'skip' or 'em'"),
        ({"unlabelled": "em", "tol": 0}, ["a", None, "b", "b"], "tol"),
        ({"unlabelled": "em", "budget": 0}, ["a", None, "b", "b"], "budget"),
        ({"unlabelled": "em"}, [None] * 4, "Every label"),
        ({}, [None] * 4, "Every label"),
        ({"unlabelled": "em", "kinds": "kernel"}, ["a", None, "b", "b"], "kernel"),
    ],
)
def test_bad_input(options: Any, y: list[Any], says: str) -> None:
    with pytest.raises(CredoError, match=says):
        NaiveBayes(**options).fit(np.array([[1.0], [2.0], [0.5], [3.0]]), y)


def test_what_em_shared_out_is_not_added_to() -> None:
    x, y = coins()
    clf = NaiveBayes(unlabelled="em").fit(x, y)
    with pytest.raises(InputError, match="Fit all rows together"):
        clf.merge(clf)
    with pytest.raises(InputError, match="partial_fit sees only some"):
        clf.partial_fit(x, y)


def gappy(rng, n=160, d=3):
    y = rng.integers(0, 2, n)
    mix = np.eye(d) + 0.3 * rng.normal(size=(2, d, d))
    x = np.einsum("nij,nj->ni", mix[y], rng.normal(size=(n, d))) + 1.5 * y[:, None]
    x[rng.random((n, d)) < 0.25] = np.nan
    labels = np.where(rng.random(n) < 0.4, y, np.nan)
    labels[:2] = [0, 1]
    return x, labels


def observed(prior, means, covariances, x, labels):
    """ln P of all rows, gaps and unknown classes summed out: by SciPy, a pattern of gaps at a time."""
    total, there = 0.0, ~np.isnan(x)
    for o in np.unique(there, axis=0):
        rows = (there == o).all(axis=1)
        each = np.tile(np.log(prior), (rows.sum(), 1))
        if o.any():
            each += np.column_stack([
                multivariate_normal(m[o], s[np.ix_(o, o)]).logpdf(x[np.ix_(rows, o)])
                for m, s in zip(means, covariances, strict=True)
            ])  # fmt: skip
        label = labels[rows]
        free = np.isnan(label)
        total += np.logaddexp.reduce(each[free], axis=1).sum()
        total += each[~free, label[~free].astype(int)].sum()
    return total


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("how", ["full", "groups", "stream"])
def test_gaps_among_columns_that_vary_together_are_climbed_exactly(seed, how, tmp_path):
    x, labels = gappy(np.random.default_rng(seed))
    covariance = [["x0", "x2"]] if how == "groups" else "full"
    clf = NaiveBayes(unlabelled="em", covariance=covariance, variance="ml", tol=1e-10)
    if how == "stream":
        path = tmp_path / "rows.csv"
        frame = pd.DataFrame(x, columns=["x0", "x1", "x2"])
        frame.assign(y=pd.Series(labels).map({0: "a", 1: "b"})).to_csv(path, index=False)
        clf.fit(cr.read(str(path), memory=1), "y")
    else:
        clf.fit(x, labels)
    model = clf.model_
    trace = np.array(model.record.trace)
    assert len(trace) > 3 and (np.diff(trace) >= -1e-12 * abs(trace[-1])).all()
    if how == "groups":
        return
    f, prior = model.features[0], np.exp(model.log_prior)
    best = observed(prior, f.mean, f.covariance, x, labels)
    assert trace[-1] == pytest.approx(best, rel=1e-9)
    step = 1e-5
    for c, i in np.ndindex(f.mean.shape):  # at the top no direction leads upwards
        for j in (None, *range(i + 1)):
            sides = []
            for sign in (-1, 1):
                mean, covariance = f.mean.copy(), f.covariance.copy()
                if j is None:
                    mean[c, i] += sign * step
                else:
                    covariance[c, i, j] += sign * step
                    covariance[c, j, i] = covariance[c, i, j]
                sides.append(observed(prior, mean, covariance, x, labels))
            assert abs(sides[1] - sides[0]) / (2 * step) < 1e-2


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_a_column_that_only_rows_without_a_class_show(covariance: str, far: float) -> None:
    """The climb starts from the cells that are there, so it neither falls nor ends far away."""
    rng = np.random.default_rng(1)
    c = np.arange(60) % 3
    x = far + rng.normal(2.0 * c[:, None], 1.0, size=(60, 3))
    x[:6, 2] = np.nan
    y = np.where(np.arange(60) < 6, np.array(["a", "b", "c"])[c], None)
    fitted = NaiveBayes(covariance=covariance, unlabelled="em").fit(x, y)
    model = fitted.model_
    trace = np.array(model.record.trace)
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[1:])).all()
    if covariance == "full":
        means = model.features[0].mean[:, 2]
        assert np.linalg.eigvalsh(model.features[0].covariance).max() < 5
    else:
        means = model.features[2].mean
    assert np.abs(means - far - [0, 2, 4]).max() < 1.5
    assert (fitted.predict(x) == np.array(["a", "b", "c"])[c]).mean() > 0.8


def test_rows_without_a_class_say_what_a_column_is_too() -> None:
    """Of the few rows with a class a column had few numbers, and the others were refused."""
    rng = np.random.default_rng(0)
    gain = np.where(rng.random(400) < 0.2, rng.integers(1, 90_000, 400), 0)
    gain[:40] = 5 * (np.arange(40) % 8)
    other = rng.integers(0, 2, 400)
    y = [int(v) if i < 40 else None for i, v in enumerate(other)]
    x = np.stack([gain, other], axis=1)
    for numbers, kind in (("gaussian", "gaussian"), ("auto", "binned")):
        clf = NaiveBayes(unlabelled="em", budget=5, numbers=numbers).fit(x, y)
        assert clf.kinds_ == {"x0": kind, "x1": "categorical"}
