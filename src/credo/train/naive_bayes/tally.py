"""Statistics by class of a source: a table's columns, a stream's batches, or what it can tally.

A source of another make is asked for the families (feature | class) and nothing else, so naive
Bayes learns wherever a tally can be made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from credo.core.errors import InputError
from credo.core.schema import Variable
from credo.data import Stream, Table
from credo.data.columns.columns import Columns, columns_of
from credo.stats.by_class import ByClass, ClassMoments, JointMoments, StateCounts
from credo.stats.counts import Counts
from credo.stats.moments import Moments
from credo.train.naive_bayes.count import by_class
from credo.train.naive_bayes.plan import Plan

__all__ = ["by_schema", "classed_rows", "source_by_class", "tally_by_class"]


def classed_rows(source: Table | Stream, target: str) -> Iterator[tuple[Columns, Any, Any]]:
    """The rows of a table, or of a stream batch by batch: columns, classes and weights."""
    for table in source.batches() if isinstance(source, Stream) else (source,):
        names = [n for n in table.schema.names if n != target]
        columns = columns_of(table.select(names)) if names else Columns(len(table), {})
        yield columns, table.codes(target).astype(np.uint32), table.weights


def source_by_class(source: Any, target: str, plan: Plan, threads: int | None = None) -> ByClass:
    """The statistics of a source that was read; `plan` is settled.

    >>> import credo as cr
    >>> table = cr.read({"a": [1, 2, 1, 2], "y": [0, 1, 1, 0]})
    >>> source_by_class(table, "y", Plan({"a": "gaussian"})).moments.mean.tolist()
    [[1.5, 1.5]]
    """
    if not isinstance(source, (Table, Stream)):
        return tally_by_class(source, target, plan, threads)
    variable = source.schema[target]
    if isinstance(source, Stream):
        by_schema(source, plan)  # no batch says what a column is
    return sum(
        by_class(columns, group, variable, plan, weights, threads or 1)
        for columns, group, weights in classed_rows(source, target)
    )  # type: ignore[return-value]


def by_schema(source: Any, plan: Plan) -> None:
    """Settle a plan by the schema of a source, where no part of the rows is to say so."""
    for name in plan.of("auto"):
        plan.kinds[name] = "categorical" if source.schema[name].is_discrete else "gaussian"
    plan.settle()


def tally_by_class(source: Any, target: str, plan: Plan, threads: int | None = None) -> ByClass:
    """The same statistics from anything that can tally, in one pass."""
    variable = source.schema[target]
    by_schema(source, plan)
    for name, kind in plan.kinds.items():
        _refuse_other(source.schema[name], kind)
    grouped = {n for g in plan.together for n in g}
    states = plan.of("categorical", "bernoulli")
    reals = [n for n in plan.of("gaussian") if n not in grouped]
    families: list[Any] = [(n, [target]) for n in (*states, *reals)]
    families += [(g[0], [target, *g[1:]]) for g in plan.together]
    options = {} if threads is None else {"threads": threads}
    tally = source.tally([(target, []), *families], **options)
    labels = tally[target, []]
    assert isinstance(labels, Counts)
    k = variable.arity
    joint = [_moments(tally[g[0], [target, *g[1:]]], g, k) for g in plan.together]
    single = [_moments(tally[n, [target]], (n,), k) for n in reals]
    found = [(np.stack([m.n for m in single]), *(np.stack([getattr(m, what).reshape(k)
             for m in single]) for what in ("mean", "scatter")))] if single else []  # fmt: skip
    return ByClass(
        variable,
        labels.values,
        tuple(n for n, kind in plan.kinds.items() if kind != "ignore"),
        tuple(_states(tally[n, [target]]) for n in states),
        ClassMoments(tuple(reals), *found[0]) if found else None,
        tuple(joint),
        unlabelled=labels.skipped,
    )


def _refuse_other(v: Variable, kind: str) -> None:
    """Refuse a kind that cannot be made of what the source counts."""
    own = ("categorical", "bernoulli") if v.is_discrete and v.arity == 2 else ("categorical",)
    if kind in (*(own if v.is_discrete else ("gaussian",)), "ignore"):
        return
    what = "discrete" if v.is_discrete else "continuous"
    raise InputError(
        f"The column {v.name!r} of the source is {what} and cannot be tallied as {kind!r}.",
        hint="Load the source first, or choose another kind.",
    )


def _states(counts: Any) -> StateCounts:
    assert isinstance(counts, Counts)
    return StateCounts(counts.variables[-1], counts.dense().values)


def _moments(found: Any, names: Sequence[str], k: int) -> JointMoments:
    assert isinstance(found, Moments)
    moments = found.marginal([found.discrete[0].name, *names])
    d = len(names)
    n, mean, scatter = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
    at = moments.configurations[:, 0]
    n[at], mean[at], scatter[at] = moments.n, moments.mean, moments.scatter
    return JointMoments(tuple(names), n, mean, scatter)
