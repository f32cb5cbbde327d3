"""The requests of Share: the model in every format, the session as a file."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from credo.formats import FORMATS, dumps
from credo.studio.journal import lines_of
from credo.studio.state import Json, State, Verb

if TYPE_CHECKING:
    from credo.studio.session import Session


def _model(session: Session, at: State, /, format: str) -> Json:
    """The model as the text of a format; that of .credo is bytes, so it comes in base 64."""
    said = dumps(at.net, format)
    if isinstance(said, bytes):
        return {"text": None, "base64": b64encode(said).decode()}
    return {"text": said, "base64": None}


def _formats(session: Session, at: State, /) -> Json:
    return {"formats": list(FORMATS)}


def _saved(session: Session, at: State, /) -> Json:
    """The session as a file: its states, without the rows."""
    return {"text": "\n".join(lines_of(session)) + "\n"}


VERBS: dict[str, Verb] = {
    "model": Verb(_model, {"format": (str,)}),
    "formats": Verb(_formats, {}),
    "session": Verb(_saved, {}),
}
"""The requests by their names."""
