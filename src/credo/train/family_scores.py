"""The scores of families from any source: one cache behind every search.

For a score that is a set function, local(i | P) = f(P ∪ i) − f(P), the native cache keeps f, so
that equivalent graphs get the very same number. A table in memory is counted by the kernels; any
other source is asked for the tables of a whole batch at once, which is one pass over its rows.

Inside, variables are numbered in an order that depends on their values alone (states, counts),
never on the order of columns or on names, unless two columns cannot be told apart otherwise: so
ties in a search break the same way whatever the table looks like.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.data import Table
from credo.errors import InputError, SchemaError, unknown_name
from credo.schema import Variable
from credo.stats.counts import Counts
from credo.stats.family import Families, Family
from credo.stats.moments import Moments
from credo.stats.tally import Source
from credo.train.local_scores import of_function, of_mixed, of_prior_network
from credo.train.scores import DISCRETE_ONLY, ScoreSpec

__all__ = ["FamilyScores", "family_scores"]

Floats = NDArray[np.float64]

_DENSE = 1 << 16  # cells up to which a table of a stream is dense, whatever its rows


class FamilyScores:
    """Local scores by name, kept. `names` is the inner order of the variables."""

    def __init__(
        self,
        source: Source,
        spec: ScoreSpec,
        variables: Sequence[Variable],
        rows: float,
        native: _core.FamilyScores,
        notes: Sequence[str] = (),
    ) -> None:
        self.source = source
        self.spec = spec
        self.variables = tuple(variables)
        self.names = tuple(v.name for v in variables)
        self.rows = rows
        self.native = native
        self.notes = tuple(notes)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """The number of each variable."""
        return {n: i for i, n in enumerate(self.names)}

    def of(self, families: Sequence[Family]) -> Floats:
        """The local score of each family."""
        at = self.index
        asked = [(at[f.child], [at[p] for p in f.parents]) for f in families]
        return self.native.score(asked)

    def total(self, parents: Sequence[Sequence[int]]) -> float:
        """The score of a graph given by the numbers of each variable's parents."""
        return math.fsum(self.native.score(list(enumerate(parents))))

    @property
    def counters(self) -> dict[str, int]:
        """Families asked for, found in the cache, tables counted, passes, numbers kept."""
        return dict(self.native.counters)

    def free_parameters(self, family: Family) -> float:
        """How many numbers the family's distribution may choose."""
        by_name = {v.name: v for v in self.variables}
        child, parents = by_name[family.child], [by_name[p] for p in family.parents]
        rows = math.prod(p.arity for p in parents if p.is_discrete)
        if child.is_discrete:
            return float(rows * (child.arity - 1))
        return float(rows * (2 + sum(not p.is_discrete for p in parents)))

    def parts(self, families: Sequence[Family]) -> dict[str, float]:
        """What the description length is made of, in bits; nothing for other scores."""
        if self.spec.name != "mdl" or self.spec.function is not None:
            return {}
        total = -float(self.of(families).sum()) / math.log(2)
        n, free = len(self.names), sum(self.free_parameters(f) for f in families)
        structure = -sum(_structure(n)[len(f.parents)] for f in families) / math.log(2)
        parameters = 0.5 * math.log2(self.rows) * free
        data = total - structure - parameters
        return {
            "bits of structure": structure, "bits of parameters": parameters, "bits of data": data
        }  # fmt: skip

    def why_infinite(self, family: Family) -> str:
        """Why a family has no finite score."""
        if any(not v.is_discrete for v in self.variables):
            return "its columns are collinear, or a row of its parents has too few rows of data"
        if self.spec.name == "bde":
            return "the prior network gives probability 0 to rows that were seen"
        return "no row has all its cells"


def family_scores(
    source: Source,
    spec: ScoreSpec,
    *,
    names: Sequence[str] | None = None,
    threads: int | None = None,
) -> FamilyScores:
    """The scores of families over some variables of a source (all when none are named)."""
    schema = source.schema
    for name in names or ():
        if name not in schema:
            raise unknown_name("Variable", name, schema.names, "in the table")
    chosen = [schema[n] for n in (schema.names if names is None else names)]
    if not chosen:
        raise InputError("There is no variable to score.")
    if threads is None:
        threads = os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InputError(f"threads must be a whole number, 1 or more, got {threads!r}.")
    rows, gaps, rank = _singles(source, chosen)
    if rows <= 0:
        raise InputError("There are no rows to score a graph on.")
    chosen.sort(key=lambda v: rank[v.name])
    _fitting(spec, chosen, gaps)
    extras = (_by_parents(spec, len(chosen)), _by_edge(spec, chosen))
    make = _function_scores if spec.function or spec.name == "bde" else _maker(chosen)
    native, notes = make(source, spec, chosen, rows, gaps, extras, threads)
    return FamilyScores(source, spec, chosen, rows, native, notes)


def _singles(
    source: Source, variables: Sequence[Variable]
) -> tuple[float, list[str], dict[str, tuple[Any, ...]]]:
    """The weight of the rows, the variables with gaps, and where each variable stands.

    The place is told by the values; the name only breaks what is left of ties.
    """
    counts: dict[str, NDArray[Any]] = {}
    if isinstance(source, Table) and all(v.is_discrete for v in variables):
        block = source.block
        at = {block.schema.variables[i].name: k for k, i in enumerate(block.discrete)}
        weights: Any = block.weights
        flat, begin = block.native.count_flat([[at[v.name]] for v in variables], weights)
        for k, v in enumerate(variables):
            counts[v.name] = flat[begin[k] : begin[k + 1]]
        rows = float(block.weight)
        missing = dict(zip(block.schema.names, block.gaps, strict=True))
        gaps = [v.name for v in variables if missing[v.name]]
        return rows, gaps, {v.name: _place(v, counts[v.name]) for v in variables}
    tally = source.tally([v.name for v in variables])
    place = {}
    for v in variables:
        single = tally[v.name]
        if isinstance(single, Counts):
            place[v.name] = _place(v, np.asarray(single))
        else:
            n = float(single.n.sum()) or 1.0
            size = float(single.scatter[0, 0, 0]) / n if len(single.n) else 0.0
            place[v.name] = (1, float(f"{size:.9g}"), (), v.name)
    return float(tally.rows), [v.name for v in variables if tally[v.name].skipped > 0], place


def _place(variable: Variable, counts: NDArray[Any]) -> tuple[Any, ...]:
    return 0, variable.arity, tuple(np.sort(counts)[::-1].tolist()), variable.name


def _fitting(spec: ScoreSpec, variables: Sequence[Variable], gaps: Sequence[str]) -> None:
    """Refuse scores that do not fit the kinds of the variables, or their gaps."""
    continuous = [v.name for v in variables if not v.is_discrete]
    discrete = [v.name for v in variables if v.is_discrete]
    if spec.function is None:
        if continuous and spec.name in (*DISCRETE_ONLY, "mdl"):
            raise SchemaError(
                f"The score {spec.name!r} is for discrete variables; {continuous[0]!r} is "
                "continuous.",
                hint="Use 'bic' or 'bge', or make the column discrete.",
            )
        if discrete and spec.name == "bge":
            raise SchemaError(
                f"The score 'bge' is for continuous variables; {discrete[0]!r} is discrete.",
                hint="Use 'bic'.",
            )
    if gaps and (continuous or spec.function or spec.name not in ("loglik", "aic", "bic", "mdl")):
        raise InputError(
            f"The score {spec.name!r} needs complete rows, and {gaps[0]!r} has missing cells.",
            hint="Use 'bic' on discrete columns, which takes the rows that each family has, or "
            "leave out the rows with gaps.",
        )


def _structure(n: int) -> list[float]:
    """Minus the nats that name k parents: ln n for k, ln C(n − 1, k) for which of the others."""
    return [
        -math.log(n) - (math.lgamma(n) - math.lgamma(k + 1) - math.lgamma(n - k)) for k in range(n)
    ]


def _by_parents(spec: ScoreSpec, n: int) -> list[float]:
    return _structure(n) if spec.name == "mdl" and spec.function is None else []


def _by_edge(spec: ScoreSpec, variables: Sequence[Variable]) -> Floats | None:
    """ln p/(1 − p) for each edge, [child, parent]; None for the uniform prior."""
    prior = spec.edge_prior
    if prior is None:
        return None
    n = len(variables)
    if not isinstance(prior, Mapping):
        out = np.full((n, n), _log_odds(prior, "every edge"))
        np.fill_diagonal(out, 0.0)
        return out
    at = {v.name: i for i, v in enumerate(variables)}
    out = np.zeros((n, n))
    for edge, p in prior.items():
        if not isinstance(edge, tuple) or len(edge) != 2:
            raise InputError(f"edge_prior maps edges (parent, child) to numbers, got {edge!r}.")
        for name in edge:
            if name not in at:
                raise unknown_name("Variable", name, at, "in the table")
        out[at[edge[1]], at[edge[0]]] = _log_odds(p, f"{edge[0]} → {edge[1]}")
    return out


def _log_odds(p: Any, what: str) -> float:
    if isinstance(p, bool) or not isinstance(p, (int, float)) or not 0 < p < 1:
        raise InputError(
            f"The prior probability of {what} must be between 0 and 1, got {p!r}.",
            hint="For certainties use required= and forbidden=.",
        )
    return math.log(p) - math.log1p(-p)


def _penalty(spec: ScoreSpec, rows: float) -> float:
    return {"aic": 1.0, "bic": 0.5 * math.log(rows), "mdl": 0.5 * math.log(rows)}.get(
        spec.name, 0.0
    )


Extra = tuple[list[float], Floats | None]
Made = tuple[_core.FamilyScores, list[str]]


def _maker(variables: Sequence[Variable]) -> Callable[..., Made]:
    kinds = {v.is_discrete for v in variables}
    return _mixed_scores if len(kinds) == 2 else _table_scores if True in kinds else _line_scores


def _table_scores(
    source: Source,
    spec: ScoreSpec,
    variables: Sequence[Variable],
    rows: float,
    gaps: Sequence[str],
    extras: Extra,
    threads: int,
) -> Made:
    """Tables of counts, natively from memory or asked of the source."""
    likelihood = spec.name in ("loglik", "aic", "bic", "mdl")
    name = ("available" if gaps else "loglik") if likelihood else spec.name
    notes = []
    if gaps:
        notes.append(
            "cells are missing: each family is scored on the rows it has, scaled to all rows"
        )
    penalty = _penalty(spec, rows)
    if isinstance(source, Table):
        block = source.block
        if block.compact is not None:
            block = block.compact
        position = {block.schema.variables[i].name: k for k, i in enumerate(block.discrete)}
        columns = [position[v.name] for v in variables]
        native = _core.FamilyScores.columns(
            block.native, columns, block.weights, name, rows, spec.ess, penalty, *extras, threads
        )
        return native, notes
    counts = _Asked(source, variables)
    dense = max(_DENSE, 4 * rows)
    native = _core.FamilyScores.counts(
        [v.arity for v in variables], counts.dense, counts.sparse, dense, name, rows, spec.ess,
        penalty, *extras,
    )  # fmt: skip
    return native, notes


class _Asked:
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


def _line_scores(
    source: Source,
    spec: ScoreSpec,
    variables: Sequence[Variable],
    rows: float,
    gaps: Sequence[str],
    extras: Extra,
    threads: int,
) -> Made:
    """Gaussian scores: set functions of one matrix."""
    *others, last = (v.name for v in variables)
    moments = source.tally([(last, others)])[last, others]
    assert isinstance(moments, Moments)
    order = [moments.names.index(v.name) for v in variables]
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
        penalty = _penalty(spec, rows)
        native = _core.FamilyScores.matrix(matrix, rows, False, 1.0, 0.0, 1.0, penalty, *extras)
        return native, []
    freedom = n + 2.0 if spec.freedom is None else spec.freedom
    if freedom <= n + 1:
        raise InputError(
            f"freedom must be above the number of variables + 1, {n + 1}, got {freedom:g}."
        )
    scale = spec.prior_rows * (freedom - n - 1) / (spec.prior_rows + 1)
    # the prior mean is the mean of the rows, as in bnlearn, so that it adds nothing
    matrix = np.ascontiguousarray(scatter + scale * np.eye(n))
    native = _core.FamilyScores.matrix(
        matrix, rows, True, spec.prior_rows, freedom, scale, 0.0, *extras
    )
    return native, []


def _mixed_scores(
    source: Source,
    spec: ScoreSpec,
    variables: Sequence[Variable],
    rows: float,
    gaps: Sequence[str],
    extras: Extra,
    threads: int,
) -> Made:
    """Conditional Gaussian scores where discrete and continuous variables meet."""
    discrete = [v for v in variables if v.is_discrete]
    tables, _ = _table_scores(source, spec, discrete, rows, (), ([], None), threads)
    function = of_mixed(source, variables, tables, _penalty(spec, rows))
    return _core.FamilyScores.function(len(variables), function, *extras), []


def _function_scores(
    source: Source,
    spec: ScoreSpec,
    variables: Sequence[Variable],
    rows: float,
    gaps: Sequence[str],
    extras: Extra,
    threads: int,
) -> Made:
    """A score in Python, family by family: the user's own, or BDe with a prior network."""
    if spec.function is not None:
        function = of_function(source, variables, spec.function)
    else:
        assert spec.prior is not None
        function = of_prior_network(source, variables, spec.prior, spec.ess)
    return _core.FamilyScores.function(len(variables), function, *extras), []
