"""Effects: golden figures, numbers, positivity, what a hidden cause would do, coverage."""

from __future__ import annotations

import numpy as np
import pytest

import credo as cr
from credo.errors import CredoError, InputError, NotIdentifiedError, SchemaError
from credo.predict.causal.bounds import counterfactual_bounds, instrument_bounds
from credo.predict.causal.estimate import e_value

KIDNEY = "[size][treatment|size][success|treatment:size]"
TAR = cr.CausalGraph("[smoke][tar|smoke][cancer|tar] smoke<->cancer")


def test_kidney_stones() -> None:
    table = cr.examples.kidney_stones()
    found = cr.effect(table, "treatment", "success", KIDNEY, values=("B", "A"), prior=None)
    assert [round(p, 4) for p in found.p] == [0.7789, 0.8325]
    assert [round(p, 4) for p in found.plain] == [0.8257, 0.78]
    assert found.adjustment == ("size",) and found.difference > 0 > found.plain[1] - found.plain[0]
    assert found.interval is None and "no posterior" in str(found)
    assert str(found.formula) == "Σ_size P(success | treatment, size) P(size)"
    by_id = cr.effect(table, "treatment", "success", KIDNEY, values=("B", "A"), prior=None, by="id")
    np.testing.assert_allclose(by_id.p, found.p, atol=1e-12)


def test_smoking_and_tar_by_the_front_door() -> None:
    found = cr.effect(cr.examples.smoking_tar(), "smoke", "cancer", TAR, prior=None)
    np.testing.assert_allclose(found.p, [0.4975, 0.4525], atol=1e-12)
    np.testing.assert_allclose(found.plain, [0.0975, 0.8525], atol=1e-12)
    sure = cr.effect(cr.examples.smoking_tar(), "smoke", "cancer", TAR)
    assert -0.045 in sure.interval and 0.755 not in sure.interval
    assert sure.difference.interval == sure.interval and sure.interval.draws == 2000
    assert abs(sure.ratio - sure.p[1] / sure.p[0]) < 1e-12
    odds = [p / (1 - p) for p in sure.p]
    assert abs(sure.odds_ratio - odds[1] / odds[0]) < 1e-12


def test_a_node_that_is_no_column_is_hidden() -> None:
    table = cr.examples.smoking_tar()
    graph = "[gene][smoke|gene][tar|smoke][cancer|tar:gene]"
    found = cr.effect(table, "smoke", "cancer", graph, prior=None)
    np.testing.assert_allclose(found.p, [0.4975, 0.4525], atol=1e-12)
    assert any("taken as hidden" in n for n in found.notes)
    with pytest.raises(NotIdentifiedError, match="hedge"):
        cr.effect(table, "smoke", "cancer", "[gene][smoke|gene][cancer|smoke:gene]")


def test_a_network_is_asked_as_its_do_is() -> None:
    net = cr.fit(KIDNEY, cr.examples.kidney_stones(), prior=cr.BDeu(1))
    found = cr.effect(net, "treatment", "success", values=("B", "A"))
    for value, p in zip(("B", "A"), found.p, strict=True):
        assert abs(net.ask(f"P(success=yes | do(treatment={value}))") - p) < 1e-12
        seen = net.ask(f"P(success=yes | treatment={value})")
        assert abs(seen - found.plain[("B", "A").index(value)]) < 1e-12
    answer = net.ask("P(success=yes | do(treatment=A))", interval=0.95, draws=2000)
    mine = np.quantile(found.samples[:, 1], [0.025, 0.975])
    np.testing.assert_allclose(mine, [answer.low, answer.high], atol=1e-3)
    typed = cr.Network("[a][b|a]", {"a": 0.5, "b": {False: 0.1, True: 0.3}})
    assert round(cr.effect(typed, "a", "b").difference, 12) == 0.2


def test_confounding_is_a_relative_entropy() -> None:
    found = cr.effect(cr.examples.smoking_tar(), "smoke", "cancer", TAR, prior=None)
    bits = sum(
        0.5 * (q * np.log2(q / p) + (1 - q) * np.log2((1 - q) / (1 - p)))
        for q, p in zip(found.plain, found.p, strict=True)
    )
    assert abs(found.confounding - bits) < 1e-12


def numbers(rng, n=400):
    z = rng.normal(size=n)
    x = rng.random(n) < 1 / (1 + np.exp(-2 * z))
    return {"z": z, "x": x, "y": 1.0 + 2.0 * x + 3.0 * z + rng.normal(size=n)}


def test_means_of_numbers() -> None:
    rows = numbers(np.random.default_rng(0))
    found = cr.effect(rows, "x", "y", "[z][x|z][y|x:z]")
    a = np.column_stack([np.ones(400), rows["x"], rows["z"], rows["x"] * rows["z"]])
    coefficients = np.linalg.lstsq(a, rows["y"], rcond=None)[0]
    adjusted = coefficients[1] + coefficients[3] * rows["z"].mean()
    assert abs(found.difference - adjusted) < 0.1 and 2.0 in found.interval
    assert found.plain[1] - found.plain[0] > 4 and found.ratio is None and found.e_value is None
    assert "mean of y" in str(found)
    binned = {**rows, "z": np.where(rows["z"] > 0, "high", "low")}
    cut = cr.effect(binned, "x", "y", "[z][x|z][y|x:z]", prior=None)
    strata = [(binned["z"] == s) for s in ("high", "low")]
    mean = lambda x, s: rows["y"][s & (rows["x"] == x)].mean()  # noqa: E731
    wanted = sum(s.mean() * (mean(True, s) - mean(False, s)) for s in strata)
    assert abs(cut.difference - wanted) < 1e-9


def test_a_line_from_number_to_number() -> None:
    rng = np.random.default_rng(1)
    z = rng.normal(size=500)
    x = z + rng.normal(size=500)
    rows = {"z": z, "x": x, "y": 2 * x - 3 * z + rng.normal(size=500)}
    found = cr.effect(rows, "x", "y", "[z][x|z][y|x:z]", values=(0, 2))
    a = np.column_stack([np.ones(500), x, z])
    slope = np.linalg.lstsq(a, rows["y"], rcond=None)[0][1]
    left = rows["y"] - a @ np.linalg.lstsq(a, rows["y"], rcond=None)[0]
    error = np.sqrt(left @ left / 497 * np.linalg.inv(a.T @ a)[1, 1])
    assert abs(found.difference - 2 * slope) < 0.01
    np.testing.assert_allclose(found.interval.width, 2 * 2 * 1.965 * error, rtol=0.06)
    net = cr.fit("[z][x|z][y|x:z]", rows, prior=cr.LinePrior())
    assert abs(cr.effect(net, "x", "y", values=(0, 2)).difference - found.difference) < 0.05


def test_cells_without_rows_are_named() -> None:
    rows = {
        "z": ["a"] * 30 + ["b"] * 20,
        "x": ["no", "yes"] * 15 + ["no"] * 20,
        "y": ["no", "yes", "yes"] * 10 + ["no", "yes"] * 10,
    }
    found = cr.effect(rows, "x", "y", "[z][x|z][y|x:z]")
    [gap] = found.positivity
    assert dict(gap.cell) == {"x": "yes", "z": "b"} and gap.rows == 20
    assert "no row has x=yes, z=b" in str(found)
    full = {k: [*v, *v] for k, v in rows.items()}
    full["x"] = [*rows["x"], *["yes"] * 50]
    assert cr.effect(full, "x", "y", "[z][x|z][y|x:z]").positivity == ()
    sure = cr.effect(full, "x", "y", "[z][x|z][y|x:z]")
    assert found.interval.width > 1.5 * sure.interval.width


def test_how_strong_a_hidden_cause_must_be() -> None:
    assert round(e_value(3.9), 2) == 7.26  # VanderWeele & Ding (2017), table 1
    assert e_value(0.25) == e_value(4.0) and e_value(1.0) == 1.0
    net = cr.Network("[s][l|s]", {"s": 0.5, "l": {False: 0.1, True: 0.3}})
    found = cr.effect(net, "s", "l")
    strength = found.hidden_cause(0.9, 0.2)
    biased = (1 + (strength - 1) * 0.9) / (1 + (strength - 1) * 0.2)
    assert abs(biased - 3.0) < 1e-9
    assert found.hidden_cause(0.5, 0.3) is None
    with pytest.raises(InputError, match="between 0 and 1"):
        found.hidden_cause(2, 0.1)


def test_bounds_of_causation_are_those_of_tian_and_pearl() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        types = rng.dirichlet(np.ones(8)).reshape(2, 2, 2)  # x, y_0, y_1
        joint = np.array([[types[x].sum(axis=1 - x)[y] for y in (0, 1)] for x in (0, 1)])
        do = np.stack([types.sum(axis=(0, 2)), types.sum(axis=(0, 1))])
        low, high = counterfactual_bounds(joint, do, lambda x, ys: ys == (0, 1))
        p1, p0, py = do[1, 1], do[0, 1], joint[:, 1].sum()
        wanted = max(0, p1 - p0, py - p0, p1 - py)
        most = min(p1, do[0, 0], joint[1, 1] + joint[0, 0], p1 - p0 + joint[1, 0] + joint[0, 1])
        np.testing.assert_allclose([low, high], [wanted, most], atol=1e-9)
        assert low - 1e-9 <= types[:, 0, 1].sum() <= high + 1e-9
    assert counterfactual_bounds(np.eye(2) / 2, np.eye(2)[::-1], lambda x, y: True) is None


def test_bounds_by_an_instrument_are_those_of_balke_and_pearl() -> None:
    """Lipid Research Clinics: 0.392 to 0.780 (Balke & Pearl 1997); the closed form elsewhere."""
    p = np.array([[[0.919, 0.081], [0.0, 0.0]], [[0.315, 0.073], [0.139, 0.473]]])
    found = instrument_bounds(p, lambda y: y[1] - y[0])
    np.testing.assert_allclose(found, [0.392, 0.780], atol=1e-3)
    bad = np.array([[[1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]])
    assert instrument_bounds(bad, lambda y: y[1] - y[0]) is None
    rng = np.random.default_rng(5)
    for _ in range(10):
        types = rng.dirichlet(np.ones(16)).reshape(2, 2, 2, 2)  # x_0, x_1, y_0, y_1
        p = np.zeros((2, 2, 2))
        for z, x0, x1, y0, y1 in np.ndindex(2, 2, 2, 2, 2):
            x = (x0, x1)[z]
            p[z, x, (y0, y1)[x]] += types[x0, x1, y0, y1]
        low, high = instrument_bounds(p, lambda y: y[1] - y[0])
        truth = types[:, :, 0, 1].sum() - types[:, :, 1, 0].sum()
        assert low - 1e-9 <= truth <= high + 1e-9
        q = lambda y, x, z, p=p: p[z, x, y]  # noqa: E731
        assert abs(low - max(
            q(1, 1, 1) + q(0, 0, 0) - 1, q(1, 1, 0) + q(0, 0, 1) - 1,
            q(1, 1, 0) - q(1, 1, 1) - q(1, 0, 1) - q(0, 1, 0) - q(1, 0, 0),
            q(1, 1, 1) - q(1, 1, 0) - q(1, 0, 0) - q(0, 1, 1) - q(1, 0, 1),
            -q(0, 1, 1) - q(1, 0, 1), -q(0, 1, 0) - q(1, 0, 0),
            q(0, 0, 1) - q(0, 1, 1) - q(1, 0, 1) - q(0, 1, 0) - q(0, 0, 0),
            q(0, 0, 0) - q(0, 1, 0) - q(1, 0, 0) - q(0, 1, 1) - q(0, 0, 1),
        )) < 1e-9  # fmt: skip


def test_an_instrument_bounds_what_cannot_be_identified() -> None:
    rng = np.random.default_rng(6)
    n = 4000
    u, z = rng.random(n) < 0.5, rng.random(n) < 0.5
    x = rng.random(n) < 0.05 + 0.7 * z + 0.2 * u
    y = rng.random(n) < 0.1 + 0.3 * x + 0.4 * u
    rows, graph = {"z": z, "x": x, "y": y}, "[z][x|z][y|x] x<->y"
    with pytest.raises(NotIdentifiedError, match="by='instrument'"):
        cr.effect(rows, "x", "y", graph)
    found = cr.effect(rows, "x", "y", graph, by="instrument", draws=100)
    low, high = found.bounds
    assert low <= 0.3 <= high and found.instrument == "z"
    assert found.interval.lower <= low <= high <= found.interval.upper
    assert "bounds" in str(found) and "z" in found.reason
    with pytest.raises(InputError, match="no instrument"):
        cr.effect(rows, "x", "y", "[z][x|z][y|x:z]", by="instrument")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"graph": None}, "graph= is needed"),
        ({"x": "treatmnt"}, "Did you mean 'treatment'"),
        ({"y": "treatment"}, "on itself"),
        ({"values": ("A", "C")}, "'C'"),
        ({"values": "A"}, "a pair"),
        ({"outcome": "maybe"}, "'maybe'"),
        ({"interval": 2}, "between 0 and 1"),
        ({"graph": 3}, "graph= is a CausalGraph"),
        ({"graph": "[size][success|size]"}, "Node 'treatment' is not in the graph"),
    ],
)
def test_refusals(changes, said) -> None:
    given = {"x": "treatment", "y": "success", "graph": KIDNEY} | changes
    x, y = given.pop("x"), given.pop("y")
    with pytest.raises(CredoError, match=said):
        cr.effect(cr.examples.kidney_stones(), x, y, **given)


def test_a_generator_gives_one_seed_for_all_draws() -> None:
    table = cr.examples.smoking_tar()
    one, two = (
        cr.effect(table, "smoke", "cancer", TAR, rng=np.random.default_rng(4)) for _ in "ab"
    )
    assert one.interval == two.interval and -0.045 in one.interval
    import pickle

    assert pickle.loads(pickle.dumps(one)).difference == one.difference
    with pytest.raises(InputError, match="hidden common causes cannot be counted"):
        cr.fit(TAR, table)


def test_numbers_need_an_adjustment() -> None:
    rng = np.random.default_rng(3)
    rows = {"x": rng.integers(0, 2, 50), "m": rng.normal(size=50), "y": rng.normal(size=50)}
    with pytest.raises(SchemaError, match="is a number"):
        cr.effect(rows, "x", "y", "[x][m|x][y|m] x<->y", values=(0, 1))


def simulated(rng, rows, rare=False):
    """A confounded table and the true difference."""
    share = rng.uniform(0.3, 0.7)
    z = (rng.random(rows) < share).astype(int)
    px = np.array([0.05, 0.9]) if rare else rng.uniform(0.2, 0.8, 2)
    x = (rng.random(rows) < px[z]).astype(int)
    py = rng.uniform(0.1, 0.9, (2, 2))
    y = (rng.random(rows) < py[x, z]).astype(int)
    weights = np.array([1 - share, share])
    return {"z": z, "x": x, "y": y}, float((py[1] - py[0]) @ weights)


def coverage(times, rare, rows):
    rng = np.random.default_rng(7)
    inside = 0
    for i in range(times):
        table, truth = simulated(rng, rows, rare)
        inside += truth in cr.effect(table, "x", "y", "[z][x|z][y|x:z]", draws=1000, rng=i).interval
    return inside / times


def test_intervals_cover_roughly() -> None:
    assert coverage(60, False, 200) > 0.85


@pytest.mark.slow
@pytest.mark.parametrize("rare", [False, True])
def test_intervals_cover(rare: bool) -> None:
    assert abs(coverage(1000, rare, 200) - 0.95) <= 0.02


def test_a_posterior_over_graphs_is_averaged_over_all_of_them() -> None:
    rng = np.random.default_rng(5)
    z = rng.random(150) < 0.5
    x = rng.random(150) < 0.2 + 0.6 * z
    y = rng.random(150) < 0.2 + 0.2 * x + 0.3 * z
    post = cr.average({"z": z, "x": x, "y": y})
    found = cr.effect(post, "x", "y", draws=4000)
    nets = [post.network_of(i) for i in range(len(post.weights))]
    each = np.array([[n.ask(f"P(y=true | do(x={v}))") for v in ("false", "true")] for n in nets])
    np.testing.assert_allclose(found.p, post.weights @ each, atol=1e-10)
    for v, p in zip((False, True), found.plain, strict=True):
        assert p == pytest.approx(post.p("y", given={"x": v})[True], abs=1e-12)
    none = sum(
        w for w, n in zip(post.weights, nets, strict=True) if "x" not in n.dag.ancestors("y")
    )
    gone = np.isclose(found.samples[:, 0], found.samples[:, 1], atol=1e-12)
    assert abs(gone.mean() - none) < 0.01  # in graphs without a path nothing changes
    assert found.formula is None and "has probability" in found.reason
    assert "includes how sure the graph is" in found.notes[0]
    by_state = post.effect("x", "y")
    assert by_state[True][True] == pytest.approx(found.p[1], abs=1e-12)
    joint = np.array([[post.p({"x": v, "y": w}) for w in (False, True)] for v in (False, True)])
    set_ = np.array([[1 - p, p] for p in found.p])
    bits = (joint * np.log2(joint / joint.sum(axis=1, keepdims=True) / set_)).sum()
    assert found.confounding == pytest.approx(bits, abs=1e-9)
    with pytest.raises(InputError, match="has its own graphs"):
        cr.effect(post, "x", "y", "[x][y|x]")


def test_numbers_over_graphs() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=100)
    y_rows = x + rng.normal(size=100)
    post = cr.average({"x": x, "y": y_rows})
    found = cr.effect(post, "x", "y", values=(0, 2))
    assert found.interval.lower == 0 and found.difference < found.interval.upper
    both = found.samples[:, 0] != found.samples[:, 1]
    slope = np.cov(x, y_rows)[0, 1] / x.var(ddof=1)
    assert abs(both.mean() - post.path("x", "y")) < 0.01 and found.confounding is None
    assert np.diff(found.samples[both]).mean() == pytest.approx(2 * slope, abs=0.1)
