"""Priors and description lengths of a hypothesis space, as the user may write them.

    P(h) = w_h / Σ w                 P(h) ∝ 2^(−bits of h)

A prior is a sequence in the order of the hypotheses, a mapping (or a series) from name to weight,
or nothing at all: then every hypothesis is equally probable. Bits say how long a hypothesis is
to write down; they are the prior when no other is given, and always what MDL adds up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from credo.core.errors import InputError, unknown_name
from credo.core.render import shortened
from credo.model.values.reals import Floats, real_or_nan, shown
from credo.model.values.value import listed


def _numbers(given: Any, names: Sequence[Any], what: str) -> Floats:
    """One number for each hypothesis, from a sequence or a mapping."""
    index = getattr(given, "index", None)
    if not callable(index) and index is not None and set(index) <= set(names):  # a series
        given = dict(zip(index, given, strict=True))
    if isinstance(given, Mapping):
        known = set(names)
        for name in given:
            if name not in known:
                raise unknown_name("Hypothesis", name, names, f"in the space, but in the {what}")
        missing = [n for n in names if n not in given]
        if missing:
            raise InputError(
                f"Missing in the {what}: {shortened(map(repr, missing))}.",
                hint="Give a number for every hypothesis; it may be 0.",
            )
        values: Sequence[Any] = [given[n] for n in names]
    elif isinstance(given, (str, bytes, set, frozenset)) or not hasattr(given, "__len__"):
        raise InputError(
            f"The {what} must be a sequence or a mapping of numbers, got {shown(given)} instead."
        )
    else:
        values = listed(given, f"The {what}")
        if len(values) != len(names):
            raise InputError(
                f"The {what} must have one number for each of the {len(names)} hypotheses, "
                f"got {len(values)}."
            )
    out = np.array([real_or_nan(v) for v in values])
    for name, value, number in zip(names, values, out, strict=True):
        if not 0 <= number < math.inf:
            raise InputError(
                f"The {what} of {name!r} must be a finite number and not negative, "
                f"got {shown(value)}."
            )
    return out


def read_prior(given: Any, names: Sequence[Any], bits: Floats | None) -> tuple[Floats, Floats]:
    """The prior of each hypothesis and its logarithm; weights are divided by their sum.

    >>> read_prior([1, 3], ["a", "b"], None)[0]
    array([0.25, 0.75])
    >>> read_prior([1, -3], ["a", "b"], None)
    Traceback (most recent call last):
    credo.errors.InputError: The prior of 'b' must be a finite number and not negative, got -3.
    """
    if given is None and bits is not None:
        weights = np.exp2(-(bits - bits.min()))
        log_weights = -(bits - bits.min()) * math.log(2)
        total = math.fsum(weights)
        return weights / total, log_weights - math.log(total)
    weights = np.ones(len(names)) if given is None else _numbers(given, names, "prior")
    if not weights.any():
        raise InputError(
            "The prior is zero for every hypothesis.", hint="At least one must be possible."
        )
    weights = weights / weights.max()
    weights = weights / math.fsum(weights)
    with np.errstate(divide="ignore"):
        return weights, np.log(weights)


def read_bits(given: Any, names: Sequence[Any]) -> Floats | None:
    """The description length of each hypothesis in bits, or None.

    >>> read_bits({"a": 3, "b": 1}, ["a", "b"])
    array([3., 1.])
    """
    return None if given is None else _numbers(given, names, "bits")
