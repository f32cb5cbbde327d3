"""The scales of a table's numbers whose graph is not known: each way is judged by a climb."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from credo.model.graphs.dag import Dag
from credo.train.numbers.choosing import SPEC, chosen_scales
from credo.train.numbers.ways import Choice
from credo.train.structure.searching import searched

__all__ = ["climbed_scales"]

_RULES = ("required", "forbidden", "tiers", "max_parents", "candidates", "threads")


def climbed_scales(
    rows: Any, ways: Mapping[str, Any], settings: Mapping[str, Any], score: Any, limit: Any
) -> Choice:
    """How the numbers are modelled, within a third of the seconds, by the rules of a search.

    >>> import credo as cr
    >>> table = cr.read({"fare": [float(k * k) for k in range(60)]})
    >>> rules = dict.fromkeys(("required", "forbidden", "tiers"), ())
    >>> rules |= dict.fromkeys(("max_parents", "candidates", "threads"))
    >>> climbed_scales(table, {"fare": "transformed"}, rules, None, None).scales["fare"].kind
    'yeo-johnson'
    """
    rules = {k: settings[k] for k in _RULES}

    def climb(part: Any, left: float | None) -> tuple[Dag, float]:
        found = searched(part, SPEC.name, "hill-climb", seconds=left, available=True, **rules)
        assert found.record.score is not None
        return found.dag, found.record.score

    return chosen_scales(rows, ways, climb, bins=score != "bge", seconds=limit and limit / 3)
