"""How probable each row is: ln P(row), its gaps summed out, and which family makes it so.

    ln P(row) = Σ_families ln P(x | parents)        where nothing is missing

Rows with gaps go through the engine. A row whose gaps no exact method can sum out (in mixed
networks, or where the tables would not fit) is not scored; it is counted, and the report says so.

Scores of models on rows: the mean of ln P with its standard error, and paired differences.

    mean = Σ w ℓ / W        standard error = √( Σ w (ℓ − mean)² / W ) / √W

Rows that both models call possible are compared one by one, so that what makes a row hard for
both cancels out; rows that a model rules out are counted, not hidden in an infinite mean.

Some of the rows, each counting once: what checks that generate tables compare with.

A row of whole weight w stands for w rows. Where there are more rows than are wanted, some are
drawn at random, and whoever asks is told.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.checking.findings import Finding
from credo.core.errors import CredoError, ImpossibleError, LimitError
from credo.data import Table
from credo.model.values.randomness import Rng, generator
from credo.predict.rows.impute_mixed import (
    MAX_STATES,
    MixedRows,
    block_rows,
    evidence_of,
    states_of,
)
from credo.predict.rows.rows import (
    encoded_log_likelihoods,
    family_log,
    gaps_of,
    read_rows,
)
from credo.predict.rows.running import patterns
from credo.predict.sampling.forward import forward_sampler
from credo.stats.block import Block

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = [
    "BITS", "HEAD", "Score", "Scored", "best_first", "copies", "difference", "family_terms",
    "gathered", "plain_rows", "score_cells", "score_of", "score_rows", "weights_of", "who_is_best",
]  # fmt: skip

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_LARGE = 200  # continuous variables up to which their gaps are integrated out row by row


@dataclass(frozen=True)
class Scored:
    """ln P of each row (−inf: impossible), and which rows could be scored."""

    log: Floats
    known: Mask

    @property
    def possible(self) -> Mask:
        """The rows that were scored and are possible."""
        return self.known & (self.log > -np.inf)


def gathered(scored: Scored, origin: NDArray[np.intp], n: int) -> Scored:
    """The scores of rows from those of their copies: their mean."""
    if len(origin) == n and (origin == np.arange(n)).all():
        return scored
    times = np.bincount(origin, minlength=n)
    with np.errstate(invalid="ignore"):
        log = np.bincount(origin, np.where(scored.known, scored.log, 0.0), n) / np.maximum(times, 1)
    gone = np.bincount(origin, (scored.known & (scored.log == -np.inf)).astype(float), n) > 0
    known = np.bincount(origin, (~scored.known).astype(float), n) == 0
    return Scored(np.where(gone, -np.inf, log), known & (times > 0))


def weights_of(table: Table) -> Floats:
    """The weight of each row, 1 where none is given."""
    if table.weights is None:
        return np.ones(len(table))
    return table.weights.astype(np.float64)


def family_terms(net: Network, table: Table) -> tuple[Floats, Mask]:
    """ln P(x | parents) of each row and family, and which families the row has whole."""
    gone = gaps_of(net, table)
    at = {n: k for k, n in enumerate(net.names)}
    out = np.zeros(gone.shape)
    whole = np.zeros(gone.shape, dtype=bool)
    for k, name in enumerate(net.names):
        local = net.distributions[name]
        here = ~gone[:, [at[v.name] for v in local.variables]].any(axis=1)
        whole[:, k] = here
        if here.any():
            out[here, k] = family_log(local, _columns(table, here))
            scale = local.child.scale
            if scale is not None:
                out[here, k] += scale.log_jacobian(table.values(name)[here])
    return out, whole


def _columns(table: Table, rows: Any) -> dict[str, Any]:
    return {n: a[rows] for n, a in zip(table.schema.names, table.block.arrays, strict=True)}


def score_rows(net: Network, table: Table, most: int = 500) -> Scored:
    """ln P of each row of a table over the network's variables, its gaps summed out.

    Rows of mixed networks with very many cases are summed out one by one, at most so many.
    """
    if net.schema.scales or table.schema.scales:
        table = read_rows(net, table)  # numbers as this network has them
    gone = gaps_of(net, table)
    partial = gone.any(axis=1)
    log = np.zeros(len(table))
    known = np.ones(len(table), dtype=bool)
    if not partial.all():
        columns = _columns(table, ~partial) if partial.any() else _columns(table, slice(None))
        total = np.zeros(int((~partial).sum()))
        for local in net.distributions.values():
            total += family_log(local, columns)
        log[~partial] = np.maximum(total, -np.inf)
    if partial.any():
        rows = np.flatnonzero(partial)
        log[rows], known[rows] = _with_gaps(net, table.take(rows), gone[rows], most)
    slopes = table.log_slopes
    return Scored(log if slopes is None else log + slopes, known)


def _with_gaps(net: Network, part: Table, gone: Mask, most: int) -> tuple[Floats, Mask]:
    discrete = sum(v.is_discrete for v in net.variables)
    if 0 < discrete < len(net.variables):
        return _mixed(net, part, gone, most)
    try:
        return encoded_log_likelihoods(net, part), np.ones(len(part), dtype=bool)
    except LimitError:
        return np.zeros(len(part)), np.zeros(len(part), dtype=bool)


def _mixed(net: Network, part: Table, gone: Mask, most: int) -> tuple[Floats, Mask]:
    """Rows of a mixed network: by the engine where it can, else case by case, else one by one."""
    out, known = np.zeros(len(part)), np.ones(len(part), dtype=bool)
    few = sum(not v.is_discrete for v in net.variables) <= _LARGE
    for pattern, rows in patterns(gone):
        try:
            out[rows] = encoded_log_likelihoods(net, part.take(rows))
            continue
        except CredoError:
            if not few:
                known[rows] = False
                continue
        if states_of(net, pattern) > MAX_STATES:
            alone, most = rows[:most], max(most - len(rows), 0)
            known[rows[len(alone) :]] = False
            for i in alone:
                out[i] = _alone(net, pattern, part, int(i))
            continue
        block = block_rows(net, pattern)
        for first in range(0, len(rows), block):
            at = rows[first : first + block]
            try:
                cases = MixedRows(net, pattern, _columns(part, at), at, strict=False)
                out[at] = np.logaddexp.reduce(cases.log, axis=1)
            except (LimitError, np.linalg.LinAlgError):
                known[at] = False
    return out, known


def _alone(net: Network, gone: Mask, part: Table, i: int) -> float:
    """ln P of one row, by elimination: the forward sampler given what is seen."""
    columns = dict(zip(part.schema.names, part.block.arrays, strict=True))
    try:
        return forward_sampler(net, evidence_of(net, gone, columns, i)).directed.log_z
    except ImpossibleError:
        return -np.inf


BITS = 1 / math.log(2)
"""Bits in a nat."""
HEAD = ["nats a row", "± se", "bits a row", "behind, nats a row", "± se"]
"""What stands over the cells of a score."""


@dataclass(frozen=True, slots=True)
class Score:
    """The mean of ln P a row, in nats and bits, with its standard error (in nats).

    `impossible` is the weight of the rows that the model rules out, `unknown` that of the rows
    that could not be scored; the mean is over the others. `lead` is how much better the model of
    the report does than this one, in nats a row, with its standard error.
    """

    name: str
    nats: float
    error: float
    rows: float
    impossible: float = 0.0
    unknown: float = 0.0
    lead: float = 0.0
    lead_error: float = 0.0
    note: str = ""

    @property
    def bits(self) -> float:
        """The mean in bits a row."""
        return self.nats * BITS

    def to_dict(self) -> dict[str, object]:
        """Plain data for JSON."""
        return {
            "name": self.name, "nats": self.nats, "bits": self.bits, "error": self.error,
            "rows": self.rows, "impossible": self.impossible, "unknown": self.unknown,
            "lead": self.lead, "lead_error": self.lead_error, "note": self.note,
        }  # fmt: skip


def mean_error(values: Floats, weights: Floats) -> tuple[float, float]:
    """A weighted mean and its standard error; a weight is a number of rows."""
    total = float(weights.sum())
    if not total > 0:
        return 0.0, 0.0
    mean = float(weights @ values) / total
    if total <= 1:
        return mean, 0.0
    spread = float(weights @ (values - mean) ** 2) / (total - 1)
    return mean, math.sqrt(spread / total)


def score_of(name: str, scored: Scored, weights: Floats, note: str = "") -> Score:
    """The score of one model."""
    good = scored.possible
    mean, error = mean_error(scored.log[good], weights[good])
    return Score(
        name, mean, error, float(weights.sum()),
        float(weights[scored.known & ~good].sum()), float(weights[~scored.known].sum()), note=note,
    )  # fmt: skip


def best_first(found: Mapping[str, Scored], weights: Floats) -> tuple[Score, ...]:
    """The score of each model, those that rule rows out last, and how far it is behind the best."""
    scores = [score_of(name, scored, weights) for name, scored in found.items()]
    scores.sort(key=lambda s: (s.impossible > 0, -s.nats))
    best = found[scores[0].name]
    leads = [difference(best, found[s.name], weights) for s in scores]
    return tuple(
        replace(s, lead=lead, lead_error=error)
        for s, (lead, error) in zip(scores, leads, strict=True)
    )


def score_cells(s: Score, lead: str | None = "") -> list[str]:
    """A score as cells of a table; `lead` is the format of how far it is behind, None for none."""
    behind = ["", ""] if lead is None else [f"{s.lead:{lead}.4f}", f"{s.lead_error:.4f}"]
    return [f"{s.nats:.4f}", f"{s.error:.4f}", f"{s.bits:.4f}", *behind]


def who_is_best(kind: str, scores: Sequence[Score], sentence: str) -> list[Finding]:
    """Whether the first is clearly ahead of the second; `sentence` has {best}, {second}, {by}."""
    if len(scores) < 2:
        return []
    best, second = scores[0].name, scores[1]
    by = f"{second.lead * BITS:.3g} ± {second.lead_error * BITS:.2g} bits a row"
    clear = second.lead > 2 * second.lead_error
    return [
        Finding(
            kind, sentence.format(best=best, second=second.name, by=by), second.lead * BITS,
            "good" if clear else "note", "" if clear else "The rows cannot tell them apart.", best,
        )
    ]  # fmt: skip


def difference(a: Scored, b: Scored, weights: Floats) -> tuple[float, float]:
    """How much better a does than b on the rows possible under both: mean and standard error."""
    both = a.possible & b.possible
    return mean_error(a.log[both] - b.log[both], weights[both])


MAX_COPIES = 2_000_000
"""Rows of whole weights are taken apart up to so many."""


def copies(table: Table) -> tuple[Table, NDArray[np.intp]]:
    """Rows of whole weights as so many rows, and where each comes from; others as they are.

    So the copies of a row can fall into different folds, as those of a table without weights do.

    >>> import credo as cr
    >>> rows, origin = copies(cr.read({"x": ["a", "b"], "w": [3, 1]}, weights="w"))
    >>> rows["x"].tolist(), origin.tolist()
    (['a', 'a', 'a', 'b'], [0, 0, 0, 1])
    """
    every = np.arange(len(table))
    if table.weights is None:
        return table, every
    each = weights_of(table)
    if not (each == np.round(each)).all() or float(each.sum()) > MAX_COPIES:
        return table, every
    origin = np.repeat(every, each.astype(np.int64))
    return _without_weights(table.take(origin)), origin


def _without_weights(table: Table) -> Table:
    return Table(Block(table.schema, table.block.arrays), raw=table.raw)


def plain_rows(table: Table, most: int, rng: Rng) -> tuple[Table, NDArray[np.intp], str]:
    """At most so many rows without weights, where they were, and what was done (in words).

    >>> import credo as cr
    >>> rows = cr.read({"x": ["a", "b"], "w": [3, 1]}, weights="w")
    >>> plain_rows(rows, 10, 0)[0]["x"].tolist()
    ['a', 'a', 'a', 'b']
    """
    chance = generator(rng)
    weights, n = table.weights, len(table)
    if weights is None:
        if n <= most:
            return table, np.arange(n), ""
        kept = np.sort(chance.choice(n, most, replace=False))
        return table.take(kept), kept, f"{most:,} of {n:,} rows, drawn at random"
    each = weights_of(table)
    total = float(each.sum())
    whole = bool((each == np.round(each)).all())
    if whole and total <= most:
        kept = np.repeat(np.arange(n), each.astype(np.int64))
        note = ""
    elif whole and total < 1e9:
        times = chance.multivariate_hypergeometric(each.astype(np.int64), most, method="marginals")
        kept = np.repeat(np.arange(n), times)
        note = f"{most:,} of {total:,.0f} rows, drawn at random"
    else:
        size = max(2, min(most, round(total)))
        ends = np.cumsum(each) / total
        kept = np.searchsorted(ends, (np.arange(size) + chance.random()) / size)
        kept = np.minimum(kept, n - 1)
        note = f"{size:,} rows drawn in proportion to their weights"
    return _without_weights(table.take(kept)), kept, note
