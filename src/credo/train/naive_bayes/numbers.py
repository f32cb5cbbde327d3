"""How a number is modelled within the classes: as a Gaussian, also of a transform of it, or by the
intervals it is cut into.

    loss = − Σ_i w_i ln P(c_i | x_i; all rows but i)

Each row's class is told from the number alone, by what the other rows say: by Gaussians whose
variances are shrunk, of the number or of the transform that makes the column most nearly Gaussian
(its slope is the same in all classes and cancels), and by shares (n + 1)/(N + J) of the J intervals
into which MODL cuts the number for the class. A cut point was fitted to all rows, so each costs one
nat more, as a parameter does in Akaike's criterion, and a transform two. The smallest loss wins; of
equal ones, and where fewer than 30 rows show the number, the Gaussian. All leave a row out in
closed form, so the loss takes no second pass. Where MODL finds no cut there is one interval: a
number that tells nothing of the class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.interval_states import interval_labels
from credo.core.scales import Transform
from credo.data import Columns
from credo.train.naive_bayes.cells import numbers_of_column, refuse_infinite
from credo.train.naive_bayes.plan import NUMBER, Plan
from credo.train.numbers.cutting import cut_points, spread_places
from credo.train.numbers.transforms import PRICED, best_transform

Floats = NDArray[np.float64]

LOOKED_AT = 16_384
"""Rows from which the model of a number is chosen; of more, as many that are spread evenly."""
_FINE = 128  # intervals among whose edges the cuts are chosen
_FEWEST = 30  # rows that are enough to choose by


def model_numbers(
    plan: Plan, columns: Columns, group: NDArray[Any], arity: int, weights: Any = None
) -> None:
    """Settle how the numbers of a plan are modelled that are still open, and where they are cut.

    >>> from credo.data import Column
    >>> plan = Plan({"a": "binned"})
    >>> cells = Columns(40, {"a": Column(np.arange(40.0))})
    >>> model_numbers(plan, cells, (np.arange(40) > 9).astype(int), 2)
    >>> plan.states
    {'a': ('≤ 9.5', '> 9.5')}
    """
    if plan.word == "gaussian":
        return
    some = spread_places(columns.rows, LOOKED_AT)
    group, weights = group[some], None if weights is None else weights[some]
    for name in plan.of(NUMBER, "transformed", "binned"):
        way = "auto" if plan.kinds[name] == NUMBER else plan.kinds[name]
        if name in plan.states or name in plan.scales:
            continue
        cells = numbers_of_column(name, columns.by_name[name], plan.kinds[name])
        numbers = np.asarray(cells[some], dtype=np.float64)
        if np.isinf(numbers).any():
            refuse_infinite(name, cells)
        found = chosen_model(numbers, group, arity, weights, way)
        if isinstance(found, Transform):
            plan.kinds[name], plan.scales[name] = "transformed", found
        elif found is None or (plan.more and not found and way == "auto"):  # more rows may tell
            plan.kinds[name] = "gaussian"
        else:
            plan.kinds[name], plan.states[name] = "binned", interval_labels(found)


def chosen_model(
    numbers: Floats, classes: NDArray[Any], arity: int, weights: Any = None, way: str = "auto"
) -> list[float] | Transform | None:
    """The cut points of a number, none for one interval; its transform; or None for a Gaussian.

    A missing number is NaN, a missing class the arity. A number that is to be 'binned' is cut in
    any case, and one that is to be 'transformed' is so where a transform is worth its price.

    >>> x = np.arange(40.0)
    >>> chosen_model(x, (abs(x - 19.5) < 10).astype(int), 2)
    [9.5, 29.5]
    >>> chosen_model(x[:20], (x[:20] > 9).astype(int), 2) is None  # of few rows
    True
    """
    there = ~np.isnan(numbers) & (classes < arity)
    x, c = np.asarray(numbers[there], dtype=np.float64), classes[there].astype(np.intp)
    w = None if weights is None else np.asarray(weights, dtype=np.float64)[there]
    if not len(x) or x.min() == x.max():
        return [] if way == "binned" else None
    if way == "binned":
        return cut_points(x, c, arity, w, _FINE)
    if (len(x) if w is None else w.sum()) < _FEWEST:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        spread = x.std()
    if not 0 < spread < np.inf:  # squares pass all bounds, which is refused where they are learned
        return None
    transform = best_transform(x, w)
    if way == "transformed":
        return transform
    cuts = cut_points(x, c, arity, w, _FINE)
    rows = _Rows(c, arity, np.ones(len(x)) if w is None else w)
    ways: list[tuple[float, Any]] = [(rows.loss(*rows.gaussians((x - x.mean()) / spread)), None)]
    by_cuts = rows.loss(*rows.shares(np.searchsorted(cuts, x), len(cuts) + 1)) + len(cuts)
    ways.append((by_cuts, cuts))
    if transform is not None:
        z = transform.forward(x)
        ways.append((rows.loss(*rows.gaussians((z - z.mean()) / z.std())) + PRICED, transform))
    found: list[float] | Transform | None = min(ways, key=lambda way: way[0])[1]
    return found


class _Rows:
    """The classes of rows and their weights; a row that is left out takes a weight of at most 1
    with it, since a weight of k is k rows.
    """

    def __init__(self, classes: NDArray[np.intp], arity: int, weights: Floats) -> None:
        self.classes, self.weights = classes, weights
        self.n = np.bincount(classes, weights, arity)
        self.out = np.minimum(weights, 1.0)
        self.left = self.n[classes] - self.out  # of its own class without the row
        self.told = self.left > 1e-9  # a class of one row cannot be told from the others

    def shares(self, codes: NDArray[np.intp], states: int) -> tuple[Floats, Floats]:
        """ln P(interval | class) of each row in each class; in its own without the row."""
        c, k = self.classes, len(self.n)
        n = np.bincount(c * states + codes, self.weights, k * states).reshape(k, states)
        table = np.log(n + 1) - np.log(self.n + states)[:, None]
        own = np.log(n[c, codes] - self.out + 1) - np.log(self.left + states)
        return table[:, codes].T, own

    def gaussians(self, x: Floats) -> tuple[Floats, Floats]:
        """ln of the density of each row in each class; in its own without the row."""
        c, w, k = self.classes, self.weights, len(self.n)
        some = np.maximum(self.n, 1e-300)
        mean = np.bincount(c, w * x, k) / some
        away = x - mean[c]
        scatter = np.bincount(c, w * away**2, k)
        within = scatter.sum() / self.n.sum() or 1e-12
        variance = (scatter + within) / (self.n + 1)
        left = np.where(self.told, self.left, 1.0)
        share = self.out * self.n[c] / left
        less = np.maximum(scatter[c] - share * away**2, 0.0)
        own = (less + within) / (left + 1)
        far = away * self.n[c] / left
        with np.errstate(over="ignore"):
            every = -0.5 * (np.log(variance) + (x[:, None] - mean) ** 2 / variance)
            return every, -0.5 * (np.log(own) + far**2 / own)

    def loss(self, log_p: Floats, own: Floats) -> float:
        """What the classes cost, given ln P(x | class) in all of them and in the row's own."""
        c, at = self.classes, np.arange(len(own))
        with np.errstate(divide="ignore"):
            joint = log_p + np.log(self.n)
            joint[at, c] = own + np.log(np.where(self.told, self.left, 1.0))
        best = joint.max(axis=1)
        lost = best + np.log(np.exp(joint - best[:, None]).sum(axis=1)) - joint[at, c]
        return float(self.weights @ np.where(self.told, lost, 0.0))
