"""The Python that does what was clicked: opened, learned, built and asked, in that order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network
from credo.studio.evidence import questions_of
from credo.studio.state import State

__all__ = ["network_code", "script_of"]


def script_of(states: Iterable[State]) -> str:
    """The script of some states, one after the other.

    >>> from credo.studio.evidence import Known, Moment
    >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> seen = Moment().knowing("wet", Known("is", (1,)))
    >>> first = State(net, made='net = cr.load("rain.bif")')
    >>> print(script_of([first, State(net, seen)]))
    import credo as cr
    <BLANKLINE>
    net = cr.load("rain.bif")
    net.marginals()
    net.marginals(given={'wet': True})
    """
    every = list(states)
    lines = ["import credo as cr", ""]
    for before, now, after in zip([None, *every], every, [*every[1:], None], strict=False):
        if now.rows is not None and (before is None or now.rows.line != _line(before)):
            lines.append(now.rows.line)
        if before is None or now.net is not before.net:
            built = not now.made
            if not built:
                lines.append(now.made)
            elif after is None or after.made or after.net is now.net:
                lines.append(network_code(now.net))  # of many changes by hand the last alone
        if now.net.names if before is None else now.moment != before.moment:
            lines.append(_asked(*questions_of(now.net, now.moment)))
    return "\n".join(lines)


def _line(state: State) -> str:
    return "" if state.rows is None else state.rows.line


def _asked(given: Mapping[str, Any], do: Mapping[str, Any]) -> str:
    cut = f".do({dict(do)!r})" if do else ""
    return f"net{cut}.marginals({f'given={dict(given)!r}' if given else ''})"


def network_code(net: Network) -> str:
    """The line that makes a network of tables; of others, what to do instead.

    >>> print(network_code(Network("[rain]", {"rain": 0.2})))
    net = cr.Network('[rain]', {'rain': [0.8, 0.2]}, states={'rain': [False, True]})
    """
    tables = {n: d for n, d in net.distributions.items() if isinstance(d, Cpt)}
    if len(tables) < len(net.names):
        return "net = cr.load('model.credo')  # it has numbers: save it under Share"
    values = {n: d.values.tolist() for n, d in tables.items()}
    states = {v.name: list(v.states) for v in net.variables}
    return f"net = cr.Network({str(net.dag)!r}, {values!r}, states={states!r})"
