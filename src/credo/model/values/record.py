"""Record: how a model came to be. Every learned model carries one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from credo.core.frozen import Frozen
from credo.core.render import Told, number

if TYPE_CHECKING:
    from credo.model.networks.family_report import FamilyReport

__all__ = ["Record"]


@dataclass(frozen=True)
class Record(Told, Frozen):
    """How a model was made: by what, from what, with what result. A fit is told in plain words.

    >>> import credo as cr
    >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.BDeu(2))
    >>> print(net.record)
    fit from pneumonia.csv
      12 rows
      2 families, 3 parameters
      prior BDeu(2): posterior means
      log-likelihood -16.303219, log-evidence -19.701257
      no row skipped
      ... s
    >>> print(Record(how="read from asia.bif", notes=("3 rows were rescaled",)))
    read from asia.bif
      3 rows were rescaled
    """

    how: str
    source: str = ""
    score: float | None = None
    trace: tuple[float, ...] = ()
    reason: str = ""
    seconds: float | None = None
    seed: int | None = None
    notes: Sequence[str] = ()
    details: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def families(self) -> FamilyReport:
        """A fit, family by family: rows, likelihood, evidence; it prints as a table."""
        from credo.model.networks.family_report import FamilyReport

        return FamilyReport(self.details.get("families", ()))

    def _fit_lines(self) -> list[str]:
        """The fit in plain lines; after EM the log-likelihood is that of the cells observed."""
        lines, seen = self.families.lines, self.details.get("log_likelihood")
        whole = sum(f["log_likelihood"] for f in self.families)
        if not lines or not isinstance(seen, float) or abs(seen - whole) <= 1e-9 * abs(whole):
            return lines
        told = f"log-likelihood of the observed cells {seen:.6f}"
        return [told if line.startswith("log-likelihood ") else line for line in lines]

    def _proof_lines(self) -> list[str]:
        """What an exact search knows of all other graphs."""
        bound = self.details.get("bound")
        if bound is None or self.score is None:
            return []
        if self.details.get("proven"):
            return [f"bound {bound:.6f}: proven optimal"]
        if not math.isfinite(bound):
            return ["no bound, not proven"]
        gap = f"no graph is more than {bound - self.score:.6g} above it"
        return [f"bound {bound:.6f}, not proven: {gap}"]

    def __str__(self) -> str:
        lines = [self.how + (f" from {self.source}" if self.source else "")]
        rows = self.details.get("rows")
        if isinstance(rows, (int, float)):
            lines.append("1 row" if rows == 1 else f"{number(rows)} rows")
        searched = self.score is not None and "search" in self.details
        if searched:
            lines.append(f"score {self.details.get('score', '')} {self.score:.6f}")
            lines += self._proof_lines()
        lines += self._fit_lines()
        if self.score is not None and not searched and not self.details.get("families"):
            lines.append(f"score {self.score:.6f}")
        if self.reason:
            lines.append(f"stopped: {self.reason}")
        if self.seconds is not None:
            lines.append(f"{self.seconds:.3g} s")
        if self.seed is not None:
            lines.append(f"seed {self.seed}")
        return "\n  ".join([*lines, *self.notes])
