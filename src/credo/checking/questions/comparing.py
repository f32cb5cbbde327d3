"""Comparing models: their graphs, edge by edge, and how probable each finds the same rows.

SHD between the graphs' classes;   mean ln P(row) of each, and paired differences with their
standard error, row by row
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from credo.checking.again.folds import (
    Judge,
    deal,
    judges_of,
    learned_again,
    learned_from,
    learner_of,
    quiet,
    rows_for,
    scored_by,
)
from credo.checking.again.row_scores import (
    HEAD,
    Score,
    Scored,
    best_first,
    copies,
    score_cells,
    weights_of,
    who_is_best,
)
from credo.checking.findings import Finding, Section
from credo.core.errors import CredoError, InputError
from credo.core.render import number
from credo.model.graphs.compare import Comparison, compare_graphs, sets_of
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.model.values.randomness import Rng
from credo.model.values.reals import shown
from credo.model.values.value import View

__all__ = ["ModelComparison", "compare", "compare_models"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ModelComparison(Section):
    """How models differ: in their graphs, and on rows.

    `distances[a, b]` is the structural Hamming distance of two graphs, `graphs[a, b]` compares
    them edge by edge. `scores` has the score of each on the rows, best first, with how far it is
    behind the best; it is empty without rows.
    """

    names: tuple[str, ...]
    distances: Mapping[tuple[str, str], int]
    graphs: Mapping[tuple[str, str], Comparison] = field(metadata={"json": False})
    parameters: Mapping[str, int]
    scores: tuple[Score, ...] = ()
    how: Mapping[str, str] = field(default_factory=dict)
    rows: float = 0.0

    @property
    def best(self) -> Score:
        """The model with the best score on the rows."""
        if not self.scores:
            raise InputError("No rows were given, so no model is best.", hint="Give data=.")
        return self.scores[0]

    def _view(self) -> View:
        if self.scores:
            rows = [
                [s.name, f"{self.parameters.get(s.name, 0):,}", *score_cells(s, "" if k else None)]
                for k, s in enumerate(self.scores)
            ]
            head = ["model", "parameters", *HEAD]
            title = f"{len(self.names)} models on {self.rows:,.6g} rows"
        else:
            rows = [[n, f"{self.parameters.get(n, 0):,}"] for n in self.names]
            head, title = ["model", "parameters"], f"{len(self.names)} models"
        said = [f"SHD({a}, {b}) = {d}" for (a, b), d in self.distances.items()]
        said += [f"{n}: {how}" for n, how in self.how.items() if how]
        said += [f"{s.name} rules out {number(s.impossible)} rows" for s in self.scores
                 if s.impossible]  # fmt: skip
        return View(title, head, rows, tuple(range(1, len(head))), "; ".join(said))

    def __str__(self) -> str:
        text = Section.__str__(self)
        for (a, b), graph in self.graphs.items():
            text += f"\n\n{a} → {b}, edge by edge\n{graph}"
        return text

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "version": 1,
            "models": [{"name": n, "parameters": self.parameters.get(n, 0)} for n in self.names],
            "graphs": [
                {
                    "first": a, "second": b, "shd": d,
                    **{
                        kind: [list(e) for e in getattr(self.graphs[a, b], kind)]
                        for kind in ("shared", "reversed", "missing", "extra")
                    },
                }
                for (a, b), d in self.distances.items()
            ],
            "rows": self.rows,
            "scores": [s.to_dict() for s in self.scores],
            "how": dict(self.how),
        }  # fmt: skip

    def findings(self) -> list[Finding]:
        """Which model does best, and by how much."""
        said = "{best} finds the rows more probable than {second} by {by}."
        return who_is_best("compare", self.scores, said)


def compare(
    models: Any,
    other: Any = None,
    *,
    data: Any = None,
    interventions: Any = None,
    folds: int = 10,
    rng: Rng = 0,
    weights: Any = None,
) -> Comparison | ModelComparison:
    """Compare graphs or networks: edge by edge, and on rows.

    Two graphs (networks, or texts such as "[A][B|A]") are compared edge by edge: SHD, shared,
    reversed, missing and extra edges; in a notebook both are drawn with their edges coloured.

    Several, as a mapping from name to model or as a list, or two with `data`, are set side by side.
    On rows a network is judged as it is, unless it was learned from these very rows: then its
    parameters are learned again without each fold, and its graph where its record says that it was
    searched for. A graph is learned on the other folds.

    SHD is the distance between classes of graphs that rows cannot tell apart. `interventions` lists
    the sets of variables that experiments set, which make the classes smaller; by default they are
    those of the rows that the networks were learned from.

    >>> import credo as cr
    >>> print(cr.compare("[A][B|A][C|A:B]", "[B][A|B][C|B]"))
    SHD       1
    shared    1  B → C
    reversed  1  A → B
    missing   1  A → C
    extra     0
    >>> graphs = {"chain": "[A][B|A][C|B]", "fork": "[B][A|B][C|B]", "v": "[A][C][B|A:C]"}
    >>> found = cr.compare(graphs)
    >>> found.distances["chain", "fork"], found.distances["chain", "v"]
    (0, 2)
    >>> cr.compare("[A][B|A]", "[B][A|B]", interventions=[["A"]]).shd  # does B move with A?
    1
    """
    if isinstance(models, (Mapping, list, tuple)):
        rows = other if data is None else data
        return compare_models(models, rows, folds, rng, weights, interventions)
    if data is None:
        return compare_graphs(models, other, interventions)
    return compare_models([models, other], data, folds, rng, weights, interventions)


def compare_models(
    models: Mapping[str, Any] | Sequence[Any],
    data: Any,
    folds: int,
    rng: Rng,
    weights: Any,
    interventions: Any = None,
) -> ModelComparison:
    """Several models side by side; see `compare`."""
    named = _named(models)
    graphs = {n: m if isinstance(m, Dag) else m.dag for n, m in named.items()}
    names = tuple(named)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    same = [(a, b) for a, b in pairs if set(graphs[a].nodes) == set(graphs[b].nodes)]
    if not same and data is None:
        a, b = pairs[0]
        graphs[a].compare(graphs[b])  # refuses, and says which nodes differ
    sets = sets_of(named.values(), interventions)
    edge_by_edge = {(a, b): graphs[a].compare(graphs[b], interventions=sets) for a, b in same}
    distances = {pair: found.shd for pair, found in edge_by_edge.items()}
    size = {n: m.free_parameters for n, m in named.items() if isinstance(m, Network)}
    if data is None:
        return ModelComparison(names, distances, edge_by_edge, size)
    scores, how, rows = _on_rows(named, data, folds, rng, weights)
    return ModelComparison(names, distances, edge_by_edge, size, scores, how, rows)


def _named(models: Any) -> dict[str, Network | Dag]:
    if isinstance(models, Mapping):
        given = {str(n): m for n, m in models.items()}
    elif isinstance(models, (list, tuple)):
        given = {f"model {i + 1}": m for i, m in enumerate(models)}
    else:
        raise InputError(f"Give the models as a mapping by name or a list, got {shown(models)}.")
    if len(given) < 2:
        raise InputError(f"Two models or more are compared, got {len(given)}.")
    out: dict[str, Network | Dag] = {}
    for name, model in given.items():
        found = Dag.parse(model) if isinstance(model, str) else model
        if not isinstance(found, (Network, Dag)):
            raise InputError(f"A model is a Network, a Dag or a text, got {shown(model)}.")
        out[name] = found
    return out


def _on_rows(
    named: dict[str, Network | Dag], data: Any, folds: int, rng: Rng, weights: Any
) -> tuple[tuple[Score, ...], dict[str, str], float]:
    nets = [m for m in named.values() if isinstance(m, Network)]
    if nets:
        widest = max(nets, key=lambda m: len(m.names))
        table = rows_for(widest, data, None, weights)
    else:
        from credo.checking.again.folds import without_weightless
        from credo.data import Stream, Table, read

        got = data if isinstance(data, Table) else read(data, None, weights)
        table = without_weightless(got.load() if isinstance(got, Stream) else got)
    columns = set(table.schema.names)
    for name, model in named.items():
        nodes = set(model.dag.nodes if isinstance(model, Network) else model.nodes)
        if nodes & columns != columns or (isinstance(model, Dag) and nodes != columns):
            if isinstance(model, Dag) and nodes < columns and not nets:
                table = table.select([n for n in table.schema.names if n in nodes])
                columns = set(table.schema.names)
                continue
            odd = sorted(nodes ^ columns)[:6]
            raise InputError(
                f"{name} and the rows have different variables: {', '.join(map(repr, odd))}.",
                hint="Models are compared on the probability of the same cells.",
            )
    table, _ = copies(table)
    parts = deal(len(table), folds, rng)
    every = weights_of(table)
    found: dict[str, Scored] = {}
    how: dict[str, str] = {}
    with quiet():
        for name, model in named.items():
            judges = [Judge(model, np.arange(len(table)))] if isinstance(model, Network) else []
            if isinstance(model, Dag) or learned_from(model, table):
                try:
                    how[name] = f"learned again in {len(parts)} folds"
                    if isinstance(model, Dag):
                        judges = list(judges_of(learner_of(model)[1], table, parts, name))
                    else:
                        again = learned_again(model, table, parts)
                        judges = again.judges
                        if again.graph_again or again.chosen:
                            how[name] = again.how
                except CredoError:
                    if isinstance(model, Dag):
                        raise
                    how[name] = "judged on rows it was learned from"
            found[name] = scored_by(judges, table)
    return best_first(found, every), how, float(every.sum())
