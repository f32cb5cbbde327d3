"""How sure is an answer? Parameter sets are drawn from the posterior and all asked at once.

    θ⁽ᵈ⁾ ~ p(θ | rows),   P(q | e, θ⁽ᵈ⁾) for d = 1 … D,   the interval: their quantiles

The draws are the batch of one compiled plan: [D, cells] for each table. The answer itself stays
the one of the network's own tables, the posterior means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import InputError, LimitError
from credo.model.credible import Credible
from credo.model.distribution import Distribution
from credo.model.gaussian import Gaussian
from credo.model.interval import probability
from credo.model.randomness import Rng
from credo.predict.draws import Draws, enough
from credo.predict.engine import engine_of, split
from credo.predict.evidence import Evidence
from credo.predict.interval_gaussian import gaussian_draws
from credo.predict.interval_plan import DrawnPlan
from credo.predict.posterior import marginals, posterior, target_names
from credo.predict.uncertain import Probability, UncertainGaussian

if TYPE_CHECKING:
    from credo.model.network import Network

__all__ = ["event_interval", "marginal_intervals", "posterior_interval"]

MAX_CONFIGURATIONS = 10_000
"""The interval of a joint of more configurations than this (but the last variable) is refused."""

Floats = NDArray[np.float64]


def posterior_interval(
    net: Network,
    target: str | Sequence[str],
    given: Mapping[str, Any],
    level: float,
    draws: int,
    rng: Rng,
) -> Any:
    """P(target | evidence) with the credible interval of each probability."""
    level, draws = probability(level), enough(draws)
    source = Draws(net, rng)
    answer = posterior(net, target, given)
    evidence = Evidence.of(net, given)
    if isinstance(answer, Gaussian):
        means, variances = gaussian_draws(net, answer.name, evidence, source, draws)
        return UncertainGaussian(
            answer.mean, answer.variance, answer.name,
            mean_interval=Credible.of(means, level),
            sd_interval=Credible.of(np.sqrt(variances), level),
        )  # fmt: skip
    if not isinstance(answer, Distribution):
        raise InputError("Ask for one continuous variable at a time to get an interval.")
    names = target_names(net, target, evidence)
    samples = _joint(net, names, evidence, None, source, draws)
    shape = tuple(v.arity for v in answer.variables)
    interval = Credible.of(samples.reshape(len(samples), *shape), level)
    return Distribution(answer.variables, answer.p, interval)


def event_interval(
    net: Network,
    value: float,
    events: Mapping[str, Sequence[Any]],
    given: Mapping[str, Any],
    level: float,
    draws: int,
    rng: Rng,
) -> Probability:
    """The probability of an event with its credible interval."""
    level, draws = probability(level), enough(draws)
    names = tuple(events)
    codes = {n: [net.variable(n).code(s) for s in states] for n, states in events.items()}
    evidence = Evidence.of(net, given)
    samples = _joint(net, names, evidence, codes, Draws(net, rng), draws)
    last = samples.reshape(len(samples), -1, net.variable(names[-1]).arity)
    return Probability(value, Credible.of(last[..., codes[names[-1]]].sum(axis=(1, 2)), level))


def marginal_intervals(
    net: Network, given: Mapping[str, Any], level: float, draws: int, rng: Rng
) -> dict[str, Any]:
    """Every marginal with its credible intervals; all from the same draws."""
    level, draws = probability(level), enough(draws)
    source = Draws(net, rng)
    points = marginals(net, given)
    if not all(isinstance(p, Distribution) for p in points.values()):
        return {n: posterior_interval(net, n, given, level, draws, source.seed) for n in points}
    evidence = Evidence.of(net, given)
    engine = engine_of(net)
    asked = DrawnPlan(engine, evidence, [], list(points))
    asked.check(draws, sum(len(p) for p in points.values()))
    parts = [f[:, 0][log_e[:, 0] > -np.inf] for log_e, f in asked.run(source, draws)]
    flat = _some(np.concatenate(parts))
    sizes = [p.variables[0].arity for p in points.values()]
    out = {}
    for (name, point), samples in zip(points.items(), split(flat, sizes), strict=True):
        out[name] = Distribution(point.variables, point.p, Credible.of(samples, level))
    return out


def _joint(
    net: Network,
    names: Sequence[str],
    evidence: Evidence,
    codes: Mapping[str, Sequence[int]] | None,
    source: Draws,
    draws: int,
) -> Floats:
    """P(names | evidence) under each draw: [draws, configurations of the first, last].

    Draws under which the evidence has probability zero say nothing and are left out.
    """
    engine = engine_of(net)
    *first, last = names
    arity = net.variable(last).arity
    ranges = [list(range(net.variable(n).arity)) if codes is None else codes[n] for n in first]
    if prod(map(len, ranges)) > MAX_CONFIGURATIONS:
        raise LimitError(
            f"The joint of {', '.join(names)} has {prod(map(len, ranges)):,} configurations of "
            f"all but the last; at most {MAX_CONFIGURATIONS:,} can have an interval.",
            hint="Ask for fewer variables at once.",
        )
    grid = list(product(*ranges))
    asked = DrawnPlan(engine, evidence, first, [last])
    asked.check(draws, len(grid) * arity, len(grid))
    alone = DrawnPlan(engine, evidence, [], [])
    asked.drawn = alone.drawn = list(dict.fromkeys([*asked.drawn, *alone.drawn]))
    with np.errstate(divide="ignore"):
        weight = np.zeros(len(grid))
        for k, n in enumerate(first):
            if n in evidence.soft:
                weight += np.log(evidence.soft[n])[[at[k] for at in grid]]
    parts = []
    whole = alone.run(Draws(net, source.seed), draws) if first else None
    for logs, flats in asked.run(source, draws, grid):
        log_e = logs if whole is None else next(whole)[0]
        good = log_e[:, 0] > -np.inf
        share = np.exp(logs[good] + weight - log_e[good])
        parts.append(share[..., None] * flats[good])
    return _some(np.concatenate(parts))


def _some(found: Floats) -> Floats:
    if not len(found):
        raise InputError("The evidence has probability zero under every draw of the parameters.")
    return found
