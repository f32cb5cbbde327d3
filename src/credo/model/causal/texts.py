"""Causal graphs as text: the notation `[A][B|A] A<->B`, DAGitty's and DOT.

    dag { U [latent]  U -> {A B}  A -> B  A <-> C }             DAGitty
    digraph { A -> B;  A -> C [dir=both, style=dashed] }        DOT

    pag { A @-> B  B <-> C }                                    DAGitty, a class of graphs

They share one grammar: chains of names or sets of names, joined by arrows, with attributes in
brackets. A node with the attribute `latent` (or `observed=no`) is hidden; `@` is a circle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product

from credo.core.errors import InputError
from credo.model.graphs import notation

__all__ = ["PAG", "dagitty", "dagitty_pag", "read", "read_pag"]

Edge = tuple[str, str]
Parts = tuple[list[str], list[Edge], list[Edge], list[str]]
Marked = tuple[str, str, str, str]  # two nodes, and the mark at each

PAG = re.compile(r"\s*pag\b[^{]*\{", re.I)
"""How the text of a class of graphs begins."""

_HEAD = re.compile(r"\s*(?:strict\s+)?(?P<kind>dag|digraph|graph|pdag|mag|pag)\b[^{]*\{", re.I)
_TOKEN = re.compile(
    r"""\s+|//[^\n]*|/\*.*?\*/|(?P<quoted>"(?:[^"\\]|\\.)*")"""
    r"""|(?P<join><->|@->|<-@|@-@|@--|--@|->|<-|--|↔|→|←)|(?P<mark>[\[\]{};,=])"""
    r"""|(?P<word>(?:(?!<->|@->|<-@|@-@|@--|--@|->|<-|--)[^\s\[\]{};,="↔→←])+)""",
    re.S,
)
_ENDS = {
    "->": "->", "→": "->", "<-": ">-", "←": ">-", "<->": ">>", "↔": ">>", "--": "--",
    "@->": "o>", "<-@": ">o", "@-@": "oo", "@--": "o-", "--@": "-o",
}  # fmt: skip
_JOINS = {ends: join for join, ends in _ENDS.items() if join.isascii()}
_SETTINGS = ("graph", "node", "edge")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


def read(text: str) -> Parts:
    """Nodes, edges, arcs and hidden nodes of a text; a refusal points at the character.

    >>> read("dag { U [latent]; U -> A -> B }")
    (['U', 'A', 'B'], [('U', 'A'), ('A', 'B')], [], ['U'])
    """
    head = _HEAD.match(text)
    if head is None:
        return *notation.read_arcs(text), []
    if head["kind"].lower() not in ("dag", "digraph"):
        raise InputError(
            f"A graph of directed edges is needed, 'dag {{…}}' or 'digraph {{…}}', got "
            f"{head['kind']!r}.",
            hint="A class of graphs is read by cr.Pag.parse." if PAG.match(text) else "",
        )
    reader = _Reader(text, head.end())
    reader.read()
    return list(reader.nodes), list(reader.edges), list(reader.arcs), list(reader.latent)


def read_pag(text: str) -> tuple[list[str], list[Marked]]:
    """Nodes and edges of a class of graphs in DAGitty's text.

    >>> read_pag("pag { A @-> B <-> C }")
    (['A', 'B', 'C'], [('A', 'B', 'o', '>'), ('B', 'C', '>', '>')])
    """
    head = PAG.match(text)
    if head is None:
        raise InputError(f"A class of graphs is a text such as 'pag {{ A @-> B }}', got {text!r}.")
    reader = _Reader(text, head.end(), circles=True)
    reader.read()
    return list(reader.nodes), list(reader.marked)


def dagitty(nodes: Sequence[str], edges: Sequence[Edge], arcs: Sequence[Edge]) -> str:
    """DAGitty's text.

    >>> print(dagitty(["a b", "c"], [("a b", "c")], []))
    dag {
      "a b"
      c
      "a b" -> c
    }
    """
    marked = [*((*e, "-", ">") for e in edges), *((*e, ">", ">") for e in arcs)]
    return _text("dag", nodes, marked)


def dagitty_pag(nodes: Sequence[str], edges: Sequence[Marked]) -> str:
    """DAGitty's text of a class of graphs.

    >>> print(dagitty_pag(["A", "B"], [("A", "B", "o", ">")]))
    pag {
      A
      B
      A @-> B
    }
    """
    return _text("pag", nodes, edges)


def _text(kind: str, nodes: Sequence[str], edges: Sequence[Marked]) -> str:
    lines = [_name(n) for n in nodes]
    lines += [f"{_name(a)} {_JOINS[at_a + at_b]} {_name(b)}" for a, b, at_a, at_b in edges]
    return "\n".join([f"{kind} {{", *(f"  {line}" for line in lines), "}"])


def _name(name: str) -> str:
    escaped = re.sub(r'(["\\])', r"\\\1", name)
    return name if _PLAIN.fullmatch(name) and name not in _SETTINGS else f'"{escaped}"'


def _unescaped(found: re.Match[str]) -> str:
    return {"n": "\n", "r": "\r"}.get(found[1], found[1])


class _Reader:
    """Tokens (kind, text, place) and the graph they spell, or with circles the class of graphs."""

    def __init__(self, text: str, at: int, circles: bool = False) -> None:
        self.text, self.circles = text, circles
        self.tokens = [*self._cut(at), ("end", "", len(text))]
        self.at = 0
        self.nodes: dict[str, None] = {}
        self.edges: dict[Edge, None] = {}
        self.arcs: dict[Edge, None] = {}
        self.marked: dict[Marked, None] = {}
        self.latent: dict[str, None] = {}

    def _cut(self, at: int) -> Iterator[tuple[str, str, int]]:
        while at < len(self.text):
            found = _TOKEN.match(self.text, at)
            if found is None:
                raise self.wrong("this cannot be read", at)
            kind = found.lastgroup
            if kind is not None:
                yield kind, found[kind], at
            at = found.end()

    def wrong(self, what: str, at: int) -> InputError:
        line = self.text[:at].count("\n") + 1
        shown = self.text[at : at + 30].split("\n")[0]
        return InputError(
            f"The graph cannot be read at line {line}, character {at + 1}: {what}.",
            hint=f"There stands {shown!r}." if shown else "There it ends.",
        )

    def next(self) -> tuple[str, str, int]:
        return self.tokens[self.at]

    def has(self, *marks: str) -> bool:
        kind, text, _ = self.next()
        if kind in ("mark", "join") and text in marks:
            self.at += 1
            return True
        return False

    def read(self) -> None:
        while not self.has("}"):
            if self.next()[0] == "end":
                raise self.wrong("expected '}'", self.next()[2])
            if not self.has(";", ","):
                self.statement()
        if self.next()[0] != "end":
            raise self.wrong("expected the end", self.next()[2])

    def statement(self) -> None:
        kind, text, _ = self.next()
        after = self.tokens[self.at + 1][1]
        if kind == "word" and (after == "=" or (text.lower() in _SETTINGS and after == "[")):
            self.at += 1
            if self.has("="):
                self.value()
            else:
                self.attributes()
            return
        groups, joins = [self.group()], []
        while self.next()[0] == "join":
            place = self.next()[2]
            joins.append(self.next()[1])
            if not self.circles and ("@" in joins[-1] or joins[-1] == "--"):
                raise self.wrong("an edge has a direction: '->' or '<->'", place)
            self.at += 1
            groups.append(self.group())
        found = self.attributes()
        if not joins:
            if {"latent", "unobserved", "observed=no"} & found:
                self.latent |= dict.fromkeys(groups[0])
            return
        for left, join, right in zip(groups, joins, groups[1:], strict=False):
            ends = ">>" if "dir=both" in found else _ENDS[join]
            if {"arrowtail=odot", "arrowhead=odot"} & found:
                raise self.wrong("circles are those of a class, written 'pag { A @-> B }'", place)
            for a, b in product(left, right):
                self.marked.setdefault((a, b, ends[0], ends[1]))
                edge = (b, a) if ends == ">-" else (a, b)
                (self.arcs if ends == ">>" else self.edges).setdefault(edge)

    def group(self) -> list[str]:
        """A name, or a set of names in braces."""
        if not self.has("{"):
            return [self.name()]
        out: list[str] = []
        while not self.has("}"):
            if not self.has(";", ","):
                out.append(self.name())
        return out

    def name(self) -> str:
        kind, text, place = self.next()
        if kind not in ("word", "quoted"):
            raise self.wrong("expected the name of a node", place)
        self.at += 1
        name = re.sub(r"\\(.)", _unescaped, text[1:-1]) if kind == "quoted" else text
        self.nodes.setdefault(name)
        return name

    def value(self) -> str:
        """What stands after '=', in small letters."""
        kind, text, place = self.next()
        if kind not in ("word", "quoted"):
            raise self.wrong("expected a value", place)
        self.at += 1
        return text.strip('"').lower()

    def attributes(self) -> set[str]:
        """The attributes in brackets, each as `key` or `key=value`, in small letters."""
        found: set[str] = set()
        if not self.has("["):
            return found
        while not self.has("]"):
            kind, text, place = self.next()
            if kind == "end":
                raise self.wrong("expected ']'", place)
            self.at += 1
            if kind == "mark":
                continue
            key = text.strip('"').lower()
            if self.has("="):
                key += "=" + self.value()
            found.add(key)
        return found
