"""What a graph says in formulas: its factorisation and its independences.

P(x₁, …, x_n) = Π_i P(x_i | parents(x_i))

local Markov property:  x ⊥ non-descendants of x | parents of x
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal, overload

from credo.core.errors import InputError, LimitError
from credo.model.graphs.separation import reachable

if TYPE_CHECKING:
    from credo.model.graphs.relations import Relations
from credo.model.values.value import Told

__all__ = ["Factorisation", "Independence", "Independences", "independences", "latex_name"]

MAX_CHECKS = 200_000
"""`independences("all")` refuses a graph that would need more checks than this."""

_SUBSCRIPT = re.compile(r"([^\W\d_])_?(\d+)")
_ESCAPES = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def latex_name(name: str) -> str:
    """A name in LaTeX: a letter in italics, a letter and a number with an index, others as text.

    >>> latex_name("x"), latex_name("x1"), latex_name("blood_type")
    ('x', 'x_{1}', '\\\\text{blood\\\\_type}')
    """
    if len(name) == 1 and name.isalpha():
        return name
    if match := _SUBSCRIPT.fullmatch(name):
        return f"{match[1]}_{{{match[2]}}}"
    return "\\text{" + "".join(_ESCAPES.get(c, c) for c in name) + "}"


def _latex(names: Sequence[str]) -> str:
    return ", ".join(latex_name(n) for n in names)


@dataclass(frozen=True, slots=True)
class Factorisation(Told):
    """The joint probability as a product, one factor for each node given its parents.

    >>> from credo.model.graphs.dag import Dag
    >>> f = Dag.parse("[A][B|A][C|A:B]").factorisation()
    >>> print(f)
    P(A, B, C) = P(A) P(B | A) P(C | A, B)
    >>> f.factors[1]
    ('B', ('A',))
    >>> print(f.latex)
    P(A, B, C) = P(A)\\,P(B \\mid A)\\,P(C \\mid A, B)
    """

    factors: tuple[tuple[str, tuple[str, ...]], ...]

    def __str__(self) -> str:
        joint = ", ".join(node for node, _ in self.factors)
        return f"P({joint}) = " + " ".join(
            f"P({node} | {', '.join(parents)})" if parents else f"P({node})"
            for node, parents in self.factors
        )

    @property
    def latex(self) -> str:
        """The same in LaTeX."""
        joint = _latex([node for node, _ in self.factors])
        return f"P({joint}) = " + r"\,".join(
            f"P({latex_name(node)} \\mid {_latex(parents)})"
            if parents
            else f"P({latex_name(node)})"
            for node, parents in self.factors
        )

    def _repr_latex_(self) -> str:
        return f"${self.latex}$"


@dataclass(frozen=True, slots=True, eq=False)
class Independence(Told):
    """One statement X ⊥ Y | Z; the sides can be exchanged.

    >>> s = Independence(("A",), ("B",), ("C",))
    >>> print(s), s.latex, s == Independence(("B",), ("A",), ("C",))
    A ⊥ B | C
    (None, 'A \\\\perp B \\\\mid C', True)
    """

    x: tuple[str, ...]
    y: tuple[str, ...]
    given: tuple[str, ...] = ()

    def _key(self) -> tuple[frozenset[frozenset[str]], frozenset[str]]:
        return frozenset((frozenset(self.x), frozenset(self.y))), frozenset(self.given)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Independence):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        z = f" | {', '.join(self.given)}" if self.given else ""
        return f"{', '.join(self.x)} ⊥ {', '.join(self.y)}{z}"

    @property
    def latex(self) -> str:
        """The same in LaTeX."""
        z = f" \\mid {_latex(self.given)}" if self.given else ""
        return f"{_latex(self.x)} \\perp {_latex(self.y)}{z}"

    def _repr_latex_(self) -> str:
        return f"${self.latex}$"


@dataclass(frozen=True, slots=True)
class Independences(Told, Sequence[Independence]):
    """Independence statements in a row; prints one on a line.

    >>> from credo.model.graphs.dag import Dag
    >>> found = Dag.parse("[A][B|A][C|B]").independences()
    >>> print(found)
    C ⊥ A | B
    >>> Independence(("A",), ("C",), ("B",)) in found
    True
    """

    statements: tuple[Independence, ...]

    def __len__(self) -> int:
        return len(self.statements)

    def __iter__(self) -> Iterator[Independence]:
        return iter(self.statements)

    @overload
    def __getitem__(self, at: int) -> Independence: ...
    @overload
    def __getitem__(self, at: slice) -> Independences: ...
    def __getitem__(self, at: int | slice) -> Independence | Independences:
        found = self.statements[at]
        return Independences(found) if isinstance(found, tuple) else found

    def __str__(self) -> str:
        return "\n".join(str(s) for s in self.statements) or "no independences"

    @property
    def latex(self) -> str:
        """All of them in LaTeX, one on a line, for a `gathered` or `align*` environment."""
        return " \\\\\n".join(s.latex for s in self.statements)

    def _repr_latex_(self) -> str:
        return "$\\begin{gathered}" + self.latex + "\\end{gathered}$"


def independences(dag: Relations, kind: Literal["local", "pairwise", "all"]) -> Independences:
    """The statements of one kind; see `Dag.independences`."""
    if kind not in ("local", "pairwise", "all"):
        raise InputError(f"The kind must be 'local', 'pairwise' or 'all', got {kind!r}.")
    if kind == "all":
        return Independences(tuple(_all(dag)))
    out = []
    for v in dag._order:
        below = {v, *dag._closure([v], dag._children)}
        others = [w for w in range(len(dag)) if w not in below and w not in dag._parents[v]]
        given = dag._named(dag._parents[v])
        node = dag._named([v])
        if kind == "local" and others:
            out.append(Independence(node, dag._named(others), given))
        elif kind == "pairwise":
            earlier = set(dag._order[: dag._order.index(v)])
            out += [Independence(node, dag._named([w]), given) for w in others if w in earlier]
    return Independences(tuple(out))


def _all(dag: Relations) -> Iterator[Independence]:
    """Every pair and every set that separates it, small sets first."""
    n = len(dag)
    checks = n * (n - 1) // 2 * 2 ** max(n - 2, 0)
    if checks > MAX_CHECKS:
        many = f"{checks:,}" if n < 50 else f"about 10^{len(str(checks)) - 1}"
        raise LimitError(
            f"All independences of {n} nodes would take {many} checks; at most {MAX_CHECKS:,} "
            f"are made.",
            hint="Ask for kind='pairwise', for a subgraph, or d_separated() for one statement.",
        )
    for size in range(max(n - 1, 0)):
        for z in combinations(range(n), size):
            free = [v for v in range(n) if v not in z]
            for i, a in enumerate(free):
                joined = reachable(dag._parents, dag._children, [a], z)
                for b in free[i + 1 :]:
                    if b not in joined:
                        yield Independence(dag._named([a]), dag._named([b]), dag._named(z))
