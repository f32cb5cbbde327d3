"""JSON read strictly: no NaN or infinity, no key twice, no deep nesting, no recursion error."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from credo.core.errors import CredoError
from credo.formats.reading import Reading

_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}]', re.S)


def loads(text: str, reading: Reading, line: int | None = None) -> Any:
    """The value of a JSON text; every refusal names the file (and the line, if there is one)."""
    depth = 0
    for match in _BRACKETS.finditer(text):
        mark = match[0]
        if mark in "[{":
            depth += 1
            if depth > reading.limits.nesting:
                raise reading.too_large(line, "The JSON is nested too deeply", "nesting")
        elif mark in "]}":
            depth -= 1

    def no_constant(word: str) -> Any:
        raise reading.error(line, f"The JSON holds {word}, which is not a number.")

    def finite(word: str) -> float:
        number = float(word)
        return number if math.isfinite(number) else no_constant(word)

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(found)
        if len(out) < len(found):
            seen: set[str] = set()
            twice = next(k for k, _ in found if k in seen or seen.add(k))  # type: ignore[func-returns-value]
            raise reading.error(line, f"The JSON has the key {twice[:40]!r} twice.")
        return out

    try:
        return json.loads(
            text, parse_constant=no_constant, parse_float=finite, object_pairs_hook=pairs
        )
    except (ValueError, RecursionError) as error:
        if isinstance(error, CredoError):
            raise
        raise reading.error(line, f"The JSON cannot be read: {error}.") from None
