"""The notation of a decision network: `?` marks a decision, `$` a utility.

    [Oil][Test|Oil][Drill?|Test][Profit$|Drill:Oil]

The rest is that of a graph (`model/graphs/notation.py`): an arrow into a decision says what is
known when it is taken.
"""

from __future__ import annotations

import re

from credo.model.graphs import notation

__all__ = ["read", "written"]

_MARKED = re.compile(r"(\[\s*)(\"(?:[^\"\\]|\\.)*\"|[^\[\]|:\"\\]*?)(\s*)([?$])(?=\s*[|\]])")


def read(text: str) -> tuple[list[str], list[tuple[str, str]], list[str], list[str]]:
    """Nodes, edges, decisions and utilities of a notation.

    >>> read("[A][D?|A][U$|A:D]")
    (['A', 'D', 'U'], [('A', 'D'), ('A', 'U'), ('D', 'U')], ['D'], ['U'])
    """
    marks: dict[str, list[str]] = {"?": [], "$": []}

    def unmarked(found: re.Match[str]) -> str:
        name = found[2].strip()
        marks[found[4]].append(
            re.sub(r"\\(.)", r"\1", name[1:-1]) if name.startswith('"') else name
        )
        return f"{found[1]}{found[2]}{found[3]} "

    plain = _MARKED.sub(unmarked, text) if isinstance(text, str) else text
    nodes, edges = notation.read(plain)
    return nodes, edges, marks["?"], marks["$"]


def written(nodes: dict[str, tuple[str, ...]], decisions: set[str], utilities: set[str]) -> str:
    """The notation of nodes with their parents.

    >>> written({"A": (), "D": ("A",), "U": ("A", "D")}, {"D"}, {"U"})
    '[A][D?|A][U$|A:D]'
    """
    out = ""
    for name, parents in nodes.items():
        mark = "?" if name in decisions else "$" if name in utilities else ""
        given = "|" + ":".join(map(notation.quoted, parents)) if parents else ""
        out += f"[{notation.quoted(name)}{mark}{given}]"
    return out
