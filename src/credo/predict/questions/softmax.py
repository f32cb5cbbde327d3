"""Questions to a network with softmax families: exact where their numbers are known.

A softmax whose numbers are observed, or set, is a table over its discrete parents; one that neither
evidence nor a question lies below is left out. What then remains is a network of tables and lines,
and every engine answers it. Otherwise samples do (`predict/approximate/forward_weighting.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from credo.core.kept import Kept
from credo.core.schema import is_missing
from credo.core.state_values import is_number
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.softmax import Softmax
from credo.predict.questions.evidence import on_line

if TYPE_CHECKING:
    from credo.model.networks.network import Local, Network

__all__ = ["has_softmax", "in_tables", "part_asked"]

_SET = 1e-280  # the variance of a number that was set is below this


def has_softmax(net: Any) -> bool:
    """Whether some family is a softmax."""
    return _FOUND[net]


def _found(net: Any) -> bool:
    families = getattr(net, "distributions", None)
    return families is not None and any(isinstance(d, Softmax) for d in families.values())


_FOUND = Kept(_found)


def part_asked(net: Network, names: Collection[str]) -> Network:
    """The network of some variables and all that they rest on."""
    for name in names:
        if name not in net.schema:
            return net  # whoever reads the names says so
    kept = {*names, *net.dag.ancestors(list(names))}
    if len(kept) == len(net.names):
        return net
    edges = [(a, b) for a, b in net.dag.edges if a in kept and b in kept]
    nodes = [n for n in net.names if n in kept]
    return type(net).trusted(
        type(net.dag)(edges, nodes), {n: net.distributions[n] for n in nodes}, net.record
    )


def in_tables(
    net: Network, given: Mapping[str, Any] | None, wanted: Collection[str] | None
) -> Network:
    """The part of a network that a question needs, each softmax of known numbers as a table.

    `wanted` are the variables asked about, None all of them.
    """
    if not has_softmax(net):
        return net
    known = given if isinstance(given, Mapping) else {}
    if wanted is not None:
        there = [n for n, v in known.items() if not is_missing(v)]
        net = part_asked(net, dict.fromkeys([*wanted, *there]))
    values: dict[str, float] = {}
    for name, local in net.distributions.items():
        if not isinstance(local, LinearGaussian):
            continue
        if is_number(known.get(name)):
            values[name] = on_line(local.child, float(known[name]))
        elif not local.parents and float(local.variance) < _SET:
            values[name] = float(local.intercept)
    out: dict[str, Local] = dict(net.distributions)
    for name, local in out.items():
        if isinstance(local, Softmax) and all(p.name in values for p in local.continuous):
            out[name] = local.table_at(values)
    edges = [(p.name, n) for n, local in out.items() for p in local.parents]
    return type(net).trusted(type(net.dag)(edges, net.names), out, net.record)
