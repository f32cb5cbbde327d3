"""What the gaps leave uncertain: missing cells and parameters drawn in turn, from where EM ended.

    cells ~ P(gaps | rows, θ),    θ ~ P(θ | completed rows),    and again    (Tanner & Wong 1987)

The first draw is by problem, counts instead of rows (`cpp/em/draw.hpp`); the second is that of a
Dirichlet for each row of a table, and of a normal-inverse-gamma for each line. What is kept is the
posterior of each family after each completion: their mixture is the posterior given the observed
cells, of which parameters can be drawn at any time without the rows.

The chain has a fixed number of completions. Where neighbours are too much alike, every second is
dropped, the distance between two is doubled, and the chain goes on, as long as that costs no more
than some times the EM run. The states of a hidden variable that its prior treats alike could be
exchanged on the way: each completion is given the order under which EM's parameters explain it best
(label switching; Celeux 1998, Stephens 2000).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoError, LateError
from credo.core.progress import track
from credo.core.render import shortened
from credo.data import Table
from credo.model.networks.count_table import counts
from credo.model.networks.linear_gaussian import LinePosterior
from credo.model.networks.network import Network
from credo.predict.rows.impute import impute
from credo.stats.block import Block
from credo.train.em.experiments import parameters_of
from credo.train.em.layout import Parameters, Statistics
from credo.train.em.maximise import NetworkEM
from credo.train.em.relabel import Relabel
from credo.train.em.setup import Setup
from credo.train.parameters.lines import fit_lines
from credo.train.parameters.tied import renamed

__all__ = ["DRAWS", "FEWEST", "as_rows", "with_gaps"]

DRAWS = 200
"""Completions of the rows, unless `draws` says otherwise."""

FEWEST = 20
"""Fewer completions say too little."""

_FIRST = 20  # sweeps that are left out
_ALIKE = 0.5  # the correlation of neighbours above which the distance is doubled
_ROUGH = 0.8  # and above which the record says that it remained
_TIMES = 8  # sweeps for each iteration that EM made, if that is more than the least
_NUMBERS = 20_000_000  # kept in all
_COPIES = 1 << 24  # cells of rows that are drawn one by one
_BLOCK = 256  # states of a row's gaps that are drawn together

Floats = NDArray[np.float64]


def with_gaps(setup: Setup, net: Network, draws: int, seed: int, until: float) -> Network:
    """The network of EM, whose families know their posterior after each of `draws` completions."""
    assert net.record is not None
    em = setup.em
    open_ = [i for i in range(len(net.names)) if _has_gaps(em, i)]
    if not draws or not open_ or all(_prior(em, i) is None for i in range(len(em.layout.names))):
        return net
    try:
        chain = _refused(setup, open_, draws) or _run(setup, net, open_, draws, seed, until)
    except KeyboardInterrupt:
        chain = "it was interrupted"
    except LateError:
        chain = "there was no time left"
    except CredoError as error:  # a completion without enough rows for some line
        chain = error.message.rstrip(".")
    record = net.record
    if isinstance(chain, str):
        said = f"the gaps were not drawn, so intervals leave out how sure they are: {chain}"
        return net.with_record(replace(record, notes=(*record.notes, said)))
    locals_ = dict(net.distributions)
    for i, completed in chain.posteriors.items():
        local = locals_[em.layout.names[i]]
        assert local.learned is not None
        locals_[local.name] = replace(local, learned=replace(local.learned, completed=completed))
    notes = list(record.notes)
    laws = [em.layout.names[i] for i in open_ if i in em.counted]
    if laws:
        notes.append(
            f"{shortened(laws)}: how sure a law of counts is leaves out the gaps of its parents"
        )
    if chain.alike > _ROUGH:
        notes.append(
            f"the draws of the gaps resemble each other (correlation {chain.alike:.2f} at "
            f"{chain.apart:,} sweeps): the ends of intervals are rough, as their error says"
        )
    details = {
        **record.details,
        "completions": draws,
        "sweeps": _FIRST + draws * chain.apart,
        "resemblance": round(chain.alike, 6),
        "labels_exchanged": chain.exchanged,
    }
    record = replace(record, notes=tuple(notes), details=details)
    return Network.trusted(net.dag, locals_, record)


def _prior(em: NetworkEM, i: int) -> Any:
    """The prior of a family whose parameters are drawn: a law of counts stays that of EM."""
    return None if i in em.held or i in em.counted else em.beliefs[i].beside


def _has_gaps(em: NetworkEM, i: int) -> bool:
    return em.rows.observed[em.layout.names[i]] < em.weight * (1 - 1e-12)


def _refused(setup: Setup, open_: Sequence[int], draws: int) -> str:
    """Why nothing can be drawn, if so."""
    em = setup.em
    factors = [n for n in setup.hidden if n in em.rows.scales]
    if factors:
        return f"the scale of the hidden variable {factors[0]!r} is arbitrary"
    size = 0
    for i in open_:
        child, parents = em.layout.families[i]
        states = int(np.prod([v.arity for v in (*parents, child) if v.is_discrete]))
        size += states * (1 if child.is_discrete else (len(parents) + 2) ** 2)
    if size * draws > _NUMBERS:
        return f"{draws:,} completions of {size:,} numbers are more than {_NUMBERS:,}"
    return ""


@dataclass(frozen=True)
class _Chain:
    """The posterior of each family after each completion, and how alike neighbours are."""

    posteriors: dict[int, Floats | LinePosterior]
    alike: float
    apart: int
    exchanged: int


def _run(
    setup: Setup, net: Network, open_: Sequence[int], draws: int, seed: int, until: float
) -> _Chain | str:
    assert net.record is not None
    # sweeps of tables cost little beside EM; those of lines as much as its iterations
    least = _FIRST + (1 if setup.em.lines else 2) * draws
    details = net.record.details
    iterations = details["iterations"] + sum(n for n, _ in details["starts_dropped"])
    most = max(least, _TIMES * int(iterations))
    sampler = _Sampler(setup, net, open_, seed)
    kept: list[_Drawn] = []
    apart = 1
    for sweep in track(range(most), "drawing the gaps", total=most):
        if time.perf_counter() > until:
            return "there was no time left"
        drawn = sampler.sweep()
        if sweep < _FIRST or (sweep - _FIRST + 1) % apart:
            continue
        kept.append(drawn)
        if len(kept) == draws:
            posteriors = sampler.together(kept)
            alike = max((_alike(p) for p in posteriors.values()), default=0.0)
            if alike <= _ALIKE or _FIRST + 2 * apart * draws > most:
                return _Chain(posteriors, alike, apart, sampler.exchanged)
            kept, apart = kept[1::2], 2 * apart
    raise AssertionError("the last completion ends the chain")


def _alike(posterior: Floats | LinePosterior) -> float:
    """The correlation of neighbours in the chain, averaged over the numbers that vary."""
    arrays = [posterior] if isinstance(posterior, np.ndarray) else [
        posterior.weight, posterior.mean, posterior.slope, np.log(posterior.beta)
    ]  # fmt: skip
    flat = np.concatenate([a.reshape(len(a), -1) for a in arrays], axis=1)
    away = flat - flat.mean(axis=0)
    own = (away**2).sum(axis=0)
    varies = own > 1e-20 * (flat**2).sum(axis=0)
    if not varies.any():
        return 0.0
    return float(((away[1:] * away[:-1]).sum(axis=0)[varies] / own[varies]).mean())


_Drawn = tuple[Floats, dict[int, LinePosterior]]
"""The pseudo-counts of all tables with gaps, in one array, and the posteriors of lines."""


class _Sampler:
    """The chain: parameters, and the rows that are too wide to be drawn as counts."""

    def __init__(self, setup: Setup, net: Network, open_: Sequence[int], seed: int) -> None:
        em = self.em = setup.em
        self.rng = np.random.default_rng(seed)
        self.x = parameters_of(em, net)
        self.exchanged = 0
        self.relabel = Relabel(em, self.x, setup.hidden)
        layout = em.layout
        self.alpha = np.zeros(layout.cells)
        free = [i for i in range(len(layout.names)) if _prior(em, i) is not None]
        tables = [i for i in em.tables if i in free]
        for i in tables:
            layout.table(self.alpha, i)[...] = _prior(em, i)
        self.free = np.flatnonzero(self.alpha > 0)
        groups = [[layout.at[n] for n in g] for g in dict.fromkeys(em.groups.values())]
        self.tied = [g for g in groups if g[0] in tables]
        copies = {i for g in groups for i in g[1:]}
        self.lines = [
            next((g for g in groups if g[0] == i), [i])
            for i in em.lines if i in free and i not in copies
        ]  # fmt: skip
        cells = np.arange(layout.cells, dtype=np.float64)
        self.open = {i: layout.table(cells, i).astype(np.intp) for i in open_ if i in tables}
        self.open_lines = [i for i in open_ if i in free and i in em.lines]
        self.kept = np.concatenate([np.zeros(0, np.intp), *(c.ravel() for c in self.open.values())])
        self.gaps, self.weights = as_rows(*em.rows.native.left())
        self.codes = _completed(net, self.gaps, seed)

    def sweep(self) -> _Drawn:
        """Draw the gaps, then the parameters; the posteriors that these were drawn from."""
        em, layout = self.em, self.em.layout
        statistics, called = self.relabel(self._complete())
        for name, to in called.items():
            at = layout.at[name]
            self.codes[:, at] = to[self.codes[:, at]]
            self.exchanged += 1
        weights = statistics.counts + self.alpha
        for group in self.tied:
            total = sum(layout.table(statistics.counts, i) for i in group)
            for i in group:
                layout.table(weights, i)[...] = total + layout.table(self.alpha, i)
        x = Parameters(self.x.theta.copy(), self.x.lines.copy())
        self._tables(weights, x.theta)
        lines: dict[int, LinePosterior] = {}
        for group in self.lines:
            lines |= dict.fromkeys(group, self._line(group, statistics, x.lines))
        self.x = em.constrained(x)
        return weights[self.kept], {i: lines[i] for i in self.open_lines}

    def together(self, drawn: Sequence[_Drawn]) -> dict[int, Floats | LinePosterior]:
        """The posteriors of each family with gaps, with a first axis of completions."""
        out: dict[int, Floats | LinePosterior] = {}
        flat, first = np.stack([d[0] for d in drawn]), 0
        for i, cells in self.open.items():
            part = flat[:, first : first + cells.size]
            out[i] = np.ascontiguousarray(part).reshape(len(flat), *cells.shape)
            first += cells.size
        for i in self.open_lines:
            each = (np.stack([getattr(d[1][i], f.name) for d in drawn])
                    for f in fields(LinePosterior))  # fmt: skip
            out[i] = LinePosterior(*each)
        return out

    def _complete(self) -> Statistics:
        rows, x = self.em.rows, self.x
        seed = int(self.rng.integers(2**63))
        counts, moments, impossible = rows.native.draw(x.theta, x.lines, seed, rows.threads)
        assert not impossible
        if len(self.codes):
            self.codes, more = rows.native.redraw(
                x.theta, self.gaps, self.codes, self.weights, _BLOCK, seed, rows.threads
            )
            counts = counts + more
        return Statistics(counts, moments)

    def _tables(self, weights: Floats, theta: Floats) -> None:
        """Rows of Dirichlets, by logarithms of gammas: Γ(α) = Γ(α + 1)·U^(1/α)."""
        em, free = self.em, self.free
        if not len(free):
            return
        alpha = weights[free]
        logs = np.full(len(weights), -np.inf)
        logs[free] = np.log(self.rng.standard_gamma(alpha + 1.0))
        logs[free] += np.log1p(-self.rng.random(len(free))) / alpha
        high = np.maximum.reduceat(logs, em.starts)
        shifted = np.exp(logs - np.repeat(np.where(high > -np.inf, high, 0.0), em.width))
        total = np.repeat(np.add.reduceat(shifted, em.starts), em.width)
        theta[free] = shifted[free] / total[free]

    def _line(self, group: list[int], statistics: Statistics, lines: Floats) -> LinePosterior:
        em, prior = self.em, _prior(self.em, group[0])
        own = em.moments(group[0], statistics)
        for i in group[1:]:
            own = own + renamed(em.moments(i, statistics), own)
        posterior = fit_lines(own, prior, em.beliefs[group[0]].estimate).posterior
        assert posterior is not None
        intercept, slope, variance = (p[0] for p in posterior.draw(1, self.rng, self.rng))
        variance = np.maximum(variance, em.floor[group[0]])
        em.layout.line(lines, group[0])[...] = em.scaled(group[0], intercept, slope, variance)
        return posterior


def as_rows(codes: NDArray[np.int32], weights: Floats) -> tuple[NDArray[np.int32], Floats]:
    """Rows left to the engine, each whole weight as so many rows."""
    whole = np.floor(weights)
    rest = weights - whole
    times = (whole + (rest > 0)).astype(np.int64)
    if int(times.sum()) * codes.shape[1] > _COPIES:
        raise CredoError(f"rows that weigh {weights.sum():,.0f} have too many ways to be completed")
    each = np.ones(int(times.sum()))
    last = np.cumsum(times) - 1
    each[last[rest > 0]] = rest[rest > 0]
    return np.ascontiguousarray(np.repeat(codes, times, axis=0)), each


def _completed(net: Network, gaps: NDArray[np.int32], seed: int) -> NDArray[np.int32]:
    """Rows completed by draws under a network."""
    if not len(gaps):
        return gaps
    arrays = tuple(
        np.where(c < 0, v.arity, c).astype(np.min_scalar_type(v.arity))
        for v, c in zip(net.variables, gaps.T, strict=True)
    )
    filled = impute(net, Table(Block(net.schema, arrays)), "sample", rng=seed)
    assert isinstance(filled, Table)
    whole = np.stack(filled.block.arrays, axis=1)
    gap = [v.arity if counts(v) else -2 for v in net.variables]  # a state of its own in EM
    return np.ascontiguousarray(np.where(gaps == gap, gaps, whole), dtype=np.int32)
