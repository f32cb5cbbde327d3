"""A picture of how sure: one line from end to end of each interval, with a dot at the answer."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from credo.core.errors import InputError
from credo.model.answers.distribution import Distribution
from credo.model.networks.cpt import Cpt
from credo.model.values.reals import shown
from credo.plot.axes import axes, name_rows, words

__all__ = ["intervals"]

_MOST = 100
_Line = tuple[str, float, float, float]


def intervals(what: Any, ax: Any = None, *, level: float = 0.95) -> Any:
    """Credible intervals: of a table's entries, of an answer, or of all marginals at once.

    `what` is a `Cpt` learned with a prior (`level` says how wide), an answer asked with
    `interval=`, or a dict of them such as `net.marginals(interval=0.95)`.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.K2())
    >>> ax = intervals(net.cpt("Fev"))
    >>> [t.get_text() for t in ax.get_yticklabels()]
    ['Fev=F | Pneu=F', 'Fev=T | Pneu=F', 'Fev=F | Pneu=T', 'Fev=T | Pneu=T']
    """
    title, lines = _lines(what, level)
    if len(lines) > _MOST:
        raise InputError(
            f"{len(lines):,} intervals do not fit in a picture; at most {_MOST} do.",
            hint="Draw one row, or one variable, at a time.",
        )
    ax = axes(ax)
    where = np.arange(len(lines))
    names, p, low, high = zip(*lines, strict=True)
    ax.hlines(where, low, high, linewidth=2)
    ax.plot(p, where, "o", color="0.2")
    name_rows(ax, names)
    ax.set_xlim(0, 1)
    words(ax, x=title)
    return ax


def _lines(what: Any, level: float) -> tuple[str, list[_Line]]:
    if isinstance(what, Cpt):
        return f"probability, {100 * level:.10g} % intervals", _table(what, level)
    if isinstance(what, Distribution):
        return _title(what), _answer(what)
    if isinstance(what, Mapping) and what:
        parts = list(what.values())
        if all(isinstance(d, Distribution) for d in parts):
            return _title(parts[0]), [line for d in parts for line in _answer(d)]
    raise InputError(
        f"A table, an answer with an interval, or a dict of answers is needed, got {shown(what)}.",
        hint="Ask with interval=0.95.",
    )


def _title(answer: Distribution) -> str:
    if answer.interval is None:
        answer.low  # noqa: B018  (says that there is none)
    assert answer.interval is not None
    return f"probability, {100 * answer.interval.level:.10g} % intervals"


def _table(cpt: Cpt, level: float) -> list[_Line]:
    low, high = cpt.interval(level)
    out = []
    for at in itertools.islice(np.ndindex(*cpt.shape), _MOST + 1):
        given = [f"{v.name}={v.states[i]}" for v, i in zip(cpt.parents, at[:-1], strict=True)]
        name = f"{cpt.name}={cpt.child.states[at[-1]]}"
        name += f" | {', '.join(given)}" if given else ""
        out.append((name, float(cpt.values[at]), float(low[at]), float(high[at])))
    return out


def _answer(d: Distribution) -> list[_Line]:
    out = []
    for at in itertools.islice(np.ndindex(*d.p.shape), _MOST + 1):
        name = ", ".join(f"{v.name}={v.states[i]}" for v, i in zip(d.variables, at, strict=True))
        out.append((name, float(d.p[at]), float(d.low[at]), float(d.high[at])))
    return out
