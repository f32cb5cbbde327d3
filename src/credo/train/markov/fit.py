"""Learning the parameters of a Markov network from a table.

    maximise  Σ_rows ln P(row)  −  (l2/2) Σ w²

The statistics are counted once, by `tally`, so streams and weights work; rows are never touched
again. At the optimum each potential's configurations are as probable as they are frequent, but for
the prior's pull.

The way up is L-BFGS (Liu & Nocedal 1989), with the trace it leaves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from itertools import count, pairwise
from math import isfinite, prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError, SchemaError
from credo.core.progress import track
from credo.core.schema import Schema, Variable
from credo.data import read
from credo.model.graphs.dag import Dag
from credo.model.graphs.undirected import UndirectedGraph
from credo.model.networks.network import Network
from credo.model.undirected.factor import Factor
from credo.model.undirected.factor_model import FactorModel
from credo.model.undirected.markov_network import MarkovNetwork
from credo.model.undirected.potentials import Potential
from credo.model.values.record import Record
from credo.model.values.value import choice
from credo.predict.exact.engine import MAX_BYTES, MAX_WORK
from credo.predict.rows.rows import read_rows
from credo.stats.counts import Counts
from credo.stats.tally import Source
from credo.train.markov.likelihood import Likelihood, PseudoLikelihood, blankets
from credo.train.markov.log_linear import MAX_PARAMETERS, LogLinear

Floats = NDArray[np.float64]

METHODS = ("auto", "likelihood", "pseudo-likelihood")
QUICK = 3e8
"""`auto` takes maximum likelihood while one iteration needs fewer multiplications than this."""


def fit_markov(
    structure: Any,
    source: Any,
    *,
    method: str = "auto",
    l2: float = 1e-3,
    potentials: str = "cliques",
    max_iter: int = 2000,
    tol: float = 1e-7,
    weights: Any = None,
    schema: Any = None,
) -> MarkovNetwork:
    """Learn a Markov network from complete rows.

    `structure` is a graph (an `UndirectedGraph` or a list of edges), which gets a potential for
    each maximal clique, or for each edge with `potentials="pairs"`; or a `MarkovNetwork` or
    `FactorGraph`, whose potentials are learned anew: tables cell by cell, features by their
    weights. `source` is any table or stream. `l2` is the precision of a Gaussian prior on the
    parameters; with 0, a configuration that was never seen gets the number 0.

    `method` is "likelihood", "pseudo-likelihood", or "auto": likelihood where it is quick.
    `weights` and `schema` are those of `cr.read`, when `source` has not been read yet.

    >>> import credo as cr
    >>> net = fit_markov([("Pneu", "Fev")], cr.examples.pneumonia(), l2=0)
    >>> round(net.p("Fev", given={"Pneu": "T"})["T"], 6)  # 3 of 5
    0.6
    >>> print(net.record.how)
    maximum likelihood
    """
    started = time.perf_counter()
    choice(method, METHODS, "method")
    choice(potentials, ("cliques", "pairs"), "potentials")
    l2 = _checked(l2, "l2")
    _checked(tol, "tol")
    if isinstance(max_iter, bool) or not isinstance(max_iter, int) or max_iter < 1:
        raise InputError(f"max_iter must be a whole number above 0, got {max_iter!r}.")
    graph, variables, template, table = _found(structure, source, potentials, weights, schema)
    design = LogLinear.of(variables, template)
    method, plan, notes = _chosen(method, design)
    counts, around, rows = _counted(table, design, method == "pseudo-likelihood")
    zero = design.tabled & (counts == 0)
    if zero.any():
        count = int(zero.sum())
        cells = f"{count:,} configurations of potentials were"
        cells, one = (cells, "them") if count > 1 else ("1 configuration of a potential was", "it")
        if l2 == 0:
            notes.append(f"{cells} never seen and cannot be under the model")
            design = design.closing(zero)
        else:
            notes.append(f"{cells} never seen; only the prior keeps {one} above 0")
    found = _climbed(design, plan, counts, around, rows, l2, max_iter, tol)
    how = "maximum likelihood" if around is None else "maximum pseudo-likelihood"
    record = Record(
        how=how,
        source=table.schema.source,
        score=found.value,
        trace=found.trace,
        reason=found.reason,
        seconds=time.perf_counter() - started,
        notes=tuple(notes),
        details={
            "method": "likelihood" if around is None else "pseudo-likelihood",
            "l2": l2,
            "rows": rows,
            "parameters": design.parameters,
            "gradient": found.gradient,
        },
    )
    return MarkovNetwork(design.learned(found.w), graph=graph, states=variables, record=record)


def _checked(value: Any, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if isinstance(value, bool) or not isfinite(number) or number < 0:
        raise InputError(f"{what} must be a finite number, 0 or more, got {value!r}.")
    return number


# --- what is to be learned, from what -----------------------------------------------------


def _found(
    structure: Any, source: Any, potentials: str, weights: Any, schema: Any
) -> tuple[UndirectedGraph, tuple[Variable, ...], tuple[Potential, ...], Source]:
    """The graph, its variables, potentials to be filled, and the table with those variables."""
    if isinstance(structure, FactorModel):
        return (
            structure.graph,
            structure.variables,
            structure.potentials,
            _table_like(structure, source, weights, schema),
        )
    graph = _graph(structure)
    if not graph.nodes:
        raise InputError(
            "The graph has no nodes, so there is nothing to learn.",
            hint="Give edges, such as [('a', 'b')], or UndirectedGraph([], nodes=['a', 'b']).",
        )
    table = _rows(source, weights, schema)
    variables = tuple(table.schema[n] for n in graph.nodes)
    for v in variables:
        if not v.is_discrete:
            raise SchemaError(
                f"Undirected models are for discrete variables; {v.name!r} is continuous.",
                hint="Cut it into intervals, or leave it out of the graph.",
            )
    at = {v.name: v for v in variables}
    if potentials == "cliques":
        scopes = list(graph.cliques)
    else:
        alone = [n for n in graph.nodes if not graph.neighbours(n)]
        scopes = [*graph.edges, *((n,) for n in alone)]
    made = []
    total = 0
    for scope in scopes:
        shape = [at[n].arity for n in scope]
        total += prod(shape)
        if total > MAX_PARAMETERS:
            raise LimitError(
                f"The potentials up to that of ({', '.join(scope)}) would have {total:,} numbers; "
                f"at most {MAX_PARAMETERS:,} are allowed.",
                hint="Give a graph with smaller cliques, or potentials='pairs'.",
            )
        made.append(Factor(tuple(at[n] for n in scope), np.ones(shape)))
    return graph, variables, tuple(made), table


def _graph(structure: Any) -> UndirectedGraph:
    if isinstance(structure, UndirectedGraph):
        return structure
    directed = isinstance(structure, Dag | Network)
    if directed or isinstance(structure, str) or not isinstance(structure, Iterable):
        raise InputError(
            "The structure must be an UndirectedGraph, a list of edges, a MarkovNetwork or a "
            f"FactorGraph, got {type(structure).__name__}.",
            hint="A Dag has its moral graph: dag.moral()." if directed else "",
        )
    return UndirectedGraph(structure)


def _rows(source: Any, weights: Any, schema: Any) -> Source:
    """A source at hand, or read as the options say; a table that was read refuses them."""
    if isinstance(source, Source) and weights is None and schema is None:
        return source
    return read(source, schema, weights)


def _table_like(model: FactorModel, source: Any, weights: Any, schema: Any) -> Source:
    """The source with the variables as the model has them."""
    if schema is not None:
        raise InputError("The model has its schema: schema= is for a graph alone.")
    if isinstance(source, Source) and weights is None:
        for name in model.names:
            source.schema.index(name)  # refuses one that is not there
        if all(source.schema[v.name] == v for v in model.variables):
            return source
        return read_rows(model._asked, source)
    return read(source, Schema(model.variables), weights)


def _counted(
    table: Source, design: LogLinear, around: bool
) -> tuple[Floats, list[Counts] | None, float]:
    """The counts of every potential's cells and, for pseudo-likelihood, of every neighbourhood."""
    names = [v.name for v in design.variables]
    scopes = [tuple(names[i] for i in s) for s in design.scopes]
    near = blankets(design) if around else [()] * len(names)
    wide = [(*(names[j] for j in others), names[i]) for i, others in enumerate(near)]
    wanted = list(dict.fromkeys([*(s for s in scopes if s), *wide]))
    tally = table.tally([(s[-1], s[:-1]) for s in wanted])
    found: dict[tuple[str, ...], Counts] = {}
    for s in wanted:
        counts = tally[s[-1], s[:-1]]
        assert isinstance(counts, Counts)
        if counts.skipped:
            have = "1 row has" if counts.skipped == 1 else f"{counts.skipped:,} rows have"
            raise InputError(
                f"Rows with missing cells cannot be used: {have} a gap in {', '.join(s)}.",
                hint="Leave those rows out, or fill them first.",
            )
        found[s] = counts
    rows = float(found[wide[0]].total)
    if not rows:
        raise InputError("There are no rows to learn from.")
    cells = np.empty(design.offsets[-1])
    for s, (a, b) in zip(scopes, pairwise(design.offsets), strict=True):
        cells[a:b] = found[s].dense().values.ravel() if s else rows
    return cells, [found[s] for s in wide] if around else None, rows


# --- how ------------------------------------------------------------------------------------


def _chosen(method: str, design: LogLinear) -> tuple[str, Any, list[str]]:
    """The method, the plan that maximum likelihood needs, and what to say of the choice."""
    if method == "pseudo-likelihood":
        return method, None, []
    plan = Likelihood.plan_of(design)
    fits = plan.bytes <= MAX_BYTES and plan.flops <= MAX_WORK
    if method == "auto" and (not fits or plan.flops > QUICK):
        note = (
            f"an iteration of maximum likelihood would need {plan.flops:.2g} multiplications "
            f"(the largest clique has {plan.largest_clique:,.0f} states)"
        )
        return "pseudo-likelihood", None, [note]
    if not fits:
        raise LimitError(
            f"Maximum likelihood needs tables of {plan.bytes / 1e9:,.1f} GB and {plan.flops:.2g} "
            f"multiplications an iteration (its largest clique has {plan.largest_clique:,.0f} "
            "states).",
            hint="Use method='pseudo-likelihood'.",
        )
    return "likelihood", plan, []


def _climbed(
    design: LogLinear,
    plan: Any,
    counts: Floats,
    around: list[Counts] | None,
    rows: float,
    l2: float,
    max_iter: int,
    tol: float,
) -> Ascent:
    g: Any = (
        Likelihood(design, plan, counts, rows)
        if around is None
        else PseudoLikelihood(design, around)
    )
    return climb(
        g,
        design.parameters,
        l2=l2,
        rows=rows,
        iterations=max_iter,
        tolerance=tol,
        label="learning",
    )


@dataclass(frozen=True)
class Ascent:
    """Where it ended: parameters, g there, the penalised value at each step, and why it stopped."""

    w: Floats
    value: float
    trace: tuple[float, ...]
    gradient: float
    reason: str


def climb(
    g: Callable[[Floats], tuple[float, Floats]],
    size: int,
    *,
    l2: float,
    rows: float,
    iterations: int,
    tolerance: float,
    label: str,
) -> Ascent:
    """Maximise g(w) − l2/2 |w|² from w = 0, until no slope, per row, is above the tolerance.

    >>> found = climb(lambda w: (float(-((w - 3) ** 2).sum()), -2 * (w - 3)), 1, l2=0.0, rows=1,
    ...               iterations=50, tolerance=1e-9, label="")
    >>> found.w.round(6).tolist(), found.reason
    ([3.0], 'no slope above 1e-09 a row')
    """
    from scipy.optimize import minimize

    per_row = max(rows, 1.0)
    last: dict[str, tuple[float, Floats]] = {}
    trace: list[float] = []
    steps = cast("Generator[int]", track(count(), label))  # a bar on a terminal, if it takes long

    def down(w: Floats) -> tuple[float, Floats]:
        value, slope = g(w)
        total, slope = value - l2 / 2 * float(w @ w), slope - l2 * w
        last["at"] = total, slope
        return -total / per_row, -slope / per_row

    def each(_: Floats) -> None:
        trace.append(last["at"][0])
        next(steps)

    options: dict[str, float] = {"maxiter": iterations, "maxfun": 4 * iterations, "maxcor": 20}
    options |= {"gtol": tolerance, "ftol": 0.0}
    try:
        found = minimize(
            down, np.zeros(size), jac=True, method="L-BFGS-B", callback=each, options=options
        )
    finally:
        steps.close()
    value, slope = g(found.x)
    steepest = float(np.abs(slope - l2 * found.x).max(initial=0.0)) / per_row
    if steepest <= tolerance:
        reason = f"no slope above {tolerance:g} a row"
    elif found.nit >= iterations or found.nfev >= 4 * iterations:
        reason = f"{found.nit:,} iterations were allowed"
    else:
        reason = f"no step goes further up; the steepest slope is {steepest:.2g} a row"
    return Ascent(found.x, value, tuple(trace), steepest, reason)
