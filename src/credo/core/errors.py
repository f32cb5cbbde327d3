"""One tree of errors. Every refusal says what was expected, what came, where, and what to do.

Each class also derives from the built-in error a Python user would expect (`ValueError`,
`LookupError`, `MemoryError`, `ImportError`), so ordinary `except` clauses keep working.
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Callable, Iterable, Mapping
from numbers import Number
from pathlib import Path
from typing import Any

_NEAR = 0.75  # of two names of files, from which one may be meant by the other


class CredoError(Exception):
    """The root of every error credo raises on purpose.

    `message` is one sentence; `hint`, when there is one, says what to do next.

    >>> str(CredoError("The table has no rows.", hint="Check the path."))
    'The table has no rows. Check the path.'
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        super().__init__(f"{message} {hint}".strip())

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InputError(CredoError, ValueError):
    """An argument is not of the form that was asked for."""


class TableError(InputError):
    """A table or a file of rows cannot be read as it is; names the row, line or byte."""


class NoColumnError(TableError):
    """No column of a table of so many rows can be a variable; `aside` says why of each."""

    def __init__(
        self, message: str, *, hint: str = "", aside: Mapping[str, str] | None = None, rows: int = 0
    ) -> None:
        super().__init__(message, hint=hint)
        self.aside, self.rows = dict(aside or {}), rows


class SchemaError(InputError):
    """A column cannot be what the schema says, or two schemas do not fit together."""


class UnknownNameError(CredoError, KeyError, ValueError):
    """A variable, state, family or hypothesis that is not there; close names are offered.

    It is a KeyError, so that `get` and `in` of everything that is a mapping answer as usual, and a
    ValueError, which scikit-learn's users expect of a state or a name that does not fit.

    They are looked for when somebody reads the hint: many cells of a table may be no state, and
    comparing each with thousands of states would cost more than all else.
    """

    def __init__(self, message: str, *, hint: str | Callable[[], str] = "") -> None:
        super().__init__(message)
        self._hint = hint

    @property
    def hint(self) -> str:
        """What to do next."""
        if callable(self._hint):
            self._hint = self._hint()
        return self._hint

    @hint.setter
    def hint(self, hint: str) -> None:
        self._hint = hint

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self) -> Any:
        return type(self), (self.message,), {"hint": self.hint}


class LimitError(CredoError, MemoryError):
    """The answer would not fit; says how large it would be and what to do instead."""


class LateError(CredoError, TimeoutError):
    """The time that was given is spent, or would not be enough; says for what."""


class ImpossibleError(CredoError, ArithmeticError):
    """What was observed has probability zero under every hypothesis, so no posterior exists."""


class NotIdentifiedError(CredoError, ValueError):
    """An effect that no amount of rows tells, given what the graph leaves open; says why."""


class MissingPackageError(CredoError, ImportError):
    """An optional package is needed; the message holds the exact install command."""


class CredoWarning(UserWarning):
    """Something was read or learned that the user should know of; nothing was changed silently."""


_LONG = 80  # characters of a value repeated in an error


def shown(value: object) -> str:
    """A value as an error repeats it: on one line, and not too long of it.

    >>> shown("a"), shown(10**400)[-5:], len(shown("x" * 1000))
    ("'a'", '0000…', 80)
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a number of too many digits, or a broken repr
        text = f"a value of the type {type(value).__name__}"
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"


def close_names(name: object, known: Iterable[object]) -> list[str]:
    """The known names nearest to `name`, best first, at most three; of numbers the nearest one,
    by its value and not by its digits.

    >>> close_names("smokr", ["smoker", "lung", "xray"]), close_names(0, [90, 80, 1])
    (['smoker'], ['1'])
    """
    names = list(known)
    numbers = [k for k in names if isinstance(k, (int, float)) and not isinstance(k, bool)]
    if isinstance(name, (int, float)) and not isinstance(name, bool) and numbers:
        nearest = min(numbers, key=lambda k: abs(k - name))
        return [str(nearest)] if abs(nearest - name) <= max(1, abs(name) / 20) else []
    texts = [str(k) for k in names]
    text = _text(name)
    found = difflib.get_close_matches(text, texts, n=3, cutoff=0.6)
    by_fold = {t.casefold(): t for t in texts}
    folded = difflib.get_close_matches(text.casefold(), list(by_fold), n=3, cutoff=0.6)
    return list(dict.fromkeys([*found, *(by_fold[f] for f in folded)]))[:3]


def near_file(path: Path) -> str:
    """The hint for a file that is not there: one beside it whose name, without its ending, is near.

    >>> near_file(Path("no-such-folder/patients.csv"))
    ''
    """
    if not path.parent.is_dir():
        return ""
    stem = path.name.partition(".")[0].casefold()
    names = [p.name for p in path.parent.iterdir()]
    alike = [
        n for n in names
        if difflib.SequenceMatcher(None, stem, n.partition(".")[0].casefold()).ratio() >= _NEAR
    ]  # fmt: skip
    near = close_names(path.name, alike)
    return f"Did you mean {near[0]!r}?" if near else ""


def _text(value: object) -> str:
    try:
        return str(value)
    except Exception:  # a number of too many digits
        return shown(value)


def _kind(value: object) -> str:
    """What a value is, in a word."""
    if isinstance(value, bool):
        return "the boolean"
    if isinstance(value, Number):
        return "the number"
    return "the text" if isinstance(value, str) else f"the {type(value).__name__}"


def unknown_name(what: str, name: object, known: Iterable[object], where: str) -> UnknownNameError:
    """The error for a name that is not there, with near names or the list of known ones.

    >>> str(unknown_name("Variable", "smokr", ["smoker", "lung"], "in the model"))
    "Variable 'smokr' is not in the model. Did you mean 'smoker'?"
    >>> str(unknown_name("Outcome", "2", [1, 2, 3], "an outcome"))
    "Outcome '2' is not an outcome. Did you mean the number 2, not the text '2'?"
    """
    names = list(known)
    whole = isinstance(name, str) and len(name) <= 10 * _LONG  # to its last blank
    said = repr(name) if whole else shown(name)
    return UnknownNameError(
        f"{what} {said} is not {where}.", hint=lambda: _near_or_all(name, names)
    )


def _near_or_all(name: object, names: list[object]) -> str:
    """The hint: near names, or the list of known ones."""
    by_text = {str(k): k for k in reversed(names)}
    near = [by_text[text] for text in close_names(name, names)]
    alike = by_text.get(_text(name))
    if alike is not None and _kind(alike) != _kind(name):
        return f"Did you mean {_kind(alike)} {alike!r}, not {_kind(name)} {shown(name)}?"
    if near:
        return "Did you mean " + " or ".join(repr(n) for n in near) + "?"
    if not names:
        return ""
    listed = ", ".join(repr(n) for n in names[:12])
    there = "There is" if len(names) == 1 else "There are"
    return f"{there} {listed}" + (f" and {len(names) - 12} more." if len(names) > 12 else ".")


def out_of_memory(error: BaseException) -> bool:
    """Whether an error, of whatever kind, says that memory ran out.

    >>> out_of_memory(MemoryError()), out_of_memory(RuntimeError("can't start new thread"))
    (True, True)
    >>> out_of_memory(ImportError("libx.so: failed to map segment from shared object"))
    True
    >>> out_of_memory(Exception("Unknown error: Failed to launch worker thread: …"))  # Arrow's
    True
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":
        return True
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    said = str(error)
    if isinstance(error, ImportError):  # of a shared library
        return "failed to map segment" in said or "annot allocate memory" in said
    return "can't start new thread" in said or "Failed to launch worker thread" in said


for _class in [c for c in vars().values() if isinstance(c, type) and c.__module__ == __name__]:
    _class.__module__ = "credo.errors"  # tracebacks name the public place
