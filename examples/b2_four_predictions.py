"""B2. Four ways to predict: averaging, MAP, maximum likelihood and MDL, side by side.

The candy bags of B1 again: how probable is it that the next candy is lime? (Russell &
Norvig, section 20.1; lecture notes 000 and 003.)
"""

from math import log2

import credo as cr

bags = {f"h{i + 1}": {"cherry": 1 - q, "lime": q} for i, q in enumerate([0, 0.25, 0.5, 0.75, 1])}
h = cr.Hypotheses(bags, prior=[0.1, 0.2, 0.4, 0.2, 0.1])

five = h.observe(["lime"] * 5)
print("After five limes\n")
print(five.compare("lime"))
assert round(five.p("lime"), 6) == 0.885976
assert five.choose("map") == five.choose("mle") == five.choose("mdl") == "h5"
assert five.p("lime", by="map") == 1

ten = h.observe(["lime"] * 10)
predictions = ten.history.predictions("lime")
print("\nOver ten limes\n")
print(predictions)

assert round(predictions["average"][10], 3) == 0.973
assert round(ten.posterior["h5"], 4) == 0.8956
# One lime is enough for maximum likelihood to be certain; MAP jumps after three.
assert predictions["mle"][:2].tolist() == [0.0, 1.0]
assert predictions["map"][:4].tolist() == [0.5, 0.5, 0.75, 1.0]
assert h.ties("mle") == ("h1", "h2", "h3", "h4", "h5")  # without data all fit alike

print("\nMDL with its own code: bits say how long each hypothesis is to tell\n")
coded = cr.Hypotheses(
    bags, prior=[0.1, 0.2, 0.4, 0.2, 0.1], bits={"h1": 1, "h2": 6, "h3": 2, "h4": 6, "h5": 9}
)
three = coded.observe(["lime"] * 3)
print(three.compare("lime"))
assert (three.choose("map"), three.choose("mle"), three.choose("mdl")) == ("h5", "h5", "h3")
assert abs(three.compare()["mdl"].total_bits - 5) < 1e-12  # 2 bits for h3, 1 for each lime
assert coded.observe(["lime"] * 8).choose("mdl") == "h5"  # 9 bits then beat 2 + 8

# Without bits a hypothesis costs −log₂ P(h), and MDL is MAP.
for n in range(11):
    now = h.observe(["lime"] * n)
    assert now.choose("mdl") == now.choose("map")
assert abs(five.compare()["map"].hypothesis_bits + log2(0.1)) < 1e-12

# Averaging pays for the data what a code that mixes all hypotheses would: −log₂ P(data).
print(f"\nP(five limes) = {2 ** -five.compare()['average'].data_bits:.6f} = 41/256")
assert abs(2 ** -five.compare()["average"].data_bits - 41 / 256) < 1e-15
