"""A softmax from rows: penalised maximum likelihood by Newton's steps.

    Σ_rows w ln P(x | u, y) − ridge/2 · Σ_k ‖b_k‖²

`b_k` are the coefficients of state k, of a 1, of each state of each discrete parent (main effects),
and of each number in units of its standard deviation; the 1 has a ridge of 0.001, so that a state
that no row shows keeps a probability. A state's coefficients are those less the mean of all, which
the ridge makes the smallest. The posterior is the Gaussian of the same height and curvature at the
top (Laplace).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, TableError
from credo.core.schema import Variable
from credo.data import Stream, Table
from credo.model.networks.count_table import counts
from credo.model.networks.line_prior import LinePrior
from credo.model.networks.softmax import Softmax, SoftmaxPosterior
from credo.train.independence.logistic import Regression

__all__ = ["RIDGE", "fit_softmax", "is_softmax", "ridge_of", "softmax_item"]

Floats = NDArray[np.float64]

RIDGE = 1.0
"""The precision of the Gaussian prior of each coefficient, of numbers in standard deviations."""
_ONE = 1e-3  # that of the 1


class _Ridged(Regression):
    """A regression less its penalty: that of all states, of which the first has no coefficients."""

    def __init__(self, q: Floats, target: Floats, weights: Floats, ridge: Floats) -> None:
        super().__init__(q, target, weights)
        states = target.shape[1] + 1
        apart = np.eye(states - 1) - 1 / states  # Σ_k (b_k − b̄)² as a form in the others
        self.precision = np.kron(apart, np.diag(ridge))

    def at(self, b: Floats) -> tuple[float, Floats]:
        value, share = super().at(b)
        flat = b.T.ravel()
        return value - 0.5 * float(flat @ self.precision @ flat), share

    def slope_and_information(self, share: Floats) -> tuple[Floats, Floats]:
        slope, curve = super().slope_and_information(share)
        return slope - self.precision @ self.b.T.ravel(), curve + self.precision

    def top(self) -> Floats:
        """Newton's steps from 0, halved where they fall."""
        self.b = np.zeros((self.q.shape[1], self.target.shape[1]))
        value, share = self.at(self.b)
        for _ in range(200):
            slope, curve = self.slope_and_information(share)
            step = np.linalg.solve(curve, slope).reshape(self.b.shape[::-1]).T
            rise = float(slope @ step.T.ravel())  # twice what the parabola gains
            size = 1.0
            while True:
                new, share = self.at(self.b + size * step)
                if new >= value - 1e-12 * abs(value) or size < 1e-6:
                    break
                size /= 2
            self.b, value = self.b + size * step, new
            if rise < 1e-12 * (1.0 + abs(value)):
                break
        return self.b


def ridge_of(prior: Any) -> float:
    """The ridge of a prior: a `LinePrior` may say it, and the others leave the usual."""
    if isinstance(prior, LinePrior) and np.ndim(prior.ridge) == 0 and float(prior.ridge) > 0:
        return float(prior.ridge)
    return RIDGE


def fit_softmax(
    child: Variable, parents: tuple[Variable, ...], source: Any, ridge: float = RIDGE
) -> tuple[Softmax, dict[str, Any]]:
    """The softmax of a family, and what to tell of the fit; rows with gaps are left out."""
    codes, numbers, states, weights, rows = _columns(child, parents, source)
    total = float(weights.sum())
    if not total > 0:
        raise TableError(f"No row has all of {child.name!r} and its parents.")
    centre = weights @ numbers / total
    spread = np.sqrt(np.maximum(weights @ (numbers - centre) ** 2 / total, 0.0))
    spread = np.where(spread > 1e-12 * np.maximum(np.abs(centre), 1e-300), spread, 1.0)
    discrete = [p for p in parents if p.is_discrete]
    one = np.ones((len(states), 1))
    shown = [np.eye(p.arity)[c] for p, c in zip(discrete, codes, strict=True)]
    q = np.hstack([one, *shown, (numbers - centre) / spread])
    target = (states[:, None] == np.arange(1, child.arity)).astype(np.float64)
    penalty = np.full(q.shape[1], ridge)
    penalty[0] = _ONE
    found = _Ridged(q, target, weights, penalty)
    b = found.top()
    height, share = found.at(b)
    curve = found.slope_and_information(share)[1]
    spread_of_b = np.asarray(np.linalg.inv(curve), np.float64)
    posterior = SoftmaxPosterior(b.T, spread_of_b, centre, spread)
    whole = np.concatenate([np.zeros((len(b), 1)), b], axis=1)
    whole = whole - whole.mean(axis=1, keepdims=True)  # the least ridge
    shape = tuple(p.arity for p in discrete)
    slope = (whole[-len(centre) :] / spread[:, None]).T  # [states, numbers]
    plain = SoftmaxPosterior(whole.T, np.eye(1), centre, spread)
    intercept = plain.columns(shape, np.zeros(len(centre))) @ whole
    local = Softmax(
        child, parents, intercept.reshape(*shape, child.arity),
        np.broadcast_to(slope, (*shape, *slope.shape)), posterior, ridge,
    )  # fmt: skip
    flat = b.T.ravel()
    likelihood = height + 0.5 * float(flat @ found.precision @ flat)
    told = {"rows": total, "skipped": rows - total, "log_likelihood": likelihood}
    return local, told


def _columns(
    child: Variable, parents: tuple[Variable, ...], source: Any
) -> tuple[list[NDArray[np.intp]], Floats, NDArray[np.intp], Floats, float]:
    """Codes of the discrete parents, numbers, states and weights of the rows that have all, and
    the weight of all rows. A stream is read once, and these columns of it are kept."""
    names = [*(p.name for p in parents), child.name]
    if isinstance(source, Table):
        tables = [source]
    elif isinstance(source, Stream):
        tables = list(source.batches(names))
    else:
        raise InputError(
            f"The softmax of {child.name!r} is learned from rows, not from counts or experiments.",
            hint=f"Give the table itself, or numbers={{{_number(parents)!r}: 'binned'}}.",
        )
    arrays = {n: np.concatenate([t.block.arrays[t.schema.index(n)] for t in tables]) for n in names}
    parts = [np.ones(len(t)) if t.weights is None else t.weights for t in tables]
    weights = np.concatenate(parts).astype(np.float64)
    there = arrays[child.name] < child.arity
    for p in parents:
        own = arrays[p.name]
        there &= (own < p.arity) if p.is_discrete else ~np.isnan(own)
    codes = [arrays[p.name][there].astype(np.intp) for p in parents if p.is_discrete]
    numbers = [arrays[p.name][there].astype(np.float64) for p in parents if not p.is_discrete]
    states = arrays[child.name][there].astype(np.intp)
    return codes, np.stack(numbers, axis=1), states, weights[there], float(weights.sum())


def _number(parents: tuple[Variable, ...]) -> str:
    return next(p.name for p in parents if not p.is_discrete)


def is_softmax(child: Variable, parents: Sequence[Variable]) -> bool:
    """Whether a family is one of a state given numbers."""
    return child.is_discrete and not all(p.is_discrete for p in parents) and not counts(child)


def softmax_item(local: Softmax, told: Mapping[str, Any]) -> dict[str, Any]:
    """A softmax among the families of a fit."""
    return {
        "child": local.name,
        "parents": tuple(p.name for p in local.parents),
        "prior": f"ridge {local.ridge:g}",
        "estimate": "map",
        "tied": (),
        "parameters": local.free_parameters,
        "unseen": 0,
        "unseen_first": (),
        "zeros": 0,
        "log_marginal": None,
        **told,
    }
