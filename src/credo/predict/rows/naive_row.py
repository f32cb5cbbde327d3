"""One row as a question to a naive Bayes model: every cell that is given must mean something.

    ln P(c, row) = ln P(c) + Σ_j ln P(x_j | c)

Rows of a table may hold what training never saw; a row that somebody writes down is a question, and
a name or a state that the model does not know is more likely a slip. So the default is to refuse it
and to offer what is near; `unseen="missing"` and `"smooth"` treat it as in rows of a table.

Explaining a prediction: what each cell says, in bits.

    log₂ P(a | x) / P(b | x) = log₂ P(a) / P(b) + Σ_j log₂ P(x_j | a) / P(x_j | b)

Under naive Bayes the evidence of the cells adds up, so each has its share and nothing is left over.
One bit doubles the odds. A missing cell says nothing.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoWarning, ImpossibleError, InputError, unknown_name
from credo.core.render import Shown, View, bar
from credo.core.schema import Variable, is_missing
from credo.model.answers.distribution import Distribution
from credo.model.methods.pictures import picture
from credo.model.naive_bayes.features import Feature, States
from credo.model.naive_bayes.model import NaiveBayesModel

Floats = NDArray[np.float64]

UNSEEN = ("missing", "error", "smooth")
"""What to do with a state that was not seen in training."""


def check_unseen(unseen: Any) -> str:
    """One of the words for it; anything else is refused."""
    if unseen not in UNSEEN:
        raise InputError(f"unseen must be 'missing', 'error' or 'smooth', got {unseen!r}.")
    return str(unseen)


def no_state(variable: Variable, values: Sequence[Any]) -> Exception:
    """The error for a value that is no state of a variable; near ones are offered."""
    value = values[0] if values else None
    return unknown_name("State", value, variable.states, f"one of {variable.name!r}")


def _check(model: NaiveBayesModel, row: Mapping[str, Any], unseen: str) -> None:
    """Refuse a row that does not ask what it seems to ask."""
    check_unseen(unseen)
    if not isinstance(row, Mapping):
        raise InputError(f"A row is a mapping from feature to value, got {row!r}.")
    names = set(model.names)
    for name, value in row.items():
        if name in names:
            continue
        if name != model.target.name:
            raise unknown_name("Feature", name, model.names, "in the model")
        if not is_missing(value):
            raise InputError(
                f"{name!r} is the class, which is what is asked for.", hint="Leave it out."
            )


def _strange(f: Feature, values: Sequence[Any]) -> bool:
    """Whether a cell is no state of its feature; what can be no state at all is refused."""
    if not isinstance(f, States):
        return False
    try:
        hash(values[0])
    except TypeError:
        raise InputError(
            f"The value of {f.names[0]!r} must be one state, got {values[0]!r}."
        ) from None
    return f.code(values[0]) == len(f.variable.states)


def shares_of_row(
    model: NaiveBayesModel, row: Mapping[str, Any], unseen: str
) -> list[tuple[Feature, list[Any], Floats]]:
    """Each feature with its cells and ln P(cells | class); cells that are not given say nothing."""
    _check(model, row, unseen)
    out, odd = [], []
    for f in model.features:
        values = [row.get(n) for n in f.names]
        if _strange(f, values):
            if unseen == "error":
                assert isinstance(f, States)
                raise no_state(f.variable, values)
            odd.append(f"{f.names[0]!r} ({values[0]!r})")
        out.append((f, values, f.log_p(values, unseen == "smooth")))
    if odd and unseen == "missing":
        warnings.warn(
            f"States not seen in training were taken as missing: {'; '.join(odd[:6])}.",
            CredoWarning,
            stacklevel=4,
        )
    return out


def joint_of_row(model: NaiveBayesModel, row: Mapping[str, Any], unseen: str) -> Floats:
    """ln P(class, row) for each class; cells that are not given are summed out."""
    total = model.log_prior.copy()
    for _, _, log_p in shares_of_row(model, row, unseen):
        total += log_p
    return total


def posterior_of_row(model: NaiveBayesModel, row: Mapping[str, Any], unseen: str) -> Distribution:
    """P(class | row), as a distribution."""
    joint = joint_of_row(model, row, unseen)
    best = joint.max()
    if best == -math.inf:
        told = zero_cells(model, row, unseen == "smooth")
        raise ImpossibleError(f"The row has probability zero in every class: {told}.")
    p = np.exp(joint - best)
    return Distribution((model.target,), p / p.sum())


def zero_cells(
    model: NaiveBayesModel,
    row: Mapping[str, Any],
    smooth: bool = False,
    classes: Sequence[int] | None = None,
) -> str:
    """Which cell is zero in which class (in all of them, or in some)."""
    found = []
    for c in range(len(model.classes)) if classes is None else classes:
        label = f"{model.target.name}={model.classes[c]}"
        if model.log_prior[c] == -math.inf:
            found.append(f"{label} has no weight")
            continue
        for f in model.features:
            values = [row.get(n) for n in f.names]
            if f.log_p(values, smooth)[c] == -math.inf:
                shown = ", ".join(
                    f"{n}={v}" for n, v in zip(f.names, values, strict=True) if not is_missing(v)
                )
                found.append(f"{shown} was never seen with {label}")
                break
    return "; ".join(found[:6])


@dataclass(frozen=True, slots=True)
class Contributions(Shown):
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

    def _view(self) -> View:
        head, rows = self._rows()
        return View(self.title, head, rows, (2,))


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
