"""Statistics by class from anything that can tally: a table, a stream, any source.

A source is asked for the families (feature | class) and nothing else, so naive Bayes learns
wherever a tally can be made.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.errors import InputError
from credo.stats.by_class import ByClass, Part, Spread, StateCounts
from credo.stats.configurations import frozen
from credo.stats.counts import Counts
from credo.stats.moments import Moments
from credo.train.naive_bayes_plan import Plan

__all__ = ["tally_by_class"]


def tally_by_class(source: Any, target: str, plan: Plan, threads: int | None = None) -> ByClass:
    """The same statistics from anything that can tally, in one pass and bounded memory."""
    variable = source.schema[target]
    k = variable.arity
    for kind in ("kernel", "counts"):
        for name in plan.of(kind):
            raise InputError(
                f"A source cannot be tallied for {name!r} as {kind!r}.",
                hint="Load it first, or choose 'gaussian' or 'categorical'.",
            )
    for name in plan.of("bernoulli"):
        if not source.schema[name].is_discrete or source.schema[name].arity > 2:
            raise InputError(
                f"A Bernoulli feature of a source has two states; {name!r} has not.",
                hint="Make it 'categorical' or 'gaussian'.",
            )
    for name in plan.of("auto", "bernoulli"):
        plan.kinds[name] = "categorical" if source.schema[name].is_discrete else "gaussian"
    plan.settle()
    grouped = {n for g in plan.together for n in g}
    single = [n for n in plan.of("categorical", "gaussian") if n not in grouped]
    families: list[Any] = [(n, [target]) for n in single]
    families += [(g[0], [target, *g[1:]]) for g in plan.together]
    options = {} if threads is None else {"threads": threads}
    tally = source.tally([(target, []), *families], **options)
    labels = tally[target, []]
    assert isinstance(labels, Counts)
    parts: dict[str, Part] = {}
    for child, parents in families:
        found = tally[child, parents]
        if isinstance(found, Counts):
            parts[child] = StateCounts(found.variables[-1], found.dense().values)
        else:
            parts[child] = _spread_of(found, (child, *parents[1:]), k)
    ordered = tuple(parts[n] for n in plan.kinds if n in parts)
    return ByClass(variable, labels.values, ordered, labels.skipped)


def _spread_of(found: Moments, names: tuple[str, ...], k: int) -> Spread:
    moments = found.marginal([found.discrete[0].name, *names])
    d = len(names)
    n, mean, scatter = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
    at = moments.configurations[:, 0]
    n[at], mean[at], scatter[at] = moments.n, moments.mean, moments.scatter
    return Spread(names, frozen(n), frozen(mean), frozen(scatter))
