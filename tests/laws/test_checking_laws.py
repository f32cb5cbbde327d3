"""Laws of checking: sensitivity and the value of evidence in any network; scores of any rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import credo as cr
from credo.checking.again.row_scores import score_rows
from credo.checking.sections.multiplicity import benjamini_hochberg, holm


@st.composite
def networks(draw):
    """Up to five variables of two or three states, and a little logic."""
    n = draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    names = [f"v{i}" for i in range(n)]
    edges = [(names[i], names[j]) for j in range(n) for i in range(j) if rng.random() < 0.5]
    states = {m: tuple("abc"[: rng.integers(2, 4)]) for m in names}
    dag = cr.Dag(edges, names)
    tables = {}
    for m in names:
        shape = [len(states[p]) for p in dag.parents(m)]
        table = rng.dirichlet(np.full(len(states[m]), 0.8), size=shape or None)
        if draw(st.booleans()) and table.ndim > 1:
            table[(0,) * len(shape)] = np.eye(len(states[m]))[0]
        tables[m] = table
    return cr.Network(dag, tables, states=states), rng


def asked(net, rng):
    """A question with evidence that the network can give."""
    names = list(rng.permutation(net.names))
    row = net.sample(1, rng=int(rng.integers(2**31)))
    seen = {m: row[m][0] for m in names[1 : 1 + rng.integers(0, len(names))]}
    state = net.variable(names[0]).states[rng.integers(net.variable(names[0]).arity)]
    given_ = ", ".join(f"{k}={v}" for k, v in seen.items())
    return names[0], state, seen, f"P({names[0]}={state}{' | ' if given_ else ''}{given_})"


@given(networks())
@settings(max_examples=40)
def test_every_sensitivity_curve_is_exact(made):
    net, rng = made
    target, state, seen, question = asked(net, rng)
    found = net.sensitivity(question)
    assert found.answer == pytest.approx(net.p(target, given=seen)[state], abs=1e-12)
    for p in found.parameters[:6]:
        local = net.cpt(p.variable)
        at = tuple(int(i) for i in np.argwhere(local.values == p.value)[0])
        for theta in (0.1, 0.8):
            values = np.array(local.values)
            row = values[at[:-1]]
            keep = np.arange(len(row)) != at[-1]
            row[keep] *= (1 - theta) / (1 - row[at[-1]])
            row[at[-1]] = theta
            moved = cr.Network(
                net.dag,
                {**net.distributions, local.name: cr.Cpt(local.child, local.parents, values)},
            )
            if p.parameter.startswith(f"P({local.name}={local.child.states[at[-1]]}"):
                want = moved.p(target, given=seen)[state]
                assert p.at(theta, found.answer) == pytest.approx(want, abs=1e-9)


@given(networks())
@settings(max_examples=40)
def test_information_is_symmetric_and_bounded(made):
    net, rng = made
    target, _, seen, _ = asked(net, rng)
    found = net.evidence_value(target, seen)
    for gain in found.gains:
        back = net.evidence_value(gain.variable, seen)[target]
        assert gain.bits == pytest.approx(back.bits, abs=1e-10)
        assert 0 <= gain.bits <= found.uncertainty + 1e-12


@given(networks(), st.integers(0, 2**31 - 1))
@settings(max_examples=30)
def test_scores_do_not_depend_on_the_order_of_rows(made, seed):
    net, _ = made
    rows = net.sample(20, rng=seed)
    order = np.random.default_rng(seed).permutation(20)
    assert np.allclose(score_rows(net, rows).log[order], score_rows(net, rows.take(order)).log)
    assert score_rows(net, rows).log.sum() == pytest.approx(net.log_likelihood(rows))


@given(st.lists(st.floats(0, 1), max_size=30))
def test_adjusted_p_values_are_larger_and_keep_their_order(p):
    for adjusted in (holm(p), benjamini_hochberg(p)):
        assert (adjusted >= np.array(p) - 1e-15).all() and (adjusted <= 1).all()
        order = np.argsort(p, kind="stable")
        assert (np.diff(adjusted[order]) >= -1e-15).all()
    assert (holm(p) >= benjamini_hochberg(p) - 1e-15).all()
