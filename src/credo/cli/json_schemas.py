"""The schemas of `--json`: what each command prints for machines.

Every document begins with `"credo": {"schema": "credo.ask", "version": 1}`. A key that is there
keeps its name and meaning within a version; new keys may come. docs/json.md is made from this, and
the tests hold the commands to it.

They stand in `json_schemas.txt`, a part for each command and for what several share, as
`core/json_shapes.py` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from credo.cli.options import JSON_VERSION
from credo.core.json_shapes import Json, parts_of, shape

__all__ = ["SCHEMAS", "schema_of"]

_TABLES = parts_of(Path(__file__).with_suffix(".txt"))


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
    out = shape(_TABLES, f"credo {command}")
    out["properties"] = head | out["properties"]
    out["required"] = [*head, *out["required"]]
    title = f"credo {command}"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **out}


SCHEMAS: Mapping[str, Json] = MappingProxyType(
    {n.removeprefix("credo "): schema_of(n.removeprefix("credo ")) for n in _TABLES if " " in n}
)
"""The schema of every command by its name."""
