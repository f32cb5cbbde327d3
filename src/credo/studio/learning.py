"""The requests of Learn: a table, what its columns are taken as, rules, a search that is watched.

An edge that is edited by hand changes one family or two, so what it gains is their scores apart:

    gain(a → b) = score(b | parents and a) − score(b | parents)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.core.errors import InputError, unknown_name
from credo.core.kept import Kept
from credo.core.schema import Schema
from credo.data import Table
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.model.networks.priors import BDeu
from credo.plot.networks.boxes import sketch
from credo.studio.rows import KINDS, Rows
from credo.studio.state import NOTHING, TARGETED, Edge, Json, Plan, State, Verb
from credo.train.parameters.parameters import fit
from credo.train.scores.scores import SCORES, score
from credo.train.structure.learning import learn
from credo.train.structure.recipe import usual_score
from credo.train.structure.rules import Rules
from credo.train.structure.searches import SEARCHES

if TYPE_CHECKING:
    from credo.studio.session import Session

__all__ = ["VERBS", "unconnected"]

EDITS = ("add", "remove", "reverse")
_RULES = ("required", "forbidden", "free")
_SEARCHES = tuple(s for s in SEARCHES if s != "k2")  # it needs an order of all variables
_SCORES = tuple(s for s in SCORES if s != "bde")  # it needs a prior network
_IMAGINED = 10.0  # rows of the prior, as `cr.learn` has it


def unconnected(rows: Rows) -> State:
    """The state in which a table begins: every variable by itself."""
    names = rows.table.schema.names
    dag = Dag([], names)
    made = f"net = cr.fit({str(dag)!r}, table, prior=cr.BDeu({_IMAGINED:g}))"
    return State(fit(dag, rows.table, BDeu(_IMAGINED)), rows=rows, made=made)


# --- changes -----------------------------------------------------------------------------------


def _kind(session: Session, at: State, /, name: str, kind: str) -> State:
    return replace(unconnected(_rows(at).taken_as(name, kind)), plan=Plan(seconds=at.plan.seconds))


def _choose(session: Session, at: State, /, what: str, value: str | float) -> State:
    known: dict[str, Any] = {"score": ("", *_SCORES), "search": _SEARCHES}
    if what == "seconds":
        if not isinstance(value, (int, float)) or not 0 < value <= 86_400:
            raise InputError(f"The seconds must be a number from 0 to 86400, got {value!r}.")
        return replace(at, plan=replace(at.plan, seconds=float(value)))
    if what == "target":
        at.variable(str(value))
    elif what not in known:
        raise unknown_name("Setting", what, [*known, "target", "seconds"], "of a search")
    elif value not in known[what]:
        raise unknown_name(f"The {what}", str(value), known[what], "one that credo knows")
    changed: Any = {what: value}
    plan = replace(at.plan, **changed)
    if what == "search" and value in TARGETED and not plan.target:
        plan = replace(plan, target=at.net.names[-1])
    return replace(at, plan=plan)


def _rule(session: Session, at: State, /, rule: str, **ends: str) -> State:
    edge = _edge_of(at, ends)
    if rule not in _RULES:
        raise InputError(f"A rule is one of {', '.join(_RULES)}, got {rule!r}.")
    required = tuple(e for e in at.plan.required if e != edge)
    forbidden = tuple(e for e in at.plan.forbidden if e != edge)
    required += (edge,) if rule == "required" else ()
    forbidden += (edge,) if rule == "forbidden" else ()
    return _allowed(at, replace(at.plan, required=required, forbidden=forbidden))


def _tier(session: Session, at: State, /, name: str, tier: int | None) -> State:
    at.variable(name)
    if tier is not None and not 1 <= tier <= 99:
        raise InputError(f"A tier is a whole number from 1 to 99, got {tier}.")
    rest = tuple(t for t in at.plan.tiers if t[0] != name)
    return _allowed(at, replace(at.plan, tiers=rest if tier is None else (*rest, (name, tier))))


def _allowed(at: State, plan: Plan) -> State:
    """The state with the plan, if some graph keeps its rules."""
    told = {k: v for k, v in plan.options().items() if k in ("required", "forbidden", "tiers")}
    Rules.of(Schema(at.net.variables), **told)
    return replace(at, plan=plan)


def _edit(session: Session, at: State, /, how: str, **ends: str) -> State:
    dag = _edited(at.net.dag, _edge_of(at, ends), how)
    table = _table(at)
    net = fit(dag, table, BDeu(_IMAGINED))
    made = f"net = cr.fit({str(dag)!r}, table, prior=cr.BDeu({_IMAGINED:g}))"
    return replace(at, net=net, moment=NOTHING, made=made)


def _edited(dag: Dag, edge: Edge, how: str) -> Dag:
    if how not in EDITS:
        raise InputError(f"An edit is one of {', '.join(EDITS)}, got {how!r}.")
    there = edge in dag.edges
    if how == "add" and (there or edge[::-1] in dag.edges):
        raise InputError(f"There is an edge between {edge[0]!r} and {edge[1]!r} already.")
    if how != "add" and not there:
        raise InputError(f"There is no edge from {edge[0]!r} to {edge[1]!r}.")
    rest = [e for e in dag.edges if e != edge]
    more = {"add": [edge], "remove": [], "reverse": [edge[::-1]]}[how]
    return Dag([*rest, *more], dag.nodes)


# --- the search --------------------------------------------------------------------------------


def _learn(session: Session, at: State, /) -> Json:
    rows = _rows(at)
    options = at.plan.options()
    told = ", ".join(["table", *(f"{k}={v!r}" for k, v in options.items())])

    def end(net: Network) -> None:
        now = session.state
        if now.rows is not rows:
            raise InputError("Another table was opened while this was learned from the one before.")
        made = f"net = cr.learn({told})"
        session.adopt(replace(now, net=net, moment=NOTHING, made=made))

    session.start("Learning", lambda: learn(rows.table, **options, rng=0), end)
    return {}


# --- questions ---------------------------------------------------------------------------------


def _learning(session: Session, at: State, /) -> Json:
    """All that the section shows of a state."""
    return {
        "table": None if at.rows is None else {
            "name": at.rows.name, "rows": len(at.rows.table),
            "fixed": at.rows.again is None, "columns": at.rows.columns(),
        },
        "kinds": list(KINDS), "scores": {s: SCORES[s] for s in _SCORES},
        "searches": {s: SEARCHES[s] for s in _SEARCHES}, "targeted": list(TARGETED),
        "plan": {
            "score": at.plan.score, "search": at.plan.search, "target": at.plan.target,
            "seconds": at.plan.seconds, "required": at.plan.required,
            "forbidden": at.plan.forbidden, "tiers": dict(at.plan.tiers),
        },
        "graph": sketch(at.net.names, at.net.dag.edges),
        **_scored(at),
    }  # fmt: skip


def _scored(at: State) -> Json:
    """The score of the graph on the rows, and how it was found."""
    if at.rows is None:
        return {"scored_by": None, "score": None, "how": ""}
    families = [(n, at.net.dag.parents(n)) for n in at.net.names]
    name, family = _family_score(at)
    record = at.net.record
    how = (
        "" if record is None else f"{record.how}; {record.reason}" if record.reason else record.how
    )
    return {"scored_by": name, "score": sum(family(c, p) for c, p in families), "how": how}


def _gains(session: Session, at: State, /, **ends: str) -> Json:
    """What each edit between two variables changes the score by; None where it cannot be made."""
    edge = _edge_of(at, ends)
    name, family = _family_score(at)
    out: dict[str, float | str | None] = {}
    for how in EDITS:
        try:
            dag = _edited(at.net.dag, edge, how)
            out[how] = sum(
                family(c, dag.parents(c)) - family(c, at.net.dag.parents(c)) for c in set(edge)
            )
        except InputError:
            out[how] = None
    return {"from": edge[0], "to": edge[1], "scored_by": name, "gains": out}


def _compare(session: Session, at: State, /, a: int, b: int) -> Json:
    """Two of the networks that the session went through, side by side."""
    nets = _networks(session)
    for k in (a, b):
        if not 0 <= k < len(nets):
            raise InputError(f"The networks are numbered from 0 to {len(nets) - 1}, got {k}.")
    one, other = nets[a][0], nets[b][0]
    here, there = set(one.dag.edges), set(other.dag.edges)
    turned = [e for e in one.dag.edges if e not in there and e[::-1] in there]
    back = {e[::-1] for e in turned}
    return {
        "a": _told(nets[a]), "b": _told(nets[b]),
        "both": [e for e in one.dag.edges if e in there],
        "only_a": [e for e in one.dag.edges if e not in there and e not in turned],
        "only_b": [e for e in other.dag.edges if e not in here and e not in back],
        "turned": turned,
        "equivalent": set(one.names) == set(other.names) and one.dag.equivalent(other.dag),
    }  # fmt: skip


def _graphs(session: Session, at: State, /) -> Json:
    """The networks that the session went through."""
    return {"graphs": [_name_of(state) for _, state in _networks(session)]}


def _networks(session: Session) -> list[tuple[Network, State]]:
    found: dict[int, tuple[Network, State]] = {}
    for state in session.states:
        found.setdefault(id(state.net), (state.net, state))
    return list(found.values())


def _name_of(state: State) -> str:
    record = state.net.record
    learned = record is not None and record.how.startswith("learned")
    how = record.how if record is not None and learned else "not learned"
    return f"{len(state.net.dag.edges)} edges, {how}"


def _told(found: tuple[Network, State]) -> Json:
    net, state = found
    return {"name": _name_of(state), "graph": sketch(net.names, net.dag.edges), **_scored(state)}


# --- rows and families -------------------------------------------------------------------------


def _rows(at: State) -> Rows:
    if at.rows is None:
        raise InputError("There is no table.", hint="Open one, or start with credo studio TABLE.")
    return at.rows


def _table(at: State) -> Table:
    missing = [n for n in at.net.names if n not in _rows(at).table.schema]
    if missing:
        raise InputError(f"The table has no column {missing[0]!r}, which the network has.")
    table = at.data
    assert table is not None
    return table


def _edge_of(at: State, ends: dict[str, str]) -> Edge:
    edge = ends["from"], ends["to"]
    for name in edge:
        at.variable(name)
    if edge[0] == edge[1]:
        raise InputError(f"An edge joins two variables, got {edge[0]!r} twice.")
    return edge


class _Families:
    """The scores of a table's families, each computed once."""

    def __init__(self, table: Table) -> None:
        gaps = any(table.schema.missing.get(n, 0) for n in table.schema.names)
        self.usual = "bic" if gaps else usual_score(table.schema)
        self.of = lru_cache(maxsize=100_000)(self._of)
        self._table = table

    def _of(self, name: str, child: str, parents: frozenset[str]) -> float:
        dag = Dag([(p, child) for p in sorted(parents)], [*sorted(parents), child])
        families = score(dag, self._table, name).families
        return float(next(v for family, v in families.items() if family.child == child))


_FAMILIES: Kept[_Families] = Kept(_Families)


def _family_score(at: State) -> tuple[str, Any]:
    _table(at)
    families = _FAMILIES[_rows(at).table]  # no edit changes the scale of a number
    name = at.plan.score or families.usual

    def of(child: str, parents: Sequence[str]) -> float:
        found = families.of(name, child, frozenset(parents))
        if not np.isfinite(found):
            raise InputError(f"The family of {child!r} has no finite score.")
        return found

    return name, of


_ENDS: dict[str, tuple[type, ...]] = {"from": (str,), "to": (str,)}

VERBS: dict[str, Verb] = {
    "kind": Verb(_kind, {"name": (str,), "kind": (str,)}, changes=True),
    "choose": Verb(_choose, {"what": (str,), "value": (str, int, float)}, changes=True),
    "rule": Verb(_rule, {"rule": (str,), **_ENDS}, changes=True),
    "tier": Verb(_tier, {"name": (str,), "tier": (int, type(None))}, changes=True),
    "edit": Verb(_edit, {"how": (str,), **_ENDS}, changes=True),
    "learn": Verb(_learn, {}),
    "learning": Verb(_learning, {}),
    "gains": Verb(_gains, _ENDS),
    "graphs": Verb(_graphs, {}),
    "compare": Verb(_compare, {"a": (int,), "b": (int,)}),
}
"""The requests by their names."""
