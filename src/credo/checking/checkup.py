"""`check`: every check of a network on a table, each a section of one report.

Rows that the network was learned from cannot judge it. They are recognised by its counts, and it is
then learned again without each part of the rows in turn: its parameters, and its graph where the
record says that it was searched for. Other rows judge the network as it is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from credo.checking.again.folds import (
    SEARCH_SECONDS,
    Again,
    Judge,
    deal,
    has_gaps,
    judges_of,
    learned_again,
    learned_from,
    learner_of,
    of_its_graph,
    quiet,
    scored_by,
    source_for,
)
from credo.checking.again.replicates import judged_replicates
from credo.checking.again.row_scores import Scored, copies, gathered, plain_rows
from credo.checking.findings import Finding, ranked
from credo.checking.report import EVERY, SECTIONS, Report
from credo.checking.sections.calibration import calibration
from credo.checking.sections.costs import costs as cost_section
from credo.checking.sections.edges import edges as edge_section
from credo.checking.sections.edges import usual_samples
from credo.checking.sections.graph import graph
from credo.checking.sections.held_out import held_out
from credo.checking.sections.independence import independence
from credo.checking.sections.influence import influence
from credo.checking.sections.outliers import Surprises, of_tables, outliers
from credo.checking.sections.parameters import parameters
from credo.checking.sections.predictive import own_statistics, predictive
from credo.core.errors import CredoError, InputError, unknown_name
from credo.core.lazy import renamed_arguments
from credo.core.progress import within
from credo.data import Table
from credo.model.networks.network import Network
from credo.model.values.randomness import Rng, generator
from credo.model.values.reals import shown
from credo.model.values.value import finite, whole
from credo.predict.intervals.draws import has_posterior

__all__ = ["BUDGET", "WIDE", "check"]

WIDE = 200
"""Beyond so many variables fewer folds and tables are usual."""
BUDGET = 60.0
"""Seconds for all sections, unless told otherwise."""
_FITS = 8_000  # families that are learned again for outliers, if these are 20 tables
_CELLS = 100_000  # that calibration looks at, if these are a thousand rows


@renamed_arguments(budget="seconds")
def check(
    net: Network,
    data: Any,
    *,
    learner: Any = None,
    folds: int | None = None,
    draws: int | None = None,
    rows: int = 10_000,
    edges: int | None = None,
    statistics: Mapping[str, Callable[[Table], float]] | None = None,
    held_out: bool | None = None,
    level: float = 0.05,
    sections: Collection[str] | None = None,
    costs: Mapping[str, Any] | None = None,
    seconds: float | None = BUDGET,
    weights: Any = None,
    schema: Any = None,
    rng: Rng = 0,
) -> Report:
    """Check a network on a table: what it gets right, what it gets wrong, and what to do.

    Parameters
    ----------
    net : Network
        The network.
    data : anything `cr.read` takes, a Table or a Stream
        The rows. Cells may be missing (they are summed out), columns may be missing whole.
    learner : function, name of a search, graph, or network
        What made the network from rows; it is then made again without each fold. A network of
        `cr.learn` needs none: its record says how its graph was searched for.
    folds : int
        The parts into which the rows are dealt out; by default 5, 3 for more than 200 variables.
    draws : int
        Tables generated for the predictive checks; by default 200, 30 for more than 200 variables.
    rows : int
        The most rows for the checks that generate tables or look at every cell (predictive,
        calibration); more are drawn from at random, and the report says so.
    edges : int
        Resamples for the stability of edges; by default 50, 20 for more than 15 variables, 10 for
        more than 30, none for more than 60.
    statistics : mapping from name to a function of a Table
        More statistics for the predictive check.
    held_out : bool
        Whether the network has not seen these rows. By default this is told by its counts.
    level : float
        The chance of a false alarm in each section, all its tests taken together.
    sections : names
        The sections to make; by default all: 'held_out', 'predictive', 'calibration',
        'independence', 'edges', 'parameters', 'influence', 'outliers', and with costs 'costs';
        and 'graph', only where it is named: the edges that all graphs together leave unsure
        (`cr.average`).
    costs : mapping from variable to costs
        What it costs to call one state another, as in a classifier's `predict(costs=)`: adds what
        decisions by the model's probabilities would have cost, with their cost curves.
    seconds : float
        For all of it, a third of that for searching the graph again in all folds together; None
        for no end, and 20 for the searches. A search that needs longer gives the best graph so far,
        a section that is late is left out, and the report names both.
    rng : seed or generator
        For folds, generated tables and resamples.

    >>> import credo as cr
    >>> table = cr.examples.play_tennis()
    >>> net = cr.learn(table, search="naive-bayes", target="PlayTennis")
    >>> report = cr.check(net, table, draws=50, edges=0)
    >>> report.how
    'The network was learned from these rows: graph and parameters learned again in 5 folds.'
    >>> print(report.held_out.baselines[0].name)
    independent columns
    """
    began = time.perf_counter()
    if not isinstance(net, Network):
        raise InputError(
            f"check needs a Network, got {shown(net)}.",
            hint="It has one: cr.check(model.network(), rows)."
            if hasattr(net, "network")
            else "Load one with cr.load.",
        )
    wanted = _sections(sections)
    wide = len(net.names) > WIDE
    draws = whole((30 if wide else 200) if draws is None else draws, 20, "draws")
    folds = (3 if wide else 5) if folds is None else folds
    most = whole(rows, 10, "rows")
    share = finite(level, "level")
    limit = 3 * SEARCH_SECONDS if seconds is None else finite(seconds, "seconds")
    if limit <= 0:
        raise InputError(f"seconds must be a number above 0, got {shown(seconds)}.")
    if not 0 < share < 1:
        raise InputError(f"level must lie between 0 and 1, got {shown(level)}.")
    chance = generator(rng)
    seeds = {name: int(chance.integers(2**62)) for name in ("folds", "rows", "draws", *SECTIONS)}
    looked = source_for(net, data, schema, weights, seeds["rows"])
    whole_table = looked.rows
    table, origin = copies(whole_table)
    own_statistics(statistics, table)
    parts = deal(len(table), folds, seeds["folds"]) if len(table) > 1 else []
    with quiet(), within(math.inf if seconds is None else limit):
        if held_out is None and looked.whole is not None:
            held_out = not learned_from(net, looked.whole)
        who, own = _judged(net, table, parts, learner, held_out, limit / 3)
        scored = scored_by(who.judges, table)
        found, left_out = _made(
            net, table, who, scored, own, parts, wanted, seeds, draws, most, share,
            edges, statistics, learner, whole_table, origin, costs,
        )  # fmt: skip
    findings = [f for name in EVERY if name in found for f in found[name].findings()]
    findings += _general(table, scored)
    seed = int(rng) if isinstance(rng, (int, np.integer)) else None
    return Report(
        ranked(findings), float(table.block.weight), len(table.schema), who.how, **found,
        left_out=left_out, notes=(*looked.told(net, own), *_notes(net, table)),
        seconds=time.perf_counter() - began, seed=seed,
    )  # fmt: skip


def _sections(given: Collection[str] | None) -> tuple[str, ...]:
    if given is None:
        return (*SECTIONS, "costs")
    if isinstance(given, str):
        given = [given]
    for name in given:
        if name not in EVERY:
            raise unknown_name("Section", name, EVERY, "one of a report")
    return tuple(name for name in EVERY if name in given)


def _judged(
    net: Network, table: Table, parts: list[Any], learner: Any, given: bool | None, seconds: float
) -> tuple[Again, bool]:
    """Who judges which rows, in words, and whether the rows are the network's own."""
    every = [Judge(net, np.arange(len(table)))]
    own = learned_from(net, table) if given is None else not given
    if learner is not None and parts:
        name, function = learner_of(learner)
        made = list(judges_of(function, table, parts, "learning again"))
        for judge in made:
            _same_variables(net, judge.net, table)
        return Again(made, f"Learned again by {name} in {len(parts)} folds."), own
    if not own:
        return Again(every, "The network is judged as it is, on rows it has not seen."), own
    if not parts:
        said = "Too few rows to learn again: the network is judged on what it has seen."
        return Again(every, said, chosen="too few rows"), own
    try:
        found = learned_again(net, table, parts, seconds)
    except CredoError as error:
        why = error.message.rstrip(".")
        said = f"Judged on rows it was learned from, which flatters it ({why})."
        return Again(every, said, chosen=why), own
    return replace(found, how=f"The network was learned from these rows: {found.how}."), own


def _same_variables(net: Network, other: Network, table: Table) -> None:
    for name in table.schema.names:
        if name not in other.schema or other.variable(name) != net.variable(name):
            raise InputError(
                f"The learner's network has other states for {name!r} than the network checked.",
                hint="Let the learner keep the schema of the table that it is given.",
            )


def _made(
    net: Network, table: Table, who: Again, scored: Scored, own: bool,
    parts: list[Any], wanted: tuple[str, ...], seeds: dict[str, int], draws: int, most: int,
    level: float, edges: int | None, statistics: Any, learner: Any, given: Table, origin: Any,
    costs: Mapping[str, Any] | None,
) -> tuple[dict[str, Any], dict[str, str]]:  # fmt: skip
    """Every section that was wanted, and why some are not there."""
    found: dict[str, Any] = {}
    why: dict[str, str] = {}

    def make(name: str, function: Callable[[], Any]) -> None:
        if name not in wanted:
            return
        try:
            made = function()
        except CredoError as error:
            made = error.message.rstrip(".")
        if isinstance(made, str):
            why[name] = made
        else:
            found[name] = made

    some, _, note = plain_rows(table, most, seeds["rows"])
    notes = (note,) if note else ()
    size = max(20_000, 40 * min(len(some), 5_000))
    generated = Surprises(net, size)
    judges = who.judges
    in_folds = judges[0].net is not net
    if parts:
        make("held_out", lambda: held_out(table, scored, who, parts, not net.dag.edges))
    else:
        why["held_out"] = "there is one row"
    if "predictive" in wanted or ("outliers" in wanted and not in_folds):
        look = generated.look if "outliers" in wanted and not in_folds else None

        def generate() -> Any:
            return predictive(
                net, some, draws=draws, rng=seeds["draws"], level=level, statistics=statistics,
                notes=notes, look=look,
            )  # fmt: skip

        if "predictive" in wanted:
            make("predictive", generate)
        else:
            generate()
    make("calibration", lambda: _calibrated(
        net, table, judges, scored, level, most, in_folds, seeds["calibration"]
    ))  # fmt: skip
    make("independence", lambda: independence(
        net, given, level=level, rng=seeds["independence"]
    ))  # fmt: skip
    samples = usual_samples(len(net.names)) if edges is None else whole(edges, 0, "edges")
    search = learner if isinstance(learner, str) and "[" not in learner else "hill-climb"
    if not samples:
        why["edges"] = "no resamples" + (
            f" (by default none for {len(net.names)} variables)" if edges is None else " asked for"
        )
    else:
        make("edges", lambda: edge_section(
            net, given, samples=samples, search=search, rng=seeds["edges"]
        ))  # fmt: skip
    make("parameters", lambda: parameters(net))
    make("influence", lambda: influence(net, given, own))

    def surprising() -> Any:
        by, its = judges, scored
        if who.graph_again:  # a row is odd for the network as it is, not for those of other graphs
            by = of_its_graph(net, table, parts)
            its = scored_by(by, table)
        seen = _in_folds(net, table, by, seeds["outliers"]) if in_folds else generated
        return outliers(net, given, gathered(its, origin, len(given)), seen)

    make("outliers", surprising)
    if costs is not None and "costs" in wanted:
        found["costs"] = cost_section(judges, table, costs)
    make("graph", lambda: graph(net, given, seeds["edges"]))
    if "edges" not in wanted:
        why.pop("edges", None)
    if "held_out" not in wanted:
        why.pop("held_out", None)
    return found, why


def _calibrated(
    net: Network, table: Table, judges: list[Judge], scored: Scored, level: float, most: int,
    in_folds: bool, seed: int,
) -> Any:  # fmt: skip
    """Calibration on some of the rows; what was learned is held against tables of the network."""
    most = min(most, max(_CELLS // len(table.schema), 1000))
    some, kept, note = plain_rows(table, most, seed)
    who = _among(judges, kept, len(table))
    learned = in_folds or any(map(has_posterior, net.distributions.values()))
    whole = len(kept) == len(table) and set(net.names) <= set(table.schema.names)
    tables = judged_replicates(net, who, some, math.ceil(1 / level), seed, in_folds and whole)
    return calibration(
        who, some, Scored(scored.log[kept], scored.known[kept]), level, (note,) if note else (),
        tables if learned else (),
    )  # fmt: skip


def _in_folds(net: Network, table: Table, judges: list[Judge], seed: int) -> Surprises:
    """What rows that were judged in folds are compared with."""
    some, kept, _ = plain_rows(table, max(_CELLS // len(table.schema), 1000), seed)
    whole = len(kept) == len(table) and set(net.names) <= set(table.schema.names)
    again = whole and not has_gaps(table)
    each = len(judges) * sum(1 if v.is_discrete else 4 for v in net.variables)  # lines take longer
    tables = min(max(_FITS // each, 20), 60) if again else 20
    who = _among(judges, kept, len(table))
    made = judged_replicates(net, who, some, tables, seed, again, gaps=True)
    return of_tables(made, net, again)


def _among(judges: list[Judge], kept: Any, n: int) -> list[Judge]:
    """The judges of some rows, in their new places."""
    of = np.empty(n, dtype=np.intp)
    for k, judge in enumerate(judges):
        of[judge.rows] = k
    who = of[kept]
    return [Judge(j.net, np.flatnonzero(who == k)) for k, j in enumerate(judges)]


def _general(table: Table, scored: Scored) -> list[Finding]:
    lost = int((~scored.known).sum())
    if not lost:
        return []
    return [
        Finding(
            "held_out", f"{lost:,} of {len(table):,} rows have gaps that cannot be summed out "
            "exactly, and were left out.", float(lost), "note",
            "Fill them with net.impute(rows) if they matter.", "", lost / len(table),
        )
    ]  # fmt: skip


def _notes(net: Network, table: Table) -> tuple[str, ...]:
    hidden = [n for n in net.names if n not in table.schema]
    out = []
    if hidden:
        names = ", ".join(hidden[:6]) + (" …" if len(hidden) > 6 else "")
        out.append(f"{names}: not observed in the table, summed out everywhere")
    return tuple(out)
