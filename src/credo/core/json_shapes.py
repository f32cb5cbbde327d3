"""Shapes of JSON documents in a few lines of text, and the JSON Schema they stand for.

A file has a part for each shape, under its name in brackets. A line is a key (`?`: it may be
absent), its type and what it is; deeper lines are the keys of what it holds. `x[]` is a list of x,
`{x}` a mapping from text to x, `a|b` one of two types, and the name of a part what stands there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Json = dict[str, Any]
Line = tuple[int, str, str, str, str]  # how deep, key, "?" or "", type, what it is

_LINE = re.compile(r"^( *)(\S+?)(\??): (\S+) ?(.*)$", re.MULTILINE)
_KINDS = {
    "state": ["string", "number", "boolean"],
    "cell": ["string", "number", "boolean", "null"],
    "any": ["string", "number", "boolean", "null", "array", "object"],
}


def parts_of(path: Path) -> dict[str, str]:
    """The parts of a file by their names."""
    text = path.read_text(encoding="utf-8")
    return dict(re.findall(r"^\[(.+)\]\n((?:.+\n)*)", text, re.MULTILINE))


def shape(parts: Mapping[str, str], name: str) -> Json:
    """The JSON Schema of an object that is described in one of some parts.

    >>> found = shape({"point": "x: number\\nname?: string|null\\n"}, "point")
    >>> found["required"], found["properties"]["name"]["type"]
    (['x'], ['string', 'null'])
    """
    return _object(parts, _lines(parts[name]))


def _object(parts: Mapping[str, str], lines: list[Line]) -> Json:
    """An object with these keys."""
    properties: Json = {}
    required = []
    while lines:
        depth, key, may, kind, says = lines[0]
        end = next((i for i, line in enumerate(lines) if i and line[0] <= depth), len(lines))
        properties[key] = _type(parts, kind, lines[1:end]) | {"description": says}
        required += [] if may else [key]
        lines = lines[end:]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _type(parts: Mapping[str, str], kind: str, inside: list[Line]) -> Json:
    """A type in JSON Schema's words."""
    if kind.endswith("|null"):
        found = _type(parts, kind.removesuffix("|null"), inside)
        kinds = found["type"] if isinstance(found["type"], list) else [found["type"]]
        return {**found, "type": [*kinds, "null"]}
    if kind.endswith("[]"):
        other, bar, item = kind[:-2].rpartition("|")
        return {"type": [other, "array"] if bar else "array", "items": _type(parts, item, inside)}
    if kind.startswith("{"):
        return {"type": "object", "additionalProperties": _type(parts, kind[1:-1], inside)}
    if kind in parts:
        return shape(parts, kind)
    if inside:
        return _object(parts, inside)
    kinds = _KINDS.get(kind, kind.split("|"))
    return {"type": kinds[0] if len(kinds) == 1 else kinds}


def _lines(text: str) -> list[Line]:
    return [(len(m[1]), m[2], m[3], m[4], m[5]) for m in _LINE.finditer(text)]
