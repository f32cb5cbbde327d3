"""Places inside each layer: near one's neighbours, and never on top of each other.

    minimise Σ_i w_i (x_i − d_i)²   with   x_{i+1} ≥ x_i + s_i

for one layer, where d_i is the weighted mean place of the vertex's neighbours: an isotonic
regression, solved exactly by pooling (Ayer et al. 1955). Layers are visited up and down.
Edges between bends weigh most, so that long edges run straight (Gansner et al. 1993).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from credo.core.drawing.layers import Layered

NODE_GAP = 22.0
_BEND_GAP = 13.0


def pooled(wanted: Sequence[float], weights: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """The places nearest to those wanted that keep their order and their gaps.

    >>> pooled([0, 0, 5], [1, 1, 1], [2, 2])
    [-1.0, 1.0, 5.0]
    """
    shift, shifts = 0.0, []
    for gap in (0.0, *gaps):
        shift += gap
        shifts.append(shift)
    blocks: list[tuple[float, float, int]] = []  # mean, weight, how many
    for d, w, s in zip(wanted, weights, shifts, strict=True):
        mean, weight, count = d - s, w, 1
        while blocks and blocks[-1][0] > mean:
            m, k, c = blocks.pop()
            mean = (mean * weight + m * k) / (weight + k)
            weight, count = weight + k, count + c
        blocks.append((mean, weight, count))
    means = [m for m, _, c in blocks for _ in range(c)]
    return [m + s for m, s in zip(means, shifts, strict=True)]


def apart(g: Layered, half: Sequence[float], a: int, b: int) -> float:
    """How far the middles of two neighbours in a layer must be."""
    bends = (a >= g.n) + (b >= g.n)
    gap = NODE_GAP if bends == 0 else _BEND_GAP
    return half[a] + half[b] + gap


def positions(g: Layered, half: Sequence[float], rounds: int = 16) -> list[float]:
    """The middle of each vertex, given the half widths; bends have none.

    >>> from credo.core.drawing.layers import layered
    >>> x = positions(layered(3, [(0, 1), (0, 2)]), [10, 10, 10])
    >>> [round(v - x[0], 6) for v in x]
    [0.0, -21.0, 21.0]
    """
    x = [0.0] * len(g.up)
    gaps = [[apart(g, half, a, b) for a, b in pairwise(row)] for row in g.rows]
    for row, gap in zip(g.rows, gaps, strict=True):
        at = -sum(gap) / 2
        for v, step in zip(row, [*gap, 0.0], strict=True):
            x[v] = at
            at += step
    if len(x) > 4000:
        rounds //= 2
    n = g.n

    def weight(v: int, w: int) -> float:
        return (1.0, 2.0, 8.0)[(v >= n) + (w >= n)]

    def settle(r: int, *sides: list[list[int]]) -> None:
        wanted, weights = [], []
        for v in g.rows[r]:
            pull = total = 0.0
            for side in sides:
                for w in side[v]:
                    k = weight(v, w)
                    pull += k * x[w]
                    total += k
            wanted.append(pull / total if total else x[v])
            weights.append(total or 0.05)
        for v, at in zip(g.rows[r], pooled(wanted, weights, gaps[r]), strict=True):
            x[v] = at

    last = len(g.rows) - 1
    for i in range(rounds):
        both = i >= rounds // 2
        for r in range(0 if both else 1, last + 1):
            settle(r, *((g.up, g.down) if both else (g.up,)))
        for r in range(last if both else last - 1, -1, -1):
            settle(r, *((g.up, g.down) if both else (g.down,)))
    return x
