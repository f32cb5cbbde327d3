"""A tree of merges: every row alone at first, two clusters joined at each step, one at the end.

SciPy's form: row t of `links` holds the two clusters that merge (rows are 0 to n − 1, merge t makes
cluster n + t), the height at which they do, and how many rows the new cluster has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError
from credo.core.frozen import Frozen
from credo.core.render import number, text_html
from credo.stats.configurations import frozen
from credo.train.clusters.candidates import largest

__all__ = ["Tree"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree(Frozen):
    """The tree of an agglomerative clustering; `cut` makes clusters of it.

    >>> import credo as cr
    >>> rows = {"x": [0.0, 0.1, 5.0, 5.2, 9.0]}
    >>> tree = cr.cluster(rows, "single", k=2, scale="none").tree
    >>> print(tree)
    single link of 5 rows: heights 0.1 to 4.9; the largest gap is at 3 clusters
    >>> tree.cut(k=3).tolist(), tree.cut(height=1).tolist(), tree.cut("gap").tolist()
    ([0, 0, 1, 1, 2], [0, 0, 1, 1, 2], [0, 0, 1, 1, 2])
    """

    links: Floats
    method: str
    of: str = "rows"  # or the "nodes" of a graph

    def __post_init__(self) -> None:
        links = np.ascontiguousarray(self.links, dtype=np.float64)
        object.__setattr__(self, "links", frozen(links))

    @property
    def rows(self) -> int:
        """The number of rows, or of a graph's nodes."""
        return len(self.links) + 1

    @property
    def heights(self) -> Floats:
        """The height of each merge, in the order of the merges."""
        heights: Floats = self.links[:, 2]
        return heights

    def cut(self, by: str | None = None, *, k: int | None = None, height: Any = None) -> Labels:
        """The cluster of each row, numbered by their first rows.

        `k` asks for so many clusters, `height` undoes every merge above it, "gap" cuts where the
        next merge is highest above the last one.
        """
        if (by is not None) + (k is not None) + (height is not None) != 1:
            raise InputError("A cut is made by one of k=, height= and 'gap'.")
        if by is not None:
            if by != "gap":
                raise InputError(f"A tree is cut by k=, height= or 'gap', got {by!r}.")
            return self._first(self.rows - self.gap_k())
        if height is not None:
            real = isinstance(height, (int, float, np.number)) and not isinstance(height, bool)
            if not real or height != height:
                raise InputError(f"height must be a number, got {height!r}.")
            if height < 0:
                raise InputError(f"height must be 0 or more, got {height!r}.")
            above = np.maximum.accumulate(self.heights) > height
            return self._first(int(above.argmax()) if above.any() else len(above))
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= self.rows:
            raise InputError(f"k must be a whole number from 1 to {self.rows:,}, got {k!r}.")
        return self._first(self.rows - int(k))

    def height_of(self, k: int) -> float:
        """A height at which a line cuts the tree into k clusters: midway between two merges."""
        n = self.rows
        low = float(self.heights[n - k - 1]) if k < n else 0.0
        high = float(self.heights[n - k]) if k > 1 else low * 1.05 + (low == 0)
        return (low + high) / 2

    def gaps(self, most: int | None = None) -> dict[int, float]:
        """For each number of clusters from 2, how far the tree can be climbed with it."""
        n = self.rows
        most = n - 1 if most is None else min(most, n - 1)
        h = self.heights
        return {k: float(h[n - k] - h[n - k - 1]) for k in range(2, most + 1)}

    def gap_k(self, most: int | None = None) -> int:
        """The number of clusters at the largest gap; of equal gaps the smallest."""
        gaps = self.gaps(most)
        return largest(gaps) if gaps else self.rows

    def _first(self, merges: int) -> Labels:
        """The clusters after the first so many merges."""
        return _core.labels_of_links(self.links, merges)

    def _repr_html_(self) -> str:
        return text_html(self)

    def __str__(self) -> str:
        h = self.heights
        return (
            f"{self.method} link of {self.rows:,} {self.of}: "
            f"heights {number(float(h.min()), 4)} to {number(float(h.max()), 4)}; "
            f"the largest gap is at {self.gap_k()} clusters"
        )

    def __repr__(self) -> str:
        return f"Tree({self.method} link, {self.rows:,} {self.of})"
