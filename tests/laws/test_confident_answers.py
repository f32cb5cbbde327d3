"""No answer is confident, wrong and silent: where the training rows refute its interval, it says so.

P(a=v | b=w) has an interval of all rows that its graph lets speak; the share in the rows with b=w has
the noise of these few. So a share may lie outside of the interval of the right graph (in 18 % of such
questions): an answer is wrong where chance does not explain the difference.
"""

import warnings

import numpy as np
import pytest
from scipy.stats import binomtest

import credo as cr
from tests.laws.test_better_than_nothing import TABLES


def asked(table, most=20):
    """For each question: whether the share is outside, whether rows refute it, and the notes."""
    rng = np.random.default_rng(1)
    order = np.sort(rng.permutation(len(table))[:2000])
    table = table.take(order)
    net = cr.learn(table, search="hill-climb", seconds=20)
    codes = dict(zip(table.schema.names, table.block.arrays, strict=True))
    states = [v for v in net.variables if v.is_discrete and v.scale is None]
    names = [v.name for v in states if 2 <= v.arity <= 12]
    pairs = [(a, b) for a in names for b in names if a != b]
    for i in rng.permutation(len(pairs))[:most]:
        a, b = map(net.variable, pairs[i])
        both = (codes[a.name] < a.arity) & (codes[b.name] < b.arity)
        mine, other = codes[a.name][both].astype(int), codes[b.name][both].astype(int)
        often = [w for w in range(b.arity) if (other == w).sum() >= 10]
        if not often:
            continue
        v, w = int(np.bincount(mine).argmax()), int(rng.choice(often))
        n, k = int((other == w).sum()), int((mine[other == w] == v).sum())
        p = net.p({a.name: a.states[v]}, {b.name: b.states[w]}, interval=0.95)
        outside = not p.low <= k / n <= p.high
        yield outside, outside and binomtest(k, n, float(p)).pvalue < 0.05, p.notes


@pytest.mark.slow
def test_no_answer_is_confident_wrong_and_silent(shared_tables):
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in TABLES:
            found += asked(cr.read(shared_tables / name))
    assert len(found) > 300
    assert all("learned graph" in notes[-1] for _, _, notes in found)
    told = ["in the training rows" in notes[0] for _, _, notes in found]
    outside, wrong = (np.array([f[i] for f in found]) for i in (0, 1))
    silent = wrong & ~np.array(told)
    assert outside.mean() < 0.35  # 27.5 % of 465 questions
    assert wrong.mean() < 0.1  # 7.3 %
    assert silent.mean() < 0.01  # 0.2 %
