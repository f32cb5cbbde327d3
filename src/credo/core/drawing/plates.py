"""Plates: boxes around nodes that are repeated (Buntine 1994).

Members of a plate stand side by side in every layer, and all other nodes stand outside the
box. The left and the right border of a plate are each one place shared by all its layers;
each layer says what stands left of what, and one pass from left to right finds places.

Plates may hold plates. Two that overlap without one holding the other are drawn as boxes
around their nodes, and other nodes may then stand inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from credo.core.drawing.layers import Layered
from credo.core.drawing.place import apart

_PAD = 12.0


@dataclass(slots=True)
class Plate:
    """A label, its nodes, the plate around it, how deep plates go inside, and its box."""

    label: str
    nodes: frozenset[int]
    outer: int = -1
    inside: int = 0
    loose: bool = False
    first: int = 0
    last: int = 0
    left: float = 0.0
    right: float = 0.0


def nested(plates: Sequence[tuple[str, Sequence[int]]], row_of: Sequence[int]) -> list[Plate]:
    """The plates, the largest first, each knowing the one around it.

    >>> [p.outer for p in nested([("N", [1]), ("D", [0, 1])], [0, 1])]
    [-1, 0]
    """
    out: list[Plate] = []
    for label, nodes in sorted(plates, key=lambda p: -len(p[1])):
        plate = Plate(label, frozenset(nodes))
        plate.first = min(row_of[v] for v in nodes)
        plate.last = max(row_of[v] for v in nodes)
        for i, other in enumerate(out):
            if other.loose:
                continue
            if plate.nodes <= other.nodes:
                plate.outer = i
            elif plate.nodes & other.nodes:
                plate.loose = True
        if plate.loose:
            plate.outer = -1
        out.append(plate)
    for i in range(len(out) - 1, -1, -1):
        if out[i].outer >= 0:
            around = out[out[i].outer]
            around.inside = max(around.inside, out[i].inside + 1)
    return out


def _around(plates: Sequence[Plate], nodes: Sequence[int]) -> list[int]:
    """The plates that hold all of some nodes, the outermost first."""
    return [i for i, p in enumerate(plates) if not p.loose and all(v in p.nodes for v in nodes)]


def _homes(g: Layered, plates: Sequence[Plate]) -> list[list[int]]:
    """The plates around each vertex; a bend is where both ends of its edge are."""
    homes = [_around(plates, [v]) for v in range(g.n)]
    homes += [[] for _ in range(len(g.up) - g.n)]
    for chain in g.chains:
        for v in chain[1:-1]:
            homes[v] = _around(plates, [chain[0], chain[-1]])
    return homes


def _middles(plates: Sequence[Plate], x: Sequence[float]) -> list[float]:
    return [sum(x[v] for v in p.nodes) / len(p.nodes) for p in plates]


def regroup(g: Layered, x: Sequence[float], plates: Sequence[Plate]) -> None:
    """Reorder each row so that a plate's members stand together, plates in the same order."""
    homes, middle = _homes(g, plates), _middles(plates, x)

    def key(v: int) -> list[tuple[float, int]]:
        return [*((middle[p], -1 - p) for p in homes[v]), (x[v], v)]

    for row in g.rows:
        row.sort(key=key)


def keep_apart(
    g: Layered, x: Sequence[float], half: Sequence[float], plates: Sequence[Plate]
) -> list[float]:
    """Places like `x` with every other node outside each plate; sets the plates' borders.

    Vertices come first, then a left and a right border for each plate.
    """
    homes, middle = _homes(g, plates), _middles(plates, x)
    n = len(g.up)
    after: list[list[tuple[int, float]]] = [[] for _ in range(n + 2 * len(plates))]
    wanted = [*x, *(float("-inf") for _ in range(2 * len(plates)))]

    def gap(a: int, b: int) -> float:
        if a < n and b < n:
            return apart(g, half, a, b)
        room = _PAD + (half[a] if a < n else 0.0) + (half[b] if b < n else 0.0)
        return room + (8.0 if a < n or b < n else 0.0) * (a >= n and (a - n) % 2 == 1)

    def line(row: Sequence[int], r: int, level: int, outer: int) -> list[int]:
        """The row from left to right with the borders of the plates that reach it."""
        inner = [
            p
            for p, plate in enumerate(plates)
            if plate.outer == outer and not plate.loose and plate.first <= r <= plate.last
        ]
        items: list[tuple[float, int, list[int]]] = [
            (x[v], v, [v]) for v in row if len(homes[v]) == level
        ]
        for p in inner:
            held = [v for v in row if p in homes[v]]
            body = line(held, r, level + 1, p)
            items.append((middle[p], -1 - p, [n + 2 * p, *body, n + 2 * p + 1]))
            for v in held[:1]:
                room = x[v] - half[v] - _PAD
                now = wanted[n + 2 * p]
                wanted[n + 2 * p] = room if now == float("-inf") else min(now, room)
        return [v for _, _, part in sorted(items) for v in part]

    for r, row in enumerate(g.rows):
        vertices = line(row, r, 0, -1)
        for a, b in pairwise(vertices):
            after[a].append((b, gap(a, b)))
    waits = [0] * len(after)
    for steps in after:
        for b, _ in steps:
            waits[b] += 1
    at = list(wanted)
    ready = [v for v, w in enumerate(waits) if not w]
    for a in ready:
        for b, room in after[a]:
            at[b] = max(at[b], at[a] + room)
            waits[b] -= 1
            if not waits[b]:
                ready.append(b)
    for p, plate in enumerate(plates):
        plate.left, plate.right = at[n + 2 * p], at[n + 2 * p + 1]
        if plate.loose:
            plate.left = min(at[v] - half[v] for v in plate.nodes) - _PAD / 2
            plate.right = max(at[v] + half[v] for v in plate.nodes) + _PAD / 2
    return at[:n]
