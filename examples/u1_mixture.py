"""U1. A Gaussian mixture: three kinds of iris, found without their names and with cells missing.

k-means is the same climb with hard shares: as the balls of a mixture shrink, a row's shares become
0 and 1, and what EM climbs becomes the sum of squares that k-means descends.
"""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

import credo as cr
from credo.distributions import Gaussians

iris = load_iris()
names = [n.removesuffix(" (cm)") for n in iris.feature_names]
rows = cr.read(dict(zip(names, iris.data.T, strict=True)))

three = cr.mixture(rows, 3)
print(three)
agree = adjusted_rand_score(iris.target, three.predict(rows))
print(f"agreement with the species (adjusted Rand): {agree:.3f}\n")
assert agree > 0.85

print("How many classes? Every criterion, higher is better:")
print(cr.mixture(rows, "auto", max_components=5).candidates)

print("\nWith cells missing at random:")
rng = np.random.default_rng(0)
for share in (0.1, 0.2, 0.3):
    holes = np.where(rng.random(iris.data.shape) < share, np.nan, iris.data)
    table = cr.read(dict(zip(names, holes.T, strict=True)))
    found = cr.mixture(table, 3, prior=1)
    agree = adjusted_rand_score(iris.target, found.predict(table))
    print(f"  {share:.0%} missing: adjusted Rand {agree:.3f}")
    assert agree > 0.6

print("\nBalls that shrink become k-means:")
centres = three.gaussians.means
for variance in (1.0, 0.1, 0.001):
    balls = cr.Mixture(
        np.full(3, 1 / 3),
        [Gaussians(names, centres, np.full(3, variance), "spherical")],
    )
    share = balls.responsibilities(rows)
    nearest = ((iris.data[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    hard = float(share.max(axis=1).mean())
    print(f"  variance {variance:g}: mean of the largest share {hard:.4f}")
    assert (share.argmax(axis=1) == nearest).all()
assert hard > 0.999
