"""Missing cells and parameters drawn in turn after EM: exact enumeration, limits, files, labels."""

import itertools
import pickle

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import beta, chi2, kstest

import credo as cr
from credo.predict.intervals.draws import Draws

ROWS = [(0, 0), (0, 0), (0, 1), (1, 1), (1, 1), (1, 0), (None, 1), (None, 0), (0, None),
        (1, None), (None, None), (1, 1)]  # fmt: skip
TINY = cr.read({"a": [a for a, _ in ROWS], "b": [b for _, b in ROWS]}, {"a": [0, 1], "b": [0, 1]})
INCLUDED = "the interval includes what the gaps leave uncertain"


def log_marginal(n, alpha):
    each = gammaln(alpha.sum(-1)) - gammaln((alpha + n).sum(-1))
    return float((each + (gammaln(alpha + n) - gammaln(alpha)).sum(-1)).sum())


def completions(rows, alpha_a, alpha_b):
    """The probability of each pair of completed counts, by going through all completions."""
    gaps = [(i, j) for i, r in enumerate(rows) for j in (0, 1) if r[j] is None]
    out = {}
    for fill in itertools.product((0, 1), repeat=len(gaps)):
        full = [list(r) for r in rows]
        for (i, j), value in zip(gaps, fill, strict=True):
            full[i][j] = value
        n_b = np.zeros((2, 2))
        for a, b in full:
            n_b[a, b] += 1
        weight = np.exp(log_marginal(n_b.sum(1), alpha_a) + log_marginal(n_b, alpha_b))
        key = tuple(n_b.ravel())
        out[key] = out.get(key, 0.0) + weight
    total = sum(out.values())
    return {k: w / total for k, w in out.items()}


@pytest.fixture(scope="module")
def tiny():
    return cr.em("[a][b|a]", TINY, cr.BDeu(2), draws=5000)


def test_the_completions_are_those_of_enumeration(tiny):
    alpha_a, alpha_b = np.ones(2), np.full((2, 2), 0.5)
    exact = completions(ROWS, alpha_a, alpha_b)
    found = tiny.cpt("b").learned.completed - alpha_b
    assert (tiny.cpt("a").learned.completed - alpha_a == found.sum(axis=-1)).all()
    keys, n = np.unique(found.reshape(len(found), -1), axis=0, return_counts=True)
    seen = {tuple(k): c / len(found) for k, c in zip(keys, n, strict=True)}
    assert set(seen) <= set(exact)
    r = tiny.record.details["resemblance"]
    effective = len(found) * (1 - r) / (1 + r)
    for key, p in exact.items():
        error = np.sqrt(p * (1 - p) / effective)
        assert abs(seen.get(key, 0.0) - p) < 4.5 * error + 1 / effective, key


def test_the_posterior_is_the_mixture_of_dirichlets_over_completions(tiny):
    exact = completions(ROWS, np.ones(2), np.full((2, 2), 0.5))

    def share(x):
        return sum(w * beta.cdf(x, 1 + k[2] + k[3], 1 + k[0] + k[1]) for k, w in exact.items())

    drawn = Draws(tiny, 0, 5000).next(["a"], 5000)["a"][:, 1]
    assert kstest(drawn, share).statistic < 0.03
    span = tiny.cpt("a").interval(0.95)
    for end, q in ((span.lower[1], 0.025), (span.upper[1], 0.975)):
        assert abs(share(end) - q) < 0.008
    assert 0 < span.error.max() < 0.01
    answer = tiny.ask("P(a=1)", interval=0.95, draws=20_000)
    assert abs(share(answer.low) - 0.025) < 0.006 and abs(share(answer.high) - 0.975) < 0.006
    assert answer.notes == (INCLUDED,)
    alone = cr.em("[a][b|a]", TINY, cr.BDeu(2), draws=0).cpt("a").interval(0.95)
    assert np.all(span.width > 1.05 * alone.width)  # what was left out before


def test_without_gaps_the_posterior_is_the_conjugate_one():
    whole = TINY.take(np.array([None not in r for r in ROWS]))
    net, fit = cr.em("[a][b|a]", whole, cr.BDeu(2)), cr.fit("[a][b|a]", whole, cr.BDeu(2))
    assert net.cpt("a").learned.completed is None
    assert net.ask("P(a=1 | b=1)", interval=0.9) == fit.ask("P(a=1 | b=1)", interval=0.9)
    # one gap in a leaf by itself tells nothing and leaves the other family as it is
    rows = {"a": [0, 0, 1, 1, 1, 0, 1], "b": [0, 1, 1, 1, 0, 0, None]}
    known = cr.em("[a][b|a]", rows, cr.BDeu(2))
    assert known.cpt("a").learned.completed is None
    drawn = Draws(known, 0, 4000).next(["b"], 4000)["b"].reshape(-1, 2, 2)
    assert kstest(drawn[:, 1, 1], beta(2.5, 1.5).cdf).pvalue > 1e-3


def test_lines_are_drawn_from_what_the_observed_rows_leave():
    """Gaps in a leaf tell nothing: its line has the posterior of the rows that have it."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=30)
    y = 1 + 2 * x + rng.normal(size=30)
    gone = np.arange(30) >= 18
    net = cr.em("[x][y|x]", {"x": x, "y": np.where(gone, np.nan, y)}, cr.LinePrior(), draws=1000)
    want = cr.fit("[x][y|x]", {"x": x[~gone], "y": y[~gone]}, prior=cr.LinePrior()).cpt("y")
    for of in ("intercept", "x", "variance"):
        found, exact = net.cpt("y").interval(0.95, of=of), want.interval(0.95, of=of)
        width = exact.upper - exact.lower
        assert abs(found.lower - exact.lower) < 0.12 * width, of
        assert abs(found.upper - exact.upper) < 0.12 * width, of
        assert 0 < found.error < 0.1 * width
    wide = net.p("y", given={"x": 1.0}, interval=0.95)
    assert wide.notes == (INCLUDED,)


def test_a_whole_weight_is_so_many_rows():
    rows = {"a": [0, 1, None, 0, None], "b": [0, 1, 1, None, 0], "w": [9, 7, 12, 5, 3]}
    table = cr.read(rows, weights="w")
    many = cr.read({n: np.repeat(np.array(rows[n], object), rows["w"]) for n in "ab"})
    one, two = (cr.em("[a][b|a]", t, cr.BDeu(1), draws=2000) for t in (table, many))
    spans = [net.ask("P(b=1)", interval=0.95, draws=4000) for net in (one, two)]
    assert abs(spans[0].low - spans[1].low) < 4 * (spans[0].error + spans[1].error)
    counts = one.cpt("b").learned.completed - 0.25
    assert (counts == counts.round()).all() and (counts.sum(axis=(1, 2)) == 36).all()


def test_rows_too_wide_for_enumeration_are_drawn_in_blocks(monkeypatch):
    """The same posterior when every row with gaps is left to the engine."""
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 60)
    b = np.where(rng.random(60) < 0.8, a, 1 - a)
    c = np.where(rng.random(60) < 0.8, b, 1 - b)
    rows = {
        n: np.where(rng.random(60) < 0.4, None, v.astype(object))
        for n, v in {"a": a, "b": b, "c": c}.items()
    }
    graph = "[a][b|a][c|b]"
    usual = cr.em(graph, rows, cr.BDeu(1), draws=2000)
    monkeypatch.setattr("credo.train.em.far_step._STATES", 1)
    monkeypatch.setattr("credo.train.em.augment._BLOCK", 2)  # one variable at a time
    wide = cr.em(graph, rows, cr.BDeu(1), draws=2000)
    for name in "abc":
        one, two = (net.cpt(name).learned.completed for net in (usual, wide))
        error = np.sqrt((one.var(axis=0) + two.var(axis=0)) / 2000 * 8)
        assert (np.abs(one.mean(axis=0) - two.mean(axis=0)) < 4 * error).all()
        assert np.allclose(one.std(axis=0), two.std(axis=0), rtol=0.25)


def test_imputed_copies_have_parameters_of_their_own(tiny):
    """Rubin's between-copy spread of a mean: that of the parameters, beside that of the cells."""
    rows = {"a": [None] * 400, "b": [1] * 400}
    shares = [np.mean(t["a"]) for t in tiny.impute(rows, "sample", copies=200, rng=0)]
    drawn = Draws(tiny, 0, 5000).next(["a", "b"], 5000)
    joint = drawn["a"][:, :, None] * drawn["b"].reshape(-1, 2, 2)
    p = joint[:, 1, 1] / joint[:, :, 1].sum(axis=1)
    want = p.var() + np.mean(p * (1 - p)) / 400
    assert 0.75 < np.var(shares) / want < 1.3
    fixed = cr.em("[a][b|a]", TINY, cr.BDeu(2), draws=0)
    before = [np.mean(t["a"]) for t in fixed.impute(rows, "sample", copies=50, rng=0)]
    assert np.var(before) < 0.2 * want
    again = tiny.impute(rows, "sample", copies=2, rng=7)
    assert [list(t["a"]) for t in again] == [
        list(t["a"]) for t in tiny.impute(rows, "sample", copies=2, rng=7)
    ]


def test_a_file_keeps_what_intervals_need(tiny, tmp_path):
    rng = np.random.default_rng(2)
    group = rng.integers(0, 2, 40)
    x = np.where(rng.random(40) < 0.3, np.nan, group + rng.normal(size=40))
    mixed = cr.em("[g][x|g]", {"g": group, "x": x}, cr.BDeu(1), draws=50)
    for net, question in ((tiny, "P(a=1 | b=1)"), (mixed, "P(x > 0.5)")):
        net.save(tmp_path / "net.credo")
        for again in (cr.load(tmp_path / "net.credo"), pickle.loads(pickle.dumps(net))):
            before, after = (n.ask(question, interval=0.95) for n in (net, again))
            assert before == after and before.interval == after.interval
            assert after.notes == before.notes and INCLUDED in after.notes


def test_threads_change_no_bit():
    rng = np.random.default_rng(3)
    h = rng.integers(0, 3, 3000)
    rows = {
        q: np.where(
            rng.random(3000) < 0.3, None, ((h + rng.integers(0, 2, 3000)) % 3).astype(object)
        )
        for q in ("q1", "q2", "q3")
    }
    nets = [cr.em("[q1][q2|q1][q3|q1]", rows, cr.BDeu(1), draws=20, threads=t) for t in (1, 3)]
    for name in ("q1", "q2", "q3"):
        one, two = (net.cpt(name).learned.completed for net in nets)
        assert (one == two).all()


def test_states_of_a_hidden_variable_keep_their_names():
    rng = np.random.default_rng(4)
    n = 120  # few rows and weak columns: a chain without names would exchange them
    h = rng.random(n) < 0.5
    rows = {q: np.where(rng.random(n) < 0.75, h, ~h).astype(int) for q in ("q1", "q2", "q3", "q4")}
    graph = "[H][q1|H][q2|H][q3|H][q4|H]"
    net = cr.em(graph, rows, cr.BDeu(2), hidden={"H": 2}, draws=400)
    assert net.record.details["labels_exchanged"] > 0
    completed = net.cpt("q1").learned.completed
    share = completed[:, :, 1] / completed.sum(axis=-1)
    best = net.cpt("q1").values[:, 1]
    nearer = np.abs(share - best).sum(axis=1) < np.abs(share[:, ::-1] - best).sum(axis=1)
    assert nearer.mean() > 0.85
    # of what is observed the names do not matter
    seen = net.ask("P(q1=1)", interval=0.95)
    assert abs(float(seen) - np.mean(rows["q1"])) < 0.03
    assert seen.low < np.mean(rows["q1"]) < seen.high


def test_tied_and_fixed_families_stay_so():
    rng = np.random.default_rng(5)
    a = rng.integers(0, 2, 80)
    rows = {
        n: np.where(
            rng.random(80) < 0.3, None, np.where(rng.random(80) < 0.8, a, 1 - a).astype(object)
        )
        for n in ("b", "c")
    } | {"a": np.where(rng.random(80) < 0.2, None, a.astype(object))}
    table = cr.read(rows, {n: [0, 1] for n in "abc"})
    fixed = cr.Cpt.of(table.schema["a"], [], [0.5, 0.5])
    net = cr.em("[a][b|a][c|a]", table, cr.BDeu(1), tied=[("b", "c")], fixed={"a": fixed})
    assert net.cpt("a").learned.completed is None
    assert (net.cpt("b").learned.completed == net.cpt("c").learned.completed).all()
    drawn = Draws(net, 0, 100).next("abc", 100)
    assert "a" not in drawn and (drawn["b"] == drawn["c"]).all()


def test_where_nothing_is_drawn_the_note_stays_and_the_record_says_why(monkeypatch):
    factor = cr.em(
        "[F][x|F][y|F]", {"x": [1.0, 2.0, 3.5, 4.0, 5.5], "y": [1.2, 1.9, 3.1, 4.4, 5.0]},
        cr.LinePrior(), hidden={"F": "continuous"}, max_iter=20,
    )  # fmt: skip
    assert any("the gaps were not drawn" in n for n in factor.record.notes)
    assert cr.em("[a][b|a]", TINY, draws=50).record.details.get("completions") is None  # no prior
    late = cr.em("[a][b|a]", TINY, cr.BDeu(1), seconds=1e-9)
    assert any("no time left" in n for n in late.record.notes)
    assert "leaves out how sure that is" in late.ask("P(a=1)", interval=0.9).notes[0]
    monkeypatch.setattr("credo.train.em.augment._NUMBERS", 100)
    many = cr.em("[a][b|a]", TINY, cr.BDeu(1))
    assert any("200 completions of 6 numbers are more than 100" in n for n in many.record.notes)
    with pytest.raises(cr.errors.InputError, match="draws=3 completions say too little"):
        cr.em("[a][b|a]", TINY, cr.BDeu(1), draws=3)


def test_a_chain_that_moves_slowly_is_thinned_and_its_error_told():
    rng = np.random.default_rng(6)
    h = rng.integers(0, 2, 300)
    rows = {q: np.where(rng.random(300) < 0.8, h, 1 - h) for q in ("q1", "q2", "q3")}
    net = cr.em("[H][q1|H][q2|H][q3|H]", rows, cr.BDeu(1), hidden={"H": 2}, restarts=2, draws=100)
    details = net.record.details
    assert details["sweeps"] <= max(220, 8 * 11 * details["iterations"])
    apart = (details["sweeps"] - 20) // 100
    assert apart == 1 or apart % 2 == 0
    if details["resemblance"] > 0.8:
        assert any("resemble each other" in n for n in net.record.notes)
    chained = net.ask("P(q1=1 | H=0)", interval=0.95)
    alone = cr.em(
        "[H][q1|H][q2|H][q3|H]", rows, cr.BDeu(1), hidden={"H": 2}, restarts=2, draws=0
    ).ask("P(q1=1 | H=0)", interval=0.95)
    assert chained.interval.width > alone.interval.width
    assert chained.error > alone.error


def test_the_drawn_counts_have_the_right_spread():
    """Many rows of one kind: a binomial, whose mean and variance are known."""
    table = cr.read({"a": [0, 1, None], "b": [0, 1, 1], "w": [600, 400, 5000]}, weights="w")
    fixed = {"a": cr.Cpt.of(table.schema["a"], [], [0.6, 0.4]),
             "b": cr.Cpt.of(table.schema["b"], [table.schema["a"]], [[0.7, 0.3], [0.2, 0.8]])}  # fmt: skip
    from credo.train.em.setup import prepared

    options = dict.fromkeys(("start", "hidden", "default", "estimate", "weights", "schema"))
    em = prepared("[a][b|a]", table, None, fixed=fixed, tied=(), threads=1, **options).em
    theta = np.concatenate([fixed["a"].values.ravel(), fixed["b"].values.ravel()])
    n = np.array([em.rows.native.draw(theta, np.zeros(0), s)[0][1] - 400 for s in range(4000)])
    p = 0.4 * 0.8 / (0.4 * 0.8 + 0.6 * 0.3)
    assert abs(n.mean() - 5000 * p) < 4 * np.sqrt(5000 * p * (1 - p) / 4000)
    ratio = n.var() / (5000 * p * (1 - p))
    assert chi2.ppf(1e-4, 3999) / 3999 < ratio < chi2.ppf(1 - 1e-4, 3999) / 3999
