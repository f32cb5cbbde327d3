"""The best strategy against every strategy tried, and against printed figures."""

import numpy as np
import pytest
from tests.decision_networks import brute_force, joint, simple

import credo as cr
from credo.predict.decisions.solving import utility_of_strategy

OIL = {"dry": 0.5, "wet": 0.3, "soaking": 0.2}
SEISMIC = {
    "dry": {"none": 0.6, "open": 0.3, "closed": 0.1},
    "wet": {"none": 0.3, "open": 0.4, "closed": 0.3},
    "soaking": {"none": 0.1, "open": 0.4, "closed": 0.5},
}
PROFIT = {
    "yes": {"dry": -70, "wet": 50, "soaking": 200},
    "no": {"dry": 0, "wet": 0, "soaking": 0},
}


def wildcatter(graph="[Oil][Test|Oil][Drill?|Test][Profit$|Drill:Oil]", **options):
    tables = {"Oil": OIL, "Test": SEISMIC}
    tables = {n: t for n, t in tables.items() if f"[{n}" in graph}
    return cr.DecisionNetwork(graph, tables, utilities={"Profit": PROFIT}, **options)


def pigs(memory):
    """Lauritzen and Nilsson 2001: three months of tests and treatments of a pig."""
    graph = (
        "[h1][t1|h1][d1?|t1][c1$|d1][h2|h1:d1][t2|h2][d2?|t2][c2$|d2][h3|h2:d2][t3|h3][d3?|t3]"
        "[c3$|d3][h4|h3:d3][price$|h4]"
    )
    tables = {"h1": {"well": 0.9, "ill": 0.1}}
    for i in (1, 2, 3):
        tables[f"t{i}"] = {"well": {"neg": 0.9, "pos": 0.1}, "ill": {"neg": 0.2, "pos": 0.8}}
        tables[f"h{i + 1}"] = {
            "well": {"treat": {"well": 0.9, "ill": 0.1}, "leave": {"well": 0.8, "ill": 0.2}},
            "ill": {"treat": {"well": 0.5, "ill": 0.5}, "leave": {"well": 0.1, "ill": 0.9}},
        }
    cost = {"treat": -100, "leave": 0}
    utilities = {"c1": cost, "c2": cost, "c3": cost, "price": {"well": 1000, "ill": 300}}
    return cr.DecisionNetwork(graph, tables, utilities=utilities, memory=memory)


# --- printed figures ----------------------------------------------------------------------


def test_the_oil_wildcatter():
    assert wildcatter().solve().utility == pytest.approx(32.5, abs=1e-12)
    assert wildcatter(costs={"Test": 10}).solve().utility == pytest.approx(22.5, abs=1e-12)
    blind = wildcatter("[Oil][Drill?][Profit$|Drill:Oil]").solve()
    assert blind.utility == pytest.approx(20, abs=1e-12) and blind.policy["Drill"].choice == "yes"


def test_the_oil_wildcatter_decides_whether_to_test():
    seen = {
        (oil, test): {**dict.fromkeys(["none", "open", "closed"], 0.0), "no result": 1.0}
        if test == "skip"
        else {**SEISMIC[oil], "no result": 0.0}
        for oil in OIL
        for test in ("do", "skip")
    }
    d = cr.DecisionNetwork(
        "[Oil][Test?][Cost$|Test][Result|Oil:Test][Drill?|Test:Result][Profit$|Drill:Oil]",
        {"Oil": OIL, "Result": seen},
        decisions={"Test": ["do", "skip"], "Drill": ["yes", "no"]},
        utilities={"Cost": {"do": -10, "skip": 0}, "Profit": PROFIT},
    )
    found = d.solve()
    assert found.utility == pytest.approx(22.5, abs=1e-12)
    assert found["Test"].choice == "do"
    assert [found["Drill"]["do", r] for r in ("none", "open", "closed")] == ["no", "yes", "yes"]
    assert "no result" not in str(found)  # it cannot occur when the test is made
    assert "never meets left out" in str(found["Drill"])
    assert d.ask("EU(Test=skip)") == pytest.approx(20, abs=1e-12)
    assert d.best().choice == "do" and d.best()["skip"] == pytest.approx(20, abs=1e-12)
    assert d.ask("EU(Drill=yes | Test=do, Result=open)") == pytest.approx(22.857142857, abs=1e-8)


def test_the_umbrella():
    graph = "[Weather][Forecast|Weather][Umbrella?{}][Comfort$|Weather:Umbrella]"
    tables = {
        "Weather": {"dry": 0.7, "rain": 0.3},
        "Forecast": {
            "dry": {"sunny": 0.7, "cloudy": 0.2, "rainy": 0.1},
            "rain": {"sunny": 0.15, "cloudy": 0.25, "rainy": 0.6},
        },
    }
    worth = {"Comfort": {"dry": {"take": 20, "leave": 100}, "rain": {"take": 70, "leave": 0}}}
    seen = cr.DecisionNetwork(graph.format("|Forecast"), tables, utilities=worth).solve()
    assert seen.utility == pytest.approx(77, abs=1e-12)
    assert cr.DecisionNetwork(graph.format(""), tables, utilities=worth).solve().utility == (
        pytest.approx(70, abs=1e-12)
    )


def test_pigs_with_limited_memory_and_without_forgetting():
    limited = pigs("limited").solve()
    assert limited.utility == pytest.approx(726.8121, abs=1e-9) and not limited.exact
    assert "no single policy can be improved" in str(limited)
    assert pigs("full").solve().utility == pytest.approx(729.225, abs=1e-9)


def test_evidence_is_divided_out():  # aGrUM's issue 47: 10.5 there
    d = cr.DecisionNetwork(
        "[c][c1|c][d?][u$|c:d]",
        {"c": [0.5, 0.5], "c1": [[1, 0], [0, 1]]},
        decisions={"d": [0, 1]},
        utilities={"u": [[10, 21], [100, 200]]},
    )
    assert d.solve().utility == pytest.approx(110.5)
    assert d.solve(given={"c": 0}).utility == pytest.approx(21)
    assert d.solve(given={"c1": 1}).utility == pytest.approx(200)
    assert d.best(given={"c": 0}).choice == 1


# --- every strategy -----------------------------------------------------------------------


@pytest.mark.parametrize("combine", ["add", "multiply"])
def test_the_best_strategy_is_that_of_brute_force(combine):
    for seed in range(40):
        net = simple(np.random.default_rng(seed), most=400, combine=combine)
        found, best = net.solve(interval=None), brute_force(net)
        assert found.utility == pytest.approx(best, abs=1e-10), net.notation
        assert utility_of_strategy(net, found.policy) == pytest.approx(best, abs=1e-10)


def test_limited_memory_is_never_above_brute_force_and_says_when_it_is_the_best():
    exact = 0
    for seed in range(40):
        net = simple(np.random.default_rng(seed), most=400, memory="limited")
        found, best = net.solve(interval=None), brute_force(net)
        assert found.utility <= best + 1e-10
        if found.exact:
            exact += 1
            assert found.utility == pytest.approx(best, abs=1e-10), net.notation
    assert exact > 20


def test_the_utility_of_each_choice_given_evidence_is_that_of_enumeration():
    for seed in range(30):
        net = simple(np.random.default_rng(seed), most=400)
        names, p, u, _ = joint(net)
        taken = {d: net.variable(d).states[-1] for d in net.decisions}
        free = [n for n in names if n not in taken]
        given = {**taken, free[0]: net.variable(free[0]).states[0]}
        at = tuple(net.variable(n).code(given[n]) if n in given else slice(None) for n in names)
        mass = p[at].sum()
        if mass == 0:
            continue
        asked = ", ".join(f"{d}={s}" for d, s in taken.items())
        got = net.ask(f"EU({asked} | {free[0]}={given[free[0]]})")
        assert got == pytest.approx((p[at] * u[at]).sum() / mass, abs=1e-10)


# --- laws ---------------------------------------------------------------------------------


def scaled(net, a, b):
    utilities = {
        n: cr.Utility(n, u.parents, a * u.values + (b if i == 0 else 0))
        for i, (n, u) in enumerate(net.utilities.items())
    }
    return net.but(utilities=utilities)


def test_laws_of_expected_utility():
    for seed in range(25):
        rng = np.random.default_rng(seed)
        net = simple(rng, most=400)
        whole = net.solve(interval=None).utility
        assert scaled(net, 3.0, 5.0).solve(interval=None).utility == pytest.approx(
            3 * whole + 5, abs=1e-9
        )
        less = net.but(memory="limited").solve(interval=None).utility
        assert less <= whole + 1e-10  # more memory never hurts
        last = net.decisions[-1]
        free = [n for n in net.names if n not in (*net.decisions, *net.sees(last))]
        for name in free:
            if name not in net.dag.descendants(last):
                more = net.seeing(last, [name]).solve(interval=None).utility
                assert more >= whole - 1e-10  # nor does information


# --- reading answers ----------------------------------------------------------------------


def test_what_is_shown():
    found = wildcatter().solve()
    assert str(found).splitlines()[0] == "expected utility 32.5"
    assert found.policy["Drill"]["open"] == "yes" and found["Drill"].given({"Test": "none"}) == "no"
    assert found.interval is None and found.p_best is None
    assert "<table>" in found._repr_html_()
    ranking = wildcatter().best(given={"Test": "open"})
    assert list(ranking) == ["yes", "no"] and ranking.utility == pytest.approx(32.857142857)
    assert "chosen without Test" in str(wildcatter().best())


def test_questions_in_text():
    d = wildcatter()
    assert d.ask("EU") == pytest.approx(32.5) == d.ask("EU()")
    assert d.ask("EU(Drill=yes)") == pytest.approx(20)
    assert d.ask("EU(| Test=closed)") == pytest.approx(87.5)
    assert d.ask("argmax EU(Drill | Test=none)") == "no"
    assert d.ask("EU(Drill | Test=open)").choice == "yes"
    assert d.ask("P(Oil=wet | Test=open)") == pytest.approx(0.12 / 0.35)
    assert d.ask("P(Drill=yes)") == pytest.approx(0.59)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("EU(Oil=wet)", "'Oil' is a chance variable"),
        ("EU(Dril=yes)", "Did you mean 'Drill'"),
        ("EU(Drill=maybe)", "is not one of 'Drill'"),
        ("EU(Drill=yes", "Expected ')'"),
        ("", "A question is a text"),
        ("argmax EU(Drill=yes)", "asks for a choice"),
    ],
)
def test_questions_that_cannot_be_answered(question, said):
    with pytest.raises(cr.errors.CredoError, match=said.replace("(", r"\(").replace(")", r"\)")):
        wildcatter().ask(question)


def test_what_cannot_be_given():
    d = pigs("full")
    with pytest.raises(cr.errors.InputError, match="comes after the decision 'd1', which is open"):
        d.best(given={"t2": "pos"})
    assert d.best(given={"t1": "pos", "d1": "leave", "t2": "pos"}).decision == "d2"
    with pytest.raises(cr.errors.InputError, match="nothing left to decide"):
        d.solve(given=dict.fromkeys(["d1", "d2", "d3"], "leave"))
    with pytest.raises(cr.errors.ImpossibleError):
        cr.DecisionNetwork(
            "[A][B|A][D?][U$|A:D]", {"A": [0.5, 0.5], "B": [[1, 0], [0, 1]]},
            decisions={"D": ["l", "r"]}, utilities={"U": np.eye(2)},
        ).solve(given={"A": 0, "B": 1})  # fmt: skip


def test_what_is_too_wide_is_refused_before_it_is_made():
    names = [f"x{i}" for i in range(27)]
    graph = "".join(f"[{n}]" for n in names) + f"[D?|{':'.join(names)}][V|{names[0]}:D]"
    graph += "[U$|V]" + "".join(f"[u{n}$|{n}:D]" for n in names)
    tables = {**{n: [0.5, 0.5] for n in names}, "V": np.full((2, 2, 2), 0.5)}
    worth = {"U": [0, 1], **{f"u{n}": np.eye(2) for n in names}}
    d = cr.DecisionNetwork(graph, tables, decisions={"D": ["l", "r"]}, utilities=worth)
    with pytest.raises(cr.errors.LimitError, match="268,435,456 cells over 28 variables; at most"):
        d.solve()


def test_continuous_evidence_weighs_the_states():
    sick = cr.Variable("sick", "discrete", ("no", "yes"))
    fever = cr.Variable("fever", "continuous")
    line = cr.LinearGaussian(
        fever, (sick,), np.array([37.0, 39.0]), np.zeros((2, 0)), np.array([0.25, 0.25])
    )
    net = cr.Network("[sick][fever|sick]", {"sick": {"no": 0.9, "yes": 0.1}, "fever": line})
    d = net.decide({"treat": ["no", "yes"]}, {"cost|treat:sick": [[0, -100], [-10, -20]]})
    p = net.p("sick", given={"fever": 38.4})["yes"]
    found = d.best(given={"fever": 38.4})
    assert found["no"] == pytest.approx(-100 * p) and found["yes"] == pytest.approx(-10 - 10 * p)
    with pytest.raises(cr.errors.SchemaError, match="'fever', which is continuous"):
        net.decide({"treat|fever": ["no", "yes"]}, {"cost|treat:sick": np.zeros((2, 2))})
    with pytest.raises(cr.errors.SchemaError, match="depends on 'fever', which is continuous"):
        net.decide({"treat": ["no", "yes"]}, {"cost|treat:fever": np.zeros((2, 2))})
