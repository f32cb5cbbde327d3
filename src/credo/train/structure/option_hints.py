"""What was meant by an option of `learn` that is not there, or a word in the wrong place."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from credo.core.errors import UnknownNameError, close_names, unknown_name

__all__ = ["ARGUMENTS", "OTHER_NAMES", "option_hint", "refuse_unknown_search"]

ARGUMENTS = (
    "score", "search", "required", "forbidden", "tiers", "max_parents", "candidates", "start",
    "seconds", "rng", "ess", "prior", "prior_rows", "freedom", "edge_prior", "parameters",
    "missing", "starts", "weights", "schema", "threads",
)  # fmt: skip
"""What `learn` takes whatever the search."""

OTHER_NAMES = {
    "hc": "hill-climb", "hillclimb": "hill-climb", "hill_climb": "hill-climb",
    "hill-climbing": "hill-climb", "greedy": "hill-climb", "nb": "naive-bayes", "tree": "chow-liu",
    "chowliu": "chow-liu", "simulated-annealing": "anneal", "fges": "ges", "astar": "exact",
}  # fmt: skip
"""Searches as other packages call them."""

_CLASS = "target= goes with search='tan' and search='naive-bayes', which learn for a class."
_COLUMNS = "Columns are left out when the table is read: schema={'name': 'drop'}."
_MEANT = {
    "target": _CLASS, "class_": _CLASS,
    "columns": _COLUMNS, "drop": _COLUMNS, "exclude": _COLUMNS,
    "whitelist": "Edges that must be there are required=[('parent', 'child')].",
    "require": "Edges that must be there are required=[('parent', 'child')].",
    "blacklist": "Edges that must not be there are forbidden=[('parent', 'child')].",
    "forbid": "Edges that must not be there are forbidden=[('parent', 'child')].",
    "max_indegree": "Did you mean 'max_parents'?",
    "seed": "Did you mean 'rng'?", "random_state": "Did you mean 'rng'?",
    "method": "Did you mean 'search'?", "algorithm": "Did you mean 'search'?",
    "scoring": "Did you mean 'score'?", "time": "Did you mean 'seconds'?",
}  # fmt: skip


def option_hint(name: str, known: Sequence[str]) -> str:
    """What to write for an option that a search does not have.

    >>> option_hint("max_parent", ("restarts",)), option_hint("restart", ("restarts",))
    ("Did you mean 'max_parents'?", "Did you mean 'restarts'?")
    """
    if name in _MEANT:
        return _MEANT[name]
    near: list[Any] = close_names(name, (*known, *ARGUMENTS))
    if near:
        return f"Did you mean {near[0]!r}?"
    return f"It has {', '.join(known)}." if known else "It has none."


def refuse_unknown_search(search: Any, known: Collection[str]) -> None:
    """Refuse a search that there is not; as other packages call it, ours is named."""
    if isinstance(search, str) and search in known:
        return
    ours = OTHER_NAMES.get(str(search).lower())
    if ours is not None:
        message = f"The search {search!r} is not one that credo knows."
        raise UnknownNameError(message, hint=f"Did you mean {ours!r}?")
    raise unknown_name("The search", search, known, "one that credo knows")
