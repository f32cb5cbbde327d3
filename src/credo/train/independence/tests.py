"""Tests of conditional independence: x ⊥ y | z, from the same counts and moments as the scores.

    G² = 2 Σ n_xyz ln( n_xyz n_z / (n_xz n_yz) )        X² = Σ (n − e)² / e,  e = n_xz n_yz / n_z
    Fisher's z = √(N − |z| − 3) · atanh(partial correlation)

G² and X² have (|x| − 1)(|y| − 1)|z| degrees of freedom; the adjusted tests (`g2-adjusted`,
`x2-adjusted`) count, for each configuration of z, only the states of x and y that were seen. Where
a fifth of their cells expect fewer than five rows, or one less than a row, neither is near χ²: p is
then that of X² by the gamma distribution with its mean and variance given the margins, which are
exact (Haldane 1940). `mi` and `mi-adjusted` are G² by its other name: 2N times the mutual
information I(x; y | z) in nats.

Where discrete and continuous variables meet (`g2-mixed`), G² is the same ratio of likelihoods under
the conditional Gaussian L(S): the configurations of the discrete variables of S, and in each a
Gaussian of the continuous ones,

    G² = 2 ( ln L(xyz) + ln L(z) − ln L(xz) − ln L(yz) )

with as many degrees of freedom f as parameters differ. p is that of f G² / E(G²), whose mean is
right with few rows too (Bartlett 1937): E ln|S| of n rows of k columns is that of |Σ| and
Σ_{i ≤ k} (ψ((n − i)/2) + ln 2), and Σ goes out. Configurations with too few rows for a Gaussian, or
where a column is constant or a sum of others, are left out.

One of x and y must be continuous there where z has a continuous variable. Then the parts that x and
y do not share cancel, and what is left compares two regressions of the continuous one. For two
discrete variables given a continuous d nothing cancels: d is taken to be Gaussian, and Gaussian in
each state of x, which cannot both be, and the ratio has no known distribution. There a logistic
regression (`logistic`, see `logistic_tests`) looks at the rows. A search does not make that test:
in a network without continuous parents of discrete variables, two discrete variables that are not
joined are independent given the parents of one, all discrete.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, SchemaError
from credo.core.render import text_html
from credo.core.schema import Schema
from credo.data import Table
from credo.model.values.reals import shown
from credo.stats.configurations import named
from credo.stats.counts import Counts
from credo.stats.family import Families, Family
from credo.stats.moments import Moments
from credo.stats.tally import Source
from credo.train.independence.logistic import logistic_test
from credo.train.independence.partial_correlations import Correlations, UntestableError, collinear

__all__ = ["TESTS", "IndependenceTest", "ManyTests", "independence_test", "tests_of"]

TESTS = (
    "g2", "g2-adjusted", "x2", "x2-adjusted", "mi", "mi-adjusted",
    "fisher-z", "g2-mixed", "logistic",
)  # fmt: skip
"""The tests by name."""
_ROWS = 5  # expected in most cells where G² and X² are taken as χ²

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class IndependenceTest:
    """The result of one test. `information` is the mutual information of x and y given z, in nats.

    >>> t = IndependenceTest("a", "b", (), "g2", 3.2, 1.0, 0.0736)
    >>> print(t)
    a ⊥ b: g2 3.2 with 1 degrees of freedom, p = 0.0736
    """

    x: str
    y: str
    given: tuple[str, ...]
    test: str
    statistic: float
    freedom: float
    p: float
    information: float | None = None

    @property
    def bits(self) -> float | None:
        """The mutual information in bits.

        >>> IndependenceTest("a", "b", (), "mi", 13.86, 1.0, 0.0002, math.log(2)).bits
        1.0
        """
        return None if self.information is None else self.information / math.log(2)

    def __str__(self) -> str:
        given = f" | {', '.join(self.given)}" if self.given else ""
        free = f" with {self.freedom:g} degrees of freedom" if self.test != "fisher-z" else ""
        what = f"{self.x} ⊥ {self.y}{given}: {self.test} {self.statistic:.6g}"
        nats = f", {self.information:.4g} nats" if self.test.startswith("mi") else ""
        return f"{what}{nats}{free}, p = {self.p:.3g}"

    def _repr_html_(self) -> str:
        return text_html(self)


def independence_test(
    source: Any, x: str, y: str, given: str | Sequence[str] = (), *, test: str | None = None
) -> IndependenceTest:
    """Whether x and y are independent given z, judged by the rows.

    `test` is 'g2' (the default for discrete variables), 'g2-adjusted', 'x2', 'x2-adjusted', 'mi',
    'mi-adjusted', 'fisher-z' (for continuous ones), 'g2-mixed' (where both kinds meet) or
    'logistic' (for two discrete variables given a continuous one). A small p speaks against
    independence; `information` is the mutual information in nats, `bits` in bits.

    Nothing is tested by 'fisher-z' or 'g2-mixed' given columns of which one is the sum of others.
    'logistic' looks at the rows, in memory: ln of the odds of the states may bend with the numbers
    as a square does.

    >>> import credo as cr
    >>> print(cr.independence_test(cr.examples.pneumonia(), "Fev", "Cou", given="Pneu"))
    Fev ⊥ Cou | Pneu: g2 1.24295 with 2 degrees of freedom, p = 0.537
    >>> print(cr.independence_test(cr.examples.pneumonia(), "Fev", "Cou", "Pneu", test="mi"))
    Fev ⊥ Cou | Pneu: mi 1.24295, 0.05179 nats with 2 degrees of freedom, p = 0.537
    """
    from credo.train.parameters.sources import Opened

    opened: Source = Opened(source, {}, None, None).source
    wanted = (x, y, named(given))
    return tests_of(opened, [wanted], test)[0]


def tests_of(
    source: Source, asked: Sequence[tuple[str, str, Sequence[str]]], test: str | None = None
) -> list[IndependenceTest]:
    """Many tests from one pass over the rows."""
    which = [_checked(source.schema, x, y, z, test) for x, y, z in asked]
    families = [_family(source.schema, x, y, z) for x, y, z in asked]
    counted = [f for f, name in zip(families, which, strict=True) if name != "logistic"]
    tally = source.tally(Families.of(counted)) if counted else None
    out = []
    for (x, y, z), name, family in zip(asked, which, families, strict=True):
        if name == "logistic":
            value, free, p, nats = logistic_test(_in_memory(source, x, y), x, y, z)
            out.append(IndependenceTest(x, y, tuple(z), name, value, free, p, nats))
            continue
        assert tally is not None
        statistic = tally[family]
        if name == "fisher-z":
            assert isinstance(statistic, Moments)
            value, free, p = _fisher(statistic.marginal([*z, x, y]), x, y, z)
            away = abs(value) / math.sqrt(free)  # atanh r; −½ ln(1 − r²) is ln cosh of it
            nats = away + math.log1p(math.exp(-2 * away)) - math.log(2)
        elif name == "g2-mixed":
            assert isinstance(statistic, Moments)
            value, free, p = _mixed(statistic, x, y, z)
            nats = value / (2 * statistic.total)
        else:
            assert isinstance(statistic, Counts)
            value, free, p, nats = _table(statistic, name)
        out.append(IndependenceTest(x, y, tuple(z), name, value, free, p, nats))
    return out


def _in_memory(source: Source, x: str, y: str) -> Table:
    if isinstance(source, Table):
        return source
    raise InputError(
        f"{x!r} and {y!r} are discrete, and given a continuous variable only a look at the rows "
        "says whether they are independent; these are not in memory.",
        hint="Load them first, or make the continuous variable discrete.",
    )


class ManyTests:
    """The p of batch after batch of tests of one source; Gaussian ones from one matrix.

    NaN for a test that is not or cannot be made; `undone` counts them.
    """

    def __init__(self, source: Source, test: str | None = None) -> None:
        self.source, self.test = source, test
        names = [v.name for v in source.schema.variables if not v.is_discrete]
        self.continuous = set(names)
        self.undone = 0
        usual = test in (None, "fisher-z")
        self.correlations = Correlations.of(source, names) if usual else None

    def p(self, asked: Sequence[tuple[str, str, Sequence[str]]]) -> Floats:
        """The p of each test."""
        out = np.full(len(asked), np.nan)
        inside = self.continuous
        fast = [
            self.correlations is not None and x in inside and y in inside and inside.issuperset(z)
            for x, y, z in asked
        ]
        lines = [i for i, of in enumerate(fast) if of]
        rest = [
            i
            for i, of in enumerate(fast)
            if not of and not _is_between_states(inside, *asked[i])  # not one to be made
        ]
        if lines:
            assert self.correlations is not None
            out[lines] = self.correlations.z([asked[i] for i in lines], strict=False)[2]
        if rest:
            out[rest] = self._rest([asked[i] for i in rest])
        self.undone += int(np.isnan(out).sum())
        return out

    def _rest(self, asked: Sequence[tuple[str, str, Sequence[str]]]) -> list[float]:
        try:
            return [t.p for t in tests_of(self.source, asked, self.test)]
        except UntestableError:
            if len(asked) == 1:
                return [math.nan]
            half = len(asked) // 2
            return self._rest(asked[:half]) + self._rest(asked[half:])


def _is_between_states(continuous: Set[str], x: str, y: str, z: Sequence[str]) -> bool:
    """Whether two discrete variables are to be tested given a continuous one."""
    return x not in continuous and y not in continuous and not continuous.isdisjoint(z)


def _checked(schema: Schema, x: str, y: str, z: Sequence[str], test: str | None) -> str:
    names = (x, y, *z)
    for name in names:
        schema.index(name)  # refuses one that is not there
    if len(set(names)) < len(names):
        raise InputError(f"A variable stands twice in {x} ⊥ {y} | {list(z)}.")
    kinds = {schema[n].is_discrete for n in names}
    continuous = {n for n in names if not schema[n].is_discrete}
    between = _is_between_states(continuous, x, y, z)
    usual = "g2-mixed" if len(kinds) == 2 else "g2" if True in kinds else "fisher-z"
    usual = "logistic" if between else usual
    test = usual if test is None else test
    if test not in TESTS:
        raise InputError(f"test must be one of {', '.join(TESTS)}, got {shown(test)}.")
    if between or test == "logistic":
        if between and test == "logistic":
            return test
        only = "not " if between else ""
        raise SchemaError(
            f"The test {test!r} is {only}for two discrete variables given a continuous one.",
            hint=f"Use {usual!r}.",
        )
    if len(kinds) == 2 or test in ("fisher-z", "g2-mixed"):
        kind = {"fisher-z": "continuous", "g2-mixed": "mixed"}.get(test, "discrete")
        right = {"fisher-z": kinds == {False}, "g2-mixed": len(kinds) == 2}.get(test, False)
    else:
        kind, right = "discrete", kinds == {True}
    if not right:
        raise SchemaError(f"The test {test!r} is for {kind} variables.", hint=f"Use {usual!r}.")
    return test


def _family(schema: Schema, x: str, y: str, z: Sequence[str]) -> Family:
    """All the variables of a test; the child is continuous where one of them is."""
    names = sorted((*z, x, y), key=lambda n: not schema[n].is_discrete)
    mixed = schema[names[0]].is_discrete and not schema[names[-1]].is_discrete
    return Family(names[-1], tuple(names[:-1])) if mixed else Family(y, (*z, x))


def _table(counts: Counts, test: str) -> tuple[float, float, float, float | None]:
    """The statistic, its degrees of freedom, p, and the mutual information in nats."""
    from scipy.special import chdtrc

    shape = counts.shape
    n: Floats
    if counts.is_dense:
        n = np.asarray(counts, dtype=np.float64).reshape(-1, shape[-2], shape[-1])
        configurations = len(n)
    else:
        cells = counts.sparse()
        assert cells.configurations is not None
        seen, group = np.unique(cells.configurations[:, :-2], axis=0, return_inverse=True)
        n = np.zeros((len(seen), shape[-2], shape[-1]))
        at = cells.configurations
        n[group.ravel(), at[:, -2], at[:, -1]] = cells.values
        configurations = math.prod(shape[:-2])
    xz, yz, z = n.sum(axis=2, keepdims=True), n.sum(axis=1, keepdims=True), n.sum(axis=(1, 2))
    expected = xz * yz / np.where(z > 0, z, 1.0)[:, None, None]
    there = n > 0
    value = max(2 * float((n[there] * np.log(n[there] / expected[there])).sum()), 0.0)
    nats = value / (2 * float(n.sum())) if n.any() else None
    square = (n - expected) ** 2 / np.where(expected > 0, expected, 1.0)
    if test.startswith("x2"):
        value = float(square.sum())
    if not test.endswith("adjusted"):
        free = float((shape[-2] - 1) * (shape[-1] - 1) * configurations)
        return value, free, float(chdtrc(free, value)) if free > 0 else 1.0, nats
    rows, columns = (xz[:, :, 0] > 0).sum(axis=1), (yz[:, 0, :] > 0).sum(axis=1)
    told = (rows > 1) & (columns > 1)
    free = float(((rows - 1) * (columns - 1))[told].sum())
    cells = expected[told][expected[told] > 0]
    if (cells < 1).any() or (cells < _ROWS).sum() > 0.2 * len(cells):  # Cochran's rule (1954)
        p = _given_margins(square.sum(axis=(1, 2))[told], xz[told, :, 0], yz[told, 0], z[told])
        return value, free, p, nats
    return value, free, float(chdtrc(free, value)) if free > 0 else 1.0, nats


def _given_margins(value: Floats, x: Floats, y: Floats, n: Floats) -> float:
    """The p of X² added up over tables with these margins, by its exact mean and variance.

    Tables of fewer than 4 rows say next to nothing, and are left out.
    """
    from scipy.special import gdtrc

    some = n >= 4
    value, x, y, n = value[some], x[some], y[some], n[some]
    spread = []
    for margin in (x, y):
        states = (margin > 0).sum(axis=1)
        inverse = np.where(margin > 0, 1 / np.where(margin > 0, margin, 1.0), 0.0).sum(axis=1)
        spread.append((states - 1, (n * inverse - states**2) / (n - 2)))
    (r, a), (c, b) = spread
    mean = float((r * c * n / (n - 1)).sum())
    variance = float((2 * n / (n - 3) * (r - a) * (c - b) + n**2 / (n - 1) * a * b).sum())
    if not variance > 1e-9 * mean:
        return 1.0  # these margins leave one table
    return float(gdtrc(mean / variance, mean**2 / variance, float(value.sum())))


def _fisher(moments: Moments, x: str, y: str, z: Sequence[str]) -> tuple[float, float, float]:
    value, free, p = Correlations([*z, x, y], moments).z([(x, y, z)])
    return float(value[0]), float(free[0]), float(p[0])


def _mixed(moments: Moments, x: str, y: str, z: Sequence[str]) -> tuple[float, float, float]:
    from scipy.special import chdtrc

    enough = moments.n > len(moments.names) + 1
    if not enough.any():
        return 0.0, 0.0, 1.0
    enough &= ~_singular(moments.scatter)
    if not enough.any():
        columns = ", ".join(v.name for v in moments.continuous)
        raise UntestableError(
            f"{columns}: in every configuration with enough rows a column is constant or a sum of "
            f"others, so {x} ⊥ {y} cannot be tested.",
            hint="Leave one out.",
        )
    kept = replace(
        moments,
        configurations=moments.configurations[enough],
        n=moments.n[enough],
        mean=moments.mean[enough],
        scatter=moments.scatter[enough],
    )
    parts = ((1, (*z, x, y)), (1, tuple(z)), (-1, (*z, x)), (-1, (*z, y)))
    value = free = usual = 0.0
    for sign, names in parts:
        likelihood, expected, parameters = _joint(kept, names)
        value += 2 * sign * likelihood
        usual += 2 * sign * expected
        free += sign * parameters
    value = max(value, 0.0)
    return value, free, float(chdtrc(free, value * free / usual)) if free > 0 else 1.0


def _singular(scatter: Floats) -> NDArray[np.bool_]:
    """Which matrices have a column that is constant or a sum of others."""
    scale = np.sqrt(np.einsum("...ii->...i", scatter))
    flat = ~(scale > 0).all(axis=-1)
    scale = np.where(scale > 0, scale, 1.0)
    lost: NDArray[np.bool_] = flat | collinear(scatter / scale[..., :, None] / scale[..., None, :])
    return lost


def _joint(moments: Moments, names: Sequence[str]) -> tuple[float, float, float]:
    """The log-likelihood of the conditional Gaussian of some variables, what is expected of it (up
    to what goes out between the parts of a test), and its parameters."""
    from scipy.special import psi

    continuous = [v.name for v in moments.continuous]
    inside = [n for n in names if n in continuous]
    beside = names if inside else (*names, continuous[0])  # for its counts
    found = moments.marginal(list(beside))
    seen = found.n > 0
    n, k = found.n[seen], len(inside)
    likelihood = float((n * np.log(n / n.sum())).sum())
    expected = 0.0
    if inside:
        order = [[v.name for v in found.continuous].index(name) for name in inside]
        spread = found.scatter[seen][:, order][:, :, order] / n[:, None, None]
        _, volume = np.linalg.slogdet(spread)
        likelihood -= 0.5 * float((n * (k * math.log(2 * math.pi) + volume + k)).sum())
        gained = psi((n[:, None] - np.arange(1, k + 1)) / 2) + np.log(2 / n)[:, None]
        expected = -0.5 * float((n[:, None] * gained).sum())
    return likelihood, expected, len(n) - 1 + len(n) * (k + k * (k + 1) / 2)
