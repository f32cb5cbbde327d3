"""How a statistic by class becomes a naive Bayes model: smoothing, prior, variances."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError

__all__ = ["Options", "not_negative"]


@dataclass(frozen=True, slots=True)
class Options:
    """How a statistic becomes a model; see the names in `NaiveBayes`."""

    smoothing: Any = 1.0
    class_prior: Any = None
    class_smoothing: float = 0.0
    variance: str = "shrunk"
    variance_floor: float = 1e-9
    min_states: Any = None

    def __post_init__(self) -> None:
        if self.variance not in ("shrunk", "ml", "sample"):
            raise InputError(f"variance must be 'shrunk', 'ml' or 'sample', got {self.variance!r}.")
        not_negative(self.class_smoothing, "class_smoothing")
        if not (not_negative(self.variance_floor, "variance_floor") > 0):
            raise InputError("variance_floor must be above 0, got 0.")

    def without(self, names: Collection[str]) -> Options:
        """The same options, less those of columns that were set aside.

        >>> Options({"a": 1, "b": 2}).without(["b"]).smoothing
        {'a': 1}
        """
        if not names:
            return self
        changed: dict[str, Any] = {
            what: {n: v for n, v in given.items() if n not in names}
            for what in ("smoothing", "min_states")
            if isinstance(given := getattr(self, what), Mapping)
        }
        return replace(self, **changed) if changed else self

    def smoothing_of(self, name: str) -> float:
        """l of one feature."""
        return self.of_feature(self.smoothing, name, 1.0, f"The smoothing of {name!r}")

    def prior_rows(self, names: Sequence[str]) -> NDArray[np.float64]:
        """The rows of the variance within the classes that count as more rows of each class.

        >>> Options({"a": 2}).prior_rows(["a", "b"]).tolist()
        [2.0, 1.0]
        """
        if self.variance != "shrunk":
            return np.zeros(len(names))
        if isinstance(self.smoothing, Mapping):
            return np.array([self.smoothing_of(n) for n in names])
        return np.full(len(names), self.smoothing_of(names[0]) if names else 0.0)

    def least_of(self, name: str) -> float:
        """The number of states a feature has at least."""
        return self.of_feature(self.min_states or 0, name, 0, f"min_states of {name!r}")

    def of_feature(self, given: Any, name: str, otherwise: float, what: str) -> float:
        """A number for one feature, from one for all or a mapping by name."""
        if isinstance(given, Mapping):
            given = given.get(name, otherwise)
        return not_negative(given, what)


def not_negative(value: Any, what: str) -> float:
    """A finite number that is 0 or more; anything else is refused."""
    if type(value) is float and 0 <= value < math.inf:
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InputError(f"{what} must be a number of 0 or more, got {value!r}.")
    if not 0 <= value < math.inf:
        raise InputError(f"{what} must be a number of 0 or more, got {value!r}.")
    return float(value)
