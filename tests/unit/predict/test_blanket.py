"""Complete rows need only the target's Markov blanket; the answer is that of the whole row."""

import numpy as np
import pytest

import credo as cr
from credo.predict.rows import blanket


def random_network(rng, n=7, zeros=False):
    names = [f"v{i}" for i in range(n)]
    edges = [(names[i], names[j]) for j in range(n) for i in range(j) if rng.random() < 0.35]
    dag = cr.Dag(edges, nodes=names)
    arity = dict(zip(names, rng.integers(2, 4, n).tolist(), strict=True))
    tables = {}
    for name in names:
        shape = [arity[p] for p in dag.parents(name)] + [arity[name]]
        table = rng.random(shape) + 0.05
        if zeros:
            table[..., 0] *= rng.random(shape[:-1]) > 0.3
        tables[name] = table / table.sum(axis=-1, keepdims=True)
    return cr.Network(dag, tables)


@pytest.mark.parametrize("seed", range(12))
def test_the_blanket_gives_the_answer_of_the_whole_row(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    net = random_network(rng, zeros=seed % 2 == 0)
    rows = {}
    for name in net.dag.order:
        local = net.cpt(name)
        at = tuple(rows[p.name] for p in local.parents)
        p = np.broadcast_to(local.values[at], (200, local.child.arity))
        rows[name] = (rng.random((200, 1)) > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
    for target in net.names:
        others = {k: v for k, v in rows.items() if k != target}
        got = net.predict_proba(others, target)
        expected = [
            net.p(target, given={k: int(v[i]) for k, v in others.items()}).p
            for i in range(0, 200, 20)
        ]
        np.testing.assert_allclose(got[::20], expected, atol=1e-12)
        monkeypatch.setattr(blanket, "_LISTED", 0 if net.dag.markov_blanket(target) else 1)
        np.testing.assert_array_equal(net.predict_proba(others, target), got)
        monkeypatch.undo()


def test_a_row_ruled_out_far_from_the_target_is_refused():
    net = cr.Network(
        "[t][a][b|a]", {"t": [0.3, 0.7], "a": [0.5, 0.5], "b": [[1.0, 0.0], [0.5, 0.5]]}
    )
    np.testing.assert_allclose(net.predict_proba({"a": [0, 1], "b": [0, 1]}, "t"), [[0.3, 0.7]] * 2)
    with pytest.raises(cr.errors.ImpossibleError, match="Row 2 has probability zero"):
        net.predict_proba({"a": [1, 0], "b": [1, 1]}, "t")
