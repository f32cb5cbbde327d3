"""Classifying by numbers as they are, and cutting them by a class.

Log loss and accuracy on new rows (5 folds, the same for all) of `NaiveBayes` and
`NetworkClassifier` as they come, beside scikit-learn's; how well naive Bayes on the intervals does.

Cut points are found from the training rows of each fold (5 folds, the same for all); naive Bayes
(CategoricalNB, one imagined row a cell) sees the intervals alone. KBinsDiscretizer cuts into five
bins of equal share; Khiops finds its own cuts by its own search of the MODL criterion.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Bench
from benchmarks.naive_bayes_quality import MAKERS, OTHERS, held_out, tables
from benchmarks.numbers_density import density, many_rows

MOST = 3_000  # rows of a table
FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "tables"
BAYES = ("credo", "credo, numbers='gaussian'", "GaussianNB", "CategoricalNB")


def run(bench: Bench) -> None:
    """A line a table with numbers."""
    density(bench, FOLDER)
    many_rows(bench)
    _classified(bench)
    _cut(bench)


def _classified(bench: Bench) -> None:
    """Log loss and accuracy of whole classifiers; the best of those that are naive Bayes."""
    makers = {who: MAKERS[who] for who in (*BAYES, "logistic regression")} | OTHERS
    lines, won = [], dict.fromkeys(BAYES, 0)
    for name, X, y in tables(FOLDER):
        if bench.quick and len(lines) >= 3:
            break
        X, y = X.iloc[:MOST], y[:MOST]
        found = {who: held_out(make, X, y) for who, make in makers.items()}
        best = min(found[who][1] for who in BAYES)
        for who in BAYES:
            won[who] += found[who][1] <= best + 0.005
        size = f"{len(y):,} × {X.shape[1]}"
        lines.append([name, size, *(f"{loss:.3f}  {a:.3f}" for a, loss in found.values())])
    told = ", ".join(f"{who} {n}" for who, n in won.items())
    bench.grid(
        "held-out log loss and accuracy, 5 folds",
        ["table", "rows × columns", *makers],
        lines,
        note=f"Best naive Bayes or within 0.005 of it, of {len(lines)} tables: {told}.",
    )


def _cut(bench: Bench) -> None:
    """Cutting alone."""
    ways = {"credo": _credo, "5 equal shares": _quantiles}
    if _installed():
        ways["Khiops"] = _khiops
    lines, better = [], dict.fromkeys(ways, 0)
    for name, X, y in tables(FOLDER):
        numbers = X.select_dtypes("number").dropna(axis=1, how="all").iloc[:MOST]
        if numbers.shape[1] < 2 or (bench.quick and len(lines) >= 3):
            continue
        classes = np.unique(y[:MOST], return_inverse=True)[1]
        found = {who: _held_out(way, numbers.to_numpy(float), classes) for who, way in ways.items()}
        best = min(loss for loss, _ in found.values())
        for who, (loss, _) in found.items():
            better[who] += loss <= best + 0.005
        size = f"{len(classes):,} × {numbers.shape[1]}"
        lines.append([name, size, *(f"{loss:.3f}  {s:.2f} s" for loss, s in found.values())])
    won = ", ".join(f"{who} {n}" for who, n in better.items())
    bench.grid(
        "held-out log loss of naive Bayes on intervals, and CPU seconds of cutting, 5 folds",
        ["table", "rows × columns", *ways],
        lines,
        note=f"Best or within 0.005 of it, of {len(lines)} tables: {won}.",
    )


def _held_out(way: Any, X: Any, y: Any) -> tuple[float, float]:
    from sklearn.metrics import log_loss
    from sklearn.model_selection import StratifiedKFold
    from sklearn.naive_bayes import CategoricalNB

    losses, seconds = [], 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
            began = sum(os.times()[:4])
            cuts = way(X[train], y[train])
            seconds += sum(os.times()[:4]) - began  # Khiops is a process of its own
            a, b = (_codes(X[rows], cuts) for rows in (train, test))
            most = [max(len(c) + 2, 2) for c in cuts]
            model = CategoricalNB(min_categories=most).fit(a, y[train])
            p = model.predict_proba(b)
            losses.append(log_loss(y[test], p, labels=model.classes_))
    return float(np.mean(losses)), seconds


def _codes(X: Any, cuts: list[Any]) -> Any:
    columns = [np.searchsorted(c, x) for x, c in zip(X.T, cuts, strict=True)]
    gaps = [np.isnan(x) * (len(c) + 1) for x, c in zip(X.T, cuts, strict=True)]
    return np.stack([np.where(g > 0, g, c) for c, g in zip(columns, gaps, strict=True)], axis=1)


def _credo(X: Any, y: Any) -> list[Any]:
    from credo.train.numbers.cutting import cut_points

    return [cut_points(x, y, int(y.max()) + 1) for x in X.T]


def _quantiles(X: Any, y: Any) -> list[Any]:
    shares = np.linspace(0, 1, 6)[1:-1]
    return [np.unique(np.nanquantile(x, shares)) for x in X.T]


def _installed() -> bool:
    from importlib.util import find_spec

    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return find_spec("khiops") is not None


def _khiops(X: Any, y: Any) -> list[Any]:
    """The cut points of Khiops' univariate analysis, one column after the other."""
    import pandas as pd
    from khiops.sklearn import KhiopsClassifier

    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    model = KhiopsClassifier(n_trees=0, n_pairs=0, n_features=0).fit(frame, y.astype(str))
    report = model.model_report_.preparation_report
    out = []
    for name in frame:
        grid = report.get_variable_statistics(name).data_grid
        parts = [] if grid is None else grid.dimensions[0].partition
        ends = [p.upper_bound for p in parts if not getattr(p, "is_missing", False)]
        out.append([e for e in ends[:-1] if e is not None])
    return out
