"""Features whose kind is left to the rules, over any number of parts of a table.

The rules look at all rows: a column that is empty, constant or an identifier is set aside, whole
numbers are states where they are few. So a statistic keeps what was seen of each such column
beside its parts; adding two statistics adds that too, and asks the rules again. `partial_fit` and
merging are then exact, whatever the first rows look like. Kinds that the user gave are final, and
so are numbers of which no row can make states any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import SchemaError
from credo.core.frozen import Frozen
from credo.core.schema import Variable
from credo.data.columns.identifiers import FEW_INTEGERS, are_states
from credo.stats.by_class import ByClass, Part, StateCounts, Where, sums
from credo.stats.class_blocks import Spreads, StateTables
from credo.train.naive_bayes.seen import WHOLE, Seen

__all__ = ["OpenColumns", "open_block", "settled"]


@dataclass(frozen=True, eq=False, slots=True)
class OpenColumns(Frozen):
    """What was seen of the columns that are left open, and which of them are set aside, and why.

    `order` has all columns, so that one that is set aside has its place when it comes back. Where
    all lie in one array, `block` has their counts instead.
    """

    order: tuple[str, ...]
    columns: Mapping[str, Seen] = field(default_factory=dict)
    aside: Mapping[str, str] = field(default_factory=dict)
    block: StateTables | None = None
    rows: int = 0
    """The rows of the block."""

    def on_classes(self, where: Where, size: int) -> OpenColumns:
        """The same among more classes."""
        block = None if self.block is None else self.block.on_classes(where, size)
        columns = {n: c.on_classes(where, size) for n, c in self.columns.items()}
        return replace(self, columns=columns, block=block)

    def seen(self) -> Mapping[str, Seen]:
        """Column by column."""
        if self.block is None:
            return self.columns
        out = {}
        for part in self.block:
            assert isinstance(part, StateCounts)
            name, states = part.variable.name, part.variable.states
            out[name] = Seen(name, self.rows, 0, WHOLE, states, part.values, raw=True)
        return out

    def added(self, a: ByClass, b: ByClass) -> ByClass:
        """Two statistics of the same classes, every column decided anew."""
        one, two = a.open, b.open
        weight, unlabelled = a.weight + b.weight, a.unlabelled + b.unlabelled
        assert one is None or isinstance(one, OpenColumns)
        assert two is None or isinstance(two, OpenColumns)
        if one is not None and two is not None and one.block is not None and two.block is not None:
            block = one.block.joined(two.block)
            if block is not None:
                return open_block(a.target, weight, block, one.rows + two.rows, unlabelled)
        mine, theirs = ({} if o is None else o.seen() for o in (one, two))
        given = [
            {p.names[0]: p for p in s.parts if p.names[0] not in seen}
            for s, seen in ((a, mine), (b, theirs))
        ]
        found, closed = _paired(mine, theirs, given, (one is None, two is None))
        names = list(closed)
        total = sums([closed[n][0] for n in names], [closed[n][1] for n in names])
        parts = dict(zip(names, total, strict=True))
        order = self.order if one is None or two is None else _order(one, two)
        return settled(a.target, weight, order, found, parts, unlabelled)


def _order(one: OpenColumns, two: OpenColumns) -> tuple[str, ...]:
    if set(one.order) != set(two.order):
        odd = sorted(set(one.order) ^ set(two.order))[0]
        raise SchemaError(
            f"Column {odd!r} is in one part of the rows only.",
            hint="Give both the same columns and kinds.",
        )
    return one.order


def _paired(
    mine: Mapping[str, Seen],
    theirs: Mapping[str, Seen],
    given: Sequence[dict[str, Part]],
    alone: tuple[bool, bool],
) -> tuple[dict[str, Seen], dict[str, tuple[Part, Part]]]:
    """Columns open in both parts of the rows, added; and pairs of statistics of final kinds."""
    found: dict[str, Seen] = {}
    closed: dict[str, tuple[Part, Part]] = {}
    for name in dict.fromkeys((*mine, *theirs, *given[0], *given[1])):
        a, b = mine.get(name), theirs.get(name)
        p, q = given[0].get(name), given[1].get(name)
        if a is not None and b is not None:
            found[name] = a + b
        elif a is not None and q is not None:
            closed[name] = a.like(q), q
        elif b is not None and p is not None:
            closed[name] = p, b.like(p)
        elif p is not None and q is not None:
            closed[name] = p, q
        else:
            one, other = (a, alone[1]) if a is not None else (b, alone[0])
            if one is None or not other or one.verdict()[0] is not None:
                raise SchemaError(
                    f"Column {name!r} is in one part of the rows only.",
                    hint="Give both the same columns and kinds.",
                )
    return found, closed


def settled(
    target: Variable,
    weight: NDArray[Any],
    order: tuple[str, ...],
    found: Mapping[str, Seen],
    known: Mapping[str, Part],
    unlabelled: int | float = 0,
) -> ByClass:
    """The statistic of columns by the rules, beside those that are known."""
    parts: list[Part] = []
    still: dict[str, Seen] = {}
    aside: dict[str, str] = {}
    for name in order:
        seen = found.get(name)
        if name in known:
            parts.append(known[name])
        elif seen is not None:
            seen, reason = seen.decided()
            if seen.variable is None:
                aside[name] = reason
            else:
                parts.append(seen.part(seen.variable))
        if seen is not None and not seen.final:
            still[name] = seen
    opened = OpenColumns(order, still, aside) if still else None
    return ByClass(target, weight, tuple(parts), unlabelled, opened)


def open_block(
    target: Variable,
    weight: NDArray[Any],
    block: StateTables,
    rows: int,
    unlabelled: int | float = 0,
) -> ByClass:
    """The statistic of whole numbers that lie in one array; where they are few, they are states."""
    many = block.known.sum(axis=1)
    few = (many <= 2) | ((many <= 4) & (many < rows))
    for i in np.flatnonzero(~few & (many <= FEW_INTEGERS)).tolist():
        states = block.states(i)
        few[i] = are_states(block.names[i], len(states), rows, states[0], states[-1])[0]
    if few.all():
        opened = OpenColumns(block.names, block=block, rows=rows)
        return ByClass(target, weight, block, unlabelled, opened)
    spreads = _moments(block, ~few)
    if (many > FEW_INTEGERS).all():
        return ByClass(target, weight, spreads, unlabelled)
    each: dict[str, Part] = dict(zip(spreads.names, spreads, strict=True))
    names = block.names
    if (many <= FEW_INTEGERS).all():
        parts: Sequence[Part] = spreads
        if few.any():
            parts = tuple(each[n] if n in each else block[i] for i, n in enumerate(names))
        opened = OpenColumns(names, block=block, rows=rows)
        return ByClass(target, weight, parts, unlabelled, opened)
    seen = OpenColumns(names, block=block, rows=rows).seen()
    final = {n for n, m in zip(names, many.tolist(), strict=True) if m > FEW_INTEGERS}
    found = {n: s for n, s in seen.items() if n not in final}
    return settled(target, weight, names, found, {n: each[n] for n in final}, unlabelled)


def _moments(block: StateTables, where: NDArray[np.bool_]) -> Spreads:
    """The moments of some variables of a block."""
    counts = block.values[where].astype(np.float64)
    x = np.arange(counts.shape[2]) + float(block.low)
    n = counts.sum(axis=2)
    middle = float(x.mean())
    mean = np.where(n > 0, middle + counts @ (x - middle) / np.where(n > 0, n, 1.0), 0.0)
    scatter = (counts * (x - mean[:, :, None]) ** 2).sum(axis=2)
    names = tuple(n for n, w in zip(block.names, where.tolist(), strict=True) if w)
    return Spreads(names, n, mean, scatter)
