"""The orientation rules R1 to R10 of partial ancestral graphs (Zhang 2008).

marks[a, b] is the mark at b of the edge a *–* b: 0 none, 1 a circle, 2 a head, 3 a tail.

R5 to R7 are for selection, which leaves edges without heads; R8 to R10 find tails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["ARROW", "CIRCLE", "TAIL", "Marks", "oriented"]

Marks = NDArray[np.int8]
CIRCLE, ARROW, TAIL = 1, 2, 3


def oriented(
    marks: Marks,
    separators: Mapping[frozenset[int], set[int]],
    told: dict[tuple[int, int], str],
    names: Sequence[str],
) -> None:
    """Turn circles into heads and tails in place until no rule applies; `told` says by which."""
    turner = _Turner(marks, separators, told, names)
    while any([turner.r1(), turner.r2(), turner.r3(), turner.r4()]):
        pass
    turner.r5()
    while any([turner.r6(), turner.r7()]):
        pass
    while any([turner.r8(), turner.r9(), turner.r10()]):
        pass


class _Turner:
    def __init__(
        self, marks: Marks, separators: Mapping[frozenset[int], set[int]],
        told: dict[tuple[int, int], str], names: Sequence[str],
    ) -> None:  # fmt: skip
        self.m, self.separators, self.told, self.names = marks, separators, told, names

    def near(self, a: int) -> list[int]:
        return np.flatnonzero(self.m[a]).tolist()

    def put(self, a: int, b: int, mark: int, why: str) -> bool:
        """The mark at b of a *–o b."""
        if self.m[a, b] != CIRCLE:
            return False
        self.m[a, b] = mark
        self.told[a, b] = why
        return True

    def circles(self) -> Iterator[tuple[int, int]]:
        """Every (a, b) with a circle at b."""
        for a, b in np.argwhere(self.m == CIRCLE).tolist():
            if self.m[a, b] == CIRCLE:
                yield a, b

    def directed(self, a: int, b: int) -> bool:
        return bool(self.m[a, b] == ARROW and self.m[b, a] == TAIL)

    def n(self, *nodes: int) -> str:
        return ", ".join(self.names[v] for v in nodes)

    # --- heads --------------------------------------------------------------------------

    def r1(self) -> bool:
        """a *→ b o–* c, a and c not joined: b → c."""
        done = False
        for c, b in self.circles():
            for a in self.near(b):
                if a != c and self.m[a, b] == ARROW and not self.m[a, c]:
                    why = f"R1: else {self.n(b)} were a collider of {self.n(a, c)}"
                    done |= self.put(c, b, TAIL, why)
                    done |= self.put(b, c, ARROW, why)
                    break
        return done

    def r2(self) -> bool:
        """a → b *→ c or a *→ b → c, and a *–o c: a *→ c."""
        done = False
        for a, c in self.circles():
            for b in self.near(a):
                heads = self.m[a, b] == ARROW and self.m[b, c] == ARROW
                if heads and TAIL in (self.m[b, a], self.m[c, b]):
                    done |= self.put(a, c, ARROW, f"R2: a way by {self.n(b)} has its heads")
                    break
        return done

    def r3(self) -> bool:
        """a *→ b ←* c, a *–o d o–* c, a and c not joined, d *–o b: d *→ b."""
        done = False
        for d, b in self.circles():
            both = [
                a for a in self.near(b)
                if a != d and self.m[a, b] == ARROW and self.m[a, d] == CIRCLE
            ]  # fmt: skip
            if any(not self.m[a, c] for i, a in enumerate(both) for c in both[i + 1 :]):
                done |= self.put(d, b, ARROW, f"R3: two colliders at {self.n(b)} lie round it")
        return done

    def r4(self) -> bool:
        """A discriminating path <d, …, a, b, c> for b, with b o–* c."""
        done = False
        for c, b in self.circles():
            if self.m[c, b] != CIRCLE:
                continue
            found = self._discriminating(b, c)
            if found is None:
                continue
            d, a = found
            why = f"R4: a path from {self.n(d)} tells {self.n(b)} apart"
            if b in self.separators.get(frozenset((d, c)), ()):
                done |= self.put(c, b, TAIL, why)
                done |= self.put(b, c, ARROW, why)
            else:
                done |= self.put(a, b, ARROW, why)
                done |= self.put(c, b, ARROW, why)
                done |= self.put(b, c, ARROW, why)
        return done

    def _discriminating(self, b: int, c: int) -> tuple[int, int] | None:
        """The far end and the node before b of a path on which every inner node is a collider and
        a parent of c, its far end not joined to c."""
        for a in self.near(b):
            if a == c or self.m[b, a] != ARROW or not self.directed(a, c):
                continue
            line, seen = [a], {a, b, c}
            while line:
                v = line.pop(0)
                for w in self.near(v):
                    if w in seen or self.m[w, v] != ARROW:
                        continue
                    if not self.m[w, c]:
                        return w, a
                    if self.directed(w, c) and self.m[v, w] == ARROW:
                        seen.add(w)
                        line.append(w)
        return None

    # --- selection ----------------------------------------------------------------------

    def r5(self) -> bool:
        """An uncovered circle path <a, c, …, d, b> beside a o–o b: all its edges are lines."""
        done = False
        for a, b in self.circles():
            if self.m[b, a] != CIRCLE or a > b:
                continue
            for path in self._uncovered(a, self._is_circle, b):
                c, d = path[1], path[-2]
                if len(path) > 3 and not self.m[a, d] and not self.m[b, c]:
                    why = "R5: a ring of circles has no other reading"
                    for u, v in pairwise(path):
                        done |= self.put(u, v, TAIL, why) | self.put(v, u, TAIL, why)
                    done |= self.put(a, b, TAIL, why) | self.put(b, a, TAIL, why)
                    break
        return done

    def r6(self) -> bool:
        """a — b o–* c: b –* c."""
        done = False
        for c, b in self.circles():
            if any(self.m[a, b] == TAIL and self.m[b, a] == TAIL for a in self.near(b)):
                done |= self.put(c, b, TAIL, "R6: a line without heads ends there")
        return done

    def r7(self) -> bool:
        """a –o b o–* c, a and c not joined: b –* c."""
        done = False
        for c, b in self.circles():
            for a in self.near(b):
                if a != c and self.m[b, a] == TAIL and self.m[a, b] == CIRCLE and not self.m[a, c]:
                    done |= self.put(c, b, TAIL, f"R7: else {self.n(b)} were a collider")
                    break
        return done

    # --- tails --------------------------------------------------------------------------

    def half(self) -> Iterator[tuple[int, int]]:
        """Every a o→ c."""
        for c, a in self.circles():
            if self.m[a, c] == ARROW:
                yield a, c

    def r8(self) -> bool:
        """a → b → c or a –o b → c, and a o→ c: a → c."""
        done = False
        for a, c in self.half():
            for b in self.near(a):
                tail = self.m[b, a] == TAIL and self.m[a, b] in (ARROW, CIRCLE)
                if b != c and tail and self.directed(b, c):
                    done |= self.put(c, a, TAIL, f"R8: {self.n(b)} lies between")
                    break
        return done

    def r9(self) -> bool:
        """a o→ c and an uncovered possibly directed path <a, b, …, c>, b and c not joined."""
        done = False
        for a, c in self.half():
            for path in self._uncovered(a, self._may_point, c):
                if len(path) > 2 and not self.m[path[1], c]:
                    done |= self.put(c, a, TAIL, f"R9: a path by {self.n(path[1])} leads there")
                    break
        return done

    def r10(self) -> bool:
        """a o→ c, b → c ← d, uncovered possibly directed paths from a to b and to d whose first
        nodes differ and are not joined."""
        done = False
        for a, c in self.half():
            ends = [b for b in self.near(c) if b != a and self.directed(b, c)]
            first = {b: {p[1] for p in self._uncovered(a, self._may_point, b)} for b in ends}
            if any(
                u != v and not self.m[u, v]
                for b in ends for d in ends if b < d
                for u in first[b] for v in first[d]
            ):  # fmt: skip
                done |= self.put(c, a, TAIL, f"R10: two ways from {self.n(a)} lead there")
        return done

    def _is_circle(self, a: int, b: int) -> bool:
        return bool(self.m[a, b] == CIRCLE and self.m[b, a] == CIRCLE)

    def _may_point(self, a: int, b: int) -> bool:
        return bool(self.m[a, b] in (CIRCLE, ARROW) and self.m[b, a] in (CIRCLE, TAIL))

    def _uncovered(
        self, start: int, step: Callable[[int, int], bool], end: int
    ) -> Iterator[list[int]]:
        """Paths whose steps are of a kind and whose neighbours but one are not joined."""
        line = [[start, v] for v in self.near(start) if step(start, v)]
        while line:
            path = line.pop()
            if path[-1] == end:
                yield path
                continue
            for v in self.near(path[-1]):
                if v not in path and step(path[-1], v) and not self.m[path[-2], v]:
                    line.append([*path, v])
