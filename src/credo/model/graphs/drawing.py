"""Pictures of a DAG: SVG, DOT and text, each made from its nodes and edges alone.

`credo.core.drawing` draws and knows names and pairs only; here the names are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from credo.core.drawing.dot import graph_dot
from credo.core.drawing.svg import graph_svg
from credo.core.errors import InputError, UnknownNameError
from credo.model.graphs.refusals import arrow, checked_edge
from credo.model.graphs.relations import Edge, Names, Relations

__all__ = ["Drawing"]

Plates = Iterable[tuple[str, Names]]


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Drawing(Relations):
    """The relations of a graph with the ways to look at them; `Dag` adds the rest."""

    def svg(
        self,
        *,
        observed: Names = (),
        plates: Plates = (),
        widths: Mapping[Edge, float] | None = None,
        title: str = "",
    ) -> str:
        """The graph as SVG text, parents above children; needs no other program.

        `observed` nodes are shaded. A plate is (label, nodes): a box around what is repeated.
        `widths` sets the width of edges in pixels; others are 1.2 wide.

        >>> from credo.model.graphs.dag import Dag
        >>> text = Dag.parse("[C][x|C]").svg(observed="x", plates=[("N", ["x"])])
        >>> text[:4], text.count("<path")
        ('<svg', 1)
        """
        return self._drawn(graph_svg, observed, plates, widths, title)

    def dot(
        self,
        *,
        observed: Names = (),
        plates: Plates = (),
        widths: Mapping[Edge, float] | None = None,
        title: str = "",
    ) -> str:
        """The graph in the DOT language, for those who have graphviz.

        >>> from credo.model.graphs.dag import Dag
        >>> print(Dag.parse("[A][B|A]").dot(observed=["B"]))
        digraph {
          "A";
          "B" [style=filled, fillcolor="#d9d9d9"];
          "A" -> "B";
        }
        """
        return self._drawn(graph_dot, observed, plates, widths, title)

    def ascii(self) -> str:
        """The graph as lines for a terminal: a node for a line, deeper ones further in.

        >>> from credo.model.graphs.dag import Dag
        >>> print(Dag.parse("[A][B][C|A:B][D|C]").ascii())
        A
        B
          C ← A, B
            D ← C
        """
        depth = [0] * len(self)
        for v in self._order:
            depth[v] = max((depth[p] + 1 for p in self._parents[v]), default=0)
        rank = {v: i for i, v in enumerate(self._order)}
        lines = []
        for v in sorted(range(len(self)), key=lambda v: (depth[v], rank[v])):
            parents = ", ".join(self._named(self._parents[v]))
            lines.append("  " * depth[v] + self.nodes[v] + (f" ← {parents}" if parents else ""))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self.svg()

    # --- what may be drawn --------------------------------------------------------------

    def _drawn(
        self,
        draw: Callable[..., str],
        observed: Names,
        plates: Plates,
        widths: Mapping[Edge, float] | None,
        title: str,
    ) -> str:
        return draw(
            self.nodes,
            self.edges,
            observed=self._named(self._all_at(observed)),
            plates=self._plates(plates),
            widths=self._widths(widths),
            title=title,
        )

    def _plates(self, plates: Plates) -> list[tuple[str, tuple[str, ...]]]:
        out = []
        for plate in plates:
            if isinstance(plate, str) or not isinstance(plate, Sequence) or len(plate) != 2:
                raise InputError(f"A plate must be a pair (label, nodes), got {plate!r}.")
            inside = self._named(sorted(self._all_at(plate[1])))
            if not inside:
                raise InputError(f"The plate {plate[0]!r} has no nodes.")
            out.append((str(plate[0]), inside))
        return out

    def _widths(self, widths: Mapping[Edge, float] | None) -> dict[Edge, float]:
        known = set(self.edges)
        for edge, width in (widths or {}).items():
            a, b = checked_edge(edge)
            self._at(a), self._at(b)
            if edge not in known:
                raise UnknownNameError(f"The edge {arrow(edge)} is not in the graph.")
            if not _is_width(width):
                raise InputError(
                    f"The width of {arrow(edge)} must be above 0 and at most 100, got {width!r}."
                )
        return dict(widths or {})


def _is_width(width: Any) -> bool:
    return isinstance(width, Real) and 0 < float(width) <= 100
