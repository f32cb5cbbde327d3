"""The size of an effect: an identified formula evaluated on a network, with its uncertainty.

    P(y | do(x)) under each draw of the parameters → difference, ratio, odds ratio → their quantiles

The probabilities of the formula are families of the network where it has them, else they are
inferred; every draw uses the same parameters in all of them. Of a number y the formula gives the
mean, since y stands in one probability of it alone. With numbers among the causes the network in
which x is set answers instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError
from credo.model.causal.formula import Formula, Leaf, Named, Prob, aligned, evaluated
from credo.model.networks.cpt import Cpt
from credo.model.values.value import Told
from credo.predict.exact.posterior import posterior
from credo.predict.intervals.draws import MAX_NUMBERS, Draws, has_posterior
from credo.predict.intervals.interval import joint_draws, moments_of
from credo.predict.questions.evidence import Evidence
from credo.predict.questions.intervention import intervene
from credo.predict.questions.request import request
from credo.stats.counts import Counts

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["Evaluation", "Stratum", "evaluate", "leaf_of", "means", "strata", "uncertain"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """P(y | do(x)) as [x, y], or the mean of y as [x, 1]; under each draw as [draws, x, y]."""

    value: Floats
    draws: Floats | None


@dataclass(frozen=True, slots=True)
class Stratum(Told):
    """A cell without rows that a formula needs: its values, and the rows that lack it."""

    cell: tuple[tuple[str, Any], ...]
    of: str
    rows: float

    def __str__(self) -> str:
        cell = ", ".join(f"{n}={s}" for n, s in self.cell)
        return f"no row has {cell}, which P({self.of} | …) needs for {self.rows:,.6g} rows"


def uncertain(net: Network) -> bool:
    """Whether any distribution of a network has a posterior."""
    return any(map(has_posterior, net.distributions.values()))


def evaluate(net: Network, formula: Formula, x: str, y: str, draws: int, seed: int) -> Evaluation:
    """A formula over discrete variables (y may be a number) on a network."""
    point = _arranged(evaluated(formula, leaf_of(net, y, 0, seed)), net, x, y)
    if not draws:
        return Evaluation(point[0], None)
    drawn = _arranged(evaluated(formula, leaf_of(net, y, draws, seed)), net, x, y)
    return Evaluation(point[0], np.broadcast_to(drawn, (draws, *point.shape[1:])))


def means(
    net: Network, x: str, y: str, values: tuple[Any, Any], draws: int, seed: int
) -> Evaluation:
    """The mean of y in the network in which x is set to each of the values: [2, 1]."""
    both = [_mean(intervene(net, {x: v}), y, {}, draws, seed) for v in values]
    point = np.array([[m] for m, _ in both])
    if not draws:
        return Evaluation(point, None)
    drawn = np.stack([np.asarray(d) for _, d in both], axis=1)
    return Evaluation(point, drawn[..., None])


def _arranged(found: Named, net: Network, x: str, y: str) -> Floats:
    """[batch, x, y], whatever of them the formula has."""
    names = tuple(n for n in found[0] if n not in (x, y))
    assert not names
    out = aligned(found, (x, y))
    discrete = net.variable(y).is_discrete
    shape = (len(out), net.variable(x).arity, net.variable(y).arity if discrete else 1)
    return np.broadcast_to(out, shape)


def leaf_of(net: Network, y: str, draws: int, seed: int) -> Leaf:
    """The probabilities of a network, or of `draws` of its parameters."""

    def leaf(p: Prob) -> Named:
        if y in p.of and not net.variable(y).is_discrete:
            return _mean_leaf(net, p, y, draws, seed)
        for n in (*p.given, *p.of):
            if not net.variable(n).is_discrete:
                raise InputError(
                    f"The formula needs P({', '.join(p.of)} | …) by {n!r}, which is a number.",
                    hint=f"Cut it into intervals first: cr.cut(table, columns=[{n!r}]).",
                )
        local = net.distributions[p.of[0]]
        own = tuple(q.name for q in local.parents)
        if len(p.of) == 1 and set(own) == set(p.given):
            return (*own, p.of[0]), _family(net, p.of[0], draws, seed)
        names = (*p.given, *p.of)
        whole = _joint(net, names, draws, seed)
        below = whole.sum(axis=tuple(range(1 + len(p.given), whole.ndim)), keepdims=True)
        if not p.given:
            return names, whole
        return names, np.divide(whole, below, where=below > 0, out=np.zeros_like(whole))

    return leaf


def _family(net: Network, name: str, draws: int, seed: int) -> Floats:
    """The table of a variable, or draws of it."""
    local = net.distributions[name]
    assert isinstance(local, Cpt)
    if not draws or not has_posterior(local):
        return np.asarray(local.values)[None]
    _check(draws, prod(local.shape))
    found: Floats = Draws(net, seed, draws).next([name], draws)[name]
    return found.reshape(draws, *local.shape)


def _joint(net: Network, names: tuple[str, ...], draws: int, seed: int) -> Floats:
    shape = tuple(net.variable(n).arity for n in names)
    if not draws:
        found = posterior(request(net, {}, names))
        return np.asarray(found.p).reshape(1, *shape)
    _check(draws, prod(shape))
    drawn, _ = joint_draws(net, names, Evidence(), None, Draws(net, seed, draws), draws)
    return drawn.reshape(draws, *shape)


def _check(draws: int, cells: int) -> None:
    if draws * cells > MAX_NUMBERS:
        raise LimitError(
            f"{draws:,} draws of {cells:,} probabilities are {draws * cells:,} numbers; at most "
            f"{MAX_NUMBERS:,} are allowed.",
            hint="Use fewer draws, or adjust for fewer variables.",
        )


def _mean_leaf(net: Network, p: Prob, y: str, draws: int, seed: int) -> Named:
    """The mean of a number y for each configuration of what is given."""
    if p.of != (y,):
        raise InputError(f"The formula has {y!r} together with others; its mean does not follow.")
    shape = tuple(net.variable(n).arity for n in p.given)
    out = np.empty((max(draws, 1), prod(shape), 1))
    for i, codes in enumerate(product(*map(range, shape))):
        given = {n: net.variable(n).states[c] for n, c in zip(p.given, codes, strict=True)}
        point, drawn = _mean(net, y, given, draws, seed)
        out[:, i, 0] = drawn if draws else point
    return (*p.given, y), out.reshape(len(out), *shape, 1)


def _mean(
    net: Network, y: str, given: dict[str, Any], draws: int, seed: int
) -> tuple[float, Floats | None]:
    """E(y | given), and under each draw."""
    asked = request(net, given, (y,), rng=seed)
    point = float(posterior(asked).mean)
    if not draws:
        return point, None
    _, _, drawn = moments_of(asked.but(draws=draws), Draws(net, seed, draws))
    return point, drawn.mean[:, 0, 0]


# --- positivity ---------------------------------------------------------------------------


def strata(net: Network, formula: Formula, x: str) -> tuple[Stratum, ...]:
    """The cells without rows that a formula conditions on although rows lead there.

    A cell counts when rows have the same values but for x, or, where x is not among them, but for
    the last variable.
    """
    out: dict[str, Stratum] = {}
    for p in formula.leaves:
        local = net.distributions.get(p.of[0]) if len(p.of) == 1 else None
        if local is None or local.learned is None or not p.given:
            continue
        if {q.name for q in local.parents} != set(p.given):
            continue
        found = _rows(local.learned.observed, p.given)
        if found is None:
            continue
        along = p.given.index(x) if x in p.given else len(p.given) - 1
        others = np.broadcast_to(found.sum(axis=along, keepdims=True), found.shape)
        for at in np.argwhere((found == 0) & (others > 0)):
            variables = [net.variable(n) for n in p.given]
            states = tuple(v.states[i] for v, i in zip(variables, at, strict=True))
            cell = tuple(zip(p.given, states, strict=True))
            stratum = Stratum(cell, p.of[0], float(others[tuple(at)]))
            out[str(stratum)] = stratum
    return tuple(out.values())


def _rows(observed: Any, given: tuple[str, ...]) -> Floats | None:
    """How many rows each configuration of some discrete variables has."""
    if isinstance(observed, Counts):
        return np.asarray(observed.marginal(list(given)), dtype=np.float64)
    names = [v.name for v in observed.discrete]
    if set(names) != set(given):
        return None
    out = np.zeros([v.arity for v in observed.discrete])
    np.add.at(out, tuple(observed.configurations.T.astype(np.intp)), observed.n)
    return np.transpose(out, [names.index(n) for n in given])
