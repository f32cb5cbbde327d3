"""Every question about an undirected model, against the whole joint table."""

import numpy as np
import pytest
from tests.unit.predict.joint import each_row, is_hard, random_evidence, rows_of
from tests.unit.predict.product import Product, random_model

import credo as cr
from credo.errors import CredoWarning, ImpossibleError, InputError, LimitError, UnknownNameError

CLOSE = {"rtol": 0, "atol": 1e-10}


@pytest.fixture(params=range(12))
def case(request):
    seed = request.param
    model = random_model(
        seed, zeros=0.15 if seed % 3 == 2 else 0.0, scale=1e250 if seed % 4 == 3 else 1.0
    )
    joint = Product(model)
    if not joint.total:
        pytest.skip("this one rules everything out")
    return seed, model, joint


def evidence_of(model, joint, rng):
    for _ in range(100):
        given = random_evidence(model, rng)
        if joint.evidence(given) > 0:
            return given
    return {}


def test_the_partition_function(case):
    _, model, joint = case
    np.testing.assert_allclose(model.log_partition, joint.log_z, rtol=1e-12, atol=1e-10)


def test_posteriors_of_one_several_and_all(case):
    seed, model, joint = case
    rng = np.random.default_rng(seed)
    for _ in range(4):
        given = evidence_of(model, joint, rng)
        hard = {n for n, v in given.items() if is_hard(v)}
        free = [n for n in model.names if n not in hard]
        found = model.marginals(given)
        for name in free:
            np.testing.assert_allclose(found[name].p, joint.posterior([name], given), **CLOSE)
            np.testing.assert_allclose(
                model.p(name, given).p, joint.posterior([name], given), **CLOSE
            )
        if len(free) > 1:
            several = [str(n) for n in rng.choice(free, min(3, len(free)), replace=False)]
            exact = joint.posterior(several, given)
            np.testing.assert_allclose(model.p(several, given).p, exact, **CLOSE)
            best = model.map(several, given)
            at = tuple(model.variable(n).code(best[n]) for n in several)
            np.testing.assert_allclose(exact[at], exact.max(), **CLOSE)
            np.testing.assert_allclose(
                best.log_p, np.log(exact.max() * joint.evidence(given)), **CLOSE
            )
        np.testing.assert_allclose(
            model.log_evidence(given), np.log(joint.evidence(given)), **CLOSE
        )
        table = joint.times(given)
        best = model.mpe(given)
        np.testing.assert_allclose(best.log_p, np.log(table.max()), **CLOSE)
        codes = {n: model.variable(n).code(s) for n, s in best.items()}
        codes |= {n: model.variable(n).code(_only(given[n])) for n in hard}
        assert np.isclose(table[tuple(codes[n] for n in model.names)], table.max())


def _only(value):
    return next(iter(value)) if isinstance(value, set) else value


def test_rows(case):
    seed, model, joint = case
    rng = np.random.default_rng(seed)
    for gaps in (0.0, 0.3, 0.9):
        columns = rows_of(model, joint, rng, 40, gaps)
        rows = list(each_row(columns))
        exact = sum(np.log(joint.evidence(row)) for row in rows)
        np.testing.assert_allclose(model.log_likelihood(columns), exact, rtol=1e-10)
        target = model.names[seed % len(model.names)]
        others = {n: c for n, c in columns.items() if n != target}
        found = model.predict_proba(others, target)
        for p, row in zip(found, rows, strict=True):
            given = {n: s for n, s in row.items() if n != target}
            np.testing.assert_allclose(p, joint.posterior([target], given), **CLOSE)


def test_weighted_rows_count_as_often_as_they_weigh():
    model = random_model(1)
    columns = rows_of(model, Product(model), np.random.default_rng(1), 20)
    twice = {n: c + c for n, c in columns.items()}
    weighted = cr.read({**columns, "w": [2] * 20}, weights="w", schema=model.schema)
    np.testing.assert_allclose(
        model.log_likelihood(weighted), model.log_likelihood(twice), rtol=1e-12
    )


def test_samples_have_the_joint_distribution(case):
    seed, model, joint = case
    given = evidence_of(model, joint, np.random.default_rng([seed, 2]))
    n = 20_000
    rows = model.sample(n, rng=seed, given=given)
    codes = [model.variable(v).code for v in model.names]
    at = [[code(s) for s in rows[v]] for v, code in zip(model.names, codes, strict=True)]
    count = np.zeros([v.arity for v in model.variables])
    np.add.at(count, tuple(np.array(a) for a in at), 1)
    p = joint.times(given) / joint.evidence(given)
    assert (count[p == 0] == 0).all()
    spread = np.sqrt(n * p * (1 - p)) + 1
    assert (np.abs(count - n * p) < 6 * spread).all()


def test_sampling_repeats_and_threads_do_not_matter():
    grid = cr.ising_grid(6, coupling=0.3)
    one = grid.sample(3000, rng=5, to="dict", threads=1)
    assert one == grid.sample(3000, rng=5, to="dict", threads=2)
    assert one != grid.sample(3000, rng=6, to="dict")


def test_questions_in_text():
    net = cr.MarkovNetwork(
        {("Ann", "Bob"): {"no": {"no": 3, "yes": 1}, "yes": {"no": 1, "yes": 5}}}
    )
    assert net.ask("P(Ann=yes | Bob=yes)") == pytest.approx(5 / 6)
    assert net.ask("P(Ann=yes, Bob=no)") == pytest.approx(0.1)
    assert dict(net.ask("argmax P(Ann, Bob)")) == {"Ann": "yes", "Bob": "yes"}
    assert dict(net.ask("argmax P(Ann | Bob=no)")) == {"Ann": "no"}
    assert "largest table" in str(net.ask("P(Ann | Bob=no)", explain=True))
    with pytest.raises(InputError, match="An intervention needs directions"):
        net.ask("P(Ann | do(Bob=yes))")
    with pytest.raises(UnknownNameError, match=r"'An' .* is not in the model. Did you mean 'Ann'?"):
        net.ask("P(An)")
    with pytest.raises(UnknownNameError, match="Did you mean 'yes'"):
        net.p("Ann", {"Bob": "yess"})


def test_huge_and_tiny_potentials():
    tall = [[1e300, 1e-300], [1e-300, 1e300]]
    net = cr.MarkovNetwork({("A", "B"): tall, ("B", "C"): tall, ("C", "D"): tall})
    assert net.log_partition == pytest.approx(3 * np.log(1e300) + np.log(2), rel=1e-12)
    assert net.p("D", {"A": 1})[1] == pytest.approx(1.0)
    assert net.log_evidence({"A": 0, "B": 1}) == pytest.approx(-2 * np.log(1e300) - np.log(2))
    v = [cr.Variable(n, "discrete", (0, 1)) for n in "AB"]
    far = cr.MarkovNetwork([cr.Factor.from_log(v, [[1e5, 1e5 + 1], [1e5, 1e5]])])
    assert far.log_partition == pytest.approx(1e5 + np.log(3 + np.e), rel=1e-14)
    assert far.p(["A", "B"])[0, 1] == pytest.approx(np.e / (3 + np.e))
    assert far.log_likelihood({"A": [0], "B": [1]}) == pytest.approx(1 - np.log(3 + np.e))


def test_nothing_possible():
    net = cr.MarkovNetwork({("A", "B"): [[0, 1], [0, 0]], "B": [1, 0], "A": [2, 2]})
    for ask in (
        lambda: net.log_partition,
        lambda: net.p("A"),
        lambda: net.mpe(),
        lambda: net.log_evidence({"A": 0}),
        lambda: net.sample(1, rng=0),
        lambda: net.to_network(),
        lambda: net.log_likelihood({"A": [0], "B": [0]}),
    ):
        with pytest.raises(ImpossibleError, match=r"Z = 0: φ\(A, B\), φ\(B\) leave nothing"):
            ask()
    with pytest.raises(ImpossibleError, match=r"φ\(A\) leaves nothing"):
        cr.MarkovNetwork({"A": [0, 0]}).p("A")


def test_impossible_evidence_names_the_conflict():
    net = cr.MarkovNetwork({("A", "B"): [[1, 0], [1, 1]], ("B", "C"): [[1, 1], [1, 1]]})
    with pytest.raises(ImpossibleError, match="A=0 and B=1 cannot be true together"):
        net.p("C", {"A": 0, "B": 1})
    with pytest.raises(ImpossibleError, match="Row 2 has probability zero"):
        net.predict_proba({"A": [1, 0], "B": [0, 1]}, "C")
    assert net.log_likelihood({"A": [0], "B": [1], "C": [0]}) == -np.inf


def test_a_grid_that_is_too_much_is_refused_with_its_size():
    grid = cr.ising_grid(30, 100)
    with pytest.raises(LimitError, match="largest clique has"):
        grid.p("r1c1", {"r2c2": 1}, method="exact")
    with pytest.raises(LimitError, match=r"tables to draw from would have"):
        grid.sample(1, rng=0)
    with pytest.raises(LimitError):
        grid.to_network()


def test_a_large_grid_answers_where_the_evidence_cuts_it():
    grid = cr.ising_grid(30)
    others = {n: 1 for n in grid.names if n != "r15c15"}
    exact = 1 / (1 + np.exp(-8 * grid.weights["coupling"]))
    assert grid.p("r15c15", others)[1] == pytest.approx(exact, rel=1e-12)
    found = grid.predict_proba({n: [1, 1] for n in others}, "r15c15")
    np.testing.assert_allclose(found[:, 1], exact, rtol=1e-12)


def test_conditional_sampling_where_the_whole_is_too_much():
    grid = cr.ising_grid(40)
    others = {n: 1 for n in grid.names if n not in ("r1c1", "r1c2")}
    assert len(grid.sample(10, rng=0, given=others)) == 10


def test_a_grid_that_is_too_much_is_sampled_and_says_so():
    grid = cr.ising_grid(30, coupling=0.2)
    with pytest.warns(CredoWarning, match=r"approximate instead \(Gibbs sampling"):
        found = grid.p("r15c15", {"r15c16": 1})
    assert found.approximation.method == "gibbs" and "GB" in found.approximation.why
    # far from the border the grid is like a smaller one
    near = cr.ising_grid(9, coupling=0.2).p("r5c5", {"r5c6": 1})
    assert found[1] == pytest.approx(near[1], abs=0.01)
    with pytest.warns(CredoWarning, match="loopy"):
        log_e = grid.log_evidence({"r15c15": 1, "r15c16": 1})
    exact = cr.ising_grid(9, coupling=0.2).log_evidence({"r5c5": 1, "r5c6": 1})
    assert log_e == pytest.approx(exact, abs=0.05)


@pytest.mark.parametrize("seed", range(6))
def test_gibbs_and_messages_are_near_the_exact_answer(seed):
    model = random_model(seed)
    exact = model.marginals()
    sampled = model.marginals(method="gibbs", rng=seed)
    loopy = model.marginals(method="loopy")
    for name, p in exact.items():
        error = sampled[name].approximation.standard_error
        assert (abs(sampled[name].p - p.p) <= 5 * error + 1e-9).all()
        assert abs(loopy[name].p - p.p).max() < 0.2 and loopy[name].approximation.half_width is None


def test_what_needs_directions_is_refused():
    grid = cr.ising_grid(2)
    for method in ("importance", "weighting"):
        with pytest.raises(InputError, match=r"without directions.*gibbs"):
            grid.p("r1c1", method=method)
        with pytest.raises(InputError, match="without directions"):
            grid.log_evidence({"r1c1": 1}, method=method)


def test_intervals_of_parameters_are_refused():
    grid = cr.ising_grid(2)
    for asked in (lambda: grid.p("r1c1", interval=0.9), lambda: grid.marginals(interval=0.9)):
        with pytest.raises(InputError, match="need a posterior of the parameters"):
            asked()
    with pytest.raises(InputError, match="need a posterior"):
        grid.ask("P(r1c1)", interval=0.9)
