"""B4, B5. A coin's likelihood: 20 tosses, 12 heads.

    L(p) = p^12 (1 − p)^8,   ln L(p) = 12 ln p + 8 ln(1 − p),   greatest at p = 12/20

(Lecture notes 004, after Wasserman 2004.) With `--plot` the curves are drawn to coin.png.
"""

import math
import sys

import credo as cr

tosses = {"heads": 12, "tails": 8}
sides = ("tails", "heads")

coin = cr.Bernoulli.fit(tosses, states=sides)
assert coin.p == 0.6
assert coin.p == sum([1] * 12 + [0] * 8) / 20  # maximum likelihood is the sample mean

curve = cr.Bernoulli.likelihood_curve(tosses, states=sides)
print(curve)
assert curve.maximum == 0.6
assert math.isclose(curve.highest, 12 * math.log(0.6) + 8 * math.log(0.4))

# The likelihood is no distribution over p: its area is B(13, 9), not 1. Divided by that area
# it is the posterior under a uniform prior, Beta(13, 9).
posterior = cr.Beta.uniform(sides).update(tosses)
assert (posterior.a, posterior.b) == (13, 9)
assert posterior.map().p == coin.p  # a uniform prior has its mode where the likelihood has
area = sum(
    math.exp(v) * (curve.grid[i + 1] - curve.grid[i])
    for i, v in enumerate(curve.log_likelihood[:-1])
)
assert math.isclose(area, 1 / (21 * math.comb(20, 12)), rel_tol=1e-6)

print("\nWhat is believed of the coin, when every p was as likely before\n")
print(posterior)
low, high = posterior.interval(0.95)
print(f"\nIs it fair? p = 0.5 lies inside of {low:.3f} to {high:.3f}, so it may well be.")
assert low < 0.5 < high
assert (round(low, 3), round(high, 3)) == (0.384, 0.782)

if "--plot" in sys.argv:
    ax = cr.plot.likelihood_curve(curve)
    ax.figure.savefig("coin.png")
    print("\nThe curve is in coin.png")
