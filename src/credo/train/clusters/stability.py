"""Stability: would other rows have given the same groups?

The clustering is repeated on resamples of 80 % of the rows, and each is compared with the answer on
the rows they share by the adjusted Rand index: 1 the same groups, 0 as by chance (Hubert & Arabie
1985; resampling as in Ben-Hur, Elisseeff & Guyon 2002).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.errors import CredoError, InputError
from credo.progress import track
from credo.render import text_html
from credo.train.clusters.partition import Partition
from credo.train.clusters.quality import adjusted_rand

__all__ = ["SHARE", "Stability", "stability_of"]

SHARE = 0.8


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
    again: Callable[[NDArray[np.intp], int], Partition],
    samples: int,
    seed: int,
    of: str = "rows",
) -> Stability:
    """Cluster `samples` resamples of n rows with `again(rows, seed)` and compare.

    Of a graph they are nodes, with the ties among them.
    """
    chance = np.random.default_rng(seed)
    size = max(round(SHARE * n), 2)
    found = []
    for _ in track(range(samples), "resampling", total=samples):
        rows = np.sort(chance.choice(n, size, replace=False))
        try:
            part = again(rows, int(chance.integers(1 << 31)))
        except CredoError as error:
            raise InputError(
                f"The clustering could not be repeated on 80 % of the {of}: {error}",
                hint="Leave stability= out, or ask for fewer clusters.",
            ) from None
        found.append(adjusted_rand(labels[rows], part.labels))
    return Stability(tuple(found), of)
