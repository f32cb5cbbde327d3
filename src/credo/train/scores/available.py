"""Available cases: what parents gain a family, measured on the rows that have all of it.

    local(i | P) = s(i | P; rows with i and P) − s(i | ∅; the same rows) + s(i | ∅; rows with i)

Scores of different rows cannot be compared: the fewer rows, the less there is to explain, and a
parent with gaps would always look good. Within the brackets the rows are the same, so a parent is
judged by what it adds to the child alone. One pass of counting a batch, no other assumption than
that gaps depend on nothing (MCAR).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.schema import Variable
from credo.model.distributions.log_rising import log_rising
from credo.model.networks.count_table import counts
from credo.model.networks.family import cells
from credo.stats.counts import Counts
from credo.stats.family import Families, Family
from credo.stats.moments import Moments
from credo.stats.tally import Source
from credo.train.parameters.count_families import count_score
from credo.train.parameters.lines import line_score
from credo.train.parameters.pooled_lines import UNIT
from credo.train.scores.local_scores import COLLINEAR, Asked, Local
from credo.train.scores.scores import MARGINAL, ScoreSpec

__all__ = ["SCORED", "of_available"]

Floats = NDArray[np.float64]

_LARGEST = 10_000_000  # cells of a table, beyond which a family is left out

SCORED = ("loglik", "aic", "bic", "mdl", "bdeu", "bds", "k2")
"""The scores that can be taken of available cases."""


def of_available(source: Source, variables: Sequence[Variable], spec: ScoreSpec) -> Local:
    """The local scores of families on the rows they have."""
    if spec.function is not None or spec.name not in SCORED:
        raise InputError(
            f"The score {spec.name!r} is not taken of available cases; choose one of "
            f"{', '.join(SCORED)}.",
            hint="Or use missing='structural-em', which serves every score.",
        )
    names = [v.name for v in variables]
    alone: dict[int, float] = {}

    def local(asked: Asked) -> Floats:
        out = np.full(len(asked), -math.inf)
        fine = [
            i
            for i, (c, ps) in enumerate(asked)
            if not variables[c].is_discrete or all(variables[p].is_discrete for p in ps)
            if not any(counts(variables[p]) for p in ps)
            if cells([variables[v] for v in (c, *ps) if variables[v].is_discrete]) <= _LARGEST
        ]
        new = sorted({asked[i][0] for i in fine} - set(alone))
        families = [
            Family(names[asked[i][0]], tuple(sorted(names[p] for p in asked[i][1]))) for i in fine
        ]
        singles = [Family(names[c], ()) for c in new]
        tally = source.tally(Families.of([*families, *singles]))
        for c, family in zip(new, singles, strict=True):
            alone[c] = _gain(tally[family], spec)[1]
        for i, family in zip(fine, families, strict=True):
            with_parents, without = _gain(tally[family], spec)
            own = alone[asked[i][0]]
            # the very same number for a family without parents, whatever was subtracted
            out[i] = own if not family.parents else with_parents - without + own
        return out

    return local


def _gain(statistic: Any, spec: ScoreSpec) -> tuple[float, float]:
    """The score of a child with its parents, and without them, on the rows of one statistic."""
    if isinstance(statistic, Moments):
        return _lines(statistic, spec)
    assert isinstance(statistic, Counts)
    dense = np.asarray(statistic, dtype=np.float64)
    table = dense.reshape(-1, dense.shape[-1])
    rows = float(table.sum())
    if rows <= 0:
        return -math.inf, 0.0
    if counts(statistic.variables[-1]):
        like, penalty = UNIT if spec.name in MARGINAL else 0.0, _penalty(spec, rows)
        both = (table, table.sum(axis=0, keepdims=True))
        return count_score(both[0], like, penalty), count_score(both[1], like, penalty)
    return _table(table, rows, spec), _table(table.sum(axis=0, keepdims=True), rows, spec)


def _table(table: Floats, rows: float, spec: ScoreSpec) -> float:
    """The local score of a table [parent rows, child states]."""
    above = table.sum(axis=1)
    if spec.name in ("bdeu", "bds", "k2"):
        states, seen = table.shape[1], float((above > 0).sum())
        spread = table.shape[0] if spec.name == "bdeu" else seen
        alpha = 1.0 if spec.name == "k2" else spec.ess / (states * spread)
        cells, lines = table[table > 0], above[above > 0]
        return float(log_rising(alpha, cells).sum() - log_rising(alpha * states, lines).sum())
    cells, lines = table[table > 0], above[above > 0]
    likelihood = float((cells * np.log(cells)).sum() - (lines * np.log(lines)).sum())
    free = float(table.shape[0] * (table.shape[1] - 1))
    return likelihood - _penalty(spec, rows) * free


def _lines(moments: Moments, spec: ScoreSpec) -> tuple[float, float]:
    """The same for regressions: one for each configuration, the child the last variable."""
    if spec.name in MARGINAL:
        if not moments.total > 0:
            return -math.inf, 0.0
        return line_score(moments), line_score(moments.marginal([moments.names[-1]]))
    seen = moments.n > 0
    n, mean, scatter = moments.n[seen], moments.mean[seen], moments.scatter[seen]
    rows = float(n.sum())
    inside = scatter.shape[1] - 1
    own = scatter[:, -1, -1]
    if rows <= 0 or not (own > 0).all() or (inside and (n <= inside + 1).any()):
        return -math.inf, 0.0
    left = own
    if inside:
        scale = np.sqrt(np.diagonal(scatter, axis1=1, axis2=2))
        if not (scale > 0).all():
            return -math.inf, 0.0
        unit = scatter / scale[:, :, None] / scale[:, None, :]
        sign, whole = np.linalg.slogdet(unit)
        sign_above, above = np.linalg.slogdet(unit[:, :-1, :-1])
        if (sign <= 0).any() or (sign_above <= 0).any():
            return -math.inf, 0.0
        share = np.exp(whole - above)
        if (share <= COLLINEAR).any():
            return -math.inf, 0.0
        left = own * share
    configurations = math.prod(v.arity for v in moments.discrete)
    middle = mean[:, -1] - (n @ mean[:, -1]) / rows
    pooled = float(own.sum() + n @ middle**2)
    penalty = _penalty(spec, rows)
    return (
        _height(n, left) - penalty * configurations * (2 + inside),
        _height(np.array([rows]), np.array([pooled])) - penalty * 2,
    )


def _height(n: Floats, scatter: Floats) -> float:
    return -0.5 * float((n * (np.log(2 * np.pi * scatter / n) + 1)).sum())


def _penalty(spec: ScoreSpec, rows: float) -> float:
    if spec.name in ("bic", "mdl"):
        return 0.5 * math.log(rows)
    return 1.0 if spec.name == "aic" else 0.0
