"""Cpt: a conditional probability table, one distribution of the child for each parent row.

    θ[u₁, …, u_k, x] = P(child = x | parents = u),   Σ_x θ[u, x] = 1

The axes are the parents in order, then the child: each row of the last axis is one distribution.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import InputError, LimitError, SchemaError, unknown_name
from credo.model.cpt_interval import entry_intervals
from credo.model.distribution import Distribution
from credo.model.interval import Interval
from credo.model.learned import Learned
from credo.model.value import readonly
from credo.render import table_html, table_text
from credo.schema import Variable

__all__ = ["MAX_CELLS", "Cpt"]

MAX_CELLS = 100_000_000
"""A table of more numbers than this is refused before it is allocated."""

TOLERANCE = 1e-6
"""A row may miss 1 by this much; it is then divided by its sum, and the table says so."""


@dataclass(frozen=True, eq=False)
class Cpt:
    """P(child | parents) as a table.

    `rescaled` is how far a row was from adding up to 1 before it was divided by its sum
    (0 when every row was right). `counts`, if there are any, are the pseudo-counts of the
    posterior: a Dirichlet for each row. `learned` says what it was learned from.

    >>> rain = Variable("rain", "discrete", ("no", "yes"))
    >>> wet = Variable("wet", "discrete", ("no", "yes"))
    >>> cpt = Cpt(wet, (rain,), [[0.9, 0.1], [0.2, 0.8]])
    >>> cpt.row({"rain": "yes"})["yes"]
    0.8
    >>> print(cpt)
    P(wet | rain)
    rain  wet=no  wet=yes
    no       0.9      0.1
    yes      0.2      0.8
    """

    child: Variable
    parents: tuple[Variable, ...]
    values: NDArray[np.float64]
    counts: NDArray[np.float64] | None = None
    rescaled: float = field(default=0.0, compare=False)
    learned: Learned | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parents", family(self.child, self.parents))
        for v in self.variables:
            if not v.is_discrete:
                raise SchemaError(f"A table cannot have the continuous variable {v.name!r}.")
        if cells(self.variables) > MAX_CELLS:
            raise LimitError(
                f"The table of {self.child.name!r} would have {cells(self.variables):,} numbers; "
                f"at most {MAX_CELLS:,} are allowed.",
                hint="Give it fewer parents, or parents with fewer states.",
            )
        try:
            given = np.asarray(self.values, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"The table of {self.child.name!r} must hold numbers.") from None
        if given.size == cells(self.variables) and given.ndim == 1:
            given = given.reshape(self.shape)
        if given.shape != self.shape:
            raise InputError(
                f"The table of {self.child.name!r} must have the shape {self.shape} "
                f"({', '.join(v.name for v in self.variables)}), got {given.shape}."
            )
        object.__setattr__(self, "values", readonly(self._normalised(given)))
        if self.counts is not None:
            try:
                counts = readonly(self.counts)
            except (TypeError, ValueError):
                counts = readonly(np.nan)
            if counts.shape != self.shape or not (counts >= 0).all():
                raise InputError(f"The pseudo-counts of {self.child.name!r} do not fit its table.")
            object.__setattr__(self, "counts", counts)

    def _normalised(self, given: NDArray[np.float64]) -> NDArray[np.float64]:
        for bad, what in ((~np.isfinite(given), "is not finite"), (given < 0, "is negative")):
            if bad.any():
                at = tuple(int(i) for i in np.argwhere(bad)[0])
                state = self.child.states[at[-1]]
                raise InputError(
                    f"P({self.child.name}={state}{self._given(at[:-1])}) {what}: {given[at]:g}."
                )
        with np.errstate(over="ignore"):
            total = given.sum(axis=-1, keepdims=True)
        off = np.abs(total - 1.0)
        worst = float(off.max(initial=0.0))
        if worst > TOLERANCE:
            at = tuple(int(i) for i in np.argwhere(off[..., 0] == worst)[0])
            raise InputError(
                f"The probabilities of {self.child.name!r}{self._given(at, ' given')} add up to "
                f"{float(total[(*at, 0)]):.9g}, not to 1.",
                hint="Divide them by their sum if they are weights.",
            )
        if worst > 1e-13:  # dividing again would move the last bits of numbers that are right
            object.__setattr__(self, "rescaled", max(worst, self.rescaled))
            given = given / total
        return given

    def _given(self, at: Sequence[int], word: str = " |") -> str:
        pairs = [f"{v.name}={v.states[i]}" for v, i in zip(self.parents, at, strict=True)]
        return f"{word} {', '.join(pairs)}" if pairs else ""

    # --- building -----------------------------------------------------------------------

    @classmethod
    def trusted(
        cls,
        child: Variable,
        parents: tuple[Variable, ...],
        values: NDArray[np.float64],
        counts: NDArray[np.float64] | None,
        learned: Learned | None,
    ) -> Cpt:
        """A table from numbers that need no checking, such as a learner's; not copied."""
        out = object.__new__(cls)
        values.flags.writeable = False
        if counts is not None:
            counts.flags.writeable = False
        out.__dict__.update(
            child=child, parents=parents, values=values, counts=counts, rescaled=0.0,
            learned=learned,
        )  # fmt: skip
        return out

    @classmethod
    def of(cls, child: Variable, parents: Sequence[Variable], given: Any) -> Cpt:
        """A table from an array, nested dicts, a dict by parent states, or a data frame.

        >>> a = Variable("A", "discrete", ("f", "t")); b = Variable("B", "discrete", (0, 1))
        >>> Cpt.of(a, [b], {0: {"f": 0.9, "t": 0.1}, 1: {"t": 0.7, "f": 0.3}}).values.tolist()
        [[0.9, 0.1], [0.3, 0.7]]
        >>> Cpt.of(a, [], {"t": 0.2}).values.tolist()
        [0.8, 0.2]
        """
        parents = family(child, parents)
        if isinstance(given, Cpt):
            return given.on(child, parents)
        if isinstance(given, Distribution):
            given = dict(given)
        if isinstance(given, Mapping):
            return cls(child, parents, _from_mapping(child, parents, given))
        if hasattr(given, "columns") and hasattr(given, "__getitem__"):
            return cls(child, parents, _from_frame(child, parents, given))
        if not parents and isinstance(given, (int, float, np.number)):
            return cls(child, parents, _last(child, given))
        return cls(child, parents, given)

    def on(self, child: Variable, parents: tuple[Variable, ...]) -> Cpt:
        """The same table with its parents in another order."""
        if (child, parents) == (self.child, self.parents):
            return self
        if child != self.child or set(parents) != set(self.parents):
            raise SchemaError(
                f"The table is {self.title} and cannot be that of {child.name!r} given "
                f"{[p.name for p in parents]}."
            )
        order = [*(self.parents.index(p) for p in parents), len(parents)]
        counts = None if self.counts is None else self.counts.transpose(order)
        names = tuple(v.name for v in (*parents, child))
        learned = None if self.learned is None else self.learned.on(order, names)
        values = self.values.transpose(order)
        return Cpt(child, parents, values, counts, self.rescaled, learned)

    # --- what it is ---------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the child."""
        return self.child.name

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The axes: the parents, then the child."""
        return (*self.parents, self.child)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of states on each axis."""
        return tuple(v.arity for v in self.variables)

    @property
    def free_parameters(self) -> int:
        """How many numbers the table could choose: one less than the states, for each row."""
        return cells(self.parents) * (self.child.arity - 1)

    @property
    def prior(self) -> NDArray[np.float64] | None:
        """The pseudo-counts before any row was seen; None without a prior."""
        prior = None if self.learned is None else self.learned.prior
        return prior if isinstance(prior, np.ndarray) else None

    def interval(self, level: float = 0.95) -> Interval:
        """The central credible interval of every entry: exact, each entry alone is a Beta.

        >>> import credo as cr
        >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.Beta(3, 4))
        >>> low, high = net.cpt("Fev").interval(0.95)
        >>> low.round(3).tolist()
        [[0.316, 0.192], [0.234, 0.234]]
        """
        if self.counts is None:
            raise InputError(
                f"The table of {self.child.name!r} has no posterior, so it has no interval.",
                hint="Learn it with a prior, such as cr.fit(dag, rows, prior=cr.BDeu(1)).",
            )
        return entry_intervals(self.counts, level)

    def row(
        self,
        given: Mapping[str, Any] | None = None,
        *,
        interval: float | None = None,
        **states: Any,
    ) -> Distribution:
        """The distribution of the child for one configuration of its parents.

        With `interval=0.95` it carries the credible interval of each probability.
        """
        if given is not None and not isinstance(given, Mapping):
            raise InputError(f"A row is named by a mapping from parent to state, got {given!r}.")
        wanted = {**(given or {}), **states}
        names = [p.name for p in self.parents]
        for name in wanted:
            if name not in names:
                raise unknown_name("Parent", name, names, f"one of {self.child.name!r}")
        lacking = [n for n in names if n not in wanted]
        if lacking:
            raise InputError(f"A row of {self.child.name!r} needs a state for {lacking[0]!r} too.")
        at = tuple(p.code(wanted[p.name]) for p in self.parents)
        row = Distribution((self.child,), self.values[at])
        if interval is None:
            return row
        if self.counts is None:
            self.interval(interval)
        ends = entry_intervals(self.counts[at], interval)  # type: ignore[index]
        return row.with_interval(ends.lower, ends.upper, ends.level)

    def __getitem__(self, given: Any) -> Distribution:
        """A row by the parents' states in order: `cpt["yes", "no"]`."""
        states = given if isinstance(given, tuple) else (given,)
        if len(states) != len(self.parents):
            raise InputError(
                f"{self.child.name!r} has {len(self.parents)} parents, got {len(states)} states."
            )
        return self.row(dict(zip((p.name for p in self.parents), states, strict=True)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cpt):
            return NotImplemented
        return (
            self.variables == other.variables
            and np.array_equal(self.values, other.values)
            and (self.counts is None) == (other.counts is None)
            and (self.counts is None or np.array_equal(self.counts, other.counts))  # type: ignore[arg-type]
        )

    def __hash__(self) -> int:
        return hash((self.variables, self.values.tobytes()))

    # --- how it looks -------------------------------------------------------------------

    def _rows(self, most: int) -> tuple[list[str], list[list[str]], list[int]]:
        head = [p.name for p in self.parents]
        head += [f"{self.child.name}={s}" for s in self.child.states]
        rows = []
        for states, at in zip(
            itertools.product(*(p.states for p in self.parents)),
            itertools.islice(np.ndindex(*self.shape[:-1]), most),
            strict=False,
        ):
            rows.append([*map(str, states), *(f"{x:.6g}" for x in self.values[at])])
        return head, rows, list(range(len(self.parents), len(head)))

    @property
    def title(self) -> str:
        """`P(child | parents)`."""
        given = f" | {', '.join(p.name for p in self.parents)}" if self.parents else ""
        return f"P({self.child.name}{given})"

    def __str__(self) -> str:
        head, rows, right = self._rows(64)
        text = f"{self.title}\n{table_text(head, rows, right=right)}"
        hidden = cells(self.parents) - len(rows)
        return text + (f"\n… {hidden:,} more rows" if hidden else "")

    def __repr__(self) -> str:
        return f"Cpt({self.title}, {'×'.join(map(str, self.shape))})"

    def _repr_html_(self) -> str:
        head, rows, right = self._rows(64)
        return table_html(head, rows, right=right, caption=self.title)


def family(child: Variable, parents: Any) -> tuple[Variable, ...]:
    """The parents as a tuple of variables, each named once and none of them the child."""
    found = tuple(parents) if isinstance(parents, Sequence) else (parents,)
    for v in (child, *found):
        if not isinstance(v, Variable):
            raise InputError(f"A child and its parents must be of type Variable, got {v!r}.")
    names = [child.name, *(v.name for v in found)]
    if len(set(names)) < len(names):
        raise SchemaError(f"A variable is named twice in the family {names}.")
    return found


def cells(variables: Sequence[Variable]) -> int:
    """The number of configurations of some variables."""
    out = 1
    for v in variables:
        out *= v.arity
    return out


def _from_mapping(
    child: Variable, parents: tuple[Variable, ...], given: Mapping[Any, Any]
) -> NDArray[np.float64]:
    if cells((*parents, child)) > MAX_CELLS:
        raise LimitError(f"The table of {child.name!r} would have too many numbers.")
    out = np.zeros([v.arity for v in (*parents, child)])
    if parents and any(isinstance(k, tuple) for k in given):
        rows = {
            tuple(p.code(s) for p, s in zip(parents, _tuple(k, parents, child), strict=True)): row
            for k, row in given.items()
        }
        for at in np.ndindex(*out.shape[:-1]):
            if at not in rows:
                states = tuple(p.states[i] for p, i in zip(parents, at, strict=True))
                raise InputError(f"The table of {child.name!r} has no row for {states!r}.")
            out[at] = _last(child, rows[at])
        return out
    _nested(out, (), child, parents, given)
    return out


def _tuple(key: Any, parents: tuple[Variable, ...], child: Variable) -> tuple[Any, ...]:
    states = key if isinstance(key, tuple) else (key,)
    if len(states) != len(parents):
        raise InputError(
            f"A row of {child.name!r} needs a state for each of its {len(parents)} parents, "
            f"got {key!r}."
        )
    return states


def _nested(
    out: NDArray[np.float64],
    at: tuple[int, ...],
    child: Variable,
    parents: tuple[Variable, ...],
    given: Any,
) -> None:
    if len(at) == len(parents):
        out[at] = _last(child, given)
        return
    parent = parents[len(at)]
    if not isinstance(given, Mapping):
        raise InputError(f"The table of {child.name!r} must be nested by {parent.name!r} here.")
    codes = {parent.code(state): row for state, row in given.items()}
    for code, state in enumerate(parent.states):
        if code not in codes:
            raise InputError(
                f"The table of {child.name!r} has no row for {parent.name!r} = {state!r}."
            )
        _nested(out, (*at, code), child, parents, codes[code])


def _last(child: Variable, row: Any) -> NDArray[np.float64]:
    """One row: a mapping (one state may be left out and gets the rest), or numbers in order."""
    if isinstance(row, Mapping):
        out = np.zeros(child.arity)
        left = np.ones(child.arity, dtype=bool)
        for state, p in row.items():
            code = child.code(state)
            out[code], left[code] = _number(child, state, p), False
        if left.sum() == 1:
            out[left] = max(0.0, 1.0 - float(out[~left].sum()))
        elif left.any():
            state = child.states[int(np.argmax(left))]
            raise InputError(f"A row of {child.name!r} has no probability for {state!r}.")
        return out
    if isinstance(row, (int, float, np.number)) and child.arity == 2:
        return np.array([1.0 - row, float(row)])
    try:
        array = np.asarray(row, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (child.arity,):
        raise InputError(f"A row of {child.name!r} needs {child.arity} probabilities, got {row!r}.")
    return array


def _number(child: Variable, state: Any, p: Any) -> float:
    try:
        number = float(p)
    except (TypeError, ValueError):
        number = float("nan")
    if np.isnan(number):
        raise InputError(f"P({child.name}={state}) must be a number, got {p!r}.")
    return number


def _from_frame(child: Variable, parents: tuple[Variable, ...], frame: Any) -> NDArray[np.float64]:
    """A frame with a column for each parent and either a column per state, or one of states
    and one called `p`.
    """
    import narwhals as nw

    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise InputError(f"The table of {child.name!r} cannot be read: {frame!r}.") from None
    columns = {c: table[c].to_list() for c in table.columns}
    for parent in parents:
        if parent.name not in columns:
            raise unknown_name("The parent", parent.name, list(columns), "a column of the frame")
    if cells((*parents, child)) > MAX_CELLS:
        raise LimitError(f"The table of {child.name!r} would have too many numbers.")
    out = np.full([v.arity for v in (*parents, child)], np.nan)
    ats = list(zip(*([p.code(s) for s in columns[p.name]] for p in parents), strict=True))
    ats = ats if parents else [()] * len(table)
    if child.name in columns and "p" in columns:
        for at, state, p in zip(ats, columns[child.name], columns["p"], strict=True):
            _put(out, (*at, child.code(state)), child, p)
    else:
        by_text = {str(c): c for c in columns}
        for k, state in enumerate(child.states):
            if str(state) not in by_text:
                raise unknown_name("The state", state, list(columns), "a column of the frame")
            for at, p in zip(ats, columns[by_text[str(state)]], strict=True):
                _put(out, (*at, k), child, p)
    if np.isnan(out).any():
        at = np.argwhere(np.isnan(out))[0]
        states = tuple(v.states[i] for v, i in zip((*parents, child), at, strict=True))
        raise InputError(f"The frame of {child.name!r} has no probability for {states!r}.")
    return out


def _put(out: NDArray[np.float64], at: tuple[int, ...], child: Variable, p: Any) -> None:
    if not np.isnan(out[at]):
        raise InputError(f"The frame of {child.name!r} has a row twice.")
    out[at] = _number(child, child.states[at[-1]], p)
