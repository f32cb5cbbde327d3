"""Where EM starts: tables from the rows that have no gaps, noise where nothing was observed.

A variable that was never observed needs noise; `train/em/saddle.py` says why, and refuses a start
without.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from credo.data import Table
from credo.train.em.maximise import Maximiser
from credo.train.em.problem import Numbers, Problem

__all__ = ["available_start", "random_start", "uniform_start"]

Floats = NDArray[np.float64]


def available_start(problem: Problem, maximiser: Maximiser) -> Numbers:
    """Tables from the rows in which a family is observed; lines from each column by itself.

    A half row is added to each cell: what starts at zero stays there.
    """
    counts, moments = problem.native.counted()
    numbers = uniform_start(problem, maximiser)
    theta = maximiser.projected(counts + 0.5, np.zeros_like(counts))
    lines = numbers.lines.copy()
    for i in maximiser.lines:
        _regress(problem, i, moments, lines)
    return held(maximiser, Numbers(theta, lines))


def uniform_start(problem: Problem, maximiser: Maximiser) -> Numbers:
    """Uniform tables; every line at its column's mean, with its column's variance."""
    layout = problem.layout
    theta = maximiser.projected(np.ones(layout.cells), np.zeros(layout.cells))
    lines = np.zeros(layout.line_numbers)
    for i in maximiser.lines:
        layout.line(lines, i)[..., -1] = 1.0  # columns are centred and scaled
    return held(maximiser, Numbers(theta, lines))


def _regress(problem: Problem, i: int, moments: Floats, lines: Floats) -> None:
    """A ridge regression on the rows in which the family is observed, where there are enough."""
    m = problem.layout.moment(moments, i)
    into = problem.layout.line(lines, i).reshape(len(m), -1)
    side = m.shape[1]
    for u in range(len(m)):
        n = m[u, 0, 0]
        if n <= side + 2:
            continue
        xx = m[u, :-1, :-1] + 0.5 * np.eye(side - 1)
        b = np.linalg.solve(xx, m[u, :-1, -1])
        direction = np.concatenate([-b, [1.0]])
        into[u, :-1] = b
        into[u, -1] = max(float(direction @ m[u] @ direction) / n, 1e-3)


def random_start(
    problem: Problem,
    maximiser: Maximiser,
    hidden: Collection[str],
    sample: Table | None,
    rng: np.random.Generator,
) -> Numbers:
    """The available start, with noise in every family that a hidden variable takes part in."""
    layout = problem.layout
    start = available_start(problem, maximiser)
    theta, lines = start.theta.copy(), start.lines.copy()
    seeds: dict[tuple[tuple[str, int], ...], int] = {}
    for i, (child, parents) in enumerate(layout.families):
        names = [child.name, *(p.name for p in parents)]
        if not any(n in hidden for n in names):
            continue
        if child.is_discrete:
            table = layout.table(theta, i)
            base = _marginal(problem, i, child.name in hidden)
            alpha = 2.0 * child.arity * base + 0.5
            draw = rng.gamma(np.broadcast_to(alpha, table.shape)) + 1e-6
            table[...] = draw / draw.sum(axis=-1, keepdims=True)
            continue
        _random_lines(problem, i, hidden, sample, rng, lines, seeds)
    return held(maximiser, Numbers(theta, lines))


def _random_lines(
    problem: Problem,
    i: int,
    hidden: Collection[str],
    sample: Table | None,
    rng: np.random.Generator,
    lines: Floats,
    seeds: dict[tuple[tuple[str, int], ...], int],
) -> None:
    """Each configuration starts at a row drawn at random, the same for all children of a state."""
    layout = problem.layout
    child, parents = layout.families[i]
    into = layout.line(lines, i)
    discrete = [p for p in parents if p.is_discrete]
    into[..., -1] = 1.0
    into[..., 1:-1] = rng.normal(0.0, 0.5 if child.name in hidden else 0.3, into[..., 1:-1].shape)
    into[..., 0] = 0.0
    if child.name in hidden or sample is None or child.name not in sample.schema:
        into[..., 0] = rng.normal(0.0, 0.5, into[..., 0].shape)
        return
    column = sample.block.arrays[sample.schema.index(child.name)]
    centre, scale = problem.scales[child.name]
    for at in np.ndindex(*into.shape[:-1]):
        # one row for each combination of states of the hidden parents
        pairs = zip(discrete, at, strict=True)
        key = tuple((p.name, a) for p, a in pairs if p.name in hidden)
        if key not in seeds:
            seeds[key] = int(rng.integers(len(column)))
        value = float(column[seeds[key]])
        into[at][0] = 0.0 if np.isnan(value) else (value - centre) / scale
        into[at][0] += rng.normal(0.0, 0.1)


def _marginal(problem: Problem, i: int, hidden: bool) -> Floats:
    """The child by itself, from the rows in which it was observed."""
    child, _ = problem.layout.families[i]
    if hidden:
        return np.full(child.arity, 1.0)  # nearly uniform: a large pseudo-count for each state
    found = problem.marginals[child.name]
    out: Floats = (found + 0.5) / (found + 0.5).sum()
    return out


def held(maximiser: Maximiser, numbers: Numbers) -> Numbers:
    """The same start with the families that are fixed as they are, and tied ones equal."""
    layout = maximiser.layout
    theta, lines = numbers.theta.copy(), numbers.lines.copy()
    for i, values in maximiser.fixed_numbers.items():
        place = (
            layout.table(theta, i) if layout.families[i][0].is_discrete else layout.line(lines, i)
        )
        place[...] = values
    for group in dict.fromkeys(maximiser.groups.values()):
        first, *rest = (layout.at[n] for n in group)
        for i in rest:
            if layout.families[i][0].is_discrete:
                layout.table(theta, i)[...] = layout.table(theta, first)
            else:
                layout.line(lines, i)[...] = layout.line(lines, first)
    return Numbers(theta, lines)
