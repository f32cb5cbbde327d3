"""Parameters drawn from the posterior of a network, and a plan run under all draws at once.

    θ_u ~ Dirichlet(α_u),  the rows of a table independently;   lines as in LinePosterior.draw

Every family draws from generators of its own, seeded by `rng` and its name: the same seed gives
the same parameters whatever is asked, in whatever blocks they are drawn. Tied families share one.
Where EM kept the posteriors of some completions of its rows, the draws go through these in order,
all families together: draw d of D is given completion ⌊d·K/D⌋ of K (fewer draws than completions
begin at any of them).

The draws are the batch of a plan, [draws, cells] for each table. Entries below 1e-60 are taken as
0 at first, because numbers that small make the engine carry exponents of their own, at fifty times
the cost. Each can hide at most its own size of probability, so where P(e) does not stand far above
the sum of what was left out, the draw runs again with nothing left out: every answer is right to
1e-13.

    w⁽ᵈ⁾_u = P(u | e, θ⁽ᵈ⁾),   p⁽ᵈ⁾(t | e) = Σ_u w⁽ᵈ⁾_u N(t; m⁽ᵈ⁾_u, S⁽ᵈ⁾_u)

Of continuous variables the same algebra as for one set of parameters has the draws as its batch;
of the mixture of each draw its mean, standard deviations and correlations are kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError
from credo.core.progress import track
from credo.model.answers.credible import Credible
from credo.model.answers.number_answer import moments_behind
from credo.model.networks.count_table import CountTable
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.softmax import Softmax, SoftmaxTable
from credo.model.values.randomness import Rng, generator
from credo.predict.exact.engine import ENGINES, MAX_WORK, Engine, engine_of
from credo.predict.mixed.densities import row_tables
from credo.predict.mixed.gaussian_groups import width
from credo.predict.questions.evidence import Evidence

if TYPE_CHECKING:
    from credo.model.networks.network import Local, Network
    from credo.predict.exact.engine import Engine
    from credo.predict.mixed.posterior import Cases
    from credo.predict.questions.evidence import Evidence

__all__ = [
    "MAX_GAUSSIANS",
    "MAX_NUMBERS",
    "DrawnPlan",
    "Draws",
    "MomentDraws",
    "dirichlet_rows",
    "gaps_drawn",
    "has_posterior",
    "moment_draws",
    "network_of",
    "networks_of",
]

Floats = NDArray[np.float64]

Line = tuple[Floats, Floats, Floats]

_TINY = 0.1  # rows worth fewer imagined rows than this are drawn as logarithms


def has_posterior(local: Local) -> bool:
    """Whether a distribution knows how sure it is; a softmax does where its numbers are known."""
    if isinstance(local, Softmax):
        return False
    return local.has_posterior if isinstance(local, Cpt) else local.posterior is not None


class Draws:
    """`draws` draws of one seed; each call of `next` goes on where the last one ended."""

    def __init__(self, net: Network, rng: Rng, draws: int = 1000) -> None:
        if not any(map(has_posterior, net.distributions.values())):
            searched = net.record is not None and bool(net.record.details.get("search"))
            also = ", or learn it so: cr.learn(rows, parameters=cr.BDeu(1))" if searched else ""
            raise InputError(
                "This network has no posterior, so it cannot say how sure it is.",
                hint="Learn its parameters with a prior: "
                f"cr.fit(net, rows, prior=cr.BDeu(1)){also}.",
            )
        self.net, self.draws = net, draws
        if isinstance(rng, np.random.Generator):
            rng = int(rng.integers(2**63))
        generator(rng)  # refuses what is not a seed
        self.seed = int(rng)
        self._sources: dict[str, tuple[np.random.Generator, np.random.Generator]] = {}
        self._done: dict[str, int] = {}

    def interval(self, samples: Floats, level: float) -> Credible:
        """The interval of something under each draw, in their order along the first axis."""
        return Credible.of(samples, level, gaps_drawn(self.net))

    def next(self, names: Iterable[str], n: int) -> dict[str, Any]:
        """The next `n` draws of some families: [n, cells] for a table, a `Line` for a line."""
        out: dict[str, Any] = {}
        shared: dict[str, Any] = {}
        for name in names:
            local = self.net.distributions[name]
            if not has_posterior(local):
                continue
            key = local.learned.tied[0] if local.learned and local.learned.tied else name
            if key not in shared:
                shared[key] = self._draw(local, key, n)
            out[name] = shared[key]
        return out

    def _draw(self, local: Local, key: str, n: int) -> Any:
        gammas, others = self._generators(key)
        completed = _completed(local)
        if completed is not None:
            done = self._done.get(key, 0)
            self._done[key] = done + n
            many = len(completed if isinstance(completed, np.ndarray) else completed.weight)
            at = (self._first(many) + (done + np.arange(n)) * many // self.draws) % many
            if isinstance(completed, np.ndarray):
                return dirichlet_rows(completed[at], 1, gammas, others).reshape(n, -1)
            return tuple(part[0] for part in completed.take(at).draw(1, gammas, others))
        if isinstance(local, LinearGaussian):
            assert local.posterior is not None
            return local.posterior.draw(n, gammas, others)
        if isinstance(local, CountTable | SoftmaxTable):
            return local.drawn(n, gammas, others)
        assert isinstance(local, Cpt) and local.counts is not None
        if not (local.counts.sum(axis=-1) > 0).all():
            raise InputError(
                f"The posterior of {local.name!r} has a row without counts: nothing can be drawn.",
                hint="Learn it with a prior, such as cr.BDeu(1).",
            )
        return dirichlet_rows(local.counts, n, gammas, others)

    def _first(self, many: int) -> int:
        """The completion of the first draw."""
        if self.draws >= many:
            return 0
        return int(np.random.default_rng(self.seed).integers(many))

    def _generators(self, key: str) -> tuple[np.random.Generator, np.random.Generator]:
        found = self._sources.get(key)
        if found is None:
            digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            words = np.frombuffer(digest, dtype="<u4").tolist()
            first, second = (
                np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(*words, i)))
                for i in (0, 1)
            )
            found = self._sources[key] = (first, second)
        return found


def gaps_drawn(net: Network) -> bool:
    """Whether the posterior of a network includes what the gaps of its rows leave uncertain."""
    return any(_completed(d) is not None for d in net.distributions.values())


def _completed(local: Local) -> Any:
    """The posteriors after some completions of the rows, if there are any."""
    return None if local.learned is None else local.learned.completed


def network_of(net: Network, drawn: Mapping[str, Any], i: int, least: float = 0.0) -> Network:
    """The network of one of some draws, no entry of its tables below `least`."""
    locals_: dict[str, Local] = dict(net.distributions)
    for name, values in drawn.items():
        local = net.distributions[name]
        if isinstance(local, Cpt):
            entries = np.maximum(values[i], least).reshape(local.shape)
            locals_[name] = Cpt.trusted(local.child, local.parents, entries, None, None)
        else:
            intercept, slope, variance = (part[i] for part in values)
            variance = np.maximum(variance, _LEAST)
            locals_[name] = LinearGaussian(local.child, local.parents, intercept, slope, variance)
    return type(net).trusted(net.dag, locals_, None)


def networks_of(source: Draws) -> Iterator[Network]:
    """The networks of all draws, one after the other; they share compiled plans."""
    net = source.net
    engine = engine_of(net)
    for _ in range(source.draws):
        drawn = network_of(net, source.next(net.names, 1), 0, _SMALL)
        tables = [
            local.values.ravel() if isinstance(local, Cpt) else own
            for own, local in zip(
                engine.tables, (drawn.distributions[n] for n in net.names), strict=True
            )
        ]
        ENGINES[drawn] = engine.under(drawn, tables)
        yield drawn


def dirichlet_rows(
    alpha: Floats, n: int, gammas: np.random.Generator, uniforms: np.random.Generator
) -> Floats:
    """Draws of every row of a table, flat: [n, cells]. Gammas divided by their sum.

    >>> two = [np.random.default_rng(s) for s in (0, 1)]
    >>> dirichlet_rows(np.array([[1.0, 2.0], [3.0, 1.0]]), 5, *two).shape
    (5, 4)
    """
    r = alpha.shape[-1]
    flat = alpha.reshape(-1, r)
    tiny = flat.sum(axis=1) < _TINY
    if not tiny.any():
        g = gammas.standard_gamma(flat, (n, *flat.shape))
    else:
        # Γ(α) = Γ(α + 1)·U^(1/α): as logarithms, so that a row of tiny gammas does not vanish
        low = np.where(tiny[:, None], flat + 1.0, flat)
        g = gammas.standard_gamma(low, (n, *flat.shape))
        u = uniforms.random((n, int(tiny.sum()), r))
        with np.errstate(divide="ignore"):  # a count of 0 is a probability of 0
            logs = np.log(g[:, tiny]) + np.log1p(-u) / flat[tiny]
        g[:, tiny] = np.exp(logs - logs.max(axis=-1, keepdims=True))
    g /= g.sum(axis=-1, keepdims=True)
    out: Floats = g.reshape(n, -1)
    return out


MAX_NUMBERS = 200_000_000
"""Draws times the numbers kept of each may be this many."""

_BYTES = 128 * 2**20  # tables drawn at once
_SMALL = 1e-60  # an entry below this is left out at first
_RIGHT = 1e-13  # the share of P(e) that what is left out may have


class DrawnPlan:
    """One question: the evidence, more variables known (`first`), and the targets."""

    def __init__(
        self, engine: Engine, evidence: Evidence, first: Sequence[str], targets: Sequence[str]
    ) -> None:
        engine = engine.given(evidence.values, evidence.hard)
        self.engine, self.evidence = engine, evidence
        self.row = engine.row(evidence, without=first)
        observed = [*self.row.observed, *(engine.at[n] for n in first)]
        self.plan = engine.plan(observed, [engine.at[n] for n in targets], soft=self.row.soft)
        pruned = set(self.plan.pruned)
        net = engine.net
        names = [n for i, n in enumerate(net.names) if i not in pruned]
        # a line that the plan leaves out may still be part of another line's density
        lines = [*engine.lines(evidence.values)]
        lines += [n for t in evidence.tables for n in t.cases.group.names]
        lines = [n for n in dict.fromkeys(lines) if n not in names]
        self.drawn = [n for n in (*names, *lines) if has_posterior(net.distributions[n])]

    def check(self, draws: int, numbers: int, times: int = 1) -> None:
        """Refuse what would not fit, or would take hours, before anything is drawn."""
        if draws * numbers > MAX_NUMBERS:
            raise LimitError(
                f"{draws:,} draws of {numbers:,} probabilities are {draws * numbers:,} numbers; at "
                f"most {MAX_NUMBERS:,} are allowed.",
                hint="Use fewer draws, or ask for fewer variables at once.",
            )
        if self.plan.flops * draws * times > MAX_WORK:
            raise LimitError(
                f"The question needs {self.plan.flops * draws * times:,.0f} multiplications for "
                f"{draws:,} draws; at most {MAX_WORK:,} are allowed.",
                hint="Use fewer draws, observe more variables, or ask for fewer at once.",
            )

    def run(
        self, source: Draws, draws: int, configurations: Sequence[Sequence[int]] = ((),)
    ) -> Iterator[tuple[Floats, Floats]]:
        """ln P(e) [block, configurations] and the targets' posteriors, block by block of draws.

        The configurations are those of `first`.
        """
        for n in track(self._blocks(draws), "drawing parameters", total=draws, size=int):
            exact, scale = self._tables(source.next(self.drawn, n))
            tables, left = _without_small(exact)
            logs, flats = [], []
            for row in configurations:
                log_e, flat = self._once(tables, n, row)
                weak = np.flatnonzero(log_e < left) if left > -np.inf else ()
                if len(weak):
                    part = [t[weak] if t.ndim == 2 else t for t in exact]
                    log_e[weak], flat[weak] = self._once(part, len(weak), row)
                logs.append(log_e + scale)
                flats.append(flat)
            yield np.stack(logs, axis=1), np.stack(flats, axis=1)

    def _once(self, tables: list[Floats], n: int, row: Sequence[int]) -> tuple[Floats, Floats]:
        batch = np.tile(np.array([*self.row.codes[0], *row], dtype=np.int32), (n, 1))
        log_e, flat, _ = self.plan.run(tables, batch, self.row.likelihoods, 1)
        return np.asarray(log_e), flat

    def _tables(self, drawn: Mapping[str, Any]) -> tuple[list[Floats], Any]:
        engine = self.engine
        tables = list(engine.tables)
        for name, values in drawn.items():
            if isinstance(values, np.ndarray):
                tables[engine.at[name]] = np.ascontiguousarray(values)
        for table in self.evidence.tables:
            values = table.values(drawn)
            flat = np.ascontiguousarray(values.reshape(len(values), -1))
            tables[engine.at[table.name]] = flat if len(flat) > 1 else flat[0]
        if not self.evidence.values:
            return tables, 0.0
        lines = {name: values for name, values in drawn.items() if isinstance(values, tuple)}
        seen = {name: np.array([v]) for name, v in self.evidence.values.items()}
        return row_tables(engine, seen, self.evidence.hard, tables, lines)

    def _blocks(self, draws: int) -> Iterator[int]:
        cells = sum(self.engine.tables[self.engine.at[n]].size for n in self.drawn)
        cells += 2 * self.engine.numbers
        most = max(int(_BYTES // (8 * max(cells, 1))), 1)
        for start in range(0, draws, most):
            yield min(most, draws - start)


def _without_small(tables: list[Floats]) -> tuple[list[Floats], float]:
    """The tables with small entries as 0, and the ln P(e) below which that may matter."""
    out, most = [], 0
    for table in tables:
        if table.ndim == 2:
            small = (table < _SMALL) & (table > 0)
            found = int(small.sum(axis=1).max(initial=0))
            if found:
                most += found
                table = np.where(small, 0.0, table)
        out.append(table)
    return out, float(np.log(most * _SMALL / _RIGHT)) if most else -np.inf


MAX_GAUSSIANS = 4_000_000_000
"""Draws times the numbers of all Gaussians may be this many, worked through in blocks."""
_BLOCK = 2_000_000
_LEAST = 1e-290  # of a variance


@dataclass(frozen=True)
class MomentDraws:
    """Under each draw, for each state of the discrete targets: p, mean and covariance."""

    p: Floats
    """[draws, states]"""
    mean: Floats
    """[draws, states, t]"""
    covariance: Floats
    """[draws, states, t, t]"""

    @property
    def sd(self) -> Floats:
        """[draws, states, t]"""
        variance = np.diagonal(self.covariance, axis1=-2, axis2=-1)
        out: Floats = np.sqrt(np.maximum(variance, _LEAST))
        return out

    @property
    def correlation(self) -> Floats:
        """[draws, states, t, t]"""
        sd = self.sd
        out: Floats = self.covariance / (sd[..., :, None] * sd[..., None, :])
        return np.clip(out, -1.0, 1.0)


_POINTS = 320  # at which a transform is looked at for its moments


def moment_draws(
    cases: Cases,
    weights: Floats,
    good: NDArray[np.bool_],
    states: int,
    evidence: Evidence,
    source: Draws,
    scale: Any = None,
) -> MomentDraws:
    """The moments under each draw that is `good`; `weights` [good draws, u…] are its mixtures'.

    Those of a number behind a transform are its own: `scale` is that of the one target.

    The first variables of the cases, with `states` states together, are targets themselves.
    """
    draws, t = len(good), len(cases.targets)
    shape = cases.shape
    wide = width(cases.group, cases.targets) + 1
    each = prod(p.arity for p in cases.parents) * 2 * wide**2 + prod(shape) * t * t
    if each * draws > MAX_GAUSSIANS:
        raise LimitError(
            f"{draws:,} draws of {prod(shape):,} Gaussians over {len(cases.group.lines)} "
            f"variables are {each * draws:,} numbers; at most {MAX_GAUSSIANS:,} are worked "
            "through.",
            hint="Use fewer draws, or observe more variables.",
        )
    step = max(_BLOCK // (each if scale is None else _POINTS * each), 1)
    names = cases.group.names
    p, means, covariances = [], [], []
    done = 0
    starts = range(0, draws, step)
    for start in track(starts, "drawing lines", total=len(starts)):
        n = min(step, draws - start)
        drawn = source.next(names, n)
        kept = good[start : start + n]
        part = {k: tuple(x[kept] for x in v) for k, v in drawn.items()}
        count = int(kept.sum())
        if not count:
            continue
        w = weights[done : done + count].reshape(count, states, -1)
        done += count
        m, c = cases.conditioned(evidence, part)
        m = np.broadcast_to(m, (count, *shape, t)).reshape(count, states, -1, t)
        c = np.broadcast_to(c, (count, *shape, t, t)).reshape(count, states, -1, t, t)
        if scale is not None:
            m, c = (x.reshape(count, states, -1) for x in (m, c))
            m, c = moments_behind(scale, m, c, fine=False)
            m, c = m[..., None], c[..., None, None]
        total = w.sum(axis=-1)
        w = w / np.where(total > 0, total, 1.0)[..., None]
        middle = np.einsum("dsk,dskt->dst", w, m)
        away = m - middle[:, :, None]
        spread = np.einsum("dsk,dskij->dsij", w, c)
        spread += np.einsum("dsk,dski,dskj->dsij", w, away, away)
        p.append(total)
        means.append(middle)
        covariances.append(spread)
    return MomentDraws(np.concatenate(p), np.concatenate(means), np.concatenate(covariances))
