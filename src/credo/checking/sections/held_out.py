"""Held-out likelihood: how probable the model finds rows that it was not learned from.

    mean ln P(row)  beside that of independent columns, the best tree, and the saturated model

In nats and bits a row, with standard errors; the differences are paired, row by row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.checking.again.folds import (
    Again,
    Learner,
    has_gaps,
    judges_of,
    scored_by,
    whole_or_stop,
)
from credo.checking.again.row_scores import (
    BITS,
    HEAD,
    Score,
    Scored,
    difference,
    score_cells,
    score_of,
    weights_of,
)
from credo.checking.findings import Finding, Section, pick
from credo.core.errors import CredoError
from credo.core.render import number
from credo.data import Table
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.model.networks.priors import BDeu
from credo.model.values.value import View
from credo.train.em.fit import em_until
from credo.train.parameters.parameters import fit
from credo.train.structure.searching import searched

__all__ = ["LEAST", "HeldOut", "baselines_of", "held_out"]

LEAST = 0.01
"""A lead of fewer bits a row is none, however sure it is."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HeldOut(Section):
    """The score of the model and of each baseline on rows they have not seen.

    `how` says how the rows were held out; `model` is the model's score, `baselines` the others'.
    `chosen` says why the model's graph, chosen with these very rows, was not chosen again without
    them; it is empty where the rows are new to graph and parameters alike.
    """

    how: str
    model: Score
    baselines: tuple[Score, ...]
    left_out: dict[str, str]
    chosen: str = ""
    alone: bool = False
    """Whether the graph of the model has no edge."""

    def __getitem__(self, name: str) -> Score:
        return pick((self.model, *self.baselines), "name", name, "Baseline", "in the report")

    def _view(self) -> View:
        rows = [[self.model.name, *score_cells(self.model, None)]]
        rows += [[b.name, *score_cells(b, "+")] for b in self.baselines]
        notes = [f"{name}: left out ({why})" for name, why in self.left_out.items()]
        if self.model.impossible:
            notes.insert(0, f"{number(self.model.impossible)} rows that the model rules out are "
                            "not in its mean")  # fmt: skip
        if self.model.unknown:
            notes.append(f"{number(self.model.unknown)} rows could not be scored exactly")
        return View(f"held-out log-likelihood: {self.how}", ["model", *HEAD], rows, (1, 2, 3, 4, 5),
                    "; ".join(notes))  # fmt: skip

    def findings(self) -> list[Finding]:
        """Whether the model rules rows out, and whether it beats the baselines."""
        out = []
        m = self.model
        rows = "On rows that its graph was chosen with" if self.chosen else "On rows not seen"
        if m.impossible:
            share = m.impossible / m.rows
            out.append(
                Finding(
                    "held_out",
                    f"The model rules out {number(m.impossible)} of {number(m.rows)} rows "
                    f"({share:.2%}): it gives them probability zero.",
                    m.impossible,
                    "problem",
                    "Learn the parameters with a prior, such as prior=cr.BDeu(1).",
                    "held-out rows",
                    1e6 * share,
                )
            )
        for b in self.baselines:
            z = b.lead / max(b.lead_error, LEAST / BITS / 2)
            if self.alone and b.name == "independent columns" and z >= -2:
                out.append(
                    Finding(
                        "held_out",
                        "The graph has no edge: the model is that of independent columns.",
                        b.lead * BITS,
                        "note",
                        _UNRELATED,
                        b.name,
                    )
                )
                continue
            said = f"{abs(b.lead) * BITS:.3g} ± {b.lead_error * BITS:.2g} bits a row"
            if z < -2:
                simpler = b.name == "independent columns"
                out.append(
                    Finding(
                        "held_out",
                        f"{rows} the model does worse than {the(b.name)} by {said}.",
                        b.lead * BITS,
                        "problem" if z < (-3 if simpler else -4) else "warning",
                        _advice(b.name),
                        b.name,
                        -z,
                    )
                )
            elif b.name == "independent columns":
                if z > 2:
                    out.append(
                        Finding(
                            "held_out",
                            f"{rows} the model beats {the(b.name)} by {said}.",
                            b.lead * BITS,
                            "note" if self.chosen else "good",
                            _FLATTERED if self.chosen else "",
                            b.name,
                            z,
                        )
                    )
                elif m.rows > 1:
                    out.append(
                        Finding(
                            "held_out",
                            f"{rows} the model does no better than {the(b.name)} "
                            f"({b.lead * BITS:+.3g} ± {b.lead_error * BITS:.2g} bits a row).",
                            b.lead * BITS,
                            "warning" if abs(b.lead) > 1e-9 else "note",
                            _UNRELATED,
                            b.name,
                            2 - z,
                        )
                    )
        return out


_UNRELATED = "The columns may be unrelated, or the rows too few to tell."
_FLATTERED = "That flatters it, and proves nothing: judge it by rows kept aside."


def the(name: str) -> str:
    """A baseline in a sentence."""
    said = {"best tree": "the best tree", "saturated": "the saturated model"}
    return said.get(name, name)


def _advice(name: str) -> str:
    if name == "independent columns":
        return "It fits noise: use fewer parents, a larger prior, or more rows."
    if name == "best tree":
        return "Search for another graph, or take the tree: cr.learn(rows, search='chow-liu')."
    return "Relations are missing: allow more parents, or search with another score."


def held_out(
    table: Table, scored: Scored, who: Again, parts: list[NDArray[np.intp]], alone: bool
) -> HeldOut | str:
    """The section: the baselines are learned on the folds of the same rows; or why there is none,
    which is so if not one of them can be.
    """
    weights = weights_of(table)
    model = score_of("the model", scored, weights)
    learners, why = baselines_of(table)
    baselines: list[Any] = []
    for label, learner in learners.items():
        try:
            found = scored_by(list(judges_of(learner, table, parts, label)), table)
        except CredoError as error:
            why[label] = error.message.rstrip(".")
            continue
        score = score_of(label, found, weights)
        lead, lead_error = difference(scored, found, weights)
        baselines.append(replace(score, lead=lead, lead_error=lead_error))
    if not baselines:
        return next(why[label] for label in learners)
    return HeldOut(who.how.rstrip("."), model, tuple(baselines), why, who.chosen, alone)


# --- Baselines: models that every model should beat, learned from the same rows.
# Independent columns know no relation; the best tree knows one for each variable; the saturated
# model knows every one, and is learned only where its table has room in the rows there are.

MAX_CELLS = 100_000
"""The saturated model is learned up to this many cells."""
MAX_TREE = 300
"""A tree is searched for up to this many variables."""


def baselines_of(table: Table) -> tuple[dict[str, Learner], dict[str, str]]:
    """The learners that go with a table, and why others are left out."""
    names, variables = table.schema.names, table.schema.variables
    out: dict[str, Learner] = {"independent columns": lambda rows: _fit(Dag.empty(names), rows)}
    why: dict[str, str] = {}
    if len(names) > MAX_TREE:
        why["best tree"] = f"{len(names):,} variables; at most {MAX_TREE} are tried"
    elif len(names) > 1:
        out["best tree"] = _tree
    discrete = [v for v in variables if v.is_discrete]
    cells = prod(v.arity for v in discrete)
    if len(discrete) < len(variables) and discrete:
        why["saturated"] = "discrete and continuous variables together"
    elif not discrete and len(names) * 5 > table.block.weight:
        why["saturated"] = f"{len(names):,} columns need more than {table.block.weight:,} rows"
    elif cells > MAX_CELLS:
        why["saturated"] = f"its table would have {cells:,} cells"
    elif has_gaps(table):
        why["saturated"] = "cells are missing"
    elif len(names) > 2:
        full = Dag([(a, b) for i, b in enumerate(names) for a in names[:i]], names)
        out["saturated"] = lambda rows: _fit(full, rows)
    return out, why


def _fit(dag: Dag, rows: Table) -> Network:
    net: Network = fit(dag, rows, BDeu(1))
    return net


def _tree(rows: Table) -> Network:
    lines = any(not v.is_discrete for v in rows.schema.variables)
    seen = rows
    if lines and has_gaps(rows):  # the tree from the rows that are whole, its parameters from all
        gone = [a == v.arity if v.is_discrete else np.isnan(a)
                for v, a in zip(rows.schema.variables, rows.block.arrays, strict=True)]  # fmt: skip
        seen = rows.take(~np.any(gone, axis=0))
    score = "bic" if lines or has_gaps(rows) else "bdeu"
    found = searched(seen, score, "chow-liu")
    whole_or_stop(found.record)
    dag = Dag(found.dag.edges, rows.schema.names)
    if has_gaps(rows):
        return em_until(inf, dag, rows, BDeu(1), tol=1e-3, max_iter=30, told=False)
    return _fit(dag, rows)
