"""Folds of cross-validation: as many as were asked for, or as a small table allows.

Classes are spread over the folds. A class with fewer rows than folds is in some of them only; at
least one class must have a row for each.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError

Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]
_USUAL = 5


def most_folds(codes: NDArray[Any] | None, rows: int) -> int:
    """The most folds there can be: the rows of the largest class, or all rows without classes."""
    return rows if codes is None or not rows else int(np.bincount(codes).max())


def folds_of(
    codes: NDArray[Any] | None, rows: int, cv: int | None = None, rng: Any = 0
) -> tuple[Folds, str]:
    """Rows to learn from and rows to judge, fold by fold; and a note if there are fewer than usual.

    Where the number was given (`cv`), it is kept or refused.

    >>> parts, note = folds_of(np.array([0, 0, 0, 1, 1, 1]), 6)
    >>> len(parts), note
    (3, '3 folds instead of 5, since no class has more than 3 rows')
    """
    from sklearn.model_selection import KFold, StratifiedKFold

    most = most_folds(codes, rows)
    what = "the rows" if codes is None else "the rows of the largest class"
    wrong = cv is not None and (
        not isinstance(cv, (int, np.integer)) or isinstance(cv, bool) or not 2 <= cv <= most
    )
    if most < 2:
        raise InputError(
            "There are too few rows to cross-validate: "
            + ("one at most." if codes is None else "no class has two."),
        )
    if wrong:
        raise InputError(f"cv must be a whole number between 2 and {most:,} ({what}), got {cv!r}.")
    note = ""
    if cv is None:
        cv = min(_USUAL, most)
        if cv < _USUAL:
            few = f"no class has more than {most:,} rows"
            few = few if codes is not None else f"there are {rows:,} rows"
            note = f"{cv} folds instead of {_USUAL}, since {few}"
    n = np.zeros(rows)
    if codes is None:
        return list(KFold(cv, shuffle=True, random_state=rng).split(n)), note
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class with fewer rows than folds is in some only
        return list(StratifiedKFold(cv, shuffle=True, random_state=rng).split(n, codes)), note
