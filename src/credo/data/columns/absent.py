"""Columns that a model knows and new rows do not have: a gap on purpose, or a name that changed.

Leaving a column out is a way to say that nothing is known of it. But where the rows have a column
of nearly the same name that the model does not know, it was more likely renamed.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Sequence
from difflib import SequenceMatcher

from credo.core.errors import CredoWarning, close_names

_ALIKE = 0.8  # the share of letters in common from which names are nearly the same


def absent_columns(
    wanted: Iterable[str], given: Sequence[str], where: str = "the rows", *, near: bool = False
) -> list[str]:
    """A sentence for each column that is wanted and not given; with `near`, only renamed ones.

    >>> absent_columns(["Sex", "Age"], ["sex", "Pclass"], "new.csv")
    ["'Sex' is not in new.csv and is taken as missing; did you mean 'sex'?", \
"'Age' is not in new.csv and is taken as missing."]
    """
    names, known = list(wanted), set(given)
    mine = set(names)
    strange = [n for n in given if n not in mine]
    out = []
    for name in names:
        if name in known:
            continue
        alike = _renamed(name, strange)
        if alike is not None or not near:
            told = f"{name!r} is not in {where} and is taken as missing"
            out.append(f"{told}." if alike is None else f"{told}; did you mean {alike!r}?")
    return out


def _renamed(name: str, strange: Sequence[str]) -> str | None:
    """The column that is most likely the same under another name: x2 is not another x1.

    >>> _renamed("Bill length", ["bill_length", "x1"]), _renamed("x1", ["x2"])
    ('bill_length', None)
    """
    plain = _letters(name)
    for other in strange:
        if _letters(other) == plain and plain:
            return other
    for other in close_names(name, strange):
        if _digits(other) == _digits(name) and SequenceMatcher(None, other, name).ratio() >= _ALIKE:
            return other
    return None


def _letters(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum())


def _digits(name: str) -> str:
    return "".join(c for c in name if c.isdigit())


def warn_renamed(wanted: Collection[str], given: Sequence[str], stacklevel: int = 3) -> None:
    """One warning for columns that seem to have another name in the rows."""
    if len(given) == 0 or set(wanted) <= set(given):
        return
    told = absent_columns(wanted, given, near=True)
    if told:
        warnings.warn(" ".join(told[:6]), CredoWarning, stacklevel=stacklevel + 1)
