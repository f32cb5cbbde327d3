"""What every picture shares: its axes, the names of its bars, its legend.

A new figure is laid out so that nothing is cut off; axes of the user stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from credo.errors import InputError, MissingPackageError
from credo.model.reals import shown

__all__ = ["PLAIN", "axes", "legend", "name_bars", "name_rows"]

PLAIN: dict[str, Any] = {"parse_math": False}
"""The option of a text of the user's: "$" is a sign like any other, and starts no formula."""

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


def name_bars(ax: Any, labels: Sequence[str]) -> None:
    """Names under bars at 0, 1, …: on their side when there are many, and not all of too many."""
    step = -(-len(labels) // _NAMES)
    where = range(0, len(labels), step)
    names = [t if len(t) <= _LONG else t[: _LONG - 1] + "…" for t in (labels[i] for i in where)]
    many = len(names) > _FEW or sum(map(len, names)) > 60
    ax.set_xticks(list(where), names, rotation=90 if many else 0, **PLAIN)
    ax.tick_params(axis="x", labelsize="small" if len(names) > _FEW else "medium")
    ax.margins(x=0.01 if len(labels) > _FEW else 0.05)


def name_rows(ax: Any, names: Sequence[str]) -> None:
    """Names beside rows at 0, 1, …, the first on top."""
    ax.set_yticks(range(len(names)), names, **PLAIN)
    ax.invert_yaxis()


def legend(ax: Any, most: int = 5) -> None:
    """A legend inside the axes for a few entries, beside them for more."""
    if len(ax.get_legend_handles_labels()[1]) <= most:
        ax.legend(frameon=False)
        return
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small")
