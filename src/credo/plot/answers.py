"""Pictures of what a network believes: one parameter before and after data, and how an answer
moves with what is observed.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from credo.core.errors import CredoWarning, ImpossibleError, InputError
from credo.model.distributions.beta import Beta
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network
from credo.model.values.reals import shown
from credo.plot.axes import MARKS, axes, entry, legend, name_bars, words
from credo.plot.distributions import prior_posterior


def parameter(
    table: Cpt, state: Any, given: Mapping[str, Any] | None = None, ax: Any = None
) -> Any:
    """The prior and the posterior density of one entry of a table, P(state | given).

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.Beta(3, 4))
    >>> ax = parameter(net.cpt("Fev"), "T", {"Pneu": "T"})
    >>> [line.get_label() for line in ax.lines], ax.get_xlabel()
    (['prior', 'posterior'], 'P(Fev = T | Pneu = T)')
    """
    if not isinstance(table, Cpt):
        raise InputError(f"A table is needed, got {shown(table)}.", hint="Give net.cpt('name').")
    if table.counts is None:
        table.interval()  # says that there is no posterior, and what to do
    assert table.counts is not None
    known = {} if given is None else given
    table.row(known)  # checks the names and states of the parents
    at = tuple(p.code(known[p.name]) for p in table.parents)
    k = table.child.code(state)

    def belief(counts: Any) -> Beta:
        row = np.asarray(counts)[at]
        return Beta(float(row[k]), float(row.sum() - row[k]))

    after = belief(table.counts)
    before = after if table.prior is None else belief(table.prior)
    said = ", ".join(f"{n} = {known[n]}" for n in (p.name for p in table.parents))
    title = f"P({table.name} = {state}{' | ' if said else ''}{said})"
    if not after.is_proper:
        raise InputError(f"{title} is not uncertain: its posterior is a point.")
    ax = prior_posterior(before, after, ax)
    if table.prior is None:
        ax.lines[0].remove()
        ax.legend()
    words(ax, x=title)
    return ax


def response(
    model: Any,
    target: str,
    over: str,
    ax: Any = None,
    *,
    given: Mapping[str, Any] | None = None,
    span: Any = None,
    interval: float | None = None,
) -> Any:
    """How the answer about `target` moves with the value of `over`: P(target | over = x, given).

    One line for each state of the target. A continuous `over` runs through `span`, a pair of
    numbers, or through its mean ± 2.5 standard deviations. `interval=0.95` adds bands (for a
    network learned with a prior).

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> net = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> ax = response(net, "rain", over="wet")
    >>> ax.get_ylabel(), [round(float(y), 3) for y in ax.lines[1].get_ydata()]
    ('P(rain | wet)', [0.053, 0.667])
    """
    if not hasattr(model, "variable") or not hasattr(model, "p"):
        raise InputError(f"A network is needed, got {shown(model)}.")
    asked, moved = model.variable(target), model.variable(over)
    known = dict(given or {})
    if over in known or target in known or target == over:
        raise InputError("The target, what moves and what is given must be different variables.")
    if interval is not None and not isinstance(model, Network):
        raise InputError("Intervals need a Bayesian network learned with a prior.")
    states, told = not moved.is_numeric, not asked.is_numeric
    if states:
        values: list[Any] = list(moved.states)
    else:
        if span is None:
            alone = model.p(over, given=known)
            away = 2.5 * float(alone.variance) ** 0.5
            span = float(alone.mean) - away, float(alone.mean) + away
            if moved.scale is not None:
                span = tuple(alone.interval(0.98))
        values = np.linspace(float(span[0]), float(span[1]), 41).tolist()
    ax = axes(ax)
    options = {} if interval is None else {"interval": interval}
    x, answers = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CredoWarning)
        for i, value in enumerate(values):
            try:
                answers.append(model.p(target, given={**known, over: value}, **options))
            except ImpossibleError:
                continue
            x.append(i if states else value)
    if not answers:
        raise InputError(f"No value of {over!r} is possible given the rest.")
    style = "--" if states and not moved.ordered else "-"
    if told:
        for k, state in enumerate(asked.states[:12]):
            y = [float(a.p[k]) for a in answers]
            mark = MARKS[k % len(MARKS)] if states else None
            [line] = ax.plot(x, y, style, marker=mark, label=entry(state))
            if interval is not None:
                low = [float(a.low[k]) for a in answers]
                high = [float(a.high[k]) for a in answers]
                ax.fill_between(x, low, high, alpha=0.15, color=line.get_color())
        ax.set_ylim(-0.02, 1.02)
        legend(ax)
        words(ax, y=f"P({target} | {over})")
    else:
        mean = np.array([float(a.mean) for a in answers])
        low, high = np.array([list(a.interval(0.95)) for a in answers]).T
        [line] = ax.plot(x, mean, style, marker="o" if states else None)
        ax.fill_between(x, low, high, alpha=0.15, color=line.get_color())
        words(ax, y=f"{target} given {over}: mean, 95 %")
    if states:
        name_bars(ax, [str(s) for s in moved.states])
    words(ax, x=over)
    if known:
        said = ", ".join(f"{n} = {v}" for n, v in known.items())
        words(ax, title=f"given {said}", fontsize="small")
    return ax
