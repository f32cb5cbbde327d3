"""Structure learning against other packages, and more rows bringing the graph nearer the truth."""

import numpy as np
import pytest
from tests.structure_data import sampled

import credo as cr


@pytest.fixture(scope="module")
def networks(shared_tables):
    folder = shared_tables.parent / "networks"
    if not folder.is_dir():
        pytest.skip("the shared networks are not on this machine")
    return folder


@pytest.mark.parametrize("name", ["child", "insurance"])
def test_more_rows_bring_the_graph_nearer_to_the_truth(networks, name):
    truth = cr.load(networks / f"{name}.bif.gz")
    sizes = (1_000, 10_000, 100_000)
    distance = {
        rows: np.median(
            [
                truth.dag.shd(cr.learn(sampled(truth, rows, seed), "bdeu", threads=1).dag)
                for seed in range(3)
            ]
        )
        for rows in sizes
    }
    assert distance[1_000] > distance[10_000] >= distance[100_000]
    assert distance[100_000] <= (2 if name == "child" else 14)


def test_scores_against_pybnesian(networks):
    pbn = pytest.importorskip("pybnesian")
    import pyarrow as pa

    truth = cr.load(networks / "child.bif.gz")
    table = sampled(truth, 2_000, 1)
    arrays = [
        pa.DictionaryArray.from_arrays(
            pa.array(c.astype(np.int8)), pa.array([f"s{i}" for i in range(v.arity)])
        )
        for v, c in zip(table.schema.variables, table.block.arrays, strict=True)
    ]
    batch = pa.RecordBatch.from_arrays(arrays, names=list(table.schema.names))
    model = pbn.DiscreteBN(list(truth.dag.nodes), list(truth.dag.edges))
    for score, theirs in (("bic", pbn.BIC(batch)), ("bdeu", pbn.BDe(batch, 5))):
        more = {"ess": 5} if score == "bdeu" else {}
        assert cr.score(truth, table, score, **more) == pytest.approx(theirs.score(model), rel=1e-9)
    climbed = pbn.hc(batch, bn_type=pbn.DiscreteBNType(), score="bic", operators=["arcs"])
    other = cr.score(cr.Dag(climbed.arcs(), truth.dag.nodes), table, "bic")
    assert cr.learn(table, "bic", "order").record.score >= other - 1e-9 * abs(other)
