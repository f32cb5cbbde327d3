"""U1. Latent classes: two bags of candy were mixed; how many bags were there, and which is which?

The table of Russell & Norvig, section 20.3.2, and a second one in which columns of several kinds
stand side by side with cells missing.
"""

from math import isclose

import numpy as np

import credo as cr

candy = cr.read(
    {
        "Flavor": ["cherry"] * 4 + ["lime"] * 4,
        "Wrapper": ["red", "red", "green", "green"] * 2,
        "Hole": ["yes", "no"] * 4,
        "n": [273, 93, 104, 90, 79, 100, 94, 167],
    },
    weights="n",
)
bags = cr.mixture(candy, 2, prior=0, tol=1e-12, name="Bag")
print(bags)
print(f"log-likelihood {bags.record.score:.2f}")
assert isclose(bags.record.score, -1979.36, abs_tol=0.005)

# The same as EM on the network with a hidden bag.
net = cr.em("[Bag][Flavor|Bag][Wrapper|Bag][Hole|Bag]", candy, hidden={"Bag": 2})
assert isclose(net.record.score, bags.record.score, abs_tol=1e-3)

print("\nHow many bags?")
tried = cr.mixture(candy, max_components=4).candidates
print(tried)
assert tried.best.k == 2

print("\nPatients: a test, a temperature, a number of visits; a tenth of the cells missing")
rng = np.random.default_rng(0)
ill = rng.random(600) < 0.3
test = np.where(rng.random(600) < np.where(ill, 0.9, 0.05), "positive", "negative").astype(object)
heat = rng.normal(np.where(ill, 38.6, 36.8), 0.5)
visits = rng.poisson(np.where(ill, 4.0, 0.8)).astype(float)
test[rng.random(600) < 0.1] = None
heat[rng.random(600) < 0.1] = np.nan
table = cr.read({"test": test, "temperature": heat, "visits": visits}, {"visits": "continuous"})
found = cr.mixture(table, counts=["visits"], max_components=4)
print(found)
label = found.predict(table)
right = max((label == ill).mean(), (label != ill).mean())
print(f"{right:.1%} of the patients are where they belong")
assert found.k == 2 and right > 0.95
