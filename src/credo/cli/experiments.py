"""The options by which commands that learn are told what experiments set in each row."""

from __future__ import annotations

from typing import Any

from credo.cli.options import option
from credo.cli.reading import read_from
from credo.core.errors import InputError
from credo.core.schema import Schema

__all__ = ["intervened_from", "intervened_option", "read_told", "seen_rows", "soft_option"]

_GROUP = "Rows from experiments"

intervened_option = option(
    "--intervened", group=_GROUP, multiple=True, metavar="[VARIABLE=]COLUMN",
    help="The column that names what was set in each row (empty: nothing); or, for each VARIABLE, "
    "its column of 0 and 1.",
)  # fmt: skip
"""What was set in each row."""

soft_option = option(
    "--soft", group=_GROUP, is_flag=True,
    help="Experiments change a variable's table and do not cut it from its parents.",
)  # fmt: skip
"""Whether experiments are soft."""


def intervened_from(given: tuple[str, ...]) -> Any:
    """What `intervened=` takes.

    >>> intervened_from(()), intervened_from(("set",)), intervened_from(("A=IA", "B=IB"))
    (None, 'set', {'A': 'IA', 'B': 'IB'})
    """
    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    named = {}
    for one in given:
        name, equals, column = one.partition("=")
        if not (name.strip() and equals and column.strip()):
            raise InputError(
                f"--intervened must be one column, or VARIABLE=COLUMN for each variable, got "
                f"{one!r}."
            )
        named[name.strip()] = column.strip()
    return named


def read_told(intervened: Any, reading: dict[str, Any], schema: Schema | None = None) -> Any:
    """The table that the options describe, with the columns that say what was set."""
    if intervened is None:
        return read_from(**reading, schema=schema)
    columns = [intervened] if isinstance(intervened, str) else list(intervened.values())
    if schema is not None:
        told = {**dict.fromkeys(columns, "discrete"), **{v.name: v for v in schema.variables}}
        return read_from(**reading, schema=told)
    said = {one.rpartition("=")[0] for one in reading["kind"]}
    said |= {one.partition("=")[0] for one in reading["states"]}
    more = tuple(f"{c}=discrete" for c in dict.fromkeys(columns) if c not in said)
    return read_from(**{**reading, "kind": (*reading["kind"], *more)})


def seen_rows(table: Any, intervened: Any) -> Any:
    """The rows in which nothing was set, to hold a network against; None if there are none."""
    if intervened is None:
        return table
    from credo.train.parameters.experiments import experiments

    return experiments(table, intervened).observed
