"""The picture of a network: beliefs in its nodes, evidence shaded, parts, strengths, both ways."""

import random
import re
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.svg_shapes import (
    SVG,
    assert_apart_and_downwards,
    assert_edges_meet_no_other_node,
    boxes,
    overlap,
)

import credo as cr
from credo.core.drawing.svg import text_width
from credo.errors import InputError, LimitError, UnknownNameError
from credo.plot.networks.scene import scene
from credo.plot.networks.view import information, view


@pytest.fixture
def asia():
    return cr.Network(
        "[smoke][lung|smoke][bronc|smoke][dysp|lung:bronc]",
        {
            "smoke": 0.5,
            "lung": {False: 0.01, True: 0.1},
            "bronc": {False: 0.3, True: 0.6},
            "dysp": [[[0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.1, 0.9]]],
        },
        states={"dysp": [False, True]},
    )


def random_network(n, seed):
    rng, noise = random.Random(seed), np.random.default_rng(seed)
    names = [f"{'long' * rng.randint(0, 5)}{i}" for i in range(n)]
    edges = [(a, b) for a, b in combinations(names, 2) if rng.random() < 2.2 / n]
    dag = cr.Dag(edges, names)
    states = {
        v: [f"{'state' * rng.randint(0, 4)}{k}" for k in range(rng.randint(2, 9))] for v in names
    }
    parents = {v: list(dag.parents(v))[:2] for v in names}
    dag = cr.Dag([(a, b) for b, mine in parents.items() for a in mine], names)
    tables = {
        v: noise.dirichlet(
            np.ones(len(states[v])), size=[len(states[p]) for p in dag.parents(v)] or None
        )
        for v in names
    }
    return cr.Network(dag, tables, states=states)


def test_bars_are_the_posterior_and_observed_nodes_are_shaded(asia):
    given = {"dysp": True}
    svg = cr.plot.network_svg(asia, given=given, title="Asia")
    root = ElementTree.fromstring(svg)
    groups = {g.get("data-name"): g for g in root.iter(f"{SVG}g") if g.get("data-name")}
    assert groups["dysp"].get("class") == "observed" and groups["lung"].get("class") == "node"
    expected = asia.marginals(given=given)
    for name in ("smoke", "lung", "bronc"):
        rects = groups[name].findall(f"{SVG}rect")
        track = [float(r.get("width")) for r in rects if r.get("class") == "track"]
        bar = [float(r.get("width")) for r in rects if r.get("class") == "bar"]
        assert np.allclose(np.divide(bar, track), expected[name].p, atol=2e-3)
    bars = [r for r in groups["dysp"].findall(f"{SVG}rect") if r.get("class") == "bar"]
    assert [float(r.get("width")) for r in bars] == [0.0, 54.0]


@pytest.mark.parametrize("seed", range(12))
def test_nothing_overlaps_and_texts_fit(seed):
    net = random_network([3, 12, 30, 55][seed % 4], seed)
    svg = cr.plot.network_svg(net, given={net.names[0]: net.variables[0].states[0]})
    assert_apart_and_downwards(svg, net.dag)
    drawn = scene(net)
    for node in drawn.nodes:
        assert text_width(node.label, drawn.font) <= node.box.width
        for line in node.lines:
            assert (
                text_width(line.text, 11.5) + (102 if line.share is not None else 0)
                <= node.box.width
            )
        assert sum(x.share for x in node.lines) == pytest.approx(1)
        assert (
            node.box.x - node.box.width / 2 >= 0 and node.box.x + node.box.width / 2 <= drawn.width
        )
        assert node.box.y + node.box.height / 2 <= drawn.height
    assert svg == cr.plot.network_svg(net, given={net.names[0]: net.variables[0].states[0]})


@pytest.mark.parametrize("seed", range(8))
def test_edges_meet_no_other_node_whatever_the_heights(seed):
    net = random_network([12, 25, 40][seed % 3], seed)
    assert_edges_meet_no_other_node(cr.plot.network_svg(net), net.dag)


def test_a_part_is_the_markov_blanket(asia):
    net = random_network(40, 3)
    for name in net.names[:10]:
        part = view(net, name)
        assert set(part.nodes) == {name, *net.dag.markov_blanket(name)}
        assert set(part.edges) == {e for e in net.dag.edges if set(e) <= set(part.nodes)}
        near = {v: {*net.dag.parents(v), *net.dag.children(v)} for v in part.nodes}
        assert part.hidden == {
            v: len(n - set(part.nodes)) for v, n in near.items() if n - set(part.nodes)
        }
    wider = view(net, net.names[0], 2)
    blanket = {net.names[0], *net.dag.markov_blanket(net.names[0])}
    assert set(wider.nodes) == blanket | {w for v in blanket for w in net.dag.markov_blanket(v)}
    dashed = cr.plot.network_svg(asia, around="smoke")
    assert dashed.count("stroke-dasharray") == 2  # lung and bronc have a child that is not drawn
    assert dashed.count('stroke-width="2.6"') == 1


def test_strengths_are_mutual_information(asia):
    bits = information(asia, asia.dag.edges)
    for (a, b), found in bits.items():
        joint = asia.p([a, b]).p
        apart = np.outer(joint.sum(1), joint.sum(0))
        assert found == pytest.approx(float((joint * np.log2(joint / apart)).sum()), abs=1e-12)
    svg = cr.plot.network_svg(asia, strengths="information")
    strong = max(bits, key=bits.get)
    assert f"{strong[0]} → {strong[1]}: {bits[strong]:.3g} bits" in svg
    widths = [float(w) for w in re.findall(r'<path [^>]*stroke-width="([\d.]+)"', svg)]
    order = np.argsort([bits[e] for e in asia.dag.edges])
    assert max(widths) == 6 and np.argmax(widths) == order[-1] and np.argmin(widths) == order[0]
    x = cr.fit("[x][y|x]", {"x": [0.0, 1, 2, 3, 4, 5], "y": [0.1, 0.9, 2.2, 2.8, 4.1, 5.2]})
    rho2 = np.corrcoef([0.0, 1, 2, 3, 4, 5], [0.1, 0.9, 2.2, 2.8, 4.1, 5.2])[0, 1] ** 2
    assert information(x, x.dag.edges)["x", "y"] == pytest.approx(-0.5 * np.log2(1 - rho2))
    rows = asia.sample(200, rng=0)
    strengths = cr.edge_strengths(rows, "bic", samples=5)
    assert cr.plot.network_svg(asia, strengths=strengths).count('class="edge"') == 4


def test_large_networks_have_small_nodes_and_no_bars():
    net = random_network(70, 1)
    assert 'class="bar"' not in cr.plot.network_svg(net)
    assert 'class="bar"' in cr.plot.network_svg(net, bars=True)
    dag = cr.Dag([(f"n{i}", f"n{i + 7}") for i in range(493)], nodes=[f"n{i}" for i in range(500)])
    found = boxes(cr.plot.network_svg(dag))
    assert len(found) == 500 and max(h for *_, h in found) == 16
    assert not any(overlap(a, b) for a, b in combinations(found, 2))


def test_other_models_are_drawn_too(asia):
    grid = cr.ising_grid(3)
    svg = cr.plot.network_svg(grid, given={"r1c1": 1})
    assert svg.count('class="edge"') == 12 and "<polygon" not in svg
    assert svg.count('class="observed"') == 1
    factors = cr.plot.network_svg(asia.to_factor_graph())
    assert factors.count('class="factor"') == 4
    assert cr.plot.network_svg(asia.dag, given=["lung"]).count('class="observed"') == 1
    assert cr.plot.network_svg(grid.graph).count('class="node"') == 9
    line = cr.fit("[x][y|x]", {"x": [0.0, 1, 2, 3], "y": [0.1, 0.9, 2.2, 2.8]})
    text = cr.plot.network_svg(line, given={"x": 2.5})
    assert "= 2.5" in text and "mean" in text and "sd" in text


def test_odd_names_are_escaped(asia):
    name = '<script>alert("x")</script>'
    net = cr.Network(
        cr.Dag([(name, "b")]),
        {
            name: {"<i>": 0.3, "&": 0.7},
            "b": {"<i>": {"0": 1.0, "1": 0.0}, "&": {"0": 0.5, "1": 0.5}},
        },
    )
    svg = cr.plot.network_svg(net, strengths="information", title="<&>")
    ElementTree.fromstring(svg)
    assert "<script>" not in svg and "&lt;i&gt;" in svg


def test_matplotlib_draws_the_same_on_axes_of_any_size(asia):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ax = cr.plot.network(asia, given={"dysp": True}, strengths="information", title="costs $5 $6")
    count = [p.get_gid() for p in ax.patches]
    assert count.count("observed") == 1 and count.count("node") == 3 and count.count("edge") == 4
    assert count.count("bar") == 8
    figure, both = pyplot.subplots(1, 2, figsize=(3, 2))
    assert cr.plot.network(asia, both[0]) is both[0]
    assert cr.plot.network(asia, both[1], around="lung") is both[1]
    figure.canvas.draw()
    limits = ax.get_xlim(), ax.get_ylim()
    for patch in ax.patches:
        box = patch.get_path().get_extents(patch.get_patch_transform())
        assert limits[0][0] - 1 <= box.x0 and box.x1 <= limits[0][1] + 1
        assert limits[1][1] - 1 <= box.y0 and box.y1 <= limits[1][0] + 1


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda n: cr.plot.network_svg(3), InputError, "A network or a graph is needed, got 3"),
        (lambda n: cr.plot.network_svg(n, around="lungs"), UnknownNameError, "Did you mean 'lung'"),
        (
            lambda n: cr.plot.network_svg(n, around="lung", radius=0),
            InputError,
            "whole number from 1",
        ),
        (lambda n: cr.plot.network_svg(n.dag, bars=True), InputError, "Bars need a network"),
        (
            lambda n: cr.plot.network_svg(n, strengths="much"),
            InputError,
            "'information' or numbers",
        ),
        (
            lambda n: cr.plot.network_svg(n, strengths={("smoke", "lung"): -1}),
            InputError,
            "a number from 0",
        ),
        (lambda n: cr.plot.network_svg(n, strengths=4), InputError, "mapping from edge to number"),
        (
            lambda n: cr.plot.network_svg(n.dag, strengths="information"),
            InputError,
            "need a network with its tables",
        ),
        (lambda n: cr.plot.network_svg(n, given={"lungs": True}), UnknownNameError, "lungs"),
    ],
)
def test_refusals_say_what_to_do(asia, call, error, sentence):
    with pytest.raises(error, match=sentence):
        call(asia)


def test_too_many_edges_are_not_measured():
    names = [f"n{i}" for i in range(500)]
    dag = cr.Dag([("n0", n) for n in names[1:]], nodes=names)
    tables = {n: [0.5, 0.5] if n == "n0" else [[0.5, 0.5], [0.5, 0.5]] for n in names}
    net = cr.Network(dag, tables, states={n: [0, 1] for n in names})
    with pytest.raises(LimitError, match="mutual information of 499 edges"):
        cr.plot.network_svg(net, strengths="information")


def test_a_state_and_a_number_have_a_strength():
    """I(sex; height) for two Gaussians far apart is the entropy of sex; mixed edges were left out."""
    sex, x = cr.Variable("sex", "discrete", ("f", "m")), cr.Variable("x", "continuous")
    y = cr.Variable("y", "continuous")
    net = cr.Network("[sex][x|sex][y|x]", [
        cr.Cpt(sex, (), [0.5, 0.5]),
        cr.LinearGaussian(x, (sex,), [0.0, 50.0], [], [1.0, 1.0]),
        cr.LinearGaussian(y, (x,), 0.0, [0.0], 1.0),
    ])  # fmt: skip
    found = information(net, net.dag.edges)
    assert found["sex", "x"] == pytest.approx(1.0, abs=1e-6)
    assert found["x", "y"] == pytest.approx(0.0, abs=1e-6)
    near = cr.Network("[sex][x|sex]", [
        cr.Cpt(sex, (), [0.5, 0.5]), cr.LinearGaussian(x, (sex,), [0.0, 1.0], [], [1.0, 1.0]),
    ])  # fmt: skip
    drawn = near.p("x").sample(200_000, rng=0)
    f, m = np.exp(-0.5 * drawn**2), np.exp(-0.5 * (drawn - 1) ** 2)
    shares = np.array([f, m]) / (f + m)
    bits = 1 + (shares * np.log2(shares)).sum(axis=0).mean()
    assert information(near, near.dag.edges)["sex", "x"] == pytest.approx(bits, abs=0.002)


def test_arrows_that_rows_cannot_decide_have_open_heads():
    rows = _collider()
    net = cr.learn(rows, "bic")
    assert net.dag.cpdag() == cr.Dag.parse("[a][b][c|a:b][d][e|d]").cpdag()
    svg = cr.plot.network_svg(net)
    assert svg.count('class="edge reversible"') == 1 and svg.count('class="edge"') == 2
    assert "open heads" in svg
    told = cr.plot.network_svg(cr.learn(rows, "bic", required=[("d", "e")]))
    given = cr.plot.network_svg(cr.fit(net.dag, rows))  # a graph that was given is taken as such
    for whole in (told, given):
        assert whole.count("reversible") == 0 and "open heads" not in whole
    assert "open heads" not in cr.plot.network_svg(net, around="c")
    heads = [p for p in cr.plot.network(net).patches if type(p).__name__ == "Polygon"]
    assert sum(p.get_facecolor() == (1, 1, 1, 1) for p in heads) == 1


def _collider():
    rng = np.random.default_rng(0)
    a, b, d = rng.integers(0, 2, (3, 2000))
    c = np.where(rng.random(2000) < 0.9, a & b, 1 - (a & b))
    e = np.where(rng.random(2000) < 0.9, d, 1 - d)
    return {n: v.astype(str) for n, v in zip("abcde", (a, b, c, d, e), strict=True)}
