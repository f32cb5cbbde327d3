"""What `model.json` says of a posterior over graphs: variables, families, graphs, edges, record.

Version 2; every family is a node as in a network's file (`archive_model.py`). Graphs are rows of
numbers of families.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.schema import Variable
from credo.formats.archive_model import (
    Arrays,
    array_said,
    local_of,
    local_said,
    record_of,
    record_said,
    take,
    variable_said,
    variables_of,
)
from credo.formats.reading import Reading
from credo.model.structures.structure_posterior import StructurePosterior
from credo.model.values.record import Record

VERSION = 2
KIND = "structure posterior"


def posterior_said(post: StructurePosterior) -> tuple[dict[str, Any], list[bytes]]:
    """What `model.json` holds, and the arrays in their order."""
    arrays: list[bytes] = []

    def array(values: Any) -> dict[str, Any]:
        return array_said(np.asarray(values, dtype=np.float64), arrays)

    families = [local_said(local, array) for local in post.families]
    at = {n: i for i, n in enumerate(post.names)}
    sets = [
        {"child": child, "parents": [[at[p] for p in s] for s, _ in found],
         "p": array([p for _, p in found])}
        for child, found in post.parent_sets.items()
    ]  # fmt: skip
    return {
        "format": "credo",
        "version": VERSION,
        "kind": KIND,
        "variables": [variable_said(v) for v in post.variables],
        "families": families,
        "sets": sets,
        "members": array(post.members),
        "weights": array(post.weights),
        "log_weights": array(post.log_weights),
        "draws": array(post.draws),
        "edges": array(post.edge_p),
        "errors": array(post.edge_error),
        "paths": None if post.path_p is None else array(post.path_p),
        "record": record_said(post.record),
    }, arrays


def structures_of(model: dict[str, Any], data: bytes, reading: Reading) -> StructurePosterior:
    """The posterior that `model.json` and the arrays describe, checked."""
    variables = variables_of(take(model, "variables", list, "model.json"), reading)
    names = list(variables)
    arrays = Arrays(data, reading)
    nodes = take(model, "families", list, "model.json")
    for node in nodes:
        if take(node, "name", str, "A family") not in variables:
            raise InputError("A family of the file is of a variable that it does not have.")
    families = tuple(local_of(node, variables, arrays) for node in nodes)
    sets = dict(_sets(s, variables, arrays) for s in take(model, "sets", list, "model.json"))
    n = len(names)
    members = _whole(arrays.take(model.get("members"), "The graphs"), len(families), "graph")
    weights = arrays.take(model.get("weights"), "The weights")
    logs = arrays.take(model.get("log_weights"), "The weights")
    draws = _whole(arrays.take(model.get("draws"), "The draws"), len(members), "draw")
    edges, errors = (arrays.take(model.get(k), "The edges") for k in ("edges", "errors"))
    paths = None if model.get("paths") is None else arrays.take(model["paths"], "The paths")
    arrays.done()
    record = record_of(model.get("record"))
    children = np.array([names.index(f.child.name) for f in families], dtype=np.int64)
    if members.ndim != 2 or members.shape[1] != n or not len(members) or draws.ndim != 2:
        raise InputError("The graphs are not ones of the variables.")
    if not (children[members] == np.arange(n)).all():
        raise InputError("A graph has a family of another variable.")
    for what, found in (("weights", weights), ("log_weights", logs)):
        if found.shape != (len(members),) or not np.isfinite(found).all():
            raise InputError(f"The {what} of the graphs are not a number each.")
    if not (weights >= 0).all() or abs(float(weights.sum()) - 1) > 1e-9:
        raise InputError("The weights of the graphs do not add up to 1.")
    for found in (edges, errors, *([] if paths is None else [paths])):
        if found.shape != (n, n) or not ((found >= 0) & (found <= 1)).all():
            raise InputError("The probabilities of the edges are not ones of the variables.")
    post = StructurePosterior(
        tuple(variables.values()), families, members, weights, logs, draws, edges, errors, paths,
        sets, record or Record("read from a file"),
    )  # fmt: skip
    if np.trace(post._reach, axis1=1, axis2=2).any():
        raise InputError("A graph of the file has a cycle.")
    return post


def _whole(values: NDArray[np.float64], below: int, what: str) -> NDArray[np.int32]:
    if not ((values >= 0) & (values < max(below, 1)) & (values == np.floor(values))).all():
        raise InputError(f"A {what} of the file names what is not there.")
    return values.astype(np.int32)


def _sets(said: Any, variables: dict[str, Variable], arrays: Arrays) -> tuple[str, Any]:
    names = list(variables)
    child = take(said, "child", str, "The sets of parents")
    parents = take(said, "parents", list, "The sets of parents")
    p = arrays.take(said.get("p"), "The sets of parents").tolist()
    known = range(len(names))
    fits = child in variables and isinstance(p, list) and len(p) == len(parents)
    if not fits or any(not isinstance(s, list) or any(i not in known for i in s) for s in parents):
        raise InputError("The sets of parents are not ones of the variables.")
    pairs = zip(parents, p, strict=True)
    return child, tuple((tuple(names[i] for i in s), float(x)) for s, x in pairs)
