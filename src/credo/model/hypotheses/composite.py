"""A belief as a hypothesis: a parameter that is not known, and is learned as observations come.

    P(data | h) = ∫ P(data | θ) p(θ | h) dθ          P(x | data, h) = ∫ P(x | θ) p(θ | data, h) dθ

Such a hypothesis is called composite. Its likelihood is the marginal likelihood of all data, and
what it predicts is the posterior predictive; the product of one after the other is the first
(Jeffreys 1935, "Some tests of significance, treated by the theory of probability"). The statistic
is kept, not a sum of steps, so one at a time and all at once give the same likelihood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from credo.core.errors import CredoError, InputError
from credo.model.distributions.conjugate import Conjugate
from credo.model.distributions.dirichlet import Pseudocounts
from credo.model.hypotheses.likelihoods import Called
from credo.model.values.data import columns
from credo.model.values.reals import Floats, shown
from credo.stats.counts import Counts
from credo.stats.moments import Moments


@dataclass(frozen=True)
class Composite:
    """A belief (Beta, Dirichlet, NormalMean, …) and the statistic of what it has learned from.

    >>> from credo.model.distributions.beta import Beta
    >>> h = Composite.of("unknown", Beta(1, 1, states=("tails", "heads")))
    >>> h.log_p(["heads", "edge"])
    array([-0.69314718,        -inf])
    >>> h = h.after(["heads", "tails"], np.array([12.0, 8.0]))
    >>> round(h.log_likelihood, 3), h.log_p(["heads"]).round(3)
    (-14.788, array([-0.526]))
    """

    name: Any
    belief: Conjugate
    statistic: Counts | Moments | None = None

    @classmethod
    def of(cls, name: Any, belief: Conjugate) -> Composite:
        """Refuses a belief that gives data no probability."""
        if not belief.is_proper:
            raise InputError(
                f"The hypothesis {name!r} is {belief!r}, which is not yet a distribution, so data "
                "have no probability under it.",
                hint="Give a proper prior, or update it with values of its own first.",
            )
        return cls(name, belief)

    @property
    def outcomes(self) -> Sequence[Any] | None:
        """The states of a Beta or Dirichlet; None for a belief about measurements."""
        return self.belief.states if isinstance(self.belief, Pseudocounts) else None

    @cached_property
    def now(self) -> Any:
        """The belief after all that was learned from."""
        return self.belief if self.statistic is None else self.belief + self.statistic

    @property
    def log_likelihood(self) -> float:
        """ln P(data | h): the marginal likelihood of all that came."""
        return 0.0 if self.statistic is None else self.belief.log_marginal(self.statistic)

    @cached_property
    def _predictive(self) -> Any:
        return self.now.predictive()

    def log_p(self, xs: Sequence[Any]) -> Floats:
        """ln P(x | data, h) of each as the next observation; −∞ for what is not a state."""
        p = self._predictive
        if self.outcomes is not None:
            return np.array([p.log_p(x) if x in p else -np.inf for x in xs])
        return Called(self.name, p, log=True, method="logpdf").log_p(xs)

    def after(self, xs: Sequence[Any], counts: Floats) -> Composite:
        """The same hypothesis when it has learned from some more; `counts[i]` times `xs[i]`.

        What is not one of its states teaches it nothing: it is ruled out then.
        """
        more = self._counts(xs, counts) if self.outcomes is not None else self._moments(xs, counts)
        statistic: Any = more if self.statistic is None else self.statistic + more
        return replace(self, statistic=statistic)

    def _counts(self, xs: Sequence[Any], counts: Floats) -> Counts:
        assert isinstance(self.belief, Pseudocounts)
        variable = self.belief.variable
        values = np.zeros(variable.arity)
        known = self._predictive
        for x, n in zip(xs, counts, strict=True):
            if x in known:
                values[variable.code(x)] += n
        return Counts((variable,), values, None, 0)

    def _moments(self, xs: Sequence[Any], counts: Floats) -> Moments:
        names: tuple[str, ...] = getattr(self.belief, "_names", None) or (self.belief.name,)  # type: ignore[attr-defined]
        try:
            found, matrix = columns(list(xs), names)
            by_name = {n: matrix[:, i] for i, n in enumerate(found)}
            return Moments.of(by_name, weights=counts)  # type: ignore[arg-type]
        except CredoError as error:
            raise InputError(
                f"The hypothesis {self.name!r} cannot learn from {shown(list(xs))}: {error}"
            ) from error
