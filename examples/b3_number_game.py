"""B3. The number game: learning a concept from positive examples only.

A concept is a set of numbers from 1 to 100, and examples are drawn evenly from it. The
simplest concept that fits is always "everything"; yet four examples are enough to leave it
(Tenenbaum 1999; Murphy, *Machine Learning*, section 3.2; lecture notes 003).
"""

from math import exp, isclose

import credo as cr

game = cr.number_game()
print(f"{len(game):,} concepts over 1 … 100: 33 mathematical ones and 5,050 intervals.\n")
assert len(game) == 5083

# The size principle, as on the slide. Seven powers of two up to 100: 1 = 2⁰ is among them.
examples = game.observe([16, 8, 2, 64])
powers = exp(examples.log_likelihood["powers of 2"])
everything = exp(examples.log_likelihood["everything = [1, 100]"])
print("Examples 16, 8, 2, 64")
print(f"  P(examples | powers of 2) = 7⁻⁴   = {powers:.2e}")
print(f"  P(examples | everything)  = 100⁻⁴ = {everything:.0e}\n")
assert isclose(powers, 7**-4, rel_tol=1e-14) and f"{powers:.1e}" == "4.2e-04"
assert isclose(everything, 1e-8, rel_tol=1e-14)

for seen in ([16], [16, 8, 2, 64], [16, 23, 19, 20]):
    h = game.observe(seen)
    best = sorted(h.posterior.items(), key=lambda item: -item[1])[:4]
    print(f"Seen {', '.join(map(str, seen))}")
    for name, p in best:
        print(f"  {p:.4f}  {name}")
    print("Does the concept hold the number y?")
    print(h.generalise(), end="\n\n")

# One example: many concepts remain. Four powers of two: one. Four numbers near 20: intervals.
one = game.observe(16)
assert one.posterior[one.choose()] < 0.5
assert one.generalise()[64] > one.generalise()[17] > one.generalise()[87]
assert examples.choose() == "powers of 2" and examples.posterior["powers of 2"] > 0.999
assert examples.generalise()[32] > 0.999 and examples.generalise()[10] < 0.001
near = game.observe([16, 23, 19, 20])
assert near.choose() == "[16, 23]"
assert near.generalise()[18] > 0.999 and near.generalise()[32] < 0.2 < near.generalise()[24]

# The next example is another question than membership: its probabilities sum to 1.
print(
    f"P(32 is next) = {examples.p(32):.4f};  P(32 is in the concept) = "
    f"{examples.generalise()[32]:.4f}"
)
assert isclose(sum(examples.predict().values()), 1)
assert abs(examples.p(32) - 1 / 7) < 1e-3

# Weak sampling, where examples only say what is possible, has no size principle:
weak = cr.number_game(sampling="weak").observe([16, 8, 2, 64])
print("\nWithout the size principle, P(h | 16, 8, 2, 64):")
for name in ("powers of 2", "even", "everything = [1, 100]"):
    print(f"  {weak.posterior[name]:.4f}  {name}")
assert isclose(weak.posterior["powers of 2"], weak.posterior["even"], rel_tol=1e-12)
