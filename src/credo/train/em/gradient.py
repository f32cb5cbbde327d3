"""Adaptive probabilistic networks: steps along the gradient of the log-likelihood.

    θ_ijk = exp w_ijk / Σ_k exp w_ijk,      ∂L/∂w_ijk = n_ijk − θ_ijk Σ_k n_ijk

n are the expected counts of EM's own E-step (Russell, Binder, Koller &
Kanazawa 1995). In these parameters every step stays a distribution. L-BFGS and conjugate gradients
are SciPy's; plain steps are steepest ascent with a line search.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import ImpossibleError
from credo.model.networks.line_prior import LinePrior
from credo.train.em.layout import Parameters, Statistics
from credo.train.em.maximise import NetworkEM
from credo.train.em.run import Run, Steps

__all__ = ["METHODS", "Softmax", "by_gradient"]

METHODS = {"gradient": "L-BFGS-B", "conjugate-gradient": "CG", "gradient-steps": ""}
"""The names of the methods, and SciPy's."""

_FLAT = 1e-10  # the largest slope, for each unit of weight, that counts as none

Floats = NDArray[np.float64]


class Softmax:
    """All free parameters as one vector: logarithms for tables, lines with ln σ²."""

    def __init__(self, em: NetworkEM, start: Parameters) -> None:
        self.em, self.start = em, start
        layout = em.layout
        free = Parameters(np.zeros(layout.cells), np.zeros(layout.line_numbers))
        for i, (child, _) in enumerate(layout.families):
            if i not in em.bound:
                here = layout.part(start, i) > 0 if child.is_discrete else True
                layout.part(free, i)[...] = here
        self.cells, self.lines = np.flatnonzero(free.theta), np.flatnonzero(free.lines)

    def vector(self, x: Parameters) -> Floats:
        """The free parameters."""
        lines = x.lines.copy()
        lines[self.em.variances] = np.log(lines[self.em.variances])
        return np.concatenate([np.log(x.theta[self.cells]), lines[self.lines]])

    def parameters(self, vector: Floats) -> Parameters:
        """All parameters at some free ones."""
        em, at = self.em, self.em.variances
        logits = np.full(em.layout.cells, -np.inf)
        logits[self.cells] = vector[: len(self.cells)]
        lines = self.start.lines.copy()
        lines[at] = np.log(lines[at])
        lines[self.lines] = vector[len(self.cells) :]
        lines[at] = np.maximum(np.exp(np.clip(lines[at], -600, 600)), em.least)
        theta = self.start.theta.copy()
        if len(em.starts):
            high = np.repeat(np.maximum.reduceat(logits, em.starts), em.width)
            with np.errstate(invalid="ignore"):
                raised = np.where(np.isfinite(high), np.exp(logits - high), 0.0)
            soft = em.projected(raised, np.zeros_like(raised))
            theta[self.cells] = soft[self.cells]
        return em.constrained(Parameters(theta, lines))

    def slope(self, x: Parameters, statistics: Statistics) -> Floats:
        """The gradient of the log-likelihood and the priors' terms."""
        em = self.em
        tables = np.zeros(0)
        if len(em.starts):
            weights = em.weights(statistics)
            total = np.repeat(np.add.reduceat(weights, em.starts), em.width)
            tables = (weights - x.theta * total)[self.cells]
        lines = np.zeros(em.layout.line_numbers)
        for i in em.lines:
            em.layout.line(lines, i)[...] = self._line_slope(i, x, statistics)
        return np.concatenate([tables, lines[self.lines]])

    def _line_slope(self, i: int, x: Parameters, statistics: Statistics) -> Floats:
        em, layout = self.em, self.em.layout
        line = layout.line(x.lines, i)
        group = em.groups.get(layout.names[i], (layout.names[i],))
        sums = np.add.reduce([layout.moment(statistics.moments, layout.at[n]) for n in group])
        flat = line.reshape(len(sums), -1)
        direction = np.concatenate([-flat[:, :-1], np.ones((len(flat), 1))], axis=1)
        pulled = np.einsum("uij,uj->ui", sums, direction)
        square = np.einsum("ui,ui->u", direction, pulled)
        variance = flat[:, -1]
        out = np.empty_like(flat)
        out[:, :-1] = pulled[:, :-1] / variance[:, None]
        out[:, -1] = -sums[:, 0, 0] / 2 + square / (2 * variance)
        shaped: Floats = out.reshape(line.shape)
        if isinstance(em.beliefs[i].prior, LinePrior):
            terms = em.prior_terms(i, line)
            shaped[..., 0] -= terms.by_intercept / terms.variance
            shaped[..., 1:-1] -= terms.by_slopes / terms.variance[..., None]
            shaped[..., -1] += terms.square / terms.variance - terms.c
        return shaped


def by_gradient(method: str) -> Steps:
    """How a run goes on by its gradient; Ctrl-C keeps the best."""

    def steps(run: Run[Parameters, Statistics], most: int, pause: int | None) -> Iterator[float]:
        run.begin()
        left = min(most, pause or most) - run.iterations
        if run.reason or left <= 0:
            return
        em = run.problem
        assert isinstance(em, NetworkEM)
        space = Softmax(em, run.parameters)
        best: list[Any] = [run.objective, run.parameters, run.expected, run.log_likelihood]

        def downhill(vector: Floats) -> tuple[float, Floats]:
            x = space.parameters(vector)
            try:
                statistics, log = em.expect(x)
            except ImpossibleError:
                return np.inf, np.zeros_like(vector)
            value = log + em.log_prior(x, statistics)
            if value >= best[0]:
                best[:] = [value, x, statistics, log]
            return -value / em.weight, -space.slope(x, statistics) / em.weight

        try:
            _ascended(run, downhill, space.vector(run.parameters), left, method)
        finally:
            run.trace[-1] = max(best[0], run.trace[-1])
            _, run.parameters, run.statistics, run.log_likelihood = best
            run.before = None  # the parameters are not those of an M-step
        yield run.objective

    return steps


def _ascended(
    run: Run[Parameters, Statistics], downhill: Any, start: Floats, left: int, method: str
) -> None:
    """One run of an optimiser, and why it ended; no reason where its iterations are used up."""

    def passed(*, intermediate_result: Any) -> None:
        run.trace.append(max(-float(intermediate_result.fun) * run.problem.weight, run.trace[-1]))

    if not len(start):
        run.reason = "there is nothing to learn"
    elif METHODS[method]:
        from scipy.optimize import minimize

        options: dict[str, Any] = {"maxiter": left, "gtol": max(run.tol * 0.1, _FLAT)}
        if method == "gradient":
            options |= {"ftol": 0.0, "maxcor": 30, "maxfun": 20 * left, "maxls": 40}
        before = run.iterations
        found = minimize(
            downhill, start, jac=True, method=METHODS[method], callback=passed, options=options
        )
        if run.iterations < before + left:
            run.reason = (
                f"the slope is at most {options['gtol']:.3g} a row"
                if found.success
                else "no step along the slope gains anything a double can tell"
            )
    else:
        _steps(downhill, start, run, left)


def _steps(downhill: Any, at: Floats, run: Run[Parameters, Statistics], left: int) -> None:
    """Steepest ascent; the step doubles while it gains and halves until it does."""
    value, slope = downhill(at)
    step, idle = 1.0, 0
    for _ in range(left):
        square = float(slope @ slope)
        if np.abs(slope).max() <= max(run.tol * 0.1, _FLAT):
            run.reason = "the slope is none"
            return
        while True:
            guess = at - step * slope
            found, there = downhill(guess)
            if found <= value - 1e-4 * step * square:
                break
            step /= 2
            if step < 1e-12:
                run.reason = "no step along the slope gains anything a double can tell"
                return
        idle = idle + 1 if value - found <= 1e-15 * abs(value) else 0
        if idle >= 50:
            run.reason = "50 steps in a row gained nothing"
            return
        at, value, slope = guess, found, there
        step *= 2
        run.trace.append(max(-value * run.problem.weight, run.trace[-1]))
