"""The families that graphs are made of, each with its weight: score and prior of the graph.

    ln w(G) = Σ_i s(i | parents_i) + ln P(parents_i)

Priors that fall apart into families: `uniform` (every graph alike), `fair` (every number of parents
of a child alike: ln P = −ln C(n − 1, k), Friedman & Koller 2003), or the probability of each edge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from credo import _core
from credo.core.errors import InputError, LimitError, unknown_name
from credo.core.progress import Ticker
from credo.core.render import shortened
from credo.model.values.reals import shown
from credo.train.scores.family_scores import FamilyScores, family_scores
from credo.train.scores.scores import MARGINAL, ScoreSpec
from credo.train.structure.incomplete import has_gaps
from credo.train.structure.rules import Rules

__all__ = ["PRIORS", "Weighed", "weighed"]

PRIORS = ("uniform", "fair", "order")
"""The priors with a name; a number, a mapping or a matrix is the probability of edges."""

USUAL_FAMILIES = 300_000
"""Families that are scored when nobody says max_parents."""
MOST_FAMILIES = 4_000_000
_CANDIDATES = 20  # of each child, where the pairs alone are too many
_GAP = 16.0  # nats above a set from which a subset of it rules it out of a list


@dataclass(frozen=True)
class Weighed:
    """The lists of families, and what was decided on the way."""

    scores: FamilyScores
    rules: Rules
    lists: _core.FamilyLists
    by_size: tuple[float, ...]
    """Added to a score by the number of parents."""
    prior: str
    most: int
    notes: tuple[str, ...]


def weighed(
    opened: Any, score: Any, ess: float | None, prior: Any, settings: dict[str, Any],
    *, exact: bool, threads: int, left: Any, usual: int = USUAL_FAMILIES,
) -> Weighed:  # fmt: skip
    """All families within the rules; complete for sums, without the hopeless ones for chains.

    `usual`: families that are scored when nobody says max_parents.
    """
    said, edge_prior = _prior(prior)
    if score == "bde":
        raise InputError(
            "cr.average has no prior network, so the score 'bde' cannot be used.",
            hint="Use 'bdeu', 'bds' or 'k2'.",
        )
    spec = ScoreSpec.of(score, ess=ess, edge_prior=edge_prior)
    gaps = has_gaps(opened)
    scores = family_scores(opened, spec, threads=threads, available=gaps)
    n = len(scores.names)
    notes = [*scores.notes]
    most, more = _most(settings, n, usual)
    candidates = settings.get("candidates")
    if candidates is None and _families(n, most) > MOST_FAMILIES and "max_parents" not in settings:
        candidates, most, more = _nearest(scores), 3, 3
        notes.append(
            f"each variable has its {_CANDIDATES} best single parents as candidates, alone: what "
            "lies outside is not known"
        )
    rules = Rules.of(
        scores.schema, **{**settings, "max_parents": more, "candidates": candidates}
    )  # fmt: skip
    rules, alone = _apart(rules)
    if alone:
        notes.append(f"{shortened(alone)} of one bin: no edges")
    count = sum(
        math.comb(int(a.sum()) - int(r.sum()), k)
        for a, r, m in zip(rules.allowed, rules.required, rules.most, strict=True)
        for k in range(max(int(m) - int(r.sum()), 0) + 1)
    )
    if count > MOST_FAMILIES:
        raise LimitError(
            f"{count:,} families would be scored; at most {MOST_FAMILIES:,} are.",
            hint=f"Give max_parents={max(most - 1, 1)}, candidates= or tiers=.",
        )
    if settings.get("max_parents") is None and most < n - 1:
        notes.append(f"at most {most} parents each: max_parents= says otherwise")
    if gaps:
        notes.append(
            "cells are missing: tables are those of the rows that have them, and how sure the gaps "
            "are is left out"
        )
    elif spec.function is not None or spec.name not in (*MARGINAL, "bge"):
        notes.append(f"exp({spec.name}) stands in for the marginal likelihood")
    by_size = [-math.log(math.comb(n - 1, k)) if said == "fair" else 0.0 for k in range(n)]
    with Ticker("scoring families") as ticker:

        def told(scored: int) -> bool:
            ticker.say(f"{scored:,} of {count:,} families")
            return bool(left() > 0)

        scores.native.limit(None if left() == math.inf else left())
        lists = _core.FamilyLists(
            scores.native, *rules.arguments, by_size, math.inf if exact else _GAP, told
        )
    if lists.stopped:
        raise LimitError(
            f"The time was over when {lists.scored:,} of {count:,} families were scored.",
            hint="Give more seconds=, fewer max_parents= or candidates=.",
        )
    scores.native.limit(None)
    return Weighed(scores, rules, lists, tuple(by_size), said, most, tuple(notes))


def _apart(rules: Rules) -> tuple[Rules, list[str]]:
    """Rules by which a number in one bin, of which every edge says nothing, has none."""
    one = np.array([v.scale is not None and len(v.states) == 1 for v in rules.schema.variables])
    if not one.any():
        return rules, []
    shut = (one[:, None] | one[None, :]) & (rules.required == 0)
    allowed = np.where(shut, 0, rules.allowed).astype(np.uint8)
    return replace(rules, allowed=allowed), [n for n, o in zip(rules.names, one, strict=True) if o]


def _prior(prior: Any) -> tuple[str, Any]:
    """The prior in words, and the probabilities of edges it gives."""
    if isinstance(prior, str):
        if prior not in PRIORS:
            raise unknown_name("The prior", prior, PRIORS, "one of graphs")
        return prior, None
    if prior is None or isinstance(prior, bool):
        raise InputError(
            f"prior= is 'uniform', 'fair', 'order' or the probability of edges, got {shown(prior)}."
        )
    if isinstance(prior, (int, float, np.number)):
        return f"{float(prior):g} for each edge", prior
    return "given for each edge", prior


def _families(n: int, most: int) -> int:
    return n * sum(math.comb(n - 1, k) for k in range(min(most, n - 1) + 1))


def _most(settings: dict[str, Any], n: int, usual: int) -> tuple[int, Any]:
    """The most parents of a child: as given, or as many as keep the families few."""
    given = settings.get("max_parents")
    if given is not None:
        largest = max(given.values(), default=n - 1) if isinstance(given, dict) else given
        return (min(largest, n - 1) if isinstance(largest, int) else n - 1), given
    most = n - 1
    while most > 1 and _families(n, most) > usual:
        most -= 1
    while most < min(3, n - 1) and _families(n, most + 1) <= min(MOST_FAMILIES // 2, 7 * usual):
        most += 1
    return most, most


def _nearest(scores: FamilyScores) -> dict[str, list[str]]:
    """For each child the parents that alone gain it most."""
    from credo.stats.family import Family

    names = scores.names
    out = {}
    for child in names:
        others = [p for p in names if p != child]
        found = scores.of([Family(child, (p,)) for p in others])
        best = np.argsort(-found, kind="stable")[:_CANDIDATES]
        out[child] = [others[int(i)] for i in best]
    return out


def outside_line(weighed: Weighed) -> str:
    """What the record says of the mass outside of the lists."""
    outside = weighed.lists.outside
    worst = int(np.argmax(outside))
    if not outside[worst]:
        return "no family was left out of the lists"
    return (
        f"families left out of the lists have together a probability of at most "
        f"{outside.sum():.1e} ({shortened([weighed.scores.names[worst]])}: {outside[worst]:.1e})"
    )
