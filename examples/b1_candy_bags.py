"""B1. Candy bags: the posterior over a finite hypothesis space, one observation at a time.

Five kinds of bags, known in what proportions; a bag is opened and lime after lime comes out.
Which bag is it? (Russell & Norvig, section 20.1; lecture notes 003.)
"""

from fractions import Fraction as F

import credo as cr

bags = {
    "h1": {"cherry": 1, "lime": 0},
    "h2": {"cherry": 0.75, "lime": 0.25},
    "h3": {"cherry": 0.5, "lime": 0.5},
    "h4": {"cherry": 0.25, "lime": 0.75},
    "h5": {"cherry": 0, "lime": 1},
}
h = cr.Hypotheses(bags, prior=[0.1, 0.2, 0.4, 0.2, 0.1])

print("Ten limes, one after the other\n")
ten = h.observe(["lime"] * 10)
print(ten.history)

print("\nAfter five\n")
five = h.observe(["lime"] * 5)
print(five)
print(f"\nRuled out: {dict(five.ruled_out)}")

# The same with fractions: the exact answer, no rounding anywhere.
prior = [F(1, 10), F(2, 10), F(4, 10), F(2, 10), F(1, 10)]
lime = [F(0), F(1, 4), F(1, 2), F(3, 4), F(1)]
joint = [p * q**5 for p, q in zip(prior, lime, strict=True)]
alpha = 1 / sum(joint)
exact = [alpha * j for j in joint]
next_lime = sum(e * q for e, q in zip(exact, lime, strict=True))

assert alpha == F(256, 41)
assert exact == [0, F(1, 820), F(16, 205), F(243, 820), F(128, 205)]
assert next_lime == F(1453, 1640)
for name, e in zip(bags, exact, strict=True):
    assert abs(five.posterior[name] - float(e)) < 1e-15
assert abs(five.p("lime") - float(next_lime)) < 1e-15

print("\nThe slide against the exact values")
print("             exact                   printed")
for what, value, printed, why in [
    ("α", alpha, "6.2424", "0.2·0.75⁵ = 0.047461 was rounded up to 0.0475 first"),
    ("P(h2)", exact[1], "0.00122", "right"),
    ("P(h3)", exact[2], "0.07803", "0.0125 · 6.2424"),
    ("P(h4)", exact[3], "0.29650", "0.0475 · 6.2424 = 0.29651: the last digit slipped too"),
    ("P(h5)", exact[4], "0.62424", "0.1 · 6.2424"),
    ("P(lime)", next_lime, "0.88607", "0.07830 in the sum, for 0.07803: digits swapped"),
]:
    print(f"  {what:<8} {value!s:>9} = {float(value):.6f}   {printed:<8} {why}")

# The slips, one by one: the slide's own arithmetic, redone from its own rounded terms.
terms = [0.000195, 0.0125, 0.0475, 0.1]  # the third is 0.0474609…
assert round(1 / sum(terms), 4) == 6.2424
assert [round(t * 6.2424, 5) for t in terms] == [0.00122, 0.07803, 0.29651, 0.62424]
assert round(0.25 * 0.00122 + 0.5 * 0.07830 + 0.75 * 0.29650 + 0.62424, 5) == 0.88607
assert round(0.25 * 0.00122 + 0.5 * 0.07803 + 0.75 * 0.29650 + 0.62424, 6) == 0.885935

# After each of ten limes, exactly.
for n in range(11):
    joint = [p * q**n for p, q in zip(prior, lime, strict=True)]
    for k, name in enumerate(bags):
        assert abs(ten.history.of(name)[n] - float(joint[k] / sum(joint))) < 1e-14
print(f"\nAfter ten limes P(h5) = {ten.posterior['h5']:.4f}")
assert round(ten.posterior["h5"], 4) == 0.8956
