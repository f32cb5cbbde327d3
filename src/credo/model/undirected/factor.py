"""Factor: a table of numbers, none negative, over some discrete variables.

    φ(x₁, …, x_k) ≥ 0,      a model is a product of factors divided by its sum Z

A factor says how well states go together; it need not add up to anything. Its numbers are
`values` times exp(`log_scale`), so that a factor given by logarithms can be of any size.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, isfinite, log, prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from credo.core.errors import InputError, LimitError, SchemaError, unknown_name
from credo.core.schema import Variable
from credo.model.values.reals import Floats
from credo.model.values.tables import MAX_CELLS, table_of
from credo.model.values.value import Value, View, readonly

_SPAN = 1400.0  # of logarithms within one table: what doubles can hold
_MANY = 64  # rows that are printed


def discrete_variables(given: Any) -> tuple[Variable, ...]:
    """Different discrete variables, as a tuple."""
    found = (given,) if isinstance(given, Variable) else tuple(given)
    for v in found:
        if not isinstance(v, Variable):
            raise InputError(f"The axes of a factor must be of type Variable, got {v!r}.")
        if not v.is_discrete:
            raise SchemaError(
                f"Undirected models are for discrete variables; {v.name!r} is continuous.",
                hint="Cut it into intervals first.",
            )
    names = [v.name for v in found]
    if len(set(names)) < len(names):
        raise SchemaError(f"A variable is named twice in {names}.")
    return found


@dataclass(frozen=True, eq=False, repr=False)
class Factor(Value):
    """A table of numbers, none negative, with a named axis for each variable.

    >>> a = Variable("A", "discrete", ("no", "yes")); b = Variable("B", "discrete", ("no", "yes"))
    >>> agree = Factor((a, b), [[30, 5], [1, 10]])
    >>> agree["no", "yes"]
    5.0
    >>> print(agree)
    φ(A, B)
    A    B=no  B=yes
    no     30      5
    yes     1     10
    >>> print(agree.sum_out("A"))
    φ(B)
    B=no  B=yes
      31     15
    """

    variables: tuple[Variable, ...]
    values: Floats
    name: str = ""
    log_scale: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", discrete_variables(self.variables))
        what = f"The potential of {self._scope}"
        if not isinstance(self.name, str):
            raise InputError(f"The name of a factor must be a text, got {self.name!r}.")
        if not isinstance(self.log_scale, (int, float)) or not isfinite(self.log_scale):
            raise InputError(f"{what} needs a finite log_scale, got {self.log_scale!r}.")
        object.__setattr__(self, "log_scale", float(self.log_scale))
        given = table_of(self.variables, self.values, what)
        for bad, how in ((~np.isfinite(given), "not finite"), (given < 0, "negative")):
            if bad.any():
                at = np.argwhere(bad)[0] if given.ndim else ()
                raise InputError(
                    f"{what} is {how} at {self._states(at)}: {float(given[tuple(at)]):g}."
                )
        if given.size == 0:
            raise InputError(f"{what} is empty.")
        object.__setattr__(self, "values", readonly(given))

    # --- building -----------------------------------------------------------------------

    @classmethod
    def of(cls, variables: Sequence[Variable], given: Any, name: str = "") -> Factor:
        """A factor from an array, nested dicts, a dict by tuples of states, or a data frame.

        >>> a = Variable("A", "discrete", (0, 1)); b = Variable("B", "discrete", (0, 1))
        >>> Factor.of((a, b), {0: {0: 2, 1: 1}, 1: {0: 1, 1: 2}}).values.tolist()
        [[2.0, 1.0], [1.0, 2.0]]
        >>> Factor.of((a,), {1: 5, 0: 3}).values.tolist()
        [3.0, 5.0]
        """
        if isinstance(given, Factor):
            return given.on([v.name for v in variables]).named(name or given.name)
        return cls(tuple(variables), given, name)

    @classmethod
    def from_log(cls, variables: Sequence[Variable], logs: ArrayLike, name: str = "") -> Factor:
        """A factor by the logarithms of its numbers, of any size; −inf is the number 0.

        >>> a = Variable("A", "discrete", (0, 1))
        >>> huge = Factor.from_log((a,), [5000.0, 5001.0])
        >>> huge.log_values.tolist()
        [5000.0, 5001.0]
        """
        variables = discrete_variables(variables)
        what = f"The potential of ({', '.join(v.name for v in variables)})"
        given = table_of(variables, logs, what)
        seen = given[given != -np.inf]
        if not np.isfinite(seen).all():
            raise InputError(f"{what} must have logarithms that are finite or −inf.")
        if not seen.size:
            return cls(variables, np.zeros(given.shape), name)
        high, low = float(seen.max()), float(seen.min())
        if high - low > _SPAN:
            raise LimitError(
                f"{what} has logarithms {high - low:,.0f} apart; at most {_SPAN:,.0f} can be told.",
                hint="Use −inf for what cannot be.",
            )
        scale = 0.0 if low > -650 and high < 650 else (high + low) / 2
        return cls(variables, np.exp(given - scale), name, scale)

    def named(self, name: str) -> Factor:
        """The same factor under another name."""
        return Factor(self.variables, self.values, name, self.log_scale)

    def on(self, names: Sequence[str]) -> Factor:
        """The same factor with its axes in another order."""
        if tuple(names) == self.names:
            return self
        if sorted(names) != sorted(self.names):
            raise SchemaError(f"The factor is over {list(self.names)}, not {list(names)}.")
        order = [self.names.index(n) for n in names]
        variables = tuple(self.variables[i] for i in order)
        return Factor(variables, self.values.transpose(order), self.name, self.log_scale)

    # --- what it is ---------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, in the order of the axes."""
        return tuple(v.name for v in self.variables)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of states on each axis."""
        return tuple(v.arity for v in self.variables)

    @property
    def log_values(self) -> Floats:
        """The logarithms of the numbers; −inf for 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.values) + self.log_scale)

    def __getitem__(self, states: Any) -> float:
        """The number of one configuration: states in the order of the axes, or by name."""
        at = self._at(states)
        value = float(self.values[at])
        if not self.log_scale or not value:
            return value
        logarithm = log(value) + self.log_scale
        if abs(logarithm) > 700:
            raise LimitError(
                f"The number is exp({logarithm:,.0f}), beyond what a float holds.",
                hint="Read it in log_values.",
            )
        return exp(logarithm)

    def _at(self, states: Any) -> tuple[int, ...]:
        if isinstance(states, Mapping):
            for name in states:
                if name not in self.names:
                    raise unknown_name("Variable", name, self.names, "in the factor")
            lacking = [n for n in self.names if n not in states]
            if lacking:
                raise InputError(f"A state is needed for {lacking[0]!r} too.")
            states = tuple(states[n] for n in self.names)
        elif len(self.variables) == 1 or not isinstance(states, tuple):
            states = (states,)
        if len(states) != len(self.variables):
            raise InputError(f"{self._scope} needs {len(self.variables)} states, got {states!r}.")
        return tuple(v.code(s) for v, s in zip(self.variables, states, strict=True))

    # --- the algebra --------------------------------------------------------------------

    def __mul__(self, other: object) -> Factor:
        """The product, over the variables of both.

        >>> a = Variable("A", "discrete", (0, 1)); b = Variable("B", "discrete", (0, 1))
        >>> (Factor((a,), [1, 2]) * Factor((b,), [3, 4])).values.tolist()
        [[3.0, 4.0], [6.0, 8.0]]
        """
        if not isinstance(other, Factor):
            return NotImplemented
        mine = dict(zip(self.names, self.variables, strict=True))
        for v in other.variables:
            if mine.setdefault(v.name, v) != v:
                raise SchemaError(f"The two factors differ on the states of {v.name!r}.")
        variables = tuple(mine.values())
        if prod(v.arity for v in variables) > MAX_CELLS:
            raise LimitError(
                f"The product over {', '.join(mine)} would have "
                f"{prod(v.arity for v in variables):,} numbers; at most {MAX_CELLS:,} are allowed."
            )
        a, b = self._spread(variables), other._spread(variables)
        with np.errstate(over="ignore", under="ignore"):
            values = a * b
        scale = self.log_scale + other.log_scale
        if not np.isfinite(values).all() or ((values == 0) != ((a == 0) | (b == 0))).any():
            with np.errstate(divide="ignore"):
                return Factor.from_log(variables, np.log(a) + np.log(b) + scale)
        return Factor(variables, values, "", scale)

    def _spread(self, variables: tuple[Variable, ...]) -> Floats:
        """The values with an axis for each of some variables, of length 1 where it has none."""
        order = sorted(range(len(self.variables)), key=lambda i: variables.index(self.variables[i]))
        shape = [v.arity if v in self.variables else 1 for v in variables]
        return self.values.transpose(order).reshape(shape)

    def sum_out(self, names: str | Sequence[str]) -> Factor:
        """Some variables summed over; what comes out has no name."""
        return self._reduced(names, np.add)

    def max_out(self, names: str | Sequence[str]) -> Factor:
        """Some variables maximised over.

        >>> a = Variable("A", "discrete", (0, 1)); b = Variable("B", "discrete", (0, 1))
        >>> Factor((a, b), [[1, 4], [3, 2]]).max_out("B").values.tolist()
        [4.0, 3.0]
        """
        return self._reduced(names, np.maximum)

    def _reduced(self, names: str | Sequence[str], how: np.ufunc) -> Factor:
        gone = [names] if isinstance(names, str) else list(names)
        for name in gone:
            if name not in self.names:
                raise unknown_name("Variable", name, self.names, "in the factor")
        axes = tuple(i for i, n in enumerate(self.names) if n in gone)
        rest = tuple(v for v in self.variables if v.name not in gone)
        high = float(self.values.max())
        shift = 2.0 ** -np.frexp(high)[1] if high > 1e290 else 1.0  # exact: a power of two
        values = np.asarray(how.reduce(self.values * shift, axis=axes))
        return Factor(rest, values, "", self.log_scale - log(shift))

    def condition(self, given: Mapping[str, Any]) -> Factor:
        """The factor where some of its variables have these states.

        >>> a = Variable("A", "discrete", (0, 1)); b = Variable("B", "discrete", (0, 1))
        >>> Factor((a, b), [[1, 4], [3, 2]]).condition({"A": 1}).values.tolist()
        [3.0, 2.0]
        """
        for name in given:
            if name not in self.names:
                raise unknown_name("Variable", name, self.names, "in the factor")
        at = tuple(
            v.code(given[v.name]) if v.name in given else slice(None) for v in self.variables
        )
        rest = tuple(v for v in self.variables if v.name not in given)
        return Factor(rest, self.values[at], "", self.log_scale)

    # --- equality and looks -------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Factor):
            return NotImplemented
        return (
            self.name == other.name
            and self.log_scale == other.log_scale
            and set(self.variables) == set(other.variables)
            and np.array_equal(self.values, other.on(self.names).values)
        )

    def __hash__(self) -> int:
        return hash((self.name, frozenset(self.variables), self.log_scale))

    @property
    def _scope(self) -> str:
        return f"({', '.join(v.name for v in self.variables)})"

    @property
    def title(self) -> str:
        """`φ(A, B)`, or the factor's own name."""
        return f"{self.name or 'φ'}{self._scope}"

    def _states(self, at: Any) -> str:
        pairs = [f"{v.name}={v.states[int(i)]}" for v, i in zip(self.variables, at, strict=True)]
        return ", ".join(pairs) or "its only cell"

    def _view(self) -> View:
        *rows_of, last = self.variables or (None,)
        head = [v.name for v in rows_of if v is not None]
        right = range(len(head), len(head) + (last.arity if last is not None else 1))
        head += [f"{last.name}={s}" for s in last.texts] if last is not None else ["φ"]
        table = self.values.reshape(-1, last.arity if last is not None else 1)
        states = itertools.product(*(v.texts for v in rows_of if v is not None))
        rows = [
            [*key, *(f"{x:.6g}" for x in row)]
            for key, row in zip(itertools.islice(states, _MANY), table, strict=False)
        ]
        times = f" · exp({self.log_scale:.6g})" if self.log_scale else ""
        hidden = prod(self.shape[:-1]) - len(rows)
        note = f"… {hidden:,} more rows" if hidden > 0 else ""
        return View(f"{self.title}{times}", head, rows, right, note)

    def __repr__(self) -> str:
        return f"Factor({self.title}, {'×'.join(map(str, self.shape)) or '1'})"
