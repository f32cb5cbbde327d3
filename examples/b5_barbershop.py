"""B4, B5. The barbershop: a model, its training, its prediction, and does it look realistic?

Twelve waiting times from last year. The recipe of lecture notes 004, with its fourth step:
generate some data; does it look realistic? The notes give no numbers, so these twelve are ours.
With `--plot` the comparison is drawn to barbershop.png.
"""

import math
import sys

import credo as cr

waits = [12.0, 25.0, 8.0, 17.0, 31.0, 14.0, 22.0, 9.0, 19.0, 27.0, 11.0, 21.0]  # minutes
n = len(waits)
mean = sum(waits) / n
assert n == 12 and mean == 18

print("1. Model: each waiting time is N(μ, 1)\n")

print("2. Training: minimise the negative log-likelihood")
print("   L(μ) = 12 ln √(2π) + ½ Σ (x_i − μ)²")
shop = cr.Gaussian.fit(waits, known_variance=1)
assert shop == cr.Gaussian(18, 1)


def negative(mu: float) -> float:
    """The formula of the notes."""
    return n * math.log(math.sqrt(2 * math.pi)) + sum((x - mu) ** 2 for x in waits) / 2


assert math.isclose(negative(18), -shop.log_likelihood(waits))
print(f"   μ̂ = sample mean = {shop.mean:g},  L(μ̂) = {negative(18):.4f}")

# The notes print L'(μ) = Σ (x_i − μ). That is −L'(μ): the inner derivative of (x_i − μ)² is −1.
# The root is the same, but the sign matters to anyone who walks downhill.
step = 1e-4
slope = (negative(20 + step) - negative(20 - step)) / (2 * step)
assert math.isclose(slope, -sum(x - 20 for x in waits), rel_tol=1e-6)
assert slope > 0  # at 20 > 18 the curve rises; the printed formula gives −24
print(f"   L'(20) = −Σ (x_i − 20) = {slope:+.0f} (the notes lack the minus sign); L'' = 12 > 0")
curve = cr.Gaussian.likelihood_curve(waits, variance=1)
assert curve.maximum == 18

print("\n3. Prediction: the next wait is expected to take 18 minutes,")
low, high = shop.interval(0.95)
print(f"   and 95 % of waits should lie in {low:.1f} to {high:.1f} minutes.")
inside = sum(low <= x <= high for x in waits)
print(f"   Of the twelve seen, {inside} do.")
assert inside == 2

print("\n4. Check: generate some data. Does it look realistic?\n")
print("   seen      ", " ".join(f"{x:4.0f}" for x in sorted(waits)))
for seed in (1, 2, 3):
    print("   generated ", " ".join(f"{x:4.0f}" for x in sorted(shop.sample(n, rng=seed))))
print()
report = cr.predictive_check(shop, waits, rng=0)
print(report)
assert report.unrealistic == ("sd", "min", "max")
assert report["mean"].p > 0.05  # the mean was fitted, so it cannot fail

print("\n5. A better model: the variance is free, N(μ, σ²)\n")
free = cr.Gaussian.fit(waits)
print(free)
assert math.isclose(free.variance, 608 / 12)
assert math.isclose(cr.Gaussian.fit(waits, sample_variance=True).variance, 608 / 11)
print()
report = cr.predictive_check(free, waits, rng=0)
print(report)
assert report.is_realistic

print("\n6. With its uncertainty: a normal-inverse-gamma belief, worth one wait of 15 ± 10\n")
prior = cr.distributions.NormalInverseGamma.default(mean=15, sd=10)
posterior = prior.update(waits)
print(posterior)
assert math.isclose(posterior.mu, (15 + 12 * 18) / 13)
assert (posterior.kappa, posterior.alpha) == (13, 6.5)
assert math.isclose(posterior.beta, 50 + 608 / 2 + 12 / 13 * 9 / 2)
tomorrow = posterior.predictive()
low, high = tomorrow.interval(0.95)
print(f"\nThe next wait: {low:.1f} to {high:.1f} minutes with probability 95 %, now that neither")
print("the mean nor the variance is known for sure.")
assert inside < sum(low <= x <= high for x in waits) == 12
assert cr.predictive_check(posterior, waits, rng=0).is_realistic

# Which of the two models do the data speak for? The marginal likelihoods say it.
narrow = cr.distributions.NormalMean(15, 100, known_variance=1)
odds = prior.log_marginal(waits) - narrow.log_marginal(waits)
print(f"\nln of the odds for the free variance against variance 1: {odds:.1f}")
assert odds > 200

if "--plot" in sys.argv:
    ax = cr.plot.generated(shop, waits, n=10, rng=0)
    ax.figure.savefig("barbershop.png")
    print("\nThe comparison is in barbershop.png")
