"""Networks are built from tables of every form, refused with sentences, and are frozen values."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from credo.core.schema import Variable
from credo.errors import InputError, LimitError, SchemaError, UnknownNameError
from credo.model.answers.distribution import Distribution
from credo.model.graphs.dag import Dag
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.network import Network
from credo.model.values.record import Record

RAIN = Variable("rain", "discrete", ("no", "yes"))
COLD = Variable("cold", "discrete", (0, 1, 2))
WET = Variable("wet", "discrete", ("dry", "wet"))
X, Y = Variable("x", "continuous"), Variable("y", "continuous")
VALUES = np.array([[[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]], [[0.4, 0.6], [0.25, 0.75], [0.0, 1.0]]])
DAG = Dag.parse("[rain][cold][wet|rain:cold]")
PRIOR = {"rain": {"no": 0.8, "yes": 0.2}, "cold": {0: 0.5, 1: 0.25, 2: 0.25}}

WIDE = {"rain": [], "cold": [], "dry": [], "wet": []}
LONG = {"rain": [], "cold": [], "wet": [], "p": []}
for i, r in enumerate(RAIN.states):
    for j, c in enumerate(COLD.states):
        for key, value in zip(WIDE, (r, c, *VALUES[i, j]), strict=True):
            WIDE[key].append(value)
        for k, w in enumerate(WET.states):
            for key, value in zip(LONG, (r, c, w, VALUES[i, j, k]), strict=True):
                LONG[key].append(value)

NESTED = {
    r: {
        c: dict(zip(WET.states, VALUES[i, j].tolist(), strict=True))
        for j, c in enumerate(COLD.states)
    }
    for i, r in enumerate(RAIN.states)
}
TUPLES = {(r, c): NESTED[r][c] for r in RAIN.states for c in COLD.states}
FORMS = {
    "nested": NESTED,
    "nested, the rest left out": {
        r: {c: {"wet": row["wet"]} for c, row in rows.items()} for r, rows in NESTED.items()
    },
    "nested, one number": {
        r: {c: row["wet"] for c, row in rows.items()} for r, rows in NESTED.items()
    },
    "nested, rows in order": {
        r: {c: tuple(row.values()) for c, row in rows.items()} for r, rows in NESTED.items()
    },
    "by tuples": TUPLES,
    "by tuples, any order": dict(reversed(TUPLES.items())),
    "array": VALUES,
    "flat": VALUES.ravel(),
    "lists": VALUES.tolist(),
    "cpt": Cpt(WET, (RAIN, COLD), VALUES),
    "cpt turned": Cpt(WET, (COLD, RAIN), VALUES.transpose(1, 0, 2)),
    "pandas wide": pd.DataFrame(WIDE),
    "pandas long": pd.DataFrame(LONG),
    "polars wide": pl.DataFrame(WIDE),
    "polars long": pl.DataFrame(LONG)[::-1],
}


@pytest.mark.parametrize("form", FORMS)
def test_tables_of_every_form(form):
    net = Network(DAG, {**PRIOR, "wet": FORMS[form]}, states={"wet": WET.states})
    np.testing.assert_array_equal(net.cpt("wet").values, VALUES)
    assert net == Network(DAG, {**PRIOR, "wet": NESTED})
    assert net.cpt("wet").row(rain="yes", cold=2).to_dict() == {"dry": 0.0, "wet": 1.0}
    assert net.cpt("wet")["yes", 1]["wet"] == 0.75


def test_states_are_found_in_the_tables():
    net = Network(
        [("a", "b"), ("a", "c")],
        {
            "a": 0.3,
            "b": {False: {"x": 1.0, "y": 0.0}, True: {"y": 0.5, "x": 0.5}},
            "c": [[1, 0, 0], [0, 1, 0]],
        },
    )
    assert [v.states for v in net.variables] == [(False, True), ("x", "y"), (0, 1, 2)]
    assert net.names == ("a", "b", "c") and net.dag.parents("b") == ("a",)
    assert net.free_parameters == 1 + 2 + 4 and net.is_discrete
    long = Network("[cold]", {"cold": pd.DataFrame({"cold": [5, 7], "p": [0.5, 0.5]})})
    assert long.variable("cold").states == (5, 7)
    given = Network("[a]", {"a": Distribution.of({"h": 0.5, "t": 0.5})})
    assert given.variable("a").states == ("h", "t")
    assert Network("[rain]", [Cpt(RAIN, (), [0.5, 0.5])]).schema.names == ("rain",)


def wet(table, **states):
    return lambda: Network(DAG, {**PRIOR, "wet": table}, states=states or {"wet": WET.states})


def changed(form, key, value):
    table = copy.deepcopy(NESTED) if form == "nested" else pd.DataFrame(LONG)
    if form == "nested":
        table["no"][1] = {**table["no"][1], key: value}
    else:
        table[key] = table[key].astype(object)
        table.loc[0, key] = value
    return table


BAD = [
    (
        wet(VALUES[:1]),
        InputError,
        r"must have the shape \(2, 3, 2\) \(rain, cold, wet\), got \(1, 3, 2\)",
    ),
    (wet(VALUES * 0.95), InputError, r"'wet' given rain=no, cold=0 add up to 0.95, not to 1"),
    (wet(-VALUES), InputError, r"P\(wet=dry \| rain=no, cold=0\) is negative: -0.9"),
    (
        wet(np.where(VALUES == 1, np.nan, VALUES)),
        InputError,
        r"P\(wet=wet \| rain=yes, cold=2\) is not finite",
    ),
    (wet(np.where(VALUES == 1, np.inf, VALUES)), InputError, "is not finite: inf"),
    (wet("words"), InputError, "cannot be read|must hold numbers"),
    (wet([[1], [1, 2]]), InputError, "must hold numbers"),
    (wet({"no": NESTED["no"]}), InputError, "no row for rain=yes, cold=0"),
    (
        wet({k: v for k, v in TUPLES.items() if k != ("yes", 1)}),
        InputError,
        r"no row for rain=yes, cold=1",
    ),
    (wet({**TUPLES, ("yes", 1, 1): [1, 0]}), InputError, "a state for each of .*rain.*cold"),
    (wet({**NESTED, "maybe": NESTED["no"]}), UnknownNameError, "'maybe' is not one of 'rain'"),
    (wet(changed("nested", "dri", 0.1)), UnknownNameError, "Did you mean 'dry'"),
    (
        wet(changed("nested", "dry", float("nan"))),
        InputError,
        r"P\(wet=dry\) must be a number, got nan",
    ),
    (wet(changed("nested", "dry", "much")), InputError, "must be a number, got 'much'"),
    (wet({"no": NESTED["no"], "yes": 5}), InputError, "must be nested by 'cold' here"),
    (
        wet({"no": {0: [1], 1: [1], 2: [1]}, "yes": NESTED["yes"]}),
        InputError,
        "needs 2 probabilities",
    ),
    (
        wet({"no": {0: "x", 1: "y", 2: "z"}, "yes": NESTED["yes"]}),
        InputError,
        "needs 2 probabilities",
    ),
    (wet(changed("long", "p", "much")), InputError, "must be a number, got 'much'"),
    (wet(pd.DataFrame(LONG)[1:]), InputError, r"no probability for \('no', 0, 'dry'\)"),
    (wet(pd.concat([pd.DataFrame(LONG)] * 2)), InputError, "a row twice"),
    (wet(pd.DataFrame(LONG).drop(columns="rain")), UnknownNameError, "'rain' is not a column"),
    (wet(pd.DataFrame(WIDE).drop(columns="dry")), UnknownNameError, "'dry' is not a column"),
    (wet(changed("long", "rain", "nope")), UnknownNameError, "'nope' is not one of 'rain'"),
    (
        lambda: Network(DAG, {**PRIOR, "wet": pd.DataFrame(WIDE)}),
        InputError,
        "states of 'wet' are needed",
    ),
    (wet(NESTED, wett=["a"]), UnknownNameError, "Did you mean 'wet'"),
    (wet(NESTED, wet="ab"), InputError, "must be a list, got 'ab'"),
    (wet(NESTED, wet=["dry", "dry"]), SchemaError, "given twice"),
    (lambda: Network(DAG, PRIOR), SchemaError, "'wet' is in the graph but has no distribution"),
    (lambda: Network("[rain]", {**PRIOR}), UnknownNameError, "'cold' is not for a node"),
    (lambda: Network([("a", "b"), ("b", "a")], {"a": 0.5, "b": 0.5}), InputError, "a → b → a"),
    (lambda: Network("[a]", {"a": {}}), InputError, "'a' is empty"),
    (lambda: Network("[a][b|a]", {"a": 0.5, "b": {}}), InputError, "'b' is empty"),
    (lambda: Network("[a]", [5]), InputError, "list of Cpt"),
    (lambda: Network("[a]", 5), InputError, "list of Cpt"),
    (lambda: Network("[rain]", [Cpt(RAIN, (), [1, 0])] * 2), InputError, "two distributions"),
    (lambda: Network("[a]", {"a": Cpt(RAIN, (), [1, 0])}), SchemaError, "'rain' was given for 'a'"),
    (lambda: Network(5, {"a": 0.5}), InputError, "list of pairs"),
    (lambda: Network("[a]", {"a": 0.5}, states=5), InputError, "mapping from variable"),
    (
        lambda: Network(
            "[rain][wet|rain]", {"rain": [0.5, 0.5], "wet": Cpt(WET, (RAIN,), [[1, 0], [0, 1]])}
        ),
        SchemaError,
        "differ on the states of 'rain'",
    ),
    (
        lambda: Network(
            "[x][rain|x]", {"x": LinearGaussian(X, (), 0, [], 1), "rain": {"no": 1, "yes": 0}}
        ),
        SchemaError,
        "'rain' cannot have the continuous parent 'x'",
    ),
    (
        lambda: Network("[x]", {"x": LinearGaussian(Y, (), 0, [], 1)}),
        SchemaError,
        "was given for 'x'",
    ),
    (lambda: Cpt(RAIN, (RAIN,), np.eye(2)), SchemaError, "named twice in the family"),
    (lambda: Cpt("rain", (), [1]), InputError, "of type Variable, got 'rain'"),
    (lambda: Cpt(RAIN, "ab", [1]), InputError, "of type Variable"),
    (lambda: Cpt(RAIN, 5, [1]), InputError, "of type Variable"),
    (lambda: Cpt(X, (), [1]), SchemaError, "continuous variable 'x'"),
    (lambda: Cpt(RAIN, (), [0.5, 0.5], counts=[1, 2, 3]), InputError, "pseudo-counts"),
    (lambda: Cpt(RAIN, (), [0.5, 0.5], counts="ab"), InputError, "pseudo-counts"),
    (lambda: Cpt(RAIN, (), [0.5, 0.5], counts=[1, -2]), InputError, "pseudo-counts"),
    (
        lambda: Cpt.of(WET, (COLD,), Cpt(WET, (RAIN,), np.eye(2))),
        SchemaError,
        r"The table is P\(wet \| rain\)",
    ),
    (
        lambda: Cpt(RAIN, tuple(Variable(f"v{i}", "discrete", (0, 1)) for i in range(60)), [1]),
        LimitError,
        "would have 2,305,843,009,213,693,952 numbers",
    ),
    (
        lambda: Cpt.of(RAIN, [Variable(f"v{i}", "discrete", (0, 1)) for i in range(60)], {0: 1}),
        LimitError,
        "numbers; at most",
    ),
    (lambda: LinearGaussian(RAIN, (), 0, [], 1), SchemaError, "needs a table"),
    (
        lambda: LinearGaussian(Y, (X,), 0, [1.0, 2.0], 1),
        InputError,
        r"coefficients of 'y' must have the shape \(1,\)",
    ),
    (lambda: LinearGaussian(Y, (X,), 0, [], 1), InputError, "coefficients of 'y'"),
    (lambda: LinearGaussian(Y, (X,), 0, [1.0], 0), InputError, "variance of 'y' must be above 0"),
    (lambda: LinearGaussian(Y, (X,), "a", [1.0], 1), InputError, "intercept of 'y' must be finite"),
    (
        lambda: LinearGaussian(Y, (X, RAIN), [0, 1, 2], [1.0], 1),
        InputError,
        r"shape \(2,\), got \(3,\)",
    ),
    (lambda: LinearGaussian(Y, (X,), 0, [1.0], 1).given({}), InputError, "a value for 'x'"),
    (lambda: LinearGaussian(Y, (X,), 0, [1.0], 1).given({"x": "a"}), InputError, "value of 'x'"),
    (lambda: LinearGaussian(Y, (X,), 0, [1.0], 1).given({"xx": 1}), UnknownNameError, "'x'"),
    (lambda: LinearGaussian(Y, (X,), 0, [1.0], 1).given(5), InputError, "mapping"),
]


@pytest.mark.parametrize(("make", "error", "text"), BAD)
def test_what_is_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_rows_that_miss_one_by_little_are_divided_and_it_is_said():
    cpt = Cpt(RAIN, (), [0.3, 0.7 + 3e-7])
    assert cpt.rescaled == pytest.approx(3e-7, rel=1e-6) and cpt.values.sum() == 1.0
    assert Cpt(RAIN, (), [0.3, 0.7]).rescaled == 0.0


def whole():
    line = LinearGaussian(Y, (RAIN, X), [0.0, 1.0], [[2.0], [3.0]], [1.0, 4.0])
    return Network(
        "[rain][x][y|rain:x]",
        [Cpt(RAIN, (), [0.25, 0.75], counts=[1, 3]), LinearGaussian(X, (), 0.0, [], 1.0), line],
        record=Record(how="typed", seed=0, details={"a": 1}),
    )


def test_values_are_frozen_equal_hashed_and_pickled():
    for net in (whole(), Network(DAG, {**PRIOR, "wet": NESTED})):
        net.marginals()  # the engine that is kept is not pickled
        for again in (pickle.loads(pickle.dumps(net)), copy.copy(net), copy.deepcopy(net)):
            assert again == net and hash(again) == hash(net) and again.record == net.record
            assert "_engine" not in again.__dict__
            assert again.marginals() == net.marginals()
        assert len(pickle.dumps(net)) < 10_000
        for name in net.names:
            local = net.cpt(name)
            twin = pickle.loads(pickle.dumps(local))
            assert twin == local and hash(twin) == hash(local) and local != "x"
            with pytest.raises(AttributeError):
                local.child = X
        for name in ("dag", "distributions", "record", "more"):
            with pytest.raises(AttributeError, match="frozen"):
                setattr(net, name, None)
        with pytest.raises(AttributeError, match="frozen"):
            del net.dag
        with pytest.raises(TypeError):
            net.distributions["rain"] = None
        with pytest.raises(ValueError, match="read-only"):
            net.cpt("rain").values[0] = 1
        assert net != "x" and net.with_record(None) == net
    other = Network(DAG, {**PRIOR, "wet": VALUES[:, :, ::-1]}, states={"wet": WET.states})
    assert other != net and other.cpt("wet") != net.cpt("wet")
    assert Cpt(RAIN, (), [0.5, 0.5], counts=[1, 1]) != Cpt(RAIN, (), [0.5, 0.5])


def test_views():
    net = whole()
    assert repr(net) == "Network(3 variables, 2 edges, 9 parameters)"
    assert str(net).splitlines()[1:] == [
        "variable  kind        parents  parameters",
        "rain      2 states                      1",
        "x         continuous                    2",
        "y         continuous  rain, x           6",
    ]
    assert str(net.cpt("y")).splitlines() == [
        "p(y | rain, x)",
        "rain  intercept  × x  sd",
        "no            0    2   1",
        "yes           1    3   2",
    ]
    assert repr(net.cpt("y")) == "LinearGaussian(p(y | rain, x))"
    assert "<svg" in net._repr_html_() and "<table>" in net.cpt("y")._repr_html_()
    wide = Network(DAG, {**PRIOR, "wet": NESTED}).cpt("wet")
    assert str(wide).splitlines()[:3] == [
        "P(wet | rain, cold)",
        "rain  cold  wet=dry  wet=wet",
        "no    0         0.9      0.1",
    ]
    assert (
        repr(wide) == "Cpt(P(wet | rain, cold), 2×3×2)"
        and "<caption>P(wet | rain" in wide._repr_html_()
    )
    evil = Variable("<b>", "discrete", ("<img onerror>", "&"))
    assert "<img" not in Cpt(evil, (), [0.5, 0.5])._repr_html_()
    many = [Variable(f"v{i}", "discrete", (0, 1)) for i in range(7)]
    long = Cpt(many[0], many[1:], np.full((2,) * 7, 0.5))
    assert len(str(long).splitlines()) == 66
    assert str(Cpt(many[0], (*many[1:], RAIN), np.full(256, 0.5))).endswith("… 64 more rows")
    chain = Network("".join(f"[v{i}]" for i in range(50)), {f"v{i}": 0.5 for i in range(50)})
    assert str(chain).endswith("… 10 more")


def test_records():
    record = Record("learned", "a.csv", score=-1.5, reason="no better edge", seconds=2.0, seed=0)
    assert str(record).splitlines() == [
        "learned from a.csv",
        "  score -1.500000",
        "  stopped: no better edge",
        "  2 s",
        "  seed 0",
    ]
    assert hash(record) == hash(Record("learned", "a.csv", -1.5, (), "no better edge", 2.0, 0))
