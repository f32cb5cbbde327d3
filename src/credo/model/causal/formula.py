"""Formulas of observed probabilities: what the effect of an intervention is computed from.

    Σ_tar P(tar | smoke) Σ_smoke' P(smoke') P(cancer | smoke', tar)

A formula is a tree of four kinds of values: a probability, a sum, a product and a ratio. A sum
binds its variables, so a name inside may stand for another value than outside; when printed, such
a name has a prime.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import LimitError
from credo.model.graphs.statements import latex_name
from credo.model.values.value import Told

__all__ = [
    "Formula",
    "Prob",
    "Product",
    "Ratio",
    "Sum",
    "aligned",
    "evaluated",
    "product",
    "summed",
]

Floats = NDArray[np.float64]
Named = tuple[tuple[str, ...], Floats]
"""Names of axes, and an array whose first axis is the batch and whose others are these."""
Leaf = Callable[["Prob"], Named]
MAX_NUMBERS = 50_000_000
"""A step of an evaluation may have this many numbers."""


class Formula(Told):
    """A formula; prints as text, shows as LaTeX.

    >>> f = summed(["z"], product([Prob(("y",), ("x", "z")), Prob(("z",))]))
    >>> print(f)
    Σ_z P(y | x, z) P(z)
    >>> f.latex
    '\\\\sum_{z} P(y \\\\mid x, z)\\\\,P(z)'
    >>> sorted(f.free), f.leaves
    (['x', 'y'], (Prob(of=('y',), given=('x', 'z')), Prob(of=('z',), given=())))
    """

    __slots__ = ()

    @property
    def free(self) -> frozenset[str]:
        """The variables whose values the formula leaves open."""
        raise NotImplementedError

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The formulas inside."""
        return ()

    @property
    def leaves(self) -> tuple[Prob, ...]:
        """The probabilities inside, each once."""
        found = (self,) if isinstance(self, Prob) else (p for f in self.parts for p in f.leaves)
        return tuple(dict.fromkeys(found))

    @property
    def latex(self) -> str:
        """The same in LaTeX."""
        return self._text(_Names(self.free, latex=True))

    def _text(self, names: _Names) -> str:
        raise NotImplementedError

    def __str__(self) -> str:
        return self._text(_Names(self.free))

    def _repr_latex_(self) -> str:
        return f"${self.latex}$"


class _Names:
    """How each name is written in a place: with as many primes as tell it from those outside."""

    def __init__(self, taken: Iterable[str], latex: bool = False) -> None:
        self.primes = dict.fromkeys(taken, 0)
        self.latex = latex

    def inside(self, bound: Sequence[str]) -> _Names:
        out = _Names(self.primes, self.latex)
        out.primes = self.primes | {n: self.primes.get(n, -1) + 1 for n in bound}
        return out

    def __call__(self, names: Sequence[str]) -> str:
        write = latex_name if self.latex else str
        return ", ".join(write(n) + "'" * self.primes.get(n, 0) for n in names)


@dataclass(frozen=True, slots=True)
class Prob(Formula):
    """P(of | given) of the observed variables."""

    of: tuple[str, ...]
    given: tuple[str, ...] = ()

    @property
    def free(self) -> frozenset[str]:
        return frozenset((*self.of, *self.given))

    def _text(self, names: _Names) -> str:
        bar = r" \mid " if names.latex else " | "
        return f"P({names(self.of)}{bar + names(self.given) if self.given else ''})"

    __str__ = Formula.__str__


@dataclass(frozen=True, slots=True)
class Sum(Formula):
    """The sum of a formula over the states of some variables."""

    over: tuple[str, ...]
    body: Formula

    @property
    def free(self) -> frozenset[str]:
        return self.body.free - set(self.over)

    @property
    def parts(self) -> tuple[Formula, ...]:
        return (self.body,)

    def _text(self, names: _Names) -> str:
        inner = names.inside(self.over)
        over = inner(self.over)
        if names.latex:
            sign = f"\\sum_{{{over}}} "
        else:
            sign = f"Σ_{over} " if len(self.over) == 1 else f"Σ_{{{over}}} "
        return sign + self.body._text(inner)

    __str__ = Formula.__str__


@dataclass(frozen=True, slots=True)
class Product(Formula):
    """Formulas times each other."""

    factors: tuple[Formula, ...]

    @property
    def free(self) -> frozenset[str]:
        return frozenset().union(*(f.free for f in self.factors))

    @property
    def parts(self) -> tuple[Formula, ...]:
        return self.factors

    def _text(self, names: _Names) -> str:
        *first, last = (
            f._text(names) if i == len(self.factors) - 1 or not isinstance(f, Sum)
            else f"({f._text(names)})"
            for i, f in enumerate(self.factors)
        )  # fmt: skip
        return (r"\," if names.latex else " ").join([*first, last])

    __str__ = Formula.__str__


@dataclass(frozen=True, slots=True)
class Ratio(Formula):
    """One formula divided by another."""

    top: Formula
    below: Formula

    @property
    def free(self) -> frozenset[str]:
        return self.top.free | self.below.free

    @property
    def parts(self) -> tuple[Formula, ...]:
        return self.top, self.below

    def _text(self, names: _Names) -> str:
        top, below = self.top._text(names), self.below._text(names)
        return f"\\frac{{{top}}}{{{below}}}" if names.latex else f"[{top}] / [{below}]"

    __str__ = Formula.__str__


def product(factors: Iterable[Formula]) -> Formula:
    """A product in which products are one with it, and sums stand last."""
    flat: list[Formula] = []
    for f in factors:
        flat += f.factors if isinstance(f, Product) else [f]
    flat.sort(key=lambda f: isinstance(f, Sum))
    return flat[0] if len(flat) == 1 else Product(tuple(flat))


def summed(over: Iterable[str], body: Formula) -> Formula:
    """A sum; what adds up to 1 is left out, and a sum of a sum is one.

    >>> print(summed(["y"], Product((Prob(("y",), ("x",)), Prob(("x",))))))
    P(x)
    """
    names = tuple(over)
    factors = list(body.factors) if isinstance(body, Product) else [body]
    gone = True
    while gone:
        gone = False
        for f in factors:
            if not isinstance(f, Prob) or len(factors) == 1:
                continue
            own = [n for n in names if n in f.of]
            others = frozenset().union(*(g.free for g in factors if g is not f))
            if own and set(own) == set(f.of) and others.isdisjoint(own):
                factors.remove(f)
                names = tuple(n for n in names if n not in own)
                gone = True
                break
    body = product(factors)
    if isinstance(body, Sum) and not set(names) & set(body.over):
        return Sum((*names, *body.over), body.body)
    return Sum(names, body) if names else body


def evaluated(formula: Formula, leaf: Leaf) -> Named:
    """The value of a formula: an array with an axis for each of its free variables.

    `leaf` gives the array of a probability.
    """
    if isinstance(formula, Prob):
        return leaf(formula)
    if isinstance(formula, Ratio):
        both = [evaluated(f, leaf) for f in formula.parts]
        names = tuple(dict.fromkeys(n for own, _ in both for n in own))
        top, below = np.broadcast_arrays(*(aligned(part, names) for part in both))
        return names, np.divide(top, below, where=below > 0, out=np.zeros(top.shape))
    over: tuple[str, ...] = ()
    body = formula
    if isinstance(formula, Sum):
        over, body = formula.over, formula.body
    factors = body.factors if isinstance(body, Product) else (body,)
    return _contracted([evaluated(f, leaf) for f in factors], over)


def aligned(named: Named, names: Sequence[str]) -> Floats:
    """The array with its axes in the order of `names`, of length 1 where it has none."""
    own, values = named
    moved = np.transpose(values, [0, *(1 + own.index(n) for n in names if n in own)])
    at = iter(moved.shape[1:])
    return moved.reshape(moved.shape[0], *(next(at) if n in own else 1 for n in names))


def _contracted(parts: list[Named], over: Sequence[str]) -> Named:
    """Σ_over of the product: the variables are summed one by one, the cheapest first."""
    left = list(over)
    while left:
        cost = {n: _size([p for p in parts if n in p[0]]) for n in left}
        n = min(left, key=lambda n: (cost[n], n))
        left.remove(n)
        names, whole = _multiplied([p for p in parts if n in p[0]])
        parts = [p for p in parts if n not in p[0]]
        at = names.index(n)
        parts.append(((*names[:at], *names[at + 1 :]), whole.sum(axis=1 + at)))
    return _multiplied(parts)


def _size(parts: Sequence[Named]) -> int:
    lengths: dict[str, int] = {}
    batch = 1
    for names, values in parts:
        batch = max(batch, values.shape[0])
        for n, k in zip(names, values.shape[1:], strict=True):
            lengths[n] = max(lengths.get(n, 1), k)
    return int(np.prod([float(k) for k in lengths.values()], initial=float(batch)))


def _multiplied(parts: Sequence[Named]) -> Named:
    size = _size(parts)
    if size > MAX_NUMBERS:
        raise LimitError(
            f"A step of the formula has {size:,} numbers; at most {MAX_NUMBERS:,} are allowed.",
            hint="Use fewer draws, or variables with fewer states.",
        )
    names = tuple(dict.fromkeys(n for own, _ in parts for n in own))
    out: Any = 1.0
    for part in parts:
        out = out * aligned(part, names)
    return names, np.asarray(out)
