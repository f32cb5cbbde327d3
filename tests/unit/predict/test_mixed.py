"""Mixed networks against brute force, integration and samples; guards; on the command line."""

import json
import warnings

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm
from tests.mixed_networks import by_force, mixed_network, some_evidence

import credo as cr
from credo import cli
from credo.errors import CredoWarning, ImpossibleError, InputError, LimitError, TableError
from credo.predict.mixed import gaussian_groups

# --- Mixed networks against brute force, integration and samples; guards, sampling,
#     interventions ---


@pytest.mark.parametrize("seed", range(25))
def test_every_marginal_is_that_of_brute_force(seed):
    net, rng = mixed_network(seed), np.random.default_rng(1000 + seed)
    evidence = some_evidence(net, rng)
    free = [n for n in net.names if n not in evidence]
    lines = [n for n in free if n[0] == "x"]
    cases, log_e = by_force(net, evidence, lines)
    if evidence:
        assert net.log_evidence(evidence) == pytest.approx(log_e, rel=1e-9, abs=1e-10)
    found = net.marginals(evidence)
    assert list(found) == free
    x = np.array([-1.0, 0.2, 2.5])
    for name in free:
        if name[0] == "d":
            exact = np.zeros(net.variable(name).arity)
            for case, w, _, _ in cases:
                exact[case[name]] += w
            np.testing.assert_allclose(found[name].p, exact, atol=1e-11)
            continue
        i = lines.index(name)
        mean = sum(w * m[i] for _, w, m, _ in cases)
        variance = sum(w * (c[i, i] + (m[i] - mean) ** 2) for _, w, m, c in cases)
        assert found[name].mean == pytest.approx(mean, rel=1e-9, abs=1e-10)
        assert found[name].variance == pytest.approx(variance, rel=1e-9)
        pdf = sum(w * norm(m[i], np.sqrt(c[i, i])).pdf(x) for _, w, m, c in cases)
        np.testing.assert_allclose(found[name].pdf(x), pdf, rtol=1e-8)
        assert net.p(name, evidence) == found[name]


@pytest.mark.parametrize("seed", range(12))
def test_joints_of_continuous_and_of_both_kinds(seed):
    net, rng = mixed_network(seed), np.random.default_rng(seed)
    evidence = {"x3": float(rng.normal())}
    cases, log_e = by_force(net, evidence, ["x0", "x1"])
    both = net.p(["x0", "x1"], evidence)
    mean = sum(w * m for _, w, m, _ in cases)
    np.testing.assert_allclose(both.mean, mean, rtol=1e-8, atol=1e-10)
    cov = sum(w * (c + np.outer(m - mean, m - mean)) for _, w, m, c in cases)
    np.testing.assert_allclose(both.covariance, cov, rtol=1e-8, atol=1e-10)
    at = mean + 0.3
    exact = sum(w * multivariate_normal(m, c).pdf(at) for _, w, m, c in cases)
    assert both.pdf(at) == pytest.approx(exact, rel=1e-8)
    joint = net.p(["d0", "x0", "d2"], evidence)
    assert joint.names == ("d0", "d2", "x0")
    for state in joint:
        codes = [net.variable(n).code(s) for n, s in zip(("d0", "d2"), state, strict=True)]
        exact = sum(
            w * norm(m[0], np.sqrt(c[0, 0])).pdf(0.7)
            for case, w, m, c in cases
            if [case["d0"], case["d2"]] == codes
        )
        assert joint.pdf(state, 0.7) == pytest.approx(exact, rel=1e-8)
    best = net.mpe(evidence)
    top = max(cases, key=lambda c: c[1])
    assert all(net.variable(n).code(best[n]) == top[0][n] for n in best)
    assert best.log_p == pytest.approx(np.log(top[1]) + log_e, rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_rows_with_gaps_are_their_evidence_one_by_one(seed):
    net, rng = mixed_network(seed), np.random.default_rng(seed)
    drawn = net.sample(20, rng=seed, to="dict")
    rows = {n: [None if rng.random() < 0.4 else v for v in drawn[n]] for n in net.names}
    each = [{n: rows[n][r] for n in net.names if rows[n][r] is not None} for r in range(20)]
    total = sum(net.log_evidence(e) for e in each if e)
    assert net.log_likelihood(rows) == pytest.approx(total, rel=1e-10)
    found = net.predict_proba(rows, "d0")
    for r, e in enumerate(each):
        e.pop("d0", None)
        np.testing.assert_allclose(found[r], net.p("d0", e).p, atol=1e-12)


def test_rows_in_blocks_are_the_same(monkeypatch):
    from credo.predict.mixed import engine as mixed_engine
    from credo.predict.rows import running

    net = mixed_network(3)
    table = net.sample(200, rng=1, to="dict")
    rows = {"x3": table["x3"], "d1": table["d1"]}
    whole = net.predict_proba(rows, "d0"), net.log_likelihood(rows)
    monkeypatch.setattr(running, "_NUMBERS", 40)
    monkeypatch.setattr(mixed_engine, "_NUMBERS", 10)
    again = net.predict_proba(rows, "d0"), net.log_likelihood(rows)
    np.testing.assert_allclose(again[0], whole[0], atol=1e-15)
    assert again[1] == pytest.approx(whole[1], rel=1e-14)


def test_a_hidden_number_by_integration():
    """P(d | y) with x between them integrated out by quadrature."""
    d, x, y = (
        cr.Variable("d", "discrete", ("a", "b")),
        *(cr.Variable(n, "continuous") for n in "xy"),
    )
    net = cr.Network(
        "[d][x|d][y|x]",
        [
            cr.Cpt(d, (), [0.3, 0.7]),
            cr.LinearGaussian(x, (d,), [0.0, 2.0], [], [1.0, 0.5]),
            cr.LinearGaussian(y, (x,), 1.0, [-0.5], 0.8),
        ],
    )
    like = []
    for m, v in ((0.0, 1.0), (2.0, 0.5)):
        f = lambda z, m=m, v=v: norm(m, v**0.5).pdf(z) * norm(1 - 0.5 * z, 0.8**0.5).pdf(0.4)  # noqa: E731
        like.append(quad(f, -10, 12, epsabs=1e-13)[0])
    exact = np.array([0.3, 0.7]) * like
    np.testing.assert_allclose(net.p("d", {"y": 0.4}).p, exact / exact.sum(), rtol=1e-9)
    found = net.p("x", {"y": 0.4})
    assert quad(found.pdf, -10, 12)[0] == pytest.approx(1.0, abs=1e-8)
    assert quad(lambda z: z * found.pdf(z), -10, 12)[0] == pytest.approx(found.mean, abs=1e-8)
    drawn = np.array(net.sample(40_000, rng=0, given={"y": 0.4}, to="dict")["x"])
    assert drawn.mean() == pytest.approx(found.mean, abs=5 * found.sd / 200)
    assert np.mean(drawn < 1.0) == pytest.approx(found.cdf(1.0), abs=0.0125)
    low, high = found.interval(0.9)
    assert found.cdf(high) - found.cdf(low) == pytest.approx(0.9, abs=1e-12)


def test_soft_evidence_and_impossible_evidence():
    net = mixed_network(5)
    soft = net.p(
        "x2", {"d0": {"a": 1.0, "b": 1.0, **({"c": 1.0} if net.variable("d0").arity > 2 else {})}}
    )
    assert soft.mean == pytest.approx(net.p("x2").mean, rel=1e-12)
    a, x = cr.Variable("a", "discrete", (0, 1)), cr.Variable("x", "continuous")
    b = cr.Variable("b", "discrete", (0, 1))
    sure = cr.Network(
        "[a][b|a][x|b]",
        [
            cr.Cpt(a, (), [1.0, 0.0]),
            cr.Cpt(b, (a,), np.eye(2)),
            cr.LinearGaussian(x, (b,), [0.0, 1.0], [], 1.0),
        ],
    )
    assert isinstance(sure.p("x"), cr.Gaussian)  # b=1 cannot be
    for ask in (lambda: sure.p("x", {"a": 1}), lambda: sure.p("x", {"b": 1})):
        with pytest.raises(ImpossibleError, match="cannot be true"):
            ask()


# --- when the mixture is too large ------------------------------------------------------------


def test_samples_answer_where_tables_do_not_fit(monkeypatch):
    inside = total = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        evidence = {f"x{i}": float(rng.normal()) for i in (3, 4)}
        exact_net = mixed_network(seed, 4, 5)
        exact, log_e = exact_net.marginals(evidence), exact_net.log_evidence(evidence)
        with monkeypatch.context() as patch:
            patch.setattr(gaussian_groups, "MAX_NUMBERS", 3)
            net = mixed_network(seed, 4, 5)
            for method in ("importance", "weighting"):
                found = net.marginals(evidence, method=method, budget="4000 samples")
                for n, d in exact.items():
                    account = getattr(found[n], "approximation", None)
                    if account is None:
                        continue
                    low, high = account.interval
                    truth = d.p if n[0] == "d" else np.array([d.mean])
                    inside += int(((low - 1e-12 <= truth) & (truth <= high + 1e-12)).sum())
                    total += truth.size
                ln = net.log_evidence(evidence, method=method, budget="4000 samples")
                assert abs(ln - log_e) < 6 * ln.approximation.standard_error[0] + 1e-9
    assert 0.9 < inside / total <= 1.0


def test_the_guard_names_the_size_and_auto_says_that_it_samples(monkeypatch):
    monkeypatch.setattr(gaussian_groups, "MAX_NUMBERS", 3)
    net = mixed_network(0, 4, 5)
    with pytest.raises(LimitError, match=r"a mixture of [\d,]+ Gaussians.*method=\"weighting\""):
        net.p("x4", method="exact")
    with pytest.warns(CredoWarning, match="The answer is approximate instead"):
        found = net.p("x4")
    assert "mean ±" in str(found) and found.approximation.samples == 20_000
    assert found.approximation.reliable
    with pytest.raises(InputError, match="error= is that of a probability"):
        net.p("x4", method="weighting", error=0.01)
    with pytest.raises(LimitError, match="300,000 samples would make as many Gaussians"):
        net.p("x4", method="weighting", budget="300000 samples")
    assert net.p("x4", method="weighting", budget="5000 samples", rng=1) == net.p(
        "x4", method="weighting", budget="5000 samples", rng=1
    )
    both = net.p(["d0", "x4"], method="importance", budget="5000 samples")
    assert sum(both.discrete.p.ravel()) == pytest.approx(1.0) and "approximate" in str(both)
    pair = net.p(["x3", "x4"], method="importance", budget="5000 samples")
    assert pair.approximation.interval.lower.shape == (2,)
    tied = next(n for n in ("d0", "d1", "d2", "d3") if not net.dag.d_separated(n, "x4"))
    for method in ("loopy", "gibbs"):
        with pytest.raises(InputError, match="continuous"):
            net.p(tied, {"x4": 1.0}, method=method)
    with pytest.raises(InputError, match="continuous"):
        net.log_evidence({"x4": 1.0}, method="loopy")


def test_evidence_that_is_cut_off_does_not_make_a_question_too_large(monkeypatch):
    """d1 and its lines are independent of d0's: what is observed there does not matter."""
    tables = []
    for i in (0, 1):
        d = cr.Variable(f"d{i}", "discrete", tuple("abcd"))
        x, y = cr.Variable(f"x{i}", "continuous"), cr.Variable(f"y{i}", "continuous")
        tables.append(cr.Cpt(d, (), [0.1, 0.2, 0.3, 0.4]))
        tables.append(cr.LinearGaussian(x, (d,), np.arange(4.0), np.zeros((4, 0)), 1.0))
        tables.append(cr.LinearGaussian(y, (x, d) if i else (x,), 0.0, [1.0], 1.0))
    net = cr.Network([(p.name, t.name) for t in tables for p in t.parents], tables)
    exact = net.p("d0", {"x0": 1.0, "y1": 2.0})
    monkeypatch.setattr(gaussian_groups, "MAX_NUMBERS", 8)
    again = cr.Network(net.dag, dict(net.distributions))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(again.p("d0", {"x0": 1.0, "y1": 2.0}).p, exact.p, rtol=1e-12)


def test_a_long_switching_chain_is_sampled_well():
    """Thirty steps, a billion Gaussians: importance sampling against weighting."""
    tables, before = [], ()
    for t in range(30):
        s = cr.Variable(f"s{t}", "discrete", ("calm", "wild"))
        x, y = cr.Variable(f"x{t}", "continuous"), cr.Variable(f"y{t}", "continuous")
        first = not before
        tables += [
            cr.Cpt(s, before[:1], [0.8, 0.2] if first else [[0.9, 0.1], [0.3, 0.7]]),
            cr.LinearGaussian(
                x, (s, *before[1:]), [0.0, 0.0], [] if first else [[0.9], [0.9]], [0.1, 2.0]
            ),
            cr.LinearGaussian(y, (x,), 0.0, [1.0], 0.5),
        ]
        before = (s, x)
    net = cr.Network([(p.name, t.name) for t in tables for p in t.parents], tables)
    row = net.sample(1, rng=3, to="dict")
    seen = {f"y{t}": row[f"y{t}"][0] for t in range(30)}
    a = net.p("s29", seen, method="importance", budget="6000 samples")
    b = net.p("s29", seen, method="weighting", budget="20000 samples")
    assert a.approximation.effective > 3000
    gap = abs(a["wild"] - b["wild"])
    assert gap < 4 * np.hypot(a.approximation.standard_error[1], b.approximation.standard_error[1])
    with pytest.raises(LimitError, match="1,073,741,824 Gaussians"):
        net.p("s29", seen, method="exact")


# --- interventions ----------------------------------------------------------------------------


def test_setting_a_number():
    x, y, z = (cr.Variable(n, "continuous") for n in "xyz")
    d = cr.Variable("d", "discrete", ("a", "b"))
    net = cr.Network(
        "[d][x|d][y|x][z|y:d]",
        [
            cr.Cpt(d, (), [0.3, 0.7]),
            cr.LinearGaussian(x, (d,), [0.0, 2.0], [], 1.0),
            cr.LinearGaussian(y, (x,), 1.0, [2.0], 0.5),
            cr.LinearGaussian(z, (y, d), [0.0, 1.0], [[1.0], [3.0]], 1.0),
        ],
    )
    done = net.do({"y": 4.0})
    assert done.dag.parents("y") == ()
    assert done.p("z", {"d": "a"}) == cr.Gaussian(4.0, 1.0)
    assert done.p("x").mean == pytest.approx(net.p("x").mean)  # what is set tells nothing of x
    np.testing.assert_allclose(done.p("d").p, [0.3, 0.7], rtol=1e-12)
    asked = net.ask("P(z | do(y=4))")
    np.testing.assert_allclose(asked.means, [4.0, 13.0], rtol=1e-12)
    assert done.sample(3, rng=0, to="dict")["y"] == [4.0, 4.0, 4.0]
    low = net.ask("P(d | do(y=4), z=5)").p
    np.testing.assert_allclose(
        low, (q := np.array([0.3, 0.7]) * norm([4, 13], 1).pdf(5.0)) / q.sum(), rtol=1e-9
    )


# --- Mixed answers on the command line, an update with a new state, counts in words ---


@pytest.fixture
def model(tmp_path):
    net = cr.fit(
        "[sex][height|sex][weight|height]", cr.examples.gender_measurements(), prior=cr.BDeu(1)
    )
    path = tmp_path / "people.credo"
    net.save(path)
    return net, str(path)


def asked(path, question, *options):
    done = CliRunner().invoke(cli.app, ["ask", path, question, "--json", *options])
    assert done.exit_code == 0, done.output
    return json.loads(done.output)["answers"][0]


def test_mixtures_as_json(model):
    net, path = model
    one = asked(path, "P(weight)", "--interval", "0.9", "--draws", "100")
    assert [c["states"]["sex"] for c in one["components"]] == ["female", "male"]
    assert one["mean"] == pytest.approx(net.p("weight").mean)
    assert one["mean_interval"]["draws"] == 100 and len(one["weight_interval"]["low"]) == 2
    both = asked(path, "P(height, weight)", "--interval", "0.9")
    assert np.shape(both["covariance"]) == (2, 2) and both["variables"] == ["height", "weight"]
    assert np.shape(both["correlation_interval"]["low"]) == (2, 2)
    kinds = asked(path, "P(sex, weight | height=6)", "--interval", "0.9")
    assert [c["state"] for c in kinds["distribution"]] == [["female"], ["male"]]
    assert len(kinds["p_interval"]["low"]) == 2
    drawn = asked(path, "P(sex, weight)", "--method", "weighting", "--budget", "500 samples")
    assert drawn["approximation"]["samples"] == 500
    gauss = asked(path, "P(height, weight | sex=male)")
    assert np.shape(gauss["covariance"]) == (2, 2)


def test_tables_and_refusals_in_the_terminal(model):
    _, path = model
    done = CliRunner().invoke(cli.app, ["ask", path, "P(weight)", "--explain"])
    assert "a mixture of 2 Gaussians" in done.output and "integrated out: height" in done.output
    with pytest.raises(InputError, match="draws=50 goes with interval="):
        CliRunner().invoke(
            cli.app, ["ask", path, "P(weight)", "--draws", "50"], catch_exceptions=False
        )


def test_an_update_with_a_new_state_says_what_can_be_done(model):
    net, _ = model
    rows = {"sex": ["other"], "height": [5.5], "weight": [150.0]}
    with pytest.raises(TableError, match="holds 'other'") as caught:
        net.update(rows)
    assert "fit all rows together" in str(caught.value) and "Add it to" not in str(caught.value)


def test_one_edge_is_an_edge():
    net = cr.Network("[a][b|a]", {"a": 0.2, "b": {False: 0.1, True: 0.8}})
    assert repr(net) == "Network(2 variables, 1 edge, 3 parameters)"
    assert repr(cr.Network("[a]", {"a": 0.2})) == "Network(1 variable, 0 edges, 1 parameter)"
    assert repr(net.to_markov_network()) == "MarkovNetwork(2 variables, 1 edge, 2 potentials)"
