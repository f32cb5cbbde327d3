"""Candidates: mixtures of different sizes side by side, and what each criterion says of them.

    BIC   ln P(rows | θ̂) − ½·parameters·ln n
    ICL   BIC − entropy of the responsibilities              (Biernacki, Celeux & Govaert 2000)
    CS    ln P(D' | prior) − ln P(D' | θ̂) + ln P(rows | θ̂)   (Cheeseman & Stutz 1996)

D' are the rows completed by their expected classes. All three are on the scale of ln P(rows):
higher is better.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.core.render import Shown, View

CRITERIA = ("bic", "icl", "cheeseman-stutz")
"""What the number of classes can be chosen by."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One number of classes, and how well it did."""

    k: int
    log_likelihood: float
    parameters: int
    bic: float
    icl: float
    cheeseman_stutz: float

    def by(self, criterion: str) -> float:
        """The value of a criterion."""
        return float(getattr(self, criterion.replace("-", "_")))


@dataclass(frozen=True, slots=True)
class Candidates(Shown):
    """All numbers of classes that were tried, and the criterion that chose among them.

    >>> tried = Candidates((Candidate(1, -20.0, 2, -22.0, -22.0, -23.0),
    ...                     Candidate(2, -15.0, 5, -20.0, -20.5, -21.0)), "bic")
    >>> print(tried)
    k  log-likelihood  parameters    BIC    ICL  Cheeseman–Stutz  P(k)
    1         -20.000           2  -22.0  -22.0            -23.0  0.12
    2         -15.000           5  -20.0  -20.5            -21.0  0.88  chosen by bic
    """

    tried: tuple[Candidate, ...]
    criterion: str

    @property
    def best(self) -> Candidate:
        """The one with the highest criterion; of equals the smallest."""
        return max(self.tried, key=lambda c: (c.by(self.criterion), -c.k))

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """P(k | rows) for the numbers tried, if the criterion is taken for ln P(rows | k)."""
        heights = np.array([c.by(self.criterion) for c in self.tried])
        p = np.exp(heights - heights.max())
        shares: NDArray[np.float64] = p / p.sum()
        return shares

    def _view(self) -> View:
        head = ["k", "log-likelihood", "parameters", "BIC", "ICL", "Cheeseman–Stutz", "P(k)", ""]
        best, rows = self.best, []
        for c, p in zip(self.tried, self.probabilities, strict=True):
            rows.append(
                [
                    str(c.k), f"{c.log_likelihood:.3f}", str(c.parameters), f"{c.bic:.1f}",
                    f"{c.icl:.1f}", f"{c.cheeseman_stutz:.1f}", f"{p:.2f}",
                    f"chosen by {self.criterion}" if c is best else "",
                ]
            )  # fmt: skip
        return View("", head, rows, range(7))
