"""Folds: every row judged by a model that has not seen it.

The rows are dealt out at random into k parts; each part is judged by what the learner makes of
the others.

Whether a network was learned from the very rows of a table: its counts tell.

Every family that the table has whole must have the counts (or moments) that the network keeps.

Learners: whatever turns a table into a network, by one name or another.

A learner is a function of a table, the name of a search (`cr.learn`), a graph (`cr.fit`), or a
network, which is learned again with its own graph and priors from other rows.

Learning again in folds what the rows themselves taught: the graph too, if it was searched for.

A graph that was chosen on all rows has seen those that are held out, and noise that it took for a
relation is in every fold of them. So the search of the record is made again without each fold; by
hill-climbing where the choice was left open, which takes a fraction of the time and ends as near.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.checking.again.row_scores import Scored, score_rows
from credo.core.engine_frames import lies_with_engine
from credo.core.errors import CredoError, CredoWarning, InputError, TableError
from credo.core.progress import track
from credo.core.schema import Schema
from credo.data import Stream, Table, names_of, read
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.model.networks.priors import BDeu
from credo.model.values.randomness import Rng, generator
from credo.model.values.reals import shown
from credo.model.values.record import Record
from credo.model.values.value import whole
from credo.predict.rows.rows import log_likelihood, read_rows
from credo.stats.counts import Counts
from credo.stats.moments import Moments
from credo.train.em.fit import em_until
from credo.train.em.run import INTERRUPTED
from credo.train.parameters.parameters import fit
from credo.train.parameters.update import refit
from credo.train.structure.learning import learn
from credo.train.structure.recipe import arguments_of
from credo.train.structure.searches import SEARCHES

__all__ = [
    "SEARCH_SECONDS", "Again", "Judge", "Learner", "again", "deal", "has_gaps", "judges_of",
    "learned_again", "learned_from", "learner_of", "of_its_graph", "quiet", "rows_for", "scored_by",
    "source_for", "whole_or_stop", "without_weightless",
]  # fmt: skip


def learned_from(net: Network, table: Table | Stream) -> bool:
    """Whether the rows are those that the network was learned from.

    >>> import credo as cr
    >>> rows = cr.examples.pneumonia()
    >>> net = cr.fit("[Pneu][Fev|Pneu]", rows)
    >>> learned_from(net, rows), learned_from(net, rows.take(slice(0, 6)))
    (True, False)
    """
    seen = all(n in table.schema for n in net.names)
    if isinstance(table, Table) and net.schema.scales and seen:
        table = read_rows(net, table)  # numbers as the network has them
    alone = table.tally(list(table.schema.names))
    gaps = {n: alone[n].skipped > 0 for n in table.schema.names}
    weight = float(alone.rows)
    asked = []
    for name, local in net.distributions.items():
        learned = local.learned
        names = [v.name for v in local.variables]
        if learned is None or not all(n in gaps for n in names):
            continue
        if not any(gaps[n] for n in names):
            if abs(float(learned.observed.total) - weight) > 1e-6 * max(weight, 1.0):
                return False
            asked.append((name, [p.name for p in local.parents], learned.observed))
    if not asked:
        return _by_record(net, table, weight)
    tally = table.tally([(name, parents) for name, parents, _ in asked])
    for name, parents, kept in asked:
        mine = tally[name, parents]
        if isinstance(mine, Counts) and isinstance(kept, Counts):
            if mine.cells <= 10_000_000:
                a = np.asarray(mine.dense(), dtype=np.float64)
                b = np.asarray(kept.marginal(mine.names).dense(), dtype=np.float64)
                if np.abs(a - b).max(initial=0.0) > 1e-6 * max(float(mine.total), 1.0):
                    return False
        elif isinstance(mine, Moments) and isinstance(kept, Moments):
            order = [v.name for v in (*mine.discrete, *mine.continuous)]
            if not mine.close_to(kept.marginal(order), 1e-6):
                return False
        else:
            return False
    return True


def _by_record(net: Network, table: Table | Stream, weight: float) -> bool:
    """Every family has gaps: the record's source and number of rows must do."""
    record = net.record
    if record is None or not any(d.learned is not None for d in net.distributions.values()):
        return False
    rows = record.details.get("rows")
    same = isinstance(rows, (int, float)) and abs(rows - weight) < 1e-6
    return bool(same and record.source == str(table.schema.source))


Learner = Callable[[Table], Network]

_STEPS = 25, 100  # of EM, for a network that starts from its own numbers; with hidden variables


def learner_of(given: Any) -> tuple[str, Learner]:
    """A learner and what to call it.

    >>> learner_of("chow-liu")[0], learner_of("[A][B|A]")[0]
    ('chow-liu', '[A][B|A]')
    """
    if isinstance(given, Network):
        return "the network, its parameters learned again", lambda rows: again(given, rows)
    if isinstance(given, Dag):
        return str(given), _graph(given)
    if isinstance(given, str):
        if "[" in given:
            return given, _graph(Dag.parse(given))
        if given not in SEARCHES:
            from credo.core.errors import unknown_name

            raise unknown_name("The search", given, SEARCHES, "one that credo knows")
        return given, lambda rows: learn(rows, search=given, numbers="gaussian")
    if callable(given):
        return getattr(given, "__name__", type(given).__name__), _checked(given)
    raise InputError(
        f"A learner is a function of a table, a search by name, a graph or a network, "
        f"got {shown(given)}.",
        hint="For example lambda rows: cr.learn(rows, 'bic').",
    )


def _graph(dag: Dag) -> Learner:
    def by_graph(rows: Table) -> Network:
        if has_gaps(rows):
            return em_until(math.inf, dag, rows, BDeu(1), tol=1e-4, told=False)
        net: Network = fit(dag, rows, BDeu(1))
        return net

    return by_graph


def _checked(function: Callable[[Table], Any]) -> Learner:
    def by_function(rows: Table) -> Network:
        net = function(rows)
        if not isinstance(net, Network):
            raise InputError(f"The learner must give a network, got {shown(net)}.")
        return net

    return by_function


def has_gaps(table: Table) -> bool:
    """Whether some cell of the table is missing."""
    return any(table.block.gaps)


def again(net: Network, rows: Table) -> Network:
    """The network learned again from other rows: its graph and priors, by EM where cells lack."""
    hidden = [n for n in net.names if n not in rows.schema]
    if not hidden and not has_gaps(rows):
        return refit(net, rows)
    learned = {n: d.learned for n, d in net.distributions.items()}
    prior = {n: how.prior for n, how in learned.items() if how is not None}
    fixed = {
        n: net.distributions[n] for n, h in learned.items() if h is None or h.estimate == "fixed"
    }
    groups = {h.tied for h in learned.values() if h is not None and h.tied}
    if not any(h is not None for h in learned.values()):
        return refit(net, rows)  # refuses
    states = {
        n: list(net.variable(n).states) if net.variable(n).is_discrete else "continuous"
        for n in hidden
    }
    return em_until(
        math.inf, net, rows, prior, start=net, tol=1e-4, max_iter=_STEPS[bool(hidden)], restarts=1,
        fixed=fixed or None, tied=sorted(groups), hidden=states or None, told=False,
    )  # fmt: skip


def whole_or_stop(record: Record | None) -> None:
    """Go on with Ctrl-C where it cut learning short: half a fit is no fit to judge by."""
    if record is not None and record.reason == INTERRUPTED:
        raise KeyboardInterrupt


class quiet(warnings.catch_warnings):
    """Learning again and again: what was said once about the table is not said for each part."""

    def __enter__(self) -> Any:
        out = super().__enter__()
        warnings.simplefilter("ignore", CredoWarning)
        return out


Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Judge:
    """A network and the rows that it is to judge."""

    net: Network
    rows: Rows


MOST = 100_000
"""Rows of a source in parts that are looked at one by one; more are drawn from at random."""


def source_for(net: Network, data: Any, schema: Any, weights: Any, rng: Rng) -> Looked:
    """The rows to look at: of a source in parts as many as memory is meant for."""
    if lies_with_engine(data):
        named = names_of(data)
        usual = Schema(tuple(v for v in net.variables if v.name in named))
        data, schema, weights = read(data, usual if schema is None else schema, weights), None, None
    if not isinstance(data, Stream) or len(data) <= MOST:
        return Looked(rows_for(net, data, schema, weights))
    known = {v.name: v for v in net.variables}
    own = tuple(known.get(v.name, v) for v in data.schema.variables)
    whole = replace(data, schema=Schema(own, source=data.schema.source))
    places = np.sort(generator(rng).choice(len(whole), MOST, replace=False))
    return Looked(rows_for(net, whole.take(places)), whole)


@dataclass(frozen=True)
class Looked:
    """The rows that are looked at one by one, and the source that they were drawn from, if any."""

    rows: Table
    whole: Stream | None = None

    def told(self, net: Network, own: bool) -> tuple[str, ...]:
        """What the whole source says, where the rows are some of it."""
        if self.whole is None:
            return ()
        said = f"{len(self.rows):,} of {len(self.whole):,} rows, drawn at random, were looked at"
        if own:
            return (said,)
        each = log_likelihood(net, self.whole) / float(self.whole.tally([]).rows)
        return (f"{said}; the mean of ln P over all rows is {each:.6g}",)


def rows_for(net: Network, data: Any, schema: Any = None, weights: Any = None) -> Table:
    """The rows over the network's variables; those of weight 0 are absent."""
    if isinstance(data, Stream):
        data = data.load()
    if not isinstance(data, Table) and (weights is not None or schema is not None):
        data = read(data, schema if schema is not None else net.schema, weights)
        data = data.load() if isinstance(data, Stream) else data
    return without_weightless(read_rows(net, data))


def without_weightless(table: Table) -> Table:
    """The rows that count; there must be some."""
    if table.weights is not None and not (table.weights > 0).all():
        table = table.take(table.weights > 0)
    if not len(table):
        raise TableError("There are no rows to judge by.", hint="Check the table and its weights.")
    return table


def deal(n: int, folds: Any, rng: Rng) -> list[Rows]:
    """The rows of each fold.

    >>> sorted(len(part) for part in deal(10, 4, 0))
    [2, 2, 3, 3]
    """
    k = whole(folds, 2, "folds")
    if n < 2:
        raise InputError(f"Cross-validation needs at least 2 rows, got {n}.")
    order = generator(rng).permutation(n)
    return [np.sort(part) for part in np.array_split(order, min(k, n))]


def judges_of(learner: Learner, table: Table, parts: list[Rows], label: str) -> Iterator[Judge]:
    """The network of each fold, with the rows that it has not seen."""
    every = np.arange(len(table))
    for part in track(parts, label, total=len(parts)):
        rest = np.setdiff1d(every, part, assume_unique=True)
        with quiet():
            net = learner(table.take(rest))
        whole_or_stop(net.record)
        yield Judge(net, part)


def scored_by(judges: list[Judge], table: Table, most: int = 500) -> Scored:
    """ln P of each row by the network that judges it (`most`: see `score_rows`)."""
    log, known = np.zeros(len(table)), np.zeros(len(table), dtype=bool)
    for judge in judges:
        every = len(judge.rows) == len(table)
        part = table if every else table.take(judge.rows)
        if set(part.schema.names) - set(judge.net.names):
            part = part.select([n for n in part.schema.names if n in judge.net.schema])
        found = score_rows(judge.net, part, most)
        log[judge.rows], known[judge.rows] = found.log, found.known
    return Scored(log, known)


SEARCH_SECONDS = 20.0
"""For the searches of all folds together, where there is no end."""


@dataclass(frozen=True)
class Again:
    """The network of each fold, in words how it was made, and whether its graph has seen the rows.

    `chosen` says why a graph that was searched for on these rows could not be searched for again;
    it is empty where no judge's graph was chosen with the rows that it judges.
    """

    judges: list[Judge]
    how: str
    graph_again: bool = False
    chosen: str = ""


def learned_again(
    net: Network, table: Table, parts: list[Any], seconds: float = SEARCH_SECONDS
) -> Again:
    """The judges of a network that was learned from these very rows."""
    told = arguments_of(net.record)
    folds = f"in {len(parts)} folds"
    if told is None:
        return Again(
            of_its_graph(net, table, parts), f"parameters learned again {folds}, graph kept"
        )
    lacks = [n for n in net.names if n not in table.schema]
    why = told if isinstance(told, str) else ""
    if lacks:
        why = f"{lacks[0]} is not in the table"
    if not why:
        assert isinstance(told, dict)
        quick = told.get("search") == "auto"
        told = {**told, "search": "hill-climb"} if quick else told
        try:
            judges = list(judges_of(_search(told, seconds / len(parts)), table, parts, "again"))
        except CredoError as error:
            why = error.message.rstrip(".")
        else:
            cut = sum("budget" in str(getattr(j.net.record, "reason", "")) for j in judges)
            late = f", {cut} of the searches cut short at {seconds / len(parts):.3g} s"
            graph = "graph (by hill-climbing)" if quick else "graph"
            how = f"{graph} and parameters learned again {folds}{late if cut else ''}"
            return Again(judges, how, graph_again=True)
    how = f"parameters learned again {folds}, but the graph was chosen with all rows ({why})"
    return Again(of_its_graph(net, table, parts), how, chosen=why)


def of_its_graph(net: Network, table: Table, parts: list[Any]) -> list[Judge]:
    """The judges that keep the graph: parameters learned again without each fold."""
    return list(judges_of(lambda rows: again(net, rows), table, parts, "learning again"))


def _search(told: dict[str, Any], seconds: float) -> Learner:
    """Search again; numbers have the scales of the network, which the rows come with."""

    def by_search(rows: Table) -> Network:
        return learn(rows, seconds=seconds, **{**told, "numbers": "gaussian"})

    return by_search
