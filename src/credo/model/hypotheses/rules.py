"""The rules that pick one hypothesis: MAP, maximum likelihood, minimum description length.

    map: ln P(data | h) + ln P(h)      mle: ln P(data | h)      mdl: −(bits of h + bits of data)

Each is a score to be maximised. Scores that differ only by rounding are a tie, and the first
hypothesis in the user's order wins, so the choice does not hang on the order of the data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import unknown_name
from credo.model.hypotheses.evidence import Floats
from credo.model.values.value import choice

__all__ = ["Rule", "best", "known_rule", "scores", "tied"]

Rule = Literal["map", "mle", "mdl"]

_SAME = 1e-13  # relative; a log-likelihood carries a few units of 2e-16


def known_rule(by: Any, rules: Sequence[str], where: str) -> str:
    """The rule that is meant; an unknown one is refused with near names, or with all of them.

    >>> known_rule("map", ("map", "mle"), "a way to predict")
    'map'
    """
    if not isinstance(by, str):
        choice(by, rules, "by")
    if by not in rules:
        raise unknown_name("The rule", by, rules, where)
    return str(by)


def scores(rule: str, likelihood: Floats, log_prior: Floats, bits: Floats | None) -> Floats:
    """What the rule maximises, in nats; hypotheses are on the last axis.

    >>> scores("mdl", np.log([0.5, 0.25]), np.log([0.5, 0.5]), np.array([3.0, 1.0])) / np.log(2)
    array([-4., -3.])
    """
    if rule == "mle":
        return likelihood
    if rule == "mdl" and bits is not None:
        return likelihood - bits * math.log(2)
    return likelihood + log_prior


def tied(score: Floats) -> NDArray[np.bool_]:
    """Which hypotheses are as good as the best, up to rounding; on the last axis.

    >>> tied(np.array([-1.0, -1.0 + 1e-16, -2.0]))
    array([ True,  True, False])
    """
    top = score.max(axis=-1, keepdims=True)
    return np.asarray(score >= top - _SAME * np.maximum(1.0, np.abs(top)))


def best(score: Floats) -> list[int]:
    """The hypotheses with the largest score, in order."""
    found: list[int] = np.flatnonzero(tied(score)).tolist()
    return found
