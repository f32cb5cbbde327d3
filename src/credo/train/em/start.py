"""Where EM starts: tables from the rows that have no gaps, noise where nothing was observed.

A variable that was never observed needs noise. Its start is a saddle point that EM cannot leave if
nothing tells hidden states apart,

    P(H=a | row) / P(H=b | row) = P(a | parents) / P(b | parents)    if every child is alike in a, b

and that ratio is the same for all parents too: each row gives both states the same proportion, and
each step the same tables again. So with a continuous hidden variable on which no child depends, and
which depends on no parent. Such a start is refused.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.data import Table
from credo.model.values.reals import shown
from credo.train.em.e_step import EStep
from credo.train.em.layout import Parameters
from credo.train.em.maximise import NetworkEM

__all__ = ["available_start", "random_start", "refuse_saddle", "uniform_start"]

Floats = NDArray[np.float64]

_DIGITS = 12  # numbers that agree to so many digits after the point are alike


def available_start(em: NetworkEM) -> Parameters:
    """Tables from the rows in which a family is observed; lines from each column by itself.

    A half row is added to each cell: what starts at zero stays there.
    """
    counts, moments = em.rows.native.counted()
    lines = uniform_start(em).lines.copy()
    for i in em.lines:
        _regress(em.rows, i, moments, lines)
    x = Parameters(em.projected(counts + 0.5, np.zeros_like(counts)), lines)
    for i in em.counted:
        em.layout.table(counts, i)[...] += _like_all(em, i)
    return em.constrained(em.with_laws(x, counts))


def uniform_start(em: NetworkEM) -> Parameters:
    """Uniform tables; every line at its column's mean, with its column's variance."""
    theta = em.projected(np.ones(em.layout.cells), np.zeros(em.layout.cells))
    for i in em.counted:
        em.layout.table(theta, i)[...] = _like_all(em, i)
    lines = np.zeros(em.layout.line_numbers)
    lines[em.variances] = 1.0  # columns are centred and scaled
    return em.constrained(em.with_laws(Parameters(theta, lines), theta))


def _like_all(em: NetworkEM, i: int) -> Floats:
    """A row like all of a number that counts, and none without it."""
    own = em.rows.marginals[em.layout.names[i]]
    return np.append(own / own.sum(), 0.0)


def _regress(rows: EStep, i: int, moments: Floats, lines: Floats) -> None:
    """A ridge regression on the rows in which the family is observed, where there are enough."""
    m = rows.layout.moment(moments, i)
    into = rows.layout.line(lines, i).reshape(len(m), -1)
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
    em: NetworkEM, hidden: Collection[str], sample: Table | None, rng: np.random.Generator
) -> Parameters:
    """The available start, with noise in every family that a hidden variable takes part in."""
    x = available_start(em)
    seeds: dict[tuple[tuple[str, int], ...], int] = {}
    for i, (child, parents) in enumerate(em.layout.families):
        if not any(v.name in hidden for v in (child, *parents)):
            continue
        if child.is_discrete:
            table = em.layout.table(x.theta, i)
            if i in em.counted:  # a row drawn at random in each configuration
                like = _like_all(em, i)
                drawn = rng.choice(len(like), table.shape[:-1], p=like)
                table[...] = np.eye(len(like))[drawn] + like
                continue
            base = np.ones(child.arity)  # nearly uniform: a large pseudo-count for each state
            if child.name not in hidden:
                base = em.rows.marginals[child.name] + 0.5
                base = base / base.sum()
            alpha = 2.0 * child.arity * base + 0.5
            draw = rng.gamma(np.broadcast_to(alpha, table.shape)) + 1e-6
            table[...] = draw / draw.sum(axis=-1, keepdims=True)
            continue
        _random_lines(em.rows, i, hidden, sample, rng, x.lines, seeds)
    return em.constrained(em.with_laws(x, x.theta))


def _random_lines(
    rows: EStep,
    i: int,
    hidden: Collection[str],
    sample: Table | None,
    rng: np.random.Generator,
    lines: Floats,
    seeds: dict[tuple[tuple[str, int], ...], int],
) -> None:
    """Each configuration starts at a row drawn at random, the same for all children of a state."""
    layout = rows.layout
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
    centre, scale = rows.scales[child.name]
    for at in np.ndindex(*into.shape[:-1]):
        # one row for each combination of states of the hidden parents
        pairs = zip(discrete, at, strict=True)
        key = tuple((p.name, a) for p, a in pairs if p.name in hidden)
        if key not in seeds:
            seeds[key] = int(rng.integers(len(column)))
        value = float(column[seeds[key]])
        into[at][0] = 0.0 if np.isnan(value) else (value - centre) / scale
        into[at][0] += rng.normal(0.0, 0.1)


def refuse_saddle(em: NetworkEM, x: Parameters, hidden: Collection[str]) -> None:
    """Refuse a start in which states of a hidden variable are alike, or a factor has no effect."""
    layout = em.layout
    for name in hidden:
        variable, _ = layout.families[layout.at[name]]
        below = [j for j, (_, above) in enumerate(layout.families) if variable in above]
        near = [layout.at[name], *below]
        if not below or all(j in em.fixed for j in near):
            continue
        if not variable.is_discrete:
            if _without_effect(em, x, name, below):
                raise InputError(
                    f"In the start nothing depends on the hidden variable {name!r}: its slopes "
                    "are all 0, which is a saddle point: every step would leave them 0.",
                    hint="Use start='random' (the default), or lines with slopes.",
                )
            continue
        alike = _alike(em, x, name, below)
        tied = any(layout.names[j] in em.groups for j in near)
        if len(alike) < 2 or (tied and len(alike) < variable.arity):
            continue  # a tied table elsewhere may tell them apart
        states = [shown(variable.states[k]) for k in alike[:3]]
        some = f"the states {', '.join(states[:-1])} and {states[-1]}"
        if len(alike) == variable.arity:
            some = "all states"
        elif len(alike) > 3:
            some = f"{len(alike):,} states ({', '.join(states)}, …)"
        raise InputError(
            f"The start treats {some} of the hidden variable {name!r} alike, which is a saddle "
            "point: every step would leave them alike.",
            hint="Use start='random' (the default), or tables that differ between its states.",
        )


def _alike(em: NetworkEM, x: Parameters, name: str, below: list[int]) -> list[int]:
    """The first states that nothing tells apart: neither tables and lines nor their priors."""
    layout = em.layout
    own = layout.table(x.theta, layout.at[name])
    prior = layout.table(em.add, layout.at[name])
    by_state = own.reshape(-1, own.shape[-1]).T
    mass = by_state.sum(axis=1, keepdims=True)
    there = np.flatnonzero(mass[:, 0] > 0)
    parts = [by_state / np.where(mass > 0, mass, 1.0), prior.reshape(-1, prior.shape[-1]).T]
    for j in below:
        child, above = layout.families[j]
        axis = [p.name for p in above if p.is_discrete].index(name)
        if child.is_discrete:
            values = [layout.table(x.theta, j), layout.table(em.add, j)]
        else:
            values = [layout.line(x.lines, j)]
        parts += [np.moveaxis(v, axis, 0).reshape(len(mass), -1) for v in values]
    marks = np.round(np.concatenate(parts, axis=1)[there], _DIGITS) + 0.0
    _, inverse, times = np.unique(marks, axis=0, return_inverse=True, return_counts=True)
    if times.max(initial=0) < 2:
        return []
    found: list[int] = there[inverse.ravel() == int(times.argmax())].tolist()
    return found


def _without_effect(em: NetworkEM, x: Parameters, name: str, below: list[int]) -> bool:
    """Whether a continuous variable depends on nothing, and nothing on it."""
    layout = em.layout
    own = layout.line(x.lines, layout.at[name])
    flat = own.reshape(-1, own.shape[-1])
    if np.abs(flat[:, 1:-1]).max(initial=0.0) > 0 or np.ptp(flat, axis=0).max() > 10.0**-_DIGITS:
        return False
    for j in below:
        _, above = layout.families[j]
        k = [p.name for p in above if not p.is_discrete].index(name)
        if np.abs(layout.line(x.lines, j)[..., 1 + k]).max(initial=0.0) > 0:
            return False
    return True
