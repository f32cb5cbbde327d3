"""Costs of decisions: what calls by the model's probabilities cost, promised and paid.

    promised = mean_row min_a Σ_c P(c | row) cost(c, a)        paid = mean_row cost(class, call)

Honest probabilities pay what they promise. The curve has, for each share t of the cost that falls
on a wrong call of the second of two classes, what is paid at the threshold t, in units of the two
costs together; and what the best single call for all rows would have paid (Drummond & Holte 2006;
its area is half the Brier score, Hernández-Orallo, Flach & Ferri 2011).

    cost(t) = t · (share wrongly called second) + (1 − t) · (share wrongly called first)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.checking.again.conditionals import probabilities
from credo.checking.again.folds import Judge
from credo.checking.findings import Finding, Section, pick
from credo.core.errors import InputError, unknown_name
from credo.core.frozen import Frozen
from credo.core.render import Told, number
from credo.data import Table
from credo.model.decisions.costs import Costs
from credo.model.methods.pictures import picture
from credo.model.values.value import View
from credo.predict.rows.rows import gaps_of

__all__ = ["CostCheck", "CostOf", "cost_curve", "costs"]

Floats = NDArray[np.float64]

_STEPS = 21
_SURE = 3.0  # standard errors


@dataclass(frozen=True, slots=True, eq=False)
class CostOf(Told, Frozen):
    """What calling one variable by its probabilities costs.

    `promised` is the mean expected cost, `paid` the mean cost with its standard `error`, `fixed`
    that of the best single call `always`. `curve` has for two classes a row for each share t: t,
    what is paid, what the best single call pays.
    """

    variable: str
    rows: int
    promised: float
    paid: float
    error: float
    fixed: float
    always: Any
    curve: Floats = field(default_factory=lambda: np.zeros((0, 3)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostCheck(Section):
    """What decisions by the model's probabilities cost on the rows, variable by variable."""

    variables: tuple[CostOf, ...]

    def __getitem__(self, name: str) -> CostOf:
        return pick(self.variables, "variable", name, "Variable", "one whose costs were given")

    def plot(self, ax: Any = None, variable: str | None = None) -> Any:
        """What is paid by the share of cost on either error; see `credo.plot.cost_curve`."""
        return picture("cost_curve")(self, variable, ax)

    def _view(self) -> View:
        rows = [
            [c.variable, f"{c.rows:,}", number(c.promised, 4),
             f"{number(c.paid, 4)} ± {number(c.error, 2)}", number(c.fixed, 4), f"{c.always}"]
            for c in self.variables
        ]  # fmt: skip
        head = ["variable", "rows", "promised", "paid", "one call for all", "always"]
        return View("cost of decisions for each row", head, rows, (1, 2, 3, 4))

    def findings(self) -> list[Finding]:
        """Costs that were not kept, and decisions that a single call would have matched."""
        out = []
        for c in self.variables:
            over = c.paid - c.promised
            if over > _SURE * c.error:
                out.append(Finding(
                    "costs", f"Decisions on {c.variable} cost {number(c.paid, 3)} a row, and the "
                    f"probabilities promised {number(c.promised, 3)}.", over, "warning",
                    "Mend the probabilities first: see the calibration of this variable.",
                    c.variable, over / max(c.promised, 1e-9), (c.variable,),
                ))  # fmt: skip
            if c.paid >= c.fixed:
                out.append(Finding(
                    "costs", f"Always deciding {c.always} for {c.variable} costs "
                    f"{number(c.fixed, 3)} a row, no more than by the model "
                    f"({number(c.paid, 3)}).", c.paid - c.fixed, "warning",
                    "At these costs the model does not help to decide.", c.variable, 1.0,
                    (c.variable,),
                ))  # fmt: skip
            if over <= _SURE * c.error and c.paid < c.fixed:
                out.append(Finding(
                    "costs", f"Decisions on {c.variable} cost {number(c.paid, 3)} a row, "
                    f"{number(c.fixed - c.paid, 3)} less than always {c.always}.", c.paid, "good",
                    "", c.variable, 0.0, (c.variable,),
                ))  # fmt: skip
        return out


def costs(judges: Sequence[Judge], table: Table, given: Mapping[str, Any]) -> CostCheck:
    """What calls of each named variable cost, judged by networks that have not seen the rows."""
    net = judges[0].net
    if not isinstance(given, Mapping) or not given:
        raise InputError("costs= is a mapping from variable to its costs.")
    out = []
    for name, said in given.items():
        if name not in table.schema or name not in net.names:
            raise unknown_name("Variable", name, table.schema.names, "in the table")
        variable = net.variable(name)
        if not variable.is_discrete:
            raise InputError(f"{name!r} is continuous; costs are of classes.")
        matrix = Costs.of(variable.states, said)
        p = np.zeros((len(table), variable.arity))
        known = np.zeros(len(table), dtype=bool)
        for judge in judges:
            p[judge.rows], known[judge.rows] = probabilities(
                judge.net, table.take(judge.rows), name
            )
        known &= ~gaps_of(net, table)[:, net.names.index(name)]
        if not known.any():
            raise InputError(f"No row tells what {name!r} was.")
        weights = table.weights
        w = np.ones(len(table)) if weights is None else np.asarray(weights, dtype=np.float64)
        out.append(_of(name, matrix, p[known], table.codes(name)[known], w[known]))
    return CostCheck(tuple(out))


def _of(name: str, matrix: Costs, p: Floats, codes: NDArray[Any], w: Floats) -> CostOf:
    chosen = matrix.choose(p)
    paid = matrix.paid(codes, chosen)
    mean = float(np.average(paid, weights=w))
    share = w / w.sum()
    error = float(np.sqrt((share**2 * (paid - mean) ** 2).sum()))
    each = np.bincount(codes, w, len(matrix.classes)) @ matrix.matrix / w.sum()
    best = int(each.argmin())
    curve = cost_curve(p[:, 1], codes == 1, w) if len(matrix.classes) == 2 else np.zeros((0, 3))
    promised = float(np.average(matrix.expected(p).min(axis=1), weights=w))
    return CostOf(
        name, len(codes), promised, mean, error, float(each[best]), matrix.classes[best], curve
    )


def cost_curve(p: Floats, second: NDArray[np.bool_], weights: Floats | None = None) -> Floats:
    """What is paid at each share t of cost: t, by the probabilities, by the best single call.

    >>> cost_curve(np.array([0.1, 0.9]), np.array([False, True]))[10].tolist()
    [0.5, 0.0, 0.25]
    """
    w = np.ones(len(p)) if weights is None else weights
    w = w / w.sum()
    out = []
    for t in np.linspace(0, 1, _STEPS):
        called = p >= t
        wrong = float(w[called & ~second].sum()), float(w[~called & second].sum())
        fixed = min(t * float(w[~second].sum()), (1 - t) * float(w[second].sum()))
        out.append([t, t * wrong[0] + (1 - t) * wrong[1], fixed])
    return np.array(out)
