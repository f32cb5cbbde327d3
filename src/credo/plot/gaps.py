"""A picture of the gaps of a table: which columns miss cells together, and how often.

Each row is a pattern, as tall as the share of rows that have it; dark cells are missing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.core.errors import InputError
from credo.plot.axes import axes, name_columns, words
from credo.train.independence.missingness import Missingness
from credo.train.independence.missingness import missingness as _missingness

__all__ = ["missingness"]


def missingness(what: Any, ax: Any = None, *, most: int = 20, columns: int = 40) -> Any:
    """The patterns of missing cells, the most frequent first; `what` is a table or a report.

    Of many columns those with the most gaps are drawn, of many patterns the most frequent; what
    is left out is said.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> ax = missingness({"a": [1, 2, None, None, 2], "b": ["x", None, "y", "y", "x"]})
    >>> [t.get_text() for t in ax.get_yticklabels()]
    ['40.0 % complete', '40.0 %', '20.0 %']
    >>> ax.get_title()
    '30.0 % of the cells are missing'
    """
    report = what if isinstance(what, Missingness) else _missingness(what)
    if most < 1 or columns < 1:
        raise InputError("At least one pattern and one column must be drawn.")
    ax = axes(ax)
    order = sorted(report.rates, key=lambda n: -report.rates[n])[:columns]
    kept = set(order)
    names = [n for n in report.rates if n in kept]
    patterns = report.patterns[:most]
    grid = np.zeros((len(patterns), len(names)))
    for i, (gone, _) in enumerate(patterns):
        inside = set(gone)
        grid[i] = [n in inside for n in names]
    ax.imshow(grid, cmap="Blues", vmin=0, vmax=1.25, aspect="auto", interpolation="nearest")
    ax.set_xticks(np.arange(len(names) + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(len(patterns) + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="0.85", linewidth=0.6)
    ax.tick_params(which="minor", length=0)
    labels = [n if len(n) <= 18 else n[:17] + "…" for n in names]
    texts = [f"{t} {report.rates[n]:.0%}" for t, n in zip(labels, names, strict=True)]
    name_columns(ax, texts, rotation=90)
    ax.tick_params(axis="x", labelsize="small")
    shares = [f"{s:.1%}".replace("%", " %") + ("" if n else " complete") for n, s in patterns]
    ax.set_yticks(range(len(patterns)), shares)
    more = len(report.patterns) - len(patterns)
    rest = sum(s for _, s in report.patterns[most:])
    words(ax, y="share of the rows")
    left = len(report.rates) - len(names)
    said = [f"{more:,} more patterns, {rest:.1%} of the rows"] if more else []
    said += [f"{left:,} more columns"] if left else []
    if said:
        words(ax, x="not drawn: " + "; ".join(said))
    words(ax, title=f"{report.cells:.1%} of the cells are missing".replace("%", " %"))
    return ax
