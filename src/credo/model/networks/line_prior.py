"""LinePrior: what is believed of a line with Gaussian noise, before any row.

    x = a + b·(y − c) + ε,   ε ~ N(0, σ²)
    σ² ~ inverse-gamma(α, β),   a | σ² ~ N(μ, σ²/κ),   b | σ² ~ N(b₀, σ²/λ)

It is worth κ imagined rows at the point (c, μ). Without numbers it is the reference prior
p(a, b, σ²) ∝ 1/σ², under which the mean line is that of least squares and the credible intervals
are the classical ones of Student's t and χ² (Gelman et al. 2013, §14.2).

`like_all` asks for a hierarchical prior instead, whose numbers come from all configurations of the
discrete parents together: each configuration has imagined rows that look like all rows, or like
what the states of several discrete parents add up to (`train/parameters/pooled_lines.py`). Without
discrete parents it is the reference prior.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from credo.core.errors import InputError
from credo.core.render import Told
from credo.model.distributions.normal_inverse_gamma import NormalInverseGamma
from credo.model.values.reals import Floats, NotReal, reals, shown
from credo.model.values.value import LARGEST, SQUARE, WEIGHT, at_least, finite, readonly

__all__ = ["LINE_FIELDS", "LinePrior"]

LINE_FIELDS = ("mean", "kappa", "slope", "ridge", "alpha", "beta", "centre", "like_all")
"""Every number of a prior, in the order of its arguments."""


@dataclass(frozen=True, eq=False)
class LinePrior(Told):
    """A belief about a line: about its value `mean` at `centre`, its `slope`, and its variance.

    `kappa` and `ridge` say how many rows the value and the slopes are worth (0: nothing is known);
    `alpha` and `beta` are those of the variance's inverse-gamma. `slope`, `ridge` and `centre` are
    one number for every continuous parent, or a list with one for each. `like_all` stands alone:
    how many rows the variance within all configurations is worth to that of each.

    >>> import credo as cr
    >>> rows = {"x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "y": [1.1, 2.9, 5.2, 7.1, 8.8, 11.1]}
    >>> plain = cr.fit("[x][y|x]", rows, prior=LinePrior())
    >>> shrunk = cr.fit("[x][y|x]", rows, prior=LinePrior(ridge=10, kappa=1, alpha=2, beta=1))
    >>> plain.cpt("y").coefficients.round(3).item(), shrunk.cpt("y").coefficients.round(3).item()
    (1.989, 1.453)
    """

    mean: Any = 0.0
    kappa: Any = 0.0
    slope: Any = 0.0
    ridge: Any = 0.0
    alpha: float = 0.0
    beta: float = 0.0
    centre: Any = 0.0
    like_all: float = 0.0

    def __post_init__(self) -> None:
        each = np.ndim(self.mean) > 0  # by configuration, where `like_all` found its numbers
        if not each:
            object.__setattr__(self, "mean", finite(self.mean, "The mean of a LinePrior"))
        for what, most in (
            ("kappa", WEIGHT), ("alpha", WEIGHT), ("beta", SQUARE), ("like_all", WEIGHT)
        ):  # fmt: skip
            if each and what == "kappa":
                continue
            value = at_least(getattr(self, what), 0.0, f"The {what} of a LinePrior", most)
            object.__setattr__(self, what, value)
        arrays = [("slope", -LARGEST, LARGEST), ("ridge", 0.0, SQUARE),
                  ("centre", -LARGEST, LARGEST)]  # fmt: skip
        if each:
            arrays += [("mean", -LARGEST, LARGEST), ("kappa", 0.0, WEIGHT)]
        for what, low, most in arrays:
            given = _numbers(getattr(self, what), what, what in ("mean", "kappa"))
            if not ((given >= low) & (given <= most)).all():
                raise InputError(f"The {what} of a LinePrior is out of range: {given.tolist()}.")
            object.__setattr__(self, what, readonly(given))
        if self.like_all and any(np.any(getattr(self, f)) for f in LINE_FIELDS[:-1]):
            raise InputError("like_all= takes its numbers from the rows: give no others beside it.")

    @classmethod
    def of(cls, prior: Any, child: str, parents: int) -> LinePrior:
        """The prior of a line; a normal-inverse-gamma is one without slopes."""
        if isinstance(prior, NormalInverseGamma):
            if parents:
                raise InputError(
                    f"NormalInverseGamma says nothing of slopes, and {child!r} has {parents} "
                    "continuous parents.",
                    hint="Use cr.LinePrior(mean, kappa, slope, ridge, alpha, beta).",
                )
            alpha = prior.alpha + (0.5 if prior.kappa == 0 else 0.0)
            return cls(prior.mu, prior.kappa, 0.0, 0.0, alpha, prior.beta)
        if not isinstance(prior, cls):
            raise InputError(
                f"The prior of the continuous variable {child!r} must be LinePrior, "
                f"NormalInverseGamma or None, got {shown(prior)}."
            )
        if np.ndim(prior.mean):
            raise InputError(f"The mean of the prior of {child!r} must be one number.")
        for what in ("slope", "ridge", "centre"):
            given = getattr(prior, what)
            if given.ndim and given.shape != (parents,):
                raise InputError(
                    f"The {what} of the prior of {child!r} must be one number or {parents}, one "
                    f"for each continuous parent, got {len(given)}."
                )
        return prior

    def vectors(self, k: int) -> tuple[Floats, Floats, Floats]:
        """Slope, ridge and centre for each of `k` continuous parents."""
        return tuple(np.broadcast_to(v, (k,)) for v in (self.slope, self.ridge, self.centre))  # type: ignore[return-value]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LinePrior):
            return NotImplemented
        return repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        shown = []
        for what in LINE_FIELDS:
            value = np.asarray(getattr(self, what))
            if value.any():
                shown.append(f"{what}={value.tolist()}")
        return f"LinePrior({', '.join(shown)})"


def _numbers(given: ArrayLike, what: str, nested: bool) -> Floats:
    try:
        out = reals(given)
    except NotReal:
        out = np.array(np.nan)
    if (out.ndim > 1 and not nested) or not np.isfinite(out).all():
        raise InputError(
            f"The {what} of a LinePrior must be a number or a list of numbers, got {shown(given)}."
        )
    return out
