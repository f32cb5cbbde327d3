"""Native scores made for a source: tables of counts, Gaussian matrices, or functions in Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError
from credo.core.schema import Variable
from credo.data import Stream, Table
from credo.model.networks.count_table import counts
from credo.stats.counts import Counts
from credo.stats.family import Families, Family
from credo.stats.moments import Moments
from credo.stats.tally import Source
from credo.train.parameters.experiments import Experiments
from credo.train.parameters.pooled_lines import UNIT
from credo.train.scores.available import of_available
from credo.train.scores.count_scores import with_counts
from credo.train.scores.local_scores import moments_by_group, of_function, of_prior_network
from credo.train.scores.scores import MARGINAL, ScoreSpec

__all__ = ["CUT", "SOFT", "Asked", "native_scores"]

Floats = NDArray[np.float64]

_MOMENTS = 1 << 26  # numbers of scatter matrices that are kept: 512 MiB
_DENSE = 1 << 16  # cells up to which a table of a stream is dense, whatever its rows


CUT = "rows in which a variable was set are left out of its own family"
SOFT = "rows in which a variable was set have a table of its own family by themselves"

Extra = tuple[list[float], Floats | None]
Made = tuple[_core.FamilyScores, list[str]]


@dataclass(frozen=True)
class Asked:
    """What scores are asked for: the rows, the score, the variables in their inner order."""

    source: Source
    spec: ScoreSpec
    variables: Sequence[Variable]
    rows: float
    gaps: Sequence[str]
    extras: Extra
    threads: int

    @property
    def penalty(self) -> float:
        """What a free parameter costs."""
        half = 0.5 * math.log(self.rows)
        return {"aic": 1.0, "bic": half, "mdl": half}.get(self.spec.name, 0.0)


def native_scores(asked: Asked, by_gain: bool = False) -> Made:
    """The scores, and notes. `by_gain`: on the rows that have what a family needs."""
    if isinstance(asked.source, Experiments):
        return _experiment_scores(asked, asked.source, by_gain)
    if by_gain:
        return _available_scores(asked)
    if asked.spec.function is not None or asked.spec.name == "bde":
        return _function_scores(asked)
    if any(map(counts, asked.variables)):
        return _count_scores(asked)
    kinds = {v.is_discrete for v in asked.variables}
    if len(kinds) == 2 or (asked.spec.name in MARGINAL and False in kinds):
        return _mixed_scores(asked)
    return _table_scores(asked) if True in kinds else _line_scores(asked)


def _experiment_scores(asked: Asked, rows: Experiments, by_gain: bool) -> Made:
    """The scores of each child on the rows in which it was not set; of soft experiments also on
    those in which it was, by themselves.
    """
    made: dict[int, Made] = {}

    def scores_on(part: Table | Stream, extra: list[float]) -> _core.FamilyScores:
        if id(part) not in made:
            weight = float(part.tally([asked.variables[0].name]).rows)
            own = replace(asked, source=part, rows=weight, extras=(extra, None))
            made[id(part)] = native_scores(own, by_gain)
        return made[id(part)][0]

    parts = [
        [
            scores_on(rows.of(v.name), asked.extras[0]),
            *(scores_on(p, []) for p in (rows.under(v.name) if rows.soft else ())),
        ]
        for v in asked.variables
    ]

    def local(families: Sequence[tuple[int, Sequence[int]]]) -> Floats:
        out = np.zeros(len(families))
        for scores in {id(p): p for c, _ in families for p in parts[c]}.values():
            mine = [i for i, (c, _) in enumerate(families) if any(p is scores for p in parts[c])]
            out[mine] += scores.score([(families[i][0], list(families[i][1])) for i in mine])
        return out

    notes = list(dict.fromkeys(n for _, told in made.values() for n in told))
    notes.append(SOFT if rows.soft else CUT)
    native = _core.FamilyScores.function(len(parts), local, [], asked.extras[1])
    return native, notes


def _count_scores(asked: Asked) -> Made:
    """Numbers that count beside the others, which are scored as without them."""
    others = [v for v in asked.variables if not counts(v)]
    inner: Any = None
    notes: list[str] = []
    if others:
        inner, notes = native_scores(replace(asked, variables=others, extras=([], None)))
    rows = UNIT if asked.spec.name in MARGINAL else 0.0
    function = with_counts(asked.source, asked.variables, inner, rows, asked.penalty, asked.rows)
    return _core.FamilyScores.function(len(asked.variables), function, *asked.extras), notes


def _table_scores(asked: Asked) -> Made:
    """Tables of counts, natively from memory or asked of the source."""
    source, spec, variables, rows = asked.source, asked.spec, asked.variables, asked.rows
    likelihood = spec.name in ("loglik", "aic", "bic", "mdl")
    name = ("available" if asked.gaps else "loglik") if likelihood else spec.name
    notes = []
    if asked.gaps:
        notes.append(
            "cells are missing: each family is scored on the rows it has, scaled to all rows"
        )
    if isinstance(source, Table):
        block = source.block
        if block.compact is not None:
            block = block.compact
        position = {block.schema.variables[i].name: k for k, i in enumerate(block.discrete)}
        columns = [position[v.name] for v in variables]
        native = _core.FamilyScores.columns(
            block.native,
            columns,
            block.weights,
            name,
            rows,
            spec.ess,
            asked.penalty,
            *asked.extras,
            asked.threads,
        )
        return native, notes
    counts = _Counted(source, variables)
    dense = max(_DENSE, 4 * rows)
    native = _core.FamilyScores.counts(
        [v.arity for v in variables], counts.dense, counts.sparse, dense, name, rows, spec.ess,
        asked.penalty, *asked.extras,
    )  # fmt: skip
    return native, notes


class _Counted:
    """Tables that a source is asked for, a batch in one pass."""

    def __init__(self, source: Source, variables: Sequence[Variable]) -> None:
        self.source = source
        self.names = [v.name for v in variables]

    def dense(self, sets: Sequence[Sequence[int]]) -> NDArray[Any]:
        """All tables one after the other."""
        families = [self._family(s) for s in sets]
        tally = self.source.tally(Families.of(families))
        tables = [np.asarray(tally[f]).ravel() for f in families]
        whole = all(t.dtype.kind == "i" for t in tables)
        return np.concatenate(tables).astype(np.int64 if whole else np.float64)

    def sparse(self, variables: Sequence[int]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The cells seen, and where the rows of the table begin among them."""
        family = self._family(variables)
        counts = self.source.tally([family])[family]
        assert isinstance(counts, Counts)
        cells = counts.sparse()
        assert cells.configurations is not None
        above = cells.configurations[:, :-1]
        new = np.ones(len(above), dtype=bool)
        new[1:] = (above[1:] != above[:-1]).any(axis=1)
        begin = np.append(np.flatnonzero(new), len(above)).astype(np.int64)
        kind = np.int64 if cells.values.dtype.kind == "i" else np.float64
        return np.ascontiguousarray(cells.values, dtype=kind), begin

    def _family(self, variables: Sequence[int]) -> Family:
        *parents, child = (self.names[v] for v in variables)
        return Family(child, tuple(parents))


def _line_scores(asked: Asked) -> Made:
    """Gaussian scores: set functions of one matrix."""
    source, spec, variables, rows = asked.source, asked.spec, asked.variables, asked.rows
    *others, last = (v.name for v in variables)
    moments = source.tally([(last, others)])[last, others]
    assert isinstance(moments, Moments)
    at = {name: k for k, name in enumerate(moments.names)}
    order = [at[v.name] for v in variables]
    scatter = moments.scatter[0][np.ix_(order, order)]
    for variable, size in zip(variables, np.diag(scatter), strict=True):
        if not size > 0:
            raise InputError(
                f"The column {variable.name!r} is constant, so it has no Gaussian score.",
                hint="Leave it out.",
            )
    n = len(variables)
    if spec.name != "bge":
        matrix = np.ascontiguousarray(scatter / rows)
        native = _core.FamilyScores.matrix(
            matrix, rows, False, 1.0, 0.0, 1.0, asked.penalty, *asked.extras
        )
        return native, []
    freedom = n + 2.0 if spec.freedom is None else spec.freedom
    if freedom <= n + 1:
        raise InputError(
            f"freedom must be above the number of variables + 1, {n + 1}, got {freedom:g}."
        )
    scale = spec.prior_rows * (freedom - n - 1) / (spec.prior_rows + 1)
    # the prior mean is the mean of the rows, as in bnlearn, so that it adds nothing
    scatter = np.ascontiguousarray(scatter)
    native = _core.FamilyScores.matrix(
        scatter, rows, True, spec.prior_rows, freedom, scale, 0.0, *asked.extras
    )
    return native, []


def _mixed_scores(asked: Asked) -> Made:
    """Scores of lines: plug-in likelihoods, or marginal ones beside those of tables."""
    variables = asked.variables
    like_all = UNIT if asked.spec.name in MARGINAL else 0.0
    discrete = [v for v in variables if v.is_discrete]
    tables, _ = _table_scores(replace(asked, variables=discrete, gaps=(), extras=([], None)))
    native = _core.FamilyScores.mixed(
        tables, moments_by_group(asked.source, variables),
        [v.arity if v.is_discrete else 0 for v in variables],
        asked.rows, asked.penalty, like_all, _MOMENTS, *asked.extras, asked.threads,
    )  # fmt: skip
    return native, []


def _function_scores(asked: Asked) -> Made:
    """A score in Python, family by family: the user's own, or BDe with a prior network."""
    source, spec, variables = asked.source, asked.spec, asked.variables
    if spec.function is not None:
        function = of_function(source, variables, spec.function)
    else:
        assert spec.prior is not None
        function = of_prior_network(source, variables, spec.prior, spec.ess)
    return _core.FamilyScores.function(len(variables), function, *asked.extras), []


def _available_scores(asked: Asked) -> Made:
    """What parents gain each child, on the rows that have them."""
    function = of_available(asked.source, asked.variables, asked.spec)
    notes = ["cells are missing: what parents gain is measured on the rows that have them"]
    return _core.FamilyScores.function(len(asked.variables), function, *asked.extras), notes
