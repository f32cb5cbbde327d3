"""Naive Bayes on few rows, where fixed costs decide: CPU ratios beside scikit-learn's classes.

One row to some thousands, from arrays, pandas frames and sparse matrices; fit, partial_fit, predict
and predict_log_proba. A ratio below 1 would be a table on which credo is the slower one.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.harness import Bench

WHATS = ("fit", "partial_fit", "predict", "predict_log_proba")
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
    lines += _documents(sizes)
    bench.grid(
        "few rows: how many times scikit-learn's CPU time is credo's",
        ["", *WHATS],
        lines,
        note="20 features, or documents of 40 words out of 2,000 (sparse); 5 classes.",
    )


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


def _ratios(ours: Callable[[], Any], peer: Callable[[], Any], x: Any, y: Any) -> list[str]:
    out = []
    for what in WHATS:
        runs = [_run(make, what, x, y) for make in (ours, peer)]
        own, other = _best(runs)
        out.append(f"{other / own:.1f}×")
    return out


def _run(make: Callable[[], Any], what: str, x: Any, y: Any) -> Callable[[], Any]:
    if what == "fit":
        return lambda: make().fit(x, y)
    if what == "partial_fit":
        clf = make().partial_fit(x, y, classes=CLASSES)
        return lambda: clf.partial_fit(x, y)
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
