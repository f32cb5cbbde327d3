"""What `em` is asked for, checked and made ready: variables, rows folded, priors, starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from credo.core.errors import InputError, LimitError, SchemaError, unknown_name
from credo.core.schema import MAX_STATES, Schema, Variable
from credo.core.threads import checked_threads
from credo.data import Stream, Table, read
from credo.model.graphs.dag import Dag
from credo.model.networks.count_table import counts
from credo.model.networks.line_prior import LinePrior
from credo.model.networks.network import Network
from credo.model.values.reals import shown
from credo.stats.block import Block
from credo.stats.moments import Moments
from credo.train.em.e_step import EStep
from credo.train.em.experiments import SetSteps, parameters_of
from credo.train.em.far_step import e_step_of
from credo.train.em.layout import Layout, Parameters
from credo.train.em.maximise import Belief, NetworkEM
from credo.train.parameters import parameters
from credo.train.parameters.experiments import Experiments, experiments
from credo.train.parameters.pooled_lines import settled, with_main_effects
from credo.train.parameters.tied import groups_of
from credo.train.parameters.told import schema_with

__all__ = ["Setup", "opened", "prepared", "start_of"]


_FIRST = 1 << 14  # rows of a source that starts are drawn from


@dataclass(frozen=True)
class Setup:
    """Everything a run needs."""

    graph: Dag
    em: NetworkEM
    hidden: tuple[str, ...]  # never observed
    unnamed: tuple[str, ...]  # of these, the ones whose states have no names of their own
    priors: Mapping[str, str]  # in words
    sample: Table | None  # some rows, to draw starts from
    source: str


def prepared(
    graph: Any,
    source: Any,
    prior: Any,
    *,
    start: Any,
    hidden: Any,
    default: Any,
    estimate: str | None,
    fixed: Any,
    tied: Any,
    weights: Any,
    schema: Any,
    threads: int | None,
    intervened: Any = None,
    soft: bool = False,
    stack: ExitStack | None = None,
) -> Setup:
    """Read and check everything, and fold the rows; what an engine keeps of them is let go by
    `stack`."""
    stack = ExitStack() if stack is None else stack
    like = graph if isinstance(graph, Network) else None
    told: Any
    if isinstance(source, Experiments):
        told = source
    else:
        schema = schema_with(source, schema, intervened)
        rows = opened(graph, source, start, fixed, hidden, weights, schema)
        told = experiments(rows, intervened, soft)
    rows = told.table if isinstance(told, Experiments) else told
    graph = parameters._graph(graph)
    known, given = _known(graph, like, start, fixed), _hidden(hidden, graph)
    variables = _variables(graph, rows, known, given)
    families = [(n, graph.parents(n)) for n in graph.nodes]
    parameters._check(families, variables)
    held = parameters._fixed(graph, variables, fixed, like)
    together = groups_of(tied, graph, variables, held)
    chosen = parameters._priors(prior, default, graph)
    layout = Layout([(variables[n], tuple(variables[p] for p in above)) for n, above in families])
    beliefs, said = [], {}
    for child, above in layout.families:
        own = chosen[child.name]
        belief = None if child.name in held else parameters._belief(own, child, above)
        how = parameters._estimate(estimate, belief, child, False)
        said[child.name] = parameters._said(own, belief, above)
        beliefs.append(Belief.of(belief, how))
    if estimate in ("mean", "map") and all(b.prior is None for b in beliefs):
        raise InputError(
            f"estimate={estimate!r} needs a prior.",
            hint="Give one, such as prior=cr.BDeu(1), or use estimate='mle'.",
        )
    seen = [n for n in graph.nodes if n in rows.schema]
    beliefs = _with_numbers(beliefs, layout, rows, seen)
    scales = _shared(_scales(rows, variables, seen), together, layout)
    workers = checked_threads(threads)
    if isinstance(told, Experiments):
        e_step: EStep
        e_step = sets = SetSteps(layout, told, seen, scales, workers, stack)
        beliefs += [_free(layout.names[i], beliefs[i], held, together) for i in sets.softly]
    else:
        e_step = e_step_of(layout, rows, seen, scales, workers, stack)
    never = tuple(n for n in graph.nodes if e_step.gaps[n] >= e_step.weight * (1 - 1e-12))
    unnamed = tuple(n for n in never if isinstance(given.get(n), int))
    sample = rows if isinstance(rows, Table) else rows.take(np.arange(min(len(rows), _FIRST)), seen)
    for name in graph.nodes:
        if counts(variables[name]) and not e_step.marginals[name].any():
            raise InputError(f"{name!r} counts, and no row has a number of it.")
    em = NetworkEM(e_step, beliefs, held, together)
    return Setup(graph, em, never, unnamed, said, sample, str(rows.schema.source))


def _free(name: str, belief: Belief, held: Any, together: Any) -> Belief:
    """The prior of a family that an experiment changes; it is that of the family elsewhere."""
    if name in held or name in together:
        raise InputError(
            f"A soft experiment changes the table of {name!r}, which is fixed= or tied=.",
            hint="Leave it out there, or leave out the rows of the experiment.",
        )
    return belief


def opened(
    graph: Any,
    source: Any,
    start: Any,
    fixed: Any,
    hidden: Any,
    weights: Any,
    schema: Any,
    **_: Any,
) -> Table | Stream:
    """The rows, with the states that the graph, the start and fixed= know."""
    dag = parameters._graph(graph)
    given = _hidden(hidden, dag)
    known = _known(dag, graph if isinstance(graph, Network) else None, start, fixed)
    if not isinstance(source, (Table, Stream)) or weights is not None or schema is not None:
        if hasattr(source, "families") and hasattr(source, "rows"):
            raise InputError("EM needs the rows themselves; a tally has lost their gaps.")
        source = read(source, schema, weights)
    own: Table | Stream = source
    other = {
        n: v for n, v in known.items() if n not in given and n in own.schema and own.schema[n] != v
    }
    if not other:
        return own
    wanted = Schema(
        tuple(other.get(v.name, v) for v in own.schema.variables), source=own.schema.source
    )
    if isinstance(own, Stream):
        return replace(own, schema=wanted)
    again = read(own.to("arrow"), wanted)
    assert isinstance(again, Table)
    again_as = replace(again.schema, source=own.schema.source)
    return Table(Block(again_as, again.block.arrays, own.weights))


def _known(graph: Dag, like: Network | None, start: Any, fixed: Any) -> dict[str, Variable]:
    """The variables that are known before a row is read."""
    known = parameters._known_variables(graph, fixed)
    for net in (like, start if isinstance(start, Network) else None):
        if net is not None:
            known |= {v.name: v for v in net.variables if v.name in graph.nodes}
    return known


def _hidden(hidden: Any, graph: Dag) -> dict[str, Any]:
    if hidden is None:
        return {}
    if not isinstance(hidden, Mapping):
        raise InputError(
            f"hidden= is a mapping from variable to its number of states, got {shown(hidden)}."
        )
    for name in hidden:
        if name not in graph.nodes:
            raise unknown_name("The hidden variable", name, graph.nodes, "in the graph")
    return dict(hidden)


def _hidden_variable(name: str, given: Any) -> Variable:
    if given == "continuous":
        return Variable(name, "continuous")
    if isinstance(given, Variable):
        return Variable(name, given.kind, given.states)
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        if given < 2:
            raise InputError(f"The hidden variable {name!r} needs 2 states or more, got {given}.")
        if given > MAX_STATES:
            raise LimitError(
                f"The hidden variable {name!r} has {given:,} states; at most {MAX_STATES:,} are "
                "allowed."
            )
        return Variable(name, "discrete", tuple(range(int(given))))
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes)):
        return Variable(name, "discrete", tuple(given))
    raise InputError(
        f"The hidden variable {name!r} needs its number of states, a list of them, or "
        f"'continuous', got {shown(given)}."
    )


def _variables(
    graph: Dag,
    rows: Table | Stream,
    known: Mapping[str, Variable],
    given: Mapping[str, Any],
) -> dict[str, Variable]:
    out: dict[str, Variable] = {}
    for name in graph.nodes:
        if name in rows.schema:
            if name in given:
                raise InputError(
                    f"{name!r} is hidden= but the table has it as a column.",
                    hint="hidden= is for variables that were never observed; leave it out here.",
                )
            out[name] = rows.schema[name]
        elif name in given:
            out[name] = _hidden_variable(name, given[name])
            if name in known and known[name] != out[name]:
                raise SchemaError(
                    f"The states of the hidden variable {name!r} are {list(out[name].states)} in "
                    f"hidden= and {list(known[name].states)} in the model."
                )
        elif name in known:
            out[name] = known[name]
        elif name in rows.schema.set_aside:
            rows.schema.index(name)  # refuses it, with the reason and what to do
        else:
            error = unknown_name("Variable", name, rows.schema.names, "in the table")
            hint = f"If it was never observed, say so: hidden={{{name!r}: 2}} for two states."
            raise type(error)(error.message, hint=f"{error.hint} {hint}")
    if not any(n in rows.schema for n in graph.nodes):
        raise InputError("The table has no column of the graph.")
    return out


def _with_numbers(
    beliefs: Sequence[Belief], layout: Layout, rows: Table | Stream, seen: Sequence[str]
) -> list[Belief]:
    """Hierarchical priors of lines with the numbers of the rows that have all of a family: a prior
    that moved with the expected statistics would let the objective fall.
    """
    families = {
        i: (child.name, [p.name for p in above])
        for i, (child, above) in enumerate(layout.families)
        if not child.is_discrete
        and isinstance(beliefs[i].beside, LinePrior)
        and beliefs[i].beside.like_all  # type: ignore[union-attr]
        and all(v.name in seen for v in (child, *above))
    }
    tally = rows.tally(list(families.values())) if families else {}
    out = []
    for i, belief in enumerate(beliefs):
        line = not layout.families[i][0].is_discrete
        if line and isinstance(belief.beside, LinePrior) and belief.beside.like_all:
            found = tally[families[i]] if i in families else None
            own = LinePrior()
            if isinstance(found, Moments) and belief.estimate != "mle":
                own = with_main_effects(settled(belief.beside, found), found)
            belief = Belief.of(own, belief.estimate)
        out.append(belief)
    return out


def _scales(
    rows: Table | Stream, variables: Mapping[str, Variable], seen: Sequence[str]
) -> dict[str, tuple[float, float]]:
    """Mean and standard deviation of each continuous column."""
    out = {n: (0.0, 1.0) for n, v in variables.items() if not v.is_discrete}
    wanted = [n for n in seen if not variables[n].is_discrete]
    if not wanted:
        return out
    tally = rows.tally(wanted)
    for name in wanted:
        moments = tally[name]
        assert isinstance(moments, Moments)
        if len(moments.n):
            mean, sd = float(moments.mean[0, 0]), float(np.sqrt(moments.variance[0, 0]))
            out[name] = (mean, sd if sd > 0 else max(abs(mean), 1.0))
    return out


def _shared(
    scales: dict[str, tuple[float, float]], groups: Mapping[str, tuple[str, ...]], layout: Layout
) -> dict[str, tuple[float, float]]:
    """Tied lines need the same units: those of the first family of each group."""
    out = dict(scales)
    same = {n: n for n in scales}
    for group in dict.fromkeys(groups.values()):
        first, *rest = (layout.families[layout.at[n]] for n in group)
        for child, parents in rest:
            for a, b in zip((first[0], *first[1]), (child, *parents), strict=True):
                if a.name in same and same[a.name] != same[b.name]:
                    old, new = same[b.name], same[a.name]
                    same = {n: new if root == old else root for n, root in same.items()}
    for name, root in same.items():
        out[name] = scales[root]
    return out


def start_of(setup: Setup, net: Network) -> Parameters:
    """The parameters of a start, which must have the same families."""
    em = setup.em
    for name in setup.graph.nodes:
        child, parents = em.layout.families[em.layout.at[name]]
        if child.name not in net.distributions:
            raise unknown_name("Variable", child.name, net.names, "in the start")
        local = net.distributions[child.name]
        if set(local.parents) != set(parents):
            raise SchemaError(
                f"In the start {child.name!r} has the parents {[p.name for p in local.parents]}, "
                f"in the graph {[p.name for p in parents]}."
            )
    x = parameters_of(em, net)
    return em.with_laws(x, x.theta)
