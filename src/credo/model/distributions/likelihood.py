"""A likelihood curve: how well each value of a parameter explains data that is fixed.

    L(θ) = Π_i p(x_i; θ),   ln L(θ) = Σ_i ln p(x_i; θ)

It is a function of the parameter, not a distribution over it. The product underflows for a
few hundred rows, so only its logarithm is kept; `likelihood` is scaled to 1 at the maximum.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from credo.core.errors import InputError
from credo.core.render import bar, number
from credo.model.values.reals import Floats, reals_or_nan
from credo.model.values.value import LARGEST, Value, View, listed, readonly, text


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LikelihoodCurve(Value):
    """The log-likelihood over a grid of one parameter, or over the grids of two.

    >>> from credo import Bernoulli
    >>> curve = Bernoulli.likelihood_curve([True] * 12 + [False] * 8)
    >>> curve.maximum, round(curve.highest, 4)
    (0.6, -13.4602)
    """

    parameters: tuple[str, ...]
    grids: tuple[Floats, ...]
    log_likelihood: Floats = field(repr=False)

    def __post_init__(self) -> None:
        names = tuple(
            text(n, "The name of a parameter") for n in listed(self.parameters, "The parameters")
        )
        grids = tuple(
            readonly(checked_grid(g, "a parameter")) for g in listed(self.grids, "The grids")
        )
        values = readonly(self.log_likelihood)
        if len(names) != len(grids):
            raise InputError(f"A grid for each of {list(names)} is needed, got {len(grids)}.")
        object.__setattr__(self, "parameters", names)
        if values.shape != tuple(len(g) for g in grids) or not values.size:
            raise InputError("A likelihood curve needs a value for each point of its grid.")
        if np.isnan(values).any() or not np.isfinite(values.max()):
            raise InputError(
                "The data has probability zero at every point of the grid.",
                hint="Choose a grid with values between 0 and 1 for a probability.",
            )
        object.__setattr__(self, "grids", grids)
        object.__setattr__(self, "log_likelihood", values)

    @property
    def grid(self) -> Any:
        """The grid of the parameter; a pair of grids when there are two parameters."""
        return self.grids[0] if len(self.grids) == 1 else self.grids

    @property
    def likelihood(self) -> Floats:
        """The likelihood divided by its greatest value on the grid."""
        return readonly(np.exp(self.log_likelihood - self.log_likelihood.max()))

    @property
    def highest(self) -> float:
        """The greatest log-likelihood on the grid."""
        return float(self.log_likelihood.max())

    @property
    def maximum(self) -> Any:
        """The parameter with the greatest likelihood; a pair when there are two."""
        where = np.unravel_index(int(self.log_likelihood.argmax()), self.log_likelihood.shape)
        best = tuple(float(g[i]) for g, i in zip(self.grids, where, strict=True))
        return best[0] if len(best) == 1 else best

    def _view(self) -> View:
        at = ", ".join(
            f"{n} = {number(v)}"
            for n, v in zip(self.parameters, np.atleast_1d(self.maximum), strict=True)
        )
        title = f"Log-likelihood, greatest at {at}: {number(self.highest)}"
        if len(self.grids) > 1:
            return View(title, [], [])
        grid = self.grids[0]
        picked = np.unique(np.linspace(0, len(grid) - 1, min(len(grid), 21)).round().astype(int))
        scaled = self.likelihood
        rows = [
            [number(grid[i]), number(self.log_likelihood[i]), bar(float(scaled[i]))] for i in picked
        ]
        return View(title, [self.parameters[0], "ln L", ""], rows, (0, 1))


def checked_grid(grid: ArrayLike, what: str) -> Floats:
    """A grid given by the user: finite numbers in one row."""
    points = reals_or_nan(grid)
    if points.ndim != 1 or not points.size or not (np.abs(points) <= LARGEST).all():
        raise InputError(f"The grid of {what} must be a row of finite numbers.")
    return points
