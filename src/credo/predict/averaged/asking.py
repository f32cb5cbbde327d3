"""Questions answered by all graphs together.

    P(q | e) = Σ_G P(G | rows) P(q, e | G) / Σ_G P(G | rows) P(e | G)

The interval is that of P(q | e, G, θ) over draws of a graph and of its parameters, so it includes
how sure the graph is. Where graphs were drawn, the error that this leaves in the answer is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.frozen import Frozen
from credo.core.render import Shown, View, many, whiskers
from credo.model.answers.credible import Credible
from credo.model.answers.distribution import Distribution
from credo.model.answers.interval import probability
from credo.model.answers.normal_mixture import NormalMixture
from credo.model.answers.number_answer import NumberAnswer
from credo.model.distributions.gaussian import Gaussian
from credo.model.networks.network import Local
from credo.model.structures.edges import Chance
from credo.model.structures.structure_posterior import StructurePosterior
from credo.model.values.randomness import Rng, generator
from credo.predict.averaged.joint import by_joint
from credo.predict.averaged.parts import Parts, parts_of
from credo.predict.exact.posterior import event_probability, log_evidence, posterior
from credo.predict.intervals.draws import Draws, has_posterior
from credo.predict.intervals.interval import joint_draws, moments_of
from credo.predict.intervals.uncertain import Probability, UncertainMixture
from credo.predict.questions.asking import event_states
from credo.predict.questions.in_numbers import binned, in_numbers
from credo.predict.questions.intervention import intervene
from credo.predict.questions.notes import Noted
from credo.predict.questions.question import parse
from credo.predict.questions.request import Request, draws_of, enough, request

__all__ = [
    "Effect",
    "answer",
    "ask",
    "effect",
    "intervened",
    "joint_samples",
    "mean_samples",
    "notes_of",
    "spread_over",
    "without_causes",
]

Floats = NDArray[np.float64]


def ask(post: StructurePosterior, text: str, **options: Any) -> Any:
    """A question in text, as a network is asked."""
    question = parse(post.best, text)
    if question.argmax:
        raise InputError(
            "A question with argmax is for one graph; graphs are averaged for probabilities.",
            hint="Ask for P(…) of the states, or ask post.best.",
        )
    if question.do:
        post = intervened(post, question.do)
    target = question.events if question.events else question.targets
    return answer(post, target, question.given, parsed=True, **options)


def answer(
    post: StructurePosterior,
    target: str | Sequence[str] | Mapping[str, Any],
    given: Mapping[str, Any] | None = None,
    *,
    interval: float | None = None,
    draws: int | None = None,
    rng: Rng = 0,
    parsed: bool = False,
) -> Any:
    """P(target | given) averaged over graphs and parameters."""
    given = {} if given is None else given
    event = isinstance(target, Mapping)
    if isinstance(target, Mapping) and not parsed:
        target = event_states(post.best, target)
    asked = _asked(post.best, target, given, event)  # refuses what is not evidence
    found = by_joint(post, asked, given)
    notes: tuple[str, ...] = ()
    n = draws_of(draws, interval)
    if interval is not None:
        interval = probability(interval)
        n = enough(n, interval)
    if found is not None and interval is None:
        return _told(asked, found, notes_of(post, interval))
    parts = _parts(post, target, given)
    if found is None:
        logs = np.array([log_evidence(request(n, given)) if given else 0.0 for n in parts.networks])
        likely = np.exp(logs - logs.max())
        every = [_asked(n, target, given, event) for n in parts.networks]
        points = [event_probability(a) if event else posterior(a) for a in every]
        shares = parts.weights * likely
        found = _averaged(points, shares / shares.sum())
        notes = _error(post, parts, likely, points, found)
    notes = (*notes_of(post, interval), *notes)
    if interval is None:
        return _told(asked, found, notes)
    samples = _samples(parts, target, given, n, rng, isinstance(found, NormalMixture))
    return _with_interval(asked.but(level=interval), found, samples, notes)


def joint_samples(
    post: StructurePosterior, names: Sequence[str], given: Mapping[str, Any], n: int, rng: Rng
) -> Floats:
    """P(names | given) under draws of a graph and its parameters: [draws, states of each…]."""
    found = _samples(_parts(post, names, given), names, given, n, rng)
    return found.reshape(-1, *(post.schema[name].arity for name in names))


def mean_samples(post: StructurePosterior, name: str, n: int, rng: Rng) -> Floats:
    """The mean of a number under draws of a graph and its parameters."""
    return _samples(_parts(post, name, {}), name, {}, n, rng, normal=True)[:, 0]


def _parts(post: StructurePosterior, target: Any, given: Mapping[str, Any]) -> Parts:
    names = [target] if isinstance(target, str) else list(target)
    return parts_of(post, [n for n in dict.fromkeys([*names, *given]) if n in post.names])


def _asked(net: Any, target: Any, given: Mapping[str, Any], event: bool) -> Request:
    one = request(net, given)
    return one.with_event(target) if event else one.with_targets(target)


def _averaged(points: list[Any], shares: Floats) -> Any:
    first = points[0]
    if isinstance(first, float):
        return float(np.array([float(p) for p in points]) @ shares)
    if isinstance(first, Distribution):
        p = np.tensordot(shares, np.stack([q.p for q in points]), axes=1)
        return Distribution(first.variables, p / p.sum())
    if not all(isinstance(p, (Gaussian, NormalMixture)) for p in points):
        raise InputError(
            "Averaged over graphs, continuous variables are answered one at a time.",
            hint="Ask for each of them alone.",
        )
    w, m, v = [], [], []
    for point, share in zip(points, shares.tolist(), strict=True):
        if isinstance(point, NormalMixture):
            w += (share * point.weights).tolist()
            m += point.means.tolist()
            v += point.variances.tolist()
        else:
            w, m, v = [*w, share], [*m, point.mean], [*v, point.variance]
    pairs, inverse = np.unique(np.array([m, v]).T, axis=0, return_inverse=True)
    weights = np.bincount(np.asarray(inverse).ravel(), np.array(w), len(pairs))
    kept = weights > 0
    weights = weights[kept] / weights[kept].sum()
    return NormalMixture(weights, pairs[kept, 0], pairs[kept, 1], first.name)


def notes_of(post: StructurePosterior, interval: float | None) -> tuple[str, ...]:
    """What is said of an average: over what, and what its interval includes."""
    graphs, prior = many(post.graph_count, "graph"), post.record.details.get("prior")
    includes = ": the interval includes how sure the graph is" if interval is not None else ""
    told = [n for n in post.record.notes if n.startswith(("cells are missing", "the chains"))]
    return f"averaged over {graphs}, prior {prior}{includes}", *told


def _error(
    post: StructurePosterior, parts: Parts, likely: Floats, points: list[Any], found: Any
) -> tuple[str, ...]:
    """What drawing the graphs leaves open of the answer."""
    if post.complete or isinstance(found, NormalMixture):
        return ()
    each = np.array([np.ravel(getattr(p, "p", p)) for p in points], dtype=np.float64)
    mean = np.ravel(getattr(found, "p", found))
    off = likely[:, None] * (each - mean) / float(parts.weights @ likely)
    error = max(post._mean(column[parts.of_graph]).error for column in off.T)
    return (f"drawing the graphs leaves an error of {error:.2g}",)


def _told(asked: Request, found: Any, notes: tuple[str, ...]) -> Any:
    """The answer in the user's numbers, and what is said of it."""
    if isinstance(found, float):
        return Noted(found, notes)
    if isinstance(found, Distribution):
        return in_numbers(asked, Distribution(found.variables, found.p, None, None, notes))
    mixture = NormalMixture(found.weights, found.means, found.variances, found.name, notes=notes)
    return in_numbers(asked, mixture)


def spread_over(weights: Floats, n: int, seed: int) -> NDArray[np.int64]:
    """How many of n draws each graph gets: as evenly as its weight allows.

    >>> spread_over(np.array([0.5, 0.25, 0.25]), 8, 0).tolist()
    [4, 2, 2]
    """
    at = (np.arange(n) + np.random.default_rng(seed).random()) / n
    ends = np.cumsum(weights)
    places = np.minimum(np.searchsorted(ends / ends[-1], at, side="right"), len(weights) - 1)
    return np.bincount(places, minlength=len(weights))


def _samples(
    parts: Parts, target: Any, given: Mapping[str, Any], n: int, rng: Rng, normal: bool = False
) -> Floats:
    """The answer under draws of a graph and of its parameters: [draws, numbers of the answer]."""
    seed = int(generator(rng).integers(2**62))
    times = spread_over(parts.weights, n, seed)
    samples: list[Floats] = []
    for k in np.flatnonzero(times).tolist():
        one = _asked(parts.networks[k], target, given, isinstance(target, Mapping))
        count = int(times[k])
        if not any(map(has_posterior, one.net.distributions.values())):
            samples.append(_certain(one, count))
            continue
        source = Draws(one.net, (seed + k) % 2**62, count)
        if normal:
            _, _, drawn = moments_of(one.but(draws=count), source)
            samples.append(np.stack([drawn.mean[:, 0, 0], drawn.sd[:, 0, 0]], axis=1))
            continue
        joint, _ = joint_draws(one.net, one.targets, one.evidence, one.event, source, count)
        if one.event is None:
            samples.append(joint.reshape(len(joint), -1))
        else:
            last = joint.reshape(len(joint), -1, one.net.variable(one.targets[-1]).arity)
            samples.append(last[..., one.event[one.targets[-1]]].sum(axis=(1, 2))[:, None])
    return np.concatenate(samples)


def _with_interval(asked: Request, found: Any, drawn_: Floats, notes: tuple[str, ...]) -> Any:
    """The answer with its interval."""
    level = asked.level
    assert level is not None
    if isinstance(found, NormalMixture):
        spans: dict[str, Any] = {
            "mean_interval": Credible.of(drawn_[:, 0], level),
            "sd_interval": Credible.of(drawn_[:, 1], level),
        }
        told = _told(asked, found, notes)
        if isinstance(told, NumberAnswer):
            return replace(told, **spans)
        return UncertainMixture(
            found.weights, found.means, found.variances, found.name, notes=notes, **spans
        )
    if isinstance(found, float):
        return Probability(found, Credible.of(drawn_[:, 0], level), notes)
    shape = tuple(v.arity for v in found.variables)
    samples = drawn_.reshape(len(drawn_), *shape)
    told = Distribution(found.variables, found.p, Credible.of(samples, level), None, notes)
    alone = len(shape) == 1 and found.variables[0].scale is not None
    return binned(asked, told, samples) if alone else told


def _certain(one: Request, count: int) -> Floats:
    """The answer of a network whose parameters are all known, as often as asked."""
    value = posterior(one) if one.event is None else event_probability(one)
    if isinstance(value, Gaussian):
        value = in_numbers(one, value)
        return np.tile([value.mean, value.sd], (count, 1))
    return np.tile(np.ravel(getattr(value, "p", value)), (count, 1))


# --- interventions ------------------------------------------------------------------------


def intervened(post: StructurePosterior, values: Mapping[str, Any]) -> StructurePosterior:
    """The posterior after an intervention: in every graph the edges into the variables are cut."""
    set_ = intervene(post.best, values)
    return without_causes(post, {name: set_.distributions[name] for name in values})


def without_causes(post: StructurePosterior, alone: Mapping[str, Local]) -> StructurePosterior:
    """The posterior in which some variables have a distribution of their own, without parents."""
    families, members = list(post.families), post.members.copy()
    edges, errors = post.edge_p.copy(), post.edge_error.copy()
    for name, family in alone.items():
        i = post._at(name)
        members[:, i] = len(families)
        families.append(family)
        edges[:, i] = errors[:, i] = 0.0
    sets = {k: v for k, v in post.parent_sets.items() if k not in alone}
    sets |= dict.fromkeys(alone, (((), 1.0),))
    return replace(
        post, families=tuple(families), members=members, edge_p=edges, edge_error=errors,
        path_p=None, parent_sets=sets,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Effect(Shown, Frozen):
    """What setting one variable does to another, over all graphs: P(outcome | do(cause)).

    `answers` has a distribution with its interval for each state of the cause, `path` the
    probability that a directed path leads from it to the outcome: without one nothing changes.
    """

    cause: str
    outcome: str
    answers: Mapping[Any, Any]
    path: Chance

    def __getitem__(self, state: Any) -> Any:
        return self.answers[state]

    def __repr__(self) -> str:
        return f"Effect(do({self.cause}) on {self.outcome}, path {self.path})"

    def _view(self) -> View:
        rows = []
        for state, found in self.answers.items():
            for k, s in enumerate(found.variables[0].states):
                p = float(found.p[k])
                low, high = (float(end[k]) for end in found.interval)
                rows.append([f"{self.cause}={state}", f"{s}", f"{p:.4f}", f"{low:.3f}–{high:.3f}",
                             whiskers(p, low, high)])  # fmt: skip
        level = next(iter(self.answers.values())).interval.level
        head = ["do", self.outcome, "p", f"{100 * level:g} %", ""]
        title = f"P({self.outcome} | do({self.cause}))"
        note = (
            f"a directed path from {self.cause} to {self.outcome} has probability {self.path}; in "
            "the other graphs setting it changes nothing"
        )
        return View(title, head, rows, (2, 3), note)


def effect(
    post: StructurePosterior, cause: str, outcome: str, *, interval: float = 0.95,
    draws: int | None = None, rng: Rng = 0,
) -> Effect:  # fmt: skip
    """P(outcome | do(cause = s)) for each state s, averaged over graphs."""
    post._pair(cause, outcome)
    for name in (cause, outcome):
        if not post.schema[name].is_discrete:
            raise InputError(
                f"effect() is for discrete variables; {name!r} is continuous.",
                hint="Ask post.do({…}).p(…) for a value that you set.",
            )
    answers = {}
    for s in post.schema[cause].states:
        set_ = intervened(post, {cause: s})
        found = answer(set_, outcome, interval=interval, draws=draws, rng=rng)
        answers[s] = found.bins if isinstance(found, NumberAnswer) else found
    return Effect(cause, outcome, answers, post.path(cause, outcome))
