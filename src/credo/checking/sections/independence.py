"""The independences that the graph implies, each tested on the rows.

    x ⊥ earlier non-neighbour | parents of x        for each x: they imply all others (Pearl 1988)

G² for states, Fisher's z for numbers, F of lines where both meet. A test with too few rows for its
table is not made: its p-value would mean nothing. Holm's adjusted p-values count the tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.checking.findings import SHOWN, SURE, Finding, Section, left_after, p_below, p_text
from credo.checking.sections.multiplicity import benjamini_hochberg, holm
from credo.core.errors import CredoError
from credo.core.progress import track
from credo.core.render import many
from credo.data import Table
from credo.model.values.randomness import Rng, generator
from credo.model.values.value import View
from credo.stats.family import Families, Family
from credo.stats.moments import Moments
from credo.train.independence.tests import IndependenceTest, tests_of

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["Implied", "Independence", "independence", "line_test"]

MAX_TESTS = 2000
"""At most so many independences are tested; they are drawn at random from all."""
_ROWS = 5  # rows for each cell of a table, at least


@dataclass(frozen=True, slots=True)
class Implied:
    """One independence that the graph implies, and its test."""

    test: IndependenceTest
    adjusted: float
    discovery: float
    bits: float
    turned: bool = False  # the test has the number second; the edge goes to it

    @property
    def name(self) -> str:
        """x ⊥ y | z."""
        z = f" | {', '.join(self.test.given)}" if self.test.given else ""
        return f"{self.test.x} ⊥ {self.test.y}{z}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        t = self.test
        return {
            "x": t.x, "y": t.y, "given": list(t.given), "test": t.test, "statistic": t.statistic,
            "freedom": t.freedom, "p": t.p, "adjusted": self.adjusted,
            "false_discovery_rate": self.discovery, "bits": self.bits,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Independence(Section):
    """The tests of the independences that the graph implies, least likely first.

    `bits` of a test is the information that x has on y given z, by the rows; `adjusted` is Holm's
    p-value, `discovery` that of Benjamini and Hochberg.
    """

    tests: tuple[Implied, ...]
    implied: int
    too_few: int
    level: float
    notes: tuple[str, ...] = ()

    @property
    def refuted(self) -> tuple[Implied, ...]:
        """The independences that the rows speak against, all tests taken together."""
        return tuple(t for t in self.tests if t.adjusted < self.level)

    def _view(self) -> View:
        rows = [
            [t.name, t.test.test, f"{t.test.statistic:.4g}", f"{t.bits:.4f}", p_text(t.test.p),
             p_text(t.adjusted)]
            for t in self.tests[:SHOWN]
        ]  # fmt: skip
        small = sum(t.test.p < 0.05 for t in self.tests)
        said = [
            f"{many(self.implied, 'independence')} implied, {len(self.tests):,} tested; "
            f"{p_below(small)}, chance alone gives about {0.05 * len(self.tests):.3g}; "
            f"{left_after(len(self.refuted))} Holm's adjustment at {self.level:g}"
        ]
        if self.too_few:
            said.append(f"{self.too_few:,} not tested: too few rows for their tables")
        head = ["independence", "test", "statistic", "bits", "p", "adjusted"]
        return View("independences that the graph implies", head, rows, (2, 3, 4, 5),
                    "; ".join([*said, *self.notes]))  # fmt: skip

    def findings(self) -> list[Finding]:
        """Independences that the rows speak against."""
        bad = self.refuted
        out = []
        for t in sorted(bad, key=lambda t: -t.bits)[:5]:
            z = f" given {', '.join(t.test.given)}" if t.test.given else ""
            severity = "warning" if t.bits > 0.005 else "note"
            if t.bits > 0.05 and t.adjusted < self.level / SURE:
                severity = "problem"
            out.append(
                Finding(
                    "independence",
                    f"The graph says that {t.test.x} and {t.test.y} are independent{z}; the rows "
                    f"say that one has {t.bits:.3g} bits on the other (adjusted p "
                    f"{_p(t.adjusted)}).",
                    t.bits,
                    severity,
                    f"Consider the edge {_edge(t)}.",
                    f"{t.test.x}, {t.test.y}",
                    1000 * t.bits,
                    (t.test.x, t.test.y),
                    t.adjusted,
                )
            )
        if len(bad) > 5:
            out.append(
                Finding(
                    "independence",
                    f"{len(bad) - 5:,} more of the {len(self.tests):,} independences tested "
                    f"{'is' if len(bad) == 6 else 'are'} refuted.",
                    float(len(bad) - 5),
                    "note",
                    "The table of independences has them, the least likely first.",
                )
            )
        if not bad and self.tests:
            out.append(
                Finding(
                    "independence",
                    f"The 1 independence tested is not refuted at {self.level:g}."
                    if len(self.tests) == 1
                    else f"None of the {len(self.tests):,} independences tested is refuted at "
                    f"{self.level:g}, all taken together.",
                    float(len(self.tests)),
                    "good",
                )
            )
        return out


def _edge(t: Implied) -> str:
    a, b = (t.test.x, t.test.y) if t.turned else (t.test.y, t.test.x)
    return f"{a} → {b}"


def _p(p: float) -> str:
    return "below 0.001" if p < 0.001 else f"{p:.3f}"


def independence(net: Network, table: Table, *, level: float, rng: Rng) -> Independence:
    """The section, from all rows: one native count for all tests of states."""
    have = set(table.schema.names)
    statements = []
    hidden = 0
    for s in net.dag.independences("pairwise"):
        names = (*s.x, *s.y, *s.given)
        if not have.issuperset(names):
            hidden += 1
            continue
        if any(net.variable(n).is_discrete and net.variable(n).arity == 1 for n in (*s.x, *s.y)):
            continue
        statements.append((s.x[0], s.y[0], tuple(s.given)))
    implied = len(statements) + hidden
    notes = []
    if hidden:
        notes.append(f"{hidden:,} not tested: they speak of columns that are not observed")
    if len(statements) > MAX_TESTS:
        picked = np.sort(generator(rng).choice(len(statements), MAX_TESTS, replace=False))
        statements = [statements[i] for i in picked]
        notes.append(f"{MAX_TESTS:,} of {implied:,} were drawn at random")
    rows = float(table.block.weight)
    states, others, too_few = [], [], 0
    for x, y, z in statements:
        kinds = [net.variable(n).is_discrete for n in (x, y, *z)]
        cells = prod(net.variable(n).arity for n in (x, y, *z) if net.variable(n).is_discrete)
        if cells * _ROWS > rows:
            too_few += 1
        elif all(kinds):
            states.append((x, y, z))
        else:
            others.append((x, y, z))
    found: list[IndependenceTest] = list(tests_of(table, states, "g2-adjusted")) if states else []
    for x, y, z in track(others, "testing independences", total=len(others)):
        test = _with_numbers(net, table, x, y, z)
        if test is None:
            too_few += 1
        else:
            found.append(test)
    if any(table.block.gaps):
        notes.append("each test uses the rows in which its variables were observed")
    adjusted = holm([t.p for t in found])
    discovery = benjamini_hochberg([t.p for t in found])
    out = [
        Implied(t, float(a), float(d), _bits(t, rows), t.test == "f-lines")
        for t, a, d in zip(found, adjusted, discovery, strict=True)
    ]
    out.sort(key=lambda t: (t.test.p, -t.bits))
    return Independence(tuple(out), implied, too_few, level, tuple(notes))


def _with_numbers(
    net: Network, table: Table, x: str, y: str, z: tuple[str, ...]
) -> IndependenceTest | None:
    """A test in which a number takes part; None where the rows cannot tell."""
    discrete = {n: net.variable(n).is_discrete for n in (x, y, *z)}
    try:
        if not any(discrete.values()):
            return tests_of(table, [(x, y, z)], "fisher-z")[0]
        if discrete[y]:
            x, y = y, x
        if discrete[y]:
            return None  # two states given a number: a discrete child has no such parent
        moments = table.tally(Families.of([Family(y, (*z, x))]))[Family(y, (*z, x))]
        assert isinstance(moments, Moments)
        return line_test(moments, x, y, z)
    except CredoError:
        return None


def _bits(test: IndependenceTest, rows: float) -> float:
    """The information that x has on y given z, less what chance alone would give."""
    if test.test.startswith("g2"):
        return max(test.statistic - test.freedom, 0.0) / (2 * rows * log(2))
    if test.test == "fisher-z":
        r = np.tanh(test.statistic / np.sqrt(max(test.freedom, 1.0)))
        return max(float(-0.5 * np.log2(max(1 - r**2, 1e-300))) - 0.5 / (rows * log(2)), 0.0)
    return max(test.statistic - test.freedom, 0.0) / (2 * rows * log(2))


# --- A test of x ⊥ y | z for a number y and anything else: lines with x beside lines without.
#     F_u = ((RSS₀ − RSS₁) / Δp) / (RSS₁ / (n − p₁))      in each configuration u of the states in z
#
# Within a configuration the variance is one, so F is exact under the model; the p-values of the
# configurations are combined by Fisher's −2 Σ ln p_u ~ χ²(2U).

Floats = NDArray[np.float64]


def line_test(moments: Moments, x: str, y: str, given: Sequence[str]) -> IndependenceTest | None:
    """The test of y (continuous) on x given z, from their moments; None if no rows can tell.

    The name in the result is 'f-lines'.
    """
    from scipy.special import chdtrc, fdtrc

    discrete = [v.name for v in moments.discrete]
    lines = [n for n in given if n not in discrete]
    states = [n for n in given if n in discrete]
    if x in discrete:
        whole = moments.marginal([*states, x, *lines, y])
        groups = _groups(whole, [whole.discrete[i].name for i in range(len(whole.discrete))], x)
        below = moments.marginal([*states, *lines, y])
        full = [[whole.scatter[i] for i in members] for members in groups.values()]
        sizes = [[float(whole.n[i]) for i in members] for members in groups.values()]
        base = {tuple(c): i for i, c in enumerate(below.configurations.tolist())}
        null = [below.scatter[base[key]] for key in groups]
        extra = 0
    else:
        whole = moments.marginal([*states, *lines, x, y])
        full = [[s] for s in whole.scatter]
        sizes = [[float(n)] for n in whole.n]
        keep = [*range(len(lines)), len(lines) + 1]
        null = [s[np.ix_(keep, keep)] for s in whole.scatter]
        extra = 1
    k = len(lines)
    total, combined = 0, 0.0
    for parts, n, s0 in zip(full, sizes, null, strict=True):
        used = [(s, m) for s, m in zip(parts, n, strict=True) if m > k + 1 + extra]
        if len(used) < (1 if extra else 2) or len(used) < len(parts):
            # a state with too few rows for a line of its own: the test would not be exact
            if not (extra == 0 and k == 0):
                continue
            used = list(zip(parts, n, strict=True))
            if len(used) < 2:
                continue
        rss1, rss0 = sum(_rss(s) for s, _ in used), _rss(s0)
        p1 = len(used) * (k + 1 + extra)
        p0 = k + 1
        rows = sum(m for _, m in used)
        free = rows - p1
        if free <= 0 or not rss1 > 0 or p1 <= p0:
            continue
        f = max((rss0 - rss1) / (p1 - p0), 0.0) / (rss1 / free)
        combined -= 2 * log(max(float(fdtrc(p1 - p0, free, f)), 1e-300))
        total += 1
    if not total:
        return None
    p = float(chdtrc(2 * total, combined))
    return IndependenceTest(x, y, tuple(given), "f-lines", combined, float(2 * total), p)


def _groups(moments: Moments, names: Sequence[str], x: str) -> dict[tuple[int, ...], list[int]]:
    """Configurations by those of all but x."""
    at = list(names).index(x)
    out: dict[tuple[int, ...], list[int]] = {}
    for i, c in enumerate(moments.configurations.tolist()):
        out.setdefault(tuple(c[:at] + c[at + 1 :]), []).append(i)
    return out


def _rss(scatter: Floats) -> float:
    """What is left of the last variable after a line in the others."""
    k = len(scatter) - 1
    if not k:
        return float(scatter[0, 0])
    size = np.sqrt(np.diag(scatter)[:k])
    safe = np.where(size > 0, size, 1.0)
    inner = scatter[:k, :k] / np.outer(safe, safe)
    right = scatter[:k, k] / safe
    return max(float(scatter[k, k] - right @ np.linalg.pinv(inner, hermitian=True) @ right), 0.0)
