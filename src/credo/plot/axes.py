"""What every picture shares: its axes, the names of its bars, its legend.

A new figure is laid out so that nothing is cut off; axes of the user stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from credo.core.errors import InputError, MissingPackageError
from credo.model.values.reals import shown

MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Marks of curves, told apart without colour."""

_FEW = 12  # bars whose names stand upright
_NAMES = 40  # names that fit under the bars of one picture
_LONG = 18  # characters of a name under a bar


def axes(ax: Any = None) -> Any:
    """The axes to draw on: those given, or new ones."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingPackageError(
            "Pictures need matplotlib, which is not installed.",
            hint='Run pip install "credo[plot]".',
        ) from None
    if ax is None:
        return plt.subplots(layout="constrained")[1]
    if not callable(getattr(ax, "set_xlabel", None)):
        raise InputError(
            f"ax must be the axes of a matplotlib figure, got {shown(ax)}.",
            hint="Leave it out to draw on new ones.",
        )
    return ax


def plain(*texts: str) -> dict[str, Any]:
    """The option of texts that hold names: "$" is a sign like any other, and starts no formula.

    Without the sign there is no option: matplotlib would keep it for a text put there later.

    >>> plain("price in $"), plain("price")
    ({'parse_math': False}, {})
    """
    return {"parse_math": False} if any("$" in t for t in texts) else {}


def entry(text: object) -> str:
    """A name as an entry of a legend, where other entries may be formulas.

    Matplotlib leaves out what is empty or begins with "_": an unseen character goes before it.

    >>> print(entry("price in $"))
    price in \\$
    >>> entry("_hidden")
    '\\u200b_hidden'
    """
    shown = str(text).replace("$", r"\$")
    return f"\u200b{shown}" if not shown or shown.startswith("_") else shown


def words(
    ax: Any, x: str | None = None, y: str | None = None, title: str | None = None, **how: Any
) -> None:
    """The texts of a picture: beside its axes and above it; `how` is that of the title."""
    if x is not None:
        ax.set_xlabel(x, **plain(x))
    if y is not None:
        ax.set_ylabel(y, **plain(y))
    if title is not None:
        ax.set_title(title, **how, **plain(title))


def name_bars(ax: Any, labels: Sequence[str]) -> None:
    """Names under bars at 0, 1, …: on their side when there are many, and not all of too many."""
    step = -(-len(labels) // _NAMES)
    where = range(0, len(labels), step)
    names = [t if len(t) <= _LONG else t[: _LONG - 1] + "…" for t in (labels[i] for i in where)]
    many = len(names) > _FEW or sum(map(len, names)) > 60
    name_columns(ax, names, list(where), rotation=90 if many else 0)
    ax.tick_params(axis="x", labelsize="small" if len(names) > _FEW else "medium")
    ax.margins(x=0.01 if len(labels) > _FEW else 0.05)


def name_columns(
    ax: Any, names: Sequence[str], where: Sequence[float] | None = None, **how: Any
) -> None:
    """Names under what stands at 0, 1, …, or at the places given."""
    ax.set_xticks(range(len(names)) if where is None else where, names, **how, **plain(*names))


def name_rows(ax: Any, names: Sequence[str], turned: bool = True) -> None:
    """Names beside rows at 0, 1, …, the first on top unless it stands there already."""
    ax.set_yticks(range(len(names)), names, **plain(*names))
    if turned:
        ax.invert_yaxis()


def legend(ax: Any, most: int = 5) -> None:
    """A legend inside the axes for a few entries, beside them for more."""
    if len(ax.get_legend_handles_labels()[1]) <= most:
        ax.legend(frameon=False)
        return
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small")
