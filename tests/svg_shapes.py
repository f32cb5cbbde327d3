"""What stands in an SVG picture: boxes of nodes, points along edges, and whether they meet."""

import re
from itertools import combinations, pairwise
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def boxes(svg, kinds=("node", "observed", "factor")):
    """Left, top, width and height of the box of each group of some kinds."""
    root = ElementTree.fromstring(svg)
    rects = [g.find(f"{SVG}rect") for g in root.iter(f"{SVG}g") if g.get("class") in kinds]
    return [tuple(float(r.get(k)) for k in ("x", "y", "width", "height")) for r in rects]


def overlap(a, b):
    return a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]


def points(d):
    """Points along a path of straight lines and cubic curves."""
    at, out = None, []
    for letter, rest in re.findall(r"([MLC])([^MLC]*)", d):
        ends = [tuple(map(float, p.split(","))) for p in rest.split()]
        for t in (i / 40 for i in range(41) if letter != "M"):
            level = [at, *ends]
            while len(level) > 1:
                level = [
                    (p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])) for p, q in pairwise(level)
                ]
            out += level
        at = ends[-1]
    return out


def assert_apart_and_downwards(svg, dag):
    """No two boxes overlap, and children stand below their parents."""
    found = boxes(svg)
    assert len(found) == len(dag)
    assert not any(overlap(a, b) for a, b in combinations(found, 2))
    at = dict(zip(dag.nodes, found, strict=True))
    for a, b in dag.edges:
        assert at[a][1] + at[a][3] < at[b][1]


def assert_edges_meet_no_other_node(svg, dag):
    """Edges are followed point by point; none enters a node that is not one of its ends."""
    groups = [g for g in ElementTree.fromstring(svg).iter(f"{SVG}g") if g.get("class") == "edge"]
    assert len(groups) == len(dag.edges)
    at = dict(zip(dag.nodes, boxes(svg), strict=True))
    for edge, group in zip(dag.edges, groups, strict=True):
        for x, y in points(group.find(f"{SVG}path").get("d")):
            for name, (left, top, w, h) in at.items():
                if name not in edge:
                    assert not (left < x < left + w and top < y < top + h), (edge, name)
