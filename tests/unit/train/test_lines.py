"""Lines learned from moments: least squares, conjugate posteriors, hard numbers, refusals."""

import math

import numpy as np
import pytest
from scipy import stats

import credo as cr
from credo.errors import CredoWarning, InputError, LimitError
from credo.predict.rows.rows import row_log_likelihoods
from credo.train.parameters.lines import _imagines_nothing, fit_lines, line_log_marginal
from credo.train.parameters.pooled_lines import pooled_prior, with_main_effects

PRIOR = cr.LinePrior(mean=1.0, kappa=0.7, slope=[0.5, -0.2], ridge=[2.0, 1.5], alpha=3.0,
                     beta=2.0, centre=[0.3, -0.4])  # fmt: skip


def some_rows(n=40, seed=0):
    rng = np.random.default_rng(seed)
    u = rng.choice(["a", "b", "c"], n)
    y, z = rng.normal(2, 1, n), rng.normal(-1, 2, n)
    shift = np.array([{"a": 0.0, "b": 1.0, "c": -1.0}[v] for v in u])
    x = 1 + shift + 2 * y - 0.5 * z + rng.normal(0, 0.3, n)
    return {"u": u.tolist(), "y": y, "z": z, "x": x}


def columns(rows, keep=None):
    keep = np.ones(len(rows["x"]), bool) if keep is None else keep
    design = np.stack([np.ones(keep.sum()), rows["y"][keep], rows["z"][keep]], axis=1)
    return design, rows["x"][keep]


def test_least_squares_in_every_configuration():
    rows = some_rows()
    net = cr.fit("[u][y][z][x|u:y:z]", rows)
    line = net.cpt("x")
    for i, state in enumerate("abc"):
        design, x = columns(rows, np.array(rows["u"]) == state)
        beta, rss, *_ = np.linalg.lstsq(design, x, rcond=None)
        assert [line.intercept[i], *line.coefficients[i]] == pytest.approx(beta, rel=1e-10)
        assert line.variance[i] == pytest.approx(rss[0] / len(x), rel=1e-10)
    assert net.record.score == pytest.approx(net.log_likelihood(rows), rel=1e-12)
    sample = cr.fit("[u][y][z][x|u:y:z]", rows, sample_variance=True).cpt("x")
    assert sample.variance[0] == pytest.approx(
        line.variance[0] * (k := (np.array(rows["u"]) == "a").sum()) / (k - 3), rel=1e-12
    )
    assert line.posterior is None
    with pytest.raises(InputError, match="The line of 'x' has no posterior"):
        line.interval()


def test_the_reference_prior_gives_the_classical_intervals():
    rows = some_rows()
    net = cr.fit("[y][z][x|y:z]", rows, cr.BDeu(1))  # a prior of tables leaves lines to it
    line = net.cpt("x")
    design, x = columns(rows)
    beta, rss, *_ = np.linalg.lstsq(design, x, rcond=None)
    dof = len(x) - 3
    errors = np.sqrt(rss[0] / dof * np.diag(np.linalg.inv(design.T @ design)))
    for k, of in enumerate(("intercept", "y", "z")):
        t = stats.t(dof, beta[k], errors[k])
        assert tuple(line.interval(0.9, of=of)) == pytest.approx(
            (t.ppf(0.05), t.ppf(0.95)), rel=1e-9
        )
    low, high = line.interval(0.9, of="variance")
    chi2 = stats.chi2(dof)
    assert (low, high) == pytest.approx(
        (rss[0] / chi2.ppf(0.95), rss[0] / chi2.ppf(0.05)), rel=1e-9
    )
    assert line.variance == pytest.approx(rss[0] / (dof - 2), rel=1e-10)  # the posterior mean
    mode = cr.fit("[y][z][x|y:z]", rows, cr.LinePrior(), estimate="map").cpt("x")
    assert mode.variance == pytest.approx(rss[0] / (dof + 2 + 3), rel=1e-10)
    with pytest.raises(cr.errors.UnknownNameError, match="The coefficient 'w' is not one"):
        line.interval(of="w")


def test_a_proper_prior_is_the_textbook_regression():
    """Against the uncentred formulas of normal-inverse-gamma regression."""
    rows = some_rows(12)
    moments = cr.tally(rows, [("x", ["y", "z"])])["x", ["y", "z"]]
    lines = fit_lines(moments, PRIOR, "mean")
    design, x = columns(rows)
    design = design - np.array([0, *PRIOR.centre])
    m0 = np.array([PRIOR.mean, *PRIOR.slope])
    l0 = np.diag([PRIOR.kappa, *PRIOR.ridge])
    ln = l0 + design.T @ design
    mn = np.linalg.solve(ln, l0 @ m0 + design.T @ x)
    an = PRIOR.alpha + len(x) / 2
    bn = PRIOR.beta + 0.5 * (x @ x + m0 @ l0 @ m0 - mn @ ln @ mn)
    assert lines.coefficients == pytest.approx(mn[1:], rel=1e-10)
    assert lines.intercept == pytest.approx(mn[0] - mn[1:] @ PRIOR.centre, rel=1e-10)
    assert lines.variance == pytest.approx(bn / (an - 1), rel=1e-10)
    evidence = (
        -len(x) / 2 * math.log(2 * math.pi) + math.lgamma(an) - math.lgamma(PRIOR.alpha)
        + PRIOR.alpha * math.log(PRIOR.beta) - an * math.log(bn)
        + 0.5 * (np.linalg.slogdet(l0)[1] - np.linalg.slogdet(ln)[1])
    )  # fmt: skip
    assert line_log_marginal(moments, PRIOR) == pytest.approx(evidence, rel=1e-10)
    scale = np.sqrt(bn / an * np.linalg.inv(ln)[1, 1])
    t = stats.t(2 * an, mn[1], scale)
    assert tuple(lines.posterior.interval(0.8, "y", ("y", "z"))) == pytest.approx(
        (t.ppf(0.1), t.ppf(0.9)), rel=1e-9
    )
    # draws: mean and spread of each coefficient
    gen = [np.random.default_rng(s) for s in (1, 2)]
    intercept, slope, variance = lines.posterior.draw(200_000, *gen)
    assert slope.mean(axis=0) == pytest.approx(mn[1:], abs=5e-3)
    cov = bn / (an - 1) * np.linalg.inv(ln)
    assert np.cov(slope.T) == pytest.approx(cov[1:, 1:], rel=0.05)
    assert variance.mean() == pytest.approx(bn / (an - 1), rel=0.01)
    assert intercept.mean() == pytest.approx(float(lines.intercept), abs=5e-3)


def test_a_normal_inverse_gamma_is_a_line_without_slopes():
    rows = {"x": [4.0, 8.0, 6.0, 5.5]}
    belief = cr.distributions.NormalInverseGamma(5, 1, 2, 2)
    net = cr.fit("[x]", rows, belief)
    after = belief.update(rows["x"])
    assert net.p("x").mean == pytest.approx(after.mean().mean, rel=1e-12)
    assert net.p("x").variance == pytest.approx(after.mean().variance, rel=1e-12)
    assert net.record.details["log_marginal"] == pytest.approx(
        belief.log_marginal(rows["x"]), rel=1e-12
    )
    assert tuple(net.cpt("x").interval(0.9, of="intercept")) == pytest.approx(
        tuple(after.interval(0.9, of="mean")), rel=1e-9
    )
    reference = cr.fit("[x]", rows, cr.distributions.NormalInverseGamma.reference())
    assert reference.cpt("x").learned.prior == cr.LinePrior()
    with pytest.raises(InputError, match="says nothing of slopes"):
        cr.fit("[x][y|x]", {"x": rows["x"], "y": [1.0, 2.0, 2.5, 0.5]}, belief)


def test_the_sequential_product_is_the_marginal_likelihood():
    """Each value predicted by a Student t from the rows before it."""
    rows = some_rows(9)
    total = 0.0
    for i in range(9):
        before = {k: v[:i] for k, v in rows.items()}
        y = np.array([rows["y"][i], rows["z"][i]]) - PRIOR.centre
        if i == 0:
            weight, centre, mean, slope = PRIOR.kappa, np.zeros(2), PRIOR.mean, PRIOR.slope
            spread, a, b = np.diag(PRIOR.ridge), PRIOR.alpha, PRIOR.beta
        else:
            m = cr.Moments.of({k: before[k] for k in ("y", "z", "x")})
            p = fit_lines(m, PRIOR, "mean").posterior
            weight, centre, mean, slope = p.weight, p.centre - PRIOR.centre, p.mean, p.slope
            spread, a, b = p.spread, p.alpha, p.beta
        away = y - centre
        scale2 = b / a * (1 + 1 / weight + away @ np.linalg.inv(spread) @ away)
        total += stats.t(2 * a, mean + slope @ away, np.sqrt(scale2)).logpdf(rows["x"][i])
    moments = cr.Moments.of({k: rows[k] for k in ("y", "z", "x")})
    assert total == pytest.approx(line_log_marginal(moments, PRIOR), rel=1e-10)


def test_far_from_zero_nothing_is_lost():
    rng = np.random.default_rng(3)
    x = 1e9 + rng.normal(0, 1, 500)
    y = 3 * (x - 1e9) + rng.normal(0, 0.5, 500) - 4e8
    net = cr.fit("[x][y|x]", {"x": x, "y": y}, cr.LinePrior())
    mle = cr.fit("[x][y|x]", {"x": x, "y": y})
    centred = x - 1e9
    slope, _, *_ = stats.linregress(centred, y + 4e8)
    assert mle.cpt("x").variance == pytest.approx(centred.var(), rel=1e-6)
    assert net.cpt("y").coefficients.item() == pytest.approx(slope, rel=1e-7)
    rss = ((y + 4e8 - np.polyval(np.polyfit(centred, y + 4e8, 1), centred)) ** 2).mean()
    assert mle.cpt("y").variance == pytest.approx(rss, rel=1e-6)
    low, high = net.cpt("y").interval(0.95, of="x")
    assert low < slope < high and high - low < 0.1


def test_collinear_parents_are_refused_unless_a_ridge_holds_them():
    rng = np.random.default_rng(0)
    y = rng.normal(size=30)
    rows = {"y": y, "z": 2 * y, "x": y + rng.normal(size=30)}
    for prior in (None, cr.BDeu(1)):
        with pytest.raises(InputError, match="'y', 'z' of 'x' determine each other"):
            cr.fit("[y][z][x|y:z]", rows, prior)
    ridge = cr.LinePrior(ridge=1, kappa=1, alpha=2, beta=1)
    net = cr.fit("[y][z][x|y:z]", rows, {"x": ridge}, default=cr.LinePrior())
    assert np.isfinite(net.cpt("x").coefficients).all()
    with pytest.raises(InputError, match="or one of them never changes"):
        cr.fit("[x|y][y]", {"y": [1.0] * 8, "x": list(range(8))},
               schema={"x": "continuous", "y": "continuous"})  # fmt: skip


def test_a_constant_column_is_finite_and_warned_of():
    rows = cr.read({"x": [5.0] * 6, "c": ["a", "b"] * 3}, schema={"x": "continuous"})
    with pytest.warns(CredoWarning, match="x: some values do not vary around their line"):
        net = cr.fit("[c][x|c]", rows, cr.BDeu(1))
    assert (net.cpt("x").variance > 0).all() and (net.cpt("x").intercept == 5.0).all()
    assert net.p("x", {"c": "a"}).mean == 5.0


def test_a_class_of_one_row_takes_the_line_of_all():
    rng = np.random.default_rng(0)
    x = rng.normal(10, 2, 21)
    rows = {"c": ["a"] * 10 + ["b"] * 10 + ["c"], "x": x}
    for prior in (None, cr.LinePrior()):
        net = cr.fit("[c][x|c]", rows, prior)
        assert net.cpt("x").intercept[2] == pytest.approx(x.mean(), rel=1e-12)
        item = net.record.families["x"]
        assert item["unseen"] == 1 and item["unseen_first"] == (("c",),)
        assert "x: 1 configuration with too few rows took the line of all (first c=c)" in str(
            net.record
        )
        assert net.p("c", {"x": 10.0})["c"] > 0
    assert net.p("c", {"x": 10.0}, interval=0.9).draws == 1000


def test_too_few_rows_are_refused():
    few = {"x": [1.0, 2.5, 3.0, 4.5], "y": [1.0, 2.0, 2.5, 4.0]}
    with pytest.raises(InputError, match="The line of 'y' needs at least 5 rows"):
        cr.fit("[x][y|x]", few, cr.LinePrior())
    leaning = cr.fit("[x][y|x]", few, cr.BDeu(1)).cpt("y")  # a prior of unit information
    assert leaning.coefficients == pytest.approx(0.86, abs=0.05) and leaning.variance > 0.01
    with pytest.raises(InputError, match=r"The line of 'x' needs at least 2 rows .* got 1"):
        cr.fit("[x]", cr.read({"x": [1.5]}, schema={"x": "continuous"}))


def test_lines_are_updated_tied_and_held(tmp_path):
    rows = some_rows(60)
    table = cr.read(rows)
    dag = "[u][y|u][z|u][x|u:y:z]"
    fixed = cr.LinearGaussian(table.schema["z"], (table.schema["u"],), 0.0, np.zeros((3, 0)), 4.0)
    for options in (
        {"prior": cr.BDeu(2)},
        {},
        {"prior": cr.LinePrior(kappa=1, ridge=1, alpha=2, beta=1), "estimate": "map"},
        {"prior": cr.BDeu(1), "tied": [["y", "z"]]},
        {"prior": cr.BDeu(1), "fixed": {"z": fixed}},
        {"sample_variance": True},
    ):
        whole = cr.fit(dag, table, **options)
        net = cr.fit(dag, table.take(slice(0, 35)), **options)
        net.save(tmp_path / "n.credo")
        net = cr.load(tmp_path / "n.credo").update(table.take(slice(35, 60)))
        for name in "yzx":
            a, b = net.cpt(name), whole.cpt(name)
            for part in ("intercept", "coefficients", "variance"):
                assert getattr(a, part) == pytest.approx(getattr(b, part), rel=1e-11, abs=1e-12)
            if b.posterior is not None:
                assert a.interval(0.9).lower == pytest.approx(b.interval(0.9).lower, rel=1e-10)
        assert net.record.score == pytest.approx(whole.record.score, rel=1e-12)
        assert whole.record.score == pytest.approx(whole.log_likelihood(rows), rel=1e-11)
        if "tied" in options:
            assert (whole.cpt("y").intercept == whole.cpt("z").intercept).all()
        if "fixed" in options:
            assert (net.cpt("z").variance == 4.0).all() and net.cpt("z").posterior is None


def test_fixed_lines_and_bad_priors():
    rows = some_rows(20)
    with pytest.raises(InputError, match="The fixed 'y' needs a LinearGaussian"):
        cr.fit("[y]", rows, fixed={"y": 3.0})
    with pytest.raises(InputError, match="must be LinePrior, NormalInverseGamma or None, got 3"):
        cr.fit("[y]", rows, prior=3)
    with pytest.raises(InputError, match="must be one number or 1, one for each"):
        cr.fit("[y][x|y]", rows, {"x": PRIOR})
    for bad in (
        {"kappa": -1},
        {"mean": math.inf},
        {"ridge": -1.0},
        {"slope": "x"},
        {"ridge": [[1]]},
    ):
        with pytest.raises(InputError, match="of a LinePrior"):
            cr.LinePrior(**bad)
    assert cr.LinePrior() != PRIOR and hash(PRIOR) == hash(PRIOR) and "kappa=0.7" in repr(PRIOR)
    assert cr.LinePrior().__eq__(3) is NotImplemented
    assert cr.fit("[u][y|u]", rows, cr.LinePrior()).cpt("u").counts is None


def test_lines_that_would_not_fit_are_refused():
    variables = tuple(cr.Variable(f"v{i}", "discrete", tuple(range(100))) for i in range(4))
    x = cr.Variable("x", "continuous")
    with pytest.raises(LimitError, match="The lines of 'x' would have 200,000,000 numbers"):
        fit_lines(
            cr.Moments((*variables, cr.Variable("w", "discrete", (0, 1))), (x,),
                       np.zeros((0, 5), np.uint32), np.zeros(0), np.zeros((0, 1)),
                       np.zeros((0, 1, 1))),
            None, "mle",
        )  # fmt: skip


def test_a_constant_that_rounds_is_constant():
    rows = {"x": [0.1] * 7 + [0.1 + 1e-17] * 3, "c": ["a", "b"] * 5}
    table = cr.read(rows, schema={"x": "continuous"})
    with pytest.warns(CredoWarning, match="x: some values do not vary"):
        net = cr.fit("[c][x|c]", table)
    assert net.cpt("x").variance == pytest.approx(1e-6)
    exact = cr.fit("[x][y|x]", {"x": [1.0, 2.0, 3.0, 4.5], "y": [2.0, 4.0, 6.0, 9.5]})
    assert (exact.cpt("y").variance > 0).all()
    with pytest.warns(CredoWarning, match="y: some values do not vary around their line"):
        net = cr.fit("[x][y|x]", {"x": [1.0, 2.0, 3.0, 4.5], "y": [2.0, 4.0, 6.0, 9.0]})
    assert net.cpt("y").coefficients.item() == pytest.approx(2.0)


def test_a_posterior_must_fit():
    from credo.model.networks.linear_gaussian import LinePosterior

    good = [np.ones(2), np.zeros((2, 1)), np.zeros(2), np.zeros((2, 1)), np.ones((2, 1, 1)),
            np.ones(2), np.ones(2)]  # fmt: skip
    posterior = LinePosterior(*good)
    assert posterior.shape == (2,) and posterior.parents == 1
    for at, bad, says in [
        (2, np.zeros(3), "The mean of a line's posterior must have the shape"),
        (5, np.zeros(2), "The alpha of a line's posterior must be above 0"),
        (4, np.full((2, 1, 1), np.inf), "must be finite"),
    ]:
        with pytest.raises(InputError, match=says):
            LinePosterior(*(bad if i == at else g for i, g in enumerate(good)))
    x, y = cr.Variable("x", "continuous"), cr.Variable("y", "continuous")
    with pytest.raises(InputError, match="The posterior of 'y' does not fit its lines"):
        cr.LinearGaussian(y, (x,), 0.0, [1.0], 1.0, posterior)


def test_configurations_of_discrete_parents_and_gaps_in_lines():
    """Lines by two discrete parents, some never seen, with missing cells."""
    rng = np.random.default_rng(1)
    u, w = rng.integers(0, 2, 60), rng.integers(0, 3, 60)
    x = u + rng.normal(size=60)
    x[:5] = np.nan
    keep = ~((u == 1) & (w == 2))
    rows = {"u": u[keep].astype(str).tolist(), "w": w[keep].astype(str).tolist(), "x": x[keep]}
    net = cr.fit("[u][w][x|u:w]", rows, cr.LinePrior(kappa=1, alpha=2, beta=1))
    item = net.record.families["x"]
    assert item["skipped"] == np.isnan(rows["x"]).sum() and item["log_marginal"] is not None
    assert net.cpt("x").intercept[1, 2] == 0.0  # never seen: the prior alone, which is proper
    assert item["unseen"] == 0
    gone = {"x": [1.5, None, 2.5, 2.0], "c": [None, "a", None, None]}
    empty = cr.read(gone, schema={"x": "continuous", "c": ["a", "b"]})
    with pytest.raises(InputError, match="needs at least 2 rows"):
        cr.fit("[c][x|c]", empty)
    net = cr.fit("[c][x|c]", empty, {"x": cr.LinePrior(kappa=1, alpha=2, beta=1)}, default=cr.K2())
    assert net.record.families["x"]["rows"] == 0 and net.record.families["x"]["log_marginal"] == 0.0


PRIORS = [None, cr.LinePrior(), cr.LinePrior(slope=3.0, alpha=2.0),
          cr.LinePrior(1.0, 2.0, 0.5, [3.0, 0.0], 2.0, 1.0, 0.1)]  # fmt: skip


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("estimate", ["mean", "map", "mle", "sample"])
def test_one_configuration_is_solved_once_with_the_same_numbers(prior, estimate):
    """A discrete parent with one state: the same rows, solved as a configuration and as a whole."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 9))
    rows = {"x": x, "y": y, "z": x - 2 * y + rng.normal(size=9)}
    one = cr.Variable("one", "discrete", ("only",))
    bare = cr.Moments.of(rows)
    grouped = cr.Moments(
        (one,), bare.continuous, np.zeros((1, 1), dtype=np.uint32), bare.n, bare.mean, bare.scatter
    )
    alone, among = (fit_lines(m, prior, estimate) for m in (bare, grouped))
    for what in ("intercept", "coefficients", "variance", "borrowed"):
        assert np.array_equal(getattr(alone, what), getattr(among, what)[0]), what
    if prior is not None:
        for what in ("weight", "centre", "mean", "slope", "spread", "alpha", "beta"):
            found, wanted = getattr(alone.posterior, what), getattr(among.posterior, what)[0]
            assert np.array_equal(found, wanted), what


def test_no_imagined_rows_is_the_reference():
    for none in (cr.LinePrior(), cr.LinePrior(slope=2.0, alpha=1.0)):
        assert _imagines_nothing(none)
    for some in ({"mean": 1.0}, {"kappa": 1.0}, {"ridge": [0.0, 1.0]}, {"beta": 1.0},
                 {"centre": [0.0, 3.0]}):  # fmt: skip
        assert not _imagines_nothing(cr.LinePrior(**some))


@pytest.mark.parametrize("estimate", ["mean", "map", "mle", "sample"])
def test_the_reference_needs_no_algebra_of_imagined_rows(estimate, monkeypatch):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 9))
    moments = cr.Moments.of({"x": x, "y": y, "z": x - 2 * y + rng.normal(size=9)})
    prior = cr.LinePrior(slope=3.0, alpha=2.0)
    short = fit_lines(moments, prior, estimate)
    monkeypatch.setattr("credo.train.parameters.lines._imagines_nothing", lambda prior: False)
    whole = fit_lines(moments, prior, estimate)
    for what in ("intercept", "coefficients", "variance"):
        assert np.array_equal(getattr(short, what), getattr(whole, what)), what
    for what in ("weight", "centre", "mean", "slope", "spread", "alpha", "beta"):
        found, wanted = getattr(short.posterior, what), getattr(whole.posterior, what)
        assert np.array_equal(found, wanted), what


def additive_rows(n=400, seed=0):
    """Levels of three discrete parents that add up, and a state of few rows: h = 2."""
    rng = np.random.default_rng(seed)
    g, h, k = rng.integers(0, 4, n), rng.choice(3, n, p=[0.6, 0.37, 0.03]), rng.integers(0, 3, n)
    y = rng.normal(size=n)
    x = 3.0 * g + 5.0 * h - 2.0 * k + y + rng.normal(0, 1.0, n)
    return {"g": [f"g{i}" for i in g], "h": [f"h{i}" for i in h], "k": [f"k{i}" for i in k],
            "y": y, "x": x}  # fmt: skip


def test_several_discrete_parents_lean_on_their_main_effects():
    rows = additive_rows()
    line = cr.fit("[g][h][k][y][x|g:h:k:y]", rows, cr.BDeu(10)).cpt("x")
    g, h, k = np.ogrid[:4, :3, :3]
    truth = 3.0 * g + 5.0 * h - 2.0 * k
    assert np.abs(line.intercept - truth).max() < 1.6  # every configuration, those of no row too
    assert np.abs(line.coefficients[..., 0] - 1).max() < 0.6
    moments = cr.tally(rows, [("x", ["g", "h", "k", "y"])])["x", ["g", "h", "k", "y"]]
    level = pooled_prior(moments)
    prior = with_main_effects(level, moments)
    assert np.abs(prior.mean - truth).max() < np.abs(level.mean - truth).max() / 4
    assert (prior.kappa > level.kappa).all()
    assert prior.kappa[:, 2].max() < prior.kappa[:, 0].min()  # less is known of a rare state
    alone = cr.tally(rows, [("x", ["g", "y"])])["x", ["g", "y"]]
    assert with_main_effects(pooled_prior(alone), alone) == pooled_prior(alone)


def test_main_effects_are_kept_by_em_and_files(tmp_path):
    rows = additive_rows(150)
    rows["x"] = [None if i % 10 == 0 else x for i, x in enumerate(rows["x"])]
    net = cr.em("[g][h][k][y][x|g:h:k:y]", rows, prior=cr.BDeu(10))
    assert np.shape(net.cpt("x").learned.prior.mean) == (4, 3, 3)
    net.save(tmp_path / "net.credo")
    again = cr.load(tmp_path / "net.credo")
    assert again.cpt("x").learned.prior == net.cpt("x").learned.prior
    assert again.update(rows).cpt("x").variance.shape == (4, 3, 3)
    with pytest.raises(InputError, match="The mean of the prior of 'x' must be one number"):
        cr.fit("[g][x|g]", rows, prior={"x": cr.LinePrior(mean=[1.0, 2.0], kappa=[1.0, 1.0])})
    with pytest.raises(InputError, match="kappa of a LinePrior is out of range"):
        cr.LinePrior(mean=[1.0, 2.0], kappa=[1.0, -1.0])


@pytest.mark.filterwarnings("ignore:[xy]. some values do not vary around their line")
@pytest.mark.parametrize("grouped", [False, True])
def test_a_relation_that_is_exact_but_for_a_row_foretells_it(grouped):
    rng = np.random.default_rng(0)
    x = rng.normal(13.5, 4.5, 80).round(1)
    y = 24 - x
    y[7] += 0.05
    rows = {"x": x, "y": y}
    if grouped:
        rows["g"] = np.where(x + rng.normal(0, 3, 80) > 13, "a", "b")
    table = cr.read(rows)
    ahead = np.zeros(80)
    for fold in range(5):
        mine = np.arange(80) % 5 == fold
        seen, new = table.take(np.flatnonzero(~mine)), table.take(np.flatnonzero(mine))
        net = cr.learn(seen)
        alone = cr.fit(cr.Dag([], seen.schema.names), seen, prior=cr.BDeu(1))
        ahead[mine] = row_log_likelihoods(net, new) - row_log_likelihoods(alone, new)
    assert np.isfinite(ahead).all() and ahead.mean() > 4
