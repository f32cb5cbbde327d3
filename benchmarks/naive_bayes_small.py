"""Naive Bayes on few rows, where fixed costs decide: CPU ratios beside scikit-learn's classes.

One row to some thousands, from arrays, pandas frames, sparse and dense matrices and texts; few and
many columns, few and many classes; fit, partial_fit, partial_fit and one prediction, predict,
predict_proba and predict_log_proba. A ratio below 1 is a table on which credo is the slower one.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.harness import Bench

WHATS = (
    "fit",
    "partial_fit",
    "and predict one",
    "predict",
    "predict_proba",
    "predict_log_proba",
)
FORMS = ("multinomial", "complement", "bernoulli")
CLASSES = np.arange(5)
_TURN = 0.003  # seconds a turn takes at least, and
_TURNS = 12


def small(
    bench: Bench,
    table: Callable[[str, int], tuple[Any, Any]],
    ours: Callable[[str], Any],
    peers: Callable[[str], Sequence[tuple[str, Any]]],
) -> None:
    """One line for each kind of table and number of rows."""
    import pandas as pd

    sizes = (1, 10, 100, 1_000) if bench.quick else (1, 10, 100, 1_000, 10_000)
    lines = []
    for kind in ("categorical", "bernoulli", "gaussian", "counts"):
        (_, peer), *_ = peers(kind)
        for rows in sizes:
            x, y = table(kind, rows)
            names = [f"x{j}" for j in range(x.shape[1])]
            for where, given in (("array", x), ("pandas", pd.DataFrame(x, columns=names))):
                title = f"{kind}, {rows:,} rows, {where}"
                lines.append([title, *_ratios(lambda k=kind: ours(k), peer, given, y)])
    lines += _documents(sizes) + _dense(sizes)
    bench.grid(
        "few rows: how many times scikit-learn's CPU time is credo's",
        ["", *WHATS],
        lines,
        note="20 features, or documents of 40 words out of 2,000 (sparse); 5 classes.",
    )
    bench.grid("wide tables, many classes: the same", ["", *WHATS], _shapes(ours, peers))
    texts = _texts(sizes[:-1])
    if texts:
        bench.grid(
            "few texts: CountVectorizer + MultinomialNB",
            ["", "fit", *WHATS[3:]],
            texts,
        )


SHAPES = (
    (1, 2_000, 2),
    (100, 2_000, 2),
    (10, 10_000, 5),
    (40, 10_000, 20),
    (100, 10_000, 50),
    (10_000, 200, 2),
    (300, 20, 100),
    (10_000, 20, 100),
)


def _shapes(
    ours: Callable[[str], Any], peers: Callable[[str], Sequence[tuple[str, Any]]]
) -> list[list[str]]:
    rng = np.random.default_rng(1)
    lines = []
    for kind in ("categorical", "bernoulli", "gaussian", "counts"):
        (_, peer), *_ = peers(kind)
        for rows, width, classes in SHAPES:
            y = rng.integers(0, classes, rows)
            y[: min(rows, classes)] = np.arange(min(rows, classes))
            if kind == "gaussian":
                x = rng.normal(size=(rows, width)) + 0.3 * y[:, None]
            elif kind == "counts":
                x = rng.poisson(1 + 0.3 * (y[:, None] % 5), (rows, width))
            else:
                x = rng.integers(0, 2 if kind == "bernoulli" else 8, (rows, width))
                x[0] = x.max()
            title = f"{kind}, {rows:,} × {width:,}, {classes} classes"
            known = np.arange(classes)
            lines.append([title, *_ratios(lambda k=kind: ours(k), peer, x, y, known)])
    return lines


def _dense(sizes: Sequence[int]) -> list[list[str]]:
    """Documents that are rows of an array: the peers take both."""
    from sklearn import naive_bayes as sk

    from credo.estimators import TextNaiveBayes

    rng = np.random.default_rng(0)
    peers = (sk.MultinomialNB, sk.ComplementNB, sk.BernoulliNB)
    lines = []
    for form, peer in zip(FORMS, peers, strict=True):
        for rows in sizes:
            x, y = rng.poisson(0.7, (rows, 20)).astype(np.float64), rng.integers(0, 5, rows)
            ratios = _ratios(lambda f=form: TextNaiveBayes(f), peer, x, y)
            lines.append([f"dense documents, {form}, {rows:,}", *ratios])
    return lines


def _texts(sizes: Sequence[int]) -> list[list[str]]:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    from credo.estimators import TextNaiveBayes

    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(2_000)])
    lines = []
    for rows in sizes:
        docs = [" ".join(words[rng.integers(0, 2_000, 40)]) for _ in range(rows)]
        y = rng.integers(0, 5, rows)
        own, peer = (
            lambda: TextNaiveBayes(shortest=2),
            lambda: make_pipeline(CountVectorizer(), MultinomialNB()),
        )
        found = []
        for what in ("fit", *WHATS[3:]):
            mine, other = _best([_run(make, what, docs, y) for make in (own, peer)])
            found.append(f"{other / mine:.1f}×")
        lines.append([f"{rows:,} texts of 40 words", *found])
    return lines


def _documents(sizes: Sequence[int]) -> list[list[str]]:
    import scipy.sparse as sp
    from sklearn import naive_bayes as sk

    from credo.estimators import TextNaiveBayes

    peers = (sk.MultinomialNB, sk.ComplementNB, sk.BernoulliNB)
    lines = []
    for form, peer in zip(FORMS, peers, strict=True):
        for rows in sizes:
            x = sp.random(rows, 2_000, density=0.02, format="csr", random_state=0)
            x.data = np.ceil(3 * x.data)
            y = np.random.default_rng(0).integers(0, 5, rows)
            ratios = _ratios(lambda f=form: TextNaiveBayes(f), peer, x, y)
            lines.append([f"documents, {form}, {rows:,}", *ratios])
    return lines


def _ratios(
    ours: Callable[[], Any], peer: Callable[[], Any], x: Any, y: Any, classes: Any = CLASSES
) -> list[str]:
    out = []
    for what in WHATS:
        runs = [_run(make, what, x, y, classes) for make in (ours, peer)]
        own, other = _best(runs)
        out.append(f"{other / own:.1f}×")
    return out


def _run(
    make: Callable[[], Any], what: str, x: Any, y: Any, classes: Any = CLASSES
) -> Callable[[], Any]:
    if what == "fit":
        return lambda: make().fit(x, y)
    if what == "partial_fit":
        clf = make().partial_fit(x, y, classes=classes)
        return lambda: clf.partial_fit(x, y)
    if what == "and predict one":
        clf, first = make().partial_fit(x, y, classes=classes), x[:1]
        return lambda: clf.partial_fit(x, y).predict(first)
    clf = make().fit(x, y)
    return lambda: getattr(clf, what)(x)


def _best(runs: Sequence[Callable[[], Any]]) -> list[float]:
    """The least CPU time of a call of each, in turns of several calls."""
    calls = []
    for run in runs:
        run()
        start = time.process_time()
        run()
        calls.append(max(1, int(_TURN / max(time.process_time() - start, 1e-6))))
    best = [np.inf] * len(runs)
    gc.disable()
    try:
        for _ in range(_TURNS):
            for i, run in enumerate(runs):
                start = time.process_time()
                for _ in range(calls[i]):
                    run()
                best[i] = min(best[i], (time.process_time() - start) / calls[i])
    finally:
        gc.enable()
    return best
