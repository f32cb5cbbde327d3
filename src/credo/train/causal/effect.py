"""`effect`: from rows (or a network) and a graph to the size of an effect with its uncertainty.

The graph says by which formula the effect follows from what is observed; the families of that
formula are learned from the rows with a prior, and the formula is evaluated under draws of their
posterior. A node of the graph that is no column is a hidden cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from credo.core.errors import InputError, SchemaError, unknown_name
from credo.core.schema import Schema, Variable
from credo.data import Stream, Table, read
from credo.model.answers.interval import probability
from credo.model.causal.causal_graph import CausalGraph
from credo.model.causal.pag import Pag
from credo.model.causal.texts import PAG
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.model.networks.priors import Laplace
from credo.model.structures.structure_posterior import StructurePosterior
from credo.model.values.randomness import Rng, generator
from credo.model.values.value import finite
from credo.predict.causal.c_factors import Admg, markov_families
from credo.predict.causal.classes import class_effect
from credo.predict.causal.effects import Evaluation, evaluate, means, strata, uncertain
from credo.predict.causal.estimate import EffectEstimate, compared_tables
from credo.predict.causal.identify import Identification, of_effect
from credo.predict.causal.questions import CausalQuestion
from credo.predict.exact.posterior import posterior
from credo.predict.questions.intervention import reversible_note
from credo.predict.questions.request import enough, request
from credo.train.causal.averaged import averaged_effect
from credo.train.causal.instrument import bounded
from credo.train.parameters.parameters import fit

__all__ = ["effect"]

_JEFFREYS = Laplace(0.5)
_BOUNDED = "There is an instrument: by='instrument' gives bounds."
_YES = {"yes", "true", "1", "y", "t", "on", "present", "treated", "positive", "success"}


def effect(
    source: Any,
    x: str,
    y: str,
    graph: Any = None,
    *,
    values: Sequence[Any] | None = None,
    outcome: Any = None,
    by: str = "auto",
    prior: Any = _JEFFREYS,
    interval: float = 0.95,
    draws: int = 2000,
    rng: Rng = 0,
) -> Any:
    """How much setting `x` changes `y`: from a table and a causal graph, or from a network.

    Parameters
    ----------
    source : anything `cr.read` takes, a Network or a StructurePosterior
        The rows; the distribution itself; or all graphs (`cr.average`), whose interval includes how
        sure the graph is.
    graph : CausalGraph, Dag, text, edges or Pag
        What causes what. A node that is no column of the table is taken as hidden. A network
        brings its own. Of a `Pag` (`search="fci"`, or its text) the answer is one that every graph
        of the class agrees on.
    values : two values of `x`
        From which to which it is set; a binary one goes from no to yes, else from its first state.
    outcome : a state of `y`
        Whose probability is compared; of a binary one "yes" or the last. Of a number, the mean is.
    by : "auto", "adjustment", "id" or "instrument"
        An adjustment where there is one, or the formula of the ID algorithm. An instrument gives
        bounds (`EffectBounds`) where there is no formula.
    prior : the prior of the tables
        Half a row in each cell (Jeffreys) unless told.

    The answer has `.difference`, `.ratio`, `.odds_ratio`, `.interval`, `.formula`, `.adjustment`,
    `.positivity`, `.confounding`, `.e_value`, `.necessity` and `.sufficiency`; see docs/causes.md.

    >>> import credo as cr
    >>> graph = "[size][treatment|size][success|treatment:size]"
    >>> found = cr.effect(cr.examples.kidney_stones(), "treatment", "success", graph,
    ...                   values=("B", "A"))
    >>> found.adjustment, round(found.difference, 3), 0 in found.interval
    (('size',), 0.053, True)
    """
    net = source if isinstance(source, Network) else None
    every = source if isinstance(source, StructurePosterior) else None
    rows: Any = _table(source) if net is None and every is None else source
    variables = rows.schema
    _refuse_unknown(variables, x, y)
    level, n = probability(interval), enough(draws, probability(interval))
    chance = generator(rng)  # refuses what is no seed; a generator gives one for all draws
    seed = int(chance.integers(2**62)) if isinstance(rng, np.random.Generator) else int(rng)
    pair, state = _compared(variables[x], values), _outcome(variables[y], outcome)
    if every is not None:
        _refuse_graph(graph, by)
        return averaged_effect(every, x, y, pair, state, level, n, seed)
    whole: CausalGraph | Pag
    notes: tuple[str, ...]
    if isinstance(graph, str) and PAG.match(graph):
        graph = Pag.parse(graph)
    if isinstance(graph, Pag):
        whole, notes = graph, ()
        found = _of_class(graph, variables, x, y, by)
    else:
        whole, notes = _graph(net, graph, variables, x, y)
        if by == "instrument":
            return bounded(rows, whole, x, y, pair, state, prior, level, n, seed)
        found = of_effect(whole, CausalQuestion((y,), (x,)), by)
        if not found.identified and whole.instruments(x, y):
            found = replace(found, reason=f"{found.reason} {_BOUNDED}")
    formula = found.formula  # refused with the hedge
    numbers = _numbers(found, variables, x, y)
    if net is None:
        net = _learned(whole, found, rows, x, y, prior, numbers)
        seen = fit(Dag([(x, y)]), rows, prior=prior) if numbers or state is None else net
    else:
        seen = net
        told = reversible_note(net, {x: pair[1]}, {y})
        notes += (told,) if told else ()
        if numbers and (
            isinstance(whole, Pag) or whole.hidden or set(whole.edges) != set(net.dag.edges)
        ):
            raise SchemaError(
                f"An effect with numbers among its causes ({', '.join(numbers)}) is answered by "
                "the network's own graph.",
                hint="Leave graph= out, or give the table.",
            )
    n = n if uncertain(net) else 0
    if numbers:
        done = means(net, x, y, pair, n, seed)
        at, to = (0, 1), 0
    else:
        done = evaluate(net, formula, x, y, n, seed)
        at = tuple(variables[x].code(v) for v in pair)
        to = 0 if state is None else variables[y].code(state)
    if not n:
        notes += ("the network has no posterior, so there is no interval",)
    skipped = max(_skipped(net), default=0)
    if skipped:
        notes += (f"{skipped:,.6g} rows were left out of a family: a cell was missing",)
    more = {} if numbers or state is None else _beside(net, done, x, y, at, to)
    return EffectEstimate(
        x, y, pair, state,
        p=(float(done.value[at[0], to]), float(done.value[at[1], to])),
        plain=more.pop("plain", None) or _seen(seen, x, y, pair, state),
        samples=None if done.draws is None else np.ascontiguousarray(done.draws[:, list(at), to]),
        level=level,
        found=formula,
        reason=found.reason,
        adjustment=found.adjustment,
        positivity=strata(net, formula, x),
        notes=notes,
        **more,
    )  # fmt: skip


# --- what was given -----------------------------------------------------------------------


def _table(source: Any) -> Table | Stream:
    return source if isinstance(source, (Table, Stream)) else read(source)


def _refuse_unknown(schema: Schema, x: str, y: str) -> None:
    for name in (x, y):
        if name not in schema:
            raise unknown_name("Variable", name, schema.names, "in the data")
    if x == y:
        raise InputError(f"The effect of {x!r} on itself is no question.")


def _refuse_graph(graph: Any, by: str) -> None:
    if graph is not None or by != "auto":
        raise InputError(
            "A posterior over graphs has its own graphs, and answers by each of them.",
            hint="Leave graph= and by= out, or give the rows.",
        )


def _graph(
    net: Network | None, graph: Any, schema: Schema, x: str, y: str
) -> tuple[CausalGraph, tuple[str, ...]]:
    """The graph of what is observed, and what was taken as hidden."""
    if graph is None:
        if net is None:
            raise InputError(
                "Rows alone do not say what causes what: graph= is needed.",
                hint=f"Write what you know, such as graph='[{x}][{y}|{x}]', or learn a network.",
            )
        graph = net.dag
    if isinstance(graph, Network):
        graph = graph.dag
    if not isinstance(graph, CausalGraph):
        if not isinstance(graph, (str, Dag)) and not isinstance(graph, Iterable):
            raise InputError(f"graph= is a CausalGraph, a Dag, text or edges, got {graph!r}.")
        graph = CausalGraph(graph)
    for name in (x, y):
        graph._at(name)
    gone = [n for n in graph.nodes if n not in schema]
    if not gone:
        return graph, ()
    told = f"{', '.join(gone)}: in the graph and not in the data, so taken as hidden"
    return graph.project(gone), (told,)


def _of_class(pag: Pag, schema: Schema, x: str, y: str, by: str) -> Identification:
    """The formula that a class of graphs agrees on."""
    if by not in ("auto", "adjustment"):
        raise InputError(
            f"by={by!r} needs one graph; of a class an effect follows by adjustment.",
            hint="Leave by= out.",
        )
    for name in pag.nodes:
        if name not in schema:
            raise unknown_name("The node", name, schema.names, "in the data")
    return class_effect(pag, x, y)


def _compared(x: Variable, values: Any) -> tuple[Any, Any]:
    if values is None:
        if not x.is_discrete:
            return 0.0, 1.0
        if x.arity != 2:
            raise InputError(
                f"{x.name!r} has {x.arity} states: {', '.join(map(str, x.states[:8]))}.",
                hint=f"Say which two to compare: values=({x.states[0]!r}, {x.states[-1]!r}).",
            )
        first, second = x.states
        return (second, first) if _is_yes(first) and not _is_yes(second) else (first, second)
    if isinstance(values, str) or not isinstance(values, Sequence) or len(values) != 2:
        raise InputError(f"values= is a pair (from, to) of values of {x.name!r}, got {values!r}.")
    if not x.is_discrete:
        a, b = (finite(v, f"A value of {x.name!r}") for v in values)
        return a, b
    a, b = (x.states[x.code(v)] for v in values)
    if a == b:
        raise InputError(f"values= compares {a!r} with itself.")
    return a, b


def _outcome(y: Variable, outcome: Any) -> Any:
    if not y.is_discrete:
        if outcome is not None:
            raise InputError(f"{y.name!r} is a number, whose means are compared: no outcome=.")
        return None
    if outcome is not None:
        return y.states[y.code(outcome)]
    if y.arity != 2:
        raise InputError(
            f"{y.name!r} has {y.arity} states: {', '.join(map(str, y.states[:8]))}.",
            hint=f"Say whose probability to compare: outcome={y.states[-1]!r}.",
        )
    first, second = y.states
    return first if _is_yes(first) and not _is_yes(second) else second


def _is_yes(state: Any) -> bool:
    return str(state).casefold() in _YES


def _numbers(found: Identification, schema: Schema, x: str, y: str) -> list[str]:
    """The numbers among what the formula conditions on; an adjustment can have them."""
    needed = {x, *(n for p in found.formula.leaves for n in (*p.given, *p.of))} - {y}
    numbers = [n for n in schema.names if n in needed and not schema[n].is_discrete]
    if numbers and found.adjustment is None:
        raise SchemaError(
            f"The formula {found.formula} goes over states, and {numbers[0]!r} is a number.",
            hint=f"Cut it into intervals first: cr.cut(table, columns=[{numbers[0]!r}]).",
        )
    return numbers


# --- learning -----------------------------------------------------------------------------


def _learned(
    graph: CausalGraph | Pag, found: Identification, rows: Any, x: str, y: str, prior: Any,
    numbers: Sequence[str],
) -> Network:  # fmt: skip
    """The network whose families the formula is made of, learned from the rows."""
    schema = rows.schema
    if found.adjustment is None:
        assert isinstance(graph, CausalGraph)
        of = Admg(graph)
        whole = of.ancestors(sum(1 << graph._at(n) for n in (x, y)), (1 << len(graph)) - 1)
        families = markov_families(graph, whole)
    else:
        z = sorted(found.adjustment, key=lambda n: not schema[n].is_discrete)
        families = {n: tuple(z[:i]) for i, n in enumerate(z)}
        families[x] = () if numbers else tuple(z)
        families[y] = (*z, x)
        if numbers and x not in found.formula.free:
            families[y] = ()  # nothing leads from x to y
    dag = Dag([(p, n) for n, parents in families.items() for p in parents], list(families))
    net: Network = fit(dag, rows, prior=prior)
    return net


def _skipped(net: Network) -> list[float]:
    return [float(d.learned.observed.skipped) for d in net.distributions.values() if d.learned]


# --- beside the effect --------------------------------------------------------------------


def _beside(
    net: Network, done: Evaluation, x: str, y: str, at: tuple[int, int], to: int
) -> dict[str, Any]:
    """What is seen, how far it lies from what is set, and what causation is bounded by."""
    shape = (net.variable(x).arity, net.variable(y).arity)
    joint = np.asarray(posterior(request(net, {}, (x, y))).p).reshape(shape)
    weight = joint.sum(axis=1, keepdims=True)
    seen = np.divide(joint, weight, where=weight > 0, out=np.zeros(shape))
    plain = (float(seen[at[0], to]), float(seen[at[1], to]))
    return {"plain": plain, "at": at, **compared_tables(joint, done.value, to)}


def _seen(net: Network, x: str, y: str, pair: tuple[Any, Any], state: Any) -> tuple[float, float]:
    out = []
    for value in pair:
        found = posterior(request(net, {x: value}, (y,)))
        out.append(float(found.mean) if state is None else float(found[state]))
    return out[0], out[1]
