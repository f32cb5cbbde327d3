"""A graph by a score and a search: what `learn`, its folds and its bootstrap samples share.

Searches differ in how they go through graphs, never in what they are given (scores, rules, limits)
or in what comes back.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from credo.core.errors import InputError
from credo.core.progress import Ticker, seconds_left
from credo.core.render import shortened
from credo.core.schema import Variable
from credo.core.threads import checked_threads
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.model.values.randomness import Rng, generator
from credo.model.values.record import Record
from credo.stats.family import Family
from credo.train.scores.edge_prior import EdgePrior
from credo.train.scores.family_scores import FamilyScores, family_scores
from credo.train.scores.scores import MARGINAL, LocalScore, ScoreSpec, graph_of
from credo.train.structure.option_hints import refuse_unknown_search
from credo.train.structure.problem import Outcome, Problem
from credo.train.structure.recipe import usual_score
from credo.train.structure.rules import Rules
from credo.train.structure.searches import SEARCHES, run

__all__ = ["Searched", "searched", "time_limit"]

_GIVEN = ("tan", "naive-bayes")  # searches in which every feature has the class for a parent


class Searched:
    """A graph that was searched for, not yet fitted."""

    __slots__ = ("dag", "record", "scores", "spec")

    def __init__(self, dag: Dag, record: Record, scores: FamilyScores, spec: ScoreSpec) -> None:
        self.dag, self.record, self.scores, self.spec = dag, record, scores, spec


def searched(
    opened: Any,
    score: str | LocalScore | None,
    search: str,
    *,
    required: Any = (),
    forbidden: Any = (),
    tiers: Any = (),
    max_parents: Any = None,
    candidates: Any = None,
    start: Any = None,
    seconds: float | None = None,
    rng: Rng = 0,
    ess: float | None = None,
    prior: Network | None = None,
    prior_rows: float | None = None,
    freedom: float | None = None,
    edge_prior: EdgePrior | None = None,
    threads: int | None = None,
    available: bool = False,
    **options: Any,
) -> Searched:
    """The graph of `learn`, with its record."""
    began = time.perf_counter()
    refuse_unknown_search(search, SEARCHES)
    limit = time_limit(seconds)
    chance = generator(rng)
    score = usual_score(opened.schema) if score is None else score
    spec = ScoreSpec.of(
        score, ess=ess, prior=prior, prior_rows=prior_rows, freedom=freedom, edge_prior=edge_prior
    )
    scores = family_scores(opened, spec, threads=threads, available=available)
    rules = Rules.of(
        scores.schema, required=required, forbidden=forbidden, tiers=tiers,
        max_parents=max_parents, candidates=candidates,
    )  # fmt: skip
    begin = rules.start(None if start is None else graph_of(start))
    if search not in _GIVEN:
        rules = _without_constants(rules, begin, scores.variables)
    with Ticker(f"learning by {search}") as ticker:
        problem = Problem(
            scores, rules, begin, chance, checked_threads(threads), limit, options, ticker
        )
        outcome = run(problem, search)
    dag = _dag(opened.schema.names, rules.names, outcome)
    _check(problem, outcome, dag)
    record = Record(
        f"learned by {outcome.details.get('search', search)} with {spec.name}",
        str(opened.schema.source),
        outcome.score,
        outcome.trace,
        outcome.reason,
        time.perf_counter() - began,
        int(rng) if isinstance(rng, (int, np.integer)) else None,
        (*scores.notes, *outcome.notes, *_constant(scores.variables), *_left_out(scores)),
        {"score": spec.name, "search": search, **outcome.details, "counters": scores.counters},
    )
    return Searched(dag, record, scores, spec)


def time_limit(seconds: Any) -> float | None:
    """The seconds of a search: never more than a deadline around it leaves."""
    left = max(seconds_left(), 1e-3)
    if seconds is None:
        return None if left == math.inf else left
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
        raise InputError(f"seconds must be a number above 0, got {seconds!r}.")
    return min(float(seconds), left)


def _without_constants(rules: Rules, begin: Any, variables: Sequence[Variable]) -> Rules:
    """Rules without edges of variables of one state, which tell nothing: where cells are missing
    the rows that have them may score better by chance.
    """
    varied = np.array([not v.is_discrete or v.arity > 1 for v in variables])
    kept = (varied[:, None] & varied[None, :]) | rules.required.astype(bool)
    for child, parents in enumerate(begin):
        kept[child, parents] = True
    return replace(rules, allowed=np.ascontiguousarray(rules.allowed & kept.astype(np.uint8)))


def _dag(order: Any, names: Any, outcome: Outcome) -> Dag:
    """The graph by name, nodes in the order of the table and parents in that order too."""
    place = {n: i for i, n in enumerate(order)}
    by_child = {names[c]: [names[p] for p in ps] for c, ps in enumerate(outcome.parents)}
    edges = [
        (p, child)
        for child in sorted(by_child, key=place.__getitem__)
        for p in sorted(by_child[child], key=place.__getitem__)
    ]
    return Dag(edges, [n for n in order if n in by_child])


def _check(problem: Problem, outcome: Outcome, dag: Dag) -> None:
    """What every search promises: the rules are kept. (The Dag has refused cycles.)"""
    for c, parents in enumerate(outcome.parents):
        for p in parents:
            assert problem.rules.allowed[c, p], (problem.rules.names[p], problem.rules.names[c])
        assert len(parents) <= problem.rules.most[c]
        assert all(int(p) in parents for p in np.flatnonzero(problem.rules.required[c]))
    if not math.isfinite(outcome.score):
        raise InputError(
            "No graph within the rules has a finite score.",
            hint="Look for collinear columns, or for parents required of a column with few rows.",
        )


def _left_out(scores: FamilyScores) -> list[str]:
    """Edges from states to numbers that a score of maximum likelihood cannot have."""
    if scores.spec.function is not None or scores.spec.name in MARGINAL or scores.by_gain:
        return []
    numbers = [v.name for v in scores.variables if not v.is_discrete]
    states = [v.name for v in scores.variables if v.is_discrete]
    pairs = [Family(x, (d,)) for x in numbers for d in states]
    found = zip(pairs, scores.of(pairs), strict=True) if pairs else ()
    never = [f for f, s in found if s == -math.inf]
    if not never:
        return []
    said = shortened([f"{f.parents[0]} → {f.child}" for f in never])
    return [
        f"{said}: no {scores.spec.name} score, since a state has too few rows or its numbers do "
        "not vary; 'bdeu' scores them"
    ]


def _constant(variables: Sequence[Variable]) -> list[str]:
    alone = [v for v in variables if v.is_discrete and v.arity == 1]
    constant = [v.name for v in alone if v.scale is None]
    return [f"{name} is constant: no edge can tell anything of it" for name in constant]
