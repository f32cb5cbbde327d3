"""The schemas of the studio's protocol: what the page may send, and what comes back.

A request is described by what checks it, an answer by its part of `protocol.txt`. The tests hold
every answer to it.
"""

from __future__ import annotations

from pathlib import Path

from credo.core.json_shapes import Json, parts_of, shape
from credo.studio.session import VERBS

_ANSWERS = parts_of(Path(__file__).with_suffix(".txt"))
_NOW = ("open", "beliefs")
"""The questions that are answered with all that is so."""
_TYPES = {
    int: "integer", float: "number", str: "string", bool: "boolean", list: "array",
    dict: "object", type(None): "null",
}  # fmt: skip


def request_of(name: str) -> Json:
    """The JSON Schema of a request.

    >>> request_of("clear")["properties"]["name"]
    {'type': ['string', 'null']}
    """
    kinds = {"seq": (int,), **VERBS[name].kinds}
    properties = {key: {"type": [_TYPES[k] for k in wanted]} for key, wanted in kinds.items()}
    return {
        "title": name,
        "type": "object",
        "properties": properties,
        "required": list(kinds),
        "additionalProperties": False,
    }


def answer_of(name: str) -> Json:
    """The JSON Schema of the answer to a request: of every change what is so after it.

    >>> sorted(answer_of("script")["properties"])
    ['script', 'seq', 'version']
    """
    changes = VERBS[name].changes
    parts = ["changed", "now"] if changes else ["asked", name]
    parts += ["now"] if name in _NOW else []
    shapes = [shape(_ANSWERS, part) for part in parts]
    properties = {key: kind for one in shapes for key, kind in one["properties"].items()}
    required = list(dict.fromkeys(key for one in shapes for key in one["required"]))
    return {**shapes[0], "title": name, "properties": properties, "required": required}
