"""Laws of sampling: rows depend on the seed and the model, on nothing else."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import credo as cr
from credo.core.schema import Variable
from credo.model.graphs.dag import Dag
from credo.model.networks.cpt import Cpt
from credo.predict.questions.evidence import Evidence
from credo.predict.sampling.forward import forward_sampler
from tests.unit.predict.joint import Joint, random_evidence, random_network

networks = st.builds(
    random_network,
    st.integers(0, 10**6),
    st.integers(1, 7),
    zeros=st.sampled_from([0.0, 0.4]),
)


def evidence_of(net, seed):
    """Evidence that the network allows, or none."""
    found = random_evidence(net, np.random.default_rng(seed))
    return found if Joint(net).evidence(found) > 0 else {}


@settings(max_examples=40)
@given(networks, st.integers(0, 2**32), st.integers(0, 3000), st.integers(1, 4))
def test_threads_and_cuts_change_nothing(net, seed, cut, threads):
    story = forward_sampler(net, Evidence.of(net, evidence_of(net, seed)))
    whole = story.rows(3000, seed)
    parts = [
        story.rows(cut, seed, threads=threads),
        story.rows(3000 - cut, seed, first=cut, threads=threads),
    ]
    for k, column in enumerate(whole.block.arrays):
        assert np.array_equal(column, np.concatenate([p.block.arrays[k] for p in parts]))


@settings(max_examples=40)
@given(networks, st.integers(0, 2**32))
def test_no_row_has_probability_zero(net, seed):
    evidence = evidence_of(net, seed)
    rows = net.sample(500, rng=seed, given=evidence)
    p = Joint(net).times(evidence)
    assert (p[tuple(rows.codes(n) for n in net.names)] > 0).all()


@settings(max_examples=30)
@given(networks, st.integers(0, 2**32))
def test_renaming_renames_the_rows(net, seed):
    new = {n: f"renamed {n}" for n in net.names}
    variables = {
        v.name: Variable(new[v.name], "discrete", tuple(f"{s}!" for s in v.states))
        for v in net.variables
    }
    tables = {
        new[n]: Cpt(variables[n], tuple(variables[p.name] for p in d.parents), d.values)
        for n, d in net.distributions.items()
    }
    edges = [(new[a], new[b]) for a, b in net.dag.edges]
    other = cr.Network(Dag(edges, nodes=list(new.values())), tables)
    rows, renamed = net.sample(300, rng=seed), other.sample(300, rng=seed)
    for old, now in new.items():
        assert [f"{s}!" for s in rows[old]] == renamed[now].tolist()


@settings(max_examples=20)
@given(networks, st.integers(0, 2**32))
def test_the_order_of_the_columns_is_that_of_the_network(net, seed):
    rows = net.sample(50, rng=seed, to="arrow")
    assert tuple(rows.column_names) == net.names


@settings(max_examples=15)
@given(networks, st.integers(0, 2**32))
def test_evidence_in_the_posterior_and_in_the_rows_agree(net, seed):
    """Soft evidence of zeros and ones is hard evidence."""
    name = net.names[0]
    states = net.variable(name).states
    if net.p(name)[states[0]] == 0:
        return
    hard = net.sample(200, rng=seed, given={name: states[0]})
    soft = net.sample(200, rng=seed, given={name: {states[0]: 1.0}})
    assert (hard.codes(name) == 0).all()
    for n in net.names:
        assert np.array_equal(hard.codes(n), soft.codes(n))
