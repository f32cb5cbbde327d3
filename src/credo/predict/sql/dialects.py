"""Dialects: how each engine quotes names and texts, writes numbers, and looks up in a list.

What all four share is used as it is: CASE, COALESCE, GREATEST, LEAST, ABS, LN, EXP, POWER, WITH.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

from credo.core.errors import InputError, shown, unknown_name
from credo.core.schema import Variable
from credo.core.state_values import plain_state

__all__ = ["DIALECTS", "Dialect", "dialect_of"]


@dataclass(frozen=True, slots=True)
class Dialect:
    r"""What an engine calls things. `most_bytes` and `most_columns` are its limits of a statement.

    >>> duckdb = DIALECTS["duckdb"]
    >>> duckdb.name('a"b'), duckdb.text("it's"), duckdb.number(0.25)
    ('"a""b"', "'it''s'", '0.25e0')
    >>> DIALECTS["spark"].name("a`b"), DIALECTS["bigquery"].text("it's")
    ('`a``b`', "'it\\'s'")
    """

    label: str
    quote: str
    double: str
    """The type of floats."""
    escapes: bool
    """Whether a backslash in a text stands for something else."""
    is_nan: str
    typed: str
    """A float as a literal."""
    listed: Callable[[Iterable[str]], str]
    """Floats as a list, of their texts."""
    item: str
    """One of a list, counted from 1."""
    fence: str = ""
    """What keeps a step from being written into the next, where each use would do its work again:
    Postgres does so, and the work doubles with every step."""
    most_bytes: int | None = None
    most_columns: int | None = None

    def name(self, name: str) -> str:
        """A name in quotes, whatever it holds."""
        if self.escapes and self.label == "bigquery":
            return f"`{_escaped(name).replace('`', chr(92) + '`')}`"
        return f"{self.quote}{name.replace(self.quote, self.quote * 2)}{self.quote}"

    def table(self, table: str | Sequence[str]) -> str:
        """A table by its name, whose dots part schema and table; or a query in brackets."""
        if isinstance(table, str) and table.lstrip().startswith("("):
            return table
        parts = table.split(".") if isinstance(table, str) else list(table)
        if not parts or not all(isinstance(p, str) and p for p in parts):
            raise InputError(
                f"table= is a name such as 'rows' or 'shop.rows', got {shown(table)}.",
                hint="Give the parts as a list where a name holds a dot, or a query in brackets.",
            )
        return ".".join(self.name(p) for p in parts)

    def text(self, text: str) -> str:
        """A text as a literal."""
        if not self.escapes:
            return "'" + text.replace("'", "''") + "'"
        out = _escaped(text).replace("'", "\\'")
        return "'" + (out.replace("${", "\\u0024{") if self.label == "spark" else out) + "'"

    def number(self, x: float) -> str:
        """A float, to its last digit."""
        return self.typed.format(digits(x))

    def lookup(self, values: Iterable[float], at: str) -> str:
        """The entry of a list of floats whose place, counted from 1, is an expression."""
        return self.item.format(self.listed(map(digits, values)), at)

    def literal(self, variable: Variable, state: Any) -> str:
        """A state as a literal; one that SQL has no literal for is refused."""
        found = plain_state(state)
        if isinstance(found, bool):
            return "TRUE" if found else "FALSE"
        if isinstance(found, int):
            return str(found)
        if isinstance(found, (float, Decimal, Fraction)):
            return self.number(float(found))
        if isinstance(found, (str, UUID)):
            return self.text(str(found))
        if isinstance(found, dt.datetime):
            return f"TIMESTAMP {self.text(found.isoformat(sep=' '))}"
        if isinstance(found, dt.date):
            return f"DATE {self.text(found.isoformat())}"
        raise InputError(
            f"The state {shown(state)} of {variable.name!r} cannot be written in SQL.",
            hint="States that are texts, numbers, booleans or dates can.",
        )


def digits(x: float) -> str:
    """A float in digits that give it again, always with an exponent: 1.5 alone is a decimal.

    >>> digits(1.5), digits(1e-7)
    ('1.5e0', '1e-07')
    """
    text = repr(float(x))
    return text if "e" in text else f"{text}e0"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def _in_text(left: str, right: str) -> Callable[[Iterable[str]], str]:
    """A list written as a text is parsed four times as fast by DuckDB as one of expressions."""
    return lambda values: f"CAST('{left}{','.join(values)}{right}' AS {_FLOATS[left]})"


_FLOATS = {"[": "DOUBLE[]", "{": "DOUBLE PRECISION[]"}

DIALECTS = {
    d.label: d
    for d in (
        Dialect("duckdb", '"', "DOUBLE", False, "isnan({})", "{}", _in_text("[", "]"), "{}[{}]"),
        Dialect(
            "spark", "`", "DOUBLE", True, "isnan({})", "{}",
            lambda values: f"array({', '.join(values)})", "element_at({}, {})",
        ),
        Dialect(
            "postgres", '"', "DOUBLE PRECISION", False, "{} = FLOAT8 'NaN'", "FLOAT8 '{}'",
            _in_text("{", "}"), "({})[{}]", fence=" OFFSET 0", most_columns=1_600,
        ),
        Dialect(
            "bigquery", "`", "FLOAT64", True, "IS_NAN({})", "{}",
            lambda values: f"[{', '.join(values)}]", "{}[ORDINAL({})]",
            most_bytes=1_000_000, most_columns=10_000,
        ),
    )
}  # fmt: skip


def dialect_of(name: Any) -> Dialect:
    """A dialect by its name.

    >>> dialect_of("duckdbb")
    Traceback (most recent call last):
    credo.errors.UnknownNameError: The dialect 'duckdbb' is not one that credo writes. \
Did you mean 'duckdb'?
    """
    if isinstance(name, str) and name.lower() in DIALECTS:
        return DIALECTS[name.lower()]
    raise unknown_name("The dialect", name, DIALECTS, "one that credo writes")
