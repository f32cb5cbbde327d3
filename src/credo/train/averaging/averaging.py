"""`average`: not the best graph but all of them, each as probable as rows and prior make it.

    P(G | rows) ∝ P(rows | G) P(G),   P(f | rows) = Σ_G f(G) P(G | rows)

Exact where it fits (`exact.py`), else sampled (`chains.py`); both weigh the same lists of families
(`lists.py`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.threads import checked_threads
from credo.model.networks.network import Network
from credo.model.structures.structure_posterior import StructurePosterior, consensus_edges
from credo.model.values.randomness import Rng, generator
from credo.model.values.reals import shown
from credo.model.values.record import Record
from credo.model.values.value import choice, flag
from credo.train.averaging.chains import Sampled, sampled
from credo.train.averaging.exact import LISTED, Sums, drawn_orders, guard, listed, sums
from credo.train.averaging.families import learned_families, prior_said
from credo.train.averaging.lists import Weighed, outside_line, weighed
from credo.train.numbers.choosing import Choice, asked_numbers, number_names
from credo.train.parameters.experiments import experiments, spooled_rows
from credo.train.parameters.sources import Opened
from credo.train.parameters.told import schema_with
from credo.train.structure.number_scales import climbed_scales

__all__ = ["average", "with_edges"]

USUAL_SECONDS = 60.0
"""How long the chains run at most when nobody says."""
AUTO = 14
"""Variables up to which `method="auto"` sums over all graphs."""
_DRAWN = 2000  # graphs drawn where only their sums are exact
_SHARE = 1e-6  # of a set of parents that is kept
_ORDER = "the prior of orders favours graphs that fit many orders of the variables"


def average(
    source: Any,
    score: Any = None,
    *,
    prior: Any = "uniform",
    ess: float | None = None,
    method: str = "auto",
    required: Any = (),
    forbidden: Any = (),
    tiers: Any = (),
    max_parents: int | Mapping[str, int] | None = None,
    candidates: Mapping[str, Any] | None = None,
    error: float = 0.01,
    chains: int = 4,
    seconds: float | None = None,
    rng: Rng = 0,
    numbers: Any = "auto",
    intervened: Any = None,
    soft: bool = False,
    contexts: Any = (),
    weights: Any = None,
    schema: Any = None,
    threads: int | None = None,
) -> StructurePosterior:
    """All graphs, each with its probability given the rows: how sure is the graph?

    Parameters
    ----------
    source : anything `cr.read` takes, a Table, a Stream or another source
        The rows.
    score : name or function
        As in `cr.score`: by default 'bdeu' with `ess=1`, and 'bge' where all variables are
        continuous. Others than marginal likelihoods stand in for one, which is said.
    prior : "uniform", "fair", "order", or edge probabilities
        Every graph alike; every number of parents alike; or, as `edge_prior=` of `cr.score`, one
        number, a mapping from edges or a matrix. "order" counts a graph once for each order of the
        variables that it fits, so it favours graphs that fit many.
    method : "auto", "exact" or "sampled"
        Sums over all graphs (up to 22 variables; "auto" up to 14), or chains.
    required, forbidden, tiers, max_parents, candidates
        As in `cr.learn`. By default as many parents as keep the families below 300,000, or 3; the
        record says how many.
    error : float
        The Monte Carlo error below which every edge is to be when chains stop.
    chains : int
        How many chains, from different graphs.
    seconds : float
        When over, the chains stop and the record says so; 60 where nobody says.
    numbers : "auto", "gaussian", "transformed", "binned", or a mapping from column to one
        How continuous columns are modelled, as in `cr.learn`. Transforms and cuts are chosen once,
        with the best graph that a climb finds, and are the same in every graph: how sure they are
        is not averaged over.
    intervened, soft
        What was set in each row by an experiment, and whether softly: as in `cr.learn`.
    contexts : column, or several
        Columns that say in which experiment a row was made when nobody knows what it touched:
        nothing causes them, and `post.touched(column)` has the probability that the experiment
        touched each variable.

    >>> import credo as cr
    >>> post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
    >>> print(post)
    3 graphs over 2 variables, every one weighed · prior uniform
    edge            p
    Pneu → Cou  0.334  ███▍
    Cou → Pneu  0.334  ███▍
    >>> round(post.adjacent("Pneu", "Cou"), 3), post.best.dag.edges
    (0.669, (('Cou', 'Pneu'),))
    >>> print(post.ask("P(Pneu=T | Cou=T)", interval=0.95))
    0.57742  95 %: 0.2128–0.9129  ████┝━━━━━━╋━━━━━━┥
    (1,000 draws, ends ± 0.011)
    averaged over 3 graphs, prior uniform: the interval includes how sure the graph is
    """
    began = time.perf_counter()
    named = _contexts(contexts)
    schema = schema_with(source, schema, intervened)
    whole = Opened(source, {}, weights, schema).source
    opened = experiments(whole, intervened, soft)
    choice(method, ("auto", "exact", "sampled"), "method")
    threads = checked_threads(threads)
    seed = int(generator(rng).integers(2**62)) if not isinstance(rng, (int, np.integer)) else rng
    generator(int(seed))  # refuses what is not a seed
    _check(error, chains, seconds)
    n = len(opened.schema.variables)
    if n == 0:
        raise InputError("There is no variable to average over.")
    if prior == "order" and method == "sampled":
        raise InputError(
            "The prior 'order' is for exact sums.", hint='Use method="exact", or prior="uniform".'
        )
    orders = isinstance(prior, str) and prior == "order"
    exact = method == "exact" or (method == "auto" and (n <= AUTO or orders))
    if exact:
        guard(n, orders)
    limit = USUAL_SECONDS if seconds is None and not exact else seconds

    def left() -> float:
        return math.inf if limit is None else limit - (time.perf_counter() - began)

    settings = {
        "required": required, "forbidden": _into(named, forbidden, opened.schema), "tiers": tiers,
        "max_parents": max_parents, "candidates": candidates,
    }  # fmt: skip
    chosen = _scales(opened, numbers, {**settings, "threads": threads}, score, limit)
    if chosen is not None:
        opened = experiments(chosen.of(whole), intervened, soft)
    if score is None:
        score = "bdeu" if any(v.is_discrete for v in opened.schema.variables) else "bge"
    with spooled_rows(opened) as rows:
        found = weighed(
            rows, score, ess, prior, settings, exact=exact, threads=threads, left=left
        )  # fmt: skip
        how = {"error": error, "chains": chains, "seed": int(seed), "threads": threads}
        made = _exact(found, how) if exact else _sampled(found, how, left)
        beside: dict[str, Any] = {"contexts": named} if named else {}
        if targets := getattr(opened, "targets", ()):
            beside["interventions"] = targets
        return _posterior(rows, found, made, beside, began, int(seed), threads, chosen)


def _scales(
    opened: Any, numbers: Any, settings: Mapping[str, Any], score: Any, limit: float | None
) -> Choice | None:
    """The scales that the numbers ask for, the same in every graph; None where all stay."""
    rows = getattr(opened, "table", opened)
    ways = asked_numbers(numbers, number_names(rows))
    if all(way == "gaussian" for way in ways.values()):
        return None
    return climbed_scales(rows, ways, settings, score, limit)


def _contexts(given: Any) -> tuple[str, ...]:
    named = (given,) if isinstance(given, str) else tuple(given)
    for name in named:
        if not isinstance(name, str):
            raise InputError(f"contexts= names columns, got {shown(name)}.")
    return named


def _into(contexts: tuple[str, ...], forbidden: Any, schema: Any) -> Any:
    """The forbidden edges, with all that lead into a context."""
    if not contexts:
        return forbidden
    for name in contexts:
        schema.index(name, "The context")
    into = [(a, b) for b in contexts for a in schema.names if a != b]
    return [*forbidden, *into]


def with_edges(net: Network, opened: Any, settings: Mapping[str, Any], wanted: Any) -> Network:
    """A learned network whose record says, if wanted, how probable its edges are."""
    if not flag(wanted, "edges"):
        return net
    record = net.record
    assert record is not None
    rules = ("required", "forbidden", "tiers", "max_parents", "candidates", "ess", "seconds", "rng")
    prior = settings.get("edge_prior")
    post = average(
        opened, record.details.get("score"), prior="uniform" if prior is None else prior,
        threads=settings.get("threads"), numbers="gaussian", **{k: settings[k] for k in rules},
    )  # fmt: skip
    found = {edge: float(post.edge(*edge)) for edge in net.dag.edges}
    details = {
        **record.details, "edge_probabilities": found, "edge_prior": post.record.details["prior"],
    }  # fmt: skip
    return net.with_record(replace(record, details=details))


def _check(error: Any, chains: Any, seconds: Any) -> None:
    number = (int, float, np.number)
    if isinstance(error, bool) or not isinstance(error, number) or not 1e-4 <= error < 1:
        raise InputError(f"error must lie between 0.0001 and 1, got {shown(error)}.")
    if isinstance(chains, bool) or not isinstance(chains, (int, np.integer)) or not chains >= 2:
        raise InputError(f"chains must be a whole number, 2 or more, got {shown(chains)}.")
    if seconds is not None and (
        isinstance(seconds, bool) or not isinstance(seconds, number) or not seconds > 0
    ):
        raise InputError(f"seconds must be a number above 0, got {shown(seconds)}.")


class _Made:
    """What a method found, before families have names and distributions."""

    def __init__(
        self, places: NDArray[np.int32], logs: Any, weights: Any, draws: Any, edges: Any,
        errors: Any, notes: list[str], details: dict[str, Any], reason: str,
        summed: Sums | None = None,
    ) -> None:  # fmt: skip
        self.places, self.logs, self.weights, self.draws = places, logs, weights, draws
        self.edges, self.errors, self.notes, self.details = edges, errors, notes, details
        self.reason, self.summed = reason, summed


def _exact(found: Weighed, how: dict[str, Any]) -> _Made:
    """Sums over all graphs; the graphs themselves where they are few, else some drawn."""
    n = len(found.rules.names)
    memory, _ = guard(n, found.prior == "order")
    summed = sums(found, how["threads"])
    details: dict[str, Any] = {
        "method": "exact", "log_evidence": summed.log_total, "numerical_error": summed.error,
        "memory": int(memory),
    }  # fmt: skip
    notes = [f"sums right to {max(summed.error, 1e-15):.0e}"]
    notes += [_ORDER] if found.prior == "order" else []
    nothing = np.zeros_like(summed.edges)
    if n <= LISTED:
        places, logs = listed(found)
        weights = np.exp(logs - logs.max())
        details["graphs"] = "listed"
        none = np.zeros((0, 0), np.int32)
        return _Made(places, logs, weights / weights.sum(), none, summed.edges, nothing, notes,
                     details, "every graph was weighed", summed)  # fmt: skip
    if found.prior == "order":
        chance = np.random.default_rng(how["seed"])
        graphs = drawn_orders(found, _DRAWN, chance)[None]
        details["graphs"] = "drawn"
        notes.append(f"{_DRAWN:,} graphs were drawn for questions beyond edges and parents")
        return _drawn(found, graphs, summed.edges, nothing, notes, details, "all orders", summed)
    walked = sampled(
        found, chains=how["chains"], error=0.02, seed=how["seed"], threads=how["threads"],
        left=_clock(USUAL_SECONDS),
    )  # fmt: skip
    details |= {"graphs": "sampled", "rhat": walked.rhat, "chains": how["chains"]}
    notes.append(
        "edges, paths and parents are exact; other questions use graphs that "
        f"{how['chains']} chains drew (R̂ {walked.rhat:.3f})"
    )
    return _drawn(
        found, walked.graphs, summed.edges, nothing, notes, details, "every graph was summed",
        summed,
    )  # fmt: skip


def _sampled(found: Weighed, how: dict[str, Any], left: Any) -> _Made:
    """Chains, and how well they know the edges."""
    walked = sampled(found, left=left, **how)
    names = found.rules.names
    a, b = (names[i] for i in walked.worst)
    details = {
        "method": "sampled", "graphs": "sampled", "chains": how["chains"], "rhat": walked.rhat,
        "effective": walked.effective, "worst": (a, b), "worst_error": float(walked.errors.max()),
        "acceptance": walked.acceptance, "sweeps": walked.sweeps, "moves": walked.moves,
        "outside": float(found.lists.outside.sum()), "settled": walked.settled,
    }  # fmt: skip
    accepted = ", ".join(f"{100 * a:.0f} %" for a in walked.acceptance)
    notes = [
        f"{how['chains']} chains of {walked.sweeps:,} sweeps of {walked.moves} moves: R̂ "
        f"{walked.rhat:.3f}; worst edge {a} → {b}: error {walked.errors.max():.2g}, "
        f"{walked.effective:,.0f} effective samples",
        f"accepted: {accepted} of moves of a pair, of turned edges, of a variable and its children",
        outside_line(found),
        *_settled(walked),
    ]
    return _drawn(
        found, walked.graphs, walked.edges, walked.errors, notes, details, walked.reason, None
    )


def _settled(walked: Sampled) -> list[str]:
    if walked.settled:
        return []
    return [
        f"the chains have not settled: worst error {walked.errors.max():.2g}, R̂ {walked.rhat:.3f}; "
        "give them more seconds="
    ]


def _clock(limit: float) -> Any:
    began = time.perf_counter()
    return lambda: limit - (time.perf_counter() - began)


def _drawn(
    found: Weighed, graphs: NDArray[np.int32], edges: Any, errors: Any, notes: list[str],
    details: dict[str, Any], reason: str, summed: Sums | None,
) -> _Made:  # fmt: skip
    """Graphs that were drawn: the different ones, how often, and in which order."""
    chains, kept, n = graphs.shape
    places, inverse, times = np.unique(
        graphs.reshape(-1, n), axis=0, return_inverse=True, return_counts=True
    )
    scores = [found.lists.sets(c)[1] for c in range(n)]
    logs = np.sum([s[places[:, c]] for c, s in enumerate(scores)], axis=0)
    draws = np.asarray(inverse).reshape(chains, kept).astype(np.int32)
    return _Made(places, logs, times / times.sum(), draws, edges, errors, notes, details, reason,
                 summed)  # fmt: skip


def _posterior(
    rows: Any, found: Weighed, made: _Made, beside: dict[str, Any], began: float, seed: int,
    threads: int, chosen: Choice | None,
) -> StructurePosterior:  # fmt: skip
    """Families by name, their distributions, and the value."""
    inner, order = found.rules.names, rows.schema.names
    names = tuple(n for n in order if n in inner)
    at = [inner.index(n) for n in names]
    place = {n: i for i, n in enumerate(names)}

    def named(child: int, one: int) -> tuple[str, tuple[str, ...]]:
        above = sorted((inner[p] for p in found.lists.set(child, one)), key=place.__getitem__)
        return inner[child], tuple(above)

    number: dict[tuple[str, tuple[str, ...]], int] = {}
    members = np.empty((len(made.places), len(names)), dtype=np.int32)
    for k, c in enumerate(at):
        own, inverse = np.unique(made.places[:, c], return_inverse=True)
        ids = [number.setdefault(named(c, int(one)), len(number)) for one in own]
        members[:, k] = np.array(ids, dtype=np.int32)[inverse]
    edges, errors = made.edges[np.ix_(at, at)], made.errors[np.ix_(at, at)]
    parents: dict[str, tuple[str, ...]] = dict.fromkeys(names, ())
    for a, b in [("", ""), *consensus_edges(names, edges, 0.5)]:  # for `network`
        if b:
            parents[b] = tuple(sorted((*parents[b], a), key=place.__getitem__))
        for child in [b] if b else names:
            number.setdefault((child, parents[child]), len(number))
    families = learned_families(rows, list(number), found.scores.spec, len(inner), threads)
    sets, paths = {}, None
    if made.summed is not None:
        if made.summed.paths is not None:
            paths = made.summed.paths[np.ix_(at, at)]
        for c, name in enumerate(inner):
            p = made.summed.families[c]
            kept = [i for i in np.argsort(-p, kind="stable") if p[i] >= _SHARE]
            sets[name] = tuple((named(c, int(i))[1], float(p[i])) for i in kept)
    spec = found.scores.spec
    details = {
        **made.details, "score": spec.name, "prior": found.prior, "max_parents": found.most,
        "families_scored": found.lists.scored, "families_listed": found.lists.size,
        "rows": found.scores.rows, "parameters": prior_said(spec, found.scores.variables), **beside,
    }  # fmt: skip
    details |= {} if chosen is None else {"numbers": chosen.ways}
    scales = () if chosen is None else chosen.notes
    record = Record(
        f"averaged over graphs with {spec.name}, prior {found.prior}",
        str(rows.schema.source),
        reason=made.reason,
        seconds=time.perf_counter() - began,
        seed=seed,
        notes=(
            f"{found.lists.scored:,} families scored; parameters have the prior "
            f"{details['parameters']}",
            *found.notes,
            *made.notes,
            *(f"{line}; the same in every graph" for line in scales),
        ),
        details=details,
    )
    return StructurePosterior(
        tuple(rows.schema[n] for n in names), families, members, made.weights, made.logs,
        made.draws, edges, errors, paths, sets, record,
    )  # fmt: skip
