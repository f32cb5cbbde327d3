"""Numbers without rounding: sums of floats that are the same in any order and in any parts.

    value = Σ_k digit_k · 2^(32·(low + k))

Every float is such a number, and so are sums and products of floats. What is added up this way is
rounded once, when somebody looks at it, so that `tally(a ⧺ b) == tally(a) + tally(b)` to the last
bit of every float.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.stats.configurations import frozen

__all__ = [
    "Exact",
    "ExactFloat",
    "Numbers",
    "added",
    "are_there",
    "exact_sum",
    "joined",
    "numbers_of",
    "placed",
    "shown_as",
    "summed",
    "summed_over",
    "total_of",
]

_DIGIT = 32
_ALL_ONES = np.uint32(0xFFFFFFFF)

Floats = NDArray[np.float64]


class ExactFloat(float):
    """A float that knows the number it was rounded from: sums of such floats are rounded once.

    >>> a, b, c = (ExactFloat(Fraction(x)) for x in (0.1, 0.2, 0.3))
    >>> (a + b) + c == a + (b + c), (0.1 + 0.2) + 0.3 == 0.1 + (0.2 + 0.3)
    (True, False)
    """

    __slots__ = ("exact",)
    exact: Fraction

    def __new__(cls, exact: Fraction) -> ExactFloat:
        try:
            made = super().__new__(cls, float(exact))
        except OverflowError:
            made = super().__new__(cls, math.inf if exact > 0 else -math.inf)
        made.exact = exact
        return made

    def __add__(self, other: object) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        return exact_sum(self, other)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return ExactFloat(-self.exact)

    def __sub__(self, other: object) -> Any:
        return self + -other if isinstance(other, (int, float)) else NotImplemented

    def __rsub__(self, other: object) -> Any:
        return -self + other if isinstance(other, (int, float)) else NotImplemented

    def __reduce__(self) -> Any:
        return ExactFloat, (self.exact,)


def _fraction(value: int | float) -> Fraction:
    return value.exact if isinstance(value, ExactFloat) else Fraction(value)


class Exact:
    """An array of exact numbers: `digits` has one axis more than the array, of its digits.

    >>> tenths = Exact.of([0.1, 0.2, 0.3])
    >>> tenths.total, tenths.summed([0, 0, 1], 2).rounded().tolist()
    (0.6, [0.30000000000000004, 0.3])
    >>> (tenths + tenths).rounded().tolist()
    [0.2, 0.4, 0.6]
    """

    __slots__ = ("digits", "low")

    def __init__(self, digits: NDArray[np.uint32], low: int) -> None:
        self.digits, self.low = frozen(digits), low

    @classmethod
    def of(cls, values: Any) -> Exact:
        """Floats or whole numbers, which must be finite."""
        array = np.asarray(values)
        kind: Any = np.float64 if array.dtype.kind == "f" else np.int64
        flat = np.ascontiguousarray(array, dtype=kind).reshape(-1)
        return cls._made(_core.exact_of(flat), array.shape)

    @classmethod
    def of_planes(cls, planes: Sequence[NDArray[np.int64]], low: int) -> Exact:
        """Number i is Σ_p planes[p][i] · 2^(32·(low + p))."""
        return cls._made(_core.exact_planes(np.stack(planes), low), planes[0].shape)

    @classmethod
    def _made(cls, found: tuple[NDArray[np.uint32], int], shape: tuple[int, ...]) -> Exact:
        digits, low = found
        return cls(digits.reshape(*shape, digits.shape[-1]), low)

    @classmethod
    def joined(cls, parts: Sequence[Exact]) -> Exact:
        """Parts one after the other along the first axis."""
        low, size = _window(parts)
        return cls(np.concatenate([part._on(low, size) for part in parts]), low)

    # --- what it is ---------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array of numbers."""
        return self.digits.shape[:-1]

    @property
    def planes(self) -> NDArray[np.int64]:
        """Each digit of all numbers, which must not be negative: number i is
        Σ_p planes[p, i] · 2^(32·(low + p)), so that it is counted as whole numbers are.
        """
        return np.ascontiguousarray(self.flat.T, dtype=np.int64)

    @property
    def flat(self) -> NDArray[np.uint32]:
        """The digits of all numbers, one row each."""
        return np.ascontiguousarray(self.digits.reshape(-1, self.digits.shape[-1]))

    def rounded(self) -> Floats:
        """The nearest floats, in an array that is of no other if they are a row."""
        found: Floats = _core.exact_rounded(self.flat, self.low)
        return found if len(self.shape) == 1 else found.reshape(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    # --- as an array goes ---------------------------------------------------------------

    def __getitem__(self, where: Any) -> Exact:
        return Exact(self.digits[where], self.low)

    def reshape(self, shape: Sequence[int]) -> Exact:
        """The same numbers in another shape."""
        return Exact(self.digits.reshape(*shape, self.digits.shape[-1]), self.low)

    def transpose(self, axes: Sequence[int]) -> Exact:
        """The axes in another order."""
        return Exact(self.digits.transpose(*axes, len(axes)), self.low)

    def placed(self, shape: Sequence[int], where: Any) -> Exact:
        """These numbers at some places of an array of zeros."""
        digits = np.zeros((*shape, self.digits.shape[-1]), dtype=np.uint32)
        digits[where] = self.digits
        return Exact(digits, self.low)

    # --- the algebra --------------------------------------------------------------------

    def summed(self, group: Any, groups: int) -> Exact:
        """The sums of the parts along the first axis by their group."""
        shape = (groups, *self.shape[1:])
        if not math.prod(self.shape):
            return Exact(np.zeros((*shape, 1), dtype=np.uint32), 0)
        parts = np.ascontiguousarray(group, dtype=np.int64)
        return Exact._made(_core.exact_gathered(self.flat, self.low, parts, groups), shape)

    def sum(self, axes: Sequence[int]) -> Exact:
        """The sums over some axes."""
        kept = [i for i in range(len(self.shape)) if i not in axes]
        shape = tuple(self.shape[i] for i in kept)
        here = np.arange(math.prod(shape)).reshape(
            [n if i in kept else 1 for i, n in enumerate(self.shape)]
        )
        group = np.broadcast_to(here, self.shape).reshape(-1)
        return self.reshape((group.size,)).summed(group, math.prod(shape)).reshape(shape)

    @property
    def total(self) -> ExactFloat:
        """The sum of all numbers."""
        n = math.prod(self.shape)
        one = self.reshape((n,)).summed(np.zeros(n), 1)
        whole = int.from_bytes(one.flat.astype("<u4").tobytes(), "little", signed=True)
        return ExactFloat(whole * Fraction(2) ** (_DIGIT * one.low))

    def __add__(self, other: object) -> Exact:
        if not isinstance(other, Exact):
            return NotImplemented
        both = Exact.joined([self.reshape((1, *self.shape)), other.reshape((1, *other.shape))])
        return both.summed([0, 0], 1).reshape(self.shape)

    def _on(self, low: int, size: int) -> NDArray[np.uint32]:
        """The digits in a window that holds this one's."""
        mine = self.digits.shape[-1]
        before = self.low - low
        if before == 0 and size == mine:
            return self.digits
        out = np.zeros((*self.shape, size), dtype=np.uint32)
        out[..., before : before + mine] = self.digits
        out[..., before + mine :] = np.where(self.digits[..., -1:] >> 31, _ALL_ONES, 0)
        return out

    def __reduce__(self) -> Any:
        return Exact, (self.digits, self.low)


def _window(parts: Sequence[Exact]) -> tuple[int, int]:
    low = min(part.low for part in parts)
    return low, max(part.low + part.digits.shape[-1] for part in parts) - low


Numbers = NDArray[Any] | Exact
"""Numbers as they are: whole ones, floats that nothing was rounded for, or exact ones."""


def numbers_of(values: NDArray[Any], exact: Exact | None) -> Numbers:
    """What an array stands for: itself, or what it was rounded from."""
    return values if exact is None else exact


def shown_as(numbers: Numbers) -> tuple[NDArray[Any], Exact | None]:
    """The array that is shown, and what its floats were rounded from."""
    if isinstance(numbers, Exact):
        return numbers.rounded(), numbers
    return np.asarray(numbers), None


def added(a: Numbers, b: Numbers) -> Numbers:
    """The sums of two arrays of one shape."""
    if _are_whole(a) and _are_whole(b):
        return np.asarray(a + b)
    return _exact(a) + _exact(b)


def joined(parts: Sequence[Numbers]) -> Numbers:
    """All parts, one after the other along the first axis."""
    arrays = [p for p in parts if not isinstance(p, Exact)]
    if len(arrays) == len(parts) and len({a.dtype.kind for a in arrays}) == 1:
        return np.concatenate(arrays)
    return Exact.joined([_exact(p) for p in parts])


def placed(numbers: Numbers, shape: Sequence[int], where: Any) -> Numbers:
    """Numbers at some places of an array of zeros."""
    if isinstance(numbers, Exact):
        return numbers.placed(shape, where)
    out = np.zeros(shape, dtype=numbers.dtype)
    out[where] = numbers
    return out


def summed(numbers: Numbers, group: NDArray[Any], groups: int) -> Numbers:
    """The sums of a row of numbers by their group."""
    if isinstance(numbers, Exact):
        return numbers.summed(group, groups)
    if numbers.dtype.kind == "f":
        parts = np.ascontiguousarray(group, dtype=np.int64)
        return Exact._made(_core.exact_summed(_flat(numbers), parts, groups), (groups,))
    total = np.zeros(groups, dtype=numbers.dtype)
    np.add.at(total, group, numbers)
    return total


def summed_over(numbers: Numbers, axes: Sequence[int]) -> Numbers:
    """The sums over some axes."""
    if _are_whole(numbers):
        return np.asarray(numbers.sum(tuple(axes)))
    return _exact(numbers).sum(axes)


def total_of(numbers: Numbers) -> int | float:
    """The sum of all."""
    if isinstance(numbers, Exact):
        return numbers.total
    if numbers.dtype.kind == "f":
        whole = summed(numbers.reshape(-1), np.zeros(numbers.size, np.int64), 1)
        assert isinstance(whole, Exact)
        return whole.total
    total: int = numbers.sum().item()
    return total


def are_there(numbers: Numbers) -> NDArray[np.bool_]:
    """Which numbers are not 0."""
    if isinstance(numbers, Exact):
        return np.asarray(numbers.digits.any(axis=-1))
    return np.asarray(numbers != 0)


def _are_whole(numbers: Numbers) -> TypeGuard[NDArray[Any]]:
    return not isinstance(numbers, Exact) and numbers.dtype.kind != "f"


def _exact(numbers: Numbers) -> Exact:
    return numbers if isinstance(numbers, Exact) else Exact.of(numbers)


def _flat(values: NDArray[Any]) -> Floats:
    return np.ascontiguousarray(values, dtype=np.float64).reshape(-1)


def exact_sum(a: int | float, b: int | float) -> int | float:
    """The sum of two weights: floats are rounded once, whatever they are sums of."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    for x in (a, b):
        if not isinstance(x, ExactFloat) and not math.isfinite(x):
            return float(a) + float(b)
    return ExactFloat(_fraction(a) + _fraction(b))
