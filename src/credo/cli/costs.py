"""What errors cost, on the command line: `--costs "yes:no=9, no:yes=1"`, or a CSV file of them."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from typing import Any

from credo.core.errors import InputError

__all__ = ["costs_by_state", "numbers_in", "read_costs"]

FORM = "CLASS:CALLED=COST, …"


def numbers_in(path: str, what: str) -> tuple[list[str], list[tuple[list[str], float]]]:
    """The head of a CSV file, and its rows as texts and a number, which stands last."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as lines:
            head, *rows = [[c.strip() for c in row] for row in csv.reader(lines) if row]
    except (OSError, UnicodeDecodeError, ValueError) as error:
        said = getattr(error, "strerror", None) or "it is empty or not a CSV file"
        raise InputError(f"The {what} {path} cannot be read: {said}.") from None
    out = []
    for i, row in enumerate(rows, start=2):
        try:
            *states, last = row
            out.append((states, float(last)))
        except ValueError:
            states = []
        if len(states) != len(head) - 1:
            raise InputError(
                f"{path}, line {i}: expected {', '.join(head[:-1])} and a number, got "
                f"{', '.join(row)!r}."
            )
    return head, out


def read_costs(given: str) -> list[tuple[str, float]]:
    """Costs by CLASS:CALLED, from such a text or from a file of class, what it was called, cost.

    >>> read_costs("yes:no=9, no:yes=1")
    [('yes:no', 9.0), ('no:yes', 1.0)]
    """
    if os.path.isfile(given) or given.lower().endswith(".csv"):
        head, rows = numbers_in(given, "file of costs")
        if len(head) != 3:
            raise InputError(
                f"{given} must have three columns, the class, what it was called and the cost, "
                f"got {', '.join(head)}."
            )
        return [(":".join(states), cost) for states, cost in rows]
    out = []
    for one in given.split(","):
        key, equals, cost = one.rpartition("=")
        try:
            out.append((key.strip(), float(cost)))
        except ValueError:
            equals = ""
        if not equals or ":" not in key:
            raise InputError(
                f"--costs must be a CSV file or have the form {FORM}, got {one.strip()!r}.",
                hint='For example --costs "yes:no=9, no:yes=1".',
            )
    return out


def costs_by_state(costs: Sequence[tuple[str, float]], states: Sequence[Any]) -> dict[Any, float]:
    """The same by pairs of states, in their own types.

    >>> costs_by_state([("1:0", 9.0), ("a:b:0", 2.0)], [0, 1, "a:b"])
    {(1, 0): 9.0, ('a:b', 0): 2.0}
    """
    known = {str(s): s for s in states}
    out = {}
    for key, cost in costs:
        parts = key.split(":")
        ways = [(":".join(parts[:i]), ":".join(parts[i:])) for i in range(1, len(parts))]
        a, b = next((w for w in ways if set(w) <= set(known)), ways[0])
        out[known.get(a.strip(), a.strip()), known.get(b.strip(), b.strip())] = cost
    return out
