"""B4. Balls from a bin: the categorical distribution, its zeros, and how a prior fills them.

Six balls are drawn with replacement; their colours are 1, 3, 2, 1, 1, 3. What are the shares of
the colours in the bin? (Lecture notes 004, Example II.)
"""

import math
from fractions import Fraction as F

import credo as cr

drawn = [1, 3, 2, 1, 1, 3]

bin_ = cr.Categorical.fit(drawn)
print("Maximum likelihood: each share is n_c / n\n")
print(bin_)
assert [F(p).limit_denominator(100) for p in bin_.p] == [F(1, 2), F(1, 6), F(1, 3)]
assert bin_.mode == 1  # the prediction: argmax of the shares

# The negative log-likelihood of the notes, −Σ n_c ln π_c.
negative = -bin_.log_likelihood(drawn)
assert math.isclose(negative, -(3 * math.log(1 / 2) + math.log(1 / 6) + 2 * math.log(1 / 3)))
print(f"\n−ln P(data) = {negative:.6f}; any other shares make it larger, such as 1/3 each:")
even = cr.Categorical([1 / 3, 1 / 3, 1 / 3], states=[1, 2, 3])
print(f"              {-even.log_likelihood(drawn):.6f}")
assert even.log_likelihood(drawn) < bin_.log_likelihood(drawn)

# A fourth colour that was never drawn gets probability zero, and one such ball would then be
# called impossible.
four = cr.Categorical.fit(drawn, states=[1, 2, 3, 4])
assert four.zeros == (4,)
assert four.log_likelihood([*drawn, 4]) == -math.inf
print("\nWith a fourth colour that was not drawn\n")
print(four)

# A Dirichlet prior with one pseudo-count for each colour leaves it a chance: (n_c + 1) / (n + 4).
prior = cr.Dirichlet.uniform([1, 2, 3, 4])
posterior = prior.update(drawn)
print("\nThe same with one pseudo-count for each colour\n")
print(posterior)
assert posterior.alpha.tolist() == [4, 2, 3, 1]
assert posterior.predictive()[4] == 0.1
assert posterior.marginal(1) == cr.Beta(4, 6, states=("not 1", 1))

# The probability of this very sequence, averaged over all bins: Γ(4)·3!·1!·2!·0! / Γ(10).
exact = F(math.factorial(3) * 6 * 1 * 2, math.factorial(9))
assert math.isclose(prior.log_marginal(drawn), math.log(exact))
print(f"\nP(1, 3, 2, 1, 1, 3) averaged over all bins: {exact} = {float(exact):.6f}")
