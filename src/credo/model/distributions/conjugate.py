"""A conjugate prior: what is believed about a parameter, before data and after.

    p(θ | data) = p(data | θ) p(θ) / p(data)

is of the same kind as p(θ), so learning is adding a statistic: `posterior = prior + counts`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from credo.core.errors import InputError
from credo.model.answers.interval import Interval
from credo.model.values.randomness import Rng, generator
from credo.model.values.value import Value, plain
from credo.stats.counts import Counts
from credo.stats.moments import Moments


def one_parameter(given: tuple[Any, ...], what: str) -> Any:
    """The one value at which a density of one parameter is asked for."""
    if len(given) != 1:
        raise InputError(f"Give {what}, and nothing else: logpdf(…) came with {len(given)} values.")
    return given[0]


class Conjugate(Value):
    """What the conjugate priors share. A posterior is again one of them."""

    __slots__ = ()

    # --- what each kind says about itself ---------------------------------------------------

    @abstractmethod
    def _read(self, data: Any) -> Any:
        """The statistic of the data, over the variables of this prior."""

    @abstractmethod
    def _plus(self, statistic: Any) -> Self:
        """The posterior after a statistic."""

    @abstractmethod
    def _log_evidence(self, statistic: Any) -> float:
        """ln p(data) of a statistic that holds some."""

    @property
    @abstractmethod
    def is_proper(self) -> bool:
        """Whether the density has a finite integral, so that it is a distribution."""

    @abstractmethod
    def map(self) -> Any:
        """The distribution at the mode of the density."""

    @abstractmethod
    def mean(self) -> Any:
        """The distribution at the mean of the parameter: the least expected squared error."""

    @abstractmethod
    def predictive(self) -> Any:
        """The distribution of the next value, averaged over the parameter."""

    @abstractmethod
    def logpdf(self, *parameter: Any, of: Any = None) -> Any:
        """The log-density at a value of the parameter; with `of`, of one part of it alone."""

    @abstractmethod
    def sample(self, n: int, rng: Rng) -> Any:
        """Draws of the parameter."""

    @abstractmethod
    def points(self, n: int, rng: Rng) -> Iterator[Any]:
        """Draws of the parameter, each as the distribution it stands for."""

    @abstractmethod
    def cdf(self, x: Any, of: Any = None) -> Any:
        """The probability that a parameter is at most `x`."""

    @abstractmethod
    def quantile(self, q: Any, of: Any = None) -> Any:
        """The value of a parameter below which the share `q` of the belief lies."""

    @abstractmethod
    def interval(self, level: float = 0.95, of: Any = None) -> Interval:
        """The central credible interval of a parameter."""

    # --- what follows for all of them -------------------------------------------------------

    def pdf(self, *parameter: Any, of: Any = None) -> Any:
        """The density at a value of the parameter; with `of`, of one part of it alone.

        >>> from credo.model.distributions.beta import Beta
        >>> Beta(1, 1).pdf(0.3)
        1.0
        """
        with np.errstate(over="ignore"):  # where all is known, it passes every number
            return plain(np.exp(self.logpdf(*parameter, of=of)))

    def update(self, data: Any) -> Self:
        """The posterior after data: raw values, or the statistic of many rows."""
        return self._plus(self._read(data))

    def replicates(self, n: int, draws: int, rng: Rng) -> Iterator[Any]:
        """`draws` data sets of `n` rows, one by one; each set draws its own parameter first."""
        g = generator(rng)
        return (point.sample(n, g) for point in self.points(draws, g))

    def __add__(self, statistic: object) -> Self:
        if not isinstance(statistic, (Counts, Moments)):
            return NotImplemented
        return self.update(statistic)

    def log_marginal(self, data: Any) -> float:
        """The log marginal likelihood ln p(data) of the rows in their order."""
        self._check_proper("a marginal likelihood")
        statistic = self._read(data)
        return self._log_evidence(statistic) if statistic.total else 0.0

    def _check_proper(self, what: str) -> None:
        if not self.is_proper:
            raise InputError(
                f"{self!r} is not yet a distribution (its density has no finite integral), so it "
                f"has no {what.removeprefix('a ')}.",
                hint="Update it with more, and different, values, or start from a proper prior.",
            )
