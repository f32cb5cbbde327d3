"""Statistics by class from anything that can tally: a table, a stream, any source.

A source is asked for the families (feature | class) and nothing else, so naive Bayes learns
wherever a tally can be made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.schema import Variable
from credo.stats.by_class import ByClass, Part, Spread, StateCounts
from credo.stats.configurations import frozen
from credo.stats.counts import Counts
from credo.stats.moments import Moments
from credo.train.naive_bayes.groups import GroupSpread
from credo.train.naive_bayes.plan import Plan
from credo.train.naive_bayes.reorder import counts_above, moments_of_counts

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
    given = dict(plan.kinds)
    for name in plan.of("auto"):
        plan.kinds[name] = "categorical" if source.schema[name].is_discrete else "gaussian"
    plan.settle()
    grouped = {n for g in plan.together for n in g}
    for name, kind in plan.kinds.items():
        _refuse_other(source.schema[name], kind, name in grouped)
    single = [n for n in plan.of("categorical", "bernoulli", "gaussian") if n not in grouped]
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
            parts[child] = _part_of(found.variables[-1], found.dense().values, given[child])
        else:
            parts[child] = _spread_of(found, (child, *parents[1:]), k)
    ordered = tuple(parts[n] for n in plan.kinds if n in parts)
    return ByClass(variable, labels.values, ordered, labels.skipped)


def _refuse_other(v: Variable, kind: str, grouped: bool) -> None:
    """Refuse a kind that cannot be made of what the source counts."""
    if kind == "ignore" or (kind == "gaussian" and not v.is_discrete):
        return
    text = v.is_discrete and any(isinstance(s, str) for s in v.states)
    if kind == "bernoulli" and (not v.is_discrete or (text and v.arity > 2)):
        raise InputError(
            f"A Bernoulli feature of a source has two states; {v.name!r} has not.",
            hint="Make it 'categorical' or 'gaussian'.",
        )
    if kind == "gaussian" and (text or grouped):
        what = f"has states such as {v.states[0]!r}"
        word = "continuous" if not text else "discrete"
    elif kind == "categorical" and not v.is_discrete:
        what, word = "is continuous", "discrete"
    else:
        return
    raise InputError(
        f"The column {v.name!r} of the source {what} and cannot be {kind!r}.",
        hint="Make it 'categorical'."
        if text
        else f"Read the table with schema={{{v.name!r}: {word!r}}}, or load it first.",
    )


def _part_of(v: Variable, counts: NDArray[Any], kind: str) -> Part:
    """Counts of states as what the feature is to be."""
    numbers = not any(isinstance(s, str) for s in v.states)
    if kind == "gaussian":
        return moments_of_counts(v.name, counts, np.array([float(s) for s in v.states]))
    if kind == "bernoulli" and numbers:
        above = counts_above(counts, np.array([float(s) for s in v.states]))
        return StateCounts(Variable(v.name, "discrete", (0, 1)), frozen(above), True)
    return StateCounts(v, counts)


def _spread_of(found: Moments, names: tuple[str, ...], k: int) -> Spread:
    moments = found.marginal([found.discrete[0].name, *names])
    d = len(names)
    n, mean, scatter = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
    at = moments.configurations[:, 0]
    n[at], mean[at], scatter[at] = moments.n, moments.mean, moments.scatter
    spread = Spread(names, frozen(n), frozen(mean), frozen(scatter))
    return GroupSpread.of(spread) if d > 1 else spread
