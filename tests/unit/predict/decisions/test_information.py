"""What is worth knowing: variables, tests, rows to come and plans of questions."""

from itertools import product

import numpy as np
import pytest
from scipy import stats
from tests.decision_networks import simple
from tests.unit.predict.decisions.test_solving import SEISMIC, pigs, wildcatter

import credo as cr

BLIND = "[Oil][Test|Oil][Drill?][Profit$|Drill:Oil]"


def test_the_oil_wildcatter():
    d = wildcatter(BLIND)
    found = d.value_of_information()
    assert found["Oil"].value == pytest.approx(35, abs=1e-12)
    assert found["Test"].value == pytest.approx(12.5, abs=1e-12)
    assert found.together == pytest.approx(35, abs=1e-12)
    priced = d.value_of_information(costs={"Test": 10, "Oil": 40})
    assert priced["Test"].net == pytest.approx(2.5) and priced.best.variables == ("Test",)
    assert "net" in str(priced) and "12.5" in str(priced)
    pair = d.value_of_information(["Oil", "Test"])
    assert pair.items[0].value == pytest.approx(35, abs=1e-12)


def test_a_test_that_is_not_in_the_network():
    d = wildcatter("[Oil][Drill?][Profit$|Drill:Oil]")
    found = d.value_of_test("Oil", SEISMIC, cost=10)
    assert found.value == pytest.approx(12.5) and found.net == pytest.approx(2.5)
    with pytest.raises(cr.errors.InputError, match="There is a node 'Oil' already"):
        d.value_of_test("Oil", SEISMIC, name="Oil")


def test_information_is_never_worth_less_than_nothing():
    for seed in range(20):
        for memory in ("full", "limited"):
            d = simple(np.random.default_rng(seed), most=400, memory=memory)
            try:
                found = d.value_of_information()
            except cr.errors.InputError:
                continue  # nothing could be known
            assert all(i.value >= 0 for i in found.items)
            assert all(i.value <= found.together + 1e-9 for i in found.items) or memory == "limited"


def test_what_cannot_be_known_before():
    d = pigs("full")
    with pytest.raises(cr.errors.InputError, match="'h2' comes after the decision 'd1'"):
        d.value_of_information("h2")
    assert d.value_of_information("h2", before="d2").items[0].value > 0
    with pytest.raises(cr.errors.InputError, match="'t1' is known already"):
        d.value_of_information("t1")
    with pytest.raises(cr.errors.UnknownNameError, match="Did you mean 'h1'"):
        d.value_of_information("h11")


# --- plans of questions -------------------------------------------------------------------


def planned(d, names, costs, given):
    """The value of the best plan, by asking the network again for each answer."""
    now = d.ask("EU", interval=None) if not given else d.solve(given, interval=None).utility
    best = now
    for name in [n for n in names if n not in given]:
        total = -costs[name]
        answers = d.chance.p(name, given=given)
        for state, p in answers.items():
            if p > 0:
                total += p * planned(d, names, costs, {**given, name: state})
        best = max(best, total)
    return best


def questions(seed):
    rng = np.random.default_rng(seed)
    tables = {"H": rng.dirichlet(np.ones(3))}
    for name in "XYZ":
        tables[name] = rng.dirichlet(np.ones(2), 3)
    return cr.DecisionNetwork(
        "[H][X|H][Y|H][Z|H][D?][U$|H:D]", tables, decisions={"D": ["a", "b", "c"]},
        utilities={"U": rng.normal(0, 10, (3, 3))},
    )  # fmt: skip


def test_the_best_plan_is_that_of_asking_again():
    for seed in range(6):
        d, names = questions(seed), ["X", "Y", "Z"]
        costs = dict(zip(names, np.random.default_rng(seed).uniform(0, 1.5, 3), strict=True))
        found = d.next_question(among=names, costs=costs)
        start = d.solve(interval=None).utility
        assert found.exact
        assert found.value == pytest.approx(planned(d, names, costs, {}) - start, abs=1e-9)
        assert found.value <= found.bound + 1e-9
        greedy = d.next_question(among=names, costs=costs, exact=False)
        assert not greedy.exact and greedy.value <= found.value + 1e-9
    assert "no plan can gain more than" in str(found)


def test_questions_given_what_is_known():
    d = questions(0)
    assert d.next_question({"H": 0}).variable is None  # everything is known
    with pytest.raises(cr.errors.InputError, match="'X' is known already"):
        d.next_question({"X": 0}, among=["X"])


# --- more rows ----------------------------------------------------------------------------


def trial(prior=1.0):
    net = cr.fit("[Works]", {"Works": ["yes"] * 3 + ["no"] * 2}, prior=cr.Laplace(prior))
    return net.decide(
        {"Use": ["yes", "no"]},
        {"Gain|Use:Works": {"yes": {"yes": 10, "no": -20}, "no": {"yes": 0, "no": 0}}},
    )


def test_rows_of_a_coin_are_a_sum_over_beta_binomials():
    for n in (0, 1, 7, 40):
        k = np.arange(n + 1)
        weights = stats.betabinom(n, 4, 3).pmf(k)  # 3 yes, 2 no and one of each
        after = np.maximum(30 * (4 + k) / (7 + n) - 20, 0)
        before = max(30 * 4 / 7 - 20, 0)
        found = trial().value_of_rows("Works", n)[n]
        assert found.value == pytest.approx(weights @ after - before, abs=1e-10)
        assert found.error == 0


def test_rows_are_worth_more_the_more_there_are_and_less_than_knowing_the_parameter():
    found = trial().value_of_rows("Works", [1, 5, 20, 100, 1000], cost=0.001)
    values = [i.value for i in found.items]
    assert values == sorted(values)
    assert values[-1] <= trial().solve(draws=20_000).regret * 1.05
    assert found.best.n == 100 or found.best.n == 1000
    assert "net" in str(found)


def test_drawn_rows_agree_with_listed_ones(monkeypatch):
    from credo.predict.decisions import more_rows

    exact = trial().value_of_rows("Works", 12)[12]
    monkeypatch.setattr(more_rows, "_LISTED", 1)
    drawn = trial().value_of_rows("Works", 12, draws=4000)[12]
    assert drawn.error > 0
    assert abs(drawn.value - exact.value) < 4 * drawn.error


def test_rows_for_a_table_with_parents():
    rows = cr.Network("[A][B|A]", {"A": 0.4, "B": {False: 0.3, True: 0.8}}).sample(15, rng=2)
    net = cr.fit("[A][B|A]", rows, prior=cr.Laplace(1))
    d = net.decide({"D|A": ["l", "r"]}, {"U|D:B": [[1, -1], [0, 0]]})
    spread = d.value_of_rows("B", 10, draws=2000)[10]
    one = d.value_of_rows("B", 10, at={"A": True})[10]
    alpha = net.cpt("B").counts
    share = net.p("A")[True]
    value = 0.0
    for k in range(11):  # U(l) = P(B=no) − P(B=yes), and A is seen
        weight = stats.betabinom(10, *alpha[1]).pmf(k)
        mean = (alpha[1] + [k, 10 - k]) / (alpha[1].sum() + 10)
        value += weight * max(mean[0] - mean[1], 0)
    now = alpha[1] / alpha[1].sum()
    assert one.value == pytest.approx(share * (value - max(now[0] - now[1], 0)), abs=1e-10)
    assert spread.value >= 0 and one.error == 0
    with pytest.raises(cr.errors.InputError, match="no posterior"):
        wildcatter().value_of_rows("Oil", 10)
    with pytest.raises(cr.errors.UnknownNameError, match="Did you mean 'B'"):
        d.value_of_rows("b", 10)


def test_compositions_are_all_there():
    from credo.predict.decisions.more_rows import _compositions

    found = {tuple(map(int, row)) for row in _compositions(4, 3)}
    assert found == {c for c in product(range(5), repeat=3) if sum(c) == 4}
