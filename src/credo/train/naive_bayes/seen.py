"""What was seen of one column whose kind is left to the rules: nothing is lost that they may need.

Whether whole numbers are states, or a text is an identifier, depends on all rows. So the different
cells are kept with their counts by class, while they are few enough to be states; two such values
add, and the rules of `read` are asked again. Numbers that are too many to be states are moments:

    counts[c, v]  →  n[c] = Σ_v counts,  mean[c] = Σ_v counts·v / n,  scatter[c]

Columns of numbers in memory (`raw`) are never set aside; whole ones are states if they are few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, SchemaError
from credo.core.frozen import Frozen
from credo.core.schema import MAX_STATES, Variable
from credo.core.state_values import is_number
from credo.data.columns.cells import cell_key, finder, number_of
from credo.data.columns.doubts import like_numbers
from credo.data.columns.identifiers import FEW_INTEGERS, are_states
from credo.data.columns.infer import Declared, decide, named_like_id, typed_states
from credo.data.columns.numerals import numbers_of
from credo.data.columns.profile import Doubt, Profile
from credo.stats.by_class import Part, Spread, StateCounts, Where, spread_out
from credo.stats.configurations import frozen
from credo.train.naive_bayes.reorder import moments_of_counts

__all__ = ["BOOLS", "FARTHEST", "WHOLE", "Seen", "may_number_rows", "with_moments"]

FARTHEST = 60_000
"""Whole numbers farther apart than this are sorted, not tabled: they are no states."""

_SAMPLE = 1_000_000  # cells looked at to judge whether numbers are all different
_NUMBERS = frozenset(("int", "float"))
BOOLS = frozenset(("bool",))
WHOLE = frozenset(("int",))


@dataclass(frozen=True, eq=False, slots=True)
class Seen(Frozen):
    """The cells of a column: values with counts [class, value], or numbers with moments.

    `rows` and `missing` count rows, with a class or without, whatever they weigh. Where neither
    counts nor moments are kept, the column is set aside for good and `reason` says why.

    >>> few = Seen("a", 3, 0, frozenset(["int"]), (1, 2, 3), np.array([[1, 1, 1]]), raw=True)
    >>> few.verdict()[0].kind, (few + few).verdict()[0].kind
    ('continuous', 'discrete')
    """

    name: str
    rows: int
    missing: int
    types: frozenset[str]
    values: tuple[Any, ...] | None = None
    counts: NDArray[Any] | None = None
    moments: Spread | None = None
    raw: bool = False
    text: bool = False
    declared: Declared | None = None
    low: float = np.inf
    high: float = -np.inf
    whole: bool = True
    different: NDArray[Any] | None = None
    """Different whole numbers among the first million, while they may number the rows."""
    doubts: tuple[Doubt, ...] = ()
    reason: str = ""
    kind: str = "auto"
    """'categorical' or 'gaussian' where one word was given for all columns that can be used."""
    variable: Variable | None = None
    """What the column was found to be, as long as nothing new was seen of it."""
    places: NDArray[np.intp] | None = None
    """The state that each value is, of a discrete variable."""

    @property
    def observed(self) -> int:
        """The rows with a value."""
        return self.rows - self.missing

    @property
    def final(self) -> bool:
        """Whether no row that may come can make states of these numbers."""
        return self.raw and (self.values is None or len(self.values) > FEW_INTEGERS or self._far)

    @property
    def _far(self) -> bool:
        values = self.values  # those of numbers in memory are in order
        return bool(values) and self.types == WHOLE and values[-1] - values[0] >= FARTHEST  # type: ignore[index]

    @property
    def never_states(self) -> bool:
        """Whether these are whole numbers that may not be as many states as they like."""
        plain = self.types == WHOLE and not self.text and self.declared is None
        return plain and self.kind != "categorical"

    # --- what the column is ---------------------------------------------------------------

    def decided(self) -> tuple[Seen, str]:
        """The same with the variable that the column is; why there is none if it is set aside."""
        if self.variable is not None:
            return self, ""
        variable, reason = self.verdict()
        places = None
        if variable is not None and variable.is_discrete and not self.raw:
            find = finder(variable, self.text)
            places = np.array([find(v) for v in self._held()[0]], dtype=np.intp)
        return replace(self, variable=variable, places=places), reason

    def verdict(self) -> tuple[Variable | None, str]:
        """The variable that the column is as far as is known; None and why if it is set aside."""
        if self.counts is None and self.moments is None:
            return None, self.reason
        if self.raw and len(self.types) <= 1:
            return self._of_numbers(), ""
        profile = self._profile()
        found = decide(profile, None, self.declared)
        if found.variable is not None and self.kind != "auto":
            word = "discrete" if self.kind == "categorical" else "continuous"
            found = decide(profile, word, self.declared)
        return found.variable, found.column.reason

    def _of_numbers(self) -> Variable:
        values = self.values
        if self.types == BOOLS:
            return Variable(self.name, "discrete", (False, True))
        few = values is not None and not self._far and self._are_few(values)
        if values is None or not (few if self.kind == "auto" else self.kind == "categorical"):
            return Variable(self.name, "continuous")
        return Variable(self.name, "discrete", tuple(sorted(values)) or (0,))

    def _are_few(self, values: tuple[Any, ...]) -> bool:
        """Whether whole numbers, in their order, are states by the rules of tables."""
        ends = (values[0], values[-1]) if values else (0, 0)
        return are_states(self.name, len(values), self.observed, *ends)[0]

    def _profile(self) -> Profile:
        values, distinct, sampled, words = self.values, 0, self.observed, 0.0
        if values is not None:
            texts = [v for v in values[:1000] if isinstance(v, str)]
            words = sum(len(t.split()) for t in texts) / max(len(texts), 1)
            distinct = len(values)
        elif self.different is not None:
            distinct, sampled = len(self.different), min(self.observed, _SAMPLE)
        else:
            distinct = 1 if self.low == self.high else max(self.observed - 1, 2)
        return Profile(
            self.name,
            self.rows,
            self.missing,
            {},
            self.types,
            self.text,
            values,
            distinct,
            sampled,
            lambda _: None,
            self.low,
            self.high,
            self.moments is not None and self.whole,
            words,
            self.doubts,
            self._cells_like_numbers,
        )

    def _cells_like_numbers(self) -> int:
        """How many cells are numbers, or look like them; rows with weights do not tell."""
        if self.values is None or self.counts is None:
            return self.observed
        cells = self.counts.sum(axis=0)
        if self.counts.dtype.kind == "f" or cells.sum() != self.observed:
            return self.observed if self.text else 0
        ones = like_numbers(self.values) if self.text else [*map(is_number, self.values)]
        return int(cells[np.asarray(ones, dtype=bool)].sum())

    def part(self, variable: Variable) -> Part:
        """The statistic of the column as that variable."""
        if not variable.is_discrete:
            return self.as_spread()
        return self.as_states(variable)

    def as_spread(self) -> Spread:
        """The moments of the numbers."""
        if self.moments is not None:
            return self.moments
        values, counts = self._held()
        if not self.text and not self.types <= _NUMBERS | {"bool"}:
            raise InputError(f"{self.name!r} holds text and cannot be 'gaussian'.")
        return moments_of_counts(self.name, counts, self._numbers(values))

    def as_states(self, variable: Variable) -> StateCounts:
        """The counts of the states."""
        values, counts = self._held()
        if self.raw and values == variable.states and self.types != BOOLS:
            return StateCounts(variable, counts)
        places = self.places if variable is self.variable else None
        if places is None:
            find = finder(variable, self.text)
            places = np.array([find(v) for v in values], dtype=np.intp)
        if len(places) == variable.arity and (places == np.arange(len(places))).all():
            return StateCounts(variable, counts)
        out = np.zeros((len(counts), variable.arity), dtype=counts.dtype)
        np.add.at(out.T, places, counts.T)
        return StateCounts(variable, frozen(out), unseen=not values and self.raw)

    def like(self, part: Part) -> Part:
        """The same cells as a statistic of a kind that is final elsewhere."""
        if isinstance(part, Spread) and len(part.names) == 1 and self.types <= _NUMBERS | {"bool"}:
            return self.as_spread()
        if isinstance(part, StateCounts) and self.values is not None and not part.above:
            states = tuple(dict.fromkeys(self._typed().values or ()))
            if not states:
                return StateCounts(
                    part.variable, frozen(np.zeros_like(part.values)), unseen=part.unseen
                )
            try:
                return self.as_states(Variable(self.name, "discrete", tuple(sorted(states))))
            except TypeError:
                return self.as_states(Variable(self.name, "discrete", states))
        raise SchemaError(
            f"Column {self.name!r} is not of the same kind in both parts.",
            hint=f"Give both the same kind, as in kinds={{{self.name!r}: 'categorical'}}.",
        )

    def _held(self) -> tuple[tuple[Any, ...], NDArray[Any]]:
        assert self.values is not None and self.counts is not None
        return self.values, self.counts

    def _numbers(self, values: tuple[Any, ...]) -> NDArray[np.float64]:
        if self.text:
            return numbers_of(list(values))
        return np.array([number_of(v) for v in values], dtype=np.float64)

    # --- two parts of a table -------------------------------------------------------------

    def on_classes(self, where: Where, size: int) -> Seen:
        """The same among more classes."""
        counts, moments = self.counts, self.moments
        return replace(
            self,
            counts=None if counts is None else frozen(spread_out(counts, where, size, 0)),
            moments=None if moments is None else moments.on_classes(where, size),
        )

    def __add__(self, other: Seen) -> Seen:
        if self._counted_plainly and other._counted_plainly and self.types == other.types:
            return self._with_numbers(other)
        a, b = (self, other) if self.text == other.text else (self._typed(), other._typed())
        both = replace(
            a,
            rows=a.rows + b.rows,
            missing=a.missing + b.missing,
            types=a.types | b.types,
            raw=a.raw and b.raw,
            declared=_common(a, b),
            doubts=(*a.doubts, *b.doubts)[:3],
            reason=a.reason or b.reason,
            variable=None,
            places=None,
        )
        for one in (a, b):
            if one.counts is None and one.moments is None:
                return replace(both, values=None, counts=None, moments=None)
        if a.values is not None and b.values is not None:
            return _joined(both, a, b)._within_limits()
        return _moved(both, a._as_numbers(), b._as_numbers())

    @property
    def _counted_plainly(self) -> bool:
        """Whether these are counts of numbers in memory, none of them missing."""
        return self.raw and self.counts is not None and not self.missing and self.kind == "auto"

    def _with_numbers(self, other: Seen) -> Seen:
        """The counts of more whole numbers, or booleans, in their order."""
        (mine, counts), (theirs, others) = self._held(), other._held()
        rows, values, variable = self.rows + other.rows, mine, self.variable
        if theirs == mine:
            total = counts + others
        else:
            values = tuple(sorted({*mine, *theirs}))
            variable = variable if len(values) == len(mine) else None
            kind = np.result_type(counts, others)
            total = np.zeros((len(counts), len(values)), dtype=kind)
            total[:, [values.index(v) for v in mine]] = counts
            total[:, [values.index(v) for v in theirs]] += others
        if variable is not None and not variable.is_discrete:
            variable = None  # more rows may make them states
        return Seen(
            self.name, rows, 0, self.types, values, frozen(total), raw=True, variable=variable
        )

    def _within_limits(self) -> Seen:
        """Too many values to be states: numbers stay as moments, texts are let go."""
        values, _ = self._held()
        if self.declared is not None:
            return self
        if len(values) > FEW_INTEGERS and self.never_states:
            return self._as_numbers()
        if len(values) <= MAX_STATES:
            return self
        numbers = self._numbers(values) if self.text or self.types <= _NUMBERS else None
        if numbers is not None and 2 * np.isnan(numbers).sum() <= len(values):
            return self._as_numbers()
        _, reason = self.verdict()
        gone = reason or f"more than {MAX_STATES:,} different values"
        return replace(self, values=None, counts=None, reason=gone)

    def _as_numbers(self) -> Seen:
        """Values and counts as moments."""
        if self.values is None:
            return self
        if not self.text and not self.types <= _NUMBERS:
            text = next(v for v in self.values if type(v) not in (int, float))
            raise SchemaError(
                f"Column {self.name!r} holds numbers in some rows and {text!r} in others.",
                hint="Make its cells all text or all numbers, or leave the column out.",
            )
        x = self._numbers(self.values)
        good, types, doubts = x[np.isfinite(x)], self.types, self.doubts
        if self.text and len(x):
            kind, _ = typed_states([str(v) for v, y in zip(self.values, x, strict=True) if y == y])
            types = types - {"str"} | {"int" if kind == "int" else "float"}
            if len(good) < len(x):
                types |= {"str"}
                odd = str(self.values[int(np.isnan(x).argmax())])
                doubts = (*doubts, Doubt(0, odd, "is not a number"))[:3]
        out = replace(
            self,
            types=types,
            doubts=doubts,
            values=None,
            counts=None,
            moments=moments_of_counts(self.name, self._held()[1], x),
            low=float(good.min(initial=np.inf)),
            high=float(good.max(initial=-np.inf)),
            whole=bool((good % 1 == 0).all()),
        )
        exact = np.unique(good if self.text else np.array(self.values, dtype=object))
        return replace(out, different=may_number_rows(out, lambda: exact))

    def _typed(self) -> Seen:
        """The texts of a file as cells of the type that all of them have."""
        if not self.text:
            return self
        if self.values is None:
            return replace(self, text=False)
        kind, states = typed_states([str(v) for v in self.values])
        one = Variable(self.name, "discrete", states) if states else None
        find = None if one is None else finder(one, True)
        cells = tuple(states[find(v)] for v in self.values) if find else ()
        plain = replace(self, text=False, types=frozenset([kind] if states else ()), values=())
        none = replace(plain, counts=None if self.counts is None else self.counts[:, :0])
        return _joined(none, none, replace(plain, values=cells, counts=self.counts))


def _common(a: Seen, b: Seen) -> Declared | None:
    """The states that both parts declare."""
    for one, other in ((a, b), (b, a)):
        if not one.observed and one.declared is None:
            return other.declared
    return a.declared if a.declared == b.declared else None


def _joined(both: Seen, a: Seen, b: Seen) -> Seen:
    """Values of both in the order in which they were met, and their counts."""
    (mine, counts), (theirs, others) = a._held(), b._held()
    if mine == theirs and list(map(type, mine)) == list(map(type, theirs)):
        return _unchanged(replace(both, values=mine, counts=frozen(counts + others)), a)
    place = {cell_key(v): i for i, v in enumerate(mine)}
    values = list(mine)
    where = []
    for v in theirs:
        key = cell_key(v)
        if key not in place:
            place[key] = len(values)
            values.append(v)
        where.append(place[key])
    out = np.zeros((len(counts), len(values)), dtype=np.result_type(counts, others))
    out[:, : len(mine)] = counts
    np.add.at(out.T, where, others.T)
    if len(values) == len(mine):
        return _unchanged(replace(both, values=mine, counts=frozen(out)), a)
    return replace(both, values=tuple(values), counts=frozen(out))


def _unchanged(both: Seen, a: Seen) -> Seen:
    """Two values or more that are states in five rows are states in more rows of the same type."""
    if a.variable is None or not a.variable.is_discrete or both.types != a.types:
        return both
    if a.observed < 5 or len(a._held()[0]) < 2:  # fewer are never constant, or identifiers
        return both
    if both.raw != a.raw or both.declared != a.declared:
        return both
    return replace(both, variable=a.variable, places=a.places)


def _moved(both: Seen, a: Seen, b: Seen) -> Seen:
    """Moments of both."""
    assert a.moments is not None and b.moments is not None
    out = replace(
        both,
        types=a.types | b.types,
        doubts=(*a.doubts, *b.doubts)[:3],
        values=None,
        counts=None,
        moments=a.moments + b.moments,
        low=min(a.low, b.low),
        high=max(a.high, b.high),
        whole=a.whole and b.whole,
        different=None,
    )
    mine, theirs = a.different, b.different
    if mine is None or theirs is None:
        return (
            out
            if a.observed and b.observed
            else replace(out, different=mine if a.observed else theirs)
        )
    if a.observed >= _SAMPLE:
        return replace(out, different=may_number_rows(out, lambda: mine))
    return replace(out, different=may_number_rows(out, lambda: np.union1d(mine, theirs)))


def may_number_rows(seen: Seen, exact: Callable[[], NDArray[Any]]) -> NDArray[Any] | None:
    """Different whole numbers, while the column may turn out to number the rows."""
    if "int" not in seen.types or not seen.types <= {"int", "str"}:
        return None
    found = exact()
    if len(found) < min(seen.observed, _SAMPLE) and not named_like_id(seen.name):
        return None
    return frozen(found)


def with_moments(seen: Seen, moments: Spread) -> Seen:
    """Whole numbers of which the moments are known, not the counts."""
    values = seen.values
    if values is None:
        return replace(seen, moments=moments)
    out = replace(seen, values=None, moments=moments)
    if values:
        out = replace(out, low=float(min(values)), high=float(max(values)))
    exact = np.array(values, dtype=object)
    return replace(out, different=may_number_rows(out, lambda: np.unique(exact)))
