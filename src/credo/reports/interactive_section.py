"""The part of a report that answers evidence by itself: the network, and the script that sums."""

from __future__ import annotations

import json
from importlib.resources import files

from credo.core.errors import InputError, MissingPackageError
from credo.model.networks.network import Network
from credo.reports.markup import Html, join, note
from credo.reports.offline import offline
from credo.reports.page import Section
from credo.reports.subject import Subject

__all__ = ["built", "interactive_section"]


def built(name: str) -> str:
    """A script that `make studio` builds from `web/`, ready to stand in a page.

    >>> built("nothing.js")
    Traceback (most recent call last):
    ...
    credo.errors.MissingPackageError: nothing.js is not built. Run make studio; it needs npm.
    """
    file = files("credo").joinpath("studio", "static", name)
    if not file.is_file():
        raise MissingPackageError(f"{name} is not built.", hint="Run make studio; it needs npm.")
    return file.read_text(encoding="utf-8").replace("</script", "<\\/script")


def interactive_section(subject: Subject) -> Section:
    """The network to click on; refused where a page could not sum over it."""
    if not isinstance(subject.model, Network) or subject.decided is not None:
        raise InputError("Only the report on a Bayesian network can be interactive.")
    data = json.dumps(offline(subject.model, "Ask"), ensure_ascii=False, allow_nan=False)
    body = [
        note("Click a state: every probability moves. Ctrl: one of several; Alt: not this one; "
             "Shift: set from outside. The page computes by itself, exactly; credible intervals "
             "need credo."),
        Html('<div id="credo-ask"></div><noscript>This part needs JavaScript.</noscript>'),
        Html('<script type="application/json" id="credo-network">'
             + data.replace("<", "\\u003c") + "</script>"),
    ]  # fmt: skip
    return Section("ask", "Ask it yourself", join(body))
