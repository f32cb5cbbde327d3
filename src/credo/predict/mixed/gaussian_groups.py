"""Which lines hang together: groups of continuous variables, cut where they are observed.

Given the discrete variables, two continuous ones tell of each other through continuous ones that
are not observed. An observed parent enters a line as a number and ties nothing together. So what
is observed, and what is asked about, falls into groups, and each group depends on the discrete
parents of its own lines alone:

    p(y, t | u) = Π_g p(y_g, t_g | u_g)
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from credo.core.errors import LimitError
from credo.core.kept import Kept
from credo.core.schema import Variable
from credo.model.networks.linear_gaussian import LinearGaussian

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["MAX_NUMBERS", "GaussianGroup", "gaussian_groups", "refuse_large", "width"]

MAX_NUMBERS = 50_000_000
"""The configurations of a group's discrete parents, times its width squared, are at most this."""


@dataclass(frozen=True)
class GaussianGroup:
    """Lines that hang together, parents first; `parents` are all their discrete parents."""

    lines: tuple[LinearGaussian, ...]
    observed: tuple[str, ...]
    hidden: tuple[str, ...]
    parents: tuple[Variable, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The continuous variables."""
        return tuple(line.name for line in self.lines)

    def free(self, known: Collection[str]) -> tuple[Variable, ...]:
        """The discrete parents that are not known."""
        return tuple(p for p in self.parents if p.name not in known)


def gaussian_groups(
    net: Network, observed: Collection[str], targets: Sequence[str] = (), *, tied: bool = True
) -> tuple[GaussianGroup, ...]:
    """The groups of the observed and the targeted continuous variables.

    The targets are in one group, unless they are not `tied`.
    """
    hidden = set(targets)
    ahead = [*observed, *targets]
    while ahead:
        for parent in _line(net, ahead.pop()).continuous:
            if parent.name not in observed and parent.name not in hidden:
                hidden.add(parent.name)
                ahead.append(parent.name)
    at = _POSITIONS[net]
    members = sorted(hidden.union(observed), key=at.__getitem__)
    above = {n: n for n in members}

    def root(n: str) -> str:
        while above[n] != n:
            above[n] = above[above[n]]
            n = above[n]
        return n

    for name in members:
        for parent in _line(net, name).continuous:
            if parent.name in hidden:
                above[root(name)] = root(parent.name)
    for target in targets[1:] if tied else ():
        above[root(target)] = root(targets[0])
    groups: dict[str, list[LinearGaussian]] = {}
    for name in members:
        groups.setdefault(root(name), []).append(_line(net, name))
    return tuple(_group(lines, observed) for lines in groups.values())


def _group(lines: list[LinearGaussian], observed: Collection[str]) -> GaussianGroup:
    names = [line.name for line in lines]
    parents = {p.name: p for line in lines for p in line.discrete}
    return GaussianGroup(
        tuple(lines),
        tuple(n for n in names if n in observed),
        tuple(n for n in names if n not in observed),
        tuple(parents.values()),
    )


def width(group: GaussianGroup, wanted: Collection[str] = ()) -> int:
    """How many hidden variables must be held at once when the lines are taken one by one."""
    last = {p.name: i for i, line in enumerate(group.lines) for p in line.continuous}
    live: set[str] = set()
    most = 0
    for i, line in enumerate(group.lines):
        if line.name in group.hidden:
            live.add(line.name)
        most = max(most, len(live))
        live = {n for n in live if n in wanted or last.get(n, -1) > i}
    return most


def refuse_large(
    group: GaussianGroup, known: Collection[str], wanted: Collection[str] = ()
) -> None:
    """Refuse a group whose Gaussians would not fit, before any is made."""
    free = group.free(known)
    cases = prod(p.arity for p in free)
    numbers = cases * (width(group, wanted) + 1) ** 2
    if numbers <= MAX_NUMBERS:
        return
    names = ", ".join(map(repr, group.names[:3])) + ("…" if len(group.names) > 3 else "")
    parents = ", ".join(repr(p.name) for p in free[:3]) + ("…" if len(free) > 3 else "")
    raise LimitError(
        f"The {len(group.lines)} continuous variables {names} depend on {len(free)} discrete ones "
        f"({parents}) that are not observed: a mixture of {cases:,} Gaussians, {numbers:,} "
        f"numbers; at most {MAX_NUMBERS:,} are kept.",
        hint='Observe some of those, or more continuous variables, or sample: method="weighting".',
    )


# where each variable of a network stands, parents before children
_POSITIONS = Kept(lambda net: {n: i for i, n in enumerate(net.dag.order)})


def _line(net: Network, name: str) -> LinearGaussian:
    line = net.distributions[name]
    assert isinstance(line, LinearGaussian)
    return line
