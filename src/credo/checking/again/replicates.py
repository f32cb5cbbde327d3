"""Replicates: tables that the model would have given instead of the one that was seen.

    θ⁽ʳ⁾ ~ p(θ | what it was learned from),   rows⁽ʳ⁾ ~ P(· | θ⁽ʳ⁾),   the gaps where they were

A network without a posterior generates from its own numbers. Where the rows seen were judged by
networks learned without them, so are those of each replicate (`judged_replicates`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credo.checking.again.folds import Judge
from credo.core.errors import CredoError
from credo.core.progress import track
from credo.data import Table
from credo.model.networks.cpt import Cpt
from credo.model.values.randomness import Rng, generator
from credo.predict.intervals.draws import Draws, has_posterior, network_of
from credo.predict.sampling.sample import sample
from credo.stats.block import Block
from credo.train.parameters.update import refit

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["drawn_networks", "judged_replicates", "replicates"]

_BLOCK = 20  # parameter sets drawn at once
_NUMBERS = 10_000_000  # drawn in all; larger networks give several tables each


def drawn_networks(net: Network, n: int, rng: Rng) -> Iterator[Network]:
    """`n` networks with parameters from the posterior; the same one where there is none.

    Of networks with very many parameters each is given several times over.
    """
    if not any(map(has_posterior, net.distributions.values())):
        yield from (net for _ in range(n))
        return
    source = Draws(net, rng)
    numbers = sum(d.values.size for d in net.distributions.values() if isinstance(d, Cpt))
    different = min(n, max(_NUMBERS // max(numbers, 1), 10))
    times = ceil(n / different)
    for first in range(0, different, _BLOCK):
        size = min(_BLOCK, different - first)
        drawn = source.next(net.names, size)
        for i in range(size):
            one = network_of(net, drawn, i)
            yield from (one for _ in range(min(times, n - times * (first + i))))


def replicates(net: Network, table: Table, n: int, rng: Rng, gaps: bool = True) -> Iterator[Table]:
    """`n` tables of the same size as one over some of the network's variables, gaps and all."""
    chance = generator(rng)
    seed = int(chance.integers(2**62))
    names, size = table.schema.names, len(table)
    lacks: list[NDArray[np.bool_] | None] = []
    for v, a, some in zip(
        table.schema.variables, table.block.arrays, table.block.gaps, strict=True
    ):
        lacks.append((a == v.arity if v.is_discrete else np.isnan(a)) if some and gaps else None)
    for one in track(drawn_networks(net, n, seed), "generating tables", total=n):
        rows = sample(one, size, int(chance.integers(2**62))).select(list(names))
        arrays = []
        for v, a, gone in zip(rows.schema.variables, rows.block.arrays, lacks, strict=True):
            if gone is not None:
                a = a.astype(np.uint16) if v.is_discrete and v.arity > 255 else np.array(a)
                a[gone] = v.arity if v.is_discrete else np.nan
            arrays.append(a)
        raw = {n: np.array(x) for n, x in rows.raw.items()}
        for name, gone in zip(names, lacks, strict=True):
            if gone is not None and name in raw:
                raw[name][gone] = np.nan
        yield Table(Block(rows.schema, tuple(arrays)), raw=raw)


def judged_replicates(
    net: Network, judges: Sequence[Judge], table: Table, n: int, rng: Rng, again: bool,
    gaps: bool = False,
) -> Iterator[tuple[list[Judge], Table]]:  # fmt: skip
    """`n` tables, each with the networks that judge its rows.

    With `again` these are learned from it, with the graph that each has: what learning leaves open
    is then the same as in the table seen. One that cannot be learned again judges as it is.
    """
    for one in replicates(net, table, n, rng, gaps):
        who = list(judges)
        if again:
            every = np.arange(len(one))
            with suppress(CredoError):  # a column that came out constant has no line to learn
                who = [
                    Judge(refit(j.net, one.take(np.setdiff1d(every, j.rows, True))), j.rows)
                    for j in judges
                ]
        yield who, one
