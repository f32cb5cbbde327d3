"""Learning again in folds what the rows themselves taught: the graph too, if it was searched for.

A graph that was chosen on all rows has seen those that are held out, and noise that it took for a
relation is in every fold of them. So the search of the record is made again without each fold; by
hill-climbing where the choice was left open, which takes a fraction of the time and ends as near.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from credo.checking.again.folds import Judge, judges_of
from credo.checking.again.learners import Learner, again
from credo.core.errors import CredoError
from credo.train.structure.learning import learn
from credo.train.structure.recipe import arguments_of

if TYPE_CHECKING:
    from credo.data import Table
    from credo.model.networks.network import Network

__all__ = ["SEARCH_SECONDS", "Again", "learned_again", "of_its_graph"]

SEARCH_SECONDS = 20.0
"""For the searches of all folds together, where there is no end."""


@dataclass(frozen=True)
class Again:
    """The network of each fold, in words how it was made, and whether its graph has seen the rows.

    `chosen` says why a graph that was searched for on these rows could not be searched for again;
    it is empty where no judge's graph was chosen with the rows that it judges.
    """

    judges: list[Judge]
    how: str
    graph_again: bool = False
    chosen: str = ""


def learned_again(
    net: Network, table: Table, parts: list[Any], seconds: float = SEARCH_SECONDS
) -> Again:
    """The judges of a network that was learned from these very rows."""
    told = arguments_of(net.record)
    folds = f"in {len(parts)} folds"
    if told is None:
        return Again(
            of_its_graph(net, table, parts), f"parameters learned again {folds}, graph kept"
        )
    lacks = [n for n in net.names if n not in table.schema]
    why = told if isinstance(told, str) else ""
    if lacks:
        why = f"{lacks[0]} is not in the table"
    if not why:
        assert isinstance(told, dict)
        quick = told.get("search") == "auto"
        told = {**told, "search": "hill-climb"} if quick else told
        try:
            judges = list(judges_of(_search(told, seconds / len(parts)), table, parts, "again"))
        except CredoError as error:
            why = error.message.rstrip(".")
        else:
            cut = sum("budget" in str(getattr(j.net.record, "reason", "")) for j in judges)
            late = f", {cut} of the searches cut short at {seconds / len(parts):.3g} s"
            graph = "graph (by hill-climbing)" if quick else "graph"
            how = f"{graph} and parameters learned again {folds}{late if cut else ''}"
            return Again(judges, how, graph_again=True)
    how = f"parameters learned again {folds}, but the graph was chosen with all rows ({why})"
    return Again(of_its_graph(net, table, parts), how, chosen=why)


def of_its_graph(net: Network, table: Table, parts: list[Any]) -> list[Judge]:
    """The judges that keep the graph: parameters learned again without each fold."""
    return list(judges_of(lambda rows: again(net, rows), table, parts, "learning again"))


def _search(told: dict[str, Any], seconds: float) -> Learner:
    def by_search(rows: Table) -> Network:
        return learn(rows, budget=seconds, **told)

    return by_search
