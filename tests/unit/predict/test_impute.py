"""Gaps filled: against the joint, by enumeration; draws by their frequencies; refusals."""

import numpy as np
import pytest

import credo as cr
from credo.errors import CredoError, ImpossibleError, InputError, UnknownNameError
from credo.model.networks.linear_gaussian import LinearGaussian

NET = cr.Network(
    "[a][b|a][c|a:b]",
    {
        "a": {"x": 0.3, "y": 0.7},
        "b": {"x": {0: 0.9, 1: 0.1}, "y": {0: 0.4, 1: 0.6}},
        "c": {("x", 0): [0.5, 0.5], ("x", 1): [0.2, 0.8], ("y", 0): [0.6, 0.4], ("y", 1): [1, 0]},
    },
    states={"c": ["u", "v"]},
)
ROWS = {"a": [None, "x", None, "y"], "b": [None, None, 1, 1], "c": ["v", None, None, "u"]}


def test_mode_is_the_most_probable_explanation():
    table = NET.impute(ROWS)
    for r in range(4):
        given = {n: ROWS[n][r] for n in ROWS if ROWS[n][r] is not None}
        best = {**given, **NET.mpe(given)}
        assert {n: table.values(n)[r] for n in ROWS} == best
    assert NET.impute({"a": ["x"]}).values("a").tolist() == ["x"]


def test_posteriors_are_those_of_asking():
    gaps = NET.impute(ROWS, method="posterior")
    assert len(gaps) == 6 and next(iter(gaps)) == (0, "a")
    for row, name in gaps:
        given = {n: ROWS[n][row] for n in ROWS if ROWS[n][row] is not None}
        expected = NET.p(name, given)
        found = gaps[row, name]
        assert [found[s] for s in expected] == pytest.approx(list(expected.values()), abs=1e-12)
    with pytest.raises(InputError, match="not missing in row 3"):
        gaps[3, "a"]
    with pytest.raises(UnknownNameError):
        gaps[0, "z"]
    assert "6 missing cells" in repr(gaps) and "<table" in gaps._repr_html_()


def test_draws_are_joint_and_repeatable():
    rows = {"a": [None] * 20_000, "b": [None] * 20_000, "c": ["v"] * 20_000}
    rows = cr.read(rows, NET.schema)
    table = NET.impute(rows, "sample", rng=1)
    pairs = list(zip(table.values("a"), table.values("b"), strict=True))
    joint = NET.p(["a", "b"], {"c": "v"})
    for states, p in joint.items():
        share = pairs.count(states) / len(pairs)
        assert abs(share - p) < 5 * np.sqrt(max(p, 1e-6) / 20_000) + 1e-12
    assert pairs.count(("y", 1)) == 0  # impossible
    again = NET.impute(rows, "sample", rng=1)
    assert (again.codes("a") == table.codes("a")).all()
    copies = NET.impute(ROWS, "sample", copies=3)
    assert len(copies) == 3 and all(not any(t.block.gaps) for t in copies)


def test_weights_and_frames_stay():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(ROWS)
    assert NET.impute(frame).to("pandas").isna().sum().sum() == 0
    weighted = cr.read({**ROWS, "w": [1, 2, 3, 4]}, weights="w")
    with pytest.warns(cr.errors.CredoWarning, match="'b' was set aside .* is taken as missing"):
        assert NET.impute(weighted).weights.tolist() == [1, 2, 3, 4]
    read = cr.read({**ROWS, "w": [1, 2, 3, 4]}, NET.schema, weights="w")
    assert NET.impute(read).weights.tolist() == [1, 2, 3, 4]


@pytest.fixture(scope="module")
def mixed():
    c = cr.Variable("c", "discrete", ("k", "l"))
    x, y = cr.Variable("x", "continuous"), cr.Variable("y", "continuous")
    return cr.Network(
        "[c][x|c][y|x:c]",
        {
            "c": cr.Cpt(c, (), [0.4, 0.6]),
            "x": cr.LinearGaussian(x, (c,), [0.0, 3.0], np.zeros((2, 0)), [1.0, 0.5]),
            "y": cr.LinearGaussian(y, (x, c), [1.0, -1.0], [[2.0], [0.5]], [0.3, 0.2]),
        },
    )


def test_mixed_posteriors_by_quadrature(mixed):
    rows = {"c": [None, None, "k"], "x": [None, 1.0, None], "y": [2.5, None, 0.7]}
    gaps = mixed.impute(rows, method="posterior")
    grid = np.linspace(-12, 12, 20_001)
    density = np.stack([
        p * np.exp(mixed.cpt("x").log_density(grid, [])[:, k])
        * np.exp(mixed.cpt("y").log_density(np.full_like(grid, 2.5), [grid])[:, k])
        for k, p in enumerate([0.4, 0.6])
    ])  # fmt: skip
    total = density.sum()
    assert gaps[0, "c"]["k"] == pytest.approx(density[0].sum() / total, rel=1e-6)
    mean = (density.sum(axis=0) * grid).sum() / total
    assert gaps[0, "x"].mean == pytest.approx(mean, rel=1e-6)
    spread = (density.sum(axis=0) * (grid - mean) ** 2).sum() / total
    assert gaps[0, "x"].variance == pytest.approx(spread, rel=1e-5)
    assert "±" in str(gaps)
    filled = mixed.impute(rows)
    assert not any(filled.block.gaps)
    many = cr.read({"c": [None] * 4000, "x": [None] * 4000, "y": [2.5] * 4000}, mixed.schema)
    drawn = mixed.impute(many, "sample")
    assert drawn.values("x").mean() == pytest.approx(mean, abs=5 * np.sqrt(spread / 4000))


@pytest.mark.parametrize("seed", range(3))
def test_wide_gaps_are_asked_row_by_row(seed, monkeypatch):
    from credo.predict.rows import impute_mixed

    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, 200)
    columns = {
        "a": a,
        "b": np.where(rng.random(200) < 0.6, a, rng.integers(0, 3, 200)),
        "x": a + rng.normal(0, 0.7, 200),
        "y": rng.normal(0, 1.0, 200),
    }
    columns["y"] += columns["x"] + columns["b"]
    net = cr.fit("[a][b|a][x|a][y|x:b]", columns, cr.BDeu(1))
    some = {n: [None if rng.random() < 0.4 else v for v in c[:40].tolist()]
            for n, c in columns.items() if n != "b" or seed}  # fmt: skip
    table = cr.read(some, {n: net.variable(n) for n in some})
    mode, each = net.impute(table), net.impute(table, "posterior")
    monkeypatch.setattr(impute_mixed, "MAX_STATES", 1)  # every gap is a wide one
    again, asked = net.impute(table), net.impute(table, "posterior")
    for one, two in zip(mode.block.arrays, again.block.arrays, strict=True):
        assert np.allclose(one, two, rtol=1e-9, atol=1e-9)
    assert list(each) == list(asked)
    for name in each.rows:
        assert np.allclose(each.posteriors[name], asked.posteriors[name], rtol=1e-8, atol=1e-10)


def test_refusals():
    with pytest.raises(InputError, match="method"):
        NET.impute(ROWS, "guess")
    with pytest.raises(InputError, match="copies= goes with"):
        NET.impute(ROWS, copies=2)
    with pytest.raises(InputError, match="no column of the model"):
        NET.impute({"z": [1]})
    sure = cr.Network("[a][d]", {"a": {0: 1.0, 1: 0.0}, "d": {0: 0.5, 1: 0.5}})
    for method in ("mode", "sample", "posterior"):
        with pytest.raises(ImpossibleError, match="Row 2"):
            sure.impute({"a": [0, 1], "d": [None, None]}, method)
    with pytest.raises(CredoError):
        NET.impute({"a": ["q", None]})


def test_nothing_is_missing_in_the_schema_of_a_filled_table():
    rows = {"rain": [None, False, True], "wet": [True, None, False]}
    net = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    assert net.impute(rows).schema.missing == {"rain": 0.0, "wet": 0.0}
    copies = cr.fit("[x]", {"x": [0.1, 0.3, 1.5]}).impute(
        {"x": [1.0, None]}, method="sample", copies=2
    )
    assert [c.schema.missing for c in copies] == [{"x": 0.0}] * 2


def test_draws_outside_of_what_was_observed_are_named():
    net = cr.fit("[age]", {"age": [0.5, 9.5, 20.5]})
    rows = {"age": [*map(float, range(1, 25)), *[None] * 40]}
    with pytest.warns(cr.errors.CredoWarning, match=r"outside of what was observed: age in \d+ of"):
        net.impute(rows, method="sample")
    net.impute(rows)  # the mean lies within


def test_a_column_that_another_determines_can_be_seen_beside_a_gap():
    rng = np.random.default_rng(0)
    sleep = rng.normal(10, 3, 60)
    rows = {"kind": ["a", "b"] * 30, "sleep": sleep, "awake": 24 - sleep + rng.normal(size=60)}
    net = cr.fit("[kind][sleep|kind][awake|sleep]", rows, prior=cr.BDeu(1))
    line = net.distributions["awake"]
    exact = LinearGaussian(line.child, line.parents, 24.0, [-1.0], 1e-17)
    net = cr.Network(net.dag, {**net.distributions, "awake": exact})
    gaps = {"kind": ["a", "b", None] * 20, "sleep": sleep, "awake": 24 - sleep}
    assert set(net.impute(gaps, "sample", rng=0)["kind"]) == {"a", "b"}
