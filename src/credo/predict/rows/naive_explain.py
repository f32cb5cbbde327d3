"""Explaining a prediction: what each cell says, in bits.

    log₂ P(a | x) / P(b | x) = log₂ P(a) / P(b) + Σ_j log₂ P(x_j | a) / P(x_j | b)

Under naive Bayes the evidence of the cells adds up, so each has its share and nothing is left over.
One bit doubles the odds. A missing cell says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from credo.core.errors import ImpossibleError, InputError, unknown_name
from credo.core.render import bar, table_html, table_text
from credo.core.schema import Variable, is_missing
from credo.model.methods.pictures import picture
from credo.model.naive_bayes.model import NaiveBayesModel
from credo.predict.rows.naive_row import shares_of_row, zero_cells

__all__ = [
    "Contributions",
    "compared_classes",
    "contributions",
    "difference",
    "explain",
    "ruled_out",
]


@dataclass(frozen=True, slots=True)
class Contributions:
    """The evidence of each cell for class `of` against class `against`, in bits.

    >>> import credo as cr
    >>> model = cr.naive_bayes(cr.examples.play_tennis(), "PlayTennis", smoothing=0)
    >>> today = {"Outlook": "Sunny", "Temperature": "Cool", "Humidity": "High", "Wind": "Strong"}
    >>> print(model.explain(today))
    PlayTennis: No against Yes, P = 0.79542
    feature      value     bits
    (prior)              -0.848  -████▊
    Outlook      Sunny    1.433  +████████
    Humidity     High     1.263  +███████▏
    Wind         Strong   0.848  +████▊
    Temperature  Cool    -0.737  -████▏
    total                 1.959  +███████████
    """

    target: str
    of: Any
    against: Any
    p: float
    prior: float
    cells: tuple[tuple[str, Any, float], ...]

    @property
    def total(self) -> float:
        """log₂ of the odds after all the evidence."""
        return self.prior + sum(bits for _, _, bits in self.cells)

    def __iter__(self) -> Iterator[tuple[str, Any, float]]:
        return iter(self.cells)

    def __getitem__(self, feature: str) -> float:
        """The bits of one feature (of all its cells, if it is a group)."""
        for name, _, bits in self.cells:
            if name == feature:
                return bits
        raise unknown_name("Feature", feature, [c[0] for c in self.cells], "in the row")

    def plot(self, ax: Any = None) -> Any:
        """The evidence as bars; see `credo.plot.contributions`."""
        return picture("contributions")(self, ax)

    def _rows(self, most: int = 40) -> tuple[list[str], list[list[str]]]:
        finite = [abs(b) for b in (self.prior, self.total, *(c[2] for c in self.cells))]
        widest = max([b for b in finite if b < math.inf], default=1.0) or 1.0

        def line(name: str, value: str, bits: float) -> list[str]:
            sign = "+" if bits > 0 else "-" if bits < 0 else ""
            share = min(abs(bits) / widest, 1.0)
            text = f"{bits:.3f}" if math.isfinite(bits) else ("∞" if bits > 0 else "-∞")
            return [name, value, text, sign + bar(share, 11)]

        rows = [line("(prior)", "", self.prior)]
        rows += [line(n, str(v), b) for n, v, b in self.cells[:most]]
        rest = self.cells[most:]
        if rest:
            rows.append(line(f"({len(rest)} more)", "", sum(c[2] for c in rest)))
        return ["feature", "value", "bits", ""], [*rows, line("total", "", self.total)]

    @property
    def title(self) -> str:
        """The question that is answered."""
        return f"{self.target}: {self.of} against {self.against}, P = {self.p:.5f}"

    def __str__(self) -> str:
        head, rows = self._rows()
        return f"{self.title}\n{table_text(head, rows, right=[2])}"

    def _repr_html_(self) -> str:
        head, rows = self._rows()
        return table_html(head, rows, right=[2], caption=self.title)


def explain(
    model: NaiveBayesModel,
    row: Mapping[str, Any],
    of: Any = None,
    against: Any = None,
    unseen: str = "error",
) -> Contributions:
    """The evidence for a class against another; without names, the best against the next."""
    shares = shares_of_row(model, row, unseen)
    joint = model.log_prior + sum(log_p for _, _, log_p in shares)
    first, second = compared_classes(model.target, joint, of, against)
    if not np.isfinite(joint).any():
        told = zero_cells(model, row, unseen == "smooth")
        raise ImpossibleError(f"The row has probability zero in every class: {told}.")
    if joint[first] == joint[second] == -math.inf:
        told = zero_cells(model, row, unseen == "smooth", [first, second])
        raise ruled_out("The row", model.classes[first], model.classes[second], told)
    cells = []
    for f, values, log_p in shares:
        bits = difference(log_p[first], log_p[second])
        if len(f.names) == 1:
            cells.append((f.names[0], "" if is_missing(values[0]) else values[0], bits))
        else:
            cells.append((" + ".join(f.names[:4]) + (" …" if len(f.names) > 4 else ""), "", bits))
    prior = difference(model.log_prior[first], model.log_prior[second])
    return contributions(model.target, joint, first, second, prior, cells)


def compared_classes(target: Variable, joint: Any, of: Any, against: Any) -> tuple[int, int]:
    """The numbers of the two classes to tell apart: the best and the next where none is named."""
    if target.arity < 2:
        raise InputError("There is one class only, so there is nothing to tell apart.")
    order = [int(c) for c in np.argsort(-joint, kind="stable")]
    second = None if against is None else target.code(against)
    first = next(c for c in order if c != second) if of is None else target.code(of)
    if second is None:
        second = next(c for c in order if c != first)
    if first == second:
        raise InputError(f"A class is told from another one, got {target.states[first]!r} twice.")
    return first, second


def ruled_out(what: str, a: Any, b: Any, told: str) -> ImpossibleError:
    """The error for odds of two classes that are both impossible."""
    return ImpossibleError(
        f"{what} is impossible in {a!r} and in {b!r}, so their odds are not defined: {told}.",
        hint="Use smoothing above 0, or name a class that is possible in of=.",
    )


def contributions(
    target: Variable,
    joint: Any,
    first: int,
    second: int,
    prior: float,
    cells: list[tuple[str, Any, float]],
) -> Contributions:
    """The account of two classes, the cells that say most in front."""
    p = np.exp(joint - joint.max())
    return Contributions(
        target.name,
        target.states[first],
        target.states[second],
        float(p[first] / p.sum()),
        prior,
        tuple(sorted(((n, _plain(v), b) for n, v, b in cells), key=lambda c: -abs(c[2]))),
    )


def difference(a: float, b: float) -> float:
    """In bits; two zeros say nothing about each other."""
    if a == b:
        return 0.0
    return float(a - b) / math.log(2)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
