"""Hypotheses for people: the table of beliefs, and the four predictions side by side.

The bits of a comparison are description lengths: log₂ 1/P. A hypothesis costs its `bits`, or
−log₂ P(h) without them; the data cost −log₂ P(data | h), and for averaging −log₂ P(data),
the length of a code that mixes all hypotheses. Densities may cost less than 0 bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.core.errors import shown, unknown_name
from credo.core.render import bar, number, table_html, table_text
from credo.model.hypotheses.predictions import brief

if TYPE_CHECKING:
    from credo.model.hypotheses.hypotheses import Hypotheses

__all__ = ["ByName", "Comparison", "Picked", "space_html", "space_text"]

_MOST = 20
_HEAD = ["hypothesis", "prior", "ln likelihood", "posterior", ""]


def _rows(h: Hypotheses) -> tuple[list[list[Any]], str]:
    """One row for each hypothesis, in order; of many, the most probable ones."""
    order = np.arange(len(h.names))
    p = h._posterior
    note = ""
    if len(order) > _MOST:
        order = np.argsort(-h._log_posterior, kind="stable")[:_MOST]
        rest = max(0.0, 1.0 - float(p[order].sum()))
        note = f"… {len(h.names) - _MOST:,} more, {number(rest, 3)} together"
    prior, likelihood = h._weights, h._evidence.log_likelihood
    rows = [
        [
            h.names[k],
            number(prior[k], 4),
            "−∞" if np.isinf(likelihood[k]) else number(likelihood[k]),
            number(p[k]),
            bar(p[k]),
        ]
        for k in order
    ]
    return rows, note


def _title(h: Hypotheses) -> str:
    size = f"{len(h.names):,} hypothes{'i' if len(h.names) == 1 else 'e'}s"
    return f"{size}, {h.n:,} observed, ln P(data) = {number(h.log_evidence)}"


def space_text(h: Hypotheses) -> str:
    """Prior, likelihood and posterior of each hypothesis, with bars."""
    rows, note = _rows(h)
    parts = [_title(h), table_text(_HEAD, rows, right=[1, 2, 3])]
    return "\n".join([*parts, note] if note else parts)


def space_html(h: Hypotheses) -> str:
    """The same table for a notebook."""
    rows, note = _rows(h)
    if note:
        rows.append([note, "", "", "", ""])
    return table_html(_HEAD, rows, right=[1, 2, 3], caption=_title(h))


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


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
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

    def _head(self) -> list[str]:
        said = "prediction" if self.outcome is None else f"P({brief(self.outcome[0])} next)"
        return ["rule", "hypothesis", "hypothesis bits", "data bits", "total bits", said]

    def _cells(self) -> list[list[str]]:
        return [
            [
                row.rule,
                _who(row),
                _bits(row.hypothesis_bits),
                _bits(row.data_bits),
                _bits(row.total_bits),
                _said(p),
            ]
            for row, p in zip(self.rows, self.predictions, strict=True)
        ]

    def __repr__(self) -> str:
        picks = [f"{row.rule} {shown(row.hypothesis)}" for row in self.rows if row.tied]
        return f"<Comparison: {', '.join(picks)}>"

    def __str__(self) -> str:
        right = [2, 3, 4] if self.outcome is None else [2, 3, 4, 5]
        return table_text(self._head(), self._cells(), right=right)

    def _repr_html_(self) -> str:
        return table_html(self._head(), self._cells(), right=[2, 3, 4])


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
