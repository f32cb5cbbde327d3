"""Stability: would other rows have given the same groups?

The clustering is repeated on resamples of 80 % of the rows, and each is compared with the answer on
the rows they share by the adjusted Rand index: 1 the same groups, 0 as by chance (Hubert & Arabie
1985; resampling as in Ben-Hur, Elisseeff & Guyon 2002). Where a weight stands for copies of a row,
copies are drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoError, InputError
from credo.core.progress import track
from credo.core.render import text_html
from credo.train.clusters.partition import Partition
from credo.train.clusters.quality import adjusted_rand

__all__ = ["SHARE", "Stability", "stability_of"]

SHARE = 0.8

_COPIES = 10_000_000  # which are drawn one by one, at most


@dataclass(frozen=True, slots=True)
class Stability:
    """The agreement of the answer with that of each resample."""

    agreement: tuple[float, ...]
    of: str = "rows"

    @property
    def mean(self) -> float:
        """The mean agreement."""
        return float(np.mean(self.agreement))

    @property
    def sd(self) -> float:
        """How much the agreement varies between resamples."""
        return float(np.std(self.agreement, ddof=1)) if len(self.agreement) > 1 else 0.0

    def _repr_html_(self) -> str:
        return text_html(self)

    def __str__(self) -> str:
        n = len(self.agreement)
        if n == 1:
            return f"adjusted Rand {self.mean:.3f} on one resample of 80 % of the {self.of}"
        return (
            f"adjusted Rand {self.mean:.3f} ± {self.sd:.3f} over {n} resamples of 80 % of the "
            f"{self.of}, least {min(self.agreement):.3f}"
        )


def stability_of(
    n: int,
    labels: NDArray[np.intp],
    again: Callable[[NDArray[np.intp], NDArray[np.int64], int], Partition],
    samples: int,
    seed: int,
    of: str = "rows",
    copies: NDArray[np.integer] | None = None,
) -> Stability:
    """Cluster `samples` resamples of n rows with `again(rows, copies of each, seed)` and compare.

    Of a graph they are nodes, with the ties among them. `copies` says how many rows each stands
    for.
    """
    chance = np.random.default_rng(seed)
    many = np.ones(n, dtype=np.int64) if copies is None else copies.astype(np.int64)
    found = []
    for _ in track(range(samples), "resampling", total=samples):
        drawn = _drawn(many, chance)
        rows = np.flatnonzero(drawn)
        try:
            part = again(rows, drawn[rows], int(chance.integers(1 << 31)))
        except CredoError as error:
            raise InputError(
                f"The clustering could not be repeated on 80 % of the {of}: {error}",
                hint="Leave stability= out, or ask for fewer clusters.",
            ) from None
        found.append(adjusted_rand(labels[rows], part.labels, drawn[rows]))
    return Stability(tuple(found), of)


def _drawn(copies: NDArray[np.int64], chance: np.random.Generator) -> NDArray[np.int64]:
    """How many copies of each row are in a resample."""
    ends = np.cumsum(copies)
    total = int(ends[-1])
    if total > _COPIES:
        return chance.binomial(copies, SHARE)
    size = max(round(SHARE * total), 2)
    rows = np.searchsorted(ends, chance.choice(total, size, replace=False), "right")
    return np.bincount(rows, minlength=len(copies))
