"""The studio in a notebook's cell: the page's requests come as anywidget's messages.

Jupyter, marimo, Colab and VS Code hold the same page, which asks the same `Session.dispatch`.
"""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any

from credo.core.errors import CredoError, MissingPackageError

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["shown_as_widgets", "widget"]


def widget(net: Network, data: Any = None) -> Any:
    """A network to click on in a notebook; `Network.widget` is the way in."""
    try:
        import anywidget
    except ImportError:
        raise MissingPackageError(
            "A network in a notebook needs anywidget.",
            hint="Install it: pip install 'credo[notebook]'",
        ) from None
    from credo.reports.interactive_section import built
    from credo.studio.rows import rows_of
    from credo.studio.session import Session
    from credo.studio.sessions import beginning

    rows = None if data is None else rows_of(data, net)
    session = Session(beginning(net, rows, ""), f"{len(net.names)} variables")
    script = built("widget.js")

    class NetworkWidget(anywidget.AnyWidget):
        # marimo makes one module of equal scripts, and each page has a network of its own
        _esm = f"// {secrets.token_hex(4)}\n{script}"

    made = NetworkWidget()
    made.on_msg(lambda of, content, buffers: of.send(_answered(session, content)))
    return made


def _answered(session: Any, content: Any) -> dict[str, Any]:
    """The answer to one message, under the number it came with."""
    asked = content if isinstance(content, dict) else {}
    try:
        answer = session.dispatch(str(asked.get("name")), asked.get("request"))
    except CredoError as error:
        return {"id": asked.get("id"), "error": " ".join(str(error).split())}
    return {"id": asked.get("id"), "answer": json.loads(json.dumps(answer, allow_nan=False))}


def shown_as_widgets(shell: Any) -> None:
    """From now on a network at the end of a cell is its widget (`%load_ext credo`)."""
    from credo.model.networks.network import Network

    def bundle(net: Network, include: Any = None, exclude: Any = None) -> Any:
        return widget(net)._repr_mimebundle_(include=include, exclude=exclude)

    shell.display_formatter.mimebundle_formatter.for_type(Network, bundle)
