"""Structure learning against other packages, and more rows bringing the graph nearer the truth."""

import numpy as np
import pytest
from tests.structure_data import sampled

import credo as cr

slow = pytest.mark.slow


@pytest.fixture(scope="module")
def networks(shared_tables):
    folder = shared_tables.parent / "networks"
    if not folder.is_dir():
        pytest.skip("the shared networks are not on this machine")
    return folder


@pytest.mark.parametrize(
    ("name", "aim"),
    [("child", 2), pytest.param("insurance", 14, marks=slow), pytest.param("alarm", 4, marks=slow)],
)
def test_more_rows_bring_the_network_nearer_to_the_truth(networks, name, aim):
    truth = cr.load(networks / f"{name}.bif.gz")
    fresh = sampled(truth, 20_000, 99)
    best = float(np.sum(truth.log_likelihood(fresh)))
    shd, divergence = {}, {}
    for rows in (1_000, 10_000, 100_000):
        learned = [
            cr.learn(sampled(truth, rows, seed), "bdeu", threads=1, patience=20)
            for seed in range(3)
        ]
        shd[rows] = np.median([truth.dag.shd(net.dag) for net in learned])
        far = [(best - float(np.sum(net.log_likelihood(fresh)))) / 20_000 for net in learned]
        divergence[rows] = np.median(far)  # KL(truth ‖ learned), by rows that were not learned from
    assert shd[1_000] > shd[10_000] >= shd[100_000] and shd[100_000] <= aim
    assert divergence[1_000] > divergence[10_000] > divergence[100_000] > 0
    assert divergence[100_000] < 0.02


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
    for search in ("order", "hill-climb"):
        assert cr.learn(table, "bic", search).record.score >= other - 1e-9 * abs(other)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", ["alarm", "insurance", "hailfinder"])
def test_the_climb_ends_no_lower_than_pyagrums(networks, name, seed):
    gum = pytest.importorskip("pyagrum")
    pd = pytest.importorskip("pandas")
    truth = cr.load(networks / f"{name}.bif.gz")
    table = sampled(truth, 5_000, seed)
    frame = pd.DataFrame(dict(zip(table.schema.names, table.block.arrays, strict=True)))
    template = gum.BayesNet()
    for variable in table.schema.variables:
        template.add(gum.LabelizedVariable(variable.name, "", variable.arity))
    learner = gum.BNLearner(frame.astype(str), template)
    learner.useGreedyHillClimbing()
    learner.useScoreBIC()
    arcs = [(learner.nameFromId(a), learner.nameFromId(b)) for a, b in learner.learnDAG().arcs()]
    other = cr.score(cr.Dag(arcs, truth.dag.nodes), table, "bic")
    assert cr.learn(table, "bic", "hill-climb", threads=1).record.score >= other


@pytest.mark.parametrize(
    ("name", "seed"), [("child", 2), *(pytest.param("insurance", s, marks=slow) for s in (1, 3))]
)
def test_the_search_over_orders_reaches_the_optimum(networks, name, seed):
    table = sampled(cr.load(networks / f"{name}.bif.gz"), 500, seed)
    best = cr.learn(table, "bic", "exact", threads=1).record
    assert best.details["proven"]
    for rng in range(3):
        found = cr.learn(table, "bic", "order", threads=1, rng=rng).record
        assert found.score == pytest.approx(best.score, abs=1e-6)
