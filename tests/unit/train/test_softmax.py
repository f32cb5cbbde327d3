"""Softmax families: a state given numbers, against scikit-learn, brute force and integration."""

import json

import numpy as np
import pytest
from scipy import integrate, stats
from tests.unit.formats.test_credo_file import opened

import credo as cr
from credo.errors import InputError, SchemaError
from credo.formats import dumps

GRAPH = "[sex][age|sex][bp|age][ill|sex:age:bp][stage|sex:age][cough|ill]"


def drawn(n, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    age = rng.normal(np.where(sex == "f", 50, 45), 12)
    bp = rng.normal(100 + 0.5 * age, 10)
    eta = -8 + 0.12 * age + 0.02 * (bp - 120) + 0.8 * (sex == "m")
    ill = np.where(rng.random(n) < 1 / (1 + np.exp(-eta)), "yes", "no")
    lean = np.stack([0 * age, 0.05 * (age - 50) + 0.5 * (sex == "f"), 0.1 * (age - 55)], axis=1)
    stage = np.array(["I", "II", "III"])[(lean + rng.gumbel(size=(n, 3))).argmax(axis=1)]
    cough = np.where(rng.random(n) < np.where(ill == "yes", 0.8, 0.2), "yes", "no")
    return {"sex": sex, "age": age, "bp": bp, "ill": ill, "stage": stage, "cough": cough}


ROWS = drawn(600)


@pytest.fixture(scope="module")
def net():
    return cr.fit(GRAPH, ROWS, cr.BDeu(1))


def logistic(names, target, inverse):
    """scikit-learn's regression on the same columns, numbers in standard deviations."""
    from sklearn.linear_model import LogisticRegression

    columns = [(ROWS["sex"] == s).astype(float) for s in ("f", "m")]
    columns += [(ROWS[n] - ROWS[n].mean()) / ROWS[n].std() for n in names]
    x = np.column_stack(columns)
    model = LogisticRegression(C=inverse, tol=1e-10, max_iter=10_000).fit(x, ROWS[target])
    return model, x


# --- learning -----------------------------------------------------------------------------


def test_two_states_have_the_coefficients_of_scikit_learn(net):
    """Its penalty is of one vector, ours of two with opposite signs: C = 2/ridge."""
    model, _ = logistic(["age", "bp"], "ill", 2.0)
    local = net.cpt("ill")
    slope = local.coefficients[0, 1] - local.coefficients[0, 0]
    spread = np.array([ROWS["age"].std(), ROWS["bp"].std()])
    np.testing.assert_allclose(slope * spread, model.coef_[0, 2:], atol=1e-4)
    centre = np.array([ROWS["age"].mean(), ROWS["bp"].mean()])
    level = local.intercept[:, 1] - local.intercept[:, 0] + slope @ centre
    np.testing.assert_allclose(level, model.intercept_[0] + model.coef_[0, :2], atol=1e-4)


def test_three_states_have_the_probabilities_of_scikit_learn(net):
    model, x = logistic(["age"], "stage", 1.0)
    rows = {n: c for n, c in ROWS.items() if n != "stage"}
    found = net.predict_proba(rows, "stage")
    np.testing.assert_allclose(found, model.predict_proba(x), atol=1e-5)
    slopes = net.cpt("stage").coefficients[0, :, 0] * ROWS["age"].std()
    np.testing.assert_allclose(slopes, model.coef_[:, 2], atol=1e-4)


def test_another_ridge_is_given_by_a_prior():
    one, two = (
        cr.fit("[age][ill|age]", ROWS, {"ill": cr.LinePrior(ridge=r)}, default=cr.BDeu(1))
        for r in (1e-3, 100.0)
    )
    a, b = (abs(n.cpt("ill").coefficients[1, 0]) for n in (one, two))
    assert b < 0.8 * a and two.record.families["ill"]["prior"] == "ridge 100"


def test_states_that_can_be_told_apart_without_error_have_an_end():
    rows = {"x": [1.0, 2, 3, 4, 5, 6], "y": list("aaabbb")}
    net = cr.fit("[x][y|x]", rows, schema={"x": "continuous"})
    assert np.isfinite(net.cpt("y").coefficients).all()
    assert net.p("y", {"x": 6.0})["b"] > 0.8


def test_a_state_that_no_row_shows_keeps_a_probability():
    table = cr.read(ROWS, {"ill": ["no", "yes", "maybe"]})
    p = cr.fit("[age][ill|age]", table).p("ill", {"age": 50.0})
    assert 0 < p["maybe"] < 0.01 and sum(p.values()) == pytest.approx(1)


def test_weights_gaps_and_streams(tmp_path):
    half = {n: c[:300] for n, c in ROWS.items()} | {"w": np.where(np.arange(300) % 3, 1, 2)}
    copies = {n: np.repeat(c, half["w"]) for n, c in half.items() if n != "w"}
    one = cr.fit("[age][ill|age]", cr.read(half, None, "w"))
    two = cr.fit("[age][ill|age]", copies)
    np.testing.assert_allclose(one.cpt("ill").coefficients, two.cpt("ill").coefficients, rtol=1e-9)
    gaps = dict(ROWS, age=np.where(np.arange(600) < 20, np.nan, ROWS["age"]))
    told = cr.fit("[age][ill|age]", gaps).record.families["ill"]
    assert (told["rows"], told["skipped"]) == (580, 20)
    path = tmp_path / "rows.csv"
    lines = zip(ROWS["age"].tolist(), ROWS["ill"], strict=True)
    path.write_text("age,ill\n" + "\n".join(f"{a!r},{b}" for a, b in lines))
    streamed = cr.fit("[age][ill|age]", cr.read(path, memory="1 kB"))
    whole = cr.fit("[age][ill|age]", ROWS)
    np.testing.assert_allclose(
        streamed.cpt("ill").coefficients, whole.cpt("ill").coefficients, rtol=1e-9
    )


def test_a_number_in_bins_stays_a_table():
    net = cr.fit("[age][ill|age]", ROWS, cr.BDeu(1), numbers="auto")
    assert isinstance(net.cpt("ill"), cr.Cpt)


def test_a_transformed_number_is_taken_behind_its_transform():
    rows = {"x": np.exp(ROWS["age"] / 20), "y": ROWS["ill"]}
    net = cr.fit("[x][y|x]", rows, numbers={"x": "log"})
    plain = cr.fit("[x][y|x]", {"x": np.log(rows["x"]), "y": rows["y"]})
    np.testing.assert_allclose(net.cpt("y").coefficients, plain.cpt("y").coefficients)
    a, b = net.p("y", {"x": 12.0}), plain.p("y", {"x": np.log(12.0)})
    assert a["yes"] == pytest.approx(b["yes"])
    assert net.cpt("y").given({"x": 12.0})["yes"] == pytest.approx(b["yes"])


# --- exact answers ------------------------------------------------------------------------


def test_known_numbers_make_it_a_table(net):
    """P(cough | age, bp) by summing over sex and ill by hand."""
    age, bp = 60.0, 130.0
    line = net.cpt("age")
    sex = net.cpt("sex").values * stats.norm.pdf(age, line.intercept, np.sqrt(line.variance))
    sex = sex / sex.sum()
    ill = np.stack([list(net.cpt("ill").given({"sex": s, "age": age, "bp": bp}).values())
                    for s in ("f", "m")])  # fmt: skip
    want = sex @ ill @ net.cpt("cough").values
    found = net.ask(f"P(cough | age={age}, bp={bp})")
    np.testing.assert_allclose(list(found.values()), want, atol=1e-12)
    found = net.p("cough", {"age": age, "bp": bp}, method="exact")
    np.testing.assert_allclose(list(found.values()), want, atol=1e-12)
    assert dict(net.map(["ill"], {"age": age, "bp": bp, "sex": "f"}))["ill"] == "no"


def test_what_lies_below_is_left_out(net):
    found = net.p("age", {"sex": "f"}, method="exact")
    assert found.mean == pytest.approx(float(net.cpt("age").intercept[0]))
    given = {"age": 50.0, "sex": "f"}
    line = net.cpt("age")
    want = np.log(net.cpt("sex").values[0]) + stats.norm.logpdf(
        50, line.intercept[0], np.sqrt(line.variance[0])
    )
    assert net.log_evidence(given) == pytest.approx(want)


def test_what_is_set_is_known(net):
    set_ = net.do({"age": 70, "bp": 120})
    want = net.cpt("ill").given({"sex": "m", "age": 70, "bp": 120})["yes"]
    assert set_.p("ill", {"sex": "m"}, method="exact")["yes"] == pytest.approx(want)
    assert net.ask("P(ill=yes | do(age=70), do(bp=120), sex=m)") == pytest.approx(want)


def test_rows_are_weighed_family_by_family(net):
    at = np.searchsorted(["f", "m"], ROWS["sex"])
    line, below = net.cpt("age"), net.cpt("bp")
    log = np.log(net.cpt("sex").values)[at]
    log += stats.norm.logpdf(ROWS["age"], line.intercept[at], np.sqrt(line.variance[at]))
    mean = below.intercept + below.coefficients[0] * ROWS["age"]
    log += stats.norm.logpdf(ROWS["bp"], mean, np.sqrt(below.variance))
    ill = np.searchsorted(["no", "yes"], ROWS["ill"])
    for i in range(600):
        given = {n: ROWS[n][i] for n in ("sex", "age", "bp")}
        log[i] += np.log(net.cpt("ill").given(given)[ROWS["ill"][i]])
        given.pop("bp")
        log[i] += np.log(net.cpt("stage").given(given)[ROWS["stage"][i]])
    log += np.log(net.cpt("cough").values)[ill, np.searchsorted(["no", "yes"], ROWS["cough"])]
    assert net.log_likelihood(ROWS) == pytest.approx(log.sum(), rel=1e-12)
    some = {"age": [50.0, 40.0], "bp": [120.0, 110.0], "ill": ["yes", None]}
    want = sum(net.log_evidence({n: c[i] for n, c in some.items() if c[i]}) for i in (0, 1))
    assert net.log_likelihood(some) == pytest.approx(want)


def test_predictions_with_gaps_are_questions(net):
    rows = {"age": [50.0, 60.0], "bp": [120.0, 140.0]}
    found = net.predict_proba(rows, "ill")
    for i in (0, 1):
        want = net.p("ill", {"age": rows["age"][i], "bp": rows["bp"][i]}, method="exact")
        np.testing.assert_allclose(found[i], list(want.values()), atol=1e-12)


def test_intervals_where_the_numbers_are_known(net):
    question = "P(ill=yes | sex=f, age=60, bp=130)"
    low, high = net.ask(question, interval=0.9).interval
    posterior = net.cpt("ill").posterior
    at = posterior.columns((2,), np.array([60.0, 130.0]))[0]
    eta = float(at @ posterior.mean[0])
    half = 1.6448536 * np.sqrt(at @ posterior.covariance @ at)
    want = 1 / (1 + np.exp(-np.array([eta - half, eta + half])))
    np.testing.assert_allclose([low, high], want, atol=0.01)
    low, high = net.cpt("ill").interval(0.9, of="age")
    assert 0 < low[0] < 0.12 < high[0] < 0.2


# --- sampled answers ----------------------------------------------------------------------


def simple():
    age, ill = cr.Variable("age", "continuous"), cr.Variable("ill", "discrete", ("no", "yes"))
    return cr.Network("[age][ill|age]", [
        cr.LinearGaussian(age, (), 50.0, [], 144.0),
        cr.Softmax(ill, (age,), [0.0, -6.0], [[0.0], [0.1]]),
    ])  # fmt: skip


def by_integral(of=lambda a: 1.0, low=-np.inf, high=np.inf):
    """∫ of(age) P(ill=yes | age) p(age), between two ends."""
    low, high = max(low, -40.0), min(high, 140.0)
    return integrate.quad(
        lambda a: of(a) * stats.norm.pdf(a, 50, 12) / (1 + np.exp(6 - 0.1 * a)), low, high
    )[0]


@pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")
def test_unknown_numbers_are_drawn():
    net, whole = simple(), by_integral()
    p = net.p("ill")
    low, high = (end[1] for end in p.approximation.interval)
    assert low < whole < high and p.approximation.method == "weighting"
    age = net.p("age", {"ill": "yes"})
    mean = by_integral(lambda a: a) / whole
    sd = np.sqrt(by_integral(lambda a: (a - mean) ** 2) / whole)
    assert age.mean == pytest.approx(mean, abs=0.2) and age.sd == pytest.approx(sd, rel=0.02)
    assert age.cdf(60.0) == pytest.approx(by_integral(high=60) / whole, abs=0.01)
    for question, want in (
        ("P(age > 60 | ill=yes)", by_integral(low=60) / whole),
        ("P(ill=yes | age > 60)", by_integral(low=60) / stats.norm.sf(60, 50, 12)),
        ("P(ill=yes | 55 < age < 56)", by_integral(low=55, high=56)
         / (stats.norm.cdf(56, 50, 12) - stats.norm.cdf(55, 50, 12))),
        ("P(age > 60, ill=yes)", by_integral(low=60)),
    ):  # fmt: skip
        found = net.ask(question)
        assert found == pytest.approx(
            want, abs=3 * float(np.max(found.approximation.standard_error))
        )


@pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")
def test_the_error_is_honest_over_seeds():
    net, whole = simple(), by_integral()
    hits = 0
    for seed in range(60):
        account = net.p({"ill": "yes"}, budget="2000 samples", rng=seed).approximation
        low, high = (float(e) for e in account.interval)
        hits += low <= whole <= high
    assert hits >= 52


def test_an_approximate_answer_says_so():
    with pytest.warns(cr.errors.CredoWarning, match="'ill' is a softmax of numbers"):
        simple().p("ill")
    one, two = (simple().p("ill", budget="5000 samples", rng=3)["yes"] for _ in range(2))
    assert one == two


def test_samples_follow_the_model(net):
    rows = net.sample(30_000, rng=1)
    ill = rows.codes("ill") == 1
    assert ill.mean() == pytest.approx(net.p("ill", budget="100000 samples")["yes"], abs=0.01)
    parts = simple().sample(10, rng=2), simple().sample(4, rng=2)
    np.testing.assert_array_equal(parts[0].values("age")[:4], parts[1].values("age"))
    set_ = net.sample(50, rng=0, given={"sex": "f", "age": 40.0})
    assert (set_.values("age") == 40).all() and (set_.codes("sex") == 0).all()


# --- files and refusals -------------------------------------------------------------------


def test_a_file_keeps_a_softmax(net, tmp_path):
    net.save(tmp_path / "net.credo")
    again = cr.load(tmp_path / "net.credo")
    assert again == net and again.cpt("ill").ridge == 1.0
    question = "P(ill=yes | sex=f, age=60, bp=130)"
    ends = [n.ask(question, interval=0.9, rng=1).interval for n in (net, again)]
    assert tuple(ends[0]) == tuple(ends[1])
    assert json.loads(opened(dumps(net, "credo"))["model.json"])["version"] == 4


def test_what_a_softmax_cannot_do_is_refused(net):
    why = r"'ill' is a softmax of 'age', 'bp', so this has no exact answer"
    for ask in (
        lambda: net.p("ill", method="exact"),
        lambda: net.p("ill", interval=0.9),
        lambda: net.mpe(),
        lambda: net.ask("argmax P(ill, stage)"),
        lambda: net.log_evidence({"ill": "yes"}),
        lambda: net.predict_proba({"age": [50.0]}, "ill"),
    ):
        with pytest.raises(InputError, match=why):
            ask()
    with pytest.raises(InputError, match=r"'ill' is given and rests on 'sex', which is not"):
        net.sample(5, rng=0, given={"ill": "yes"})
    with pytest.raises(InputError, match="learned from all rows together"):
        net.update(ROWS)
    with pytest.raises(SchemaError, match="cannot have the continuous parent 'age'"):
        cr.em("[age][ill|age]", ROWS, intervened={"ill": np.arange(600) < 5})
    with pytest.raises(InputError, match="is learned from rows, not from counts"):
        cr.fit("[age][ill|age]", cr.read(ROWS), intervened={"ill": np.arange(600) < 5})
    with pytest.raises(InputError, match="is asked about without other variables"):
        net.p(["age", "ill"])


def test_a_check_learns_it_again():
    few = {n: c[:200] for n, c in ROWS.items()}
    net = cr.fit("[sex][age|sex][ill|sex:age]", few, cr.BDeu(1))
    found = cr.check(net, few, sections=["held_out", "parameters", "calibration", "influence"])
    assert "softmax and is left out" in str(found)
