"""Likelihood weighting through a softmax: all variables drawn, parents first.

    x_v ~ P(x_v | drawn parents)        w = Π_e P(e | drawn parents)

Observed states and numbers weigh, a number in a range is drawn within it and weighs by its chance.
The distribution of a number is that of its draws, each a narrow Gaussian, drawn together so that
mean and variance stay what they are (West 1993).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from credo.core.bins import Bins
from credo.core.errors import InputError
from credo.core.schema import is_missing
from credo.model.answers.approximation import Approximation, Estimate
from credo.model.answers.between import Between
from credo.model.answers.distribution import Distribution
from credo.model.answers.interval import Interval
from credo.model.answers.normal_mixture import NormalMixture
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.softmax import Softmax
from credo.predict.approximate.estimate import RULE_OF_THREE, ended, sampled, stated
from credo.predict.approximate.method import one_cell, say
from credo.predict.exact.engine import no_table
from credo.predict.questions.evidence import Evidence, likelihood
from credo.predict.questions.impossible import refuse_unfound
from credo.predict.questions.request import Request

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["weighted_answer"]

Floats = NDArray[np.float64]

_BATCH = 1 << 14
_KEPT = 4096  # Gaussians of an answer
_NUMBERS = 1 << 16  # draws of a number
_NARROW = 0.05  # the share of the deviation that each has
_Z = 1.959963984540054
_MOST = 1 << 22  # samples


def weighted_answer(
    net: Network,
    given: Mapping[str, Any] | None,
    targets: Sequence[str],
    events: Mapping[str, Any] | None,
    options: Request,
) -> Any:
    """P(targets | given), or P(events | given), by weighted samples."""
    if options.method in ("exact", "loopy", "gibbs") or options.level is not None:
        raise no_table(next(d for d in net.distributions.values() if isinstance(d, Softmax)))
    known = _Known(net, given or {})
    options = options.but(net=net, evidence=known.evidence, why=_why(net))
    numbers = [n for n in targets if not net.variable(n).is_discrete]
    if events is not None:
        inside = {n: _event(net, n, event) for n, event in events.items()}
        p, account = _counted(net, known, options, (2,), lambda drawn: _holds(drawn, inside))
        return Estimate(float(p[1]), one_cell(account, 1))
    if not numbers:
        variables = tuple(net.variable(n) for n in targets)
        shape = tuple(v.arity for v in variables)

        def cell(drawn: Mapping[str, NDArray[Any]]) -> NDArray[np.intp]:
            codes = [np.asarray(drawn[n], np.intp) for n in targets]
            return np.ravel_multi_index(codes, shape)

        p, account = _counted(net, known, options, shape, cell)
        return Distribution(variables, p, None, account)
    if len(targets) > 1:
        raise InputError(
            f"Through a softmax {numbers[0]!r} is asked about without other variables.",
            hint="Ask for each alone, or for the probability of ranges and states.",
        )
    return _number(net, known, options, numbers[0])


class _Known:
    """What is known: evidence as every engine takes it, and ranges of numbers."""

    def __init__(self, net: Network, given: Mapping[str, Any]) -> None:
        self.ranges = {
            n: v
            for n, v in given.items()
            if isinstance(v, Between) and n in net.schema and not net.variable(n).is_discrete
        }
        rest = {n: v for n, v in given.items() if n not in self.ranges and not is_missing(v)}
        self.evidence = Evidence.of(net, rest)
        self.ends = {}
        for name, range_ in self.ranges.items():
            scale = net.variable(name).scale
            ends = np.array([range_.low, range_.high])
            if scale is not None:
                assert not isinstance(scale, Bins)
                low, high = scale.domain
                inside = scale.forward(ends)
                ends = np.where(ends <= low, -np.inf, np.where(ends >= high, np.inf, inside))
            self.ends[name] = (float(ends[0]), float(ends[1]))

    def draw(
        self, net: Network, n: int, rng: np.random.Generator
    ) -> tuple[dict[str, NDArray[Any]], Floats]:
        """Columns, and ln weights."""
        columns: dict[str, NDArray[Any]] = {}
        log = np.zeros(n)
        for name in net.dag.order:
            local = net.distributions[name]
            if isinstance(local, LinearGaussian):
                columns[name] = self._line(local, columns, log, rng, n)
                continue
            at = tuple(columns[p.name] for p in local.parents if p.is_discrete)
            if isinstance(local, Softmax):
                p = np.exp(local.log_probabilities(at, [columns[v.name] for v in local.continuous]))
            else:
                p = np.broadcast_to(local.values[at], (n, local.child.arity))
            if name in self.evidence.hard:
                code = self.evidence.hard[name]
                columns[name] = np.full(n, code, np.intp)
                with np.errstate(divide="ignore"):
                    log += np.log(p[:, code])
                continue
            upto = np.cumsum(p, axis=1)
            u = rng.random(n) * upto[:, -1]
            columns[name] = (upto[:, :-1] <= u[:, None]).sum(axis=1)
            if name in self.evidence.soft:
                with np.errstate(divide="ignore"):
                    log += np.log(self.evidence.soft[name][columns[name]])
        return columns, log

    def _line(
        self,
        line: LinearGaussian,
        columns: Mapping[str, NDArray[Any]],
        log: Floats,
        rng: np.random.Generator,
        n: int,
    ) -> Floats:
        at = tuple(columns[p.name] for p in line.discrete)
        mean = np.broadcast_to(line.intercept[at], n).copy()
        for k, p in enumerate(line.continuous):
            mean += line.coefficients[..., k][at] * columns[p.name]
        sd = np.sqrt(np.broadcast_to(line.variance[at], n))
        if line.name in self.evidence.values:
            x = np.full(n, self.evidence.values[line.name])
            log += -0.5 * ((x - mean) / sd) ** 2 - np.log(sd * np.sqrt(2 * np.pi))
            return x
        if line.name not in self.ends:
            return np.asarray(mean + sd * rng.standard_normal(n))
        a, b = ((end - mean) / sd for end in self.ends[line.name])
        turn = a > 0  # in the lower tail, where a share is a number
        a, b = np.where(turn, -b, a), np.where(turn, -a, b)
        low, high = ndtr(a), ndtr(b)
        with np.errstate(divide="ignore"):
            log += np.log(np.maximum(high - low, 0.0))
        z = np.clip(ndtri(low + rng.random(n) * (high - low)), a, b)
        return np.asarray(mean + sd * np.where(turn, -z, z))


def _event(net: Network, name: str, event: Any) -> Any:
    """What an event allows of a column: a range of numbers, or codes."""
    variable = net.variable(name)
    if not variable.is_discrete:
        if not isinstance(event, Between):
            raise InputError(
                f"P({name}=…) is for discrete variables; ask for P({name}) or for a range of it."
            )
        return _Known(net, {name: event}).ends[name]
    found = likelihood(variable, event if isinstance(event, Between) else list(event))
    return np.eye(variable.arity)[found] if isinstance(found, int) else found


def _holds(drawn: Mapping[str, NDArray[Any]], inside: Mapping[str, Any]) -> Floats:
    """The share of each row that is in the event: 0 or 1, but for bins of which a part is."""
    out = np.ones(len(next(iter(drawn.values()))))
    for name, allowed in inside.items():
        x = drawn[name]
        if isinstance(allowed, tuple):
            out *= (x > allowed[0]) & (x < allowed[1])
        else:
            out *= np.asarray(allowed)[x]
    return out


def _counted(
    net: Network, known: _Known, options: Request, shape: tuple[int, ...], cell: Any
) -> tuple[Floats, Approximation]:
    """Probabilities of cells and their account."""
    cells = prod(shape)
    first, second = np.zeros(cells), np.zeros(cells)
    unit, heaviest, done = -np.inf, 0.0, 0
    most = min(options.most, _MOST) if options.samples is None else options.samples

    def error() -> Floats:
        total, square = first.sum(), second.sum()
        p = first / total
        size = np.maximum((1 - 2 * p) * second + p * p * square, 0.0)
        return np.asarray(np.sqrt(size) / total)

    def batch() -> tuple[int, str]:
        nonlocal first, second, unit, heaviest, done
        n = min(_BATCH, most - done)
        drawn, log = known.draw(net, n, np.random.default_rng([options.seed, done]))
        top = float(log.max())
        if top > unit:
            by = np.exp(unit - top) if unit > -np.inf else 0.0
            first, second, heaviest, unit = first * by, second * by * by, heaviest * by, top
        if top > -np.inf:
            w = np.exp(log - unit)
            at = cell(drawn)
            if at.dtype.kind == "f":  # outside and inside an event
                both = np.stack([w * (1 - at), w * at])
                first, second = first + both.sum(axis=1), second + (both**2).sum(axis=1)
            else:
                first += np.bincount(at, w, cells)
                second += np.bincount(at, w * w, cells)
            heaviest = max(heaviest, float(w.max()))
        done += n
        stop = ended(options, done, most)
        if not stop and options.target is not None and first.sum() > 0:
            enough = first.sum() ** 2 / second.sum() > 1000
            if enough and _Z * float(error().max()) <= options.target:
                stop = f"every 95 % interval is within ±{options.target:g}"
        return n, stop

    stopped = sampled(batch, most)
    if not first.sum() > 0:
        refuse_unfound(options, done)
    p, effective = first / first.sum(), float(first.sum() ** 2 / second.sum())
    account = Approximation(
        "weighting",
        samples=done,
        effective=effective,
        largest_weight=heaviest / float(first.sum()),
        variables=len(net.names),
        seed=options.seed,
        stopped=stopped,
        why=options.why,
        seconds=options.spent,
    )
    account = replace(account, **stated(p, error(), effective, done))
    if options.method == "auto" and not options.agreed:
        say(account)
    ends = account.interval
    assert ends is not None and account.standard_error is not None
    span = Interval(
        np.asarray(ends.lower).reshape(shape), np.asarray(ends.upper).reshape(shape), ends.level
    )
    account = replace(account, interval=span, standard_error=account.standard_error.reshape(shape))
    return p.reshape(shape), account


def _number(net: Network, known: _Known, options: Request, name: str) -> NormalMixture:
    """The distribution of one number."""
    n = min(options.samples or _NUMBERS, _MOST)
    drawn, log = known.draw(net, n, np.random.default_rng([options.seed, 0]))
    if not log.max() > -np.inf:
        refuse_unfound(options, n)
    w = np.exp(log - log.max())
    w = w / w.sum()
    x = np.asarray(drawn[name], np.float64)
    mean = float(w @ x)
    variance = float(w @ (x - mean) ** 2)
    effective = float(1 / (w @ w))
    se = max(float(np.sqrt(w**2 @ (x - mean) ** 2)), RULE_OF_THREE / n * np.sqrt(variance))
    # as many draws as are kept, evenly through the weights, moved so that both moments stay
    order = np.argsort(x)
    places = (np.arange(_KEPT) + 0.5) / _KEPT
    kept = x[order][np.minimum(np.searchsorted(np.cumsum(w[order]), places), n - 1)]
    off, wide = float(kept.mean()), float(kept.std())
    shrink = np.sqrt(max(1 - _NARROW**2, 0.0) * variance) / wide if wide > 0 else 0.0
    centres = mean + shrink * (kept - off)
    narrow = max(_NARROW**2 * variance, 1e-300) if wide > 0 else max(variance, 1e-300)
    account = Approximation(
        "weighting",
        interval=Interval(np.array([mean - _Z * se]), np.array([mean + _Z * se]), 0.95),
        standard_error=np.array([se]),
        samples=n,
        effective=effective,
        largest_weight=float(w.max()),
        variables=len(net.names),
        seed=options.seed,
        stopped=ended(options, n, n),
        why=options.why,
        seconds=options.spent,
        of="mean",
    )
    if options.method == "auto" and not options.agreed:
        say(account)
    weights = np.full(_KEPT, 1 / _KEPT)
    return NormalMixture(weights, centres, np.full(_KEPT, narrow), name, None, account)


def _why(net: Network) -> str:
    names = [n for n, d in net.distributions.items() if isinstance(d, Softmax)]
    return f"{names[0]!r} is a softmax of numbers that are not known."
