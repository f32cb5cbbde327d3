"""Pictures of a hypothesis space: how beliefs and predictions move as observations come.

    P(h | x₁ … x_i)   and   P(x | x₁ … x_i)   against   i

Each function draws on the axes it is given, or on new ones, and gives them back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.core.errors import InputError, LimitError
from credo.model.hypotheses.history import RULES
from credo.model.hypotheses.rules import brief, known_rule
from credo.model.values.reals import shown
from credo.model.values.value import listed
from credo.plot.axes import MARKS, axes, entry, legend, name_bars, words

if TYPE_CHECKING:
    from credo.model.hypotheses.generalise import Generalisation
    from credo.model.hypotheses.hypotheses import Hypotheses

MOST_BARS = 1_000
"""At most this many bars are drawn."""

_DASHES = {"average": "-", "map": "--", "mle": ":", "mdl": "-."}


def _check(h: Any) -> None:
    from credo.model.hypotheses.hypotheses import Hypotheses

    if not isinstance(h, Hypotheses):
        raise InputError(f"A space of hypotheses is needed, got {shown(h)}.")


def _every(h: Hypotheses, most: int = 500) -> Any:
    """The history, with at most about `most` points: a curve needs no more."""
    steps = len(h.history) - 1
    return h.history.every(max(1, -(-steps // most)))


def posterior_curves(h: Hypotheses, ax: Any = None, *, most: int = 8) -> Any:
    """The posterior of each hypothesis after each observation; of many, the `most` highest.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> from credo.model.hypotheses.hypotheses import Hypotheses
    >>> h = Hypotheses({"fair": {0: 0.5, 1: 0.5}, "bent": {0: 0.9, 1: 0.1}}).observe([0, 0, 1])
    >>> ax = posterior_curves(h)
    >>> [line.get_label() for line in ax.lines]
    ['fair', 'bent']
    """
    _check(h)
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise InputError(f"At least one hypothesis must be drawn, got most={shown(most)}.")
    ax = axes(ax)
    history = _every(h)
    peaks = history.posteriors.max(axis=0)
    drawn = sorted(np.argsort(-peaks, kind="stable")[:most].tolist())
    for i, k in enumerate(drawn):
        ax.plot(
            history.n,
            history.posteriors[:, k],
            label=entry(history.names[k]),
            marker=MARKS[i % len(MARKS)] if len(history) <= 50 else None,
            markersize=4,
        )
    _finish(ax, "P(hypothesis | observations)")
    return ax


def prediction_curve(
    h: Hypotheses, outcome: Any, ax: Any = None, *, by: str | Sequence[str] = ("average",)
) -> Any:
    """The probability that `outcome` comes next, after each observation, by one or more rules.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> from credo.model.hypotheses.hypotheses import Hypotheses
    >>> h = Hypotheses({"fair": {0: 0.5, 1: 0.5}, "bent": {0: 0.9, 1: 0.1}}).observe([0, 0, 1])
    >>> ax = prediction_curve(h, 0, by=("average", "map"))
    >>> ax.get_ylabel(), [line.get_label() for line in ax.lines]
    ('P(0 next | observations)', ['average', 'map'])
    """
    _check(h)
    rules = (by,) if isinstance(by, str) else listed(by, "by")
    if not rules:
        raise InputError(f"by must name at least one of {', '.join(map(repr, RULES))}, got none.")
    for rule in rules:
        known_rule(rule, RULES, "a way to predict")
    ax = axes(ax)
    history = _every(h)
    predictions = history.predictions(outcome)
    for rule in rules:
        ax.plot(
            history.n,
            predictions[rule],
            _DASHES[rule],
            label=rule,
            marker=MARKS[RULES.index(rule)] if len(history) <= 50 else None,
            markersize=4,
        )
    _finish(ax, f"P({brief(outcome)} next | observations)")
    return ax


def generalisation(
    g: Generalisation | Hypotheses, ax: Any = None, *, examples: Sequence[Any] = ()
) -> Any:
    """P(y belongs to the concept | data) for every outcome y, as bars; numbers keep their place.

    Given the hypotheses themselves, the examples seen are the bars of another colour.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> from credo.model.hypotheses.hypotheses import Hypotheses
    >>> h = Hypotheses({"even": {2, 4, 6}, "small": {1, 2, 3}}).observe(2)
    >>> ax = generalisation(h)
    >>> ax.get_ylabel(), [float(b.get_height()) for b in ax.patches]
    ('P(in the concept | examples)', [0.5, 1.0, 0.5, 0.5, 0.5])
    """
    from credo.model.hypotheses.generalise import Generalisation
    from credo.model.hypotheses.hypotheses import Hypotheses

    seen = listed(examples, "The examples")
    if isinstance(g, Hypotheses):
        seen = (*g.history.observations[1:], *seen)
        g = g.generalise()
    if not isinstance(g, Generalisation):
        raise InputError(
            f"A generalisation is needed, got {shown(g)}.", hint="Give h.generalise(), or h."
        )
    if len(g) > MOST_BARS:
        raise LimitError(f"{len(g):,} bars do not fit in a picture; at most {MOST_BARS:,} do.")
    ax = axes(ax)
    numbers = all(isinstance(x, int) and not isinstance(x, bool) for x in g.outcomes)
    where = list(g.outcomes) if numbers else list(range(len(g)))
    colours = ["C1" if x in seen else "C0" for x in g.outcomes]
    ax.bar(where, g.p, width=0.8, color=colours)
    if numbers:
        ax.margins(x=0.01)
    else:
        name_bars(ax, [str(x) for x in g.outcomes])
    words(ax, x="outcome", y="P(in the concept | examples)")
    ax.set_ylim(0, 1.02)
    if "C1" in colours:
        words(ax, title="the examples seen are in another colour", fontsize="small")
    return ax


def _finish(ax: Any, label: str) -> None:
    words(ax, x="observations", y=label)
    low, high = ax.get_ylim()
    if min(line.get_ydata().min() for line in ax.lines) >= 0 and high <= 1.2:
        low, high = -0.02, 1.02  # probabilities; a density keeps its own scale
    ax.set_ylim(low, high)
    if len(ax.lines) > 1:
        legend(ax)
