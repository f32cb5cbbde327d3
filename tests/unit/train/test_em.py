"""EM: the textbook's figures, starts, refusals, hidden variables, streams, records."""

import numpy as np
import pytest

import credo as cr
from credo.errors import ImpossibleError, InputError, LimitError, SchemaError, UnknownNameError

CANDY = [
    ("cherry", "red", "yes", 273), ("cherry", "red", "no", 93),
    ("cherry", "green", "yes", 104), ("cherry", "green", "no", 90),
    ("lime", "red", "yes", 79), ("lime", "red", "no", 100),
    ("lime", "green", "yes", 94), ("lime", "green", "no", 167),
]  # fmt: skip
BAGS = "[Bag][Flavor|Bag][Wrapper|Bag][Holes|Bag]"


@pytest.fixture(scope="module")
def candy():
    columns = dict(zip(("Flavor", "Wrapper", "Holes", "n"), zip(*CANDY, strict=True), strict=True))
    return cr.read({k: list(v) for k, v in columns.items()}, weights="n")


@pytest.fixture(scope="module")
def start():
    two = {"F": ("cherry", "lime"), "W": ("red", "green"), "H": ("yes", "no")}
    tables = {"Bag": {1: 0.6, 2: 0.4}}
    for name, (a, b) in zip(("Flavor", "Wrapper", "Holes"), two.values(), strict=True):
        tables[name] = {1: {a: 0.6, b: 0.4}, 2: {a: 0.4, b: 0.6}}
    return cr.Network(BAGS, tables)


def p(net, name, state, bag):
    return net.cpt(name).row(Bag=bag)[state]


def test_two_bags_of_candy_as_printed(candy, start):
    one = cr.em(BAGS, candy, start=start, max_iter=1)
    assert one.record.trace == pytest.approx([-2044.26, -2021.03], abs=0.005)
    assert one.p("Bag")[1] == pytest.approx(0.6124, abs=5e-5)
    figures = [(0.6684, 0.3887), (0.6483, 0.3817), (0.6558, 0.3827)]
    for (name, state), (a, b) in zip(
        (("Flavor", "cherry"), ("Wrapper", "red"), ("Holes", "yes")), figures, strict=True
    ):
        assert p(one, name, state, 1) == pytest.approx(a, abs=5e-5)
        assert p(one, name, state, 2) == pytest.approx(b, abs=5e-5)
    ten = cr.em(BAGS, candy, start=start, max_iter=10)
    assert ten.record.score == pytest.approx(-1982.02, abs=0.005)
    whole = cr.em(BAGS, candy, start=start)
    assert whole.record.trace[10] == pytest.approx(-1982.02, abs=0.005)


@pytest.mark.parametrize("method", ["gradient", "conjugate-gradient"])
def test_gradient_reaches_the_same_top(candy, start, method):
    a, b = cr.em(BAGS, candy, start=start), cr.em(BAGS, candy, start=start, method=method)
    assert b.record.score == pytest.approx(a.record.score, abs=1e-6)
    for n in a.names:
        assert np.abs(a.cpt(n).values - b.cpt(n).values).max() < 1e-6
    assert (np.diff(b.record.trace) >= 0).all()


@pytest.mark.parametrize("method", ["gradient", "conjugate-gradient"])
def test_many_starts_are_raced_by_the_method_asked_for(candy, method, monkeypatch):
    from credo.train.em.run import Run

    by_em = cr.em(BAGS, candy, hidden={"Bag": 2})
    monkeypatch.setattr(Run, "steps", lambda *_: pytest.fail("this is EM"))
    net = cr.em(BAGS, candy, hidden={"Bag": 2}, method=method)
    assert "slope" in net.record.reason and net.record.how == method
    assert len(net.record.details["starts_dropped"]) == 9
    assert (np.diff(net.record.trace) >= 0).all()
    assert net.record.score == pytest.approx(by_em.record.score, abs=0.2)
    short = cr.em(BAGS, candy, hidden={"Bag": 2}, method=method, max_iter=4)
    assert short.record.details["iterations"] == 4
    assert short.record.reason == "the budget of 4 iterations was used up"


def test_ctrl_c_keeps_what_the_gradient_has_reached(candy, monkeypatch):
    from credo.train.em.e_step import EStep

    calls, original = [], EStep.expect

    def stop(self, numbers):
        calls.append(1)
        if len(calls) == 30:
            raise KeyboardInterrupt
        return original(self, numbers)

    monkeypatch.setattr(EStep, "expect", stop)
    net = cr.em(BAGS, candy, hidden={"Bag": 2}, restarts=1, method="gradient")
    assert net.record.reason == "interrupted"
    assert net.record.score >= net.record.trace[-1] - 1e-9


def test_plain_gradient_steps_climb(candy, start):
    net = cr.em(BAGS, candy, start=start, method="gradient-steps", max_iter=300)
    assert net.record.score > -1979.5 and (np.diff(net.record.trace) >= 0).all()
    assert net.record.details["iterations"] <= 300


def test_gradient_with_lines_priors_tied_and_fixed():
    rng = np.random.default_rng(3)
    c = rng.integers(0, 2, 400)
    x, y = rng.normal(3.0 * c, 1), rng.normal(3.0 * c, 1)
    x[rng.random(400) < 0.2] = np.nan
    rows = cr.read({"x": x, "y": y})
    options = {
        "hidden": {"C": 2}, "tied": [["x", "y"]], "rng": 1,
        "prior": {"x": cr.LinePrior(0, 1, 0, 1, 2, 1), "y": cr.LinePrior(0, 1, 0, 1, 2, 1)},
    }  # fmt: skip
    a = cr.em("[C][x|C][y|C]", rows, **options)
    b = cr.em("[C][x|C][y|C]", rows, method="gradient", **options)
    assert np.allclose(a.cpt("x").intercept, a.cpt("y").intercept)
    one, two = (np.argsort(n.cpt("x").intercept) for n in (a, b))  # the names are arbitrary
    assert np.allclose(a.cpt("x").intercept[one], b.cpt("x").intercept[two], atol=1e-6)
    assert np.allclose(a.cpt("x").variance[one], b.cpt("x").variance[two], atol=1e-6)
    assert b.record.score == pytest.approx(a.record.score, abs=1e-6)
    assert (np.diff(a.record.trace) >= 0).all()
    half = cr.em("[C][x|C][y|C]", rows, hidden={"C": 2}, rng=1,
                 fixed={"C": cr.Cpt(cr.Variable("C", "discrete", (0, 1)), (), [0.5, 0.5])})  # fmt: skip
    assert half.p("C")[0] == 0.5


def test_hidden_states_are_ordered_and_noted(candy):
    net = cr.em(BAGS, candy, hidden={"Bag": 2})
    assert net.record.score == pytest.approx(-1979.360127, abs=1e-5)
    assert net.p("Bag")[0] >= net.p("Bag")[1]
    assert any("names of the states are arbitrary" in n for n in net.record.notes)
    assert len(net.record.details["starts_dropped"]) == 9
    assert net.record.details["hidden"] == ("Bag",)
    assert net.record.score == pytest.approx(net.log_likelihood(candy), rel=1e-12)
    same = cr.em(BAGS, candy, hidden={"Bag": 2})
    assert same == net and same.record.trace == net.record.trace
    named = cr.em(BAGS, candy, hidden={"Bag": ["left", "right"]}, rng=5)
    assert set(named.p("Bag")) == {"left", "right"}


def test_saddle_points_are_refused(candy, start):
    with pytest.raises(InputError, match="saddle point"):
        cr.em(BAGS, candy, hidden={"Bag": 2}, start="uniform")
    flat = {n: np.full(start.cpt(n).shape, 0.5) for n in start.names}
    even = cr.Network(BAGS, flat, states={v.name: v.states for v in start.variables})
    with pytest.raises(InputError, match="all states of the hidden variable 'Bag' alike"):
        cr.em(BAGS, candy, start=even)


THREE = "[H][x|H][y|H][z|H]"


def _three(first=(0.2, 0.3, 0.5), own=(0.3, 0.1, 0.6)):
    """A start whose states 'a' and 'b' are alike unless the first row of x is changed."""
    x = [first, (0.2, 0.3, 0.5), (0.6, 0.2, 0.2)]
    y = [(0.2, 0.8), (0.2, 0.8), (0.6, 0.4)]
    states = {"H": ["a", "b", "c"], "x": (0, 1, 2), "y": (0, 1), "z": (0, 1)}
    return cr.Network(THREE, {"H": own, "x": x, "y": y, "z": y}, states=states)


def test_two_states_alike_are_a_saddle_point_too():
    rng = np.random.default_rng(0)
    rows = {"x": rng.integers(0, 3, 60), "y": rng.integers(0, 2, 60), "z": rng.integers(0, 2, 60)}
    for how in ("em", "gradient", "stepwise"):
        with pytest.raises(InputError, match="treats the states 'a' and 'b' of the hidden"):
            cr.em(THREE, rows, start=_three(), method=how)
    apart = cr.em(THREE, rows, start=_three(first=(0.2, 0.31, 0.49)))
    assert np.abs(apart.cpt("x").values[0] - apart.cpt("x").values[1]).max() > 0.01
    # a state that is never there is no twin, and a prior that differs tells states apart
    cr.em(THREE, rows, start=_three(own=(0.0, 0.4, 0.6)))
    uneven = {"x": np.array([[9, 1, 1], [1, 1, 9], [1, 9, 1]])}
    kept = cr.em(THREE, rows, uneven, start=_three(), max_iter=50)
    assert np.abs(kept.cpt("x").values[0] - kept.cpt("x").values[1]).max() > 0.01


def test_a_factor_without_slopes_is_a_saddle_point():
    rows = {"a": [1.0, 2.0, 3.0, 4.0, 2.5], "b": [1.0, 2.0, 2.0, 4.0, 2.5]}
    with pytest.raises(InputError, match="nothing depends on the hidden variable 'F'"):
        cr.em("[F][a|F][b|F]", rows, hidden={"F": "continuous"}, start="uniform")


def test_burglary_not_observed_on_one_day():
    rows = {
        "Burglary": ["no", "no", "no", None, "yes", "no"],
        "Earthquake": ["no", "yes", "no", "no", "no", "no"],
        "Alarm": ["off", "on", "off", "on", "on", "off"],
    }
    net = cr.em("[Burglary][Earthquake][Alarm|Burglary:Earthquake]", rows)
    # on the fourth day the alarm went off without an earthquake: only a burglary explains that
    assert net.p("Burglary", {"Alarm": "on", "Earthquake": "no"})["yes"] == pytest.approx(1)
    assert net.p("Burglary")["yes"] == pytest.approx(2 / 6, abs=1e-6)
    dropped = cr.fit("[Burglary][Earthquake][Alarm|Burglary:Earthquake]", rows)
    assert dropped.p("Burglary")["yes"] == pytest.approx(1 / 5)


def test_records_tell_what_happened(candy, start):
    net = cr.em(BAGS, candy, start=start, max_iter=3)
    record = net.record
    assert record.how == "em" and record.reason == "the budget of 3 iterations was used up"
    assert len(record.trace) == 4 and record.seed == 0 and record.seconds > 0
    assert record.details["iterations"] == 3 and record.details["missing"] == {"Bag": 1.0}
    assert record.details["rows"] == 1000
    assert set(record.details["observed"].values()) == {0.0}  # no family is ever seen whole
    assert sum(i["log_likelihood"] for i in record.families) <= 0
    assert record.source == "dict of columns"
    more = net.update({"Bag": [1], "Flavor": ["lime"], "Wrapper": ["red"], "Holes": ["no"]})
    assert more.cpt("Bag").learned.observed.total == pytest.approx(1001)


def test_priors_and_posteriors(candy, start):
    net = cr.em(BAGS, candy, prior=cr.BDeu(8), start=start)
    counts = net.cpt("Flavor").counts
    assert counts.sum() == pytest.approx(1008) and net.cpt("Flavor").prior.sum() == 8
    assert net.ask("P(Flavor=lime)", interval=0.9).low < 0.44
    sharp = cr.em(BAGS, candy, prior=cr.Laplace(2), estimate="map", start=start)
    assert (np.diff(sharp.record.trace) >= 0).all()
    with pytest.raises(InputError, match="pseudo-counts of 'Bag' must be 1 or more"):
        cr.em(BAGS, candy, prior=cr.BDeu(1), estimate="map", start=start)
    with pytest.raises(InputError, match="needs a prior"):
        cr.em(BAGS, candy, estimate="map", start=start)


def test_a_stream_gives_what_the_table_gives(tmp_path):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 3000)
    b = np.where(rng.random(3000) < 0.8, a, 1 - a)
    lines = [
        f"{'' if rng.random() < 0.2 else x},{'' if rng.random() < 0.2 else y}"
        for x, y in zip(a, b, strict=True)
    ]
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "\n".join(lines))
    whole, parts = cr.read(path), cr.read(path, memory="1kB")
    assert isinstance(parts, cr.Stream)
    one, two = cr.em("[a][b|a]", whole), cr.em("[a][b|a]", parts)
    for n in ("a", "b"):
        assert np.abs(one.cpt(n).values - two.cpt(n).values).max() < 1e-12
    step = cr.em("[a][b|a]", parts, method="stepwise", batch=200, passes=3)
    for n in ("a", "b"):
        assert np.abs(one.cpt(n).values - step.cpt(n).values).max() < 0.03
    assert step.record.score == pytest.approx(step.log_likelihood(whole), rel=1e-9)
    assert step.record.details["iterations"] == len(step.record.trace)
    with pytest.raises(InputError, match="decay must be above"):
        cr.em("[a][b|a]", whole, method="stepwise", decay=0.4)


def test_stepwise_keeps_the_states_of_a_network(tmp_path):
    rows = {"A": ["yes"] * 90 + ["no"] * 10, "B": ["u", "v"] * 45 + [None, "v"] * 5}
    path = tmp_path / "rows.csv"
    cr.read(rows).to("pandas").to_csv(path, index=False)
    tables = {"A": {"yes": 0.5, "no": 0.5}, "B": {a: {"v": 0.4, "u": 0.6} for a in ("yes", "no")}}
    turned = cr.Network("[A][B|A]", tables)
    more = cr.Network("[A]", {"A": {"maybe": 0.2, "yes": 0.5, "no": 0.3}})
    for source in (rows, cr.read(rows), cr.read(path), cr.read(path, memory="10 B")):
        whole = cr.em(turned, source)
        for options in ({}, {"passes": 2, "batch": 7}):
            asked = {"method": "stepwise", **options}
            for net in (
                cr.em(turned, source, **asked),
                cr.em("[A][B|A]", source, start=turned, **asked),
            ):
                assert net.variables == turned.variables
                assert net.p("A")["yes"] == pytest.approx(0.9, abs=0.2 if options else 1e-12)
                assert net.record.score == pytest.approx(net.log_likelihood(source), rel=1e-9)
            held = cr.em("[A][B|A]", source, fixed={"A": turned.cpt("A")}, **asked)
            assert held.variables[0] == turned.variables[0]
        assert whole.p("A")["yes"] == pytest.approx(0.9)
        wide = cr.em(more, source, method="stepwise")
        assert dict(wide.p("A")) == pytest.approx({"maybe": 0.0, "yes": 0.9, "no": 0.1})


def test_warm_start_goes_on(candy, start):
    early = cr.em(BAGS, candy, start=start, max_iter=5)
    late = cr.em(BAGS, candy, start=early, max_iter=5, accelerate=False)
    whole = cr.em(BAGS, candy, start=start, max_iter=10, accelerate=False)
    assert late.record.trace == pytest.approx(whole.record.trace[5:], rel=1e-12)


def test_mixture_equals_scikit_learn():
    from sklearn.mixture import GaussianMixture

    rng = np.random.default_rng(0)
    z = rng.integers(0, 3, 900)
    x = rng.normal(size=(900, 2)) * [1, 0.5] + np.array([[0, 0], [5, 1], [-4, 3]])[z]
    theirs = GaussianMixture(3, n_init=3, tol=1e-10, max_iter=1000, reg_covar=0, random_state=0)
    net = cr.em("[C][x|C][y|x:C]", {"x": x[:, 0], "y": x[:, 1]}, hidden={"C": 3}, restarts=6)
    assert net.record.score == pytest.approx(theirs.fit(x).score(x) * 900, rel=1e-8)


def test_factor_analysis_is_a_hidden_line():
    rng = np.random.default_rng(0)
    f = rng.normal(size=2000)
    rows = {n: b * f + rng.normal(0, s, 2000) for n, b, s in
            (("x", 1.0, 0.5), ("y", 2.0, 1.0), ("z", -1.0, 0.7))}  # fmt: skip
    net = cr.em("[F][x|F][y|F][z|F]", rows, hidden={"F": "continuous"})
    # three columns and one factor: the covariance is reproduced exactly
    covariance = np.cov(np.stack(list(rows.values())), bias=True)
    spread = net.cpt("F").variance.item()
    slopes = [net.cpt(n).coefficients.item() for n in "xyz"]
    for i in range(3):
        for j in range(i):
            assert slopes[i] * slopes[j] * spread == pytest.approx(covariance[i, j], rel=1e-4)
    assert any("scale and sign are arbitrary" in n for n in net.record.notes)


def test_a_class_of_one_row_does_not_run_away():
    x = np.concatenate([np.random.default_rng(0).normal(size=50), [100.0]])
    net = cr.em("[C][x|C]", {"x": x}, hidden={"C": 2}, restarts=20)
    assert np.isfinite(net.record.score) and (net.cpt("x").variance > 0).all()


def test_refusals():
    rows = {"a": [0, 1, None], "b": [0, 1, 1]}
    cases = [
        (InputError, "hidden= is a mapping", {"hidden": ["h"]}),
        (UnknownNameError, "The hidden variable 'h' is not in the graph", {"hidden": {"h": 2}}),
        (InputError, "'a' is hidden= but the table has it", {"hidden": {"a": 2}}),
        (InputError, "method", {"method": "climb"}),
        (InputError, "start", {"start": "nowhere"}),
        (InputError, "max_iter", {"max_iter": 0}),
        (InputError, "needs different starts", {"start": "available", "restarts": 3}),
        (InputError, "threads", {"threads": 0}),
        (InputError, "rng", {"rng": None}),
    ]
    for kind, text, options in cases:
        with pytest.raises(kind, match=text):
            cr.em("[a][b|a]", rows, **options)
    with pytest.raises(UnknownNameError, match=r"hidden=\{'c': 2\}"):
        cr.em("[a][b|a:c][c]", rows)
    with pytest.raises(InputError, match="restarts=3 is not for method='stepwise'"):
        cr.em("[a][b|a]", rows, method="stepwise", restarts=3)
    assert cr.em("[a][b|a]", rows, method="stepwise").record.reason == "1 batch in 1 pass was taken"
    with pytest.raises(InputError, match="2 states or more"):
        cr.em("[a][b|a:c][c]", rows, hidden={"c": 1})
    for many in (10**7, 10**9, 10**15):
        with pytest.raises(LimitError, match="at most 10,000 are allowed"):
            cr.em("[a][b|a:c][c]", rows, hidden={"c": many})
    with pytest.raises(InputError, match="number of states, a list"):
        cr.em("[a][b|a:c][c]", rows, hidden={"c": 2.5})
    sure = cr.Network("[a][b|a]", {"a": {0: 1.0, 1: 0.0}, "b": {0: {0: 1, 1: 0}, 1: {0: 1, 1: 0}}})
    with pytest.raises(ImpossibleError, match="probability zero"):
        cr.em("[a][b|a]", rows, start=sure)
    with pytest.raises(SchemaError, match="In the start 'b' has the parents"):
        cr.em("[b][a|b]", rows, start=sure)
    with pytest.raises(InputError, match="a tally has lost"):
        cr.em("[a][b|a]", cr.tally(rows, ["a"]))
    with pytest.raises(InputError, match="'x' has missing cells"):
        cr.em("[x][a|x]", {"x": [0.5, 1.5, None], "a": [0, 1, 1]})


def test_a_family_never_observed_together_is_noted():
    rows = {"a": [0, 1, 0, None, None, None], "b": [None, None, None, 0, 1, 1]}
    notes = cr.em("[a][b|a]", rows).record.notes
    assert any("b with a: never observed together in one row" in n for n in notes)
    apart = cr.em("[a][b]", rows).record.notes
    assert not any("together in one row" in n for n in apart)


def test_too_wide_a_gap_beside_continuous_columns_is_refused():
    names = [f"d{i}" for i in range(18)]
    rows = {n: [0, 1, None] for n in names} | {"x": [0.1, 0.2, 0.3]}
    graph = "[d0]" + "".join(f"[d{i}|d{i - 1}]" for i in range(1, 18)) + "[x|d17]"
    with pytest.raises(LimitError, match="18 discrete variables that hang together"):
        cr.em(graph, rows)


@pytest.mark.parametrize("scale", [1e30, 1e300, 2**52])
def test_huge_weights_are_shares(scale):
    rows = {"a": [0, 1, None, 1, 0, 0, 1, None], "b": [0.5, 1.5, 1.0, 0.7, 0.2, 0.9, 1.9, 0.1]}
    plain = cr.em("[a][b|a]", rows)
    large = cr.em("[a][b|a]", rows, weights=[scale] * 8)
    assert large.p("a")[1] == pytest.approx(plain.p("a")[1], abs=1e-6)
    assert large.record.score / scale == pytest.approx(plain.record.score, rel=1e-6)


def test_underflow_is_no_end():
    # five thousand features: the product of the tables is far below the smallest double
    rng = np.random.default_rng(0)
    n, d = 12, 3000
    cells = rng.integers(0, 2, (n, d))
    rows = {f"f{i}": cells[:, i].tolist() for i in range(d)}
    graph = "[C]" + "".join(f"[f{i}|C]" for i in range(d))
    schema = {f"f{i}": [0, 1] for i in range(d)}
    net = cr.em(graph, cr.read(rows, schema), hidden={"C": 2}, restarts=2, max_iter=3,
                prior=cr.Laplace(1), draws=0)  # fmt: skip
    assert np.isfinite(net.record.trace).all()


# --- Ctrl-C -------------------------------------------------------------------------------


def _after(steps, original):
    """A run that Ctrl-C ends after some steps."""

    def run(self, most, pause=None):
        for i, height in enumerate(original(self, most, pause)):
            yield height
            if i + 1 >= steps:
                raise KeyboardInterrupt

    return run


GAPPY = {"B": ["n", "n", None, "y", None, "y"], "A": ["f", "f", "o", "o", "f", None]}


@pytest.mark.parametrize("restarts", [None, 3])
def test_ctrl_c_gives_the_best_so_far(monkeypatch, restarts):
    from credo.train.em.run import Run

    monkeypatch.setattr(Run, "steps", _after(2, Run.steps))
    start = None if restarts is None else "random"
    net = cr.em("[B][A|B]", GAPPY, restarts=restarts, start=start)
    assert net.record.reason == "interrupted" and net.record.details["iterations"] == 2
    assert sum(net.p("B").values()) == pytest.approx(1)


def test_ctrl_c_before_the_first_step_gives_nothing(monkeypatch):
    from credo.train.em.e_step import EStep

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(EStep, "expect", stop)
    for more in ({}, {"start": "random", "restarts": 2}):
        with pytest.raises(KeyboardInterrupt):
            cr.em("[B][A|B]", GAPPY, **more)
