"""The schemas of `--json`: what each command prints for machines.

Every document begins with `"credo": {"schema": "credo.ask", "version": 1}`. A key that is there
keeps its name and meaning within a version; new keys may come. docs/json.md is made from this, and
the tests hold the commands to it.

They stand in `json_schemas.txt`, a part for each command and for what several share. A line is a
key (`?`: it may be absent), its type and what it is; deeper lines are the keys of what it holds.
`x[]` is a list of x, `{x}` a mapping from text to x.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from credo.cli.options import JSON_VERSION

__all__ = ["SCHEMAS", "schema_of"]

Json = dict[str, Any]
Line = tuple[int, str, str, str, str]  # how deep, key, "?" or "", type, what it is

_LINE = re.compile(r"^( *)(\S+?)(\??): (\S+) ?(.*)$", re.MULTILINE)
_KINDS = {"state": ["string", "number", "boolean"], "cell": ["string", "number", "boolean", "null"]}
_TABLES = dict(
    re.findall(
        r"^\[(.+)\]\n((?:.+\n)+)",
        Path(__file__).with_suffix(".txt").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
)


def _object(lines: list[Line]) -> Json:
    """An object with these keys."""
    properties: Json = {}
    required = []
    while lines:
        depth, key, may, kind, says = lines[0]
        end = next((i for i, line in enumerate(lines) if i and line[0] <= depth), len(lines))
        properties[key] = _type(kind, lines[1:end]) | {"description": says}
        required += [] if may else [key]
        lines = lines[end:]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _type(kind: str, inside: list[Line]) -> Json:
    """A type in JSON Schema's words."""
    if kind.endswith("[]"):
        other, bar, item = kind[:-2].rpartition("|")
        return {"type": [other, "array"] if bar else "array", "items": _type(item, inside)}
    if kind.startswith("{"):
        return {"type": "object", "additionalProperties": _type(kind[1:-1], inside)}
    if kind in _TABLES:
        return _object(_lines(_TABLES[kind]))
    if inside:
        return _object(inside)
    kinds = _KINDS.get(kind, kind.split("|"))
    return {"type": kinds[0] if len(kinds) == 1 else kinds}


def _lines(text: str) -> list[Line]:
    return [(len(m[1]), m[2], m[3], m[4], m[5]) for m in _LINE.finditer(text)]


def schema_of(command: str) -> Json:
    """The JSON Schema of what a command prints with --json.

    >>> schema_of("ask")["properties"]["credo"]["properties"]["schema"]
    {'const': 'credo.ask'}
    """
    own = {"schema": {"const": f"credo.{command}"}, "version": {"const": JSON_VERSION}}
    says = "which schema this is, and its version"
    head: Json = {
        "credo": {
            "type": "object", "properties": own, "required": list(own), "description": says,
        },
        "version": {"const": JSON_VERSION, "description": "the same number"},
    }  # fmt: skip
    out = _object(_lines(_TABLES[f"credo {command}"]))
    out["properties"] = head | out["properties"]
    out["required"] = [*head, *out["required"]]
    title = f"credo {command}"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **out}


SCHEMAS: Mapping[str, Json] = MappingProxyType(
    {n.removeprefix("credo "): schema_of(n.removeprefix("credo ")) for n in _TABLES if " " in n}
)
"""The schema of every command by its name."""
