"""Pictures of a hypothesis space: how beliefs and predictions move as observations come.

    P(h | x₁ … x_i)   and   P(x | x₁ … x_i)   against   i

Each function draws on the axes it is given, or on new ones, and gives them back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.errors import InputError, MissingPackageError, unknown_name

if TYPE_CHECKING:
    from credo.model.hypotheses import Hypotheses

__all__ = ["posterior_curves", "prediction_curve"]

RULES = ("average", "map", "mle", "mdl")

_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")  # told apart without colour
_DASHES = {"average": "-", "map": "--", "mle": ":", "mdl": "-."}


def _axes(ax: Any) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingPackageError(
            "Pictures need matplotlib, which is not installed.", hint='pip install "credo[plot]"'
        ) from None
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def _every(h: Hypotheses, most: int = 500) -> Any:
    """The history, with at most about `most` points: a curve needs no more."""
    steps = len(h.history) - 1
    return h.history.every(max(1, -(-steps // most)))


def posterior_curves(h: Hypotheses, ax: Any = None, *, most: int = 8) -> Any:
    """The posterior of each hypothesis after each observation; of many, the `most` highest.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> from credo.model.hypotheses import Hypotheses
    >>> h = Hypotheses({"fair": {0: 0.5, 1: 0.5}, "bent": {0: 0.9, 1: 0.1}}).observe([0, 0, 1])
    >>> ax = posterior_curves(h)
    >>> [line.get_label() for line in ax.lines]
    ['fair', 'bent']
    """
    if not isinstance(most, int) or most < 1:
        raise InputError(f"At least one hypothesis must be drawn, got most={most!r}.")
    ax = _axes(ax)
    history = _every(h)
    peaks = history.posteriors.max(axis=0)
    shown = sorted(np.argsort(-peaks, kind="stable")[:most].tolist())
    for i, k in enumerate(shown):
        ax.plot(
            history.n,
            history.posteriors[:, k],
            label=str(history.names[k]),
            marker=_MARKS[i % len(_MARKS)] if len(history) <= 50 else None,
            markersize=4,
        )
    _finish(ax, "P(hypothesis | observations)")
    return ax


def prediction_curve(
    h: Hypotheses, outcome: Any, ax: Any = None, *, by: str | Sequence[str] = ("average",)
) -> Any:
    """The probability that `outcome` comes next, after each observation, by one or more rules.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> from credo.model.hypotheses import Hypotheses
    >>> h = Hypotheses({"fair": {0: 0.5, 1: 0.5}, "bent": {0: 0.9, 1: 0.1}}).observe([0, 0, 1])
    >>> ax = prediction_curve(h, 0, by=("average", "map"))
    >>> ax.get_ylabel(), [line.get_label() for line in ax.lines]
    ('P(0 next | observations)', ['average', 'map'])
    """
    rules = (by,) if isinstance(by, str) else tuple(by)
    for rule in rules:
        if rule not in RULES:
            raise unknown_name("The rule", rule, RULES, "a way to predict")
    ax = _axes(ax)
    history = _every(h)
    predictions = history.predictions(outcome)
    for rule in rules:
        ax.plot(
            history.n,
            predictions[rule],
            _DASHES[rule],
            label=rule,
            marker=_MARKS[RULES.index(rule)] if len(history) <= 50 else None,
            markersize=4,
        )
    _finish(ax, f"P({outcome} next | observations)")
    return ax


def _finish(ax: Any, label: str) -> None:
    ax.set_xlabel("observations")
    ax.set_ylabel(label)
    low, high = ax.get_ylim()
    if min(line.get_ydata().min() for line in ax.lines) >= 0 and high <= 1.2:
        low, high = -0.02, 1.02  # probabilities; a density keeps its own scale
    ax.set_ylim(low, high)
    if len(ax.lines) > 1:
        ax.legend(frameon=False)
