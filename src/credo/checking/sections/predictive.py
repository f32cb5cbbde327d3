"""Posterior predictive checks: do tables that the model generates look like the one seen?

For a statistic T, with replicates r = 1 … R drawn from the posterior,

    p = 2 · min( P(T_r ≤ T_seen), P(T_r ≥ T_seen) )        (Rubin 1984; Gelman, Meng & Stern 1996)

R replicates cannot tell p-values below 2/(R + 1) apart. Where the table seen lies beyond all of
them the tail of a Gaussian through them takes over (on a scale on which the statistic is nearly
Gaussian), for extremes that of a Gumbel distribution; so there, p is approximate. There are many
statistics, so Holm's adjusted p-values are given too: they count the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import erfc, exp, expm1, pi, sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credo.checking.again.replicates import replicates
from credo.checking.findings import SHOWN, Finding, Section, left_after, p_below, p_text, pick
from credo.checking.sections.multiplicity import holm
from credo.checking.sections.statistics import MAX_INDICATORS, Named, Statistics
from credo.core.errors import InputError
from credo.core.render import many, number, shortened
from credo.data import Table
from credo.model.distributions.predictive_check import Check, compared
from credo.model.values.randomness import Rng, generator
from credo.model.values.reals import NotReal, real, shown
from credo.model.values.value import View
from credo.predict.intervals.draws import has_posterior

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["Discrepancy", "Predictive", "own_statistics", "predictive"]

Floats = NDArray[np.float64]

MAX_PAIRS = 2000
"""Pairs of variables that are looked at; edges come first."""


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """A statistic of the table seen beside that of the replicates.

    `lower` and `upper` hold 95 % of the replicates; `p` is two-sided, `adjusted` is Holm's.
    """

    name: str
    variables: tuple[str, ...]
    observed: float
    lower: float
    upper: float
    mean: float
    sd: float
    p: float
    adjusted: float

    @property
    def z(self) -> float:
        """How many standard deviations of the replicates the table seen lies from their mean."""
        return (self.observed - self.mean) / self.sd if self.sd > 0 else 0.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Predictive(Section):
    """Statistics of the table seen beside those of tables that the model generates.

    `checks` has them all, least likely first; `generated[name]` are the replicates of one.
    """

    checks: tuple[Discrepancy, ...]
    rows: int
    draws: int
    level: float
    notes: tuple[str, ...] = ()
    generated: Mapping[str, Floats] = field(default_factory=dict, metadata={"json": False})

    def __getitem__(self, name: str) -> Discrepancy:
        return pick(self.checks, "name", name, "Statistic", "in the report")

    @property
    def unrealistic(self) -> tuple[Discrepancy, ...]:
        """The statistics that the model does not reproduce, all tests taken together."""
        return tuple(c for c in self.checks if c.adjusted < self.level)

    def _view(self) -> View:
        rows = [
            [c.name, number(c.observed, 4), f"{number(c.lower, 4)} to {number(c.upper, 4)}",
             p_text(c.p), p_text(c.adjusted)]
            for c in self.checks[:SHOWN]
        ]  # fmt: skip
        small = sum(c.p < 0.05 for c in self.checks)
        counted = (
            f"{len(self.checks):,} statistic{'s' * (len(self.checks) != 1)}; {p_below(small)}, "
            f"chance alone gives about {number(round(0.05 * len(self.checks), 1))}; "
            f"{left_after(len(self.unrealistic))} Holm's adjustment at {self.level:g}"
        )
        title = f"{self.draws:,} generated tables of {many(self.rows, 'row')}"
        head = ["statistic", "seen", "95 % of generated", "p", "adjusted"]
        return View(title, head, rows, (1, 2, 3, 4), "; ".join([counted, *self.notes]))

    def findings(self) -> list[Finding]:
        """The statistics that the model does not reproduce."""
        bad = self.unrealistic
        if not bad:
            return [
                Finding(
                    "predictive",
                    f"Generated tables look like the one seen: none of {len(self.checks):,} "
                    f"statistics is out of the ordinary at {self.level:g}, all taken together.",
                    float(len(self.checks)),
                    "good",
                )
            ]
        out = []
        for c in bad[:5]:
            side = "larger" if c.observed > c.mean else "smaller"
            out.append(
                Finding(
                    "predictive",
                    f"The {c.name} is {number(c.observed, 4)}, {side} than in almost all generated "
                    f"tables ({number(c.lower, 4)} to {number(c.upper, 4)}).",
                    c.observed,
                    _severity(c),
                    _advice(c),
                    ", ".join(c.variables),
                    min(abs(c.z), 1e6),
                    c.variables,
                    c.adjusted,
                )
            )
        if len(bad) > 5:
            out.append(
                Finding(
                    "predictive",
                    f"{len(bad) - 5:,} more "
                    f"{'statistic is' if len(bad) == 6 else 'statistics are'} out of the ordinary, "
                    f"{'that' if len(bad) == 6 else 'such as those'} of "
                    f"{shortened(dict.fromkeys(n for c in bad[5:] for n in c.variables))}.",
                    float(len(bad) - 5),
                    "warning",
                    "The table of statistics has them, the least likely first.",
                )
            )
        return out


_SIZES = {"information": (0.05, 0.005), "share": (0.05, 0.01), "correlation": (0.1, 0.03)}


def _severity(c: Discrepancy) -> str:
    """By how far off it is, not by how surely: with many rows the least difference is sure."""
    large, small = _SIZES.get(c.name.split(" ", 1)[0], (6.0, 0.0))
    away = abs(c.z) if large == 6.0 else abs(c.observed - c.mean)
    return "problem" if away > large else "warning" if away > small else "note"


def _advice(c: Discrepancy) -> str:
    if len(c.variables) == 2:
        a, b = c.variables
        if c.observed > c.mean or c.name.startswith("correlation"):
            return f"Consider an edge between {a} and {b}, or a common cause of both."
        return f"The model ties {a} and {b} more closely than the rows do: reconsider their edge."
    if c.name.startswith(("skewness", "least", "largest")):
        return f"A Gaussian does not have that shape: transform {c.variables[0]}, or cut it."
    return f"The distribution of {', '.join(c.variables) or 'the rows'} has changed, or was set."


def wanted_pairs(
    net: Network, table: Table, chance: np.random.Generator
) -> tuple[list[tuple[str, str]], list[str]]:
    """Pairs of variables to look at: the edges first, then others; and what is left out."""
    every = [v for v in table.schema.variables if not v.is_discrete or v.arity > 1]
    edges = [(a, b) for a, b in net.dag.edges if a in table.schema and b in table.schema]
    joined = {frozenset(e) for e in edges}
    sizes = {v.name: v.arity if v.is_discrete else 1 for v in every}
    total = len(every) * (len(every) - 1) // 2
    if sum(sizes.values()) <= MAX_INDICATORS and total <= MAX_PAIRS:
        names = [v.name for v in every]
        return [(a, b) for i, b in enumerate(names) for a in names[:i]], []
    chosen: dict[str, None] = {}
    room = MAX_INDICATORS
    order = [n for e in edges for n in e]
    order += [every[i].name for i in chance.permutation(len(every))]
    for name in order:
        if name in sizes and name not in chosen and sizes[name] <= room and len(chosen) < 200:
            chosen[name] = None
            room -= sizes[name]
    names = list(chosen)
    pairs = [e for e in edges if e[0] in chosen and e[1] in chosen][:MAX_PAIRS]
    others = [
        (a, b) for i, b in enumerate(names) for a in names[:i] if frozenset((a, b)) not in joined
    ]
    picked = chance.permutation(len(others))[: MAX_PAIRS - len(pairs)]
    pairs += [others[i] for i in np.sort(picked)]
    return pairs, [f"{len(pairs):,} of {total:,} pairs looked at"]


def predictive(
    net: Network,
    table: Table,
    *,
    draws: int,
    rng: Rng,
    level: float,
    statistics: Mapping[str, Callable[[Table], float]] | None = None,
    notes: Sequence[str] = (),
    look: Callable[[Table], None] | None = None,
) -> Predictive:
    """The section; `look` is shown every replicate, for checks that share them."""
    from threadpoolctl import threadpool_limits  # comes with scikit-learn

    chance = generator(rng)
    pairs, said = wanted_pairs(net, table, chance)
    plan = Statistics(table, pairs)
    own = dict(statistics or {})
    named = [*plan.named, *(Named(n, (), "plain") for n in own)]
    seen = np.concatenate([plan.of(table), _own(own, table)])
    found = np.empty((draws, len(seen)))
    with threadpool_limits(1):  # small products: threads would only wait for each other
        for i, one in enumerate(replicates(net, table, draws, chance)):
            found[i] = np.concatenate([plan.of(one), _own(own, one)])
            if look is not None:
                look(one)
    if not any(map(has_posterior, net.distributions.values())):
        said = [*said, "the network has no posterior, so its own numbers generate"]
    if any(table.block.gaps):
        said = [*said, "generated tables have the gaps of the one seen"]
    checks = [compared(n.name, float(seen[k]), found[:, k]) for k, n in enumerate(named)]
    p = np.array(
        [_tail(c, n, found[:, k]) for k, (c, n) in enumerate(zip(checks, named, strict=True))]
    )
    adjusted = holm(p)
    order = sorted(range(len(p)), key=lambda k: (p[k], -_away(checks[k], found[:, k])))
    out = tuple(
        Discrepancy(
            checks[k].name, named[k].variables, checks[k].observed, checks[k].lower,
            checks[k].upper, checks[k].mean, float(found[:, k].std()), float(p[k]),
            float(adjusted[k]),
        )
        for k in order
    )  # fmt: skip
    kept = {named[k].name: found[:, k] for k in order}
    return Predictive(out, len(table), draws, level, (*notes, *said), kept)


def own_statistics(statistics: object, table: Table) -> None:
    """Refuse statistics that are not functions of a table that give a number."""
    if statistics is None:
        return
    if not isinstance(statistics, Mapping) or not all(callable(f) for f in statistics.values()):
        raise InputError(
            f"statistics must map each name to a function of a table, got {shown(statistics)}.",
            hint='Write statistics={"share": lambda table: float((table["x"] == "yes").mean())}.',
        )
    _own(statistics, table)


def _own(statistics: Mapping[str, Callable[[Table], float]], table: Table) -> Floats:
    out = []
    for name, function in statistics.items():
        try:
            out.append(real(function(table)))
        except NotReal as no:
            raise InputError(f"The statistic {name!r} must be a number, got {no}.") from None
        except Exception as error:
            raise InputError(f"The statistic {name!r} failed: {error!r}.") from error
    return np.array(out)


def _away(check: Check, there: Floats) -> float:
    sd = float(there.std())
    return abs(check.observed - check.mean) / sd if sd > 0 else 0.0


def _tail(check: Check, named: Named, there: Floats) -> float:
    """The p-value; beyond all replicates the tail of a Gaussian through them."""
    if check.p > 2.5 / (len(there) + 1) or there.min() <= check.observed <= there.max():
        return check.p
    scaled = _scaled(np.append(there, check.observed), named.scale)
    sd = float(scaled[:-1].std(ddof=1))
    if not sd > 0:
        return check.p
    z = (float(scaled[-1]) - float(scaled[:-1].mean())) / sd
    p = erfc(abs(z) / sqrt(2))
    if named.scale in ("least", "largest"):
        p = max(p, _gumbel(-z if named.scale == "least" else z))
    return min(check.p, max(p, 1e-9))  # further out the tail is anyone's guess


def _gumbel(z: float) -> float:
    """Both tails of a Gumbel distribution: that of the largest of many numbers."""
    reduced = exp(-min(max(z * pi / sqrt(6) + 0.5772156649, -6.0), 700.0))
    return 2 * min(-expm1(-reduced), exp(-reduced))


def _scaled(values: Floats, scale: str) -> Floats:
    """Values on a scale on which they are nearly Gaussian."""
    if scale == "information":  # near a χ², whose cube root is nearly Gaussian
        return np.cbrt(values)
    if scale == "correlation":
        return np.arctanh(np.clip(values, -1 + 1e-12, 1 - 1e-12))
    if scale == "share":
        return np.arcsin(np.sqrt(np.clip(values, 0.0, 1.0)))
    return values
