"""What is asked of the numbers of a table, and how each is modelled in the end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from credo.core.errors import InputError, unknown_name
from credo.core.render import many, number, shortened
from credo.core.scales import KINDS, Scale, Transform
from credo.data import Stream, Table
from credo.model.networks.network import Network
from credo.train.scores.scale_terms import scale_terms

__all__ = ["WAYS", "Choice", "asked_numbers", "cut_points_given", "number_names", "plain_numbers"]

WAYS = ("auto", "gaussian", "transformed", "binned", "counts")
"""How the numbers of a table can be modelled, all of them."""


@dataclass(frozen=True)
class Choice:
    """The scales of the columns that have one, and the heights by which they were chosen."""

    asked: Mapping[str, Any]
    scales: Mapping[str, Scale]
    heights: Mapping[str, float]
    rows: int
    late: str = ""

    def of(self, source: Table | Stream) -> Table | Stream:
        """The source on these scales."""
        out: Table | Stream = source.scaled(self.scales) if self.scales else source
        return out

    @property
    def ways(self) -> dict[str, str]:
        """How each number is modelled, in a word or two."""
        return {n: _word(self.scales.get(n)) for n in self.asked}

    @property
    def notes(self) -> tuple[str, ...]:
        """A line that says so and why; none where all are as they were."""
        ways = self.ways
        if set(ways.values()) <= {"gaussian"} and not self.late:
            return ()
        groups = {way: [n for n in ways if ways[n] == way] for way in dict.fromkeys(ways.values())}
        note = "; ".join(f"{shortened(names)} {way}" for way, names in groups.items())
        if len(self.heights) > 1:
            heights = ", ".join(f"{h:,.1f} {how}" for how, h in self.heights.items())
            note += f" (ln P of {many(self.rows, 'row')}: {heights})"
        return (f"numbers: {note}" + (f"; {self.late}" if self.late else ""),)

    def told(
        self, net: Network, source: Any, left: float | None = None, limit: float | None = None
    ) -> Network:
        """A network with a record that says how each number is modelled, and why.

        Its score is that of the user's numbers, as `cr.score` gives it; of the seconds that were
        `left` after choosing it speaks as of all that were given.
        """
        record = net.record
        assert record is not None and record.score is not None
        notes, height = tuple(record.notes), record.score
        if left is not None and limit is not None:
            spent, asked = f"budget of {left:g} s", f"budget of {limit:g} s"
            notes = tuple(n.replace(spent, asked) for n in notes)
            record = replace(record, reason=record.reason.replace(spent, asked))
        terms = math.fsum(scale_terms(source, net.names).values())
        details, notes = {**record.details, "numbers": self.ways}, (*notes, *self.notes)
        trace = tuple(t + terms for t in record.trace)
        told = replace(record, score=height + terms, trace=trace, notes=notes, details=details)
        return net.with_record(told)


def asked_numbers(numbers: Any, names: Sequence[str]) -> dict[str, Any]:
    """What was asked of each continuous column: one of `WAYS`, a kind of transform, or cut points.

    >>> asked_numbers({"fare": "log"}, ["age", "fare"])
    {'age': 'gaussian', 'fare': 'log'}
    """
    if isinstance(numbers, str):
        if numbers not in WAYS:
            raise InputError(
                f"numbers must be one of {', '.join(map(repr, WAYS))} or a mapping from column to "
                f"one, got {numbers!r}.",
                hint="A kind of transform is given by column: numbers={'fare': 'log'}.",
            )
        return dict.fromkeys(names, numbers)
    if not isinstance(numbers, Mapping):
        raise InputError(
            f"numbers must be one of {', '.join(map(repr, WAYS))} or a mapping from column to one, "
            f"got {numbers!r}."
        )
    for name, way in numbers.items():
        if name not in names:
            raise unknown_name("The column", name, names, "one of the numbers")
        if isinstance(way, str) and way not in (*WAYS, *KINDS):
            ways = ", ".join(map(repr, (*WAYS, *KINDS)))
            raise InputError(f"The numbers of {name!r} are modelled as {ways}, got {way!r}.")
    return {n: numbers.get(n, "gaussian") for n in names}


def number_names(source: Any) -> list[str]:
    """The continuous columns of a table or stream that have no scale yet."""
    if not isinstance(source, (Table, Stream)):
        return []
    return [v.name for v in source.schema.variables if not v.is_discrete and v.scale is None]


def plain_numbers(numbers: Any) -> Any:
    """What was asked of the numbers, in plain values."""
    if isinstance(numbers, str):
        return numbers
    return {n: w if isinstance(w, str) else [float(c) for c in w] for n, w in numbers.items()}


def cut_points_given(name: str, given: Any) -> list[float]:
    """Cut points that were given, checked."""
    try:
        cuts = [float(c) for c in given]
    except (TypeError, ValueError):
        cuts = [math.nan]
    if not np.isfinite(cuts).all() or (np.diff(cuts) <= 0).any():
        raise InputError(f"The cut points of {name!r} must be rising numbers, got {given!r}.")
    return cuts


def _word(scale: Scale | None) -> str:
    if scale is None:
        return "gaussian"
    if isinstance(scale, Transform):
        return "transformed"
    if scale.counts:
        return "counts"
    return f"in {number(len(scale))} bins" if len(scale) > 1 else "by its own density"
