"""Why two sets of nodes are d-separated or not, path by path.

chain  a → b → c, fork  a ← b → c :  closed when b is observed
collider  a → b ← c               :  open when b, or a descendant of b, is observed

In an undirected graph there are no colliders: a path is open when no node inside it is observed
(Pearl 1988, section 3.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, Literal

from credo.core.errors import InputError
from credo.model.graphs.separation import active_path, open_path, simple_paths

if TYPE_CHECKING:
    from credo.model.graphs.relations import Relations
from credo.model.values.value import Told

__all__ = ["Path", "Reason", "Step", "reason"]

_MARKS = {True: "→", False: "←", None: "—", "both": "↔"}

Way = Literal["both"] | bool | None

Role = Literal["chain", "fork", "collider", ""]


@dataclass(frozen=True, slots=True)
class Step(Told):
    """One inner node of a path: its role there, whether it lets the path through, and why.

    In an undirected graph it has no role.
    """

    node: str
    role: Role
    open: bool
    because: str

    def __str__(self) -> str:
        what = "open" if self.open else "blocked"
        return f"{what} at {self.node}: {f'a {self.role}, ' if self.role else ''}{self.because}"


@dataclass(frozen=True, slots=True)
class Path(Told):
    """A path through a graph, whatever the direction of its edges, if they have one.

    In a causal graph an edge may point "both" ways: a hidden common cause.

    >>> from credo.model.graphs.dag import Dag
    >>> path = Dag.parse("[A][B|A][C|B]").why("A", "C").paths[0]
    >>> print(path.text)
    A → B → C
    >>> path.active, path.nodes, path.steps[0].role
    (True, ('A', 'B', 'C'), 'chain')
    """

    nodes: tuple[str, ...]
    forward: tuple[Way, ...]  # whether each edge points along the path; None: no arrow
    steps: tuple[Step, ...]

    @property
    def active(self) -> bool:
        """Whether every inner node lets the path through."""
        return all(s.open for s in self.steps)

    @property
    def blockers(self) -> tuple[Step, ...]:
        """The inner nodes that block it."""
        return tuple(s for s in self.steps if not s.open)

    @property
    def text(self) -> str:
        """The nodes with an arrow, or a line, for each edge."""
        out = self.nodes[0]
        for node, forward in zip(self.nodes[1:], self.forward, strict=True):
            out += f" {_MARKS[forward]} {node}"
        return out

    def __str__(self) -> str:
        shown = self.steps if self.active else self.blockers
        lines = [self.text, *(f"  {s}" for s in shown)]
        if not self.steps and self.forward == ("both",):
            hidden = "a hidden common cause joins them, and nothing that is observed can block it"
            lines.append(f"  {hidden}")
        elif not self.steps:
            lines.append("  an edge joins them, and nothing can block an edge")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Reason(Told):
    """Why `x` and `y` are d-separated by `given` or not.

    `paths` holds one active path when they are not; when they are, the paths between them,
    shortest first, each with what blocks it. `complete` says whether those are all.

    >>> from credo.model.graphs.dag import Dag
    >>> alarm = Dag.parse("[Burglary][Earthquake][Alarm|Burglary:Earthquake]")
    >>> print(alarm.why("Burglary", "Earthquake"))
    Burglary ⊥ Earthquake: every path between them is blocked.
      Burglary → Alarm ← Earthquake
        blocked at Alarm: a collider, neither it nor a descendant of it is observed
    """

    x: tuple[str, ...]
    y: tuple[str, ...]
    given: tuple[str, ...]
    separated: bool
    paths: tuple[Path, ...]
    complete: bool = True

    def __str__(self) -> str:
        x, y = ", ".join(self.x), ", ".join(self.y)
        z = f" | {', '.join(self.given)}" if self.given else ""
        if not self.separated:
            lines = [f"{x} and {y} may depend on each other{_given(self.given)}, by this path:"]
        elif not self.paths:
            lines = [f"{x} ⊥ {y}{z}: no path joins them."]
        elif self.complete:
            lines = [f"{x} ⊥ {y}{z}: every path between them is blocked."]
        else:
            n = len(self.paths)
            lines = [
                f"{x} ⊥ {y}{z}: every path between them is blocked; "
                + ("the first is shown." if n == 1 else f"the first {n:,} are shown.")
            ]
        for path in self.paths:
            lines += [f"  {line}" for line in str(path).split("\n")]
        return "\n".join(lines)


def _given(names: Sequence[str]) -> str:
    return f" given {', '.join(names)}" if names else ""


def reason(graph: Any, x: Sequence[int], y: Sequence[int], z: Sequence[int], most: int) -> Reason:
    """The reason for sets of positions that do not overlap; at most `most` paths are listed."""
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise InputError(f"At least one path must be shown, got paths={most!r}.")
    a, b, c = (tuple(graph.nodes[i] for i in found) for found in (x, y, z))
    directed = hasattr(graph, "_parents")
    told = _path if directed else _trail
    if directed:
        active = active_path(graph._parents, graph._children, x, y, z)
        near = [[*p, *c] for p, c in zip(graph._parents, graph._children, strict=True)]
    else:
        near = graph._near
        active = open_path(near, x, y, z)
    if active:
        return Reason(a, b, c, False, (told(graph, active, set(z)),))
    found: list[list[int]] = []
    for start, end in product(x, y):
        found += simple_paths(near, start, end, most + 1 - len(found))
        if len(found) > most:
            break
    paths = tuple(told(graph, p, set(z)) for p in found[:most])
    return Reason(a, b, c, True, paths, len(found) <= most)


def _path(dag: Relations, nodes: Sequence[int], observed: set[int]) -> Path:
    forward = tuple(b in dag._children[a] for a, b in pairwise(nodes))
    steps = tuple(
        _step(dag, v, forward[i], forward[i + 1], observed) for i, v in enumerate(nodes[1:-1])
    )
    return Path(dag._named(nodes), forward, steps)


def _step(dag: Relations, v: int, into: bool, out: bool, observed: set[int]) -> Step:
    name = dag.nodes[v]
    if not into or out:
        role: Role = "chain" if into == out else "fork"
        seen = v in observed
        return Step(name, role, not seen, "observed" if seen else "not observed")
    if v in observed:
        return Step(name, "collider", True, "observed")
    below = observed.intersection(dag._closure([v], dag._children))
    if below:
        child = dag.nodes[min(below)]
        return Step(name, "collider", True, f"its descendant {child} is observed")
    return Step(name, "collider", False, "neither it nor a descendant of it is observed")


def _trail(graph: Any, path: Sequence[int], observed: set[int]) -> Path:
    names = tuple(graph.nodes[v] for v in path)
    seen = [v in observed for v in path[1:-1]]
    steps = tuple(
        Step(name, "", not s, "observed" if s else "not observed")
        for name, s in zip(names[1:-1], seen, strict=True)
    )
    return Path(names, (None,) * (len(path) - 1), steps)
