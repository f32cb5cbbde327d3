"""Pictures: well-formed SVG, nothing overlaps, DOT is quoted, plates hold their nodes."""

import random
import time
from itertools import combinations
from xml.etree import ElementTree

import pytest
from tests.svg_shapes import (
    SVG,
    assert_apart_and_downwards,
    assert_edges_meet_no_other_node,
    boxes,
    overlap,
)

from credo.core.drawing.svg import text_width
from credo.errors import InputError, UnknownNameError
from credo.model.graphs.dag import Dag


def random_dag(n, share, seed):
    rng = random.Random(seed)
    names = [f"{'node' * rng.randint(0, 3)}{i}" for i in range(n)]
    edges = [(a, b) for a, b in combinations(names, 2) if rng.random() < share]
    return Dag(edges, names)


@pytest.mark.parametrize("seed", range(30))
def test_no_boxes_overlap_and_children_are_below(seed):
    dag = random_dag(1 + seed * 2 // 3, [0.02, 0.08, 0.3][seed % 3], seed)
    svg = dag.svg(observed=dag.leaves)
    assert_apart_and_downwards(svg, dag)
    assert svg == dag.svg(observed=dag.leaves)  # the same picture every time


@pytest.mark.parametrize("seed", range(24))
def test_edges_meet_no_other_node(seed):
    dag = random_dag([12, 25, 40][seed % 3], [0.2, 0.08, 0.05][seed % 3], seed)
    assert_edges_meet_no_other_node(dag.svg(), dag)


def test_labels_fit_in_their_boxes_and_in_the_picture():
    dag = random_dag(40, 0.08, 5)
    root = ElementTree.fromstring(dag.svg(title="A long title for a picture"))
    width, height = float(root.get("width")), float(root.get("height"))
    dx, dy = (float(t) for t in root.find(f"{SVG}g").get("transform")[10:-1].split())
    for (x, y, w, h), name in zip(boxes(dag.svg(), ("node",)), dag.nodes, strict=True):
        assert text_width(name) + 20 <= w
        assert dx + x >= 0 and dx + x + w <= width and dy + y >= 0 and dy + y + h <= height


def test_any_text_can_be_a_name():
    names = ["<script>alert(1)</script>", "a & b", '"quoted"', "日本語", "tab\there", "\x00", "\ud800", "\ufffe", "x" * 200, "é\u0301"]  # fmt: skip
    dag = Dag([(names[0], n) for n in names[1:]])
    svg = dag.svg(observed=names[1], plates=[("<N>", names[1:3])], title="<&>")
    ElementTree.fromstring(svg.encode("utf-8"))
    assert "<script>" not in svg and "&lt;script&gt;" in svg
    assert dag._repr_html_().startswith("<svg")
    assert '"\\"quoted\\""' in dag.dot()


def test_observed_nodes_are_shaded_and_edges_have_their_width():
    dag = Dag.parse("[C][x|C][y|C]")
    svg = dag.svg(observed=["x", "y"], widths={("C", "x"): 4.5})
    assert svg.count('class="observed"') == 2 and svg.count("#d9d9d9") == 2
    assert 'stroke-width="4.5"' in svg
    dot = dag.dot(observed="x", widths={("C", "x"): 4.5}, plates=[("N", ["x", "y"])], title="t")
    assert '"C" -> "x" [penwidth=4.5];' in dot and '{ label="N";' in dot


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda d: d.svg(observed="z"), UnknownNameError, "Node 'z' is not in the graph"),
        (lambda d: d.svg(plates=[("N", ["z"])]), UnknownNameError, "Node 'z' is not in the graph"),
        (lambda d: d.svg(plates=[("N", [])]), InputError, "The plate 'N' has no nodes."),
        (lambda d: d.svg(plates=["N"]), InputError, "A plate must be a pair (label, nodes), got 'N'."),
        (lambda d: d.svg(widths={("B", "A"): 1}), UnknownNameError, "The edge B → A is not in the graph."),
        (lambda d: d.dot(widths={("A", "B"): float("nan")}), InputError, "must be above 0 and at most 100, got nan"),
        (lambda d: d.svg(widths={("A", "B"): "thick"}), InputError, "must be above 0 and at most 100, got 'thick'"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn(call, error, sentence):
    with pytest.raises(error) as raised:
        call(Dag.parse("[A][B|A]"))
    assert sentence in str(raised.value)


def test_plates_hold_their_nodes_and_no_others():
    lda = Dag([("α", "θ"), ("θ", "z"), ("z", "w"), ("β", "w"), ("η", "β")])
    plates = [("D", ["θ", "z", "w"]), ("N", ["z", "w"]), ("K", ["β"])]
    check_plates(lda, plates)
    gmm = Dag([("π", "z"), ("z", "x"), ("μ", "x"), ("Σ", "x"), ("m", "μ")])
    check_plates(gmm, [("N", ["z", "x"]), ("K", ["μ", "Σ"])])


@pytest.mark.parametrize("seed", range(30))
def test_random_plates(seed):
    rng = random.Random(seed)
    dag = random_dag(rng.randint(3, 14), 0.25, seed)
    left = list(dag.nodes)
    rng.shuffle(left)
    cut = rng.randint(2, len(left))
    outer, second = left[:cut], left[cut : cut + rng.randint(0, 4)]
    plates = [("outer", outer), ("inner", outer[: rng.randint(1, cut - 1)])]
    check_plates(dag, plates + ([("second", second)] if second else []))


def check_plates(dag, plates):
    svg = dag.svg(plates=plates)
    nodes = dict(zip(dag.nodes, boxes(svg, ("node",)), strict=True))
    assert not any(overlap(a, b) for a, b in combinations(nodes.values(), 2))
    frames = boxes(svg, ("plate",))
    held = [inside for _, inside in sorted(plates, key=lambda p: -len(p[1]))]
    for frame, inside in zip(frames, held, strict=True):
        for name, (x, y, w, h) in nodes.items():
            if name in inside:
                assert frame[0] < x and x + w < frame[0] + frame[2]
                assert frame[1] < y and y + h < frame[1] + frame[3]
            else:
                assert not overlap(frame, (x, y, w, h)), name


def test_overlapping_plates_are_drawn():
    svg = Dag.parse("[u][i][x|u:i]").svg(plates=[("U", ["u", "x"]), ("I", ["i", "x"])])
    assert len(boxes(svg, ("plate",))) == 2


def test_many_leaves_of_one_parent_are_dealt_over_rows():
    dag = Dag([("Class", f"feature{i}") for i in range(30)])
    svg = dag.svg()
    assert len({y for _, y, _, _ in boxes(svg, ("node",))}) == 3
    assert float(ElementTree.fromstring(svg).get("width")) < 2000


def test_five_hundred_nodes_take_less_than_two_seconds():
    rng = random.Random(0)
    dag = Dag([(f"v{i}", f"v{j}") for j in range(1, 500) for i in rng.sample(range(j), min(j, 2))])
    start = time.process_time()
    found = boxes(dag.svg(), ("node",))
    assert time.process_time() - start < 2
    assert len(found) == 500


def test_text_for_a_terminal_and_the_empty_graph():
    assert Dag.parse("[A][B|A][C|A:B]").ascii() == "A\n  B ← A\n    C ← A, B"
    empty = Dag([])
    ElementTree.fromstring(empty.svg())
    assert empty.ascii() == "" and empty.dot() == "digraph {\n}"


def test_clusters_are_nested_as_plates_are():
    dot = Dag.parse("[C][x|C]").dot(plates=[("D", ["x"]), ("N", ["C", "x"])])
    outer = next(line for line in dot.split("\n") if "cluster_0" in line)
    assert 'label="N"' in outer and outer.endswith('labelloc=b; "x"; } }')
