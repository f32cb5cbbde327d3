"""Laws of approximation that need no tolerance for chance: they are checked on every outcome."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credo.errors import ImpossibleError
from credo.predict.approximate.estimate import intervals
from credo.predict.approximate.importance import adapted, from_messages, plain
from credo.predict.approximate.messages import propagate
from credo.predict.exact.reduction import parts, reduced
from credo.predict.questions.evidence import Evidence
from tests.unit.predict.joint import Joint, random_network

networks = st.tuples(
    st.integers(0, 10**6), st.integers(2, 7), st.sampled_from([0.0, 0.2, 0.5])
).map(lambda a: random_network(a[0], a[1], zeros=a[2]))


@st.composite
def questions(draw):
    """A network, evidence of each kind, and what is left to ask about."""
    net = draw(networks)
    names = draw(st.permutations(net.names))
    given_ = {}
    for name in names[: draw(st.integers(0, len(names) - 1))]:
        states = net.variable(name).states
        if draw(st.booleans()):
            given_[name] = draw(st.sampled_from(states))
        else:
            likelihood = draw(st.lists(st.sampled_from([0.0, 0.3, 1.0]), min_size=len(states)))
            if any(likelihood[: len(states)]):
                given_[name] = dict(zip(states, likelihood, strict=False))
    free = [n for n in net.names if n not in Evidence.of(net, given_).hard]
    return net, given_, free


def product(problem):
    """The product of the factors as one table."""
    terms = [x for t, s in zip(problem.tables, problem.scopes, strict=True) for x in (t, list(s))]
    return np.einsum(*terms, list(range(len(problem.names)))) if terms else np.ones(())


def with_evidence(net, evidence, names):
    """P(names, evidence) from the whole joint."""
    joint = Joint(net)
    p = joint.p
    for name, code in evidence.hard.items():
        only = np.zeros(net.variable(name).arity)
        only[code] = 1
        p = p * only.reshape([-1 if n == name else 1 for n in joint.names])
    for name, likelihood in evidence.soft.items():
        p = p * likelihood.reshape([-1 if n == name else 1 for n in joint.names])
    p = p.sum(axis=tuple(i for i, n in enumerate(joint.names) if n not in names))
    kept = [n for n in joint.names if n in names]
    return p.transpose([kept.index(n) for n in names])


@given(questions())
def test_reduction_keeps_the_joint_with_the_evidence(question):
    net, given_, free = question
    evidence = Evidence.of(net, given_)
    problem = reduced(net, evidence, free)
    exact = with_evidence(net, evidence, problem.names)
    scale = np.exp(problem.log_scale)
    np.testing.assert_allclose(product(problem) * scale, exact, atol=1e-12)


@given(questions())
def test_parts_multiply_to_the_whole(question):
    net, given_, free = question
    problem = reduced(net, Evidence.of(net, given_), free)
    mine, others = parts(problem, free[:1])
    assert free[0] in mine.names
    names = [n for part in (mine, *others) for n in part.names]
    assert sorted(names) == sorted(problem.names)
    total = product(mine).sum() * np.prod([product(o).sum() for o in others])
    np.testing.assert_allclose(total, product(problem).sum(), rtol=1e-9)


def weighed(proposal):
    """q(x) and w(x) of every configuration that can be drawn."""
    n = len(proposal.arities)
    for x in itertools.product(*(range(r) for r in proposal.arities)):
        q, w = 1.0, np.exp(proposal.log_scale)
        for v, (scope, table) in enumerate(zip(proposal.scopes, proposal.tables, strict=True)):
            at = tuple(x[u] for u in scope)
            weight = proposal.weights[v]
            if v < n:
                q *= table[at]
                if q == 0:
                    break
                w *= 1.0 if weight is None else weight[at] / table[at]
            else:
                w *= weight[at]
        if q > 0:
            yield x, q, w


@given(questions(), st.sampled_from([1, 8, 4096]), st.integers(0, 1000))
def test_every_proposal_is_unbiased_for_every_configuration(question, largest, seed):
    """q(x) w(x) = P(x, e) wherever P(x, e) > 0: the proposal lacks no support."""
    net, given_, free = question
    problem = reduced(net, Evidence.of(net, given_), free)
    target = product(problem)
    messages = propagate(problem, sweeps=5)
    if messages.impossible:
        assert target.sum() == 0
        return
    led = from_messages(problem, messages, largest)
    rng = np.random.default_rng(seed)
    moved = adapted(led, [rng.gamma(1.0, size=t.shape) for t in led.tables[: len(free)]], 1.0)
    for proposal in (plain(problem), led, moved):
        found = np.zeros(target.shape)
        for x, q, w in weighed(proposal):
            found[x] = q * w
        np.testing.assert_allclose(found, target, rtol=1e-9, atol=1e-300)
        for table in proposal.tables[: len(problem.names)]:
            rows = table.sum(axis=-1)
            assert (np.isclose(rows, 1) | (rows == 0)).all()


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=6),
    st.lists(st.floats(0, 0.5), min_size=6, max_size=6),
    st.floats(1, 1e6),
    st.floats(1, 1e6),
)
def test_intervals_hold_their_probability_and_stay_in_range(p, se, effective, samples):
    p = np.array(p)
    low, high = intervals(p, np.array(se[: len(p)]), effective, samples)
    assert (low >= 0).all() and (high <= 1).all() and (low <= p).all() and (p <= high).all()
    assert (high > low).all()


@given(questions(), st.sampled_from(["importance", "weighting", "loopy"]), st.integers(0, 2**64))
def test_answers_are_distributions_or_the_evidence_is_impossible(question, method, seed):
    net, given_, free = question
    budget = {} if method == "loopy" else {"budget": "600 samples"}
    truth = with_evidence(net, Evidence.of(net, given_), free).sum()
    target = free[0]
    try:
        found = net.p(target, given_, method=method, rng=seed, **budget)
    except ImpossibleError:
        assert truth == 0
        return
    except MemoryError:  # too rare for 600 samples of likelihood weighting
        assert method == "weighting" and 0 < truth < 0.1
        return
    if method != "loopy":
        assert truth > 0
    assert abs(found.p.sum() - 1) < 1e-12 and (found.p >= 0).all()
    again = net.p(target, given_, method=method, rng=seed, **budget)
    assert (again.p == found.p).all()


@pytest.mark.parametrize("seed", range(10))
def test_loopy_is_exact_on_networks_without_loops(seed):
    net = random_network(seed, 8, edges=0.6, most_parents=1)
    leaf = net.names[seed % 8]
    given_ = {leaf: net.variable(leaf).states[0]}
    exact = net.marginals(given_)
    for name, found in net.marginals(given_, method="loopy").items():
        np.testing.assert_allclose(found.p, exact[name].p, atol=1e-9)
    np.testing.assert_allclose(
        net.log_evidence(given_, method="loopy"), net.log_evidence(given_), atol=1e-9
    )
