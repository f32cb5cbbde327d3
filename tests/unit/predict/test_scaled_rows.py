"""Rows of numbers with a scale: likelihoods, predictions, filled gaps and samples."""

import numpy as np
import pytest
from scipy.stats import kstest, norm
from tests.unit.predict.test_scaled_answers import BINS, lines, tables

import credo as cr
from credo.core.scales import Bins, Transform
from credo.errors import TableError


def mixed():
    """sex → age (binned) → fare (behind log1p), sex → fare."""
    sex = cr.Variable("sex", "discrete", ("f", "m"))
    age = cr.Variable("age", "discrete", scale=BINS)
    fare = cr.Variable("fare", "continuous", scale=Transform("log1p"))
    return cr.Network(
        "[sex][age|sex][fare|age:sex]",
        [
            cr.Cpt(sex, (), [0.4, 0.6]),
            cr.Cpt(age, (sex,), [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]),
            cr.LinearGaussian(
                fare, (age, sex), [[1.0, 2.0], [1.5, 2.5], [3.0, 2.0]], [], np.full((3, 2), 0.3)
            ),
        ],
    )


ROWS = {
    "sex": ["f", "m", None, "f", None],
    "age": [0.0, 33.3, 70.0, None, None],
    "fare": [7.25, None, 71.3, 8.05, 12.0],
}


def by_hand(net):
    """ln p of each row, the gaps summed out."""
    out = []
    for s, a, f in zip(*ROWS.values(), strict=True):
        total = 0.0
        for i, sex in enumerate("fm"):
            for k in range(3):
                p = net.distributions["sex"].values[i] * net.distributions["age"].values[i, k]
                if s not in (None, sex) or (a is not None and BINS.codes(a)[0] != k):
                    continue
                p *= 1.0 if a is None else float(np.exp(BINS.log_density(a)))
                if f is not None:
                    mean = net.distributions["fare"].intercept[k, i]
                    p *= norm.pdf(np.log1p(f), mean, 0.3**0.5) / (1 + f)
                total += p
        out.append(np.log(total))
    return np.array(out)


def test_the_likelihood_of_rows_is_on_the_users_scale():
    net = mixed()
    each = by_hand(net)
    assert net.log_likelihood(ROWS) == pytest.approx(each.sum())
    for i, log in enumerate(each):
        row = {n: [c[i]] for n, c in ROWS.items() if c[i] is not None}
        assert net.log_likelihood(row) == pytest.approx(log)
        given = {n: c[0] for n, c in row.items()}
        assert net.log_evidence(given) == pytest.approx(log)
    table = cr.read(ROWS, schema=net.schema)
    assert net.log_likelihood(table) == pytest.approx(each.sum())
    plain = cr.read(ROWS, schema=net.schema.unscaled)
    assert net.log_likelihood(plain) == pytest.approx(each.sum())
    weighted = cr.read({**ROWS, "w": [1, 2, 3, 0, 1]}, schema=net.schema.unscaled, weights="w")
    assert net.log_likelihood(weighted) == pytest.approx(each @ [1, 2, 3, 0, 1])


def test_predictions_take_numbers():
    net = mixed()
    found = net.predict_proba({"age": [0.0, 60.0], "fare": [7.0, 30.0]}, "sex")
    for p, (a, f) in zip(found, [(0.0, 7.0), (60.0, 30.0)], strict=True):
        np.testing.assert_allclose(p, net.p("sex", given={"age": a, "fare": f}).p)
    bins = net.predict_proba({"fare": [7.0]}, "age")
    np.testing.assert_allclose(bins[0], net.p("age", given={"fare": 7.0}).bins.p)
    with pytest.raises(TableError, match="Row 2: 'fare' is -3, but its log1p takes numbers above"):
        net.predict_proba({"fare": [7.0, -3.0]}, "sex")


@pytest.mark.parametrize("make", [mixed, tables, lambda: lines(Transform("log"))])
def test_samples_are_numbers_of_the_model(make):
    net = make()
    rows = net.sample(20_000, rng=1)
    for name in net.schema.scales:
        answer, x = net.p(name), rows[name]
        assert x.dtype == float and not np.isnan(x).any()
        for q in (0.1, 0.5, 0.9):
            assert (x <= answer.quantile(q)).mean() == pytest.approx(
                float(answer.cdf(answer.quantile(q))), abs=0.02
            )
    again = net.sample(20_000, rng=1, threads=2, to="pandas")
    for name in net.schema.scales:
        np.testing.assert_array_equal(again[name], rows[name])


def test_samples_given_numbers_and_ranges():
    net = mixed()
    rows = net.sample(4000, rng=0, given={"age": 33.3, "fare": 20.0})
    assert set(rows["age"]) == {33.3} and set(rows["fare"]) == {20.0}
    inside = net.sample(4000, rng=0, given={"age": cr.between(15, 60)})
    assert inside["age"].min() > 15 and inside["age"].max() < 60
    answer = net.p("age", given={"age": cr.between(15, 60)})
    assert inside["age"].mean() == pytest.approx(answer.mean, rel=0.02)


def test_gaps_are_filled_with_numbers(tmp_path):
    net = mixed()
    for method in ("mode", "sample"):
        full = net.impute(ROWS, method=method, rng=0)
        age, fare = full["age"], full["fare"]
        assert age[:3].tolist() == [0.0, 33.3, 70.0] and fare[0] == 7.25
        assert not np.isnan(age).any() and not np.isnan(fare).any() and (fare > -1).all()
        frame = full.to("pandas")
        assert frame["age"].dtype == float
    gaps = net.impute(ROWS, method="posterior")
    assert gaps[3, "age"].mean == pytest.approx(net.p("age", given={"sex": "f", "fare": 8.05}).mean)
    assert gaps[1, "fare"].quantile(0.5) == pytest.approx(np.expm1(2.5))
    assert "age" in str(gaps) and "±" in str(gaps)
    copies = net.impute(ROWS, method="sample", copies=200, rng=0)
    drawn = np.array([c["fare"][1] for c in copies])
    assert kstest(np.log1p(drawn), norm(2.5, 0.3**0.5).cdf).pvalue > 0.001


def test_whole_discrete_tables_fill_gaps_with_numbers():
    net = tables()
    rows = {"sex": ["f", None], "fare": [None, 12.5], "port": ["S", None]}
    full = net.impute(rows)
    assert full["fare"].tolist()[1] == 12.5 and full["fare"][0] > 0
    assert full.values("sex").tolist()[0] == "f"
    several = net.impute(rows, method="sample", copies=400, rng=0)
    drawn = np.array([t["fare"][0] for t in several])
    answer = net.p("fare", given={"sex": "f", "port": "S"})
    assert drawn.mean() == pytest.approx(answer.mean, rel=0.2)


@pytest.mark.parametrize("scale", [BINS, Transform("log1p", low=-40.0)])
def test_learning_from_a_scaled_table(scale):
    rng = np.random.default_rng(2)
    sex = rng.choice(["f", "m"], 600)
    fare = rng.exponential(np.where(sex == "f", 40, 15))
    fare[::9] = np.nan
    table = cr.read({"sex": sex, "fare": fare}).scaled({"fare": scale})
    net = cr.em("[sex][fare|sex]", table)
    assert net.schema.scales == {"fare": scale}
    full = cr.fit("[sex][fare|sex]", table.take(~np.isnan(fare)), prior=cr.BDeu(1))
    assert full.p("fare", given={"sex": "f"}).mean == pytest.approx(
        net.p("fare", given={"sex": "f"}).mean, rel=0.05
    )
    more = full.update({"sex": ["f", "m"], "fare": [12.0, 30.0]})
    assert more.schema.scales == {"fare": scale}
    learned = cr.learn(table.take(~np.isnan(fare)))
    assert learned.schema.scales == {"fare": scale} and learned.dag.edges


@pytest.mark.parametrize("kind", ["bins", "transform"])
def test_pit_of_new_rows_is_uniform(kind):
    rng = np.random.default_rng(4)

    def rows(n):
        sex = rng.choice(["f", "m"], n)
        return sex, rng.lognormal(np.where(sex == "f", 3.0, 2.0), 0.6)

    sex, fare = rows(3000)
    scale: object = Transform("log")
    if kind == "bins":
        edges = np.quantile(fare, np.linspace(0.02, 0.98, 49))
        counts = np.bincount(np.searchsorted(edges, fare), minlength=50)
        left, right = edges[0] - fare[fare < edges[0]].mean(), fare[fare > edges[-1]].mean()
        scale = Bins(edges[3::4], edges, counts, tails=(left, right - edges[-1]))
    table = cr.read({"sex": sex, "fare": fare}).scaled({"fare": scale})
    net = cr.fit("[sex][fare|sex]", table, prior=cr.BDeu(1))
    given = {s: net.p("fare", given={"sex": s}) for s in "fm"}
    new_sex, new = rows(1500)
    pit = np.array([given[s].cdf(x) for s, x in zip(new_sex, new, strict=True)])
    assert kstest(pit, "uniform").pvalue > 0.01
