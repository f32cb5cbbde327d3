"""Tables of parents with many states: the rows that were seen stand for all, and nothing changes."""

import numpy as np
import pytest

import credo as cr
from credo.core.schema import Variable
from credo.errors import InputError
from credo.model.networks.priors import pseudocounts_of
from credo.stats.counts import Counts
from credo.train.parameters.tables import TableSpec, fit_tables

A, B = (Variable(n, "discrete", tuple(range(30))) for n in "AB")
Y = Variable("Y", "discrete", ("a", "b", "c"))


def counted(rng, rows, weights=False):
    at = np.stack([rng.integers(0, v.arity, rows) for v in (A, B, Y)], axis=1).astype(np.uint32)
    values = rng.random(rows) + 0.5 if weights else np.ones(rows, np.int64)
    return Counts((A, B, Y), values, at)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize(
    ("prior", "estimate"),
    [
        (None, "mle"), (cr.BDeu(2), "mean"), (cr.Laplace(1), "map"), (cr.K2(), "mean"),
        (cr.Dirichlet([3, 1, 2]), "map"), (np.arange(1.0, 2701).reshape(30, 30, 3), "mean"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("shared", [1, 2])
def test_sparse_counts_give_the_table_of_dense_ones(prior, estimate, weights, shared):
    rng = np.random.default_rng(shared)
    counts = tuple(counted(rng, 40, weights) for _ in range(shared))
    alpha = None if prior is None else pseudocounts_of(prior, Y, (A, B))
    other = TableSpec(Y, (), (counts[0].marginal(["Y"]),), None, "mle")
    sparse, dense = (
        fit_tables([other, TableSpec(Y, (A, B), given, alpha, estimate), other])[1]
        for given in (counts, tuple(c.dense() for c in counts))
    )
    assert np.array_equal(sparse.values, dense.values)
    assert (sparse.posterior is None) == (dense.posterior is None) == (prior is None)
    assert np.array_equal(sparse.unseen, dense.unseen)
    assert sparse.zeros == dense.zeros
    assert sparse.log_likelihood == pytest.approx(dense.log_likelihood, rel=1e-13)
    if prior is not None:
        assert np.array_equal(sparse.posterior, dense.posterior)
        assert sparse.log_marginal == pytest.approx(dense.log_marginal, rel=1e-13)


def test_a_table_of_sparse_counts_without_a_mode_is_refused():
    counts = counted(np.random.default_rng(0), 5)
    alpha = pseudocounts_of(cr.BDeu(1), Y, (A, B))
    with pytest.raises(InputError, match="has no mode"):
        fit_tables([TableSpec(Y, (A, B), (counts,), alpha, "map")])
