"""U2. Agglomerative clustering: single, complete and average link, and the tree they make.

Every row starts alone; the two nearest clusters merge until one is left (lecture notes 000). The
three links differ in what "near" means, and see different things in the same rows. The notes' other
case is a social network, where most pairs are not tied at all.
"""

import numpy as np

import credo as cr

# Eight points on a line: distances can be checked by eye.
points = {"x": [1.0, 2.0, 4.0, 7.0, 7.5, 12.0, 12.2, 13.0]}
for method in ("single", "complete", "average"):
    tree = cr.cluster(points, method, k=3, scale="none").tree
    merges = ", ".join(f"{h:.3g}" for h in tree.heights)
    print(f"{method:>8}: merges at {merges}; k = 3 gives {tree.cut(k=3).tolist()}")

single = cr.cluster(points, "single", k=3, scale="none").tree
assert np.allclose(single.heights, [0.2, 0.5, 0.8, 1.0, 2.0, 3.0, 4.5])  # gaps between neighbours
complete = cr.cluster(points, "complete", k=3, scale="none").tree
assert complete.heights[-1] == 12.0  # the farthest pair of all

# A chain and a ball: single link follows the chain, complete link cuts it.
rng = np.random.default_rng(0)
chain = np.column_stack([np.linspace(0, 20, 80), rng.normal(0, 0.1, 80)])
ball = rng.normal([10, 6], 0.6, (80, 2))
rows = np.concatenate([chain, ball])
truth = np.repeat([0, 1], 80)
table = {"x": rows[:, 0], "y": rows[:, 1]}
for method in ("single", "complete", "average"):
    groups = cr.cluster(table, method, k=2, scale="none")
    right = max((groups.labels == truth).mean(), (groups.labels != truth).mean())
    print(f"{method:>8}: {right:.0%} of the rows are with their own shape, sizes {groups.sizes}")
    if method == "single":
        assert right == 1.0
print(cr.cluster(table, "single"))

# A social network: two clubs with one friendship across.
names = ["Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus", "Hal"]
ties = [(a, b) for i, a in enumerate(names[:4]) for b in names[i + 1 : 4]]
ties += [(a, b) for i, a in enumerate(names[4:]) for b in names[5 + i :]]
friends = cr.cluster(graph=[*ties, ("Dan", "Eve")], method="average")
print()
print(friends)
assert friends.groups == (names[:4], names[4:])
