"""Learners: whatever turns a table into a network, by one name or another.

A learner is a function of a table, the name of a search (`cr.learn`), a graph (`cr.fit`), or a
network, which is learned again with its own graph and priors from other rows.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from credo.core.errors import CredoWarning, InputError
from credo.data import Table
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.model.networks.priors import BDeu
from credo.model.values.reals import shown
from credo.model.values.record import Record
from credo.train.em.fit import em_until
from credo.train.em.run import INTERRUPTED
from credo.train.parameters.parameters import fit
from credo.train.parameters.update import refit
from credo.train.structure.learning import learn
from credo.train.structure.searches import SEARCHES

__all__ = ["Learner", "again", "has_gaps", "learner_of", "quiet", "whole_or_stop"]

Learner = Callable[[Table], Network]

_STEPS = 25, 100  # of EM, for a network that starts from its own numbers; with hidden variables


def learner_of(given: Any) -> tuple[str, Learner]:
    """A learner and what to call it.

    >>> learner_of("chow-liu")[0], learner_of("[A][B|A]")[0]
    ('chow-liu', '[A][B|A]')
    """
    if isinstance(given, Network):
        return "the network, its parameters learned again", lambda rows: again(given, rows)
    if isinstance(given, Dag):
        return str(given), _graph(given)
    if isinstance(given, str):
        if "[" in given:
            return given, _graph(Dag.parse(given))
        if given not in SEARCHES:
            from credo.core.errors import unknown_name

            raise unknown_name("The search", given, SEARCHES, "one that credo knows")
        return given, lambda rows: learn(rows, search=given)
    if callable(given):
        return getattr(given, "__name__", type(given).__name__), _checked(given)
    raise InputError(
        f"A learner is a function of a table, a search by name, a graph or a network, "
        f"got {shown(given)}.",
        hint="For example lambda rows: cr.learn(rows, 'bic').",
    )


def _graph(dag: Dag) -> Learner:
    def by_graph(rows: Table) -> Network:
        if has_gaps(rows):
            return em_until(math.inf, dag, rows, BDeu(1), tol=1e-4, told=False)
        net: Network = fit(dag, rows, BDeu(1))
        return net

    return by_graph


def _checked(function: Callable[[Table], Any]) -> Learner:
    def by_function(rows: Table) -> Network:
        net = function(rows)
        if not isinstance(net, Network):
            raise InputError(f"The learner must give a network, got {shown(net)}.")
        return net

    return by_function


def has_gaps(table: Table) -> bool:
    """Whether some cell of the table is missing."""
    return any(table.block.gaps)


def again(net: Network, rows: Table) -> Network:
    """The network learned again from other rows: its graph and priors, by EM where cells lack."""
    hidden = [n for n in net.names if n not in rows.schema]
    if not hidden and not has_gaps(rows):
        return refit(net, rows)
    learned = {n: d.learned for n, d in net.distributions.items()}
    prior = {n: how.prior for n, how in learned.items() if how is not None}
    fixed = {
        n: net.distributions[n] for n, h in learned.items() if h is None or h.estimate == "fixed"
    }
    groups = {h.tied for h in learned.values() if h is not None and h.tied}
    if not any(h is not None for h in learned.values()):
        return refit(net, rows)  # refuses
    states = {
        n: list(net.variable(n).states) if net.variable(n).is_discrete else "continuous"
        for n in hidden
    }
    return em_until(
        math.inf, net, rows, prior, start=net, tol=1e-4, max_iter=_STEPS[bool(hidden)], restarts=1,
        fixed=fixed or None, tied=sorted(groups), hidden=states or None, told=False,
    )  # fmt: skip


def whole_or_stop(record: Record | None) -> None:
    """Go on with Ctrl-C where it cut learning short: half a fit is no fit to judge by."""
    if record is not None and record.reason == INTERRUPTED:
        raise KeyboardInterrupt


class quiet(warnings.catch_warnings):
    """Learning again and again: what was said once about the table is not said for each part."""

    def __enter__(self) -> Any:
        out = super().__enter__()
        warnings.simplefilter("ignore", CredoWarning)
        return out
