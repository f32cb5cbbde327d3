"""G3. Risk factors of coronary disease: a Markov network learned from a real table.

1841 car-factory workers (Reinis et al. 1981; Edwards & Havránek, *Biometrika* 72, 1985): smoking,
strenuous mental and physical work, blood pressure, ratio of lipoproteins, and disease in the
family. The graph is given, its potentials are learned, and what it claims is checked.
"""

from math import isclose, log

import numpy as np
from scipy.stats import chi2

import credo as cr

STATES = {
    "Smoking": ("no", "yes"),
    "Mental": ("no", "yes"),
    "Physical": ("no", "yes"),
    "Pressure": ("<140", ">140"),
    "Proteins": ("<3", ">3"),
    "Family": ("neg", "pos"),
}
COUNTS = [
    44, 5, 23, 7, 35, 4, 24, 4, 129, 9, 50, 9, 109, 14, 51, 5,
    112, 21, 70, 14, 80, 11, 73, 13, 12, 1, 7, 2, 7, 5, 7, 4,
    40, 7, 32, 3, 12, 3, 25, 0, 145, 17, 80, 16, 67, 17, 63, 14,
    67, 9, 66, 14, 33, 8, 57, 11, 23, 4, 13, 3, 9, 2, 16, 4,
]  # fmt: skip
cells = list(np.ndindex(*[2] * 6))
columns = {n: [s[c[i]] for c in cells] for i, (n, s) in enumerate(STATES.items())}
table = cr.read({**columns, "n": COUNTS}, weights="n")

edges = [
    ("Mental", "Physical"), ("Mental", "Family"),
    ("Smoking", "Physical"), ("Smoking", "Proteins"), ("Physical", "Proteins"),
    ("Smoking", "Pressure"), ("Pressure", "Proteins"),
]  # fmt: skip
net = cr.fit(cr.UndirectedGraph(edges), table)
print(net, end="\n\n")
print(net.record, end="\n\n")

# Maximum likelihood matches the frequencies of every clique.
clique = ["Smoking", "Proteins", "Pressure"]
seen = np.asarray(cr.tally(table, [("Pressure", ["Smoking", "Proteins"])])["Pressure", clique[:2]])
assert np.allclose(net.p(clique).p, seen / 1841, atol=1e-4)

print("Proteins of smokers with high pressure, and of others with low:")
for given in ({"Smoking": "yes", "Pressure": ">140"}, {"Smoking": "no", "Pressure": "<140"}):
    print(net.p("Proteins", given=given))

# What the graph claims, with the reason, and what the table says of it.
print()
print(net.why("Pressure", "Mental", given=["Smoking", "Proteins"]))
assert net.separated("Pressure", "Mental", given=["Smoking", "Proteins"])


def deviance(model: cr.MarkovNetwork) -> float:
    """Twice the log-likelihood that the model lacks against the table itself."""
    whole = sum(n * log(n / 1841) for n in COUNTS if n)
    return 2 * (whole - model.record.score)


def free(model: cr.MarkovNetwork) -> int:
    """How many numbers a chordal network can choose: those of the equivalent directed one."""
    return model.to_network().free_parameters


assert net.graph.is_chordal
apart = 63 - free(net)
print(f"\ndeviance {deviance(net):.1f} with {apart} degrees of freedom, ", end="")
print(f"p = {chi2.sf(deviance(net), apart):.3f}: the table does not speak against the graph")
assert apart == 48 and isclose(deviance(net), 57.3, abs_tol=0.05)

# Each edge is asked for: how much worse is the network without it?
print("\nwithout the edge      deviance more")
for edge in edges:
    left = cr.UndirectedGraph([e for e in edges if e != edge], nodes=STATES)
    less = cr.fit(left, table)
    more = deviance(less) - deviance(net)
    print(f"{' — '.join(edge):20}  {more:7.1f}")
    assert more > 3.84  # each is worth its place at the 5 % level

# The same distribution as a Bayesian network and as a factor graph.
directed = net.to_network()
print(f"\n{directed.dag}\n  {directed.record.notes[0]}")
graph = net.to_factor_graph()
question = "P(Smoking=yes | Pressure='>140')"
for model in (directed, graph):
    assert isclose(net.ask(question), model.ask(question), rel_tol=1e-9)
print(f"{question} = {net.ask(question):.4f}, whichever way it is written")
