"""How sure is an answer? Parameter sets are drawn from the posterior and all asked at once.

    θ⁽ᵈ⁾ ~ p(θ | rows),   P(q | e, θ⁽ᵈ⁾) for d = 1 … D,   the interval: their quantiles

The draws are the batch of one compiled plan: [D, cells] for each table. The answer itself stays
the one of the network's own tables, the posterior means. For the rows of a table each draw is a
network of its own that shares the compiled plans of the first; an entry drawn below 1e-60 is taken
as 1e-60 there, so that no draw rules a row out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError
from credo.core.progress import track
from credo.core.render import text_html
from credo.data import Table
from credo.model.answers.distribution import Distribution
from credo.model.answers.interval import probability
from credo.model.answers.mixed_joint import MixedJoint
from credo.model.answers.normal_mixture import NormalMixture
from credo.model.answers.number_answer import NumberAnswer
from credo.model.distributions.gaussian import Gaussian
from credo.model.distributions.multivariate import MultivariateGaussian
from credo.model.values.randomness import Rng
from credo.predict.exact.engine import engine_of, split
from credo.predict.exact.posterior import event_probability, marginals, posterior, that_matters
from credo.predict.intervals.draws import DrawnPlan, Draws, MomentDraws, moment_draws, networks_of
from credo.predict.intervals.uncertain import (
    Probability,
    UncertainGaussian,
    UncertainMixture,
    UncertainMultivariate,
    UncertainMultivariateMixture,
)
from credo.predict.mixed.posterior import Cases, cases_of
from credo.predict.mixed.ranges import tied_ranges
from credo.predict.questions.against_rows import against_rows
from credo.predict.questions.evidence import Evidence
from credo.predict.questions.in_numbers import binned, in_numbers
from credo.predict.questions.request import Request, enough
from credo.predict.rows.rows import predict_proba, read_rows
from credo.stats.block import Block
from credo.stats.configurations import grouped

if TYPE_CHECKING:
    from credo.model.networks.network import Network
    from credo.predict.mixed.posterior import Cases

__all__ = [
    "Predictions",
    "event_interval",
    "joint_draws",
    "marginal_intervals",
    "moments_of",
    "posterior_interval",
    "predict_proba_interval",
]

Floats = NDArray[np.float64]

MAX_CONFIGURATIONS = 10_000
"""The interval of a joint of more configurations than this (but the last variable) is refused."""


def posterior_interval(request: Request) -> Any:
    """P(targets | evidence) with the credible interval of each probability."""
    net, evidence, names = request.net, request.evidence, request.targets
    source, level = _draws(request)
    answer = posterior(request)
    if not isinstance(answer, Distribution):
        return uncertain(request, answer, source)
    samples, _ = joint_draws(net, names, evidence, None, source, request.draws)
    shape = tuple(v.arity for v in answer.variables)
    interval = source.interval(samples.reshape(len(samples), *shape), level)
    notes = against_rows(net, names, answer.p, interval, evidence)
    found = Distribution(answer.variables, answer.p, interval, None, notes)
    if len(names) == 1 and found.variables[0].scale is not None:
        return binned(request, found, samples.reshape(len(samples), *shape))
    return found


def event_interval(request: Request) -> Probability:
    """The probability of an event with its credible interval."""
    net, evidence, names, codes = request.net, request.evidence, request.targets, request.event
    assert codes is not None
    value = event_probability(request)
    source, level = _draws(request)
    samples, _ = joint_draws(net, names, evidence, codes, source, request.draws)
    last = samples.reshape(len(samples), -1, net.variable(names[-1]).arity)
    interval = source.interval(last[..., codes[names[-1]]].sum(axis=(1, 2)), level)
    notes = against_rows(net, names, np.array(value), interval, evidence, codes)
    return Probability(value, interval, notes)


def marginal_intervals(request: Request) -> dict[str, Any]:
    """Every marginal with its credible intervals; all from the same draws."""
    net, evidence, draws = request.net, request.evidence, request.draws
    source, level = _draws(request)
    points = marginals(request)
    tables = {n: p for n, p in points.items() if isinstance(p, Distribution)}
    out: dict[str, Any] = {}
    if tables:
        asked = DrawnPlan(engine_of(net), evidence, [], list(tables))
        asked.check(draws, sum(len(p) for p in tables.values()))
        parts = [f[:, 0][log_e[:, 0] > -np.inf] for log_e, f in asked.run(source, draws)]
        flat = _some(np.concatenate(parts))
        sizes = [p.variables[0].arity for p in tables.values()]
        for (name, point), samples in zip(tables.items(), split(flat, sizes), strict=True):
            interval = source.interval(samples, level)
            notes = against_rows(net, (name,), point.p, interval, evidence)
            found = Distribution(point.variables, point.p, interval, None, notes)
            scaled = found.variables[0].scale is not None
            out[name] = binned(request, found, samples) if scaled else found
    for name, point in points.items():
        if name not in out:
            one = request.but(targets=(name,))
            out[name] = uncertain(one, point, Draws(net, request.seed, draws))
    return {n: out[n] for n in points}


def _draws(request: Request) -> tuple[Draws, float]:
    """The draws of the parameters, and the level of the intervals."""
    assert request.level is not None
    return Draws(request.net, request.seed, request.draws), request.level


def moments_of(request: Request, source: Draws) -> tuple[Cases, Floats, MomentDraws]:
    """The Gaussians behind an answer about continuous variables, their weights and moments under
    each draw."""
    net, evidence, draws = request.net, request.evidence, request.draws
    discrete, continuous = request.named(discrete=True), request.named(discrete=False)
    for name in tied_ranges(net, evidence, continuous):
        raise InputError(
            f"A continuous variable has no credible interval where the evidence has a range of "
            f"{name!r}.",
            hint=f"Ask for a probability, such as P({continuous[0]} > 1 | …), which has one.",
        )
    evidence = that_matters(net, request.targets, evidence)
    cases = cases_of(net, continuous, discrete, evidence)
    weights, good = np.ones((draws, 1)), np.ones(draws, dtype=bool)
    if cases.names:
        again = Draws(net, source.seed, draws)
        weights, good = joint_draws(net, cases.names, evidence, None, again, draws)
    states = prod(net.variable(n).arity for n in discrete)
    scale = net.variable(continuous[0]).scale
    drawn = moment_draws(cases, weights, good, states, evidence, source, scale)
    return cases, weights, drawn


def uncertain(request: Request, answer: Any, source: Draws) -> Any:
    """An answer about continuous variables with its credible intervals."""
    assert request.level is not None
    level = request.level
    numbers = request.named(discrete=False)
    for name in numbers if len(numbers) > 1 else ():
        if request.net.variable(name).scale is not None:
            raise InputError(
                f"{name!r} has a transform, so it has no credible interval together with other "
                "numbers.",
                hint="Ask for each alone, for the probability of ranges, or without an interval.",
            )
    cases, weights, drawn = moments_of(request, source)
    answer = in_numbers(request, answer)
    if isinstance(answer, MixedJoint):
        return _joint_interval(answer, drawn, source, level)
    spans: dict[str, Any] = {
        "mean_interval": source.interval(_one(drawn.mean), level),
        "sd_interval": source.interval(_one(drawn.sd), level),
    }
    if isinstance(answer, NumberAnswer):
        return replace(answer, **spans)
    if isinstance(answer, Gaussian):
        return UncertainGaussian(answer.mean, answer.variance, answer.name, **spans)
    if isinstance(answer, NormalMixture):
        assert answer.labels is not None
        cells = np.ravel_multi_index(tuple(answer.labels.codes.T), cases.shape)
        share = weights.reshape(len(weights), -1)[:, cells]
        return UncertainMixture(
            answer.weights, answer.means, answer.variances, answer.name, answer.labels,
            weight_interval=source.interval(share, level), **spans,
        )  # fmt: skip
    spans["correlation_interval"] = source.interval(drawn.correlation[:, 0], level)
    if isinstance(answer, MultivariateGaussian):
        return UncertainMultivariate(answer.mean, answer.covariance, answer.names, **spans)
    return UncertainMultivariateMixture(
        answer.weights, answer.means, answer.covariances, answer.names, answer.labels, **spans
    )


def _one(drawn: Floats) -> Floats:
    """[draws, 1, t] as [draws, t], or as [draws] where t is 1."""
    out: Floats = drawn[:, 0, 0] if drawn.shape[-1] == 1 else drawn[:, 0]
    return out


def _joint_interval(
    answer: MixedJoint, drawn: MomentDraws, source: Draws, level: float
) -> MixedJoint:
    """Intervals of p, means and sds for each state of the discrete variables."""
    shape = answer.discrete.p.shape
    p = source.interval(drawn.p.reshape(len(drawn.p), *shape), level)
    discrete = Distribution(answer.discrete.variables, answer.discrete.p, p)
    mean, sd = source.interval(drawn.mean, level), source.interval(drawn.sd, level)
    return MixedJoint(discrete, answer.continuous, answer.given, mean, sd)


def joint_draws(
    net: Network,
    names: Sequence[str],
    evidence: Evidence,
    codes: Mapping[str, Sequence[int]] | None,
    source: Draws,
    draws: int,
) -> tuple[Floats, NDArray[np.bool_]]:
    """P(names | evidence) under each draw: [draws, configurations of the first, last].

    Draws under which the evidence has probability zero say nothing and are left out; the second
    array has False for them.
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
    parts, kept = [], []
    whole = alone.run(Draws(net, source.seed, draws), draws) if first else None
    for logs, flats in asked.run(source, draws, grid):
        log_e = logs if whole is None else next(whole)[0]
        good = log_e[:, 0] > -np.inf
        share = np.exp(logs[good] + weight - log_e[good])
        parts.append(share[..., None] * flats[good])
        kept.append(good)
    return _some(np.concatenate(parts)), np.concatenate(kept)


def _some(found: Floats) -> Floats:
    if not len(found):
        raise InputError("The evidence has probability zero under every draw of the parameters.")
    return found


_NUMBERS = 20_000_000  # probabilities kept at once


class Predictions(NamedTuple):
    """P(target | row), and the ends of its credible interval: a row each, a column per state."""

    p: Floats
    low: Floats
    high: Floats

    def _repr_html_(self) -> str:
        return text_html(self)


def predict_proba_interval(
    net: Network, rows: Any, target: str, level: float, draws: int, rng: Rng, threads: int
) -> Predictions:
    """Predictions for each row of a table with their credible intervals."""
    level = probability(level)
    draws = enough(draws, level)
    source = Draws(net, rng, draws)
    table = read_rows(net, rows, without=target if target in net.distributions else None)
    p = predict_proba(net, table, target, threads=threads)
    different, inverse = _different(table)
    low, high = (np.empty((len(different), p.shape[1])) for _ in range(2))
    step = max(_NUMBERS // (draws * p.shape[1]), 1)
    starts = range(0, len(different), step)
    work = ((start, d) for start in starts for d in range(draws))
    samples = np.empty((draws, min(step, len(different)), p.shape[1]))
    networks: Iterator[Network] = iter(())
    for start, d in track(work, "drawing parameters", total=len(starts) * draws):
        if d == 0:
            networks = networks_of(Draws(net, source.seed, draws))
        part = different.take(slice(start, start + step))
        samples[d, : len(part)] = predict_proba(next(networks), part, target, threads=threads)
        if d == draws - 1:
            found = source.interval(samples[:, : len(part)], level)
            low[start : start + step], high[start : start + step] = found
    return Predictions(p, low[inverse], high[inverse])


def _different(table: Table) -> tuple[Table, NDArray[np.intp]]:
    """The rows that differ, and which of them each row is."""
    arrays = table.block.arrays
    if not len(table) or not all(v.is_discrete for v in table.schema.variables):
        return Table(Block(table.schema, arrays)), np.arange(len(table))
    codes = np.stack([a.astype(np.uint32) for a in arrays], axis=1)
    unique, inverse = grouped(codes)
    columns = [unique[:, k].astype(a.dtype) for k, a in enumerate(arrays)]
    return Table(Block(table.schema, tuple(columns))), np.asarray(inverse).ravel()
