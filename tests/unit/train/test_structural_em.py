"""Graphs from rows with gaps: structural EM, node averages, complete rows."""

import numpy as np
import pytest

import credo as cr
from credo.errors import InputError
from credo.train.em.completed import completed


def rows(n=1500, rate=0.15, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.85, a, 1 - a)
    c = np.where(rng.random(n) < 0.85, b, 1 - b)
    d = rng.integers(0, 3, n)
    codes = np.stack([a, b, c, d], axis=1)
    gone = rng.random(codes.shape) < rate
    columns = {
        m: np.where(gone[:, k], None, codes[:, k].astype(object)) for k, m in enumerate("abcd")
    }
    return cr.read(columns, {"a": [0, 1], "b": [0, 1], "c": [0, 1], "d": [0, 1, 2]})


@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_the_graph_is_found_and_the_score_rises(score):
    table = rows()
    net = cr.learn(table, score, search="hill-climb")
    assert net.dag.equivalent(cr.Dag.parse("[a][b|a][c|b][d]"))
    assert (np.diff(net.record.trace) > 0).all()
    assert "structural EM" in net.record.how and net.record.details["missing"] == "structural-em"
    again = cr.learn(table, score, search="hill-climb")
    assert again.dag == net.dag and again.record.trace == net.record.trace


def test_bic_of_the_observed_rows_is_exact():
    table = rows(400)
    net = cr.learn(table, "bic", search="hill-climb")
    best = cr.em(net, table)
    bic = best.record.score - 0.5 * np.log(400) * best.free_parameters
    assert net.record.score == pytest.approx(bic, rel=1e-4)


def _bic(net, table):
    rows = float(len(table) if table.weights is None else table.weights.sum())
    return net.log_likelihood(table) - 0.5 * np.log(rows) * net.free_parameters


@pytest.mark.parametrize("seed", [0, 1])
def test_the_score_is_that_of_the_network_given_back(seed):
    table = rows(300, rate=0.25, seed=seed)
    net = cr.learn(table, "bic", search="hill-climb", parameters="mle")
    assert net.record.score == pytest.approx(_bic(net, table), rel=1e-12)
    assert net.record.trace[-1] == net.record.score
    aic = cr.learn(table, "aic", search="hill-climb", parameters="mle")
    expected = aic.log_likelihood(table) - aic.free_parameters
    assert aic.record.score == pytest.approx(expected, rel=1e-12)
    marginal = cr.learn(table, "bdeu", search="hill-climb")
    full = completed(marginal, table).table
    own = float(cr.score(marginal.dag, full, "bdeu"))
    own += marginal.log_likelihood(table) - marginal.log_likelihood(full)
    assert marginal.record.score == pytest.approx(own, rel=1e-12)


def test_the_score_is_exact_where_rows_are_drawn_too():
    rng = np.random.default_rng(1)
    x = rng.normal(size=300)
    y = 2 * x + rng.normal(0, 0.5, 300)
    x[rng.random(300) < 0.2] = np.nan
    table = cr.read({"x": x, "y": y})
    net = cr.learn(table, "bic", search="hill-climb", parameters="mle")
    assert net.record.score == pytest.approx(_bic(net, table), rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_it_ends_no_lower_than_available_cases(seed):
    rng = np.random.default_rng(seed)
    truth = cr.Dag.parse("[a][b|a][c|a:b][d|b][e|c:d][f|e]")
    codes = {}
    for name in truth.nodes:
        above = sum((codes[p] for p in truth.parents(name)), np.zeros(150, dtype=int))
        codes[name] = (above + (rng.random(150) < 0.3)) % 3
    gappy = {n: np.where(rng.random(150) < 0.25, None, x.astype(object)) for n, x in codes.items()}
    table = cr.read(gappy, {n: [0, 1, 2] for n in codes})
    quick = cr.learn(table, "bic", "hill-climb", missing="available-cases")
    net = cr.learn(table, "bic", "hill-climb")
    assert net.record.score >= _bic(cr.em(quick.dag, table), table) - 1e-6


def test_completed_rows_count_what_is_expected():
    table = rows(200)
    net = cr.em("[a][b|a][c|b][d]", table)
    full = completed(net, table)
    assert full.drawn == 0 and not any(full.table.block.gaps)
    assert full.table.weights.sum() == pytest.approx(200)
    once = cr.em(net, table, start=net, max_iter=1)
    assert np.allclose(
        full.table.tally([("b", ["a"])])["b", ["a"]].values,
        once.cpt("b").learned.observed.values,
    )


def test_other_ways_with_gaps():
    table = rows()
    average = cr.learn(table, "bic", search="hill-climb", missing="node-average")
    whole = cr.learn(table, "bic", search="hill-climb", missing="complete-rows")
    assert whole.record.details["rows"] < len(table) and average.record.score < 0
    assert "bic" in cr.learn(table, missing="node-average").record.how
    with pytest.raises(InputError, match="missing"):
        cr.learn(table, missing="guess")
    with pytest.raises(InputError, match="missing='structural-em' or 'available-cases'"):
        cr.learn(table, "bdeu", missing="node-average")
    mixed = {"a": [0, 1, None, 1, 0, 1], "x": [0.1, 0.5, 0.7, 0.2, None, 0.9]}
    with pytest.raises(InputError, match="Beside continuous columns no score averages") as error:
        cr.learn(mixed, missing="node-average")
    assert "available-cases" in error.value.hint and "'bic'" not in error.value.hint
    with pytest.raises(InputError, match="starts=3 is for missing='structural-em'"):
        cr.learn(table, missing="available-cases", starts=3)
    none = cr.read({"a": [0, None], "b": [None, 1]}, {"a": [0, 1], "b": [0, 1]})
    with pytest.raises(InputError, match="No row is complete"):
        cr.learn(none, "bic", missing="complete-rows")


def test_continuous_columns_by_draws():
    rng = np.random.default_rng(1)
    x = rng.normal(size=400)
    y = 2 * x + rng.normal(0, 0.5, 400)
    z = rng.normal(size=400)
    x[rng.random(400) < 0.1] = np.nan
    net = cr.learn({"x": x, "y": y, "z": z}, "bic", search="hill-climb")
    assert {frozenset(e) for e in net.dag.edges} == {frozenset(("x", "y"))}
    assert any("draws" in n for n in net.record.notes)


def test_rules_are_kept():
    net = cr.learn(rows(), "bic", search="hill-climb", forbidden=[("a", "b"), ("b", "a")])
    assert ("a", "b") not in net.dag.edges and ("b", "a") not in net.dag.edges


def test_a_common_cause_is_proposed_and_kept_only_if_it_pays():
    rng = np.random.default_rng(0)
    h = rng.integers(0, 2, 1200)
    columns = {c: np.where(rng.random(1200) < 0.85, h, 1 - h) for c in "abcd"}
    columns["e"] = rng.integers(0, 2, 1200)
    full = "[a][b|a][c|a:b][d|a:b:c][e]"
    found = cr.find_hidden(full, columns)
    assert found.found and found.proposals[0].group == ("a", "b", "c", "d")
    assert found.network.dag.parents("a") == ("H",) and found.proposals[0].states == 2
    assert "A hypothesis" in str(found) and "<table" in found._repr_html_()
    own = cr.find_hidden(full, columns, groups=[["d", "e"]], states=[2])
    assert not own.found and "worth its parameters" in str(own)
    assert "H" not in own.network.names
    assert "No group" in str(cr.find_hidden("[a][b|a]", columns))
    for options, text in [
        ({"name": "a"}, "variable 'a' already"),
        ({"groups": [["a"]]}, "two columns or more"),
        ({"groups": [["a", "zz"]]}, "not in the graph"),
        ({"states": []}, "at least one"),
        ({"states": 3}, "states= must be a list, got 3"),
        ({"groups": 5}, "groups= must be a list, got 5"),
        ({"groups": "ab"}, "groups= must be a list"),
        ({"groups": [5]}, "A group must be a list, got 5"),
        ({"name": "e"}, "variable 'e' already"),
    ]:
        with pytest.raises(cr.errors.CredoError, match=text):
            cr.find_hidden(full, columns, **options)


def test_a_column_with_the_hidden_name_is_named():
    rng = np.random.default_rng(0)
    rows = {c: rng.integers(0, 2, 50) for c in "abcH"}
    with pytest.raises(InputError, match="table has a column 'H'") as error:
        cr.find_hidden("[a][b|a][c|a:b]", rows)
    assert "name='H_hidden'" in error.value.hint
    found = cr.find_hidden("[a][b|a][c|a:b]", rows, name="K")
    assert "graph given" in str(found)


def _gappy():
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 400)
    columns = {"a": a, "b": np.where(rng.random(400) < 0.9, a, 1 - a), "c": rng.integers(0, 2, 400)}
    columns["d"] = np.where(rng.random(400) < 0.8, columns["b"], columns["c"])
    return {n: np.where(rng.random(400) < 0.2, None, x.astype(object)) for n, x in columns.items()}


@pytest.mark.parametrize("nth", [1, 2, 3])
def test_ctrl_c_in_any_search_gives_the_best_so_far(monkeypatch, nth):
    from credo.train.structure import searches

    calls = []
    original = searches._function

    def function(search):
        run = original(search)

        def stopped(problem):
            calls.append(search)
            out = run(problem)
            if len(calls) == nth:
                problem.offer([list(p) for p in out.parents], out.score)
                raise KeyboardInterrupt
            return out

        return stopped

    monkeypatch.setattr(searches, "_function", function)
    net = cr.learn(_gappy(), "bic", "hill-climb")
    if len(calls) >= nth:
        assert net.record.reason == "interrupted"
        assert len(calls) <= nth + 2
    assert net.dag.edges


def test_a_budget_is_one_budget_for_all_rounds():
    net = cr.learn(_gappy(), "bic", "hill-climb", seconds=1e-6)
    assert net.record.reason == "the budget of 1e-06 s was spent"
    assert sum(net.p("a").values()) == pytest.approx(1)


def test_a_budget_that_ends_the_last_climb_is_named(monkeypatch):
    from credo.train.structure import incomplete

    table = cr.read(_gappy())
    original = incomplete.em_until

    def slow(until, *given, **options):
        return original(0.0 if options.get("budget") is None else until, *given, **options)

    monkeypatch.setattr(incomplete, "em_until", slow)
    net = cr.learn(table, "bic", "hill-climb", seconds=1000, parameters="mle")
    assert net.record.reason == "the budget of 1000 s was spent"
    assert net.record.score == pytest.approx(_bic(net, table), rel=1e-12)


def test_rows_with_very_wide_gaps_beside_continuous_columns():
    """Seven gaps of four states in one row: 16,384 ways, drawn from the row's own story."""
    rng = np.random.default_rng(3)
    n = 120
    z = rng.integers(0, 4, n)
    columns = {
        f"d{k}": np.where(rng.random(n) < 0.7, z, rng.integers(0, 4, n)).astype(object)
        for k in range(7)
    }
    columns["x"] = z + rng.normal(0, 0.5, n)
    for k in range(7):
        columns[f"d{k}"][0] = None
        columns[f"d{k}"][rng.random(n) < 0.05] = None
    table = cr.read(columns, {f"d{k}": [0, 1, 2, 3] for k in range(7)})
    net = cr.learn(table, "bic", search="hill-climb")
    assert (np.diff(net.record.trace) > 0).all() and net.dag.edges
    full = completed(net, table)
    assert not any(full.table.block.gaps)
    assert full.table.weights.sum() == pytest.approx(n)
    again = completed(net, table)
    for a, b in zip(full.table.block.arrays, again.table.block.arrays, strict=True):
        assert np.array_equal(a, b)


def test_a_budget_holds_where_completing_the_rows_alone_takes_longer():
    """A column of many states with gaps, beside numbers: each such row is completed by itself."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=12_000)
    gene = [None if i % 2 else f"g{i % 600}" for i in range(12_000)]
    rows = {"gene": gene, "x": x, "y": x + rng.normal(size=12_000)}
    net = cr.learn(rows, seconds=0.02, rng=0, schema={"gene": "discrete"})
    assert "takes longer than the budget of 0.02 s" in net.record.notes[0]
    assert "available-cases" in net.record.notes[0]
