"""Pag: what rows can say of causes when some causes may be hidden: a class of graphs as one.

    a → b   a causes b, and b does not cause a       a ↔ b   neither causes the other
    a o→ b  b does not cause a; a may cause b        a o–o b nothing is known but that they are tied

Two nodes are joined when no set of the others makes them independent. A head or a tail stands where
every graph of the class has it, a circle where they differ (Richardson & Spirtes 2002; Zhang 2008).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from credo.core.drawing.marked import marked_svg
from credo.core.errors import InputError, unknown_name
from credo.model.causal.texts import dagitty_pag, read_pag
from credo.model.graphs.refusals import checked_nodes
from credo.model.methods.causal import PagMethods
from credo.model.values.value import Told

__all__ = ["Pag"]

_LEFT = {"o": "o", ">": "←", "-": "–"}
_RIGHT = {"o": "o", ">": "→", "-": "–"}
_SHORT = {("-", ">"): "→", (">", "-"): "←", (">", ">"): "↔", ("-", "-"): "—", ("o", "o"): "o–o"}
Edge = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pag(PagMethods, Told):
    """A partial ancestral graph; edges are (a, b, mark at a, mark at b), a mark "o", ">" or "-".

    `reasons` says of a mark, by (other end, its end), which rule put it there; `separators` which
    set made a pair that is not joined independent.

    >>> pag = Pag(("A", "B", "C"), (("A", "B", "o", ">"), ("C", "B", "o", ">")))
    >>> print(pag)
    A o→ B, C o→ B
    >>> pag.causes("B", "A"), pag.causes("A", "B")
    (False, None)
    """

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]
    reasons: Mapping[tuple[str, str], str] = field(default_factory=dict)
    separators: Mapping[frozenset[str], tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        nodes = checked_nodes(self.nodes)
        for edge in self.edges:
            if len(edge) != 4 or not {edge[2], edge[3]} <= {"o", ">", "-"}:
                raise InputError(
                    f"An edge is (a, b, mark at a, mark at b) with marks o, > or -, got {edge!r}."
                )
            for name in edge[:2]:
                if name not in nodes:
                    raise unknown_name("Node", name, nodes, "in the graph")
        for name in ("reasons", "separators"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> Any:
        return Pag, (
            self.nodes, self.edges, dict(self.reasons), dict(self.separators), self.notes
        )  # fmt: skip

    @classmethod
    def parse(cls, text: str) -> Pag:
        """A class from DAGitty's text, in which @ is a circle.

        >>> print(Pag.parse("pag { A @-> B <-> C }"))
        A o→ B, B ↔ C
        """
        nodes, edges = read_pag(text)
        if len({frozenset(e[:2]) for e in edges}) < len(edges):
            raise InputError("A class of graphs has one edge between two nodes at most.")
        return cls(tuple(nodes), tuple(edges))

    def _marks(self) -> dict[tuple[str, str], str]:
        """The mark at the second end of each edge, both ways."""
        out = {}
        for a, b, at_a, at_b in self.edges:
            out[a, b], out[b, a] = at_b, at_a
        return out

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pag):
            return NotImplemented
        return set(self.nodes) == set(other.nodes) and self._marks() == other._marks()

    def __hash__(self) -> int:
        return hash((frozenset(self.nodes), frozenset(self._marks().items())))

    def _known(self, a: str, b: str) -> None:
        for name in (a, b):
            if name not in self.nodes:
                raise unknown_name("Node", name, self.nodes, "in the graph")
        if a == b:
            raise InputError(f"Two nodes are needed, got {a!r} twice.")

    def joined(self, a: str, b: str) -> bool:
        """Whether an edge joins two nodes.

        >>> Pag(("A", "B"), (("A", "B", "o", "o"),)).joined("B", "A")
        True
        """
        return (a, b) in self._marks()

    def causes(self, a: str, b: str) -> bool | None:
        """Whether a causes b in every graph of the class (True), in none (False), or in some.

        >>> Pag(("A", "B"), (("A", "B", "-", ">"),)).causes("A", "B")
        True
        """
        self._known(a, b)
        marks = self._marks()
        sure = [(u, v) for (u, v), m in marks.items() if m == ">" and marks[v, u] == "-"]
        if _reaches(sure, a, b):
            return True
        may = [(u, v) for (u, v), m in marks.items() if m != "-" and marks[v, u] != ">"]
        return None if _reaches(may, a, b) else False

    def why(self, a: str, b: str) -> str:
        """Why two nodes are joined as they are, or not.

        >>> Pag(("A", "B"), (), separators={frozenset("AB"): ()}).why("A", "B")
        'A and B are independent'
        """
        marks = self._marks()
        if (a, b) not in marks:
            given = self.separators.get(frozenset((a, b)))
            told = f" given {', '.join(given)}" if given else ""
            return f"{a} and {b} are independent{told}"
        lines = [f"{_text(a, b, marks[b, a], marks[a, b])}: no set makes them independent"]
        for u, v in ((a, b), (b, a)):
            if (u, v) in self.reasons:
                lines.append(f"  at {v}: {self.reasons[u, v]}")
        return "\n".join(lines)

    def svg(self, *, title: str = "") -> str:
        """The graph as SVG text, circles where the class differs.

        >>> Pag(("A", "B"), (("A", "B", "o", ">"),)).svg().count("<circle")
        1
        """
        return marked_svg(self.nodes, self.edges, title)

    def dot(self) -> str:
        """The graph in the DOT language.

        >>> print(Pag(("A", "B"), (("A", "B", "o", ">"),)).dot())
        digraph {
          "A";
          "B";
          "A" -> "B" [dir=both, arrowtail=odot, arrowhead=normal];
        }
        """
        shape = {"o": "odot", ">": "normal", "-": "none"}
        quoted = {n: '"' + n.replace("\\", "\\\\").replace('"', '\\"') + '"' for n in self.nodes}
        lines = [f"{quoted[n]};" for n in self.nodes]
        for a, b, at_a, at_b in self.edges:
            style = f"dir=both, arrowtail={shape[at_a]}, arrowhead={shape[at_b]}"
            lines.append(f"{quoted[a]} -> {quoted[b]} [{style}];")
        return "\n".join(["digraph {", *(f"  {line}" for line in lines), "}"])

    def dagitty(self) -> str:
        """The class as DAGitty's text, which `Pag.parse` reads.

        >>> print(Pag(("A", "B"), (("A", "B", "o", ">"),)).dagitty())
        pag {
          A
          B
          A @-> B
        }
        """
        return dagitty_pag(self.nodes, self.edges)

    def __str__(self) -> str:
        ends = {n for e in self.edges for n in e[:2]}
        alone = [n for n in self.nodes if n not in ends]
        return "\n".join([", ".join([*(_text(*e) for e in self.edges), *alone]), *self.notes])

    def __repr__(self) -> str:
        return f"Pag({len(self.nodes)} nodes, {len(self.edges)} edges)"

    def _repr_html_(self) -> str:
        return self.svg()


def _text(a: str, b: str, at_a: str, at_b: str) -> str:
    sign = _SHORT.get((at_a, at_b)) or f"{_LEFT[at_a]}{_RIGHT[at_b]}"
    return f"{a} {sign} {b}"


def _reaches(steps: Iterable[tuple[str, str]], a: str, b: str) -> bool:
    onwards: dict[str, list[str]] = {}
    for u, v in steps:
        onwards.setdefault(u, []).append(v)
    seen, line = {a}, [a]
    while line:
        for v in onwards.get(line.pop(), ()):
            if v == b:
                return True
            if v not in seen:
                seen.add(v)
                line.append(v)
    return False
