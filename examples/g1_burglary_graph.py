"""G1. The burglary alarm as a graph: who depends on whom, and the product that follows.

A burglar or an earthquake may set off the alarm; John and Mary may call when they hear it. The
graph turns a joint table of 2⁵ = 32 numbers into a product of five small ones (Russell & Norvig,
*Artificial Intelligence*, figure 13.2; lecture notes 004).
"""

from itertools import product
from math import isclose, prod

import credo as cr

dag = cr.Dag(
    [
        ("Burglary", "Alarm"),
        ("Earthquake", "Alarm"),
        ("Alarm", "JohnCalls"),
        ("Alarm", "MaryCalls"),
    ],
    nodes=["Burglary", "Earthquake", "Alarm", "JohnCalls", "MaryCalls"],
)
print(dag.ascii(), end="\n\n")
for name in dag.order:
    parents = ", ".join(dag.parents(name)) or "none"
    ancestors = ", ".join(dag.ancestors(name)) or "none"
    print(f"{name}: parents {parents}; ancestors {ancestors}")
assert dag.parents("Alarm") == ("Burglary", "Earthquake")
assert dag.ancestors("MaryCalls") == ("Burglary", "Earthquake", "Alarm")
assert dag.roots == ("Burglary", "Earthquake") and dag.leaves == ("JohnCalls", "MaryCalls")

factorisation = dag.factorisation()
print(f"\nChain rule along the graph:\n{factorisation}")
assert len(factorisation.factors) == 5

# P(node is true | its parents), as printed in the book
table = {
    "Burglary": {(): 0.001},
    "Earthquake": {(): 0.002},
    "Alarm": {(True, True): 0.95, (True, False): 0.94, (False, True): 0.29, (False, False): 0.001},
    "JohnCalls": {(True,): 0.90, (False,): 0.05},
    "MaryCalls": {(True,): 0.70, (False,): 0.01},
}
numbers = sum(len(rows) for rows in table.values())
print(f"\n{numbers} numbers instead of {2 ** len(dag) - 1}.")
assert numbers == 10


def joint(world):
    """P(world): one factor for each node."""
    factors = []
    for name, parents in factorisation.factors:
        p = table[name][tuple(world[q] for q in parents)]
        factors.append(p if world[name] else 1 - p)
    return prod(factors)


worlds = [dict(zip(dag.nodes, w, strict=True)) for w in product([True, False], repeat=len(dag))]
assert isclose(sum(map(joint, worlds)), 1, rel_tol=1e-12)

false_alarm = dict(zip(dag.nodes, [False, False, True, True, True], strict=True))
print(f"P(alarm and both call, but no burglar and no earthquake) = {joint(false_alarm):.6f}")
assert f"{joint(false_alarm):.6f}" == "0.000628"

both = [w for w in worlds if w["JohnCalls"] and w["MaryCalls"]]
posterior = sum(joint(w) for w in both if w["Burglary"]) / sum(map(joint, both))
print(f"P(burglary | both call) = {posterior:.9f}")
assert isclose(posterior, 0.284171835, abs_tol=1e-9)

# An order of the variables that goes against the arrows needs more edges, and more numbers.
backwards = cr.Dag.parse(
    "[MaryCalls][JohnCalls|MaryCalls][Alarm|MaryCalls:JohnCalls]"
    "[Burglary|Alarm][Earthquake|Alarm:Burglary]"
).subgraph(dag.nodes)
print(f"\nThe same variables from effects to causes need {len(backwards.edges)} edges, not 4.")
print(dag.compare(backwards))
assert len(backwards.edges) == 6 and dag.shd(backwards) == 6
