"""`learn`: from a table to a fitted network, by any score and any search.

One interface and one result: the searches differ in how they go through graphs, never in what
they are given (scores, rules, limits) or in what comes back (a fitted network with its record).
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from credo.core.errors import InputError, LateError
from credo.core.lazy import renamed_arguments
from credo.core.progress import seconds_left
from credo.core.schema import Schema
from credo.data import Stream
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.model.values.randomness import Rng
from credo.model.values.reals import shown
from credo.model.values.value import choice, flag
from credo.stats.pair_counts import pair_counts
from credo.train.averaging.averaging import with_edges
from credo.train.em.fit import em_until
from credo.train.numbers.ways import asked_numbers, number_names, plain_numbers
from credo.train.parameters.experiments import (
    Experiments,
    experiments,
    spooled_rows,
)
from credo.train.parameters.parameters import fit
from credo.train.parameters.sources import Opened
from credo.train.parameters.told import schema_with
from credo.train.scores.edge_prior import EdgePrior, log_odds
from credo.train.scores.score_sources import CUT, SOFT
from credo.train.scores.scores import SCORES, LocalScore, ScoreSpec, graph_of
from credo.train.structure.fci import learn_pag
from credo.train.structure.incomplete import WARM, Halt, complete_rows, has_gaps, structural_em
from credo.train.structure.number_scales import climbed_scales
from credo.train.structure.option_hints import refuse_unknown_search
from credo.train.structure.recipe import belief_of, recipe_of, with_recipe
from credo.train.structure.rules import Rules
from credo.train.structure.searches import SEARCHES
from credo.train.structure.searching import Searched, searched, time_limit

__all__ = ["MISSING", "learn"]

MISSING = ("structural-em", "available-cases", "node-average", "complete-rows")
"""What may be done where cells are missing."""

_NO_START = ("chow-liu", "tan", "naive-bayes", "k2", "pc", "mmhc")
_BOUND = ("chow-liu", "tan", "naive-bayes", "k2")  # searches among graphs of one kind
_LATE = (
    "completing the rows once (structural EM) takes longer than the budget of {:g} s: parents "
    "were judged on the rows that have them (available-cases)"
)
_RULES = ("required", "forbidden", "tiers", "max_parents", "candidates")
_SOON = 0.01  # seconds of a search that is only to say how good its start is


@renamed_arguments(budget="seconds")
def learn(
    source: Any,
    score: str | LocalScore | None = None,
    search: str = "auto",
    *,
    required: Any = (),
    forbidden: Any = (),
    tiers: Any = (),
    max_parents: int | Mapping[str, int] | None = None,
    candidates: Mapping[str, Any] | None = None,
    start: Dag | Network | str | None = None,
    seconds: float | None = None,
    rng: Rng = 0,
    ess: float | None = None,
    prior: Network | None = None,
    prior_rows: float | None = None,
    freedom: float | None = None,
    edge_prior: EdgePrior | None = None,
    parameters: Any = "auto",
    ordered: bool = False,
    missing: str = "structural-em",
    starts: int = 1,
    intervened: Any = None,
    soft: bool = False,
    numbers: Any = "auto",
    edges: bool = False,
    weights: Any = None,
    schema: Any = None,
    threads: int | None = None,
    **options: Any,
) -> Network:
    """Learn a network: its graph by a score and a search, then its parameters.

    Parameters
    ----------
    source : anything `cr.read` takes, a Table, a Stream or another source
        The rows.
    score : name or function
        See `cr.score`. By default 'bdeu'; 'bic' for numbers alone and for node averages.
    search : name
        'auto', 'hill-climb', 'tabu', 'anneal', 'order', 'exact', 'chow-liu', 'tan', 'naive-bayes',
        'k2', 'pc', 'mmhc', 'ges', or 'fci', which gives a `Pag`. `auto` proves its answer for up to
        12 variables and searches over orders for more (of available cases it climbs); of more than
        200 continuous columns it tries the 20 most correlated with each as parents.
    required, forbidden : lists of edges (parent, child)
        Edges that must or must not be there.
    tiers : list of lists of names
        No edge goes from a later tier to an earlier one.
    max_parents : int, or mapping from child to int
        The most parents.
    candidates : mapping from child to names
        The only possible parents of a child.
    start : Dag, Network or text
        Where the search begins; by default with the required edges alone.
    seconds : float
        When spent, the best graph so far is taken, and the record says so; so with Ctrl-C.
    ess, prior, prior_rows, freedom, edge_prior
        Settings of the score, as in `cr.score`.
    parameters : a prior for `cr.fit`, "auto" or "mle"
        How the tables are learned: by default posterior means under `BDeu(10)`, `BDeu(ess)` where
        ess= is given, or `K2()` for that score; lines lean on all rows, `LinePrior(like_all=4)`.
        "mle" is maximum likelihood with the posterior under `BDeu(1)` beside the numbers, to say
        how sure they are; None keeps no posterior.
    ordered : bool
        Whether neighbours among ordered states share what was seen of them, as in `cr.fit`.
    missing : "structural-em", "available-cases", "node-average" or "complete-rows"
        What to do where cells are missing: complete the rows under the current network and search
        again, until the score of the observed rows no longer rises; measure what parents gain a
        child on the rows that have them all; score each family on the rows it has, scaled to all
        (likelihood scores of discrete columns alone); or drop the rows.
    starts : int
        Of structural EM: how many graphs it starts from; the best end is taken.
    intervened : column, or mapping from variable to a 0/1 column or a mask
        What was set in each row by an experiment, for every search; see `cr.fit` and
        docs/causes.md.
    soft : bool
        Whether experiments change a variable's family and do not cut it, as in `cr.score`.
    numbers : "gaussian", "auto", "transformed", "binned", "counts", or a mapping from column to one
        How continuous columns are modelled: by linear Gaussians, as they are or after a monotone
        transform; in bins, whose cuts are revised with the graph and which can be parents of
        states; as counts (Poisson or negative binomial, with extra zeros, given discrete parents);
        or, by "auto", as the rows say. For a column also the name of a transform ('log',
        'log1p', 'square-root', 'logit', 'yeo-johnson') or cut points. Answers are on the table's
        scale.
    edges : bool
        Whether the record says how probable each learned edge is (`cr.average`).
    **options
        Of the search: `restarts`, `kicks`, `max_steps` (hill-climb, tabu), `sideways`,
        `polish` (hill-climb), `tabu`, `patience` (tabu), `hot`, `cold`, `temperature`, `steps`,
        `thin` (anneal), `chains`, `patience`, `stages`, `max_families` (order), `max_families`,
        `method` (exact), `root` (chow-liu, tan), `target` (tan, naive-bayes), `order` (k2),
        `test`, `alpha`, `max_condition` (pc, mmhc, fci).

    >>> import credo as cr
    >>> net = cr.learn(cr.examples.play_tennis(), "bic", max_parents=2)
    >>> print(net.dag)
    [Outlook][Temperature][Humidity|Temperature][Wind][PlayTennis|Humidity]
    >>> net.record.reason
    'proven optimal'
    """
    schema = schema_with(source, schema, intervened)
    rows = Opened(source, {}, weights, schema).source
    opened = experiments(rows, intervened, soft)
    if isinstance(parameters, str) and parameters not in ("auto", "mle"):
        raise InputError(f"parameters must be a prior, None, 'auto' or 'mle', got {parameters!r}.")
    choice(missing, MISSING, "missing")
    refuse_unknown_search(search, (*SEARCHES, "fci"))
    if isinstance(score, str) and score in SEARCHES and score not in SCORES:
        raise InputError(f"{score!r} is a search, not a score.", hint=f"Give search={score!r}.")
    if prior is not None and not isinstance(prior, Network):
        raise InputError(
            f"prior= is the prior network of the score 'bde', got {shown(prior)}.",
            hint="The prior of the parameters is parameters=, for example parameters=cr.BDeu(1).",
        )
    settings: dict[str, Any] = {
        "required": required, "forbidden": forbidden, "tiers": tiers, "max_parents": max_parents,
        "candidates": candidates, "seconds": seconds, "rng": rng, "ess": ess, "prior": prior,
        "prior_rows": prior_rows, "freedom": freedom, "edge_prior": edge_prior,
        "threads": threads, **options,
    }  # fmt: skip
    if search == "fci":
        return learn_pag(opened, settings, score, start)  # type: ignore[return-value]
    if isinstance(starts, bool) or not isinstance(starts, int) or starts < 1:
        raise InputError(f"starts must be a whole number, 1 or more, got {starts!r}.")
    if starts > 1 and missing != "structural-em":
        raise InputError(
            f"starts={starts} is for missing='structural-em'; {missing!r} searches once.",
            hint="Leave starts= out, or give the search restarts=.",
        )
    ways = asked_numbers(numbers, number_names(rows))
    if any(way != "gaussian" for way in ways.values()):
        limit, began = time_limit(seconds), time.perf_counter()
        chosen = climbed_scales(getattr(opened, "table", rows), ways, settings, score, limit)
        scaled, left = chosen.of(rows), None
        if limit is not None:
            left = max(limit - (time.perf_counter() - began), limit / 2)
        net = learn(
            scaled, score, search, start=start, parameters=parameters, ordered=ordered,
            missing=missing, starts=starts, edges=edges, numbers="gaussian", intervened=intervened,
            soft=soft, **{**settings, "seconds": left},
        )  # fmt: skip
        assert net.record is not None
        recipe = {k: v for k, v in net.record.details["recipe"].items() if k != "numbers"}
        recipe |= {} if numbers == "auto" else {"numbers": plain_numbers(numbers)}
        whole = experiments(scaled, intervened, soft)
        return with_recipe(chosen.told(net, whole, left, limit), recipe)
    asked: dict[str, Any] = {"numbers": "gaussian"} if ways else {}
    asked |= {"ordered": True} if flag(ordered, "ordered") else {}
    if score is None and missing == "node-average" and has_gaps(opened):
        score = "bic"
    late = ""
    if missing in ("structural-em", "complete-rows") and has_gaps(opened):
        if missing == "complete-rows":
            opened = complete_rows(opened)
        elif ordered:
            raise InputError(
                "Structural EM learns plain tables, without ordered=True, and cells are missing.",
                hint="Choose missing='available-cases' or missing='complete-rows'.",
            )
        else:
            began = time.perf_counter()
            try:
                net = _structural(opened, score, search, start, parameters, settings, starts)
            except LateError:
                limit = time_limit(seconds)
                if limit is None or not seconds_left():
                    raise  # the deadline is that of what this is a part of
                left = limit - (time.perf_counter() - began)
                settings["seconds"] = max(round(max(left, limit / 4), 2), 0.01)
                missing, late = "available-cases", _LATE.format(limit)
            else:
                told = {**settings, **asked, "starts": starts if starts > 1 else None}
                recipe = recipe_of(score, search, missing, start, parameters, told)
                return with_recipe(with_edges(net, opened, settings, edges), recipe)
    if start is not None and search in _NO_START:
        raise InputError(
            f"The search {search!r} does not begin at a graph, so start= would change nothing.",
            hint="Leave it out, or choose one that does: hill-climb, tabu, anneal, order or ges.",
        )
    settings["available"] = missing == "available-cases"
    with spooled_rows(opened) as rows:
        found = searched(rows, score, search, start=start, **settings)
        belief = belief_of(found.spec, parameters, ess)
        net = fit(found.dag, rows, threads=threads, ordered=ordered, **belief)
        beside = _beside(rows, net)
    record = found.record
    inner = net.record
    assert inner is not None
    details = {**record.details, "families": inner.details.get("families", ())}
    details |= {"rows": inner.details.get("rows", found.scores.rows), **beside}
    notes = (*((late,) if late else ()), *record.notes, *inner.notes)
    whole = replace(record, source=str(opened.schema.source), notes=notes, details=details)
    net = with_edges(net.with_record(whole), opened, settings, edges)
    return with_recipe(
        net, recipe_of(score, search, missing, start, parameters, {**settings, **asked})
    )


def _structural(
    opened: Any,
    score: Any,
    search: str,
    start: Any,
    parameters: Any,
    settings: dict[str, Any],
    starts: int,
) -> Network:
    """Structural EM, each round by the same search."""
    _refuse_unknown(opened.schema, settings)
    table = opened.load() if isinstance(opened, (Stream, Experiments)) else opened
    seed = settings["rng"]
    plain = dict.fromkeys(("ess", "prior", "prior_rows", "freedom", "edge_prior"))

    began, limit = time.perf_counter(), time_limit(settings["seconds"])
    halt = Halt()

    def left(share: float = 1.0) -> dict[str, Any]:
        """The settings with the seconds that are left; hardly any after Ctrl-C."""
        if halt.now:
            return {**settings, "seconds": _SOON}
        if limit is None:
            return settings
        return {**settings, "seconds": max(share * (began + limit - time.perf_counter()), _SOON)}

    def by_search(rows: Any, from_: Any) -> Searched:
        return searched(rows, score, search, start=from_, **left())

    def belief(spec: ScoreSpec) -> dict[str, Any]:
        return belief_of(spec, parameters, settings["ess"])

    whole = all(v.is_discrete for v in table.schema.variables)
    bound = search in _BOUND

    def averaged(rows: Any) -> Dag:
        """A graph from the rows that each family has, scaled to all."""
        found = searched(rows, "bic", search, start=None, **{**left(0.4), **plain})
        halt.after(found)
        return found.dag

    def gained(rows: Any) -> Dag:
        """A graph from what parents gain on the rows that have them: quick, by a climb, or by the
        search itself if it has graphs of one kind."""
        rules = {k: settings[k] for k in ("required", "forbidden", "tiers", "max_parents")}
        rules |= {k: left(0.4)[k] for k in ("candidates", "seconds", "threads")}
        own = {k: settings[k] for k in ("target", "root", "order") if bound and k in settings}
        by = search if bound else "hill-climb"
        found = searched(rows, "bic", by, available=True, **rules, **own)
        halt.after(found)
        return found.dag

    def first(rows: Any) -> Dag | Network:
        """The better of the two by BIC of the observed rows."""
        if bound or not whole:
            return gained(rows)
        graphs = [averaged(rows)]
        if not halt.now:
            graphs.append(gained(rows))
        if halt.now or late() or graphs[0].equivalent(graphs[-1]):
            return graphs[0]
        return max(map(warmed, graphs), key=height)

    def late() -> bool:
        return limit is not None and time.perf_counter() > began + limit

    def warmed(dag: Dag) -> Network:
        """The graph after a few steps of EM."""
        until = math.inf if limit is None else began + limit
        net = em_until(until, dag, table, max_iter=WARM, threads=settings["threads"], told=False)
        halt.after(net)
        return net

    def height(net: Network) -> float:
        """BIC of the observed rows."""
        record = net.record
        assert record is not None and record.score is not None
        return float(record.score - 0.5 * math.log(record.details["rows"]) * net.free_parameters)

    def begin(turn: int) -> Dag | Network:
        """The given or the first graph; then the empty one; then graphs of rows drawn again."""
        if turn == 0:
            return first(table) if start is None else graph_of(start)
        if turn == 1 and not bound:
            return Dag([], table.schema.names)
        chance = np.random.default_rng([turn, *np.atleast_1d(_whole(seed))])
        again = table.take(np.sort(chance.integers(0, len(table), len(table))))
        return averaged(again) if whole else gained(again)

    net = structural_em(
        table, by_search, belief, begin, starts=starts, seconds=limit,
        seed=_whole(seed), threads=settings["threads"], halt=halt,
    )  # fmt: skip
    record = net.record
    assert record is not None
    told = (SOFT if table.soft else CUT,) if isinstance(table, Experiments) else ()
    notes = (*record.notes, *told)
    details = {**record.details, **_beside(table, net)}
    return net.with_record(replace(record, notes=notes, details=details))


def _beside(rows: Any, net: Network) -> dict[str, Any]:
    """What the record keeps of the rows: the pairs of those in which nothing was set, and what
    was set in others.
    """
    seen = getattr(rows, "observed", rows)
    pairs = {} if seen is None else pair_counts(seen, net.variables)
    sets = getattr(rows, "targets", ())
    return {"pairs": pairs, **({"interventions": sets} if sets else {})}


def _refuse_unknown(schema: Schema, settings: Mapping[str, Any]) -> None:
    """Refuse names that the table does not have while it is known which columns were set aside: a
    table that EM completes has only its variables.
    """
    Rules.of(schema, **{name: settings[name] for name in _RULES})
    log_odds(settings["edge_prior"], schema.names, schema)
    order = settings.get("order")
    for name in () if order is None or isinstance(order, str) else order:
        schema.index(name)
    for option in ("target", "root"):
        if settings.get(option) is not None:
            schema.index(settings[option], f"The {option}")


def _whole(seed: Any) -> int:
    return int(seed) if isinstance(seed, (int, np.integer)) else 0
