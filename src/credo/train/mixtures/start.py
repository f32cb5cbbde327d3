"""Where a mixture starts: a few rounds of k-means on a sample of the rows, or random shares.

Rows become points: real columns scaled (a missing cell is the column's middle), each state a
coordinate of its own at distance 1 from the others (a missing cell is the column's shares). The
first centres are drawn by k-means++ (Arthur & Vassilvitskii 2007): each next one with probability
in proportion to its squared distance from those before, the best of a few draws. A column of more
than 64 states tells rows apart only where no other does, by its 64 most common ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from credo.predict.rows.mixture_rows import Parameters
from credo.train.mixtures.gathered import Gathered
from credo.train.mixtures.problem import Problem

Floats = NDArray[np.float64]

STARTS = ("k-means++", "random")
"""Ways to start."""

_SAMPLE = 4_000  # rows a start looks at, at least
_ROUNDS = 30  # of k-means in a start with care, at most
_TRIES = 3  # runs of k-means in such a start
_FEW = 2  # rounds of k-means in the others, which are to differ
_COORDINATES = 64  # states of a column, at most
_DIGITS = 2.0**20  # parts of a scale that a start tells apart
_SMALL = 1 << 18  # multiplications of a product that no library spreads over threads


def started(
    problem: Problem, k: int, how: str, rng: np.random.Generator, care: bool = False
) -> Parameters:
    """The parameters of one start; with care, the best of a few runs of k-means.

    Equal rows are gathered, and rows, columns and states stand in an order of their own
    (`gathered.py`), so that neither their order nor names change the start, nor whether a row is
    weighted or repeated (up to the number of rows that are looked at).
    """
    n = problem.cells.rows
    most = min(n, max(_SAMPLE, 100 * k))
    if most < n:
        looked = problem.gathered(np.sort(rng.choice(n, most, replace=False)))
    else:
        looked = problem.different
    rows, w = looked.rows, looked.weights
    w = w * max(len(w) / w.sum(), 1.0)  # what softens a start is in rows, of weight 1 or more
    if how == "random":
        share = rng.dirichlet(np.ones(k), size=len(rows))
    else:
        nearest = _k_means(_points(problem, looked, w), w, k, rng, care)
        share = np.full((len(rows), k), 0.05 / k)
        share[np.arange(len(rows)), nearest] += 0.95
    return _parameters(problem, rows, share * w[:, None], k)


def _pick(p: Floats, rng: np.random.Generator) -> int:
    """A position by its share, from one draw: equal shares give equal picks."""
    steps = np.cumsum(p)
    at = int(np.searchsorted(steps, rng.random() * steps[-1], side="right"))
    return min(at, len(p) - 1)


def _points(problem: Problem, looked: Gathered, w: Floats) -> Floats:
    """The rows as points; columns and states in the order that the cells decide."""
    cells, rows = problem.cells, looked.rows
    centre, scale = _rounded(problem)
    numbers = len(cells.reals) + len(cells.counts)
    parts: list[Floats] = []
    wide: list[Floats] = []
    for j in looked.columns:
        if j < len(cells.reals):
            z = (cells.reals[j, rows] - centre[j]) / scale[j]
            parts.append(np.nan_to_num(z, nan=0.0)[:, None])
        elif j < numbers:
            parts.append(_rooted(cells.counts[j - len(cells.reals), rows], w)[:, None])
        else:
            states = looked.states[j - numbers]
            codes = cells.codes[j - numbers][rows]
            many = len(states) > _COORDINATES
            (wide if many else parts).append(_hot(codes, states, w))
    if not any((part != part[0]).any() for part in parts):
        parts += wide
    return np.concatenate(parts, axis=1)


def _rounded(problem: Problem) -> tuple[Floats, Floats]:
    """Centres and scales of the real columns, without the digits that hang on the order of rows.

    They were summed in that order, and of numbers on a grid the last digit would say which of two
    equally near centres is the nearer.
    """
    most, power = np.frexp(problem.scales.scale)
    scale = np.ldexp(np.rint(most * _DIGITS) / _DIGITS, power)
    return np.rint(problem.scales.centre / scale * _DIGITS) / _DIGITS * scale, scale


def _rooted(column: Floats, w: Floats) -> Floats:
    """Counts by their roots, centred and scaled."""
    there = ~np.isnan(column)
    mass = np.where(there, w, 0.0) / max(float(w[there].sum()), 1e-300)
    z = np.sqrt(np.where(there, column, 0.0))
    z = np.where(there, z - z @ mass, 0.0)
    scaled: Floats = z / (np.sqrt(z**2 @ mass) or 1.0)
    return scaled


def _hot(codes: NDArray[np.integer], states: NDArray[np.intp], w: Floats) -> Floats:
    """States as coordinates, in their order; of too many the most common ones."""
    arity = len(states)
    if arity > _COORDINATES:
        mass = np.bincount(codes, weights=w, minlength=arity + 1)[states]
        states = states[np.sort(np.argsort(-mass, kind="stable")[:_COORDINATES])]
    place = np.full(arity + 1, len(states))
    place[states] = np.arange(len(states))
    hot: Floats = np.eye(len(states) + 1)[place[codes]][:, :-1] / np.sqrt(2.0)
    gone = codes == arity
    if gone.any() and not gone.all():
        hot[gone] = np.average(hot[~gone], axis=0, weights=w[~gone])
    return hot


def _k_means(
    x: Floats, w: Floats, k: int, rng: np.random.Generator, care: bool
) -> NDArray[np.intp]:
    """The nearest centre of each point: the best of a few runs."""
    best: tuple[float, NDArray[np.intp]] | None = None
    for _ in range(_TRIES if care else 1):
        height, label = _lloyd(x, w, _first_centres(x, w, k, rng), _ROUNDS if care else _FEW)
        if best is None or height < best[0]:
            best = height, label
    assert best is not None
    return best[1]


def _first_centres(x: Floats, w: Floats, k: int, rng: np.random.Generator) -> Floats:
    """k-means++, each centre the best of a few draws."""
    centres = np.empty((k, x.shape[1]))
    centres[0] = x[_pick(w, rng)]
    squares = (x * x).sum(axis=1)

    def far(centre: Floats) -> Floats:
        dots = np.einsum("ij,j->i", x, centre)
        away: Floats = np.maximum(squares - 2 * dots + centre @ centre, 0.0)
        return away

    near = far(centres[0])
    for c in range(1, k):
        p = near * w
        lowest = np.inf
        closer = near
        for _ in range(2 + int(np.log(k))):
            pick = x[_pick(p if p.sum() > 0 else w, rng)]
            trial = np.minimum(near, far(pick))
            height = float(trial @ w)
            if height < lowest:
                lowest, closer, centres[c] = height, trial, pick
        near = closer
    return centres


def _lloyd(x: Floats, w: Floats, centres: Floats, rounds: int) -> tuple[float, NDArray[np.intp]]:
    """Rounds of k-means; the sum of squares, and the nearest centre of each point."""
    k = len(centres)
    label = np.zeros(len(x), dtype=np.intp)
    squares = (x * x).sum(axis=1)
    height = np.inf
    for turn in range(rounds):
        far = squares[:, None] - 2 * _times(x, centres.T) + (centres * centres).sum(axis=1)
        new = far.argmin(axis=1)
        height = float(far.min(axis=1) @ w)
        if turn and (new == label).all():
            break
        label = new
        mine = np.zeros((len(x), k))
        mine[np.arange(len(x)), label] = w
        mass = mine.sum(axis=0)
        there = mass > 0
        sums = np.add.reduce([mine[p].T @ x[p] for p in _blocks(x, k)])
        centres[there] = sums[there] / mass[there, None]
    return height, label


def _blocks(x: Floats, k: int) -> list[slice]:
    """Runs of rows so short that a product with k columns stays on one thread."""
    size = max(_SMALL // max(x.shape[1] * k, 1), 1)
    return [slice(at, at + size) for at in range(0, len(x), size)]


def _times(x: Floats, y: Floats) -> Floats:
    return np.concatenate([x[part] @ y for part in _blocks(x, y.shape[1])])


def _over_rows(x: Floats, y: Floats) -> Floats:
    """A product of columns of numbers with rows, added up in the same order on any machine."""
    found: Floats = np.add.reduce([x[:, p] @ y[p] for p in _blocks(y, len(x))])
    return found


def _parameters(problem: Problem, rows: NDArray[np.intp], share: Floats, k: int) -> Parameters:
    """The parameters that shares of the classes make, softened so that nothing starts at zero."""
    cells, form = problem.cells, problem.form
    mass = share.sum(axis=0) + 1e-9
    total = mass.sum()
    tables = []
    for variable, codes in zip(cells.plan.states, cells.codes, strict=True):
        code = codes[rows]
        counts = np.stack(
            [np.bincount(code, weights=s, minlength=variable.arity + 1)[:-1] for s in share.T]
        )
        counts = counts + 1.0 / variable.arity + 0.01 * counts.sum(axis=0) / k
        tables.append(counts / counts.sum(axis=1, keepdims=True))
    reals = (cells.reals[:, rows] - problem.scales.centre[:, None]) / problem.scales.scale[:, None]
    d = len(reals)
    there = ~np.isnan(reals)
    z = np.where(there, reals, 0.0)
    n = _over_rows(there.astype(np.float64), share)  # [d, k]
    safe = np.maximum(n, 1e-9)
    means = (_over_rows(z, share) / safe).T
    means = np.where(n.T > 1e-6, means, 0.0)
    second = (_over_rows(z * z, share) / safe).T - means**2
    variance = np.where(d + 1 < n.T, np.maximum(second, 1e-3), 1.0)
    joint = form in ("full", "tied") and d > 0
    spread = variance
    if form == "spherical" and d:
        spread = np.repeat(variance.mean(axis=1, keepdims=True), d, axis=1)
    if joint:
        spread = variance[:, :, None] * np.eye(d)
        if form == "tied":
            pooled = (mass @ variance) / total
            spread = np.broadcast_to(np.diag(pooled), (k, d, d))
        elif there.all():
            for c in range(k):
                if mass[c] > 2 * d + 2:
                    away = z - means[c][:, None]
                    own = _over_rows(away * share[:, c], away.T) / mass[c]
                    spread[c] = 0.9 * own + 0.1 * np.diag(variance[c])
    counts_in = cells.counts[:, rows]
    here = ~np.isnan(counts_in)
    sums = np.where(here, counts_in, 0.0) @ share
    rates = ((sums + 0.1 * problem.rate_means[:, None]) / (here @ share + 0.1)).T
    return Parameters(mass / total, tuple(tables), means, spread, np.maximum(rates, 1e-6))
