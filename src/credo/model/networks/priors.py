"""Priors of whole tables: a pseudo-count for every cell of P(child | parents).

    θ_u ~ Dirichlet(α_u),   one for each configuration u of the parents

BDeu shares one number of imagined rows evenly over the q·r cells of a table (Buntine 1991;
Heckerman, Geiger & Chickering 1995): α = ess / (q·r), so that equivalent graphs are treated alike.
K2 gives every cell one imagined row (Cooper & Herskovits 1992), Laplace any number of them.
A `Dirichlet` or `Beta` is the belief about each row, the same for all; an array of the table's
shape says every cell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from credo.core.errors import InputError
from credo.core.render import Told
from credo.core.schema import Variable
from credo.model.distributions.dirichlet import Pseudocounts
from credo.model.values.reals import Floats, shown
from credo.model.values.value import WEIGHT, positive, readonly

__all__ = ["K2", "BDeu", "Laplace", "TablePrior", "pseudocounts_of"]


@dataclass(frozen=True, slots=True)
class BDeu(Told):
    """`ess` imagined rows, spread evenly over the cells of each table.

    >>> import credo as cr
    >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=BDeu(4))
    >>> net.cpt("Fev").prior.tolist()  # 4 rows over 4 cells
    [[1.0, 1.0], [1.0, 1.0]]
    >>> net.cpt("Fev").counts.tolist()
    [[5.0, 4.0], [3.0, 4.0]]
    """

    ess: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "ess", positive(self.ess, "The ess of BDeu", WEIGHT))

    def alpha(self, child: Variable, parents: Sequence[Variable]) -> float:
        """The pseudo-count of each cell."""
        return self.ess / math.prod(v.arity for v in (*parents, child))

    def __str__(self) -> str:
        return f"BDeu({self.ess:g})"


@dataclass(frozen=True, slots=True)
class K2(Told):
    """One imagined row for every cell: all distributions are as likely.

    >>> import credo as cr
    >>> cr.fit("[Pneu]", cr.examples.pneumonia(), prior=K2()).p("Pneu")["T"]  # (5 + 1) / (12 + 2)
    0.42857142857142855
    """

    def alpha(self, child: Variable, parents: Sequence[Variable]) -> float:
        """The pseudo-count of each cell: 1."""
        return 1.0


@dataclass(frozen=True, slots=True)
class Laplace(Told):
    """`l` imagined rows for every cell, Laplace's smoothing.

    >>> import credo as cr
    >>> cr.fit("[Pneu]", cr.examples.pneumonia(), prior=Laplace(0.5)).cpt("Pneu").counts.tolist()
    [7.5, 5.5]
    """

    l: float = 1.0  # noqa: E741  (the letter of the textbooks)

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", positive(self.l, "The pseudo-count of Laplace", WEIGHT))

    def alpha(self, child: Variable, parents: Sequence[Variable]) -> float:
        """The pseudo-count of each cell."""
        return self.l

    def __str__(self) -> str:
        return f"Laplace({self.l:g})"


TablePrior = BDeu | K2 | Laplace | Pseudocounts


def pseudocounts_of(prior: Any, child: Variable, parents: Sequence[Variable]) -> Floats:
    """The prior pseudo-counts of a table: an array of its shape (mostly a view of one number).

    >>> fever = Variable("Fever", "discrete", ("F", "T"))
    >>> pseudocounts_of(BDeu(3), fever, ()).tolist()
    [1.5, 1.5]
    """
    shape = tuple(v.arity for v in (*parents, child))
    if isinstance(prior, (BDeu, K2, Laplace)):
        alpha = prior.alpha(child, parents)
        if alpha < 1 / WEIGHT:
            raise InputError(
                f"{prior} gives each of the {math.prod(shape):,} cells of {child.name!r} only "
                f"{alpha:g} rows, which is too little to reckon with.",
                hint="Use a larger ess, or cr.Laplace(1).",
            )
        return np.broadcast_to(np.float64(alpha), shape)
    if isinstance(prior, Pseudocounts):
        return np.broadcast_to(_row(prior, child), shape)
    if isinstance(prior, (np.ndarray, list, tuple)):
        given = readonly(prior)
        if given.shape != shape:
            raise InputError(
                f"The prior pseudo-counts of {child.name!r} must have the shape {shape} "
                f"({', '.join(v.name for v in (*parents, child))}), got {given.shape}."
            )
        if not ((given >= 1 / WEIGHT) & (given <= WEIGHT)).all():
            raise InputError(f"The prior pseudo-counts of {child.name!r} must all be above 0.")
        return given
    raise InputError(
        f"The prior of the table of {child.name!r} must be BDeu, K2, Laplace, Dirichlet, Beta, an "
        f"array of pseudo-counts or None, got {shown(prior)}."
    )


def _row(prior: Pseudocounts, child: Variable) -> Floats:
    """The pseudo-counts of a Dirichlet or Beta in the order of the child's states."""
    values = dict(zip(prior.states, prior.pseudocounts.tolist(), strict=True))
    standard = prior.states in ((False, True), tuple(range(len(prior.states))))
    if len(values) == child.arity and standard and set(values) != set(child.states):
        return prior.pseudocounts  # no states were named: they come in the child's order
    if len(values) != child.arity or any(s not in values for s in child.states):
        raise InputError(
            f"The prior of {child.name!r} is over the states {list(prior.states[:6])}, but its "
            f"states are {list(child.states[:6])}.",
            hint="Name the same states, or give the pseudo-counts in their order.",
        )
    return np.array([values[s] for s in child.states])
