"""One row as a question to a naive Bayes model: every cell that is given must mean something.

    ln P(c, row) = ln P(c) + Σ_j ln P(x_j | c)

Rows of a table may hold what training never saw; a row that somebody writes down is a question, and
a name or a state that the model does not know is more likely a slip. So the default is to refuse it
and to offer what is near; `unseen="missing"` and `"smooth"` treat it as in rows of a table.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoWarning, ImpossibleError, InputError, unknown_name
from credo.core.schema import Variable, is_missing
from credo.model.answers.distribution import Distribution
from credo.model.naive_bayes.features import Feature, States
from credo.model.naive_bayes.model import NaiveBayesModel

__all__ = [
    "UNSEEN",
    "check_unseen",
    "joint_of_row",
    "no_state",
    "posterior_of_row",
    "shares_of_row",
    "zero_cells",
]

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
