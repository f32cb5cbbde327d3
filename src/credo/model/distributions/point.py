"""A distribution with known parameters: it gives densities, draws data, and is fitted.

Fitting has three point estimates, of which the first needs no prior:

    mle   θ̂ = argmax p(data | θ)             maximum likelihood
    map   θ̂ = argmax p(data | θ) p(θ)        the mode of the posterior
    mean  θ̂ = E[θ | data]                    minimum mean squared error
"""

from __future__ import annotations

import html
from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from credo.core.errors import InputError
from credo.core.render import one_line
from credo.model.values.randomness import Rng, generator, size
from credo.model.values.value import Value, choice, plain

if TYPE_CHECKING:
    from credo.model.distributions.conjugate import Conjugate

Estimate = Literal["mle", "map", "mean"]


class Point(Value):
    """What the distributions with known parameters share.

    One that answers a question may have `notes`: what it rests on, where that is not rows alone.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *map(one_line, getattr(self, "notes", ()))])

    def _repr_html_(self) -> str:
        notes = "; ".join(getattr(self, "notes", ()))
        return super()._repr_html_() + (f"<p>{html.escape(one_line(notes))}</p>" if notes else "")

    @abstractmethod
    def logpdf(self, x: Any) -> Any:
        """The natural logarithm of the density, or of a state's probability."""

    def pdf(self, x: Any) -> Any:
        """The density, or the probability of a state."""
        log = self.logpdf(x)
        with np.errstate(over="ignore"):
            out = np.exp(log)
        if (np.isinf(out) & np.isfinite(log)).any():
            raise InputError(
                f"The density is beyond the range of floats, e to the power {np.max(log):.6g}.",
                hint="Use logpdf(), which has it.",
            )
        return plain(out)

    @abstractmethod
    def log_likelihood(self, data: Any) -> float:
        """The log-probability of all rows together, from the rows or from their statistic."""

    @abstractmethod
    def sample(self, n: int, rng: Rng) -> Any:
        """Values drawn at random."""

    def replicates(self, n: int, draws: int, rng: Rng) -> Iterator[Any]:
        """`draws` data sets of `n` rows each, drawn from this distribution, one by one."""
        g, rows = generator(rng), size(n)
        return (self.sample(rows, g) for _ in range(size(draws, "draws")))


def chosen(estimate: str | None, prior: object, example: str) -> Estimate:
    """Which point estimate is meant: without a prior `mle`, with one the posterior `mean`.

    >>> chosen(None, None, "cr.Beta(1, 1)"), chosen("map", 1.0, "cr.Beta(1, 1)")
    ('mle', 'map')
    """
    if estimate is None:
        return "mle" if prior is None else "mean"
    choice(estimate, ("mle", "map", "mean"), "estimate")
    if estimate == "mle" and prior is not None:
        raise InputError(
            "Maximum likelihood uses no prior.", hint="Leave the prior out, or say estimate='map'."
        )
    if estimate != "mle" and prior is None:
        raise InputError(
            f"The estimate {estimate!r} needs a prior.",
            hint=f"Give one, such as prior={example}, or say estimate='mle'.",
        )
    return estimate  # type: ignore[return-value]


def picked(posterior: Conjugate, how: Estimate) -> Any:
    """The point estimate of a posterior."""
    return posterior.map() if how == "map" else posterior.mean()


def no_data(what: str, prior: str) -> InputError:
    """The error for maximum likelihood without any data."""
    return InputError(
        f"There is no data to fit {what} to by maximum likelihood.",
        hint=f"Give rows, or a prior such as prior={prior}.",
    )
