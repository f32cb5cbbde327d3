"""U3. k-means as hard EM, and the Gaussian mixture whose variance shrinks to it.

k-means repeats an E step (each row to its nearest centre) and an M step (each centre to the mean
of its rows); the within-cluster sum of squares W never rises (lecture notes 000). A mixture of
Gaussians with one common variance v gives each row a share of every centre instead,

    r_ic ∝ π_c exp( −|x_i − μ_c|² / 2v )

and as v goes to 0 the shares go to 0 or 1: soft EM becomes hard EM, and its centres k-means'.
"""

from itertools import pairwise

import numpy as np

import credo as cr

rng = np.random.default_rng(0)
x = np.concatenate([rng.normal(m, 1.0, (50, 2)) for m in ((0, 0), (6, 1), (1, 7))])
table = {"x": x[:, 0], "y": x[:, 1]}

start = x[[0, 1, 60]]  # two rows of one group: a poor start on purpose
groups = cr.cluster(table, k=3, start=start, scale="none", tol=0.0)
print("The steps of hard EM from a poor start:")
print(groups.steps())
w = np.array(groups.steps().objective)
assert (np.diff(w) <= 1e-9 * w[0]).all()
print(f"\nW = {groups.quality['within']:.6f}")


def soft_step(centres, v):
    """One step of EM for equal shares and the common variance v."""
    d = ((x[:, None] - centres) ** 2).sum(axis=2)
    r = np.exp(-(d - d.min(axis=1, keepdims=True)) / (2 * v))
    r /= r.sum(axis=1, keepdims=True)
    return (r.T @ x) / r.sum(axis=0)[:, None], r


hard = groups.model.centres
print("\nSoft EM with a fixed variance, from k-means' centres:")
away = []
for v in (4.0, 1.0, 0.3, 0.1, 0.01):
    centres = hard.copy()
    for _ in range(500):
        centres, r = soft_step(centres, v)
    away.append(float(np.abs(centres - hard).max()))
    print(f"v = {v:<5} centres are {away[-1]:.2e} away; least sure row {r.max(axis=1).min():.3f}")
assert all(a >= b - 1e-9 for a, b in pairwise(away)) and away[-1] < 1e-6

# Where the variance is learned too, the mixture says how sure each row is.
mixture = cr.cluster(table, "gaussian", k=3, covariance="spherical")
doubtful = (mixture.membership.max(axis=1) < 0.9).sum()
same = (mixture.labels == groups.labels).mean()
print(f"\nThe learned mixture agrees on {same:.0%} of the rows and doubts {doubtful} of them.")
print(mixture)
assert same > 0.9
