"""Which k? Candidates side by side, and the one that a criterion chooses.

    silhouette   the largest mean silhouette
    gap          the smallest k with Gap(k) ≥ Gap(k+1) − s(k+1), where Gap compares ln W with that
                 of rows drawn uniformly in the box of the data (Tibshirani, Walther & Hastie 2001)
    height       the largest gap between the heights of a tree's merges
    eigengap     the largest gap between the first eigenvalues of the graph (spectral)
    bic, icl     the best score of a mixture

None of them is a proof: look at the table, the picture, and what the groups are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from credo.core.frozen import Frozen
from credo.core.render import Shown, View, number
from credo.model.methods.pictures import picture

_SAME = (
    1e-12  # scores that differ by less, as a share of the largest, are the same but for rounding
)


def largest(scores: Mapping[int, float]) -> int:
    """The k of the largest score; of equal ones, but for rounding, the smallest.

    >>> largest({2: 0.1, 3: 0.1 + 0.2, 4: 0.3})
    3
    >>> largest({2: 0.3, 3: 0.1 + 0.2})
    2
    """
    top = max(scores.values())
    reach = _SAME * max(abs(v) for v in scores.values())
    return min(k for k, v in scores.items() if v >= top - reach)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Candidates(Shown, Frozen):
    """What is known of each number of clusters; `k` is the one that `by` chooses.

    A `note` says that none met the rule; `k` is then the last one tried.

    >>> import credo as cr
    >>> rows = {"x": [0.0, 0.1, 0.2, 5.0, 5.2, 5.1, 9.0, 9.1, 9.2]}
    >>> found = cr.which_k(rows, "average")
    >>> found.k, found.by
    (3, 'height')
    """

    method: str
    by: str
    k: int
    rows: Mapping[int, Mapping[str, float]]
    note: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """What is known of each candidate."""
        return tuple(dict.fromkeys(n for row in self.rows.values() for n in row))

    def __getitem__(self, k: int) -> Mapping[str, float]:
        return self.rows[k]

    def _view(self) -> View:
        names = self.names
        head = ["k", *(n.replace("_", " ") for n in names), ""]
        rows = [
            [
                str(k),
                *(number(row[n], 4) if n in row else "" for n in names),
                self._mark if k == self.k else "",
            ]
            for k, row in self.rows.items()
        ]
        note = f"noticed: {self.note}" if self.note else ""
        return View("", head, rows, range(len(names) + 1), note)

    @property
    def _mark(self) -> str:
        return f"◀ the last tried, not by {self.by}" if self.note else f"◀ by {self.by}"

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """The criterion against k, the chosen one marked."""
        return picture("candidates")(self, ax, **options)

    def __repr__(self) -> str:
        return f"Candidates({self.method}, k = {self.k} by {self.by})"
