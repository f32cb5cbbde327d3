"""Markov networks learned from counts: closed forms, iterative fitting, slopes, streams."""

import itertools

import numpy as np
import pytest
from tests.unit.predict.joint import rows_of
from tests.unit.predict.product import Product, random_model

import credo as cr
from credo.errors import InputError, LimitError, SchemaError, UnknownNameError
from credo.train.markov.fit import fit_markov
from credo.train.markov.likelihood import Likelihood, PseudoLikelihood, blankets
from credo.train.markov.log_linear import LogLinear

CHAIN = [("A", "B"), ("B", "C")]
SQUARE = [("A", "B"), ("B", "C"), ("C", "D"), ("D", "A")]


def table_of(names, n, seed, arity=2):
    """Rows in which neighbours in the list tend to agree."""
    rng = np.random.default_rng(seed)
    columns = {names[0]: rng.integers(arity, size=n)}
    for before, name in itertools.pairwise(names):
        keep = rng.random(n) < 0.6
        columns[name] = np.where(keep, columns[before], rng.integers(arity, size=n))
    return cr.read({k: v.tolist() for k, v in columns.items()})


def test_a_decomposable_model_has_a_closed_form():
    """P = Π cliques / Π separators, all as frequent as in the table."""
    table = table_of("ABCD", 500, 1, arity=3)
    edges = [("A", "B"), ("B", "C"), ("A", "C"), ("C", "D")]
    net = fit_markov(edges, table, l2=0, tol=1e-10)
    tally = cr.tally(table, [("C", ["A", "B"]), ("D", ["C"]), ("C", [])])
    abc, cd, c = (np.asarray(tally[f]) / 500 for f in (("C", ["A", "B"]), ("D", ["C"]), ("C", [])))
    exact = abc[..., None] * cd / c[:, None]
    np.testing.assert_allclose(net.p(list("ABCD")).p, exact, atol=1e-7)
    assert net.record.score == pytest.approx(net.log_likelihood(table), rel=1e-9)


def test_a_square_against_iterative_proportional_fitting():
    table = table_of("ABCD", 400, 2)
    net = fit_markov(SQUARE, table, l2=0, tol=1e-11)
    counts = {e: np.asarray(cr.tally(table, [(e[1], [e[0]])])[e[1], [e[0]]]) / 400 for e in SQUARE}
    p = np.full((2, 2, 2, 2), 1 / 16)
    for _ in range(2000):
        for (a, b), n in counts.items():
            i, j = "ABCD".index(a), "ABCD".index(b)
            rest = tuple(k for k in range(4) if k not in (i, j))
            now = p.sum(axis=rest)
            ratio = n / now if i < j else n.T / now
            p = p * np.expand_dims(ratio, rest)
    np.testing.assert_allclose(net.p(list("ABCD")).p, p, atol=1e-8)


def test_at_the_optimum_the_moments_are_those_of_the_table():
    table = table_of("ABCD", 300, 3, arity=3)
    net = fit_markov(SQUARE, table, l2=0, tol=1e-10)
    for a, b in SQUARE:
        seen = np.asarray(cr.tally(table, [(b, [a])])[b, [a]]) / 300
        np.testing.assert_allclose(net.p([a, b]).p, seen, atol=1e-7)


def slope_by_differences(g, w, step=1e-5):
    out = []
    for k in range(len(w)):
        up, down = w.copy(), w.copy()
        up[k] += step
        down[k] -= step
        out.append((g(up)[0] - g(down)[0]) / (2 * step))
    return np.array(out)


def objectives(model, columns):
    """Both objectives of a model, from rows, as the learner makes them."""
    design = LogLinear.of(model.variables, model.potentials)
    table = cr.read(columns, model.schema)
    names = model.names
    scopes = [[names[i] for i in s] for s in design.scopes]
    tally = table.tally([(s[-1], s[:-1]) for s in scopes])
    counts = np.concatenate([np.asarray(tally[s[-1], s[:-1]]).ravel() for s in scopes])
    wide = [(names[i], [names[j] for j in near]) for i, near in enumerate(blankets(design))]
    around = table.tally(wide)
    exact = Likelihood(design, Likelihood.plan_of(design), counts.astype(float), float(len(table)))
    return design, exact, PseudoLikelihood(design, [around[f] for f in wide])


@pytest.mark.parametrize("seed", range(4))
def test_values_and_slopes(seed):
    model = random_model(seed, 5, factors=5, least=2)
    rng = np.random.default_rng(seed)
    columns = rows_of(model, Product(model), rng, 30)
    design, exact, pseudo = objectives(model, columns)
    w = rng.normal(size=design.parameters)
    there = cr.MarkovNetwork(design.learned(w), states=model.variables)
    assert exact(w)[0] == pytest.approx(there.log_likelihood(columns), rel=1e-10)
    each = sum(
        np.log(there.predict_proba({k: v for k, v in columns.items() if k != n}, n)[r, code])
        for n in model.names
        for r, code in enumerate(map(model.variable(n).code, columns[n]))
    )
    assert pseudo(w)[0] == pytest.approx(each, rel=1e-10)
    for g in (exact, pseudo):
        np.testing.assert_allclose(g(w)[1], slope_by_differences(g, w), rtol=1e-5, atol=1e-5)


def test_tied_weights_are_learned_as_one():
    spins = dict.fromkeys("ABCD", (-1, 1))
    model = cr.MarkovNetwork.log_linear(
        {
            "coupling": dict.fromkeys(SQUARE, lambda s, t: s * t),
            "field": dict.fromkeys("ABCD", lambda s: s),
        },
        {"coupling": 0.3, "field": -0.2},
        states=spins,
    )
    rows = model.sample(40_000, rng=1)
    for method in ("likelihood", "pseudo-likelihood"):
        net = fit_markov(model, rows, method=method)
        assert net.weights["coupling"] == pytest.approx(0.3, abs=0.02)
        assert net.weights["field"] == pytest.approx(-0.2, abs=0.02)
    exact = fit_markov(model, rows, l2=0, tol=1e-10)
    design, g, _ = objectives(model, rows.to("pandas"))
    assert design.parameters == 2
    np.testing.assert_allclose(g(np.array(list(exact.weights.values())))[1] / 40_000, 0, atol=1e-8)


def test_pseudo_likelihood_comes_to_the_truth_with_more_rows():
    truth = cr.ising_grid(4, coupling=0.35, field=0.1)
    error = []
    for n in (300, 3_000, 30_000):
        net = fit_markov(truth, truth.sample(n, rng=2), method="pseudo-likelihood")
        error.append(abs(net.weights["coupling"] - 0.35) + abs(net.weights["field"] - 0.1))
    assert error[2] < 0.01 and error[2] < error[0]


def test_a_large_grid_is_learned_by_pseudo_likelihood():
    """Rows by a checkerboard Gibbs sampler; the exact plan would not fit."""
    n, rows, coupling = 24, 400, 0.3
    rng = np.random.default_rng(4)
    spins = rng.choice([-1, 1], size=(rows, n, n))
    squares = (np.add.outer(np.arange(n), np.arange(n)) % 2).astype(bool)
    for step in range(160):
        padded = np.pad(spins, ((0, 0), (1, 1), (1, 1)))
        near = (
            padded[:, 2:, 1:-1] + padded[:, :-2, 1:-1] + padded[:, 1:-1, 2:] + padded[:, 1:-1, :-2]
        )
        up = rng.random(spins.shape) < 1 / (1 + np.exp(-2 * coupling * near))
        spins = np.where(squares == bool(step % 2), np.where(up, 1, -1), spins)
    table = {f"r{i + 1}c{j + 1}": spins[:, i, j] for i in range(n) for j in range(n)}
    net = fit_markov(cr.ising_grid(n), table)
    assert net.record.how == "maximum pseudo-likelihood"
    assert "multiplications" in net.record.notes[0]
    assert net.weights["coupling"] == pytest.approx(coupling, abs=0.01)
    wide = cr.ising_grid(40)
    with pytest.raises(LimitError, match="method='pseudo-likelihood'"):
        fit_markov(wide, {n: [-1, 1] for n in wide.names}, method="likelihood")


def test_zero_counts():
    rows = {"A": [0, 0, 1, 1], "B": [0, 0, 1, 0]}
    sharp = fit_markov([("A", "B")], rows, l2=0)
    assert sharp.p(["A", "B"])[0, 1] == 0.0
    np.testing.assert_allclose(sharp.p(["A", "B"]).p, [[0.5, 0], [0.25, 0.25]], atol=1e-7)
    assert "1 configuration of a potential was never seen and cannot be" in sharp.record.notes[0]
    soft = fit_markov([("A", "B")], rows)
    assert 0 < soft.p(["A", "B"])[0, 1] < 0.01
    assert "only the prior keeps" in soft.record.notes[0]
    by_each = fit_markov([("A", "B")], rows, l2=0, method="pseudo-likelihood")
    assert by_each.p(["A", "B"])[0, 1] == 0.0


def test_a_stronger_prior_pulls_to_the_uniform():
    table = table_of("ABC", 200, 5)
    away = [
        np.abs(fit_markov(CHAIN, table, l2=l2).p(["A", "B"]).p - 0.25).max()
        for l2 in (0.0, 1.0, 100.0, 1e5)
    ]
    assert away == sorted(away, reverse=True) and away[-1] < 0.01


def test_weights_streams_and_batches_are_the_same(tmp_path):
    table = table_of("ABC", 300, 6)
    path = tmp_path / "rows.csv"
    columns = table.to("pandas")
    columns.to_csv(path, index=False)
    stream = cr.read(path, memory="1KB")
    assert isinstance(stream, cr.Stream)
    a = fit_markov(CHAIN, columns)
    b = fit_markov(CHAIN, stream)
    unique = columns.value_counts().reset_index()
    c = fit_markov(CHAIN, cr.read(unique, weights="count"))
    d = fit_markov(CHAIN, columns.sample(frac=1, random_state=0))
    for other in (b, c, d):
        np.testing.assert_allclose(other.p(list("ABC")).p, a.p(list("ABC")).p, atol=1e-10)


def test_pairs_and_cliques():
    table = table_of("ABC", 300, 7)
    triangle = [("A", "B"), ("B", "C"), ("A", "C")]
    whole = fit_markov(triangle, table)
    pairs = fit_markov(triangle, table, potentials="pairs")
    assert [p.names for p in whole.potentials] == [("A", "B", "C")]
    assert len(pairs.potentials) == 3 and pairs.graph == whole.graph
    assert pairs.record.score <= whole.record.score
    alone = fit_markov(cr.UndirectedGraph([("A", "B")], nodes=["A", "B", "C"]), table, l2=0)
    seen = np.asarray(cr.tally(table, ["C"])["C"]) / 300
    np.testing.assert_allclose(alone.p("C").p, seen, atol=1e-6)


def test_the_record_and_saving_it(tmp_path):
    table = table_of("ABC", 100, 8)
    net = fit_markov(CHAIN, table)
    assert net.record.trace == tuple(sorted(net.record.trace))
    assert net.record.reason.startswith("no slope above 1e-07")
    assert net.record.details["rows"] == 100 and net.record.seconds > 0
    net.save(tmp_path / "net.credo")
    again = cr.load(tmp_path / "net.credo")
    assert again == net and again.record == net.record
    short = fit_markov(SQUARE, table_of("ABCD", 100, 8), max_iter=2)
    assert short.record.reason == "2 iterations were allowed"


def test_learning_again_from_a_factor_graph():
    table = table_of("ABC", 200, 9)
    graph = cr.FactorGraph({("A", "B"): np.ones((2, 2)), ("C", "B"): np.ones((2, 2))})
    net = fit_markov(graph, table)
    np.testing.assert_allclose(
        net.p(list("ABC")).p, fit_markov(CHAIN, table).p(list("ABC")).p, atol=1e-6
    )


def test_states_as_the_model_has_them():
    """A state that the rows lack stays, in the model's order."""
    model = cr.MarkovNetwork(
        {("A", "B"): np.ones((3, 2))}, states={"A": ("x", "y", "z"), "B": (1, 0)}
    )
    net = fit_markov(model, cr.read({"A": ["y", "x", "y"], "B": [0, 1, 0]}), l2=0)
    assert net.variable("A").states == ("x", "y", "z")
    assert net.p("A")["z"] == 0.0
    assert net.p("A")["y"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (([("A", "X")],), UnknownNameError, "Variable 'X' is not in the table"),
        (([],), InputError, "The graph has no nodes"),
        (([("A", "flat")],), SchemaError, "The column 'flat' was set aside: every cell is 'x'"),
        (("AB",), InputError, "must be an UndirectedGraph, a list of edges"),
        ((cr.Dag([("A", "B")]),), InputError, r"dag\.moral\(\)"),
        (([("A", "h")],), SchemaError, "'h' is continuous"),
        (([("A", "G")],), InputError, "1 row has a gap in A, G|1 row has a gap in G"),
    ],
)  # fmt: skip
def test_refusals(arguments, error, says):
    rows = {"A": [0, 1, 0], "B": [1, 1, 0], "h": [0.5, 1.5, 2.25], "G": ["x", None, "y"]}
    rows["flat"] = ["x", "x", "x"]
    with pytest.raises(error, match=says):
        fit_markov(*arguments, rows)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "ml"}, "method must be 'auto', 'likelihood' or 'pseudo-likelihood', got 'ml'"),
        ({"l2": -1}, "l2 must be a finite number, 0 or more, got -1"),
        ({"l2": "much"}, "l2 must be a finite number"),
        ({"max_iter": 0}, "max_iter must be a whole number above 0"),
        ({"potentials": "all"}, "potentials must be 'cliques' or 'pairs'"),
    ],
)
def test_refused_options(options, says):
    with pytest.raises(InputError, match=says):
        fit_markov([("A", "B")], {"A": [0, 1], "B": [1, 1]}, **options)


def test_no_rows():
    with pytest.raises(InputError, match="no rows to learn from"):
        fit_markov([("A", "B")], cr.read({"A": [0, 1], "B": [1, 0]}).take([]))


def test_a_clique_that_is_too_large_is_refused_before_it_is_made():
    names = [f"x{i:02}" for i in range(30)]
    table = cr.read({n: [0, 1] for n in names})
    with pytest.raises(LimitError, match="would have 1,073,741,824 numbers"):
        fit_markov(list(itertools.combinations(names, 2)), table)
    net = fit_markov(list(itertools.combinations(names[:12], 2)), table, potentials="pairs")
    assert len(net.potentials) == 66


def test_a_feature_that_is_zero_shares_its_weight():
    """An all-zero feature says nothing, whatever its place among those of its name."""
    a, b = (cr.Variable(n, "discrete", (0, 1)) for n in "AB")
    features = [cr.Feature((b,), [0, 0], name="w"), cr.Feature((a,), [0, 1], name="w")]
    net = fit_markov(cr.MarkovNetwork(features), {"A": [1, 1, 1, 0], "B": [0, 1, 0, 1]}, l2=0)
    assert net.weights["w"] == pytest.approx(np.log(3), rel=1e-5)
    np.testing.assert_allclose(net.p("B").p, 0.5)


def test_weights_and_a_schema_are_read_with_the_rows():
    rows = {"A": ["x", "y", "x"], "B": ["u", "v", "v"]}
    copied = {"A": ["x", "y", "y", "x"], "B": ["u", "v", "v", "v"]}
    graph = [("A", "B")]
    weighted = fit_markov(graph, rows, weights=[1, 2, 1])
    assert weighted.p(["A", "B"]) == fit_markov(graph, copied).p(["A", "B"])
    assert fit_markov(weighted, rows, weights=[1, 2, 1]).record.details["rows"] == 4
    wider = fit_markov(graph, rows, schema={"A": ["x", "y", "z"]})
    assert 0 < wider.p("A")["z"] < 0.1
    with pytest.raises(InputError, match="The model has its schema"):
        fit_markov(wider, rows, schema={"A": ["x", "y"]})


def test_fit_of_a_graph_without_directions_learns_its_potentials():
    net = cr.MarkovNetwork({("A", "B"): [[1, 2], [3, 4]]})
    rows = {"A": [0, 1, 1], "B": [0, 1, 0]}
    for model in (net, net.to_factor_graph(), net.graph):
        learned = cr.fit(model, rows, l2=0.5)
        assert learned == fit_markov(model, rows, l2=0.5)
    with pytest.raises(InputError, match=r"^prior= is for tables of a child.* precision l2=\.$"):
        cr.fit(net, rows, prior=cr.BDeu(1))
    with pytest.raises(TypeError, match="no option 'l2' for a directed graph"):
        cr.fit("[A][B|A]", rows, l2=0.5)


def test_the_old_name_warns():
    with pytest.warns(DeprecationWarning, match="credo.fit_markov is now credo.fit of an Und"):
        assert cr.fit_markov is fit_markov
