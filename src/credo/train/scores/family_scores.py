"""The scores of families from any source: one cache behind every search.

For a score that is a set function, local(i | P) = f(P ∪ i) − f(P), the native cache keeps f, so
that equivalent graphs get the very same number. A table in memory is counted by the kernels; any
other source is asked for the tables of a whole batch at once, which is one pass over its rows.

Inside, variables are numbered by their values, not by columns or names (`variable_order.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError, SchemaError
from credo.core.schema import Schema, Variable
from credo.core.threads import checked_threads
from credo.data import Table
from credo.model.networks.count_table import counts
from credo.stats.family import Family
from credo.stats.tally import Source
from credo.train.scores.edge_prior import log_odds
from credo.train.scores.score_sources import Asked, native_scores
from credo.train.scores.scores import DISCRETE_ONLY, ScoreSpec
from credo.train.scores.variable_order import placed

__all__ = ["FamilyScores", "family_scores"]

Floats = NDArray[np.float64]


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
        by_gain: bool = False,
    ) -> None:
        self.source = source
        self.spec = spec
        self.variables = tuple(variables)
        self.names = tuple(v.name for v in variables)
        self.rows = rows
        self.native = native
        self.notes = tuple(notes)
        self.by_gain = by_gain  # of available cases

    @cached_property
    def index(self) -> Mapping[str, int]:
        """The number of each variable."""
        return {n: i for i, n in enumerate(self.names)}

    @cached_property
    def schema(self) -> Schema:
        """The variables in their inner order, and what reading noticed of the columns."""
        return Schema(self.variables, self.source.schema.columns)

    def of(self, families: Sequence[Family]) -> Floats:
        """The local score of each family."""
        at = self.index
        asked = [(at[f.child], [at[p] for p in f.parents]) for f in families]
        return self.native.score(asked)

    def total(self, parents: Sequence[Sequence[int]]) -> float:
        """The score of a graph given by the numbers of each variable's parents."""
        return math.fsum(self.native.score(list(enumerate(parents))))

    def on_fewer_rows(self, most: int, threads: int) -> _core.FamilyScores | None:
        """The scores on about so many rows of a discrete table in memory; None for others."""
        if not isinstance(self.source, Table) or not all(v.is_discrete for v in self.variables):
            return None
        if self.spec.function is not None or self.spec.name == "bde":
            return None
        every = self.source.rows // most
        if every < 2:
            return self.native
        part = self.source.take(slice(None, None, every))
        rows, gaps, _ = placed(part, self.variables)
        return _native(part, self.spec, self.variables, rows, gaps, threads)[0]

    def on(self, rows: Table, threads: int) -> _core.FamilyScores:
        """The scores of the same variables on other rows, which have no gaps."""
        weight = float(rows.block.weight)
        return _native(rows, self.spec, self.variables, weight, (), threads)[0]

    @property
    def counters(self) -> dict[str, int]:
        """Families asked for, found in the cache, tables counted, passes, numbers kept, rows read.

        `rows` are those gone through, summed over the passes; Gaussian scores need one pass.
        """
        found = dict(self.native.counters)
        rows = int(getattr(self.source, "rows", None) or self.rows)
        return found | {"rows": rows * max(found["batches"], 1)}

    def free_parameters(self, family: Family) -> float:
        """How many numbers the family's distribution may choose."""
        by_name = {v.name: v for v in self.variables}
        child, parents = by_name[family.child], [by_name[p] for p in family.parents]
        rows = math.prod(p.arity for p in parents if p.is_discrete)
        if counts(child):
            return float(rows + 1)
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
    available: bool = False,
) -> FamilyScores:
    """The scores of families over some variables of a source (all when none are named).

    `available`: where cells are missing, what parents gain is measured on the rows that have them.
    """
    schema = source.schema
    chosen = [schema[n] for n in (schema.names if names is None else names)]
    if not chosen:
        raise InputError("There is no variable to score.")
    threads = checked_threads(threads)
    rows, gaps, place = placed(getattr(source, "table", source), chosen)
    if rows <= 0:
        raise InputError("There are no rows to score a graph on.")
    chosen.sort(key=lambda v: place[v.name])
    by_gain = available and bool(gaps)
    _fitting(spec, chosen, () if by_gain else gaps)
    native, notes = _native(source, spec, chosen, rows, gaps, threads, by_gain)
    return FamilyScores(source, spec, chosen, rows, native, notes, by_gain)


def _native(
    source: Source,
    spec: ScoreSpec,
    variables: Sequence[Variable],
    rows: float,
    gaps: Sequence[str],
    threads: int,
    by_gain: bool = False,
) -> tuple[_core.FamilyScores, list[str]]:
    """The scores, variables numbered as given, and notes."""
    odds = log_odds(spec.edge_prior, [v.name for v in variables], source.schema)
    extras = (_by_parents(spec, len(variables)), odds)
    return native_scores(Asked(source, spec, variables, rows, gaps, extras, threads), by_gain)


def _fitting(spec: ScoreSpec, variables: Sequence[Variable], gaps: Sequence[str]) -> None:
    """Refuse scores that do not fit the kinds of the variables, or their gaps."""
    continuous = [v.name for v in variables if not v.is_discrete]
    discrete = [v.name for v in variables if v.is_discrete]
    if spec.function is None:
        counted = [v.name for v in variables if counts(v)]
        if counted and spec.name in (*DISCRETE_ONLY, "bge", "mdl"):
            raise SchemaError(
                f"The score {spec.name!r} is not one of counts, and {counted[0]!r} counts.",
                hint="Use 'bdeu' or 'bic'.",
            )
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
        average = "" if continuous else "use 'bic', which takes the rows that each family has, or "
        said = (
            f"The score {spec.name!r} needs complete rows, and {gaps[0]!r} has missing cells."
            if spec.function or not continuous
            else f"Beside continuous columns no score averages the rows that each family has, and "
            f"{gaps[0]!r} has missing cells."
        )
        raise InputError(
            said,
            hint="To learn, choose missing='structural-em' or 'available-cases'; else "
            f"{average}leave out the rows with gaps.",
        )


def _structure(n: int) -> list[float]:
    """Minus the nats that name k parents: ln n for k, ln C(n − 1, k) for which of the others."""
    return [
        -math.log(n) - (math.lgamma(n) - math.lgamma(k + 1) - math.lgamma(n - k)) for k in range(n)
    ]


def _by_parents(spec: ScoreSpec, n: int) -> list[float]:
    return _structure(n) if spec.name == "mdl" and spec.function is None else []
