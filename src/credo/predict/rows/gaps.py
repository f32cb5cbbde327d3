"""Gaps: for each missing cell of a table, what the rest of its row says of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, unknown_name
from credo.core.frozen import Frozen
from credo.core.render import table_html, table_text
from credo.data import Table
from credo.model.answers.distribution import Distribution
from credo.model.distributions.gaussian import Gaussian

__all__ = ["Gaps"]

_SHOWN = 20


@dataclass(frozen=True, eq=False)
class Gaps(Frozen, Mapping[Any, Any]):
    """The posterior of every gap, by (row, variable); rows count from 0.

    `rows[name]` are the rows in which a variable is missing, and `posteriors[name]` its posteriors
    there: a column for each state, or mean and variance of a continuous variable.

    >>> import credo as cr
    >>> net = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> gaps = net.impute({"rain": [None, False], "wet": [True, None]}, method="posterior")
    >>> gaps[0, "rain"]
    Distribution(rain: False 0.333333, True 0.666667)
    >>> print(gaps)
    row from 0  variable  most probable         p
             0  rain      True           0.666667
             1  wet       False               0.9
    """

    table: Table
    rows: Mapping[str, NDArray[Any]]
    posteriors: Mapping[str, NDArray[np.float64]]

    def __getitem__(self, key: Any) -> Any:
        try:
            row, name = key
        except (TypeError, ValueError):
            raise InputError(f"A gap is named by (row, variable), got {key!r}.") from None
        if name not in self.rows:
            raise unknown_name("Variable", name, list(self.rows), "among those with gaps")
        at = np.flatnonzero(self.rows[name] == row)
        if not len(at):
            raise InputError(f"{name!r} is not missing in row {row!r}.")
        return self._posterior(name, int(at[0]))

    def _posterior(self, name: str, at: int) -> Any:
        variable, values = self.table.schema[name], self.posteriors[name][at]
        if variable.is_discrete:
            return Distribution((variable,), values)
        return Gaussian(float(values[0]), max(float(values[1]), 1e-300), name=name)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        yield from sorted((int(r), n) for n, rows in self.rows.items() for r in rows)

    def __len__(self) -> int:
        return sum(len(r) for r in self.rows.values())

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = []
        for _, (row, name) in zip(range(_SHOWN), self, strict=False):
            found = self[row, name]
            if self.table.schema[name].is_discrete:
                state = max(found, key=found.__getitem__)
                rows.append([str(row), name, str(state), f"{found[state]:.6g}"])
            else:
                rows.append([str(row), name, f"{found.mean:.6g}", f"± {found.variance**0.5:.4g}"])
        return ["row from 0", "variable", "most probable", "p"], rows

    def __str__(self) -> str:
        head, rows = self._table()
        more = len(self) - len(rows)
        return table_text(head, rows, right=[0, 3]) + (f"\n… {more:,} more gaps" if more else "")

    def __repr__(self) -> str:
        return f"Gaps({len(self):,} missing cells in {len(self.rows)} variables)"

    def _repr_html_(self) -> str:
        head, rows = self._table()
        return table_html(head, rows, right=[0, 3], caption=repr(self))
