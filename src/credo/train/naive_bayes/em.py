"""Rows without a class: naive Bayes by EM from some rows that have one and many that have none.

    E: p[r, c] = P(c | x_r, θ)       for each row r without a class; 1 or 0 for the others
    M: θ from the statistics by class, in which such a row counts p[r, c] for each class c

Each turn raises ln P(rows | θ), in which the classes that are not known and the cells that are
missing are summed out; with smoothing l it raises that plus l·Σ ln θ, the Dirichlet prior whose
mode (n + l) / (N + l·J) is (Dempster, Laird & Rubin 1977; Nigam, McCallum, Thrun & Mitchell 2000).
A variance that is not maximum likelihood (`variance="sample"`, a floor, a ridge) climbs nearly, not
exactly; the prior of `variance="shrunk"` comes last, when the shares no longer change.

A missing cell among columns that vary together counts as it is expected, in every class

    E[x_m | x_o, c] = μ_m + Σ_mo Σ_oo⁻¹ (x_o − μ_o),   Cov(x_m | x_o) = Σ_mm − Σ_mo Σ_oo⁻¹ Σ_om

since leaving such rows out would not climb (Little & Rubin 2019, 11.2). The start is the model of
the rows that have a class, smoothed by at least 1 so that nothing is ruled out before it was looked
at. Numbers start from the cells that are there, each column by itself: its mean in each class, over
all rows where a class shows none, and its variance within the classes, to which that of all its
cells counts as one more row. So what only rows without a class show starts wide.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.schema import Variable
from credo.data import Column, Columns
from credo.model.naive_bayes.features import Bag, Normals, States
from credo.model.naive_bayes.model import NaiveBayesModel
from credo.model.values.value import whole
from credo.predict.rows.naive import predict_columns
from credo.stats.by_class import ByClass, ClassMoments, JointMoments
from credo.train.em.run import EMProblem, run_em
from credo.train.naive_bayes.cells import joint_values
from credo.train.naive_bayes.count import by_class, class_moments
from credo.train.naive_bayes.fit import Options, train
from credo.train.naive_bayes.plan import Plan

Floats = NDArray[np.float64]
Rows = Callable[[], Iterable[tuple[Columns, NDArray[np.uint32], NDArray[Any] | None]]]
"""Columns, the class of each row (the number of classes where it has none) and weights, in parts;
they are asked for once a turn."""


def check_unlabelled(given: Any) -> str:
    """What to do with rows without a class; anything but the two words is refused.

    >>> check_unlabelled("em")
    'em'
    """
    if given not in ("skip", "em"):
        raise InputError(f"unlabelled must be 'skip' or 'em', got {given!r}.")
    return str(given)


def em_model(
    rows: Rows,
    target: Variable,
    plan: Plan,
    options: Options,
    *,
    tol: float = 1e-8,
    budget: int = 1000,
    threads: int = 1,
    source: str = "",
) -> NaiveBayesModel:
    """The model of all rows, climbed to from that of the rows with a class; `plan` is settled.

    The record has the trace: what is climbed, at the start and after each turn.
    """
    began = time.perf_counter()
    if not isinstance(tol, (int, float)) or not 0 < tol < 1:
        raise InputError(f"tol must be between 0 and 1, got {tol!r}.")
    budget = whole(budget, 1, "budget")
    problem = _Problem(rows, target, plan, options, threads, source)
    for name in plan.of("kernel"):
        raise InputError(
            f"The width of the kernel density of {name!r} is set by a rule, not by likelihood, "
            "which EM climbs.",
            hint="Make it 'gaussian', or use unlabelled='skip'.",
        )
    known, blank = problem.counted()
    empty = np.flatnonzero(known.weight == 0)
    if len(empty):
        raise InputError(
            f"The class {target.states[empty[0]]!r} has no row with a label to start from."
        )
    if blank is None:
        return train(known, options, source)
    start = problem.begin_with(known + blank)
    run, _ = run_em(problem, [start], tol=tol, max_iter=budget, accelerate=False)
    model = train(run.parameters.statistic, options, source)
    record = model.record
    assert record is not None
    record = replace(
        record,
        how=f"{record.how} and EM",
        score=run.objective,
        trace=tuple(run.trace),
        reason=run.reason,
        seconds=time.perf_counter() - began,
        notes=tuple(n for n in record.notes if "without a class" not in n),
        details={**record.details, "unlabelled": known.unlabelled},
    )
    return replace(model, record=record)


def _at_least_one(smoothing: Any) -> Any:
    if isinstance(smoothing, Mapping):
        return {n: max(float(given), 1.0) for n, given in smoothing.items()}
    return max(float(smoothing), 1.0)


class _Problem(EMProblem[NaiveBayesModel, ByClass]):
    """The rows, asked once a turn what is expected of them; a model keeps what it was made of."""

    slack = math.inf  # a variance that is not maximum likelihood climbs nearly
    settled = "no statistic changed by more than {tol:g} of itself"
    start: ByClass

    def __init__(
        self, rows: Rows, target: Variable, plan: Plan, options: Options, threads: int, source: str
    ) -> None:
        self.rows, self.target, self.plan, self.threads = rows, target, plan, threads
        shrunk = options.variance == "shrunk"
        self.options = replace(options, variance="ml") if shrunk else options
        self.source, self.k = source, target.arity
        for columns, group, _ in rows():  # all rows say what a column is, not those with a class
            by_class(columns, np.zeros_like(group), target, plan, None, threads, classed=False)
            break
        self.gaps = [names for names in plan.together if self._has_gaps(names)]

    def _has_gaps(self, names: Sequence[str]) -> bool:
        return any(bool(np.isnan(joint_values(c, names)).any()) for c, _, _ in self.rows())

    def counted(self) -> tuple[ByClass, ByClass | None]:
        """The statistics of the rows with a class; of the others only their states, counted 0."""
        known: list[ByClass] = []
        blank: list[ByClass] = []
        for columns, group, weights in self.rows():
            known.append(by_class(columns, group, self.target, self.plan, weights, self.threads))
            free = group == self.k
            if free.any():
                nobody = np.zeros(int(free.sum()), dtype=np.uint32)
                part = _taken(columns, free)
                found = by_class(part, nobody, self.target, self.plan, None, self.threads)
                blank.append(_emptied(found))
        return reduce(add, known), reduce(add, blank) if blank else None

    def begin_with(self, start: ByClass) -> NaiveBayesModel:
        """The model to start from, made of what is counted of the rows in every turn."""
        self.start, self.weight = start, float(start.weight.sum()) + start.unlabelled
        first = replace(self.options, smoothing=_at_least_one(self.options.smoothing))
        return train(self._begun(start), first, self.source)

    def _begun(self, start: ByClass) -> ByClass:
        """Numbers begin with the cells that are there, column by column."""
        moments = () if start.moments is None else start.moments.names
        names = [*moments, *(n for p in start.joint for n in p.names)]
        if not names:
            return start
        mean, variance = self._available(names)
        place = {name: j for j, name in enumerate(names)}
        n = start.weight + 1.0

        def joint(old: JointMoments) -> JointMoments:
            at = [place[name] for name in old.names]
            scatter = n[:, None, None] * np.diag(variance[at])
            return JointMoments(old.names, n, mean[at].T, scatter)

        d = len(moments)
        own = np.broadcast_to(n, (d, len(n))).copy()
        spread = own * variance[:d, None]
        alone = ClassMoments(tuple(moments), own, mean[:d].copy(), spread, self.plan.scales)
        return replace(start, moments=alone if d else None, joint=tuple(map(joint, start.joint)))

    def _available(self, names: Sequence[str]) -> tuple[Floats, Floats]:
        """Means [column, class] and variances [column] to start from."""
        k, found, scales = self.k, [], self.plan.scales
        for columns, group, weights in self.rows():
            w = None if weights is None else weights.astype(np.float64)
            every = np.minimum(group, k).astype(np.uint32)
            found.append(class_moments(columns, names, every, k + 1, w, self.threads, scales))
        m: Any = reduce(lambda a, b: a.merged(b), found)  # type: ignore[union-attr, arg-type]
        total = m.n.sum(axis=1)
        some = np.maximum(total, 1e-300)
        middle = m.mean[:, 0] + (m.n * (m.mean - m.mean[:, :1])).sum(axis=1) / some
        away = (m.n * (m.mean - middle[:, None]) ** 2).sum(axis=1)
        wide = (m.scatter.sum(axis=1) + away) / some
        own = m.n[:, :k]
        mean = np.where(own > 0, m.mean[:, :k], middle[:, None])
        return mean, (m.scatter[:, :k].sum(axis=1) + wide) / (own.sum(axis=1) + 1.0)

    def expect(self, model: NaiveBayesModel) -> tuple[ByClass, float]:
        """All rows, those without a class shared out, their cells in columns that vary together
        as expected where some are missing; and ln P of all rows.
        """
        k, value = self.k, 0.0
        total: list[ByClass] = []
        joint: dict[tuple[str, ...], JointMoments] = {}
        for columns, group, given in self.rows():
            scores = predict_columns(model, columns, "joint", "missing", self.threads)
            best = scores.max(axis=1, keepdims=True)
            log_p = (best + np.log(np.exp(scores - best).sum(axis=1, keepdims=True)))[:, 0]
            weights = np.ones(len(log_p)) if given is None else given.astype(np.float64)
            free = group == k
            own = scores[np.arange(len(scores)), np.minimum(group, k - 1)]
            value += float(weights @ np.where(free, log_p, own))
            share = np.where(
                free[:, None], np.exp(scores - log_p[:, None]), group[:, None] == np.arange(k)
            )
            share = share * weights[:, None]
            share = np.where(share < 1e-100, 0.0, share)  # no sum can notice them
            for names in self.gaps:
                f = next(f for f in model.features if f.names == names)
                assert isinstance(f, Normals)
                part = expected_moments(f, joint_values(columns, names), share)
                joint[names] = joint[names].merged(part) if names in joint else part
            other = _taken(columns, free)
            for c in range(k) if free.any() else ():
                label = np.full(other.rows, c, dtype=np.uint32)
                mine = np.ascontiguousarray(share[free, c])
                total.append(by_class(other, label, self.target, self.plan, mine, self.threads))
        new = self.start + reduce(add, total)
        return replace(new, joint=tuple(joint.get(p.names, p) for p in new.joint)), value

    def maximise(self, statistics: ByClass) -> NaiveBayesModel:
        """The model of the statistics."""
        return train(statistics, self.options, self.source)

    def change(self, old: NaiveBayesModel, new: NaiveBayesModel, gain: float) -> float:
        """The largest change of a statistic."""
        return _change(old.statistic, new.statistic)

    def log_prior(self, model: NaiveBayesModel, statistics: ByClass) -> float:
        """What the smoothing adds to the likelihood: l·Σ ln θ."""
        options = self.options
        value = options.class_smoothing and options.class_smoothing * float(model.log_prior.sum())
        for f in model.features:
            if isinstance(f, (States, Bag)):
                name = "" if isinstance(f, Bag) else f.names[0]
                amount = options.of_feature(options.smoothing, name, 1.0, "smoothing")
                value += amount * float(f.log_theta.sum()) if amount else 0.0
        return value


def _taken(columns: Columns, where: NDArray[np.bool_]) -> Columns:
    """Some of the rows."""
    found = {n: Column(c.values[where], c.variable, c.strange) for n, c in columns.by_name.items()}
    return Columns(int(where.sum()), found)


def _emptied(s: ByClass) -> ByClass:
    """The same states and words, never seen."""

    def none(part: Any) -> Any:
        what = ("n", "mean", "scatter") if hasattr(part, "mean") else ("values",)
        return replace(part, **{name: np.zeros_like(getattr(part, name)) for name in what})

    return ByClass(
        s.target,
        np.zeros_like(s.weight),
        s.names,
        tuple(map(none, s.counts)),
        None if s.moments is None else none(s.moments),
        tuple(map(none, s.joint)),
        None if s.words is None else none(s.words),
    )


def expected_moments(f: Normals, x: Floats, share: Floats) -> JointMoments:
    """The moments that are expected of rows [row, column] with shares [row, class].

    >>> one = np.ones(1)
    >>> f = Normals(("a", "b"), np.zeros((1, 2)), np.array([[[1.0, 0.5], [0.5, 1.0]]]), one, None)
    >>> s = expected_moments(f, np.array([[2.0, np.nan]]), np.ones((1, 1)))
    >>> s.mean.tolist(), s.scatter.tolist()
    ([[2.0, 1.0]], [[[0.0, 0.0], [0.0, 0.75]]])
    """
    k, d = f.mean.shape
    there = ~np.isnan(x)
    total = JointMoments(f.names, np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d)))
    for seen in np.unique(there, axis=0):
        if not seen.any():  # a row that shows no column of the group says nothing
            continue
        rows = (there == seen).all(axis=1)
        n, mean, scatter = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
        for c in range(k):
            w = share[rows, c]
            n[c] = w.sum()
            if not n[c] > 0:
                n[c] = 0.0
                continue
            filled, spare = _filled(x[rows], seen, f.mean[c], f.covariance[c])
            mean[c] = w @ filled / n[c]
            away = filled - mean[c]
            scatter[c] = (w[:, None] * away).T @ away + n[c] * spare
        total = total.merged(JointMoments(f.names, n, mean, scatter))
    return total


def _filled(
    x: Floats, seen: NDArray[np.bool_], mean: Floats, covariance: Floats
) -> tuple[Floats, Floats]:
    """Rows with missing cells as expected, and the covariance of these (0 elsewhere)."""
    filled, spare = x.copy(), np.zeros_like(covariance)
    gone = ~seen
    if gone.any():
        across = covariance[np.ix_(seen, gone)]
        slope = np.linalg.solve(covariance[np.ix_(seen, seen)], across)  # Σ_oo⁻¹ Σ_om
        filled[:, gone] = mean[gone] + (x[:, seen] - mean[seen]) @ slope
        spare[np.ix_(gone, gone)] = covariance[np.ix_(gone, gone)] - across.T @ slope
    return filled, spare


def _change(a: ByClass, b: ByClass) -> float:
    """The largest change of a statistic, as a share of the largest of its feature."""
    out = [_far(a.weight, b.weight)]
    for p, q in zip(a.counts, b.counts, strict=True):
        out.append(1.0 if p.values.shape != q.values.shape else _far(p.values, q.values))
    if a.words is not None and b.words is not None:
        out.append(_far(a.words.values, b.words.values))
    if a.moments is not None and b.moments is not None:
        for n, mean, scatter, m, middle, around in zip(
            *(getattr(s, what) for s in (a.moments, b.moments) for what in _MOMENTS), strict=True
        ):
            total = max(float(m.sum()), 1.0)
            centre = float((m * middle).sum()) / total
            spread = (around.sum() + (m * (middle - centre) ** 2).sum()) / total
            out += [_far(n, m), _far(scatter, around), _moved(mean, middle, spread)]
    for x, z in zip(a.joint, b.joint, strict=True):
        spread = np.diagonal(z.pooled()[2]) / max(float(z.n.sum()), 1.0)
        out += [_far(x.n, z.n), _far(x.scatter, z.scatter), _moved(x.mean, z.mean, spread)]
    return max(out)


_MOMENTS = ("n", "mean", "scatter")


def _far(x: NDArray[Any], z: NDArray[Any]) -> float:
    size = float(np.abs(z).max(initial=0.0))
    return float(np.abs(np.asarray(x) - z).max()) / size if size > 0 else 0.0


def _moved(x: Floats, z: Floats, variance: Any) -> float:
    """How far means have moved, in standard deviations."""
    return float(np.abs((x - z) / np.sqrt(np.where(variance > 0, variance, 1.0))).max(initial=0.0))
