"""How a distribution looks: a table with bars and intervals, and the account of its finding."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from credo.core.render import bar, short_probability, table_html, table_text, whiskers

if TYPE_CHECKING:
    from credo.model.answers.distribution import Distribution

__all__ = ["distribution_html", "distribution_text"]

_MOST = 60


def distribution_text(d: Distribution) -> str:
    """A row for each state, and below them what is to be said of all.

    >>> from credo.model.answers.distribution import Distribution
    >>> print(distribution_text(Distribution.of({"no": 0.4, "yes": 0.6}, name="Fever")))
    Fever        p
    no     0.40000  ████████
    yes    0.60000  ████████████
    """
    head, rows, right = _table(d)
    text = table_text(head, rows, right=right)
    rest = len(d) - len(rows)
    text += f"\n… {rest:,} more" if rest else ""
    text += f"\n({_draws(d)})" if _draws(d) else ""
    text += f"\n{d.approximation.line}" if d.approximation is not None else ""
    return "\n".join([text, *d.notes])


def distribution_html(d: Distribution) -> str:
    """The same as an HTML table."""
    head, rows, right = _table(d)
    rest = len(d) - len(rows)
    notes = [f"… {rest:,} more"] if rest else []
    notes += [_draws(d)] if _draws(d) else []
    notes += [d.approximation.line] if d.approximation is not None else []
    notes += d.notes
    return table_html(head, rows, right=right, caption="; ".join(notes))


def _table(d: Distribution) -> tuple[list[str], list[list[str]], list[int]]:
    """The heads of the columns, the rows, and which columns are numbers."""
    head = [*d.names, "p"]
    if d.interval is not None:
        head.append(f"{100 * d.interval.level:.10g} %")
    error = d.approximation.interval if d.approximation is not None else None
    if error is not None:
        head.append("±")
    texts = [v.texts for v in d.variables]
    rows = []
    for where in itertools.islice(np.ndindex(d.p.shape), _MOST):
        p = float(d.p[where])
        row = [states[i] for states, i in zip(texts, where, strict=True)]
        row.append(_written(p))
        picture = bar(p)
        if d.interval is not None:
            low, high = (float(np.asarray(end)[where]) for end in d.interval)
            row.append(f"{short_probability(low)}–{short_probability(high)}")
            picture = whiskers(p, low, high)
        if error is not None:
            row.append(_written(float(error.width[where]) / 2))
        rows.append([*row, picture])
    return [*head, ""], rows, list(range(len(d.variables), len(head)))


def _draws(d: Distribution) -> str:
    """How the interval was found, if by draws."""
    draws = getattr(d.interval, "draws", None)
    return f"{draws:,} draws, ends ± {float(np.max(d.error)):.2g}" if draws else ""


def _written(p: float) -> str:
    return f"{p:.5f}" if p >= 5e-6 or p == 0 else f"{p:.2e}"
