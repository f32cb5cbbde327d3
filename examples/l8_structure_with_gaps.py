"""L8. Unknown structure, missing cells and a hidden cause: structural EM, and a hypothesis.

The lecture calls this "too hard to solve!". Rows are drawn from a small network, a fifth of the
cells is removed, and the graph is learned from what is left. Then one variable is hidden for good.
"""

import numpy as np

import credo as cr

rng = np.random.default_rng(0)
n = 3000
flip = lambda x, p: np.where(rng.random(n) < p, x, 1 - x)  # noqa: E731
smoke = rng.integers(0, 2, n)
bronchitis = flip(smoke, 0.8)
cough = flip(bronchitis, 0.85)
season = rng.integers(0, 3, n)
columns = {"smoke": smoke, "bronchitis": bronchitis, "cough": cough, "season": season}
states = {"smoke": [0, 1], "bronchitis": [0, 1], "cough": [0, 1], "season": [0, 1, 2]}
truth = cr.Dag.parse("[smoke][bronchitis|smoke][cough|bronchitis][season]")

gaps = cr.read(
    {k: np.where(rng.random(n) < 0.2, None, c.astype(object)) for k, c in columns.items()}, states
)
print(cr.missingness(gaps), end="\n\n")
net = cr.learn(gaps, "bic", search="hill-climb")
print(net.dag)
print(net.record, end="\n\n")
assert net.dag.equivalent(truth)
assert all(b >= a for a, b in zip(net.record.trace, net.record.trace[1:], strict=False))

# Four answers to one question that was never asked: the graph among them is complete.
cause = rng.integers(0, 2, n)
answers = {f"answer{i}": flip(cause, 0.85) for i in range(1, 5)}
learned = cr.learn(answers, "bic", search="hill-climb")
print(f"Learned among the answers: {len(learned.dag.edges)} of 6 edges")
found = cr.find_hidden(learned, answers)
print(found)
assert found.found and found.proposals[0].states == 2
assert len(found.network.dag.edges) == 4
