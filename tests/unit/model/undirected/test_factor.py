"""Factors and features: every form of a table, the algebra, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import credo as cr
from credo.errors import InputError, LimitError, SchemaError, UnknownNameError

A = cr.Variable("A", "discrete", ("no", "yes"))
B = cr.Variable("B", "discrete", (1, 2, 3))
WANT = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
NESTED = {"yes": {1: 4, 2: 5, 3: 6}, "no": {3: 3, 2: 2, 1: 1}}
ROWS = [(s, t, WANT[i][j]) for i, s in enumerate(A.states) for j, t in enumerate(B.states)]
FRAME = {"A": [r[0] for r in ROWS], "B": [r[1] for r in ROWS], "value": [r[2] for r in ROWS]}


@pytest.mark.parametrize(
    "given",
    [
        WANT,
        np.array(WANT),
        [1, 2, 3, 4, 5, 6],
        NESTED,
        {"no": [1, 2, 3], "yes": [4, 5, 6]},
        {(s, t): x for s, t, x in ROWS},
        lambda s, t: t + 3 * (s == "yes"),
        pd.DataFrame(FRAME),
        pl.DataFrame(FRAME),
    ],
    ids=["lists", "array", "flat", "nested", "rows", "tuples", "function", "pandas", "polars"],
)
def test_every_form(given):
    factor = cr.Factor.of((A, B), given)
    assert factor.values.tolist() == WANT
    net = cr.MarkovNetwork({("A", "B"): given}, states={"A": A.states, "B": B.states})
    assert net.factors[0].values.tolist() == WANT


def test_states_come_from_the_tables():
    net = cr.MarkovNetwork({("A", "B"): NESTED, ("B", "C"): np.ones((3, 2)), "D": {"x": 1, "y": 2}})
    assert [v.states for v in net.variables] == [("yes", "no"), (1, 2, 3), (0, 1), ("x", "y")]
    by_tuples = cr.MarkovNetwork({("A", "B"): {(s, t): x for s, t, x in ROWS}})
    assert by_tuples.variable("A").states == ("no", "yes")
    with pytest.raises(InputError, match=r"The states of 'C' are needed. Give states="):
        cr.MarkovNetwork({("C", "D"): lambda s, t: 1.0})


def test_looking_at_one():
    factor = cr.Factor((A, B), WANT, "taste")
    assert factor["yes", 2] == 5.0 and factor[{"B": 2, "A": "yes"}] == 5.0
    assert str(factor).startswith("taste(A, B)\nA    B=1  B=2  B=3\n")
    assert repr(factor) == "Factor(taste(A, B), 2×3)"
    assert "<caption>taste(A, B)</caption>" in factor._repr_html_()
    assert str(cr.Factor((), 3.0)).split() == ["φ()", "φ", "3"]
    many = cr.Factor(
        tuple(cr.Variable(f"v{i}", "discrete", (0, 1)) for i in range(9)), np.ones(512)
    )
    assert str(many).endswith("… 192 more rows")
    assert pickle.loads(pickle.dumps(factor)) == factor
    with pytest.raises(ValueError, match="read-only"):
        factor.values[0] = 0


def test_on_another_order_is_equal():
    factor = cr.Factor((A, B), WANT)
    turned = factor.on(["B", "A"])
    assert turned.values.tolist() == np.array(WANT).T.tolist()
    assert turned == factor and hash(turned) == hash(factor)
    assert factor != cr.Factor((A, B), np.array(WANT) + 1) and factor != 3
    assert factor.named("g") != factor


def test_scales_beyond_floats():
    far = cr.Factor.from_log((A,), [-2000.0, -2001.0])
    assert far.log_values.tolist() == [-2000.0, -2001.0]
    assert (far * far).log_values.tolist() == pytest.approx([-4000.0, -4002.0])
    assert far.sum_out("A").log_values == pytest.approx(-2000 + np.log1p(np.exp(-1)))
    with pytest.raises(LimitError, match=r"exp\(-2,000\), beyond"):
        far["no"]
    wide = cr.Factor((A,), [1e-300, 1e300])
    assert (wide * cr.Factor((A,), [1e300, 1e-300])).values.tolist() == pytest.approx([1.0, 1.0])
    square = cr.Factor((A,), [1e200, 1e100]) * cr.Factor((A,), [1e200, 1e100])
    assert square.log_values.tolist() == pytest.approx([400 * np.log(10), 200 * np.log(10)])
    assert cr.Factor((A,), [1.7e308, 1.7e308]).sum_out("A").log_values == pytest.approx(
        np.log(1.7e308) + np.log(2)
    )
    impossible = cr.Factor.from_log((A,), [-np.inf, -np.inf])
    assert impossible.values.tolist() == [0.0, 0.0]
    with pytest.raises(LimitError, match="Use −inf for what cannot be"):
        cr.Factor.from_log((A,), [0.0, -2000.0])


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: cr.Factor((A, B), [[1, 2], [3, 4]]), InputError, r"must have the shape \(2, 3\)"),
        (lambda: cr.Factor((A,), [1, -2]), InputError, "is negative at A=yes: -2"),
        (lambda: cr.Factor((A,), [1, np.nan]), InputError, "is not finite at A=yes: nan"),
        
        (lambda: cr.Factor((A,), ["x", "y"]), InputError, "must hold numbers"),
        (lambda: cr.Factor((A, A), np.ones((2, 2))), SchemaError, "named twice"),
        
        (lambda: cr.Factor((A,), {"no": 1}), InputError, r"\(A\) has no number for A=yes"),
        (lambda: cr.Factor((A,), {"no": 1, "yess": 2}), UnknownNameError, "Did you mean 'yes'"),
        (lambda: cr.Factor((A, B), {"no": {1: 1}, "yes": 3}), InputError, "must have the shape"),
        (lambda: cr.Factor((A, B), {("no",): 1}), InputError, "needs a state for each of"),
        
        
        (lambda: cr.Factor((cr.Variable("h", "continuous"),), [1]), SchemaError, "'h' is contin"),
        
        
        (lambda: cr.Factor((A,), [1, 2]).sum_out("B"), UnknownNameError, "'B' is not in the fac"),
        
        
        (lambda: cr.Factor((A, B), WANT)["no"], InputError, "needs 2 states"),
        
        (lambda: cr.Factor((A,), [1, 2]) * cr.Factor((cr.Variable("A", "discrete", (0, 1)),), [1, 2]),
         SchemaError, "differ on the states of 'A'"),
        (lambda: cr.Factor((A, B), pd.DataFrame({"A": ["no"], "x": [1]})), UnknownNameError, "'B'"),
        (lambda: cr.Factor((A,), pd.DataFrame({"A": ["no"], "x": [1], "y": [1]})), InputError,
         "needs one more column"),
        (lambda: cr.Factor((A,), pd.DataFrame({"A": ["no", "no"], "x": [1, 2]})), InputError, "twice"),
        
    ],
)  # fmt: skip
def test_refusals(make, error, says):
    with pytest.raises(error, match=says):
        make()


def test_sizes_are_refused_before_memory_is_taken():
    wide = [cr.Variable(f"v{i}", "discrete", tuple(range(100))) for i in range(10)]
    with pytest.raises(LimitError, match="100,000,000,000,000,000,000 numbers"):
        cr.Factor(tuple(wide), lambda *_: 1.0)
    left = cr.Factor((cr.Variable("a", "discrete", tuple(range(10_000))),), np.ones(10_000))
    right = cr.Factor((wide[0], cr.Variable("b", "discrete", tuple(range(101)))), np.ones(10_100))
    with pytest.raises(LimitError, match=r"The product over a, v0, b would have 101,000,000 numb"):
        left * right


def test_features():
    coupling = cr.Feature((A, B), lambda s, t: t * (s == "yes"), weight=2, name="taste")
    assert coupling.values.tolist() == [[0, 0, 0], [1, 2, 3]]
    np.testing.assert_allclose(coupling.factor.values, np.exp(2 * coupling.values))
    assert str(coupling) == "2 · taste(A, B)" and repr(coupling) == "Feature(2 · taste(A, B))"
    assert coupling.on(["B", "A"]) == coupling and coupling.weighted(3) != coupling
    assert hash(coupling.on(["B", "A"])) == hash(coupling)
    assert cr.Feature((A,), [1, 0]).name == "f(A)"
    with pytest.raises(InputError, match="finite"):
        cr.Feature((A,), [1, np.inf])
    with pytest.raises(InputError, match="weight of 'f"):
        cr.Feature((A,), [1, 0], weight=np.nan)
