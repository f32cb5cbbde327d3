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

from credo.core.errors import InputError
from credo.core.threads import checked_threads
from credo.model.networks.network import Network
from credo.model.structures.structure_posterior import StructurePosterior
from credo.model.values.randomness import Rng, generator
from credo.model.values.reals import shown
from credo.model.values.value import choice, flag
from credo.train.averaging.augmented import FAMILIES, Augmented, filled, rows_of
from credo.train.averaging.chains import Sampled, sampled, walked
from credo.train.averaging.exact import LISTED, graphs_of_orders, guard, listed, sums
from credo.train.averaging.lists import Weighed, outside_line, weighed
from credo.train.averaging.posterior import Made, drawn, drawn_with_cells, posterior
from credo.train.numbers.ways import Choice, asked_numbers, number_names
from credo.train.parameters.experiments import experiments, spooled_rows
from credo.train.parameters.sources import Opened
from credo.train.parameters.told import schema_with
from credo.train.structure.incomplete import has_gaps
from credo.train.structure.number_scales import climbed_scales

__all__ = ["average", "with_edges"]

USUAL_SECONDS = 60.0
"""How long the chains run at most when nobody says."""
MISSING = ("available-cases", "data-augmentation")
"""What may be done where cells are missing."""
AUTO = 14
"""Variables up to which `method="auto"` sums over all graphs."""
_CHAINS, _CELL_CHAINS = 16, 4  # of graphs alone, and with the cells that are missing
_CELLS_FIRST = 16  # completions of the first blocks, where cells are drawn with the graph
_DRAWN = 2000  # graphs drawn where only their sums are exact
_ORDER = "the prior of orders favours graphs that fit many orders of the variables"


def average(
    source: Any,
    score: Any = None,
    *,
    prior: Any = "uniform",
    ess: float | None = None,
    method: str = "auto",
    missing: str = "available-cases",
    required: Any = (),
    forbidden: Any = (),
    tiers: Any = (),
    max_parents: int | Mapping[str, int] | None = None,
    candidates: Mapping[str, Any] | None = None,
    error: float = 0.01,
    chains: int | None = None,
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
        continuous, unless available cases are taken. Others than marginal likelihoods stand in for
        one, which is said.
    prior : "uniform", "fair", "order", or edge probabilities
        Every graph alike; every number of parents alike; or, as `edge_prior=` of `cr.score`, one
        number, a mapping from edges or a matrix. "order" counts a graph once for each order of the
        variables that it fits, so it favours graphs that fit many.
    method : "auto", "exact" or "sampled"
        Sums over all graphs (up to 22 variables, with the prior "order" 25; "auto" up to 14), or
        chains, which are tempered where they disagree.
    missing : "available-cases" or "data-augmentation"
        Where cells are missing: what parents gain is measured on the rows that have them, and how
        sure the gaps are is left out; or graph, parameters and cells are drawn in turn, so that
        answers include it (BDeu, K2 or BGe, by chains).
    required, forbidden, tiers, max_parents, candidates
        As in `cr.learn`. By default as many parents as keep the families below 300,000, or 3; the
        record says how many.
    error : float
        The Monte Carlo error below which every edge is to be when chains stop.
    chains : int
        How many chains, from different graphs: 16, or 4 where cells are drawn with them. The more,
        the likelier one of them finds a mode that the others miss.
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
    choice(missing, MISSING, "missing")
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
    if missing == "data-augmentation" and bool(getattr(opened, "targets", ())):
        raise InputError(
            "Data augmentation is for rows in which nothing was set, and intervened= is given.",
            hint='Use missing="available-cases".',
        )
    cells = missing == "data-augmentation" and has_gaps(opened)
    if cells and (method == "exact" or orders):
        raise InputError(
            "With data augmentation graphs are drawn, so there are no exact sums.",
            hint='Leave out method="exact" and prior="order", or use missing="available-cases".',
        )
    exact = not cells and (method == "exact" or (method == "auto" and (n <= AUTO or orders)))
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
        lines = not any(v.is_discrete for v in opened.schema.variables)
        score = "bge" if lines and (cells or not has_gaps(opened)) else "bdeu"
    if score == "bge" and not cells and has_gaps(opened):
        raise InputError(
            "The score 'bge' needs whole rows, and cells are missing.",
            hint='Use missing="data-augmentation", or score="bdeu".',
        )
    beside: dict[str, Any] = {"contexts": named} if named else {}
    if targets := getattr(opened, "targets", ()):
        beside["interventions"] = targets
    if chains is None:
        chains = _CELL_CHAINS if cells else _CHAINS
    how = {"error": error, "chains": chains, "seed": int(seed), "threads": threads}
    if cells:
        table = rows_of(opened, score)
        found = weighed(
            filled(table, int(seed)), score, ess, prior, settings, exact=True, threads=threads,
            left=left, usual=FAMILIES,
        )  # fmt: skip
        made = _augmented(found, Augmented(found, table, chains, int(seed)), how, left)
        return _on_scales(posterior(table, found, made, beside, began, int(seed), threads), chosen)
    with spooled_rows(opened) as rows:
        found = weighed(
            rows, score, ess, prior, settings, exact=exact, threads=threads, left=left
        )  # fmt: skip
        made = _exact(found, how) if exact else _sampled(found, how, left)
        return _on_scales(posterior(rows, found, made, beside, began, int(seed), threads), chosen)


def _scales(
    opened: Any, numbers: Any, settings: Mapping[str, Any], score: Any, limit: float | None
) -> Choice | None:
    """The scales that the numbers ask for, the same in every graph; None where all stay."""
    rows = getattr(opened, "table", opened)
    ways = asked_numbers(numbers, number_names(rows))
    if all(way == "gaussian" for way in ways.values()):
        return None
    return climbed_scales(rows, ways, settings, score, limit)


def _on_scales(post: StructurePosterior, chosen: Choice | None) -> StructurePosterior:
    """The posterior whose record says how numbers are modelled."""
    if chosen is None:
        return post
    record = post.record
    notes = (*record.notes, *(f"{line}; the same in every graph" for line in chosen.notes))
    details = {**record.details, "numbers": chosen.ways}
    return replace(post, record=replace(record, notes=notes, details=details))


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
    score = record.details.get("score")
    post = average(
        opened, score, prior="uniform" if prior is None else prior,
        missing=MISSING[score == "bge"],  # which has no available cases
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
    if chains is not None and (
        isinstance(chains, bool) or not isinstance(chains, (int, np.integer)) or not chains >= 2
    ):
        raise InputError(f"chains must be a whole number, 2 or more, got {shown(chains)}.")
    if seconds is not None and (
        isinstance(seconds, bool) or not isinstance(seconds, number) or not seconds > 0
    ):
        raise InputError(f"seconds must be a number above 0, got {shown(seconds)}.")


def _exact(found: Weighed, how: dict[str, Any]) -> Made:
    """Sums over all graphs; the graphs themselves where they are few, else some drawn."""
    n = len(found.rules.names)
    orders = found.prior == "order"
    memory, _ = guard(n, orders)
    summed = sums(found, how["threads"], _DRAWN if n > LISTED else 0, how["seed"])
    details: dict[str, Any] = {
        "method": "exact", "log_evidence": summed.log_total, "numerical_error": summed.error,
        "memory": int(memory),
    }  # fmt: skip
    notes = [f"sums right to {max(summed.error, 1e-15):.0e}"]
    notes += [_ORDER] if orders else []
    nothing = np.zeros_like(summed.edges)
    if n <= LISTED:
        places, logs = listed(found)
        weights = np.exp(logs - logs.max())
        details["graphs"] = "listed"
        none = np.zeros((0, 0), np.int32)
        return Made(places, logs, weights / weights.sum(), none, summed.edges, nothing, notes,
                    details, "every graph was weighed", summed)  # fmt: skip
    if summed.before is not None:
        chance = np.random.default_rng(how["seed"])
        graphs = graphs_of_orders(found, summed.before, chance)[None]
        details["graphs"] = "drawn"
        notes.append(f"{_DRAWN:,} graphs were drawn for questions beyond edges and parents")
        return drawn(found, graphs, summed.edges, nothing, notes, details, "all orders", summed)
    ended = sampled(
        found, chains=how["chains"], error=0.02, seed=how["seed"], threads=how["threads"],
        left=_clock(USUAL_SECONDS),
    )  # fmt: skip
    details |= {"graphs": "sampled", "rhat": ended.rhat, "chains": how["chains"]}
    notes.append(
        "edges, paths and parents are exact; other questions use graphs that "
        f"{how['chains']} chains drew (R̂ {ended.rhat:.3f})"
    )
    return drawn(
        found, ended.graphs, summed.edges, nothing, notes, details, "every graph was summed",
        summed,
    )  # fmt: skip


def _sampled(found: Weighed, how: dict[str, Any], left: Any) -> Made:
    """Chains, and how well they know the edges."""
    ended = sampled(found, left=left, **how)
    details, notes = _told(found, ended, how["chains"])
    details["outside"] = float(found.lists.outside.sum())
    notes.append(outside_line(found))
    return drawn(found, ended.graphs, ended.edges, ended.errors, notes, details, ended.reason, None)


def _augmented(found: Weighed, running: Augmented, how: dict[str, Any], left: Any) -> Made:
    """Chains of graphs and missing cells."""
    ended = walked(
        found, running, chains=how["chains"], error=how["error"], threads=how["threads"], left=left,
        first=_CELLS_FIRST, warm=(),
    )  # fmt: skip
    details, notes = _told(found, ended, how["chains"])
    details |= {"missing": "data-augmentation", "graphs": "sampled with cells"}
    notes.append(
        "cells are missing: graph, parameters and cells were drawn in turn, so that answers "
        "include how sure the gaps are"
    )
    return drawn_with_cells(
        running, ended.graphs, ended.edges, ended.errors, notes, details, ended.reason
    )


def _told(found: Weighed, ended: Sampled, chains: int) -> tuple[dict[str, Any], list[str]]:
    """What the record says of chains."""
    names = found.rules.names
    a, b = (names[i] for i in ended.worst)
    details = {
        "method": "sampled", "graphs": "sampled", "chains": chains, "rhat": ended.rhat,
        "effective": ended.effective, "worst": (a, b), "worst_error": float(ended.errors.max()),
        "acceptance": ended.acceptance, "sweeps": ended.sweeps, "moves": ended.moves,
        "settled": ended.settled,
    }  # fmt: skip
    accepted = ", ".join(f"{100 * a:.0f} %" for a in ended.acceptance)
    notes = [
        f"{chains} chains of {ended.sweeps:,} sweeps of {ended.moves} moves: R̂ "
        f"{ended.rhat:.3f}; worst edge {a} → {b}: error {ended.errors.max():.2g}, "
        f"{ended.effective:,.0f} effective samples",
        f"accepted: {accepted} of moves of a pair, of turned edges, of a variable and its children",
    ]
    if ended.copies > 1:
        details |= {"temperatures": ended.copies, "exchanged": ended.exchanged}
        notes.append(
            f"the chains disagreed, so each was tempered: {ended.copies} copies of it, "
            f"{100 * ended.exchanged:.0f} % of the exchanges between neighbours accepted"
        )
    if not ended.settled:
        notes.append(
            f"the chains have not settled: worst error {ended.errors.max():.2g}, R̂ "
            f"{ended.rhat:.3f}; give them more seconds="
        )
    return details, notes


def _clock(limit: float) -> Any:
    began = time.perf_counter()
    return lambda: limit - (time.perf_counter() - began)
