"""Decisions averaged over graphs, against every graph one by one."""

from itertools import product

import numpy as np
import pytest
from tests.unit.train.averaging.test_average import table_of, weighed

import credo as cr
from credo.core.errors import InputError, UnknownNameError

WORTH = np.random.default_rng(7).normal(size=(3, 2, 2)) * 10  # by v1, v2 and what is chosen


def joints(table, set_=None):
    """Each graph's weight and joint, by multiplying its tables; what is set has none (do)."""
    dags, w, _ = weighed(table, ess=1)
    out = []
    for dag in dags:
        net = cr.fit(dag, table, prior=cr.BDeu(1))
        joint = np.ones((2, 3, 2))
        for at in np.ndindex(2, 3, 2):
            for name in (n for n in net.names if n != set_):
                local, code = net.distributions[name], dict(zip(net.names, at, strict=True))
                joint[at] *= local.values[tuple(code[p.name] for p in local.parents)][code[name]]
        out.append(joint)
    return dags, w, np.array(out)


@pytest.fixture(scope="module")
def three():
    table = table_of(3)
    return table, cr.average(table, ess=1)


def test_a_policy_is_the_best_of_all_on_the_averaged_joint(three):
    table, post = three
    _, w, each = joints(table)
    d = post.decide({"D|v0": ["l", "r"]}, {"U|v1:v2:D": WORTH})
    found = d.solve(interval=None)
    by_choice = np.einsum("g,gabc,bcd->ad", w, each, WORTH)  # weights times EU, by v0 and choice
    tried = {way: by_choice[0, way[0]] + by_choice[1, way[1]] for way in product((0, 1), repeat=2)}
    best = max(tried, key=tried.get)
    assert found.utility == pytest.approx(tried[best], abs=1e-10)
    states = table.schema["v0"].states
    assert [found.policy["D"][s] for s in states] == ["lr"[k] for k in best]
    for k, s in enumerate(states):  # evidence weighs the graphs, too
        ranked = d.best(given={"v0": s}, interval=None)
        p = np.einsum("g,gabc->a", w, each)[k]
        assert [ranked["l"], ranked["r"]] == pytest.approx(by_choice[k] / p, abs=1e-10)
        assert "averaged over 25 graphs" in ranked.note


def test_what_is_set_is_cut_from_its_causes_in_every_graph(three):
    table, post = three
    _, w, each = joints(table, set_="v0")
    worth = np.arange(6.0).reshape(3, 2)
    found = post.decide("v0", {"U|v1:v0": worth}).best(interval=None)
    wanted = np.einsum("g,gabc,ba->a", w, each, worth)
    states = table.schema["v0"].states
    assert [found[s] for s in states] == pytest.approx(wanted, abs=1e-10)


def test_the_interval_includes_how_sure_the_graph_is(three):
    table, post = three
    d = post.decide({"D": ["l", "r"]}, {"U|v1:v2:D": WORTH})
    found = d.best(given={"v0": table.schema["v0"].states[0]}, draws=4000, rng=1)
    # the same by hand: a graph by its weight, its tables from their Dirichlets
    rng = np.random.default_rng(5)
    dags, w, _ = weighed(table, ess=1)
    nets = [cr.fit(dag, table, prior=cr.BDeu(1)) for dag in dags]
    drawn = []
    for g in rng.choice(len(w), size=1500, p=w):
        joint = np.ones((2, 3, 2))
        for name in nets[g].names:
            local = nets[g].distributions[name]
            rows = np.asarray(local.counts).reshape(-1, local.child.arity)
            p = np.array([rng.dirichlet(row) for row in rows]).reshape(local.values.shape)
            axes = [nets[g].names.index(v.name) for v in (*local.parents, local.child)]
            order = np.argsort(axes)
            shape = [(2, 3, 2)[i] if i in axes else 1 for i in range(3)]
            joint = joint * p.transpose(order).reshape(shape)
        here = joint[0] / joint[0].sum()
        drawn.append(np.einsum("bc,bcd->d", here, WORTH))
    eu = np.array(drawn)
    for r in found.ranked:
        k = "lr".index(r.choice)
        low, high = np.quantile(eu[:, k], [0.025, 0.975])
        width = high - low
        assert r.interval.lower == pytest.approx(low, abs=0.12 * width)
        assert r.interval.upper == pytest.approx(high, abs=0.12 * width)
        assert r.p_best == pytest.approx((eu.argmax(axis=1) == k).mean(), abs=0.05)
    first = "lr".index(found.choice)
    lost = eu.max(axis=1) - eu[:, first]
    assert found.regret == pytest.approx(lost.mean(), abs=5 * lost.std() / np.sqrt(len(lost)))
    assert "the interval includes how sure the graph is" in str(found)
    solved = d.solve(draws=200)
    assert solved.interval.lower < solved.utility < solved.interval.upper
    assert 0 <= solved.p_best <= 1 and solved.regret >= 0


def test_two_decisions_costs_and_memory(three):
    table, post = three
    states = table.schema["v0"].states
    options = {"D|v0": ["l", "r"], "E|v2": ["l", "r"]}
    worth = {"U|v1:v2:D": WORTH, "V|E:v1:D": np.arange(12.0).reshape(2, 3, 2)}
    free = post.decide(options, worth)
    paid = post.decide(options, worth, costs={"v0": 1.5})
    assert paid.solve(interval=None).utility == pytest.approx(
        free.solve(interval=None).utility - 1.5
    )
    limited = post.decide(options, worth, memory="limited")
    assert limited.solve(interval=None).utility <= free.solve(interval=None).utility + 1e-9
    after = free.best(given={"D": "l", "v0": states[0]}, interval=None)
    assert after.decision == "E" and "chosen without v2" in after.note
    assert "utility" in str(free) and repr(free) == "AveragedDecisions(2 decisions, 25 graphs)"


def test_numbers_and_no_chance_at_all():
    rng = np.random.default_rng(2)
    x = rng.normal(size=80)
    rows = {"x": x, "sick": np.where(x + rng.normal(size=80) > 0, "yes", "no").tolist()}
    post = cr.average(rows)
    worth = {"no": {"no": 0, "yes": -100}, "yes": {"no": -10, "yes": -30}}
    d = post.decide({"treat": ["no", "yes"]}, {"harm|treat:sick": worth})
    high, low = (d.best(given={"x": v}, draws=200) for v in (2.0, -2.0))
    assert high["no"] < low["no"] and high.choice == "yes"
    p = post.p("sick", given={"x": 2.0})["yes"]
    assert high["no"] == pytest.approx(-100 * p)
    sure = post.decide({"go": ["a", "b"]}, {"U|go": {"a": 1, "b": 2}}).solve(draws=100)
    assert sure.utility == 2 and sure.p_best == 1 and sure.regret == 0


def test_what_is_refused(three):
    _, post = three
    worth = {"U|v1:v0": np.ones((3, 2))}
    with pytest.raises(InputError, match=r"'v2' cannot be known at the decision 'v0': it comes"):
        post.decide("v0|v2", worth).solve()
    with pytest.raises(InputError, match=r"comes after it in graphs of probability 0\.\d+"):
        post.decide("v0", worth).best(given={"v2": post.schema["v2"].states[0]})
    with pytest.raises(UnknownNameError, match="Did you mean"):
        post.decide({"D": ["l", "r"]}, {"U|D": [1, 2]}).best(given={"v11": 1})
    with pytest.raises(InputError, match="nothing left to decide"):
        post.decide({"D": ["l", "r"]}, {"U|D": [1, 2]}).solve(given={"D": "l"})


def test_with_an_order_a_variable_may_be_set_after_another_is_seen():
    table = table_of(3)
    post = cr.average(table, tiers=[["v2"], ["v0"], ["v1"]])
    worth = np.arange(6.0).reshape(3, 2)
    found = post.decide("v0|v2", {"U|v1:v0": worth}).solve(interval=None)
    blind = post.decide("v0", {"U|v1:v0": worth}).solve(interval=None)
    assert found.utility >= blind.utility - 1e-12
    one = cr.average(table, tiers=[["v2"], ["v0"], ["v1"]]).do({"v0": table.schema["v0"].states[1]})
    p = one.p("v1", given={"v2": table.schema["v2"].states[0]}).p
    ranked = post.decide("v0|v2", {"U|v1:v0": worth}).best(
        given={"v2": table.schema["v2"].states[0]}, interval=None
    )
    assert ranked[table.schema["v0"].states[1]] == pytest.approx(float(p @ worth[:, 1]))


def test_where_setting_changes_nothing_each_choice_is_the_best(three):
    _, post = three
    found = post.decide("v0", {"U|v1": [0, 1, 3]}).best(draws=1000)
    idle = 1 - post.path("v0", "v1")
    shares = [r.p_best for r in found.ranked]
    assert min(shares) >= idle - 0.01 and sum(shares) == pytest.approx(1 + idle, abs=0.01)


def test_questions_in_text_and_strategies_side_by_side(three):
    table, post = three
    _, w, each = joints(table)
    states = table.schema["v0"].states
    d = post.decide({"D|v0": ["l", "r"]}, {"U|v1:v2:D": WORTH})
    by_choice = np.einsum("g,gabc,bcd->ad", w, each, WORTH)
    p = np.einsum("g,gabc->a", w, each)
    assert d.ask("EU") == pytest.approx(by_choice.max(axis=1).sum(), abs=1e-10)
    assert d.ask(f"EU(D=r | v0={states[1]})") == pytest.approx(by_choice[1, 1] / p[1], abs=1e-10)
    assert d.ask(f"argmax EU(D | v0={states[0]})") == "lr"[by_choice[0].argmax()]
    sure = d.ask("EU(D=l)", interval=0.9, draws=200)
    assert sure.interval.lower < sure < sure.interval.upper
    assert "averaged over 25 graphs" in str(sure)
    with pytest.raises(InputError, match=r"answer questions about EU, got 'P\(v1\)'"):
        d.ask("P(v1)")
    ways = {"l": {"D": "l"}, "r": {"D": "r"}, "cross": {"D": {states[0]: "r", states[1]: "l"}},
            "best": None}  # fmt: skip
    found = d.compare(ways, draws=400)
    wanted = {"l": by_choice[:, 0].sum(), "r": by_choice[:, 1].sum(),
              "cross": by_choice[0, 1] + by_choice[1, 0]}  # fmt: skip
    for name, utility in wanted.items():
        assert found[name].utility == pytest.approx(utility, abs=1e-10)
    assert found["best"].utility == pytest.approx(by_choice.max(axis=1).sum(), abs=1e-10)
    assert all(s.interval.lower < s.utility < s.interval.upper for s in found.strategies)
    assert "best" in {found.best, *found.ties}


def test_what_is_worth_knowing_is_the_gain_on_the_averaged_joint(three):
    table, post = three
    _, w, each = joints(table)
    worth = WORTH - WORTH.mean(axis=(0, 1))  # the choices are near each other: it is worth knowing
    d = post.decide({"D": ["l", "r"]}, {"U|v1:v2:D": worth})
    joint = np.einsum("g,gabc->abc", w, each)
    by_all = joint[..., None] * worth[None]
    blind = by_all.sum(axis=(0, 1, 2)).max()
    found = d.value_of_information(costs={"v1": 0.25})
    assert found.utility == pytest.approx(blind, abs=1e-10)
    for k, name in enumerate(("v0", "v1", "v2")):
        other = tuple(i for i in range(3) if i != k)
        seen = by_all.sum(axis=other).max(axis=-1).sum()
        assert found[name].value == pytest.approx(seen - blind, abs=1e-10)
    every = by_all.max(axis=-1).sum()
    assert found.together == pytest.approx(every - blind, abs=1e-10)
    assert found["v1"].cost == 0.25
    two = d.value_of_information(["v0", "v1"])
    assert two["v1", "v0"].value == pytest.approx(
        by_all.sum(axis=2).max(axis=-1).sum() - blind, abs=1e-10
    )
    plan = d.next_question(among=["v1"], costs={"v1": 0.05})
    assert plan.exact and plan.value == pytest.approx(found["v1"].value - 0.05, abs=1e-9)
    state = table.schema["v0"].states[0]
    here = d.value_of_information("v1", given={"v0": state})
    by_here = by_all[0] / joint[0].sum()
    assert here["v1"].value == pytest.approx(
        by_here.sum(axis=1).max(axis=-1).sum() - by_here.sum(axis=(0, 1)).max(), abs=1e-10
    )


def test_what_comes_after_a_variable_that_is_set_is_not_worth_knowing_before(three):
    _, post = three
    d = post.decide("v0", {"U|v1:v0": np.arange(6.0).reshape(3, 2)})
    with pytest.raises(InputError, match="'v2' comes after the decision 'v0'"):
        d.value_of_information("v2")
    first = cr.average(table_of(3), tiers=[["v2"], ["v0"], ["v1"]])
    d = first.decide("v0", {"U|v1:v0": np.arange(6.0).reshape(3, 2)})
    found = d.value_of_information()
    assert [i.variables for i in found.items] == [("v2",)]
    seeing = first.decide("v0|v2", {"U|v1:v0": np.arange(6.0).reshape(3, 2)})
    gain = seeing.solve(interval=None).utility - d.solve(interval=None).utility
    assert found["v2"].value == pytest.approx(max(gain, 0), abs=1e-10)
