"""How sure is an answer? Parameter sets are drawn from the posterior and all asked at once.

    θ⁽ᵈ⁾ ~ p(θ | rows),   P(q | e, θ⁽ᵈ⁾) for d = 1 … D,   the interval: their quantiles

The draws are the batch of one compiled plan: [D, cells] for each table. The answer itself stays
the one of the network's own tables, the posterior means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import InputError, LimitError
from credo.model.credible import Credible
from credo.model.distribution import Distribution
from credo.model.gaussian import Gaussian
from credo.model.interval import probability
from credo.model.randomness import Rng, size
from credo.predict.draws import Draws, has_posterior
from credo.predict.engine import Engine, engine_of, split
from credo.predict.evidence import Evidence
from credo.predict.interval_gaussian import density_draws, gaussian_draws
from credo.predict.posterior import marginals, posterior, target_names
from credo.predict.uncertain import Probability, UncertainGaussian
from credo.progress import track

if TYPE_CHECKING:
    from credo.model.network import Network

__all__ = ["event_interval", "marginal_intervals", "posterior_interval"]

MAX_CONFIGURATIONS = 10_000
"""The interval of a joint of more configurations than this (but the last variable) is refused."""
_BYTES = 128 * 2**20  # tables drawn at once

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
    level, draws = probability(level), _enough(draws)
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
    level, draws = probability(level), _enough(draws)
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
    level, draws = probability(level), _enough(draws)
    source = Draws(net, rng)
    points = marginals(net, given)
    if not all(isinstance(p, Distribution) for p in points.values()):
        return {n: posterior_interval(net, n, given, level, draws, source.seed) for n in points}
    evidence = Evidence.of(net, given)
    engine = engine_of(net)
    asked = _Asked(engine, evidence, [], list(points))
    flat = np.concatenate([f for _, f in asked.run(source, draws, [])])
    sizes = [p.variables[0].arity for p in points.values()]
    out = {}
    for (name, point), samples in zip(points.items(), split(flat, sizes), strict=True):
        out[name] = Distribution(point.variables, point.p, Credible.of(samples, level))
    return out


def _enough(draws: int) -> int:
    n = size(draws, "draws", most=10_000_000)
    if n < 20:
        raise InputError(f"An interval needs at least 20 draws, got {n}.", hint="1,000 is usual.")
    return n


class _Asked:
    """One plan: the evidence, more variables known (`first`), and the targets."""

    def __init__(
        self, engine: Engine, evidence: Evidence, first: Sequence[str], targets: Sequence[str]
    ) -> None:
        self.engine, self.evidence = engine, evidence
        known = [*evidence.hard, *evidence.values]
        observed = [engine.at[n] for n in (*known, *first)]
        self.codes = [*evidence.hard.values(), *([0] * len(evidence.values))]
        self.soft = [n for n in evidence.soft if n not in first]
        self.plan = engine.plan(
            observed, [engine.at[n] for n in targets], soft=[engine.at[n] for n in self.soft]
        )
        pruned = set(self.plan.pruned)
        net = engine.net
        self.names = [n for i, n in enumerate(net.names) if i not in pruned]
        # an observed line that the plan leaves out may still hold another line's density
        lines = [n for n in evidence.values if n not in self.names]
        self.drawn = [n for n in (*self.names, *lines) if has_posterior(net.distributions[n])]

    def run(
        self, source: Draws, draws: int, configurations: Sequence[Sequence[int]]
    ) -> Iterator[tuple[Floats, Floats]]:
        """ln P(e) and the targets' posteriors, block by block of draws.

        With configurations of `first`, each block comes once for each of them, side by side.
        """
        for n in track(_blocks(self, draws), "drawing parameters", total=draws, size=int):
            drawn = source.next(self.drawn, n)
            tables, scale = self._tables(drawn, n)
            logs, flats = [], []
            for row in configurations or [()]:
                batch = np.tile(np.array([*self.codes, *row], dtype=np.int32), (n, 1))
                soft = [np.ascontiguousarray(self.evidence.soft[s][None, :]) for s in self.soft]
                log_e, flat, _ = self.plan.run(tables, np.ascontiguousarray(batch), soft, 1)
                logs.append(np.asarray(log_e) + scale)
                flats.append(flat)
            if configurations:
                yield np.stack(logs, axis=1), np.stack(flats, axis=1)
            else:
                possible = logs[0] > -np.inf
                yield logs[0][possible], flats[0][possible]

    def _tables(self, drawn: Mapping[str, Any], n: int) -> tuple[list[Floats], Any]:
        engine = self.engine
        tables = list(engine.tables)
        for name, values in drawn.items():
            if isinstance(values, np.ndarray):
                tables[engine.at[name]] = np.ascontiguousarray(values)
        if not self.evidence.values:
            return tables, 0.0
        return density_draws(engine, tables, self.evidence, drawn, n)


def _blocks(asked: _Asked, draws: int) -> Iterator[int]:
    cells = sum(asked.engine.tables[asked.engine.at[n]].size for n in asked.drawn)
    most = max(int(_BYTES // (8 * max(cells, 1))), 1)
    for start in range(0, draws, most):
        yield min(most, draws - start)


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
    if not first:
        asked = _Asked(engine, evidence, [], [last])
        found = np.concatenate([f for _, f in asked.run(source, draws, [])])
        return _some(found)
    ranges = [list(range(net.variable(n).arity)) if codes is None else codes[n] for n in first]
    if prod(map(len, ranges)) > MAX_CONFIGURATIONS:
        raise LimitError(
            f"The joint of {', '.join(names)} has {prod(map(len, ranges)):,} configurations of "
            f"all but the last; at most {MAX_CONFIGURATIONS:,} can have an interval.",
            hint="Ask for fewer variables at once.",
        )
    grid = np.stack(np.meshgrid(*ranges, indexing="ij"), axis=-1).reshape(-1, len(first))
    asked = _Asked(engine, evidence, first, [last])
    alone = _Asked(engine, evidence, [], [])
    asked.drawn = alone.drawn = list(dict.fromkeys([*asked.drawn, *alone.drawn]))
    with np.errstate(divide="ignore"):
        weight = sum(
            (
                np.log(evidence.soft[n])[grid[:, k]]
                for k, n in enumerate(first)
                if n in evidence.soft
            ),
            np.zeros(len(grid)),
        )
    parts = []
    again = Draws(net, source.seed)
    whole = (_log_evidence(alone, n, again) for n in _blocks(asked, draws))
    for (logs, flats), log_e in zip(asked.run(source, draws, grid.tolist()), whole, strict=True):
        good = log_e > -np.inf
        share = np.exp(logs[good] + weight - log_e[good][:, None])
        parts.append(share[..., None] * flats[good])
    return _some(np.concatenate(parts))


def _log_evidence(alone: _Asked, n: int, source: Draws) -> Floats:
    """ln P(e) under the next draws, those of probability zero among them."""
    drawn = source.next(alone.drawn, n)
    tables, scale = alone._tables(drawn, n)
    batch = np.tile(np.array(alone.codes, dtype=np.int32), (n, 1))
    soft = [np.ascontiguousarray(alone.evidence.soft[s][None, :]) for s in alone.soft]
    log_e, _, _ = alone.plan.run(tables, np.ascontiguousarray(batch), soft, 1)
    out: Floats = np.asarray(log_e) + scale
    return out


def _some(found: Floats) -> Floats:
    if not len(found):
        raise InputError("The evidence has probability zero under every draw of the parameters.")
    return found
