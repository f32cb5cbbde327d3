"""Adaptive probabilistic networks: the gradient of the log-likelihood, climbed directly.

    θ_ijk = exp w_ijk / Σ_k exp w_ijk,      ∂L/∂w_ijk = n_ijk − θ_ijk Σ_k n_ijk

n are the expected counts of the same expectation step that EM takes (Russell, Binder, Koller &
Kanazawa 1995). In these parameters every step stays a distribution. L-BFGS and conjugate gradients
are SciPy's; plain steps are steepest ascent with a line search.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import ImpossibleError
from credo.model.networks.line_prior import LinePrior
from credo.train.em.climb import Climb
from credo.train.em.maximise import Maximiser
from credo.train.em.problem import Expected, Numbers

__all__ = ["METHODS", "Softmax", "ascend"]

METHODS = {"gradient": "L-BFGS-B", "conjugate-gradient": "CG", "gradient-steps": ""}
"""The names of the methods, and SciPy's."""

_FLAT = 1e-10  # the largest slope, for each unit of weight, that counts as none

Floats = NDArray[np.float64]


class Softmax:
    """All free parameters as one vector: logarithms for tables, lines with ln σ²."""

    def __init__(self, maximiser: Maximiser, start: Numbers) -> None:
        self.maximiser, self.start = maximiser, start
        layout = maximiser.layout
        copies = {layout.at[n] for g in set(maximiser.groups.values()) for n in g[1:]}
        bound = copies | set(maximiser.fixed_numbers)
        cells = np.zeros(layout.cells, dtype=bool)
        lines = np.zeros(layout.line_numbers, dtype=bool)
        for i, (child, _) in enumerate(layout.families):
            if i in bound:
                continue
            if child.is_discrete:
                layout.table(cells, i)[...] = layout.table(start.theta, i) > 0
            else:
                layout.line(lines, i)[...] = True
        self.cells, self.lines = np.flatnonzero(cells), np.flatnonzero(lines)

    def vector(self, numbers: Numbers) -> Floats:
        """The free parameters of some numbers."""
        lines = numbers.lines.copy()
        for i in self.maximiser.lines:
            part = self.maximiser.layout.line(lines, i)
            part[..., -1] = np.log(part[..., -1])
        return np.concatenate([np.log(numbers.theta[self.cells]), lines[self.lines]])

    def numbers(self, vector: Floats) -> Numbers:
        """The numbers at some free parameters."""
        m, layout = self.maximiser, self.maximiser.layout
        logits = np.full(layout.cells, -np.inf)
        logits[self.cells] = vector[: len(self.cells)]
        lines = self.start.lines.copy()
        for i in m.lines:
            part = layout.line(lines, i)
            part[..., -1] = np.log(part[..., -1])
        lines[self.lines] = vector[len(self.cells) :]
        for i in m.lines:
            part = layout.line(lines, i)
            scale = m.problem.scales[layout.names[i]][1]
            low = m.floor[i] / scale**2
            part[..., -1] = np.maximum(np.exp(np.clip(part[..., -1], -600, 600)), low)
        theta = self.start.theta.copy()
        if len(m.starts):
            high = np.repeat(np.maximum.reduceat(logits, m.starts), m.width)
            with np.errstate(invalid="ignore"):
                raised = np.where(np.isfinite(high), np.exp(logits - high), 0.0)
            soft = m.projected(raised, np.zeros_like(raised))
            theta[self.cells] = soft[self.cells]
        for group in dict.fromkeys(m.groups.values()):
            first, *rest = (layout.at[n] for n in group)
            for i in rest:
                if layout.families[i][0].is_discrete:
                    layout.table(theta, i)[...] = layout.table(theta, first)
                else:
                    layout.line(lines, i)[...] = layout.line(lines, first)
        return Numbers(theta, lines)

    def slope(self, numbers: Numbers, expected: Expected) -> Floats:
        """The gradient of the log-likelihood and the priors' terms."""
        m, layout = self.maximiser, self.maximiser.layout
        tables = np.zeros(0)
        if len(m.starts):
            weights = m.weights(expected)
            total = np.repeat(np.add.reduceat(weights, m.starts), m.width)
            tables = (weights - numbers.theta * total)[self.cells]
        lines = np.zeros(layout.line_numbers)
        for i in m.lines:
            layout.line(lines, i)[...] = self._line_slope(i, numbers, expected)
        return np.concatenate([tables, lines[self.lines]])

    def _line_slope(self, i: int, numbers: Numbers, expected: Expected) -> Floats:
        m, layout = self.maximiser, self.maximiser.layout
        line = layout.line(numbers.lines, i)
        sums = layout.moment(expected.moments, i).copy()
        for other in m.groups.get(layout.names[i], ()):
            if other != layout.names[i]:
                sums += layout.moment(expected.moments, layout.at[other])
        flat = line.reshape(len(sums), -1)
        direction = np.concatenate([-flat[:, :-1], np.ones((len(flat), 1))], axis=1)
        pulled = np.einsum("uij,uj->ui", sums, direction)
        square = np.einsum("ui,ui->u", direction, pulled)
        variance = flat[:, -1]
        out = np.empty_like(flat)
        out[:, :-1] = pulled[:, :-1] / variance[:, None]
        out[:, -1] = -sums[:, 0, 0] / 2 + square / (2 * variance)
        shaped: Floats = out.reshape(line.shape)
        belief = m.beliefs[i]
        if isinstance(belief.prior, LinePrior):
            shaped = shaped + _prior_slope(m, i, belief.prior, belief.estimate, line)
        return shaped


def _prior_slope(m: Maximiser, i: int, prior: LinePrior, estimate: str, line: Floats) -> Floats:
    """The slope of −c ln σ² − S/σ² in centred and scaled units (see `Maximiser.penalty`)."""
    child, parents = m.layout.families[i]
    above = [m.problem.scales[p.name] for p in parents if not p.is_discrete]
    centre, scale = m.problem.scales[child.name]
    middle, spread = (np.array([s[j] for s in above]) for j in (0, 1))
    k = len(above)
    slope, ridge, at = prior.vectors(k)
    b = line[..., 1:-1] * scale / spread if k else line[..., 1:-1]
    value = centre + scale * line[..., 0] + (b @ (at - middle) if k else 0.0)
    variance = line[..., -1] * scale**2
    flat = float((ridge == 0).sum()) + (prior.kappa == 0)
    c = prior.alpha - flat / 2 + (-1.0 if estimate == "mean" else 1.0 + (k + 1) / 2)
    pull = prior.kappa * (value - prior.mean)
    square = prior.beta + pull * (value - prior.mean) / 2
    square = square + (ridge * (b - slope) ** 2).sum(axis=-1) / 2
    out = np.empty_like(line)
    out[..., 0] = -pull * scale / variance
    if k:
        each = pull[..., None] * (at - middle) + ridge * (b - slope)
        out[..., 1:-1] = -each / variance[..., None] * scale / spread
    out[..., -1] = -c + square / variance
    return out


def ascend(climb: Climb, most: int, method: str = "gradient") -> None:
    """Go on with a climb by its gradient, up to `most` iterations in all; Ctrl-C keeps the best."""
    if climb.reason or (climb.expected is not None and climb.iterations >= most):
        return
    space = Softmax(climb.maximiser, climb.numbers)
    if climb.expected is None:
        climb.expected = climb.problem.expect(climb.numbers)
        climb.trace.append(climb.value(climb.expected, climb.numbers))
    weight = climb.problem.weight
    best: list[Any] = [climb.trace[-1], climb.numbers, climb.expected]

    def downhill(vector: Floats) -> tuple[float, Floats]:
        numbers = space.numbers(vector)
        try:
            expected = climb.problem.expect(numbers)
        except ImpossibleError:
            return np.inf, np.zeros_like(vector)
        value = climb.value(expected, numbers)
        if value >= best[0]:
            best[:] = [value, numbers, expected]
        return -value / weight, -space.slope(numbers, expected) / weight

    def passed(*, intermediate_result: Any) -> None:
        climb.trace.append(max(-float(intermediate_result.fun) * weight, climb.trace[-1]))

    left = most - climb.iterations
    start = space.vector(climb.numbers)
    try:
        _ascended(climb, downhill, passed, start, left, method)
    finally:
        climb.numbers, climb.expected = best[1], best[2]
        climb.leapt = True  # the numbers are not yet those of a maximisation step
        climb.trace[-1] = max(best[0], climb.trace[-1])


def _ascended(
    climb: Climb, downhill: Any, passed: Any, start: Floats, left: int, method: str
) -> None:
    """One run of an optimiser, and why it ended; no reason where its iterations are used up."""
    if not len(start):
        climb.reason = "there is nothing to learn"
    elif METHODS[method]:
        from scipy.optimize import minimize

        options: dict[str, Any] = {"maxiter": left, "gtol": max(climb.tol * 0.1, _FLAT)}
        if method == "gradient":
            options |= {"ftol": 0.0, "maxcor": 30, "maxfun": 20 * left, "maxls": 40}
        before = climb.iterations
        found = minimize(
            downhill, start, jac=True, method=METHODS[method], callback=passed, options=options
        )
        if climb.iterations < before + left:
            climb.reason = (
                f"the slope is at most {options['gtol']:.3g} a row"
                if found.success
                else "no step along the slope gains anything a double can tell"
            )
    else:
        _steps(downhill, start, climb, left, climb.problem.weight)


def _steps(downhill: Any, at: Floats, climb: Climb, left: int, weight: float) -> None:
    """Steepest ascent; the step doubles while it gains and halves until it does."""
    value, slope = downhill(at)
    step, idle = 1.0, 0
    for _ in range(left):
        square = float(slope @ slope)
        if np.abs(slope).max() <= max(climb.tol * 0.1, _FLAT):
            climb.reason = "the slope is none"
            return
        while True:
            guess = at - step * slope
            found, there = downhill(guess)
            if found <= value - 1e-4 * step * square:
                break
            step /= 2
            if step < 1e-12:
                climb.reason = "no step along the slope gains anything a double can tell"
                return
        idle = idle + 1 if value - found <= 1e-15 * abs(value) else 0
        if idle >= 50:
            climb.reason = "50 steps in a row gained nothing"
            return
        at, value, slope = guess, found, there
        step *= 2
        climb.trace.append(max(-value * weight, climb.trace[-1]))
