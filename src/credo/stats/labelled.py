"""A statistic as columns: a row for each configuration, its states as the user wrote them.

Every frame library takes a dict of lists, so none has to be known here:
`pd.DataFrame(counts.columns())`, `pl.DataFrame(…)`, `pa.table(…)`, `cr.read(…)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from credo.core.errors import InputError, shown
from credo.core.schema import Variable


def labelled(
    variables: Sequence[Variable], codes: NDArray[Any], numbers: dict[str, NDArray[Any]]
) -> dict[str, list[Any]]:
    """A column of states for each variable, then the columns of numbers; no name twice.

    >>> import numpy as np
    >>> sex = Variable("sex", "discrete", ("f", "m"))
    >>> labelled([sex], np.array([[1], [0]]), {"n": np.array([3, 2])})
    {'sex': ['m', 'f'], 'n': [3, 2]}
    """
    out: dict[str, list[Any]] = {}
    for axis, variable in enumerate(variables):
        out[variable.name] = [variable.states[c] for c in codes[:, axis].tolist()]
    for name, values in numbers.items():
        if not isinstance(name, str) or not name:
            raise InputError(f"The name of a column must be a text, got {shown(name)}.")
        if name in out:
            raise InputError(
                f"There are two columns called {name!r}: a variable, and the numbers.",
                hint="Give the numbers another name, such as columns('weight')."
                if name == next(iter(numbers))
                else f"Rename the variable {name!r} in the table.",
            )
        out[name] = values.tolist()
    return out


def described(variables: Sequence[Variable], codes: Sequence[int]) -> str:
    """A configuration in words, to stand after what is said of it.

    >>> described([Variable("sex", "discrete", ("f", "m"))], [1]), described([], [])
    (" where sex is 'm'", '')
    """
    parts = [f"{v.name} is {shown(v.states[c])}" for v, c in zip(variables, codes, strict=True)]
    return f" where {' and '.join(parts)}" if parts else ""
