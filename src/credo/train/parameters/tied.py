"""Tied families: several variables that share one table, learned from all their rows together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from credo.core.errors import InputError, unknown_name
from credo.core.schema import Variable
from credo.model.graphs.dag import Dag
from credo.model.values.reals import shown
from credo.stats.counts import Counts
from credo.stats.moments import Moments

__all__ = ["groups_of", "renamed"]


def groups_of(
    tied: Any, graph: Dag, variables: Mapping[str, Variable], held: Mapping[str, Any]
) -> dict[str, tuple[str, ...]]:
    """The group of each tied variable; families of different shapes are refused."""
    if isinstance(tied, str) or not isinstance(tied, Iterable):
        raise InputError(f"tied= is a list of lists of variables, got {shown(tied)}.")
    out: dict[str, tuple[str, ...]] = {}
    for given in tied:
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise InputError(f"tied= is a list of lists of variables, got {shown(tied)}.")
        group = tuple(given)
        for name in group:
            if name not in graph.nodes:
                raise unknown_name("The tied variable", name, graph.nodes, "in the graph")
            if name in out or group.count(name) > 1:
                raise InputError(f"{name!r} is tied twice.")
            if name in held:
                raise InputError(f"{name!r} is fixed and tied at once.")
        shapes = {n: _shape(graph, variables, n) for n in group}
        for name, shape in shapes.items():
            if shape != shapes[group[0]]:
                raise InputError(
                    f"{group[0]!r} and {name!r} cannot be tied: their families have the shapes "
                    f"{_words(shapes[group[0]])} and {_words(shape)}."
                )
        out |= dict.fromkeys(group, group)
    return out


def _shape(graph: Dag, variables: Mapping[str, Variable], name: str) -> tuple[int, ...]:
    """The states of the parents in order, then of the child; 0 for a continuous one."""
    family = (*(variables[p] for p in graph.parents(name)), variables[name])
    return tuple(v.arity if v.is_discrete else 0 for v in family)


def _words(shape: Sequence[int]) -> str:
    return " × ".join(str(n) if n else "continuous" for n in shape)


def renamed(statistic: Counts | Moments, like: Counts | Moments) -> Any:
    """A statistic under the names of another of the same shape, so that they can be added."""
    if isinstance(statistic, Counts):
        assert isinstance(like, Counts)
        return Counts(like.variables, statistic.values, statistic.configurations, statistic.skipped)
    assert isinstance(like, Moments)
    return Moments(
        like.discrete, like.continuous, statistic.configurations, statistic.n, statistic.mean,
        statistic.scatter, statistic.skipped,
    )  # fmt: skip
