"""What a statement about a variable of a network reads, and which way it answers a row.

    P(t | row) ∝ P(t | parents) · Π_children P(x | t, its other parents)

holds where the Markov blanket is observed. A child without children of its own may be missing: its
factor sums to 1. So `needed` are the others of the blanket. Variables that the table does not have
and that nothing observed hangs from sum to 1 too, and are left out at once.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from credo.model.networks.network import Network

__all__ = ["Relevant", "relevant"]


@dataclass(frozen=True, slots=True)
class Relevant:
    """The part of a network that tells of a target.

    `names` are the variables connected with it, in the network's order; `leaves` have no children
    among them, `children` are the target's, `needed` must be observed for the short way.
    """

    target: str
    names: tuple[str, ...]
    present: frozenset[str]
    leaves: frozenset[str]
    children: tuple[str, ...]
    needed: tuple[str, ...]

    @property
    def short(self) -> bool:
        """Whether any row can be answered by the blanket."""
        return self.present.issuperset(self.needed)


def relevant(net: Network, target: str, present: Collection[str]) -> Relevant:
    """What tells of a target where some columns are there.

    >>> net = Network("[a][t|a][x|t][y|x][z]", {
    ...     "a": 0.5, "t": {False: 0.1, True: 0.8}, "x": {False: 0.1, True: 0.8},
    ...     "y": {False: 0.1, True: 0.8}, "z": 0.5})
    >>> found = relevant(net, "t", {"a", "x", "z"})
    >>> found.names, sorted(found.leaves), found.needed
    (('a', 't', 'x'), ['x'], ('a',))
    """
    kept = set(net.names)
    below = {n: set(net.dag.children(n)) for n in net.names}
    while True:
        gone = {n for n in kept if n != target and n not in present and not below[n] & kept}
        if not gone:
            break
        kept -= gone
    near = {target}
    queue = [target]
    while queue:  # along families, so that parents of one child meet
        name = queue.pop()
        around = {*net.dag.parents(name), *(below[name] & kept)}
        new = (around & kept) - near
        near |= new
        queue += new
    names = tuple(n for n in net.names if n in near)
    children = tuple(n for n in names if target in net.dag.parents(n))
    leaves = frozenset(n for n in names if n != target and not below[n] & near)
    blanket = {*net.dag.parents(target), *children}
    blanket |= {p for c in children for p in net.dag.parents(c)}
    needed = tuple(n for n in names if n in blanket - leaves - {target})
    return Relevant(target, names, frozenset(present) & near, leaves, children, needed)
