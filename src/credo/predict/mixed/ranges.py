"""Ranges of continuous variables, as evidence and asked about: 2 < bili < 5, age > 60.

    P(d, y, x ∈ B) = Σ_u P(d, u, y) · P(x ∈ B | u, y)

Given the discrete variables u that lines depend on, and the values y that are observed, the
continuous ones x are Gaussian, so a range of theirs is one more table over u. It becomes the table
of a variable of its own, `age > 60`, that is true or false: as evidence it is known to be true,
asked about it is an event. Every question about discrete variables goes on as if it had always
been there. What a range says of other continuous variables is told by points in it (`boxes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from credo.core.errors import ImpossibleError, InputError
from credo.core.scales import Transform
from credo.core.schema import Variable
from credo.model.answers.approximation import Approximation, Estimate
from credo.model.answers.between import Between
from credo.model.answers.distribution import Distribution
from credo.model.answers.interval import Interval
from credo.model.answers.multivariate_mixture import MultivariateMixture
from credo.model.answers.normal_mixture import NormalMixture
from credo.model.mixtures.labels import Labels
from credo.model.networks.cpt import Cpt
from credo.predict.mixed.boxes import REPEATS, SOBOL, log_between, log_box, points_in
from credo.predict.mixed.gaussian_groups import gaussian_groups
from credo.predict.mixed.posterior import SMALLEST, Cases, cases_of
from credo.predict.mixed.truncated import TruncatedMixture
from credo.predict.questions.evidence import Evidence

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = [
    "RangeTable",
    "asked_ranges",
    "observed",
    "stated",
    "stated_log",
    "tied_ranges",
    "within_ranges",
]

_Z = 1.959963984540054

Floats = NDArray[np.float64]


def observed(net: Network, given: Mapping[str, Any]) -> tuple[Network, Evidence]:
    """The evidence, and the network with a variable for each of its ranges."""
    known = given if isinstance(given, Mapping) else {}
    ranges = {n: v for n, v in known.items() if isinstance(v, Between) and _is_line(net, n)}
    if not ranges:
        return net, Evidence.of(net, given)
    evidence = Evidence.of(net, {n: v for n, v in given.items() if n not in ranges})
    ranges = {n: _on_line(net, n, r) for n, r in ranges.items()}
    tables: list[RangeTable] = []
    scale, error = evidence.log_scale, 0.0
    for names in _together(net, evidence, ranges):
        cases = cases_of(net, names, [], evidence)
        table = RangeTable(_words(net, names, ranges), cases, evidence, ranges, {}, known=True)
        log, off = table.log()
        most = float(log.max())
        if most == -np.inf:
            raise ImpossibleError(
                f"{table.name} is so far from all that the model expects that its probability is "
                "zero.",
                hint="Check the unit of the numbers.",
            )
        tables.append(table)
        scale, error = scale + most, float(np.hypot(error, off))
    more = replace(
        evidence, hard={**evidence.hard, **{t.name: 1 for t in tables}}, ranges=ranges,
        tables=tuple(tables), log_scale=scale, error=error,
    )  # fmt: skip
    return _with(net, tables), more


def asked_ranges(
    net: Network, evidence: Evidence, events: Mapping[str, Any]
) -> tuple[Network, Evidence, dict[str, Any]]:
    """The network with a variable for each range that is asked about, and the events by those."""
    ranges = {n: e for n, e in events.items() if isinstance(e, Between)}
    if not ranges:
        return net, evidence, dict(events)
    for name in ranges:
        if name in evidence.values or name in evidence.hard:
            raise InputError(f"{name!r} is asked about and observed at once.")
    out = {n: e for n, e in events.items() if n not in ranges}
    net, binned = _binned(net, evidence, {n: e for n, e in ranges.items() if not _is_line(net, n)})
    out |= binned
    asked = {n: _on_line(net, n, e) for n, e in ranges.items() if _is_line(net, n)}
    if not asked:
        return net, evidence, out
    tables: list[RangeTable] = []
    for names in _together(net, evidence, {**asked, **evidence.ranges}):
        mine = {n: asked[n] for n in names if n in asked}
        if mine:
            given = {n: evidence.ranges[n] for n in names if n in evidence.ranges}
            cases = cases_of(net, names, [], evidence)
            tables.append(RangeTable(_words(net, mine, mine), cases, evidence, mine, given))
            out[tables[-1].name] = [True]
            evidence = replace(evidence, error=float(np.hypot(evidence.error, tables[-1].log()[1])))
    return _with(net, tables), replace(evidence, tables=(*evidence.tables, *tables)), out


@dataclass(frozen=True)
class RangeTable:
    """P(`asked` ranges | u, y, `given` ranges), of the targets of some cases."""

    name: str
    """The ranges in words: the name of the variable that is true if they hold."""
    cases: Cases
    evidence: Evidence
    asked: Mapping[str, Between]
    given: Mapping[str, Between]
    known: bool = False
    """Whether it is evidence, of which the table counts up to a factor."""

    def log(self, drawn: Any = None) -> tuple[Floats, float]:
        """ln P [B, u…], and its standard error; `drawn` are the parameters of lines, a batch."""
        mean, cov = self.cases.conditioned(self.evidence, drawn)
        ends = {n: _meet(self.asked.get(n), self.given.get(n)) for n in self.cases.targets}
        if any(e is None for e in ends.values()):  # asked for what the evidence rules out
            return np.full(mean.shape[:-1], -np.inf), 0.0
        both, error = _log_boxes(self.cases, mean, cov, ends)
        if not self.given:
            return both, error
        before, more = _log_boxes(self.cases, mean, cov, self.given)
        share = np.where(before > -np.inf, both - np.where(before > -np.inf, before, 0), -np.inf)
        return np.minimum(share, 0.0), float(np.hypot(error, more))

    def values(self, drawn: Any = None) -> Floats:
        """The table [B, u…, false or true]."""
        log, _ = self.log(drawn)
        flat = log.reshape(len(log), -1)
        if self.known:
            flat = flat - np.maximum(flat.max(axis=1, keepdims=True), -1e300)
        p = np.exp(flat).reshape(log.shape)
        p = np.broadcast_to(p, (len(p), *self.cases.shape))
        return np.stack([1.0 - p, p], axis=-1)


def _words(net: Network, names: Iterable[str], ranges: Mapping[str, Between]) -> str:
    """A name that no variable has."""
    said = ", ".join(ranges[n].of(n) for n in names)
    while said in net.schema:
        said += "′"
    return said


def _binned(
    net: Network, evidence: Evidence, asked: Mapping[str, Between]
) -> tuple[Network, dict[str, Any]]:
    """The network with a variable for each range of bins, true as often as the bin lies in it."""
    more, out = [], {}
    for name, range_ in asked.items():
        variable = net.variable(name)
        bins: Any = variable.scale
        share = bins.between(range_.low, range_.high)
        before = evidence.within.get(name)
        if before is not None:
            both, known = _meet(range_, before), bins.between(before.low, before.high)
            share = bins.between(both.low, both.high) if both is not None else np.zeros(len(bins))
            share = np.minimum(share / np.where(known > 0, known, 1.0), 1.0)
        if np.isin(share, (0.0, 1.0)).all() and share.any():
            out[name] = [s for s, there in zip(variable.states, share, strict=True) if there]
            continue
        if not hasattr(net, "dag"):
            raise InputError(
                f"Without directions a bound of {name!r} is one of its cuts: "
                f"{', '.join(f'{c:g}' for c in bins.cuts)}."
            )
        said = Variable(_words(net, [name], asked), "discrete", (False, True))
        more.append(Cpt(said, (variable,), np.stack([1 - share, share], axis=-1)))
        out[said.name] = [True]
    return (_joined(net, more) if more else net), out


def _on_line(net: Network, name: str, range_: Between) -> Between:
    """A range as the model has it."""
    scale = net.variable(name).scale
    return range_.on(scale) if isinstance(scale, Transform) else range_


def _is_line(net: Network, name: Any) -> bool:
    return name in net.schema and not net.variable(name).is_discrete


def _meet(one: Between | None, other: Between | None) -> Between | None:
    """What lies in both; None if nothing does."""
    if one is None or other is None:
        return one or other
    return one & other if max(one.low, other.low) < min(one.high, other.high) else None


def _together(net: Network, evidence: Evidence, ranges: Mapping[str, Any]) -> list[list[str]]:
    """The variables of the ranges, those in one list that tell of each other given all discrete."""
    groups = gaussian_groups(net, evidence.values.keys(), list(ranges), tied=False)
    return [[n for n in ranges if n in g.hidden] for g in groups if ranges.keys() & set(g.hidden)]


def _log_boxes(
    cases: Cases, mean: Floats, cov: Floats, ranges: Mapping[str, Any]
) -> tuple[Floats, float]:
    """ln P(variables in their ranges | u) [B, u…], and its standard error."""
    names = [n for n in cases.targets if n in ranges]
    size, at = len(cases.targets), [cases.targets.index(n) for n in names]
    lead = np.broadcast_shapes(mean.shape[:-1], cov.shape[:-2])
    flat = np.broadcast_to(mean, (*lead, size)).reshape(-1, size)[:, at]
    wide = np.broadcast_to(cov, (*lead, size, size)).reshape(-1, size, size)[:, at][:, :, at]
    low, high = (np.array([getattr(ranges[n], e) for n in names]) for e in ("low", "high"))
    log, error = log_box(flat, wide, low, high)
    return log.reshape(lead), error


def _with(net: Network, tables: Sequence[RangeTable]) -> Network:
    return _joined(
        net,
        [
            Cpt(Variable(t.name, "discrete", (False, True)), t.cases.variables, t.values()[0])
            for t in tables
        ],
    )


def _joined(net: Network, more: Sequence[Cpt]) -> Network:
    from credo.model.networks.network import Network

    edges = [*net.dag.edges, *((p.name, c.name) for c in more for p in c.parents)]
    dag = type(net.dag)(edges, nodes=[*net.names, *(c.name for c in more)])
    return Network(dag, {**net.distributions, **{c.name: c for c in more}}, record=net.record)


# --- continuous variables given a range ----------------------------------------------------


def tied_ranges(net: Network, evidence: Evidence, continuous: Sequence[str]) -> list[str]:
    """The variables with a range that tell of the targets, given all discrete ones."""
    if not evidence.ranges:
        return []
    every = [*continuous, *(n for n in evidence.ranges if n not in continuous)]
    groups = gaussian_groups(net, evidence.values.keys(), every, tied=False)
    mine = {n for g in groups if set(continuous) & set(g.hidden) for n in g.hidden}
    return [n for n in evidence.ranges if n in mine]


def within_ranges(
    cases: Cases, weights: Floats, means: Floats, covariances: Floats, t: int, evidence: Evidence
) -> Any:
    """The first `t` variables of the cases given that those with ranges lie in them.

    A Gaussian at each point of the ranges; the variable of a range itself is cut off at its ends.
    """
    names, ranges = cases.targets, evidence.ranges
    kept = weights.ravel() > 0
    p, size = weights.ravel()[kept], len(names)
    m = np.broadcast_to(means, (*weights.shape, size)).reshape(-1, size)[kept]
    c = np.broadcast_to(covariances, (*weights.shape, size, size)).reshape(-1, size, size)[kept]
    cut = ranges.get(names[0]) if t == 1 else None
    low, high = (np.array([getattr(ranges[n], e) for n in names[t:]]) for e in ("low", "high"))
    if t == size:
        x, left, log, repeats = m[:, None], c, np.zeros((len(m), 1)), 1
    else:
        slope, left = _regression(c, t)
        sd = np.sqrt(np.diagonal(c, axis1=1, axis2=2))
        noise = np.sqrt(np.diagonal(left, axis1=1, axis2=2))
        fine = int(np.minimum(60 * np.abs(slope[:, :, 0]) * sd[:, t:][:, :1] / noise, 1e3).max())
        at, log, repeats = points_in(m[:, t:], c[:, t:, t:], low, high, fine=fine)
        x = m[:, None, :t] + np.einsum("knr,ktr->knt", at - m[:, None, t:], slope)
    if cut is not None:
        sd = np.sqrt(left[:, 0, 0])[:, None]
        log = log + log_between((cut.low - x[..., 0]) / sd, (cut.high - x[..., 0]) / sd)
    w = p[:, None] * np.exp(log - logsumexp(log, axis=1, keepdims=True))
    account = None if repeats == 1 else _account(w, x, repeats, evidence)
    counts = w > 1e-18
    where = np.nonzero(counts)[0]
    parts = (w[counts], x[counts], left[where])
    if cut is not None:
        labels = None
        if t == size and cases.variables:
            codes = np.stack(np.unravel_index(np.flatnonzero(kept)[where], weights.shape), axis=1)
            labels = Labels(cases.variables, codes)
        alone = _alone(parts)
        return TruncatedMixture(*alone, names[0], labels, account, low=cut.low, high=cut.high)
    if t == 1:
        return NormalMixture(*_alone(parts), names[0], None, account)
    return MultivariateMixture(*parts, names[:t], None, account)


def _alone(parts: tuple[Floats, Floats, Floats]) -> tuple[Floats, Floats, Floats]:
    return parts[0], parts[1][:, 0], parts[2][:, 0, 0]


def _regression(c: Floats, t: int) -> tuple[Floats, Floats]:
    """Slopes of the first `t` variables on the others [k, t, r], and the covariance they leave."""
    scale = np.sqrt(np.diagonal(c, axis1=1, axis2=2) + SMALLEST)
    r = c / (scale[:, :, None] * scale[:, None, :])
    turn = np.swapaxes(np.linalg.pinv(r[:, t:, t:], hermitian=True) @ r[:, t:, :t], 1, 2)
    left = r[:, :t, :t] - turn @ r[:, t:, :t] + 1e-14 * np.eye(t)
    slope: Floats = turn * scale[:, :t, None] / scale[:, None, t:]
    return slope, left * scale[:, :t, None] * scale[:, None, :t]


def _account(w: Floats, x: Floats, repeats: int, evidence: Evidence) -> Approximation:
    """How far the means may be off: the repetitions of the points tell."""
    part = w.reshape(len(w), repeats, -1)
    each = np.einsum("krn,krnt->rt", part, x.reshape(*part.shape, -1))
    each = each / part.sum(axis=(0, 2))[:, None]
    return _points_account(each.mean(axis=0), each.std(axis=0, ddof=1) / np.sqrt(repeats), "mean")


def _points_account(value: Any, se: Any, of: str = "") -> Approximation:
    low, high = value - _Z * se, value + _Z * se
    if not of:
        low, high = np.clip([low, high], 0.0, 1.0)
    ends = Interval(low, high, 0.95)
    n = REPEATS * SOBOL
    return Approximation(
        "points", interval=ends, standard_error=np.atleast_1d(se), samples=n, effective=n,
        largest_weight=1 / n, seed=0, of=of,
        why="More than two continuous variables that tell of each other have ranges.",
    )  # fmt: skip


def stated(answer: Any, evidence: Evidence) -> Any:
    """Probabilities with the error that points in ranges leave."""
    if not evidence.error or getattr(answer, "approximation", None) is not None:
        return answer
    if isinstance(answer, Distribution):
        account = _points_account(answer.p, 2 * evidence.error * answer.p * (1 - answer.p))
        return Distribution.trusted(answer.variables, answer.p, account)
    if isinstance(answer, float):
        return Estimate(answer, _points_account(answer, 2 * evidence.error * answer * (1 - answer)))
    return answer


def stated_log(log_p: float, evidence: Evidence) -> float:
    """ln P(evidence), with that error."""
    return (
        Estimate(log_p, _points_account(log_p, evidence.error, "ln P")) if evidence.error else log_p
    )
