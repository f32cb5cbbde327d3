"""A picture of learning: what was climbed, iteration by iteration."""

from __future__ import annotations

import textwrap
from typing import Any

from credo.core.errors import InputError
from credo.model.values.reals import shown
from credo.plot.axes import axes, words

__all__ = ["trace"]


def trace(model: Any, ax: Any = None, **line: Any) -> Any:
    """The trace of a learned model: the objective at the start and after each iteration.

    For EM and gradients it is the log-likelihood, for a search its score.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> rows = {"a": [0, 1, None, 1], "b": [0, 1, 1, 1]}
    >>> net = cr.em("[a][b|a]", rows)
    >>> ax = trace(net)
    >>> len(ax.lines[0].get_xdata()) == len(net.record.trace)
    True
    """
    record = getattr(model, "record", model)
    values = getattr(record, "trace", None)
    if not values:
        raise InputError(f"There is no trace to draw in {shown(model)}.")
    ax = axes(ax)
    few = len(values) <= 60
    ax.plot(range(len(values)), values, marker="o" if few else None, markersize=3, **line)
    ax.xaxis.get_major_locator().set_params(integer=True)  # there is no iteration 2.5
    words(ax, x="iteration")
    score = getattr(record, "details", {}).get("score")
    words(ax, y=f"score ({score})" if score else "ln P(rows)")
    title = f"{record.how}: {record.reason}" if record.reason else record.how
    words(ax, title="\n".join(textwrap.wrap(title, 60)), fontsize="small")
    return ax
