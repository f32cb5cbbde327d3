"""Baselines: models that every model should beat, learned from the same rows.

Independent columns know no relation; the best tree knows one for each variable; the saturated
model knows every one, and is learned only where its table has room in the rows there are.
"""

from __future__ import annotations

from math import inf, prod

import numpy as np

from credo.checking.again.learners import Learner, has_gaps, whole_or_stop
from credo.data import Table
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.model.networks.priors import BDeu
from credo.train.em.fit import em_until
from credo.train.parameters.parameters import fit
from credo.train.structure.learning import searched

__all__ = ["baselines_of"]

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
