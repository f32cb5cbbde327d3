"""L4: Metropolis with simulated annealing, and the same chain at temperature 1 as a sampler.

Hot, nearly every change is accepted; cold, only those that help. At temperature 1 graphs are drawn
with probability proportional to exp(score): the share of draws with an edge is its posterior
probability.
"""

import credo as cr

table = cr.examples.pneumonia()

net = cr.learn(table, "k2", "anneal", steps=20_000, hot=5.0, cold=0.05, rng=0)
acceptance = net.record.details["acceptance"]
print(f"best graph {net.dag}, score {net.record.score:.4f}")
print(f"accepted at the start {acceptance[0]:.0%}, at the end {acceptance[-1]:.0%}")

draws = cr.learn(table, "k2", "anneal", temperature=1.0, steps=200_000, thin=10, rng=0)
print("\nposterior probability of edges, from 20,000 draws:")
shares = draws.record.details["edge_probabilities"]
for (a, b), p in sorted(shares.items(), key=lambda item: -item[1])[:6]:
    print(f"  {a} → {b}  {p:.3f}")
