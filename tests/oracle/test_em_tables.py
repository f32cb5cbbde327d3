"""EM on real tables with gaps, recovery as gaps grow, and the three kinds of missingness."""

import itertools

import numpy as np
import pytest

import credo as cr


def never_falls(net):
    trace = np.array(net.record.trace)
    return bool((np.diff(trace) >= -1e-10 * np.abs(trace[1:])).all())


def chain(n, rng):
    a = rng.random(n) < 0.4
    b = np.where(a, rng.random(n) < 0.8, rng.random(n) < 0.2)
    c = np.where(b, rng.random(n) < 0.7, rng.random(n) < 0.1)
    return a, b, c


def frame(columns, gone):
    return cr.read(
        {
            n: np.where(g, None, x.astype(object))
            for (n, x), g in zip(columns.items(), gone, strict=True)
        },
        {n: [False, True] for n in columns},
    )


@pytest.mark.parametrize("name", ["house_votes_84", "soybean", "horse_colic", "cad2"])
def test_real_tables(shared_tables, name):
    table = cr.read(shared_tables / f"{name}.csv")
    discrete = [v.name for v in table.schema.variables if v.is_discrete and v.arity < 8][:12]
    part = table.select(discrete)
    graph = f"[{discrete[0]}]" + "".join(f"[{n}|{discrete[0]}]" for n in discrete[1:])
    net = cr.em(graph, part, prior=cr.Laplace(1))
    assert never_falls(net) and np.isfinite(net.record.score)
    hidden = cr.em(
        "[H]" + "".join(f"[{n}|H]" for n in discrete), part, prior=cr.Laplace(1), hidden={"H": 2},
        restarts=3, max_iter=200,
    )  # fmt: skip
    assert never_falls(hidden)
    assert hidden.log_likelihood(part) == pytest.approx(hidden.record.score, rel=1e-9)
    assert not any(net.impute(part).block.gaps)


def test_continuous_real_table(shared_tables):
    table = cr.read(shared_tables / "pima_tr2.csv")
    names = [v.name for v in table.schema.variables if not v.is_discrete]
    assert any(table.block.gaps)
    edges = [(a, b) for a, b in itertools.pairwise(names)]
    net = cr.em(cr.Dag(edges, nodes=names), table)
    assert never_falls(net) and not any(net.impute(table.select(names)).block.gaps)
    mixed = cr.em("[type][bp|type][skin|type][bmi|skin:type]", table)
    assert never_falls(mixed) and net.record.details["missing"]


def test_mixed_titanic(shared_tables):
    table = cr.read(shared_tables / "titanic.csv", {"Survived": "discrete", "Pclass": "discrete"})
    net = cr.em("[Pclass][Survived|Pclass][Age|Pclass:Survived][Fare|Pclass]", table)
    assert never_falls(net) and 0 < net.record.details["missing"]["Age"] < 1


def test_recovery_as_gaps_grow():
    rng = np.random.default_rng(0)
    a, b, c = chain(20_000, rng)
    full = cr.fit("[a][b|a][c|b]", frame({"a": a, "b": b, "c": c}, np.zeros((3, 20_000), bool)))
    errors = []
    for rate in (0.1, 0.3, 0.5):
        gone = rng.random((3, 20_000)) < rate
        net = cr.em("[a][b|a][c|b]", frame({"a": a, "b": b, "c": c}, gone))
        errors.append(max(np.abs(net.cpt(n).values - full.cpt(n).values).max() for n in "abc"))
    assert errors[0] < 0.015 and errors[1] < 0.03 and errors[2] < 0.06


def test_mar_is_no_harm_and_mnar_is():
    rng = np.random.default_rng(1)
    a, b, c = chain(50_000, rng)
    none = np.zeros(50_000, bool)
    columns = {"a": a, "b": b, "c": c}
    truth = b.mean()
    # at random given a: b is missing more often where a is true
    mar = none | (rng.random(50_000) < np.where(a, 0.7, 0.1))
    net = cr.em("[a][b|a][c|b]", frame(columns, [none, mar, none]))
    naive = b[~mar].mean()
    assert abs(net.p("b")[True] - truth) < 0.01 < 0.1 < abs(naive - truth)
    # by its own value: b is missing more often where b is true, and nothing in the table tells
    mnar = rng.random(50_000) < np.where(b, 0.7, 0.1)
    net = cr.em("[a][b|a][c|b]", frame(columns, [none, mnar, none]))
    assert abs(net.p("b")[True] - truth) > 0.05


@pytest.mark.parametrize("steps", [1, 2, 6])
def test_the_steps_of_pyagrum(steps):
    """From the same start each step gives pyAgrum's tables to the last digit."""
    gum = pytest.importorskip("pyagrum")
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    a, b, c = chain(400, rng)
    gone = rng.random((3, 400)) < 0.15
    table = frame({"a": a, "b": b, "c": c}, gone)
    data = pd.DataFrame({
        n: np.where(g, "?", np.where(x, "1", "0")) for n, x, g in zip("abc", (a, b, c), gone, strict=True)
    })  # fmt: skip
    first = {"a": [0.5, 0.5], "b": [[0.6, 0.4], [0.3, 0.7]], "c": [[0.7, 0.3], [0.4, 0.6]]}
    template = gum.fastBN("a{0|1}->b{0|1}->c{0|1}")
    for n, rows in first.items():
        template.cpt(n).fillWith(list(np.ravel(rows)))
    learner = gum.BNLearner(data, template, ["?"])
    learner.useEM(1e-300, 0.0)  # without the noise it mixes into a start
    learner.useSmoothingPrior(0.01)
    learner.EMsetMaxIter(steps)
    theirs = learner.learnParameters(template)
    start = cr.Network(
        "[a][b|a][c|b]",
        {n: np.array(rows) for n, rows in first.items()},
        states=dict.fromkeys("abc", (False, True)),
    )
    mine = cr.em(
        "[a][b|a][c|b]",
        table,
        cr.Laplace(0.01),
        start=start,
        max_iter=steps,
        tol=0,
        accelerate=False,
    )
    for n in "abc":
        assert np.abs(theirs.cpt(n).toarray() - mine.cpt(n).values).max() < 1e-12
