"""Rows from experiments: a row in which X was set says nothing of X's own family.

    P(rows | graph) = Π_i Π_{rows in which i was not set} P(x_i | parents(x_i))

Setting X cuts it from its parents, so such a row is left out of the tally of X's family and counts
for every other (Cooper & Yoo 1999). It is a mask in the tally: each child is counted on the rows in
which it was not set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, unknown_name
from credo.core.schema import Schema
from credo.data import Stream, Table
from credo.stats.family import Families
from credo.stats.tally import Tally

__all__ = ["Experiments", "experiments", "refuse_all_observed"]

Mask = NDArray[np.bool_]
_OBSERVED = {"", "none", "no", "obs", "observed", "observational", "-"}
"""What may stand in the column of experiments where nothing was set."""

_ALL_OBSERVED = ("chow-liu", "tan", "naive-bayes", "pc", "mmhc", "ges", "fci")


class Experiments:
    """A table with, for each variable that was ever set, the rows in which it was not.

    >>> import credo as cr
    >>> table = cr.read({"x": [0, 1, 1, 0], "y": [0, 1, 1, 1], "set": ["", "", "x", "y"]})
    >>> rows = experiments(table, "set")
    >>> rows.tally(["x", ("y", ["x"])])["x"].total, rows.targets
    (3, (('x',), ('y',)))
    """

    def __init__(self, table: Table, masks: Mapping[str, Mask]) -> None:
        self.table = table
        self.masks = masks
        self._parts: dict[bytes, Table] = {}
        self._keys = {n: np.packbits(mask).tobytes() for n, mask in masks.items()}
        for name, mask in masks.items():
            if mask.all():
                raise InputError(
                    f"{name!r} was set in every row, so nothing can be learned of it.",
                    hint="Leave it to the experiment: give rows in which it was not set, or leave "
                    "it out of the graph.",
                )

    @property
    def schema(self) -> Schema:
        """The variables, without those that tell what was set."""
        return self.table.schema

    @property
    def rows(self) -> int:
        """All rows."""
        return self.table.rows

    @property
    def targets(self) -> tuple[tuple[str, ...], ...]:
        """The sets of variables that were set together in some row, in the order of columns."""
        place = {n: i for i, n in enumerate(self.schema.names)}
        found = [names for names, _ in self.groups() if names]
        return tuple(sorted(found, key=lambda names: [place[n] for n in names]))

    @property
    def observed(self) -> Table | None:
        """The rows in which nothing was set; None if there are none."""
        masks = list(self.masks.values())
        kept = ~np.any(masks, axis=0) if masks else np.ones(self.rows, dtype=bool)
        return self.table.take(kept) if kept.any() else None

    def groups(self) -> list[tuple[tuple[str, ...], Table]]:
        """The rows by what was set in them."""
        names = [n for n in self.schema.names if n in self.masks]
        if not names:
            return [((), self.table)]
        whole = np.stack([self.masks[n] for n in names], axis=1)
        found, at = np.unique(whole, axis=0, return_inverse=True)
        return [
            (
                tuple(n for n, on in zip(names, row, strict=True) if on),
                self.table.take(np.ravel(at) == i),
            )
            for i, row in enumerate(found)
        ]

    def of(self, child: str) -> Table:
        """The rows in which a variable was not set."""
        key = self._keys.get(child)
        if key is None:
            return self.table
        if key not in self._parts:
            self._parts[key] = self.table.take(~self.masks[child])
        return self._parts[key]

    def tally(self, families: Any, *, threads: int | None = None) -> Tally:
        """The statistics of families, each on the rows in which its child was not set."""
        wanted = Families.of(families)
        listed = list(wanted)
        groups: dict[int, tuple[Table, list[Any]]] = {}
        for family in listed:
            part = self.of(family.child)
            groups.setdefault(id(part), (part, []))[1].append(family)
        tallies = {k: part.tally(own, threads=threads) for k, (part, own) in groups.items()}
        of = [tallies[id(self.of(f.child))] for f in listed]
        return Tally(wanted, lambda i: of[i][listed[i]], self.table.block.weight)


def experiments(source: Any, intervened: Any) -> Any:
    """A source with what was set in each row; the source itself where nothing is told."""
    if intervened is None:
        return source
    if isinstance(source, Stream):
        source = source.load()
    if not isinstance(source, Table):
        raise InputError(
            f"intervened= goes with rows, got {type(source).__name__}.",
            hint="Read them first: cr.read(…).",
        )
    if isinstance(intervened, str):
        masks = _named(source, intervened)
        told = [intervened]
    elif isinstance(intervened, Mapping):
        told = [c for c in intervened.values() if isinstance(c, str)]
        masks = {n: _mask(source, n, given) for n, given in intervened.items()}
    else:
        raise InputError(
            "intervened= is a column that names what was set, or a mapping from variable to a 0/1 "
            f"column or a mask, got {intervened!r}."
        )
    table = source.select([n for n in source.schema.names if n not in told])
    for name in masks:
        table.schema.index(name, "The variable that was set,")
    return Experiments(table, {n: m for n, m in masks.items() if m.any()})


def refuse_all_observed(source: Any, search: str, missing: str) -> None:
    """Refuse searches, and ways to fill gaps, that do not know of rows with something set."""
    if not isinstance(source, Experiments):
        return
    if search in _ALL_OBSERVED:
        raise InputError(
            f"The search {search!r} takes all rows as observed, so it does not go with "
            "intervened=.",
            hint="Choose hill-climb, tabu, anneal, order, exact or k2.",
        )
    if missing == "structural-em" and any(source.table.block.gaps):
        raise InputError(
            "Structural EM takes all rows as observed, so gaps do not go with intervened= here.",
            hint="Choose missing='available-cases' or missing='node-average'.",
        )


def _named(table: Table, column: str) -> dict[str, Mask]:
    """Masks from a column whose cells name the variables that were set."""
    variable = table.schema[column]
    if not variable.is_discrete:
        raise InputError(
            f"The column {column!r} of experiments must name variables, and it has numbers.",
            hint="Give a mapping from variable to a 0/1 column.",
        )
    codes = np.asarray(table.codes(column)).astype(np.int64)
    known = {n for n in table.schema.names if n != column}
    masks: dict[str, Mask] = {}
    for code, state in enumerate(variable.states):
        names = _cell(str(state), known, column)
        for name in names:
            masks[name] = masks.get(name, np.zeros(table.rows, dtype=bool)) | (codes == code)
    return masks


def _cell(text: str, known: set[str], column: str) -> Sequence[str]:
    if text in known:
        return [text]
    if text.strip().casefold() in _OBSERVED:
        return []
    names = [part.strip() for mark in ",;+" if mark in text for part in text.split(mark)]
    names = names or text.split()
    for name in names:
        if name not in known:
            raise unknown_name(f"What was set by {column!r},", name, sorted(known), "in the table")
    return names


def _mask(table: Table, name: str, given: Any) -> Mask:
    """The rows in which a variable was set, from a 0/1 column or a mask."""
    values = np.asarray(table[given] if isinstance(given, str) else given)
    if values.shape != (table.rows,):
        raise InputError(
            f"The mask of {name!r} must have a number for each of the {table.rows:,} rows, got "
            f"{values.shape}."
        )
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.full(table.rows, np.nan)
    if not np.isin(numbers, (0.0, 1.0)).all():
        raise InputError(f"The mask of {name!r} must be 0 or 1 (False or True) in each row.")
    return np.asarray(numbers == 1.0)
