"""The rules that pick one hypothesis, and what they pick side by side: MAP, ML, MDL.

    map: ln P(data | h) + ln P(h)      mle: ln P(data | h)      mdl: −(bits of h + bits of data)

Each is a score to be maximised. Scores that differ only by rounding are a tie, and the first
hypothesis in the user's order wins, so the choice does not hang on the order of the data.

The bits of a comparison are description lengths: log₂ 1/P. A hypothesis costs its `bits`, or
−log₂ P(h) without them; the data cost −log₂ P(data | h), and for averaging −log₂ P(data),
the length of a code that mixes all hypotheses. Densities may cost less than 0 bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import shown, unknown_name
from credo.core.render import number, one_line
from credo.model.values.reals import Floats
from credo.model.values.value import Value, View, choice

Rule = Literal["map", "mle", "mdl"]

_LONG = 40  # characters of an observation
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


def _tied(score: Floats) -> NDArray[np.bool_]:
    """Which hypotheses are as good as the best, up to rounding; on the last axis."""
    top = score.max(axis=-1, keepdims=True)
    return np.asarray(score >= top - _SAME * np.maximum(1.0, np.abs(top)))


def best(score: Floats) -> list[int]:
    """The hypotheses with the largest score, in order."""
    found: list[int] = np.flatnonzero(_tied(score)).tolist()
    return found


def brief(observation: Any) -> str:
    """An observation on one line, and not too long of it.

    >>> brief("lime"), brief(np.eye(2)), len(brief(list(range(10_000))))
    ('lime', '[[1. 0.] [0. 1.]]', 40)
    """
    text = str(observation)
    text = one_line(text if isinstance(observation, str) else " ".join(text.split()))
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"


class ByName(dict[Any, float]):
    """A number for each hypothesis; one that is not there is named, with those near it.

    >>> ByName({"fair": 0.5})["fare"]
    Traceback (most recent call last):
    credo.errors.UnknownNameError: Hypothesis 'fare' is not in the space. Did you mean 'fair'?
    """

    def __getitem__(self, name: Any) -> float:
        try:
            return super().__getitem__(name)
        except (KeyError, TypeError):  # not there, or not hashable
            raise unknown_name("Hypothesis", name, self, "in the space") from None


@dataclass(frozen=True, slots=True)
class Picked:
    """What one rule picks: the equally good hypotheses, and the bits of the first."""

    rule: str
    tied: tuple[Any, ...]
    hypothesis_bits: float | None
    data_bits: float
    index: int | None

    @property
    def hypothesis(self) -> Any:
        """The hypothesis picked, the first of those tied; None for averaging."""
        return self.tied[0] if self.tied else None

    @property
    def total_bits(self) -> float | None:
        """Bits of the hypothesis and of the data together."""
        return None if self.hypothesis_bits is None else self.hypothesis_bits + self.data_bits

    @property
    def bits(self) -> tuple[float | None, float, float | None]:
        """Of the hypothesis, of the data, and of both."""
        return self.hypothesis_bits, self.data_bits, self.total_bits


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(Value):
    """The four ways to predict, side by side; `comparison["map"]` is one of its rows."""

    rows: tuple[Picked, ...]
    predictions: tuple[Any, ...]
    outcome: tuple[Any, ...] | None

    def __getitem__(self, rule: str) -> Picked:
        for row in self.rows:
            if isinstance(rule, str) and row.rule == rule:
                return row
        raise unknown_name("The rule", rule, [r.rule for r in self.rows], "in the comparison")

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Plain values: for each rule the hypothesis, its bits and the prediction."""
        return {
            row.rule: {
                "hypothesis": row.hypothesis,
                "tied": list(row.tied),
                "hypothesis_bits": row.hypothesis_bits,
                "data_bits": row.data_bits,
                "total_bits": row.total_bits,
                "prediction": dict(p) if isinstance(p, Mapping) else p,
            }
            for row, p in zip(self.rows, self.predictions, strict=True)
        }

    def __repr__(self) -> str:
        picks = [f"{row.rule} {shown(row.hypothesis)}" for row in self.rows if row.tied]
        return f"<Comparison: {', '.join(picks)}>"

    def _view(self) -> View:
        said = "prediction" if self.outcome is None else f"P({brief(self.outcome[0])} next)"
        head = ["rule", "hypothesis", "hypothesis bits", "data bits", "total bits", said]
        rows = [
            [row.rule, _who(row), *map(_bits, row.bits), _said(p)]
            for row, p in zip(self.rows, self.predictions, strict=True)
        ]
        return View("", head, rows, [2, 3, 4] if self.outcome is None else [2, 3, 4, 5])


def _who(row: Picked) -> str:
    if not row.tied:
        return "all"
    if len(row.tied) == 1:
        return str(row.hypothesis)
    others = f"{row.tied[1]}" if len(row.tied) == 2 else f"{len(row.tied) - 1} others"
    return f"{row.hypothesis} (tied with {others})"


def _bits(value: float | None) -> str:
    if value is None:
        return ""
    return "∞" if value == float("inf") else number(round(value, 2))


def _said(prediction: Any) -> str:
    if prediction is None:
        return ""
    if not isinstance(prediction, Mapping):
        return number(prediction)
    top = sorted(prediction.items(), key=lambda item: -item[1])[:3]
    said = ", ".join(f"{brief(x)} {number(p, 4)}" for x, p in top)
    return said + (", …" if len(prediction) > 3 else "")
