"""Credible intervals of the entries of a table.

    θ_u ~ Dirichlet(α_u)   ⇒   θ_ux ~ Beta(α_ux, Σ α_u − α_ux)

Each entry alone is a Beta, so its interval is exact: no draws are needed.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.core.render import short_probability, table_html, table_text
from credo.core.schema import Variable
from credo.model.answers.interval import Interval, tails
from credo.model.distributions.quantiles import beta_quantile

__all__ = ["TableInterval", "entry_intervals"]

Floats = NDArray[np.float64]

_SHOWN = 64  # rows of a table that are printed


@dataclass(frozen=True, slots=True, eq=False)
class TableInterval(Interval):
    """The intervals of a table's entries; it prints as the table does.

    >>> import credo as cr
    >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.Beta(3, 4))
    >>> print(net.cpt("Fev").interval(0.95))
    P(Fev | Pneu), 95 % intervals
    Pneu        Fev=F        Fev=T
    F     0.316–0.808  0.192–0.684
    T     0.234–0.766  0.234–0.766
    """

    variables: tuple[Variable, ...] = ()

    @property
    def _title(self) -> str:
        *parents, child = (v.name for v in self.variables)
        given = f" | {', '.join(parents)}" if parents else ""
        return f"P({child}{given}), {100 * self.level:.10g} % intervals"

    def _rows(self) -> tuple[list[str], list[list[str]], list[int]]:
        *parents, child = self.variables
        low, high = (np.asarray(end).reshape(-1, child.arity) for end in self)
        head = [*(p.name for p in parents), *(f"{child.name}={s}" for s in child.texts)]
        rows = [
            [*states, *map(_written, low[i].tolist(), high[i].tolist())]
            for i, states in enumerate(
                itertools.islice(itertools.product(*(p.texts for p in parents)), _SHOWN)
            )
        ]
        return head, rows, list(range(len(parents), len(head)))

    def __str__(self) -> str:
        head, rows, right = self._rows()
        hidden = np.size(self.lower) // self.variables[-1].arity - len(rows)
        more = f"\n… {hidden:,} more rows" if hidden else ""
        return f"{self._title}\n{table_text(head, rows, right=right)}{more}"

    def _repr_html_(self) -> str:
        head, rows, right = self._rows()
        return table_html(head, rows, right=right, caption=self._title)


def _written(low: float, high: float) -> str:
    return f"{short_probability(low)}–{short_probability(high)}"


def entry_intervals(counts: Floats, level: float) -> Interval:
    """The central intervals of every entry of posterior pseudo-counts, rows along the last axis.

    >>> low, high = entry_intervals(np.array([6.0, 6.0]), 0.95)
    >>> low.round(6).tolist(), high.round(6).tolist()
    ([0.233794, 0.233794], [0.766206, 0.766206])
    """
    share = tails(level)[0]
    if counts.shape[-1] == 1:  # one state is certain
        return Interval(np.ones(counts.shape), np.ones(counts.shape), level)
    # Rows repeat (unseen configurations, binary tables): each different pair is worked out once.
    # The rest is added up, not subtracted, so that nothing is lost beside a large count.
    rest = np.zeros_like(counts)
    rest[..., 1:] = counts[..., :-1].cumsum(axis=-1)
    rest[..., :-1] += counts[..., :0:-1].cumsum(axis=-1)[..., ::-1]
    pairs = np.stack([counts.ravel(), rest.ravel()], axis=1)
    different, where = np.unique(pairs, axis=0, return_inverse=True)
    ends = _quantiles(different, share)[where.ravel()]
    lower, upper = (ends[:, i].reshape(counts.shape) for i in (0, 1))
    return Interval(lower, upper, level)


def _quantiles(pairs: Floats, share: float) -> Floats:
    """Both ends for each Beta(a, b), each by the share that lies beyond it."""
    a, b = pairs[:, :1], pairs[:, 1:]
    known = (a > 0) & (b > 0)
    alpha, beta = np.where(known, a, 1.0), np.where(known, b, 1.0)
    low, high = (beta_quantile(alpha, beta, share, above) for above in (False, True))
    out: Floats = np.hstack([low, np.maximum(low, high)])
    for none, value in ((a, 0.0), (b, 1.0)):  # a count of 0 is certain, as far as it goes
        out[none[:, 0] == 0] = value
    return out
