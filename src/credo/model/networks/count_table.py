"""CountTable: the table of a number that counts, from a law with few parameters.

    x | u ~ π_u [x = 0] + (1 − π_u) · NB(x; mean μ_u, size r)          r = ∞: Poisson

Its entries are the masses of the whole numbers, so every engine takes it as any other table.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from credo.core.errors import InputError, SchemaError, unknown_name
from credo.core.render import View, number
from credo.core.schema import Variable
from credo.model.answers.credible import Credible
from credo.model.networks.count_posterior import CountPosterior, count_masses
from credo.model.networks.cpt import Cpt
from credo.model.values.learned import Learned
from credo.model.values.reals import Floats
from credo.model.values.value import readonly

__all__ = ["CountTable", "counts"]

_DRAWS = 4000
_SHOWN = 64


def counts(variable: Variable) -> bool:
    """Whether a variable is a number that counts."""
    return bool(getattr(variable.scale, "counts", False))


@dataclass(frozen=True, eq=False)
class CountTable(Cpt):
    """P(child | parents) for a child that counts: Poisson or negative binomial, with extra zeros.

    `means` (of what is no extra zero) and `zeros` (the share of extra ones) have an axis for each
    parent, `size` is one number; infinite, the law is Poisson. After learning with a prior they are
    posterior means, the table is the posterior predictive, and `posterior` says how sure they are.

    >>> import credo as cr
    >>> visits = cr.Variable("visits", "discrete", scale=cr.Bins.whole(30))
    >>> table = CountTable.of_law(visits, (), 2.0)
    >>> print(table)
    P(visits): Poisson
    mean
       2
    >>> round(cr.Network("[visits]", [table]).ask("P(visits > 3)"), 6)
    0.142877
    """

    means: Floats = field(default_factory=lambda: np.zeros(()))
    size: float = math.inf
    zeros: Floats = field(default_factory=lambda: np.zeros(()))
    posterior: CountPosterior | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not counts(self.child):
            raise SchemaError(f"{self.child.name!r} does not count: its scale is no Bins.whole.")
        for what in ("means", "zeros"):
            found = np.broadcast_to(np.asarray(getattr(self, what), np.float64), self.shape[:-1])
            if not (np.isfinite(found) & (found >= 0)).all():
                raise InputError(f"The {what} of {self.child.name!r} must be numbers, 0 or more.")
            object.__setattr__(self, what, readonly(found))
        if not self.size > 0 or not (self.zeros <= 1).all():
            raise InputError(
                f"{self.child.name!r} needs a size above 0 and shares of extra zeros up to 1."
            )
        if self.posterior is not None and self.posterior.shape != self.shape[:-1]:
            raise InputError(f"The posterior of {self.child.name!r} does not fit its table.")

    @classmethod
    def of_law(
        cls,
        child: Variable,
        parents: Sequence[Variable],
        means: Any,
        size: float = math.inf,
        zeros: Any = 0.0,
        learned: Learned | None = None,
    ) -> CountTable:
        """The table of known parameters."""
        shape = tuple(p.arity for p in parents)
        mean, share = (np.broadcast_to(np.asarray(a, np.float64), shape) for a in (means, zeros))
        values = count_masses(mean, size, share, child.arity)
        return cls(
            child, tuple(parents), values, None, 0.0, learned, mean, float(size), share, None
        )

    @classmethod
    def of_posterior(
        cls,
        child: Variable,
        parents: Sequence[Variable],
        posterior: CountPosterior,
        learned: Learned | None = None,
    ) -> CountTable:
        """The posterior predictive as a table."""
        mean, share = posterior.means()
        size = float(np.exp(posterior.weights @ np.log(posterior.sizes)))
        values = posterior.masses(child.arity)
        return cls(child, tuple(parents), values, None, 0.0, learned, mean, size, share, posterior)

    def on(self, child: Variable, parents: tuple[Variable, ...]) -> Cpt:
        """The same table with its parents in another order."""
        if (child, parents) == (self.child, self.parents):
            return self
        table = super().on(child, parents)
        turn = [self.parents.index(p) for p in parents]
        posterior = None if self.posterior is None else self.posterior.on(turn)
        return CountTable(
            child, parents, table.values, None, table.rescaled, table.learned,
            self.means.transpose(turn), self.size, self.zeros.transpose(turn), posterior,
        )  # fmt: skip

    @property
    def law(self) -> str:
        """The law in words."""
        name = "Poisson" if math.isinf(self.size) else "negative binomial"
        return f"{name} with extra zeros" if self.zeros.any() else name

    @property
    def free_parameters(self) -> int:
        """A mean, and a share of zeros, for each configuration; one size."""
        each = 2 if self.zeros.any() else 1
        return each * int(self.means.size) + (not math.isinf(self.size))

    @property
    def has_posterior(self) -> bool:
        """Whether it knows how sure it is."""
        return self.posterior is not None

    def interval(self, level: float = 0.95, of: str = "mean") -> Credible:
        """The credible interval of each `mean` (of all rows, extra zeros among them), of the share
        of extra `zeros`, or of the `size`: by draws, with the error of its ends.

        >>> import credo as cr
        >>> rows = {"visits": [0, 3, 1, 0, 2, 6, 1, 0, 4, 2, 1, 3]}
        >>> rows = cr.read(rows, {"visits": "continuous"})
        >>> net = cr.fit("[visits]", rows, cr.BDeu(1), numbers={"visits": "counts"})
        >>> print(net.cpt("visits").interval(0.95))
        1.21129 to 2.70778 (95 %)
        """
        if of not in ("mean", "zeros", "size"):
            raise unknown_name("The parameter", of, ("mean", "zeros", "size"), "one of counts")
        mean, size, share = self._drawn()
        return Credible.of({"mean": mean * (1 - share), "zeros": share, "size": size}[of], level)

    def ends(self, level: float, at: tuple[int, ...] = (), rows: int | None = None) -> Credible:
        """The intervals of the entries below some first states, or of the first rows alone."""
        mean, size, share = self._drawn()
        flat = count_masses(
            mean, size.reshape(-1, *(1,) * len(self.parents)), share, self.shape[-1]
        )
        if rows is not None:
            return Credible.of(flat.reshape(len(flat), -1, self.shape[-1])[:, :rows], level)
        where: Any = (slice(None), *at)
        return Credible.of(flat[where], level)

    def drawn(self, n: int, gammas: np.random.Generator, uniforms: np.random.Generator) -> Floats:
        """Draws of the table, flat: [n, cells]."""
        assert self.posterior is not None
        mean, size, share = self.posterior.draw(n, gammas, uniforms)
        size = size.reshape(-1, *(1,) * len(self.parents))
        return count_masses(mean, size, share, self.shape[-1]).reshape(n, -1)

    def _drawn(self) -> tuple[Floats, Floats, Floats]:
        if self.posterior is None:
            raise InputError(
                f"The counts of {self.child.name!r} have no posterior, so they have no interval.",
                hint="Learn them with a prior, such as cr.fit(dag, rows, prior=cr.BDeu(1)).",
            )
        return self.posterior.draw(_DRAWS, *(np.random.default_rng(i) for i in (0, 1)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, CountTable) and (self.size, self.law) != (other.size, other.law):
            return False
        return super().__eq__(other)

    __hash__ = Cpt.__hash__

    def _view(self) -> View:
        extra = bool(self.zeros.any())
        head = [*(p.name for p in self.parents), "mean", *(["extra zeros"] * extra)]
        each = itertools.islice(itertools.product(*(p.texts for p in self.parents)), _SHOWN)
        mean = self.values @ np.arange(self.shape[-1])  # extra zeros among them
        numbers = zip(mean.ravel(), self.zeros.flat, strict=True)
        rows = [
            [*states, number(float(m)), *([number(float(z))] * extra)]
            for states, (m, z) in zip(each, numbers, strict=False)
        ]
        size = "" if math.isinf(self.size) else f", size {number(self.size)}"
        hidden = self.means.size - len(rows)
        note = f"… {hidden:,} more rows" if hidden else ""
        title = f"{self.title}: {self.law}{size}"
        return View(title, head, rows, range(len(self.parents), len(head)), note)

    def __repr__(self) -> str:
        return f"CountTable({self.title}: {self.law})"
