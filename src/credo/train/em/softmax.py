"""A softmax among the families of EM: where the rows have all of it, it is learned beside EM.

    ln P(rows | θ) = Σ_rows ln P(x | u, y, b)  +  ln P(rows | θ, x a root of its own)

where u and y are observed in every row, and x too or else a leaf, whose gaps sum to 1. So `b` has
its maximum by itself, and EM goes through the graph without the edges into x.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from credo.core.errors import InputError
from credo.data import Stream, Table
from credo.model.graphs.dag import Dag
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network
from credo.train.parameters.softmax_families import (
    fit_softmax,
    is_softmax,
    ridge_of,
    softmax_item,
)

__all__ = ["beside_softmax", "softmax_names"]


def softmax_names(dag: Dag, source: Any, fixed: Collection[str]) -> list[str]:
    """The states of a table with a number among their parents."""
    if not isinstance(source, (Table, Stream)):
        return []
    schema, out = source.schema, []
    for name in dag.nodes:
        if name in schema and name not in fixed:
            parents = [schema[p] for p in dag.parents(name) if p in schema]
            out += [name] if is_softmax(schema[name], parents) else []
    return out


def beside_softmax(
    dag: Dag,
    rows: Table | Stream,
    names: list[str],
    priors: Mapping[str, Any],
    start: Any,
    run: Callable[[Dag, Any, dict[str, Cpt]], Network],
) -> Network:
    """The network of EM by `run(graph, start, fixed)` and the softmax families of some names."""
    tally = rows.tally([n for n in dag.nodes if n in rows.schema])
    gaps = [n for n in dag.nodes if n not in rows.schema or tally[n].skipped > 0]
    uniform, locals_, items, more = {}, {}, {}, 0.0
    for name in names:
        parents = dag.parents(name)
        wrong = [p for p in (*parents, name) if p in gaps and (p != name or dag.children(name))]
        if wrong:
            number = next(p for p in parents if not rows.schema[p].is_discrete)
            raise InputError(
                f"EM learns the softmax of {name!r} from rows that have all of it, and "
                f"{wrong[0]!r} has missing cells.",
                hint=f"Give numbers={{{number!r}: 'binned'}}, in which any cell may be missing.",
            )
        child, above = rows.schema[name], tuple(rows.schema[p] for p in parents)
        locals_[name], told = fit_softmax(child, above, rows, ridge_of(priors[name]))
        items[name] = softmax_item(locals_[name], told)
        uniform[name] = Cpt(child, (), np.full(child.arity, 1 / child.arity))
        more += told["log_likelihood"] + told["rows"] * np.log(child.arity)
    below = Dag([(a, b) for a, b in dag.edges if b not in uniform], dag.nodes)
    if isinstance(start, Network):
        start = Network.trusted(below, {**start.distributions, **uniform}, start.record)
    net = run(below, start, uniform)
    record = net.record
    assert record is not None and record.score is not None
    families = tuple(items.get(item["child"], item) for item in record.details["families"])
    details = {**record.details, "families": families}
    details["log_likelihood"] = record.details["log_likelihood"] + more
    record = replace(
        record, score=record.score + more, trace=tuple(t + more for t in record.trace),
        details=details,
    )  # fmt: skip
    return Network.trusted(dag, {**net.distributions, **locals_}, record)
