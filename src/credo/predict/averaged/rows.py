"""Rows of a table under all graphs together.

Rows without gaps are looked up family by family (`joint.py`); rows with gaps are asked one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, unknown_name
from credo.core.schema import Schema
from credo.data import Table
from credo.model.answers.credible import Credible
from credo.model.answers.interval import probability
from credo.model.answers.number_answer import NumberAnswer
from credo.model.networks.count_table import CountTable
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.structures.structure_posterior import StructurePosterior
from credo.model.values.randomness import Rng, generator
from credo.predict.averaged.asking import answer, spread_over
from credo.predict.averaged.joint import NUMBERS, columns_of, log_mean, log_rows
from credo.predict.averaged.parts import parts_of
from credo.predict.exact.posterior import log_evidence
from credo.predict.intervals.draws import dirichlet_rows
from credo.predict.intervals.interval import Predictions
from credo.predict.questions.request import draws_of, enough, request
from credo.predict.rows.rows import family_log, gaps_of, read_rows
from credo.stats.block import Block

__all__ = ["log_likelihood", "predict_proba"]

Floats = NDArray[np.float64]


def log_likelihood(post: StructurePosterior, rows: Any) -> float:
    """Σ weight · ln P(row), each row averaged over the graphs."""
    table = read_rows(post.best, rows)
    each = np.empty(len(table))
    whole = ~gaps_of(post.best, table).any(axis=1)
    if whole.any():
        some = table.take(whole)
        slopes = some.log_slopes
        each[whole] = log_rows(post, some) + (0.0 if slopes is None else slopes)
    for i in np.flatnonzero(~whole).tolist():
        given = _given(post, table, i)
        parts = parts_of(post, list(given))
        logs = np.array([log_evidence(request(n, given)) for n in parts.networks])
        each[i] = log_mean(logs[:, None], parts.weights)[0]
    if table.weights is None:
        return float(each.sum())
    seen = table.weights != 0
    return float(each[seen] @ table.weights[seen])


def _given(post: StructurePosterior, table: Table, row: int) -> dict[str, Any]:
    gone = gaps_of(post.best, table.take(slice(row, row + 1)))[0]
    out: dict[str, Any] = {}
    for k, v in enumerate(post.best.variables):
        if not gone[k]:
            cell = table.block.arrays[table.schema.index(v.name)][row]
            out[v.name] = v.states[int(cell)] if v.is_discrete else float(cell)
            if v.scale is not None:
                out[v.name] = float(table.values(v.name)[row])
    return out


def predict_proba(
    post: StructurePosterior, rows: Any, target: str, *, interval: float | None = None,
    draws: int | None = None, rng: Rng = 0,
) -> Any:  # fmt: skip
    """P(target | the other cells of each row), averaged over graphs and parameters."""
    if target not in post.names:
        raise unknown_name("Variable", target, post.names, "in the posterior")
    v = post.schema[target]
    if not v.is_discrete:
        raise InputError(f"{target!r} is continuous; predict_proba is for discrete variables.")
    table = read_rows(post.best, rows, without=target)
    gone = gaps_of(post.best, table)
    gone[:, post.best.names.index(target)] = False
    whole = ~gone.any(axis=1)
    shape = (len(table), v.arity)
    p, low, high = np.empty(shape), np.empty(shape), np.empty(shape)
    n = draws_of(draws, interval)
    level = None if interval is None else probability(interval)
    if level is not None:
        n = enough(n, level)
    if whole.any():
        filled = [_with(table.take(whole), v, code) for code in range(v.arity)]
        p[whole] = _normal(np.stack([log_rows(post, t) for t in filled], axis=1))
        if level is not None:
            low[whole], high[whole] = _ends(post, filled, level, n, rng)
    for i in np.flatnonzero(~whole).tolist():
        found = answer(
            post, target, _given(post, table, i), interval=interval, draws=draws, rng=rng
        )
        told: Any = found.bins if isinstance(found, NumberAnswer) else found
        p[i] = told.p
        if level is not None:
            low[i], high[i] = told.interval
    return p if level is None else Predictions(p, low, high)


def _with(table: Table, v: Any, code: int) -> Table:
    """The rows with one state of the target in all of them."""
    schema = Schema((*table.schema.variables, v))
    return Table(Block(schema, (*table.block.arrays, np.full(len(table), code, dtype=np.uint16))))


def _normal(logs: Floats) -> Floats:
    """Probabilities along the second axis."""
    p = np.exp(logs - logs.max(axis=1, keepdims=True))
    out: Floats = p / p.sum(axis=1, keepdims=True)
    return out


def _ends(
    post: StructurePosterior, filled: list[Table], level: float, draws: int, rng: Rng
) -> tuple[Floats, Floats]:
    """The ends of the interval over draws of a graph and its parameters."""
    chance = generator(rng)
    seed = int(chance.integers(2**62))
    graphs = np.repeat(np.arange(len(post.weights)), spread_over(post.weights, draws, seed))
    rows, states = len(filled[0]), len(filled)
    low, high = np.empty((rows, states)), np.empty((rows, states))
    step = max(NUMBERS // (draws * states), 1)
    for start in range(0, rows, step):
        columns = [columns_of(t.take(slice(start, start + step))) for t in filled]
        size = len(next(iter(columns[0].values())))
        logs = np.zeros((draws, size, states))
        for k in range(post.members.shape[1]):
            chosen = post.members[graphs, k]
            for f in np.unique(chosen).tolist():
                at = np.flatnonzero(chosen == f)
                for d, local in zip(at.tolist(), _drawn(post, f, len(at), seed), strict=True):
                    for s, here in enumerate(columns):
                        logs[d, :, s] += family_log(local, here)
        most = logs.max(axis=2, keepdims=True)
        p = np.exp(logs - most)
        found = Credible.of(p / p.sum(axis=2, keepdims=True), level)
        low[start : start + step], high[start : start + step] = found
    return low, high


def _drawn(post: StructurePosterior, family: int, n: int, seed: int) -> list[Any]:
    """One family under n draws of its parameters; as it is where they are known."""
    local = post.families[family]
    gammas, others = (np.random.default_rng([seed, family, i]) for i in (0, 1))
    if isinstance(local, Cpt):
        if not local.has_posterior:
            return [local] * n
        if isinstance(local, CountTable):
            found = local.drawn(n, gammas, others)
        else:
            assert local.counts is not None
            found = np.maximum(dirichlet_rows(local.counts, n, gammas, others), 1e-60)
        return [
            Cpt.trusted(local.child, local.parents, one.reshape(local.shape), None, None)
            for one in found
        ]
    if local.posterior is None or not isinstance(local, LinearGaussian):
        return [local] * n
    parts = local.posterior.draw(n, gammas, others)
    return [
        LinearGaussian(local.child, local.parents, *(part[i] for part in parts)) for i in range(n)
    ]
