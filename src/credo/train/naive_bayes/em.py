"""Rows without a class: naive Bayes by EM from some rows that have one and many that have none.

    E: p[r, c] = P(c | x_r, θ)       for each row r without a class; 1 or 0 for the others
    M: θ from the statistics by class, in which such a row counts p[r, c] for each class c

Each turn raises ln P(rows | θ), in which the classes that are not known and the cells that are
missing are summed out; with smoothing l it raises that plus l·Σ ln θ, the Dirichlet prior whose
mode (n + l) / (N + l·J) is (Dempster, Laird & Rubin 1977; Nigam, McCallum, Thrun & Mitchell 2000).
Gaps among columns that vary together count as they are expected (`naive_bayes_em_gaps`). A variance
that is not maximum likelihood (`variance="sample"`, a floor, a ridge) climbs nearly, not exactly;
the prior of `variance="shrunk"` comes last, when the shares no longer change.
The start is the model of the rows that have a class, smoothed by at least 1 so that nothing is
ruled out before it was looked at; numbers start as wide as `naive_bayes_em_gaps` says.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.progress import track
from credo.core.schema import Variable
from credo.data import Stream, Table
from credo.data.columns.columns import Column, Columns, columns_of
from credo.model.naive_bayes.features import Bag, Normals, States
from credo.model.naive_bayes.model import NaiveBayesModel
from credo.predict.rows.naive import predict_columns
from credo.stats.by_class import ByClass, Part, Points, Spread, StateCounts, Totals
from credo.stats.configurations import frozen
from credo.train.naive_bayes.em_gaps import available_moments, expected_spread, group_values
from credo.train.naive_bayes.fit import Options, train
from credo.train.naive_bayes.groups import GroupSpread
from credo.train.naive_bayes.plan import Plan
from credo.train.naive_bayes.rows import by_class

__all__ = ["UNLABELLED", "ClassedRows", "check_unlabelled", "em_model", "rows_of_source"]

Floats = NDArray[np.float64]

UNLABELLED = ("skip", "em")
"""What to do with rows without a class."""


def check_unlabelled(given: Any) -> str:
    """One of the words for it; anything else is refused.

    >>> check_unlabelled("em")
    'em'
    """
    if given not in UNLABELLED:
        raise InputError(f"unlabelled must be 'skip' or 'em', got {given!r}.")
    return str(given)


@dataclass(frozen=True, eq=False)
class ClassedRows:
    """Rows as columns; `group` has the class of each, the number of classes where it has none."""

    columns: Columns
    group: NDArray[np.uint32]
    weights: NDArray[Any] | None = None

    def take(self, where: NDArray[np.bool_]) -> ClassedRows:
        """Some of the rows."""
        found = {
            n: Column(c.values[where], c.variable, c.strange)
            for n, c in self.columns.by_name.items()
        }
        weights = None if self.weights is None else self.weights[where]
        return ClassedRows(Columns(int(where.sum()), found), self.group[where], weights)


def rows_of_source(source: Table | Stream, target: str) -> Callable[[], Iterable[ClassedRows]]:
    """The rows of a table, or of a stream batch by batch each time they are asked for."""

    def of(table: Table) -> ClassedRows:
        names = [n for n in table.schema.names if n != target]
        group = table.codes(target).astype(np.uint32)
        return ClassedRows(columns_of(table.select(names)), group, table.weights)

    if isinstance(source, Stream):
        return lambda: (of(t) for t in source.batches() if len(t))
    held = of(source)
    return lambda: (held,)


def em_model(
    rows: Callable[[], Iterable[ClassedRows]],
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
    _check(tol, budget)
    k = target.arity
    _settle(rows, target, plan, threads)
    known, blank = _known(rows, target, plan, threads)
    if _without_values_apart(rows, plan):
        known, blank = _known(rows, target, plan, threads)
    for name in plan.of("kernel"):
        raise InputError(
            f"The width of the kernel density of {name!r} is set by a rule, not by likelihood, "
            "which EM climbs.",
            hint="Make it 'gaussian', or use unlabelled='skip'.",
        )
    empty = np.flatnonzero(known.weight == 0)
    if len(empty):
        raise InputError(
            f"The class {target.states[empty[0]]!r} has no row with a label to start from."
        )
    if blank is None:
        return train(known, options, source)
    start = known + blank
    gaps = [names for names in plan.together if _has_gaps(rows, names)]
    begun = _begun(start, rows, k, threads)
    last = options
    if options.variance == "shrunk":
        options = replace(options, variance="ml")
    model = train(begun, replace(options, smoothing=_at_least_one(options.smoothing)), source)
    statistic, trace, reason = start, [], f"the budget of {budget:,} turns is spent"
    for turn in track(range(budget), "rows without a class", total=budget):
        soft, value, groups = _expected(model, rows, target, plan, k, threads, gaps)
        trace.append(value + _log_prior(model, options))
        new = start + soft
        new = replace(new, parts=tuple(groups.get(p.names, p) for p in new.parts))
        change = _change(statistic, new)
        statistic, model = new, train(new, options, source)
        if change <= tol:
            reason = f"no statistic changed by more than {tol:g} of itself in turn {turn + 1:,}"
            break
    model = train(statistic, last, source)
    record = model.record
    assert record is not None
    record = replace(
        record,
        how=f"{record.how} and EM",
        score=trace[-1],
        trace=tuple(trace),
        reason=reason,
        seconds=time.perf_counter() - began,
        notes=tuple(n for n in record.notes if "without a class" not in n),
        details={**record.details, "unlabelled": known.unlabelled},
    )
    return replace(model, record=record)


def _check(tol: Any, budget: Any) -> None:
    if not isinstance(tol, (int, float)) or not 0 < tol < 1:
        raise InputError(f"tol must be between 0 and 1, got {tol!r}.")
    if isinstance(budget, bool) or not isinstance(budget, (int, np.integer)) or budget < 1:
        raise InputError(f"budget must be a whole number of 1 or more, got {budget!r}.")


def _at_least_one(smoothing: Any) -> Any:
    if isinstance(smoothing, Mapping):
        return {n: max(float(given), 1.0) for n, given in smoothing.items()}
    return max(float(smoothing), 1.0)


def _settle(
    rows: Callable[[], Iterable[ClassedRows]], target: Variable, plan: Plan, threads: int
) -> None:
    """Let all rows say what a column of whole numbers is, not those with a class alone."""
    for part in rows():
        group = np.zeros(len(part.group), dtype=np.uint32)
        by_class(part.columns, group, target, plan, None, threads)
        break  # of a stream the schema has said it


def _known(
    rows: Callable[[], Iterable[ClassedRows]], target: Variable, plan: Plan, threads: int
) -> tuple[ByClass, ByClass | None]:
    """The statistics of the rows with a class; of the others only their states, counted 0."""
    known: list[ByClass] = []
    blank: list[ByClass] = []
    for part in rows():
        known.append(by_class(part.columns, part.group, target, plan, part.weights, threads))
        free = part.group == target.arity
        if free.any():
            other = part.take(free)
            group = np.zeros(len(other.group), dtype=np.uint32)
            found = by_class(other.columns, group, target, plan, other.weights, threads)
            blank.append(_emptied(found))
    return reduce(add, known), reduce(add, blank) if blank else None


def _begun(
    start: ByClass, rows: Callable[[], Iterable[ClassedRows]], k: int, threads: int
) -> ByClass:
    """What to start from: numbers begin with the cells that are there, column by column."""
    names = [n for p in start.parts if isinstance(p, Spread) for n in p.names]
    cells = ((r.columns, np.minimum(r.group, k).astype(np.uint32), r.weights) for r in rows())
    mean, variance = available_moments(names, cells, k, threads)
    place = {name: j for j, name in enumerate(names)}
    n = frozen(start.weight + 1.0)

    def part(old: Part) -> Part:
        if not isinstance(old, Spread):
            return old
        at = [place[name] for name in old.names]
        scatter = n[:, None, None] * np.diag(variance[at])
        return Spread(old.names, n, frozen(mean[:, at]), frozen(scatter))

    return replace(start, parts=tuple(map(part, start.parts)))


def _emptied(statistic: ByClass) -> ByClass:
    """The same states and words, never seen."""

    def none(part: Part) -> Part:
        if isinstance(part, Spread):
            n, mean, scatter = (frozen(np.zeros_like(a)) for a in (part.n, part.mean, part.scatter))
            empty = Spread(part.names, n, mean, scatter)
            return GroupSpread.of(empty) if isinstance(part, GroupSpread) else empty
        if isinstance(part, Points):
            nothing = tuple(np.zeros(0) for _ in part.values)
            return Points(part.name, nothing, nothing)
        return replace(part, values=frozen(np.zeros_like(part.values)))

    return ByClass(
        statistic.target, np.zeros_like(statistic.weight), tuple(map(none, statistic.parts))
    )


def _expected(
    model: NaiveBayesModel,
    rows: Callable[[], Iterable[ClassedRows]],
    target: Variable,
    plan: Plan,
    k: int,
    threads: int,
    gaps: Sequence[tuple[str, ...]] = (),
) -> tuple[ByClass, float, dict[tuple[str, ...], Spread]]:
    """The statistics of the rows without a class, shared out; and ln P of all rows.

    Groups of columns that vary together and have gaps are counted over all rows, as expected.
    """
    total: ByClass | None = None
    groups: dict[tuple[str, ...], Spread] = {}
    value = 0.0
    for part in rows():
        joint = predict_columns(model, part.columns, "joint", "missing", threads)
        best = joint.max(axis=1, keepdims=True)
        log_p = (best + np.log(np.exp(joint - best).sum(axis=1, keepdims=True)))[:, 0]
        weights = np.ones(len(log_p)) if part.weights is None else part.weights.astype(np.float64)
        free = part.group == k
        own = joint[np.arange(len(joint)), np.minimum(part.group, k - 1)]
        value += float(weights @ np.where(free, log_p, own))
        if gaps:
            every = np.where(
                free[:, None], np.exp(joint - log_p[:, None]), part.group[:, None] == np.arange(k)
            )
            every = _noticed(every * weights[:, None])
            for names in gaps:
                f = next(f for f in model.features if f.names == names)
                assert isinstance(f, Normals)
                spread = expected_spread(f, group_values(part.columns, names), every)
                groups[names] = groups[names] + spread if names in groups else spread
        if not free.any():
            continue
        other = part.take(free)
        share = _noticed(np.exp(joint[free] - log_p[free, None]) * weights[free, None])
        for c in range(k):
            group = np.full(len(share), c, dtype=np.uint32)
            mine = np.ascontiguousarray(share[:, c])
            found = by_class(other.columns, group, target, plan, mine, threads)
            total = found if total is None else total + found
    assert total is not None
    return total, value, groups


def _noticed(share: Floats) -> Floats:
    """Shares without those that no sum can notice: their squares would vanish."""
    return np.where(share < 1e-100, 0.0, share)


def _has_gaps(rows: Callable[[], Iterable[ClassedRows]], names: Sequence[str]) -> bool:
    """Whether a column that varies with others misses a cell in some row."""
    return any(bool(np.isnan(group_values(part.columns, names)).any()) for part in rows())


def _without_values_apart(rows: Callable[[], Iterable[ClassedRows]], plan: Plan) -> bool:
    """Whether a column of a group has no value in any row; it no longer varies with the others."""
    groups = [
        tuple(names[j] for j in np.flatnonzero(_have_values(rows, names)).tolist())
        for names in plan.together
    ]
    if tuple(groups) == plan.together:
        return False
    plan.together, plan.full = tuple(names for names in groups if len(names) > 1), False
    return True


def _have_values(
    rows: Callable[[], Iterable[ClassedRows]], names: Sequence[str]
) -> NDArray[np.bool_]:
    """Whether each column has a value in some row."""
    found = np.zeros(len(names), dtype=np.bool_)
    for part in rows():
        found |= (~np.isnan(group_values(part.columns, names))).any(axis=0)
    return found


def _log_prior(model: NaiveBayesModel, options: Options) -> float:
    """What the smoothing adds to the likelihood: l·Σ ln θ."""
    value = options.class_smoothing * float(model.log_prior.sum()) if options.class_smoothing else 0
    for f in model.features:
        if isinstance(f, (States, Bag)):
            name = "" if isinstance(f, Bag) else f.names[0]
            amount = options.of_feature(options.smoothing, name, 1.0, "smoothing")
            value += amount * float(f.log_theta.sum()) if amount else 0.0
    return value


def _change(a: ByClass, b: ByClass) -> float:
    """The largest change of a statistic, as a share of the largest of its kind."""
    pairs: list[tuple[Any, Any]] = [(a.weight, b.weight)]
    for p, q in zip(a.parts, b.parts, strict=True):
        if isinstance(p, (StateCounts, Totals)) and isinstance(q, (StateCounts, Totals)):
            pairs.append((p.values, q.values))
        elif isinstance(p, Spread) and isinstance(q, Spread):
            spread = np.sqrt(np.diagonal(q.pooled()[2]) / max(float(q.n.sum()), 1.0))
            pairs.append((p.n, q.n))
            pairs.append(((p.mean - q.mean) / np.where(spread > 0, spread, 1.0), np.ones(1)))
            pairs[-1] = (1.0 + pairs[-1][0], np.ones_like(p.mean))
            pairs.append((p.scatter, q.scatter))
    out = 0.0
    for x, z in pairs:
        if x.shape != z.shape:
            return 1.0
        size = float(np.abs(z).max(initial=0.0))
        if size > 0:
            out = max(out, float(np.abs(np.asarray(x) - z).max()) / size)
    return out
