"""The features of naive Bayes that are alike, in one array for all of them.

A block is a sequence of features; each is made when it is asked for, and the native pass over many
rows reads the arrays as they are. See `credo.stats.by_class`, from which they are learned.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from credo.core.frozen import Frozen
from credo.core.schema import Variable
from credo.model.naive_bayes.features import Feature, Normal, States
from credo.model.values.reals import Floats

Flags = NDArray[np.bool_]


class FeatureBlock(Frozen, Sequence[Feature]):
    """Many features of one kind; the names are those of the columns, in order."""

    __slots__ = ()

    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, at: int) -> Feature: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Feature, ...]: ...
    def __getitem__(self, at: int | slice) -> Feature | tuple[Feature, ...]:
        if isinstance(at, slice):
            return tuple(self.one(i) for i in range(*at.indices(len(self))))
        return self.one(range(len(self))[at])

    @abstractmethod
    def one(self, at: int) -> Feature:
        """The feature at a place."""


@dataclass(frozen=True, eq=False, slots=True)
class NormalBlock(FeatureBlock):
    """Gaussian features: arrays [feature, class], and which features were constant.

    >>> one = np.ones((1, 2))
    >>> block = NormalBlock(("a",), one, one, one, one, one > 1, np.array([False]))
    >>> block[0].name, block[0].variance.tolist()
    ('a', [1.0, 1.0])
    """

    names: tuple[str, ...]
    mean: Floats
    variance: Floats
    n: Floats
    scatter: Floats
    floored: Flags
    idle: Flags

    def one(self, at: int) -> Normal:
        """The feature at a place."""
        return Normal(
            self.names[at],
            self.mean[at],
            self.variance[at],
            self.n[at],
            self.scatter[at],
            self.floored[at],
            bool(self.idle[at]),
        )


@dataclass(frozen=True, eq=False, slots=True)
class StateBlock(FeatureBlock):
    """Discrete features whose states are whole numbers of one window, which begins at `low`.

    `log_theta` and `counts` are arrays [feature, class, number]; `known[feature, number]` says
    which numbers are states: the others stand for nothing.
    """

    names: tuple[str, ...]
    low: int
    known: Flags
    log_theta: Floats
    counts: NDArray[Any]
    unseen: Floats
    smoothing: Any
    """l of each feature, or one for all."""
    above: bool = False

    def states(self, at: int) -> tuple[int, ...]:
        """The states of one feature."""
        return tuple((np.flatnonzero(self.known[at]) + self.low).tolist())

    def one(self, at: int) -> States:
        """The feature at a place."""
        known = self.known[at]
        smoothing = self.smoothing
        if not isinstance(smoothing, float):
            smoothing = float(smoothing[at])
        return States(
            Variable(self.names[at], "discrete", self.states(at)),
            self.log_theta[at][:, known],
            self.counts[at][:, known] + smoothing,
            self.unseen[at],
            smoothing,
            self.above,
        )
