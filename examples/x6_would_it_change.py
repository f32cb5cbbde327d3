"""X6. Would the answer change, and what should be looked at next?

The burglary network of lecture notes 006. John has called. How far must a number of the model move
before burglary becomes more likely than not, and what would tell most of it?
"""

import credo as cr

net = cr.Network(
    "[Burglary][Earthquake][Alarm|Burglary:Earthquake][John|Alarm][Mary|Alarm]",
    {
        "Burglary": {"no": 0.999, "yes": 0.001},
        "Earthquake": {"no": 0.998, "yes": 0.002},
        "Alarm": {
            ("no", "no"): {"no": 0.999, "yes": 0.001},
            ("no", "yes"): {"no": 0.71, "yes": 0.29},
            ("yes", "no"): {"no": 0.06, "yes": 0.94},
            ("yes", "yes"): {"no": 0.05, "yes": 0.95},
        },
        "John": {"no": {"no": 0.95, "yes": 0.05}, "yes": {"no": 0.1, "yes": 0.9}},
        "Mary": {"no": {"no": 0.99, "yes": 0.01}, "yes": {"no": 0.3, "yes": 0.7}},
    },
)

question = "P(Burglary=yes | John=yes, Mary=yes)"
found = net.sensitivity(question, threshold=0.5)
print(found)
assert abs(found.answer - 0.284172) < 1e-6  # the textbook's answer

# The prior of a burglary would have to be 0.00252 for it to be as likely as not. Check by asking:
needed = found["P(Burglary=yes)"].needed
assert needed is not None
moved = cr.Network(net.dag, {**net.distributions, "Burglary": {"no": 1 - needed, "yes": needed}})
print(f"\nWith P(Burglary=yes) = {needed:.6f}: {moved.ask(question):.6f}")
assert abs(moved.ask(question) - 0.5) < 1e-9

print()
print(net.evidence_value("Burglary", given={"John": "yes"}))
best = net.evidence_value("Burglary", given={"John": "yes"}).best
assert best.variable == "Alarm"
seen = net.evidence_value("Burglary", given={"John": "yes"}, among=["Mary", "Earthquake"])
assert seen.best.variable == "Mary"  # the alarm itself cannot be seen from here
print(f"\nAsk Mary: {seen.best.bits:.4f} bits, {seen.best.share:.0%} of what is not known.")
