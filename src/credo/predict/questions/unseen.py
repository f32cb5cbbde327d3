"""Answers that rest on no row: configurations of parents that no training row has.

    weight = P(parents of v = u | evidence),   u without a row

There the table of v holds what was believed before the rows, or is uniform without a prior. An
answer says so if its numbers depend on that table (in the graph, an extra parent of v is not
d-separated from what is asked) and the configuration has some weight given the evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import LimitError
from credo.core.kept import Kept
from credo.core.render import many
from credo.model.graphs.dag import Dag
from credo.model.networks.cpt import Cpt
from credo.predict.exact.engine import engine_of
from credo.predict.mixed.densities import density_tables
from credo.predict.questions.evidence import Evidence

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["unseen_notes"]

LEAST = 0.05
"""Configurations without a row that have less weight in an answer are not worth a word."""
_QUICK = 1e8
"""Multiplications that the note may cost; a larger network is answered without one."""
_NO_ROW = 1e-6  # of a row: expected counts are never quite zero


def unseen_notes(net: Network, evidence: Evidence) -> Callable[[Collection[str]], tuple[str, ...]]:
    """For the variables that an answer is about, its note on configurations without a row."""
    empty = _WITHOUT_ROWS[net]
    if not empty:
        return lambda targets: ()
    heavy = {n: found for n, found in _weights(net, evidence, empty).items() if found[0] >= LEAST}
    return lambda targets: _notes(net, evidence, heavy, targets) if heavy else ()


def _notes(
    net: Network,
    evidence: Evidence,
    heavy: Mapping[str, tuple[float, int]],
    targets: Collection[str],
) -> tuple[str, ...]:
    """The note about the heaviest configuration that the numbers of an answer depend on."""
    graph, asked = _WITH_TABLES[net], list(targets)
    known = [*evidence.hard, *evidence.values]
    used = set(graph.d_connected(asked, known))
    if evidence.soft:  # a report opens what meets at its variable, and blocks nothing
        reported = [n for n in evidence.soft if n not in asked]
        used.update(graph.d_connected(asked, [*known, *reported]))
    found = [(*heavy[n], n) for n in heavy if _table(n) in used]
    if not found:
        return ()
    weight, at, name = max(found)
    local = net.distributions[name]
    parents = [p for p in local.parents if p.is_discrete]
    where = np.unravel_index(at, [p.arity for p in parents])
    pairs = ", ".join(f"{p.name}={p.states[i]}" for p, i in zip(parents, where, strict=True))
    note = f"no row has {pairs}: P({name} | {', '.join(p.name for p in local.parents)}) is "
    note += _held(local)
    note += "" if weight > 0.995 else f" ({weight:.0%} of the answer)"
    note += "" if len(found) == 1 else f"; so in {many(len(found) - 1, 'more table')}"
    return (note,)


def _held(local: Any) -> str:
    """What a distribution holds where no row told it."""
    if not isinstance(local, Cpt):
        pooled = getattr(local.learned.prior, "like_all", 0.0)
        several = sum(p.is_discrete for p in local.parents) > 1
        if pooled and several:
            return "taken there from what each of these does elsewhere"
        return "that of all rows together there"
    return "uniform there" if local.learned.estimate == "mle" else "the prior alone there"  # type: ignore[union-attr]


def _table(name: str) -> str:
    """The node that stands for the numbers of a variable's table."""
    return f"table of {name}"


def _find_without_rows(net: Network) -> dict[str, NDArray[np.bool_]]:
    """For each learned variable with such: which configurations of its parents have no row."""
    found = {}
    for name, local in getattr(net, "distributions", {}).items():
        learned = getattr(local, "learned", None)
        if learned is None or learned.estimate == "fixed":
            continue
        parents = [p for p in local.parents if p.is_discrete]
        if not parents:
            continue
        if isinstance(local, Cpt):
            none = np.asarray(learned.observed.values).sum(axis=-1) < _NO_ROW
        else:
            seen = learned.observed.configurations[learned.observed.n >= _NO_ROW]
            names = [v.name for v in learned.observed.discrete]
            none = np.ones([p.arity for p in parents], dtype=bool)
            none[tuple(seen[:, names.index(p.name)] for p in parents)] = False
        if none.any():
            found[name] = none.ravel()
    return found


def _add_tables(net: Network) -> Dag:
    """The graph with a parent for each table that has configurations without a row."""
    extra = [(_table(n), n) for n in _WITHOUT_ROWS[net]]
    return Dag([*net.dag.edges, *extra], [*net.names, *(t for t, _ in extra)])


_WITHOUT_ROWS = Kept(_find_without_rows)
_WITH_TABLES = Kept(_add_tables)


def _weights(
    net: Network, evidence: Evidence, names: Collection[str]
) -> dict[str, tuple[float, int]]:
    """The posterior weight of each family's configurations without a row, and the heaviest."""
    engine = engine_of(net)
    try:
        if engine.given(evidence.values, evidence.hard) is not engine:
            return {}
        row = engine.row(evidence)
        plan = engine.plan(row.observed, [], soft=row.soft, families=True)
        if plan.flops > _QUICK:
            return {}
        tables, _ = density_tables(engine, evidence)
    except LimitError:
        return {}
    _, _, families = plan.run(tables, row.codes, row.likelihoods, 1)
    sizes = [int(np.prod([engine.arities[v] for v in s])) for s in engine.scopes]
    starts = np.cumsum([0, *sizes])
    out = {}
    for name in names:
        i = engine.at[name]
        cells = families[0, starts[i] : starts[i + 1]].reshape(-1, engine.arities[i]).sum(axis=1)
        none = np.where(_WITHOUT_ROWS[net][name], cells, 0.0)
        out[name] = (float(none.sum()), int(none.argmax()))
    return out
