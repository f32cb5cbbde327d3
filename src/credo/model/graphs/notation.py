"""The one-line notation of a graph, as in bnlearn: `[A][B|A][C|A:B]`.

    graph = { "[" node [ "|" parent { ":" parent } ] "]" }

A name that holds one of `[ ] | : " \\`, or begins or ends with a space, stands in double
quotes, with `\\"` and `\\\\` inside. Parents may come before or after their own brackets.

    causal graph = graph { node ( "<->" | "↔" ) node [ "," | ";" ] }

An arc joins two nodes that have a hidden common cause.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from credo.core.errors import InputError

__all__ = ["quoted", "read", "read_arcs", "written"]

_SPECIAL = frozenset('[]|:"\\')


def quoted(name: str) -> str:
    """A name as it stands in the notation.

    >>> quoted("age"), quoted("a:b")
    ('age', '"a:b"')
    """
    if name == name.strip() and name.isprintable() and not _SPECIAL.intersection(name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def written(nodes: Sequence[str], parents: Sequence[Sequence[str]]) -> str:
    """The notation of nodes and their parents.

    >>> written(["A", "B"], [[], ["A"]])
    '[A][B|A]'
    """
    return "".join(
        f"[{quoted(n)}{'|' if p else ''}{':'.join(quoted(x) for x in p)}]"
        for n, p in zip(nodes, parents, strict=True)
    )


def read(text: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The nodes and edges of a notation; a refusal points at the character.

    >>> read("[A][B|A]")
    (['A', 'B'], [('A', 'B')])
    >>> read("[A][B|A")
    Traceback (most recent call last):
    credo.errors.InputError: The graph cannot be read at character 8: expected ':' or ']', \
got the end.
      [A][B|A
             ^
    """
    if not isinstance(text, str):
        raise InputError(f"The notation of a graph must be a text, got {text!r}.")
    return _Reader(text).graph()


def read_arcs(text: str) -> tuple[list[str], list[tuple[str, str]], list[tuple[str, str]]]:
    """The nodes, edges and arcs of a causal graph.

    >>> read_arcs("[A][B|A] A<->B")
    (['A', 'B'], [('A', 'B')], [('A', 'B')])
    """
    if not isinstance(text, str):
        raise InputError(f"The notation of a graph must be a text, got {text!r}.")
    reader = _Reader(text)
    nodes, edges = reader.graph(arcs=True)
    return nodes, edges, reader.arcs(nodes)


_ARROW = r"\s*(?P<a>[^\[\]|:>-]+?)\s*(?:-+>|→)\s*(?P<b>[^\[\]|:>,;-]+?)\s*(?:[,;>-].*)?"


def _plain(name: str) -> str:
    return name.strip().strip("'\"")


class _Reader:
    """Reads from left to right; `at` is the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def graph(self, arcs: bool = False) -> tuple[list[str], list[tuple[str, str]]]:
        where: dict[str, int] = {}
        families: list[tuple[str, list[tuple[str, int]]]] = []
        self.skip()
        if not self.peek("[") and (arrow := re.fullmatch(_ARROW, self.text)) is not None:
            a, b = (_plain(arrow[k]) for k in ("a", "b"))
            said = f"[{a}][{b}|{a}]"
            raise self.wrong(f"an arrow is written with brackets, as in {said!r}", self.at)
        while self.at < len(self.text) and (self.peek("[") or not (arcs and where)):
            if where and not self.peek("[") and re.search("<->|↔", self.text[self.at :]):
                raise self.wrong("an arc of a hidden common cause is for cr.CausalGraph", self.at)
            self.take("[")
            start = self.at
            node = self.name()
            if node in where:
                raise self.wrong(f"the node {node!r} has a second pair of brackets", start)
            where[node] = start
            families.append((node, self.parents(node)))
            self.take("]")
            self.skip()
        edges = []
        for node, parents in families:
            for parent, start in parents:
                if parent not in where:
                    parts = [p.strip() for p in re.split(r"[,;&]", parent)]
                    if len(parts) > 1 and all(p in where for p in parts):
                        said = f"[{node}|{':'.join(parts)}]"
                        raise self.wrong(f"parents are separated by ':', as in {said}", start)
                    raise self.wrong(f"the parent {parent!r} has no brackets of its own", start)
                edges.append((parent, node))
        return list(where), edges

    def parents(self, node: str) -> list[tuple[str, int]]:
        out: list[tuple[str, int]] = []
        if not self.peek("|"):
            if not self.peek("]"):
                raise self.expected("'|' or ']'")
            return out
        self.at += 1
        while True:
            start = self.at
            parent = self.name()
            if parent == node:
                raise self.wrong(f"{node!r} cannot be its own parent", start)
            if any(parent == p for p, _ in out):
                raise self.wrong(f"the parent {parent!r} of {node!r} is given twice", start)
            out.append((parent, start))
            if self.peek("]"):
                return out
            if not self.peek(":"):
                raise self.expected("':' or ']'")
            self.at += 1

    def arcs(self, nodes: Sequence[str]) -> list[tuple[str, str]]:
        """The arcs after the brackets; names may hold blanks, so known ones are looked for."""
        ranked = sorted(nodes, key=len, reverse=True)
        out = []
        while self.at < len(self.text):
            a = self.known(ranked)
            mark = next((m for m in ("<->", "↔") if self.peek(m)), None)
            if mark is None:
                raise self.expected("'<->'")
            self.at += len(mark)
            out.append((a, self.known(ranked)))
            if self.peek(",") or self.peek(";"):
                self.at += 1
                self.skip()
        return out

    def known(self, ranked: Sequence[str]) -> str:
        self.skip()
        start = self.at
        name = self.in_quotes() if self.peek('"') else next(filter(self.peek, ranked), "")
        if name not in ranked:
            raise self.wrong("expected a node that has brackets of its own", start)
        if self.at == start:
            self.at += len(name)
        self.skip()
        return name

    def name(self) -> str:
        self.skip()
        if self.peek('"'):
            return self.in_quotes()
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in _SPECIAL:
            self.at += 1
        name = self.text[start : self.at].strip()
        if not name:
            raise self.expected("a name")
        return name

    def in_quotes(self) -> str:
        opened = self.at
        self.at += 1
        out: list[str] = []
        while not self.peek('"'):
            if self.peek("\\"):
                self.at += 1
            if self.at >= len(self.text):
                raise self.wrong("this quotation mark is never closed", opened)
            out.append(self.text[self.at])
            self.at += 1
        self.at += 1
        self.skip()
        if not out:
            raise self.wrong("a name cannot be empty", opened)
        return "".join(out)

    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def peek(self, mark: str) -> bool:
        return self.text.startswith(mark, self.at)

    def take(self, mark: str) -> None:
        if not self.peek(mark):
            raise self.expected(repr(mark))
        self.at += 1

    def expected(self, what: str) -> InputError:
        got = repr(self.text[self.at]) if self.at < len(self.text) else "the end"
        return self.wrong(f"expected {what}, got {got}", self.at)

    def wrong(self, what: str, at: int) -> InputError:
        while at < len(self.text) and self.text[at].isspace():
            at += 1
        begin = max(0, at - 40)
        line = "".join(c if c.isprintable() else " " for c in self.text[begin : at + 30])
        mark = " " * (at - begin) + "^"
        return InputError(
            f"The graph cannot be read at character {at + 1}: {what}.", hint=f"\n  {line}\n  {mark}"
        )
