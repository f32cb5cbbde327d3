"""G4. Flu, fever and cough: Bayes' rule by hand, by the network, and for a table with gaps."""

from math import isclose

import credo as cr

net = cr.Network(
    "[flu][fever|flu][cough|flu]",
    {
        "flu": {"no": 0.9, "yes": 0.1},
        "fever": {"no": {"no": 0.95, "yes": 0.05}, "yes": {"no": 0.1, "yes": 0.9}},
        "cough": {"no": {"no": 0.8, "yes": 0.2}, "yes": {"no": 0.2, "yes": 0.8}},
    },
)
print(net.cpt("fever"), end="\n\n")

# 0.1 · 0.9 · 0.8 = 0.072 with flu, 0.9 · 0.05 · 0.2 = 0.009 without: 8 to 1.
found = net.p("flu", given={"fever": "yes", "cough": "yes"})
print("Fever and cough:")
print(found, end="\n\n")
assert isclose(found["yes"], 8 / 9, abs_tol=1e-12)

# A thermometer that is wrong now and then: a likelihood for each state, not a state.
unsure = net.p("flu", given={"fever": {"yes": 0.8, "no": 0.3}, "cough": "yes"})
print("An unreliable thermometer and a cough:")
print(unsure, end="\n\n")
with_flu = 0.1 * (0.9 * 0.8 + 0.1 * 0.3) * 0.8
without = 0.9 * (0.05 * 0.8 + 0.95 * 0.3) * 0.2
assert isclose(unsure["yes"], with_flu / (with_flu + without), abs_tol=1e-12)

rows = {"fever": ["yes", "yes", "no", None], "cough": ["yes", None, "no", None]}
print("Four patients, some cells missing; P(flu):")
for fever, cough, p in zip(*rows.values(), net.predict_proba(rows, "flu")[:, 1], strict=True):
    print(f"  fever {fever or '?':3}  cough {cough or '?':3}  {p:.6f}")
exact = [8 / 9, 2 / 3, 0.1 * 0.1 * 0.2 / (0.1 * 0.1 * 0.2 + 0.9 * 0.95 * 0.8), 0.1]
assert all(
    isclose(p, e, abs_tol=1e-12)
    for p, e in zip(net.predict_proba(rows, "flu")[:, 1], exact, strict=True)
)

best = net.map(["flu", "cough"], given={"fever": "yes"})
print(f"\nWith a fever, the most probable pair is {dict(best)}.")
assert dict(best) == {"flu": "yes", "cough": "yes"}
