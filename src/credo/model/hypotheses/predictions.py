"""Predictions over time: P(outcome next) after each step, by each rule, side by side.

average: Σ_h P(x | h) · P(h | data)          map, mle, mdl: P(x | the hypothesis picked)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from credo.core.errors import shown
from credo.core.frozen import Frozen
from credo.core.render import number, one_line, table_html, table_text
from credo.model.hypotheses.evidence import Floats
from credo.model.hypotheses.generalise import strip
from credo.model.hypotheses.observations import same
from credo.model.hypotheses.rules import known_rule

__all__ = ["Predictions", "brief", "curve", "shown_rows"]

_ROWS = 24  # steps shown before the middle is left out
_WIDE = 60  # cells of a curve
_LONG = 40  # characters of an observation


def curve(values: Floats, wide: int = _WIDE) -> str:
    """Probabilities over time as one row of blocks; a long row is sampled evenly.

    >>> curve(np.array([0.1, 0.5, 1.0]))
    '▁▄█'
    """
    if len(values) > wide:
        values = values[np.linspace(0, len(values) - 1, wide).round().astype(int)]
    return strip([min(1.0, float(v)) for v in values]).rstrip()


def brief(observation: Any) -> str:
    """An observation on one line, and not too long of it.

    >>> brief("lime"), brief(np.eye(2)), len(brief(list(range(10_000))))
    ('lime', '[[1. 0.] [0. 1.]]', 40)
    """
    text = str(observation)
    text = one_line(text if isinstance(observation, str) else " ".join(text.split()))
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"


def shown_rows(rows: int) -> list[int | None]:
    """Which rows of a long table to print: its two ends, with None between.

    >>> shown_rows(3), shown_rows(100)[8:13]
    ([0, 1, 2], [8, 9, None, 90, 91])
    """
    where = range(rows)
    return list(where) if rows <= _ROWS else [*where[:10], None, *where[-10:]]


@dataclass(frozen=True, eq=False, repr=False)
class Predictions(Frozen, Mapping[str, Floats]):
    """A mapping from rule to the probability of one outcome at each step; prints as a table.

    >>> p = Predictions("lime", np.array([0.0, 1.0]), (None, "lime"),
    ...                 {"average": np.array([0.5, 0.65]), "mle": np.array([0.0, 1.0])})
    >>> print(p)
    P(lime next)
    n  seen  average  mle
    0            0.5    0
    1  lime     0.65    1
    <BLANKLINE>
    average  ▄▅
    mle       █
    """

    outcome: Any
    n: Floats
    observations: tuple[Any, ...]
    by: Mapping[str, Floats]

    def __getitem__(self, rule: str) -> Floats:
        return self.by[known_rule(rule, tuple(self.by), "a way to predict")]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by)

    def __len__(self) -> int:
        return len(self.by)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Predictions):
            return NotImplemented
        return (
            same(self.outcome, other.outcome)
            and same(self.n, other.n)
            and same(self.observations, other.observations)
            and list(self.by) == list(other.by)
            and all(same(self.by[r], other.by[r]) for r in self.by)
        )

    def __hash__(self) -> int:
        return hash((tuple(self.by), self.n.tobytes()))

    def __repr__(self) -> str:
        return f"<Predictions of {shown(self.outcome)} at {len(self.n):,} steps>"

    def _table(self) -> tuple[list[str], list[list[str]], list[int]]:
        rows = []
        for i in shown_rows(len(self.n)):
            if i is None:
                rows.append(["…", "", *("" for _ in self.by)])
                continue
            seen = brief(self.observations[i]) if i else ""
            rows.append([number(self.n[i]), seen, *(number(v[i], 4) for v in self.by.values())])
        return ["n", "seen", *self.by], rows, [0, *range(2, 2 + len(self.by))]

    def __str__(self) -> str:
        head, rows, right = self._table()
        lines = [f"{rule:<7}  {curve(values)}".rstrip() for rule, values in self.by.items()]
        table = table_text(head, rows, right=right)
        return f"P({brief(self.outcome)} next)\n{table}\n\n" + "\n".join(lines)

    def _repr_html_(self) -> str:
        head, rows, right = self._table()
        return table_html(head, rows, right=right, caption=f"P({brief(self.outcome)} next)")
