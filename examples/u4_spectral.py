"""U4. Spectral clustering: groups of any shape, as pieces of a graph of neighbours.

k-means looks for round groups. Spectral clustering ties every row to its nearest rows, and cuts the
graph where few ties are lost: two moons, and rings within rings, come apart.
"""

import numpy as np

import credo as cr

rng = np.random.default_rng(0)
n = 300
angle = rng.uniform(0, np.pi, 2 * n)
half = np.repeat([0, 1], n)
x = np.where(half == 0, np.cos(angle), 1 - np.cos(angle)) + rng.normal(0, 0.08, 2 * n)
y = np.where(half == 0, np.sin(angle), 0.5 - np.sin(angle)) + rng.normal(0, 0.08, 2 * n)
moons = {"x": x, "y": y}


def right(groups):
    """The share of rows with their own moon."""
    return max((groups.labels == half).mean(), (groups.labels != half).mean())


for method in ("k-means", "average", "spectral"):
    print(
        f"{method:>8}: {right(cr.cluster(moons, method, k=2)):.1%} of the rows are with their own"
    )
spectral = cr.cluster(moons, "spectral", k=2)
assert right(spectral) > 0.98 > right(cr.cluster(moons, k=2))

print()
print(spectral)
values = spectral.model.vectors(6)[0]
print("\nThe first eigenvalues:", ", ".join(f"{v:.4f}" for v in values[:6]))

# The affinity of all pairs, and landmarks that stand for them: the error is said.
for landmarks in (None, 100):
    groups = cr.cluster(moons, "spectral", k=2, affinity="rbf", gamma=20.0, landmarks=landmarks)
    print(f"\nrbf, landmarks {landmarks}: {right(groups):.1%} right")
    print("  " + groups.record.notes[-1])
    assert right(groups) > 0.98

# New rows go where their neighbours are.
print("\nassigned:", spectral.assign({"x": [0.0, 1.0], "y": [1.0, -0.5]}).tolist())
