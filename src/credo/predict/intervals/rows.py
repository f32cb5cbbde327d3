"""How sure is each prediction? Every row under every draw of the parameters.

    P(target | row, θ⁽ᵈ⁾),   d = 1 … D:   the quantiles over d, row by row

Each draw is a network of its own that shares the compiled plans of the first. An entry drawn below
1e-60 is taken as 1e-60, so that no draw rules a row out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from credo.core.progress import track
from credo.core.render import text_html
from credo.data import Table
from credo.model.answers.credible import Credible
from credo.model.answers.interval import probability
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.values.randomness import Rng
from credo.predict.exact.engine import ENGINES, engine_of
from credo.predict.intervals.draws import Draws
from credo.predict.questions.request import enough
from credo.predict.rows.rows import predict_proba, read_rows
from credo.stats.block import Block
from credo.stats.configurations import grouped

if TYPE_CHECKING:
    from credo.model.networks.network import Local, Network

__all__ = ["Predictions", "predict_proba_interval"]

_NUMBERS = 20_000_000  # probabilities kept at once
_SMALL = 1e-60

Floats = NDArray[np.float64]


class Predictions(NamedTuple):
    """P(target | row), and the ends of its credible interval: a row each, a column per state."""

    p: Floats
    low: Floats
    high: Floats

    def _repr_html_(self) -> str:
        return text_html(self)


def predict_proba_interval(
    net: Network, rows: Any, target: str, level: float, draws: int, rng: Rng, threads: int
) -> Predictions:
    """Predictions for each row of a table with their credible intervals."""
    level = probability(level)
    draws = enough(draws, level)
    seed = Draws(net, rng).seed
    table = read_rows(net, rows, without=target if target in net.distributions else None)
    p = predict_proba(net, table, target, threads=threads)
    different, inverse = _different(table)
    low, high = (np.empty((len(different), p.shape[1])) for _ in range(2))
    step = max(_NUMBERS // (draws * p.shape[1]), 1)
    starts = range(0, len(different), step)
    work = ((start, d) for start in starts for d in range(draws))
    samples = np.empty((draws, min(step, len(different)), p.shape[1]))
    networks: Iterator[Network] = iter(())
    for start, d in track(work, "drawing parameters", total=len(starts) * draws):
        if d == 0:
            networks = _drawn(net, Draws(net, seed), draws)
        part = different.take(slice(start, start + step))
        samples[d, : len(part)] = predict_proba(next(networks), part, target, threads=threads)
        if d == draws - 1:
            found = Credible.of(samples[:, : len(part)], level)
            low[start : start + step], high[start : start + step] = found
    return Predictions(p, low[inverse], high[inverse])


def _different(table: Table) -> tuple[Table, NDArray[np.intp]]:
    """The rows that differ, and which of them each row is."""
    arrays = table.block.arrays
    if not len(table) or not all(v.is_discrete for v in table.schema.variables):
        return Table(Block(table.schema, arrays)), np.arange(len(table))
    codes = np.stack([a.astype(np.uint32) for a in arrays], axis=1)
    unique, inverse = grouped(codes)
    columns = [unique[:, k].astype(a.dtype) for k, a in enumerate(arrays)]
    return Table(Block(table.schema, tuple(columns))), np.asarray(inverse).ravel()


def _drawn(net: Network, source: Draws, draws: int) -> Iterator[Network]:
    """The networks of the draws, one after the other."""
    engine = engine_of(net)
    for _ in range(draws):
        locals_: dict[str, Local] = dict(net.distributions)
        tables = list(engine.tables)
        for name, values in source.next(net.names, 1).items():
            local = net.distributions[name]
            if isinstance(local, Cpt):
                entries = np.maximum(values[0], _SMALL).reshape(local.shape)
                locals_[name] = Cpt.trusted(local.child, local.parents, entries, None, None)
                tables[engine.at[name]] = entries.ravel()
            else:
                parts = (part[0] for part in values)
                locals_[name] = LinearGaussian(local.child, local.parents, *parts)
        drawn = type(net).trusted(net.dag, locals_, None)
        ENGINES[drawn] = engine.under(drawn, tables)
        yield drawn
