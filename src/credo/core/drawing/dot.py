"""A graph in the DOT language, which graphviz and many other programs read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def _quoted(text: str) -> str:
    """A DOT string: quotation marks and backslashes escaped, so that nothing is an escape.

    >>> _quoted('a "b"')
    '"a \\\\"b\\\\""'
    """
    line = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + line.replace("\n", "\\n").replace("\r", "\\r").replace("\0", "�") + '"'


def _clusters(plates: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Plates as clusters, each inside the smallest one that holds it."""
    ranked = sorted(plates, key=lambda p: -len(p[1]))
    sets = [set(inside) for _, inside in ranked]
    out: list[str] = []
    held: list[list[str]] = [[] for _ in ranked]
    for i in range(len(ranked) - 1, -1, -1):
        label, inside = ranked[i]
        body = " ".join([*(f"{_quoted(v)};" for v in inside), *held[i]])
        text = (
            f'subgraph "cluster_{i}" {{ label={_quoted(label)}; labeljust=r; labelloc=b; {body} }}'
        )
        around = [j for j in range(i) if sets[i] <= sets[j]]
        (held[around[-1]] if around else out).insert(0, text)
    return out


def graph_dot(
    nodes: Sequence[str],
    edges: Sequence[tuple[str, str]],
    *,
    observed: Sequence[str] = (),
    plates: Sequence[tuple[str, Sequence[str]]] = (),
    widths: Mapping[tuple[str, str], float] | None = None,
    title: str = "",
    directed: bool = True,
    squares: Sequence[str] = (),
    decisions: Sequence[str] = (),
    utilities: Sequence[str] = (),
    arcs: Sequence[tuple[str, str]] = (),
) -> str:
    """The DOT text of nodes and (parent, child) pairs; a plate becomes a cluster.

    Without directions the pairs are lines; `squares` are the factors of a factor graph. Decisions
    are rectangles, utilities diamonds; `arcs` are hidden common causes.

    >>> print(graph_dot(["C", "x"], [("C", "x")], plates=[("N", ["x"])], title="a model"))
    digraph {
      label="a model";
      labelloc=t;
      "C";
      "x";
      subgraph "cluster_0" { label="N"; labeljust=r; labelloc=b; "x"; }
      "C" -> "x";
    }
    """
    lines = [f"label={_quoted(title)};", "labelloc=t;"] if title else []
    shaded, square = set(observed), set(squares)
    for node in nodes:
        style = ' [style=filled, fillcolor="#d9d9d9"]' if node in shaded else ""
        if node in square:
            style = ' [shape=box, style=filled, fillcolor="#444444", fontcolor=white]'
        if node in decisions or node in utilities:
            style = f" [shape={'box' if node in decisions else 'diamond'}]"
        lines.append(f"{_quoted(node)}{style};")
    lines += _clusters(plates)
    for edge in edges:
        width = (widths or {}).get(edge)
        style = f" [penwidth={width:g}]" if width is not None else ""
        join = "->" if directed else "--"
        lines.append(f"{_quoted(edge[0])} {join} {_quoted(edge[1])}{style};")
    for a, b in arcs:
        lines.append(f"{_quoted(a)} -> {_quoted(b)} [dir=both, style=dashed, constraint=false];")
    return "\n".join(
        ["digraph {" if directed else "graph {", *(f"  {line}" for line in lines), "}"]
    )
