"""Averages over graphs against every graph, scored one by one."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from tests.structure_data import discrete, random_table

import credo as cr
from credo.core.errors import CredoError, InputError, LimitError


def every_dag(names):
    """All DAGs over some names, from all sets of edges."""
    pairs = list(combinations(names, 2))
    for way in product((0, 1, 2), repeat=len(pairs)):
        edges = [p if w == 1 else p[::-1] for p, w in zip(pairs, way, strict=True) if w]
        try:
            yield cr.Dag(edges, names)
        except InputError:
            continue


def weighed(table, score="bdeu", prior=lambda dag: 0.0, **options):
    """Every graph with its probability."""
    dags = list(every_dag(table.schema.names))
    logs = np.array([float(cr.score(d, table, score, **options)) + prior(d) for d in dags])
    w = np.exp(logs - logs.max())
    return dags, w / w.sum(), logs


def table_of(n, seed=0, rows=40):
    rng = np.random.default_rng(seed)
    arities = [2, 3, 2, 2, 2][:n]
    return discrete(random_table(rng, rows, arities), arities)


@pytest.fixture(scope="module")
def four():
    table = table_of(4)
    dags, w, _ = weighed(table)
    return table, dags, w, cr.average(table)


def test_there_are_25_and_543_graphs(four):
    assert len(list(every_dag(["a", "b", "c"]))) == 25
    assert len(four[1]) == 543


def test_edges_paths_and_features_are_those_of_all_graphs(four):
    _, dags, w, post = four
    names = post.names
    for a in names:
        for b in names:
            if a != b:
                wanted = sum(p for d, p in zip(dags, w, strict=True) if (a, b) in d.edges)
                assert post.edge(a, b) == pytest.approx(wanted, abs=1e-10)
                assert post.edge(a, b).error == 0
                wanted = sum(p for d, p in zip(dags, w, strict=True) if b in d.descendants(a))
                assert post.path(a, b) == pytest.approx(wanted, abs=1e-10)
    by_parents: dict[frozenset[str], float] = {}
    by_blanket: dict[frozenset[str], float] = {}
    for d, p in zip(dags, w, strict=True):
        own, blanket = frozenset(d.parents("v1")), frozenset(d.markov_blanket("v1"))
        by_parents[own] = by_parents.get(own, 0) + p
        by_blanket[blanket] = by_blanket.get(blanket, 0) + p
    for found, wanted in ((post.parents("v1"), by_parents), (post.blanket("v1"), by_blanket)):
        for names_, p in found.items():
            assert p == pytest.approx(wanted[frozenset(names_)], abs=1e-10)
        assert sum(p for _, p in found.items()) == pytest.approx(1.0, abs=1e-5)
    size = sum(p * len(d.edges) for d, p in zip(dags, w, strict=True))
    assert post.probability(lambda d: len(d.edges)) == pytest.approx(size, abs=1e-10)
    assert post.best.dag == dags[int(np.argmax(w))] or post.best.dag.equivalent(
        dags[int(np.argmax(w))]
    )


def test_graphs_have_the_weights_of_their_scores(four):
    _, dags, w, post = four
    wanted = dict(zip(dags, w, strict=True))
    found = dict(post.graphs)
    assert len(found) == 543
    for dag, p in found.items():
        assert p == pytest.approx(wanted[dag], abs=1e-10)
    drawn = post.sample(4000, rng=0)
    top = max(found, key=found.__getitem__)
    share = sum(d == top for d in drawn) / len(drawn)
    assert share == pytest.approx(found[top], abs=4 * math.sqrt(0.25 / len(drawn)))


@pytest.mark.parametrize(
    ("prior", "log_prior"),
    [
        ("fair", lambda d: -sum(math.log(math.comb(2, len(d.parents(n)))) for n in d.nodes)),
        (0.2, lambda d: len(d.edges) * math.log(0.25)),
        ({("v0", "v2"): 0.9}, lambda d: math.log(9.0) * (("v0", "v2") in d.edges)),
    ],
)
def test_priors_of_graphs(prior, log_prior):
    table = table_of(3, seed=4)
    dags, w, _ = weighed(table, prior=log_prior)
    post = cr.average(table, prior=prior)
    for a, b in (("v0", "v1"), ("v2", "v0"), ("v0", "v2")):
        wanted = sum(p for d, p in zip(dags, w, strict=True) if (a, b) in d.edges)
        assert post.edge(a, b) == pytest.approx(wanted, abs=1e-10)


def test_the_prior_of_orders_counts_a_graph_once_for_each_order():
    from itertools import permutations

    table = table_of(3, seed=5)
    dags, _, logs = weighed(table)
    fits = []
    for d in dags:
        orders = permutations(d.nodes)
        fits.append(sum(all(o.index(a) < o.index(b) for a, b in d.edges) for o in orders))
    w = np.exp(logs - logs.max()) * fits
    w /= w.sum()
    post = cr.average(table, prior="order")
    for a, b in (("v0", "v1"), ("v2", "v0")):
        wanted = sum(p for d, p in zip(dags, w, strict=True) if (a, b) in d.edges)
        assert post.edge(a, b) == pytest.approx(wanted, abs=1e-10)
        assert post.path(a, b) == pytest.approx(
            sum(p for d, p in zip(dags, w, strict=True) if b in d.descendants(a)), abs=1e-10
        )
    assert any("favours" in n for n in post.record.notes)


@pytest.mark.parametrize("n", [2, 4, 5])
def test_families_are_summed_over_every_order(n):
    """Σ over orders of Π_j Σ over sets P before j of B_j(P), order by order."""
    from itertools import permutations

    from credo.train.averaging.exact import sums
    from credo.train.averaging.lists import weighed as lists_of

    found = lists_of(
        table_of(n, seed=9), "bdeu", 1.0, "order", {}, exact=True, threads=1, left=lambda: math.inf
    )
    lists = [found.lists.sets(c) for c in range(n)]
    total, by_family = 0.0, [np.zeros(len(scores)) for _, scores in lists]
    best = sum(scores[0] for _, scores in lists)
    for order in permutations(range(n)):
        before = {v: set(order[:i]) for i, v in enumerate(order)}
        weights = [
            np.array([math.exp(b - s[0]) * (set(p) <= before[c]) for p, b in zip(sets, s, strict=True)])
            for c, (sets, s) in enumerate(lists)
        ]  # fmt: skip
        whole = math.prod(w.sum() for w in weights)
        total += whole
        for c, w in enumerate(weights):
            by_family[c] += whole * w / w.sum()
    summed = sums(found, 1)
    assert summed.log_total == pytest.approx(best + math.log(total), abs=1e-10)
    assert summed.error < 1e-12
    for c in range(n):
        np.testing.assert_allclose(summed.families[c], by_family[c] / total, atol=1e-12)


def test_orders_are_drawn_as_they_are_summed():
    table = table_of(5, seed=6)
    wide = cr.read({**{n: table[n] for n in table.schema.names}, "w": table["v0"]})
    post = cr.average(wide, prior="order")
    assert not post.complete
    drawn = post.adjacency[post.draws.ravel()].mean(axis=0)
    error = np.sqrt(post.edge_p * (1 - post.edge_p) / post.draws.size) + 1e-3
    assert (np.abs(drawn - post.edge_p) < 4.5 * error).all()


def test_all_543_graphs_are_alike_where_all_scores_are():
    post = cr.average(table_of(4), lambda statistic: 0.0)
    np.testing.assert_allclose(post.weights, 1 / 543, rtol=1e-12)
    walked = cr.average(table_of(4), lambda statistic: 0.0, method="sampled", error=0.005)
    assert walked.edge("v0", "v1") == pytest.approx(post.edge("v0", "v1"), abs=0.02)


@pytest.mark.parametrize(("score", "options"), [("bdeu", {"ess": 2.0}), ("k2", {})])
def test_the_predictive_of_a_row_is_a_ratio_of_marginal_likelihoods(score, options):
    """P(x | rows) = Σ_G P(rows, x | G) P(G) / Σ_G P(rows | G) P(G)."""
    table = table_of(3, seed=7, rows=15)
    post = cr.average(table, score, **options)
    before = np.logaddexp.reduce(weighed(table, score, **options)[2])
    cells = {n: list(table[n]) for n in table.schema.names}
    schema = {v.name: list(v.states) for v in table.schema.variables}
    total = 0.0
    for x in product(*(v.states for v in table.schema.variables)):
        row = dict(zip(table.schema.names, x, strict=True))
        more = cr.read({n: [*cells[n], row[n]] for n in cells}, schema=schema)
        after = np.logaddexp.reduce(weighed(more, score, **options)[2])
        found = post.log_likelihood({n: [s] for n, s in row.items()})
        assert found == pytest.approx(after - before, abs=1e-12)
        assert post.p(dict(row.items())) == pytest.approx(math.exp(found), abs=1e-12)
        total += math.exp(found)
    assert total == pytest.approx(1.0, abs=1e-12)


def test_conditionals_are_those_of_the_averaged_joint(four):
    _, _, _, post = four
    joint = post.p(["v0", "v1", "v2"])
    given = post.p("v1", {"v0": 1, "v2": 0})
    wanted = joint.p[1, :, 0] / joint.p[1, :, 0].sum()
    np.testing.assert_allclose(given.p, wanted, atol=1e-12)
    rows = {"v0": [1], "v1": [None], "v2": [0], "v3": [None]}
    found = post.predict_proba(rows, "v1")
    np.testing.assert_allclose(found[0], wanted, atol=1e-12)
    whole = post.predict_proba({"v0": [1], "v2": [0], "v3": [1]}, "v1")
    np.testing.assert_allclose(whole[0], post.p("v1", {"v0": 1, "v2": 0, "v3": 1}).p, atol=1e-12)
    one = post.log_likelihood({"v0": [1], "v2": [0]})
    assert one == pytest.approx(math.log(joint.p[1, :, 0].sum()), abs=1e-12)


def test_an_effect_is_averaged_over_which_way_the_edge_points():
    table = table_of(2, seed=8)
    dags, w, _ = weighed(table)
    post = cr.average(table)
    wanted = 0.0
    for d, p in zip(dags, w, strict=True):
        net = cr.fit(d, table, prior=cr.BDeu(1))
        wanted += p * net.do({"v0": 1}).p("v1")[2]
    found = post.effect("v0", "v1")
    assert found[1][2] == pytest.approx(wanted, abs=1e-12)
    assert post.ask("P(v1=2 | do(v0=1))") == pytest.approx(wanted, abs=1e-12)
    assert post.do({"v0": 1}).edge("v1", "v0") == 0
    assert found.path == pytest.approx(float(post.edge("v0", "v1")), abs=1e-12)
    assert "changes nothing" in str(found)


def test_gaussian_tables_by_bge():
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    y = x + rng.normal(size=60)
    table = cr.read({"x": x, "y": y, "z": 0.3 * y + rng.normal(size=60)})
    dags, w, _ = weighed(table, "bge")
    post = cr.average(table)
    assert post.record.details["score"] == "bge"
    for a, b in (("x", "y"), ("z", "y"), ("x", "z")):
        wanted = sum(p for d, p in zip(dags, w, strict=True) if (a, b) in d.edges)
        assert post.edge(a, b) == pytest.approx(wanted, abs=1e-10)
    found = post.p("z", {"x": 1.0}, interval=0.95)
    assert found.mean_interval.lower < found.mean < found.mean_interval.upper
    assert "includes how sure the graph is" in str(found.notes)
    walked = cr.average(table, method="sampled")
    z = np.abs(walked.edge_p - post.edge_p) / np.maximum(walked.edge_error, 1e-9)
    assert z.max() < 4


def test_lines_have_the_prior_of_bge():
    """The marginal likelihood of a line under its prior is the family's BGe score."""
    from credo.train.parameters.lines import line_log_marginal

    rng = np.random.default_rng(1)
    x = rng.normal(size=30) * 3 + 2
    table = cr.read({"x": x, "y": x + rng.normal(size=30), "z": rng.normal(size=30)})
    post = cr.average(table, "bge")
    whole = cr.score("[x][y|x][z|x:y]", table, "bge")
    for family in post.families:
        parents = sorted(p.name for p in family.parents)
        if (family.name, parents) in (("y", ["x"]), ("x", []), ("z", ["x", "y"])):
            own = line_log_marginal(family.learned.observed, family.learned.prior)
            assert own == pytest.approx(whole[family.name, parents], abs=1e-9)


def test_mixed_tables_and_rules():
    rng = np.random.default_rng(2)
    k = rng.integers(0, 2, 80)
    table = cr.read({"k": [["a", "b"][i] for i in k], "x": k + rng.normal(size=80)})
    post = cr.average(table)
    assert post.edge("x", "k") == 0  # a state cannot hang on a number
    assert post.edge("k", "x") > 0.9
    table = table_of(4)
    post = cr.average(table, required=[("v0", "v1")], forbidden=[("v2", "v3")], max_parents=2)
    assert post.edge("v0", "v1") == pytest.approx(1.0)
    assert post.edge("v2", "v3") == 0 and post.edge("v1", "v0") == 0
    tiered = cr.average(table, tiers=[["v3"], ["v0", "v1", "v2"]], method="sampled")
    assert all(tiered.edge(n, "v3") == 0 for n in ("v0", "v1", "v2"))


def test_a_weight_of_two_is_two_rows():
    table = table_of(3)
    cells = {n: list(table[n]) for n in table.schema.names}
    twice = cr.read({n: c + c[:10] for n, c in cells.items()})
    weighted = cr.read(cells, weights=[2] * 10 + [1] * 30)
    a, b = cr.average(twice), cr.average(weighted)
    np.testing.assert_allclose(a.edge_p, b.edge_p, atol=1e-12)


def test_missing_cells_are_said():
    table = table_of(3)
    cells = {n: list(table[n]) for n in table.schema.names}
    cells["v1"][:8] = [None] * 8
    post = cr.average(cells)
    assert any("gaps" in n for n in post.record.notes)
    assert any("missing" in n for n in post.ask("P(v0=1)", interval=0.95).notes)


def test_other_scores_stand_in_for_a_marginal_likelihood_and_say_so():
    post = cr.average(table_of(3), "bic")
    assert any("stands in" in n for n in post.record.notes)


def test_chains_know_what_sums_know():
    rng = np.random.default_rng(3)
    table = discrete(random_table(rng, 100, [2, 3, 2, 2, 3, 2, 2]))
    exact = cr.average(table, method="exact")
    walked = cr.average(table, method="sampled", rng=1)
    assert walked.record.details["settled"]
    assert walked.record.details["worst_error"] <= 0.01
    z = np.abs(walked.edge_p - exact.edge_p) / np.maximum(walked.edge_error, 1e-9)
    assert z[~np.eye(7, dtype=bool)].max() < 4
    question = "P(v3=1 | v0=1)"
    assert walked.ask(question) == pytest.approx(float(exact.ask(question)), abs=0.02)
    assert any("leaves an error" in n for n in walked.ask(question).notes)
    again = cr.average(table, method="sampled", rng=1, threads=2)
    np.testing.assert_array_equal(again.edge_p, walked.edge_p)
    np.testing.assert_array_equal(again.members, walked.members)


def test_chains_that_disagree_are_tempered():
    """Columns that are functions of each other modulo 4: modes that single moves do not join."""
    rng = np.random.default_rng(1)
    u, v = rng.integers(0, 4, (2, 1000))
    w, q = (u + v) % 4, (u + 2 * v) % 4
    r = (w + q) % 4
    columns = {"u": u, "v": v, "w": w, "q": q, "r": r, "s": (r + u) % 4, "t": (q + v) % 4}
    table = cr.read({
        n: np.where(rng.random(1000) < 0.02, rng.integers(0, 4, 1000), x).tolist()
        for n, x in columns.items()
    })  # fmt: skip
    exact = cr.average(table, method="exact")
    post = cr.average(table, method="sampled", rng=0, error=0.015)
    assert post.record.details["temperatures"] == 10 and post.record.details["settled"]
    assert any("so each was tempered" in n for n in post.record.notes)
    z = np.abs(post.edge_p - exact.edge_p) / np.maximum(post.edge_error, 1e-9)
    assert z[~np.eye(7, dtype=bool)].max() < 4


def test_intervals_hold_the_graph_too():
    table = table_of(3, seed=11, rows=30)
    post = cr.average(table)
    net = post.best.with_record(None)
    wide = post.ask("P(v1=1 | v0=1)", interval=0.95)
    narrow = net.ask("P(v1=1 | v0=1)", interval=0.95)
    assert wide.interval.width > 0.8 * narrow.interval.width
    assert wide.draws == 1000
    rows = {"v0": [1, 0], "v2": [0, 1]}
    p, low, high = post.predict_proba(rows, "v1", interval=0.95, draws=4000)
    assert ((low < p) & (p < high)).all()
    one = post.p("v1", {"v0": 1, "v2": 0}, interval=0.95, draws=4000)
    np.testing.assert_allclose(low[0], one.interval.lower, atol=0.05)
    np.testing.assert_allclose(high[0], one.interval.upper, atol=0.05)


def test_a_saved_posterior_is_the_same(tmp_path, four):
    _, _, _, post = four
    post.save(tmp_path / "post.credo")
    again = cr.load(tmp_path / "post.credo")
    assert str(again) == str(post) and str(again.record) == str(post.record)
    np.testing.assert_array_equal(again.members, post.members)
    question = "P(v1=1 | v0=1)"
    assert str(again.ask(question, interval=0.9)) == str(post.ask(question, interval=0.9))
    assert str(again.parents("v1")) == str(post.parents("v1"))
    with pytest.raises(CredoError, match="no single network"):
        post.save(tmp_path / "post.bif")
    data = (tmp_path / "post.credo").read_bytes()
    (tmp_path / "bad.credo").write_bytes(data[:-3] + b"xyz")
    with pytest.raises(CredoError):
        cr.load(tmp_path / "bad.credo")


def test_what_cannot_be_is_refused_in_a_sentence(four):
    table, _, _, post = four
    for call, said in (
        (lambda: cr.average(table, prior="unifrom"), "uniform"),
        (lambda: cr.average(table, "bde"), "no prior network"),
        (lambda: cr.average(table, method="guess"), "method"),
        (lambda: cr.average(table, error=0), "error must lie"),
        (lambda: cr.average(table, chains=1), "chains must be"),
        (lambda: cr.average(table, seconds=-1), "seconds must be"),
        (lambda: cr.average(table, prior="order", method="sampled"), "exact sums"),
        (lambda: post.edge("v0", "v9"), "v9"),
        (lambda: post.edge("v0", "v0"), "twice"),
        (lambda: post.network(0.3), "between 0.5 and 1"),
        (lambda: post.ask("argmax P(v0)"), "argmax"),
        (lambda: post.probability(lambda d: "x"), "a number"),
        (lambda: post.predict_proba({"v0": [1]}, "nope"), "nope"),
    ):
        with pytest.raises(CredoError, match=said):
            call()
    wide = cr.read({f"c{i}": [0, 1] * 5 for i in range(23)})
    with pytest.raises(LimitError, match=r"all graphs of 23 variables would take .* GB and about"):
        cr.average(wide, method="exact")
    wider = cr.read({f"c{i}": [0, 1] * 5 for i in range(26)})
    with pytest.raises(LimitError, match=r"all orders of 26 variables would take 8 GB"):
        cr.average(wider, prior="order")
    with pytest.raises(LimitError, match="The time was over"):
        cr.average(wide, method="sampled", max_parents=4, seconds=1e-6)


def test_consensus_and_its_network(four):
    _, _, _, post = four
    dag = post.consensus(0.5)
    net = post.network(0.5)
    assert net.dag == dag
    assert net.cpt("v1").counts is not None
    assert {frozenset(e) for e in dag.edges} <= {
        frozenset((a, b)) for a in post.names for b in post.names
        if a != b and post.adjacent(a, b) >= 0.5
    }  # fmt: skip
    for threshold in (0.5, 0.6, 0.8, 0.95, 1.0):
        post.network(threshold)
    assert post.cpdag(0.5) == dag.cpdag()


def test_one_variable_and_one_row():
    post = cr.average({"a": [0, 1, 1]})
    assert len(post.weights) == 1 and not post.best.dag.edges
    assert "1 graph over 1 variable" in str(post)
    post = cr.average({"a": [0, 1], "b": [0, 1]}, method="sampled")
    assert 0 <= post.edge("a", "b") <= 1


def test_a_learned_network_says_how_probable_its_edges_are():
    table = table_of(4)
    net = cr.learn(table, edges=True)
    told = net.record.details["edge_probabilities"]
    post = cr.average(table)
    assert set(told) == set(net.dag.edges)
    for edge, p in told.items():
        assert p == pytest.approx(float(post.edge(*edge)), abs=1e-12)
    assert "edge_probabilities" not in cr.learn(table).record.details
    from credo.formats import dumps, loads

    again = loads(dumps(net, "credo"), "credo")
    assert again.record.details["edge_probabilities"] == told


def test_a_check_names_the_edges_that_are_not_settled():
    table = table_of(4)
    net = cr.learn(table)
    report = cr.check(net, table, sections=["graph"])
    post = cr.average(table)
    wanted = {(e.parent, e.child) for e in post.edges.rows if 0.2 <= e.p <= 0.8}
    assert {(e.parent, e.child) for e in report.graph.unsure} == wanted
    assert report.of("graph") and "0.2 and 0.8" in report.of("graph")[0].sentence
    assert "graph" not in cr.check(net, table, draws=20, edges=0, sections=["parameters"]).sections


def test_a_report_has_the_posterior_of_the_graph(tmp_path):
    table = table_of(3)
    cr.write_report(cr.learn(table), tmp_path / "r.html", data=table, checks=False)
    page = (tmp_path / "r.html").read_text()
    assert "How sure is the graph?" in page and "chosen" in page


def test_a_classifier_that_averages_graphs():
    from credo.estimators import NetworkClassifier

    table = cr.examples.play_tennis()
    clf = NetworkClassifier(structure="average").fit(table, "PlayTennis")
    assert clf.get_params()["structure"] == "average" and "method" not in clf.get_params()
    with pytest.warns(DeprecationWarning, match="method= of NetworkClassifier is now structure="):
        assert NetworkClassifier(method="aode").structure == "aode"
    post = cr.average(table, ess=1)
    rows = {n: list(table[n]) for n in table.schema.names if n != "PlayTennis"}
    found = clf.predict_proba(rows)
    np.testing.assert_allclose(found, post.predict_proba(rows, "PlayTennis"), atol=1e-12)
    names = list(table.schema.names)
    half = [table.take(slice(0, 7)), table.take(slice(7, 14))]
    parts = NetworkClassifier("average")
    for part in half:
        cells = [[part[n][i] for n in names[:-1]] for i in range(len(part))]
        parts.partial_fit(cells, list(part["PlayTennis"]), classes=["No", "Yes"])
    whole = [[table[n][i] for n in names[:-1]] for i in range(len(table))]
    np.testing.assert_allclose(parts.predict_proba(whole), found, atol=1e-12)
    with pytest.raises(AttributeError, match="average of networks"):
        _ = clf.network_
    assert "No against Yes" in str(clf.explain(dict.fromkeys(rows, None) | {"Outlook": "Sunny"}))


def test_all_29281_graphs_and_the_sums_agree():
    post = cr.average(table_of(5, seed=12))
    assert len(post.weights) == 29_281
    listed = np.tensordot(post.weights, post.adjacency.astype(float), axes=1)
    np.testing.assert_allclose(listed, post.edge_p, atol=1e-10)
    reached = np.tensordot(post.weights, post._reach.astype(float), axes=1)
    off = ~np.eye(5, dtype=bool)
    np.testing.assert_allclose(reached[off], post.path_p[off], atol=1e-10)
    joint = post.p(list(post.names))
    assert float(joint.p.sum()) == pytest.approx(1.0, abs=1e-12)
    row = dict.fromkeys(post.names, 0)
    one = post.log_likelihood({n: [s] for n, s in row.items()})
    by_hand = sum(
        float(w) * np.prod([post.families[f].values[(0,) * (len(post.families[f].parents) + 1)]
                            for f in graph])
        for w, graph in zip(post.weights, post.members.tolist(), strict=True)
    )  # fmt: skip
    assert math.exp(one) == pytest.approx(by_hand, rel=1e-12)
