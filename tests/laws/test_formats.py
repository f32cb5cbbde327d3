"""Every writer and its reader: the same names, the same states, the same bits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credo.core.schema import Variable
from credo.formats import FORMATS, dumps, loads
from credo.model.graphs.dag import Dag
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network

LABELS = st.text(max_size=6) | st.text("ab_x0F", min_size=1, max_size=8)
NAMES = LABELS.filter(bool)


@st.composite
def networks(draw):
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    variables = [
        Variable(n, "discrete", tuple(draw(st.lists(LABELS, min_size=1, max_size=4, unique=True))))
        for n in names
    ]
    tables = {}
    for i in draw(st.permutations(range(len(names)))):
        known = [v for v in variables if v.name in tables]
        parents = tuple(draw(st.permutations(known))[: draw(st.integers(0, 3))])
        rng = np.random.default_rng(draw(st.integers(0, 2**32)))
        v = variables[i]
        alpha = np.full(v.arity, draw(st.sampled_from([0.01, 1.0, 100.0])))
        tables[v.name] = Cpt(v, parents, rng.dirichlet(alpha, size=[p.arity for p in parents]))
    edges = [(p.name, n) for n, t in tables.items() for p in t.parents]
    return Network(Dag(edges, nodes=names), {n: tables[n] for n in names})


@pytest.mark.parametrize("format", FORMATS)
@given(net=networks())
@settings(max_examples=60)
def test_what_is_written_is_read(format, net):
    back = loads(dumps(net, format), format)
    assert back.names == net.names
    assert back.dag == net.dag
    for name in net.names:
        a, b = net.cpt(name), back.cpt(name)
        assert (a.child, a.parents) == (b.child, b.parents)
        assert a.values.tobytes() == b.values.tobytes()
    assert dumps(back, format) == dumps(net, format) or format == "credo"


@given(net=networks(), first=st.sampled_from(FORMATS), second=st.sampled_from(FORMATS))
def test_formats_agree_with_each_other(net, first, second):
    over = loads(dumps(loads(dumps(net, first), first), second), second)
    assert over == net
    assert all(over.cpt(n).values.tobytes() == net.cpt(n).values.tobytes() for n in net.names)


@pytest.mark.parametrize("format", FORMATS)
def test_wide_rows_keep_their_bits(format):
    """Rows whose sum misses 1 by a few units in the last place are not divided again."""
    rng = np.random.default_rng(5)
    v = Variable("v", "discrete", tuple(map(str, range(97))))
    w = Variable("w", "discrete", tuple(map(str, range(50))))
    net = Network(
        [("w", "v")],
        {
            "w": Cpt(w, (), rng.dirichlet(np.ones(50))),
            "v": Cpt(v, (w,), rng.dirichlet(np.full(97, 0.1), size=50)),
        },
    )
    for _ in range(3):
        back = loads(dumps(net, format), format)
        assert back.cpt("v").values.tobytes() == net.cpt("v").values.tobytes()
        net = back


@pytest.mark.parametrize("format", FORMATS)
@given(net=networks())
@settings(max_examples=10)
def test_posteriors_are_the_same_to_the_last_bit(format, net):
    pytest.importorskip("credo.predict.exact.posterior")
    back = loads(dumps(net, format), format)
    for name, found in net.marginals().items():
        assert found.p.tobytes() == back.marginals()[name].p.tobytes()
