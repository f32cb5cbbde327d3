"""L6. A missing value: whether there was a burglary was not observed on one day."""

from math import isclose

import credo as cr

rows = {
    "Burglary":   ["no",  "no",  "no",  None,  "yes", "no",  "no",  "no"],
    "Earthquake": ["no",  "yes", "no",  "no",  "no",  "no",  "yes", "no"],
    "Alarm":      ["off", "on",  "off", "on",  "on",  "off", "off", "on"],
}  # fmt: skip
graph = "[Burglary][Earthquake][Alarm|Burglary:Earthquake]"

print(cr.missingness(rows), end="\n\n")

net = cr.em(graph, rows)
print(net.record, end="\n\n")
print(net.cpt("Alarm"), end="\n\n")

# The E-step by hand, at the top: the alarm of the fourth day had a burglar or it had none.
b = net.p("Burglary")["yes"]
with_one = b * net.cpt("Alarm").row(Burglary="yes", Earthquake="no")["on"]
without = (1 - b) * net.cpt("Alarm").row(Burglary="no", Earthquake="no")["on"]
share = with_one / (with_one + without)
print(f"On the fourth day there was a burglary with probability {share:.4f}")
assert isclose(b, (1 + share) / 8, abs_tol=1e-6)  # one burglary observed, and that share of one

# The trace never falls, and the rows that are left would have given another answer.
assert all(
    later >= earlier for earlier, later in zip(net.record.trace, net.record.trace[1:], strict=False)
)
print(
    f"P(burglary): {b:.4f} by EM, {cr.fit(graph, rows).p('Burglary')['yes']:.4f} by the rows left"
)

print("\nThe table, filled with the most probable states:")
print(net.impute(rows))
