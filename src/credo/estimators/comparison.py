"""Generative or discriminative? Several learners on one table, by cross-validation, side by side.

Naive Bayes reaches its best with few rows, logistic regression a better one with many (Ng & Jordan
2002); `learning_curves` shows where they cross on your table. For a continuous target the pair is
linear regression and the naive linear Gaussian

    y ~ N(m, s²),   x_j | y ~ N(a_j + b_j·y, s_j²)     ⇒     y | x Gaussian, its mean linear in x
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.checking.sections.reliability import report_of
from credo.core.errors import CredoWarning, InputError, unknown_name
from credo.core.frozen import Frozen
from credo.core.progress import track
from credo.core.render import table_html, table_text
from credo.data import Stream, Table, read
from credo.estimators.folds import folds_of
from credo.estimators.naive_bayes import NaiveBayes
from credo.estimators.network import NetworkClassifier

Floats = NDArray[np.float64]
Learner = Callable[[Table, Table, str], Any]


@dataclass(frozen=True, slots=True)
class Comparison(Frozen):
    """One row for each method; `head` names the columns after the method's name."""

    target: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    figures: dict[str, dict[str, float]]

    def __getitem__(self, method: str) -> dict[str, float]:
        """The figures of one method, by name."""
        if method not in self.figures:
            raise unknown_name("The method", method, self.figures, "in the comparison")
        return self.figures[method]

    def __str__(self) -> str:
        return table_text(self.head, self.rows, right=range(1, len(self.head)))

    def _repr_html_(self) -> str:
        right = range(1, len(self.head))
        return table_html(self.head, self.rows, right=right, caption=self.target)


def _naive(train: Table, test: Table, target: str) -> Floats:
    found: Floats = NaiveBayes().fit(train, target).predict_proba(test)
    return found


def _network(method: str) -> Learner:
    def run(train: Table, test: Table, target: str) -> Floats:
        found: Floats = NetworkClassifier(method).fit(train, target).predict_proba(test)
        return found

    return run


def _logistic(train: Table, test: Table, target: str) -> Floats:
    from sklearn.linear_model import LogisticRegression

    design = Design(train, target)
    y = train.codes(target)
    model = LogisticRegression(max_iter=1000)
    out = np.zeros((len(test), train.schema[target].arity))
    if len(np.unique(y)) == 1:
        out[:, int(y[0])] = 1.0
        return out
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(design.matrix(train), y, sample_weight=train.weights)
    out[:, model.classes_.astype(int)] = model.predict_proba(design.matrix(test))
    return out


CLASSIFIERS: dict[str, Learner] = {
    "naive Bayes": _naive,
    "TAN": _network("tan"),
    "AODE": _network("aode"),
    "logistic regression": _logistic,
}
_USUAL = ("naive Bayes", "TAN", "logistic regression")


def rows_with_class(table: Any, target: str) -> Table:
    """A table in memory without the rows in which the target is missing."""
    found = read(table)
    if isinstance(found, Stream):
        found = found.load()
    if target not in found.schema:
        found.schema[target]  # says what is there instead
    if len(found.schema) < 2:
        raise InputError("There is no feature beside the target.")
    array = found.block.arrays[found.schema.index(target)]
    variable = found.schema[target]
    there = array != variable.arity if variable.is_discrete else ~np.isnan(array)
    return found if there.all() else found.take(there)


def _chosen(methods: Sequence[str] | None, usual: tuple[str, ...]) -> tuple[str, ...]:
    """The methods to compare; a name that is not known is refused."""
    chosen = usual if methods is None else methods
    if isinstance(chosen, str) or not len(chosen):
        raise InputError(
            f"methods must be a list with one method or more, got {methods!r}.",
            hint=f"There are {', '.join(map(repr, CLASSIFIERS))}.",
        )
    for method in chosen:
        if method not in CLASSIFIERS:
            raise unknown_name("The method", method, CLASSIFIERS, "one that can be compared")
    return tuple(chosen)


def compare(
    table: Any,
    target: str,
    *,
    methods: Sequence[str] | None = None,
    cv: int | None = None,
    rng: int = 0,
) -> Comparison:
    """Naive Bayes, TAN and logistic regression on one table; AODE by name.

    For a continuous target: the naive linear Gaussian against linear regression. There are 5 folds
    (fewer on a small table, with a warning) unless `cv` says how many. The weights of a table
    count in learning and in judging.

    >>> import credo as cr
    >>> from credo.estimators import compare
    >>> result = compare(cr.examples.restaurant(), "Wait", methods=["naive Bayes"], cv=3)
    >>> sorted(result["naive Bayes"])
    ['Brier', 'accuracy', 'calibration error', 'log loss', 'seconds']
    """
    found = rows_with_class(table, target)
    discrete = found.schema[target].is_discrete
    folds, note = folds_of(found.codes(target) if discrete else None, len(found), cv, rng)
    if note:
        warnings.warn(f"Compared by {note}.", CredoWarning, stacklevel=2)
    if not found.schema[target].is_discrete:
        if methods is not None:
            raise InputError("methods= is for a discrete target.")
        return _compare_numbers(found, target, folds)
    chosen = _chosen(methods, _USUAL)
    codes = found.codes(target)
    figures: dict[str, dict[str, float]] = {}
    for method in track(chosen, "comparing", total=len(chosen)):
        p = np.empty((len(found), found.schema[target].arity))
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CredoWarning)  # said once by fit on the whole table
            for train, test in folds:
                p[test] = CLASSIFIERS[method](found.take(train), found.take(test), target)
        seconds = time.perf_counter() - start
        report = report_of(p, codes, weights=found.weights)
        figures[method] = {
            "log loss": report.log_loss,
            "accuracy": report.accuracy,
            "Brier": report.brier,
            "calibration error": report.error,
            "seconds": seconds,
        }
    return _comparison(target, figures)


def _comparison(target: str, figures: dict[str, dict[str, float]]) -> Comparison:
    names = tuple(next(iter(figures.values())))
    rows = tuple(
        (method, *(f"{v:.4f}" if n != "seconds" else f"{v:.3f}" for n, v in f.items()))
        for method, f in figures.items()
    )
    return Comparison(target, ("method", *names), rows, figures)


def _compare_numbers(table: Table, target: str, folds: list[tuple[Any, Any]]) -> Comparison:
    from sklearn.linear_model import LinearRegression

    y = table.values(target)
    given = np.ones(len(y)) if table.weights is None else table.weights.astype(np.float64)
    figures = {}
    for method in ("naive linear Gaussian", "linear regression"):
        mean, variance = np.empty(len(y)), np.empty(len(y))
        start = time.perf_counter()
        for train, test in folds:
            design = Design(table.take(train), target)
            x, new = design.matrix(table.take(train)), design.matrix(table.take(test))
            w = given[train]
            if method == "linear regression":
                model = LinearRegression().fit(x, y[train], sample_weight=w)
                mean[test] = model.predict(new)
                spare = max(w.sum() - x.shape[1] - 1, 1)
                variance[test] = (w * (y[train] - model.predict(x)) ** 2).sum() / spare
            else:
                twin = LinearGaussianTwin().fit(x, y[train], w)
                mean[test], variance[test] = twin.predict(new)
        variance = np.maximum(variance, 1e-300)
        density = -0.5 * (np.log(2 * math.pi * variance) + (y - mean) ** 2 / variance)
        error = float(np.average((y - mean) ** 2, weights=given))
        spread = float(np.average((y - np.average(y, weights=given)) ** 2, weights=given))
        figures[method] = {
            "log loss": float(-np.average(density, weights=given)),
            "RMSE": math.sqrt(error),
            "R²": 1 - error / max(spread, 1e-300),
            "seconds": time.perf_counter() - start,
        }
    return _comparison(target, figures)


@dataclass(frozen=True, slots=True)
class LearningCurves(Frozen):
    """Log loss and accuracy on rows held out, by the number of rows learned from."""

    sizes: tuple[int, ...]
    log_loss: dict[str, tuple[float, ...]]
    accuracy: dict[str, tuple[float, ...]]

    def __str__(self) -> str:
        head = ["rows", *(f"log loss, {m}" for m in self.log_loss)]
        rows = [
            [f"{n:,}", *(f"{self.log_loss[m][i]:.4f}" for m in self.log_loss)]
            for i, n in enumerate(self.sizes)
        ]
        return table_text(head, rows, right=range(len(head)))

    def _repr_html_(self) -> str:
        head = ["rows", *self.log_loss]
        rows = [
            [f"{n:,}", *(f"{self.log_loss[m][i]:.4f}" for m in self.log_loss)]
            for i, n in enumerate(self.sizes)
        ]
        return table_html(head, rows, right=range(len(head)), caption="log loss")

    def plot(self, ax: Any = None) -> Any:
        """The curves; see `credo.plot.learning_curves`."""
        from credo.plot.classify import learning_curves as draw

        return draw(self, ax)


def learning_curves(
    table: Any,
    target: str,
    *,
    methods: Sequence[str] | None = None,
    sizes: Sequence[int] | None = None,
    repeats: int = 5,
    rng: int = 0,
) -> LearningCurves:
    """Generative against discriminative as the training set grows, on a third that is held out.

    >>> import credo as cr
    >>> from credo.estimators import learning_curves
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> table = {"y": y, "x": (rng.random(300) < 0.3 + 0.4 * y).astype(int)}
    >>> learning_curves(table, "y", sizes=[10, 100], repeats=2).sizes
    (10, 100)
    """
    found = rows_with_class(table, target)
    if not found.schema[target].is_discrete:
        raise InputError(f"The class {target!r} is continuous.", hint="Use compare().")
    chosen = _chosen(methods, ("naive Bayes", "logistic regression"))
    if not isinstance(repeats, (int, np.integer)) or isinstance(repeats, bool) or repeats < 1:
        raise InputError(f"repeats must be a whole number above 0, got {repeats!r}.")
    n = len(found)
    room = n - max(n // 3, 1)
    if sizes is None:
        sizes = sorted({int(s) for s in np.geomspace(min(10, room), room, 8)})
    wanted = tuple(int(s) for s in sizes)
    if not wanted or min(wanted) < 2 or max(wanted) > room:
        raise InputError(f"sizes must be from 2 to {room:,}, two thirds of the rows.")
    codes = found.codes(target)
    loss: dict[str, Floats] = {m: np.zeros((repeats, len(wanted))) for m in chosen}
    right: dict[str, Floats] = {m: np.zeros((repeats, len(wanted))) for m in chosen}
    for r in track(range(repeats), "learning curves", total=repeats):
        order = np.random.default_rng([rng, r]).permutation(n)
        test = order[room:]
        held = found.take(test)
        for i, size in enumerate(wanted):
            part = found.take(order[:size])
            for method in chosen:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", CredoWarning)
                    p = CLASSIFIERS[method](part, held, target)
                report = report_of(p, codes[test], weights=held.weights)
                loss[method][r, i], right[method][r, i] = report.log_loss, report.accuracy

    def means(found: dict[str, Floats]) -> dict[str, tuple[float, ...]]:
        return {m: tuple(v.mean(axis=0).tolist()) for m, v in found.items()}

    return LearningCurves(wanted, means(loss), means(right))


# --- the discriminative twins ---------------------------------------------------------------


class Design:
    """A table as a matrix: a column for each state, standardised numbers, and where they lack."""

    def __init__(self, table: Table, target: str) -> None:
        self.names = [n for n in table.schema.names if n != target]
        self.centre: dict[str, tuple[float, float]] = {}
        self.gaps = {}
        weights = np.ones(len(table)) if table.weights is None else table.weights
        for name in self.names:
            if not table.schema[name].is_discrete:
                values = table.values(name)
                there = ~np.isnan(values)
                seen, w = values[there], weights[there]
                mean = float(np.average(seen, weights=w)) if len(seen) else 0.0
                sd = math.sqrt(np.average((seen - mean) ** 2, weights=w)) if len(seen) else 1.0
                self.centre[name] = (mean, sd or 1.0)
                self.gaps[name] = len(seen) < len(values)

    def matrix(self, table: Table) -> Floats:
        """The rows of a table as numbers; missing states are all 0, missing numbers the mean."""
        parts = []
        for name in self.names:
            variable = table.schema[name]
            if variable.is_discrete:
                one = np.eye(variable.arity + 1)[:, : variable.arity]
                parts.append(one[table.codes(name)])
                continue
            mean, sd = self.centre[name]
            z = (table.values(name) - mean) / sd
            gone = np.isnan(z)
            parts.append(np.where(gone, 0.0, z)[:, None])
            if self.gaps[name]:
                parts.append(gone[:, None].astype(np.float64))
        return np.concatenate(parts, axis=1) if parts else np.zeros((len(table), 0))


class LinearGaussianTwin:
    """y ~ N(m, s²) and each column a line in y: naive Bayes for a continuous target."""

    def fit(self, x: Floats, y: Floats, weights: Floats) -> LinearGaussianTwin:
        """The lines by maximum likelihood; columns that do not vary are left out."""
        share = weights / weights.sum()
        self.mean = float(share @ y)
        centred = y - self.mean
        self.variance = max(float(share @ centred**2), 1e-300)
        level = share @ x
        self.slope = ((share * centred) @ (x - level)) / self.variance
        self.level = level - self.slope * self.mean
        noise = share @ (x - self.level - np.outer(y, self.slope)) ** 2
        self.used = noise > 1e-12
        self.noise = np.where(self.used, noise, 1.0)
        return self

    def predict(self, x: Floats) -> tuple[Floats, float]:
        """The mean of y for each row, and its variance: precisions add up."""
        gain = np.where(self.used, self.slope / self.noise, 0.0)
        precision = 1 / self.variance + float((gain * self.slope).sum())
        total: Any = self.mean / self.variance + (x - self.level) @ gain
        return total / precision, 1 / precision
