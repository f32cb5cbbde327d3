"""X1. A grid that no exact method can answer: samples, with their errors, and what they say."""

import numpy as np

import credo as cr
from credo.errors import LimitError


def grid(n: int, seed: int = 0) -> cr.Network:
    """Each variable depends on the one above and the one to the left."""
    rng = np.random.default_rng(seed)
    edges, tables = [], {}
    for i in range(n):
        for j in range(n):
            parents = [f"x{a}_{b}" for a, b in ((i - 1, j), (i, j - 1)) if a >= 0 and b >= 0]
            edges += [(p, f"x{i}_{j}") for p in parents]
            tables[f"x{i}_{j}"] = rng.dirichlet([1, 1], size=(2,) * len(parents))
    return cr.Network(edges, tables, states={name: [0, 1] for name in tables})


# On a small grid every method can be held to the exact answer.
small = grid(8)
given = {"x7_7": 1, "x3_4": 0}
exact = small.p("x2_2", given)
print(f"8 × 8, exact: P(x2_2 = 1) = {exact[1]:.4f}")
for method in ("importance", "weighting", "gibbs", "loopy"):
    found = small.p("x2_2", given, method=method)
    print(f"  {found[1]:.4f}  {found.approximation.line}")
    if found.approximation.interval is not None:
        assert abs(found[1] - exact[1]) < 5 * found.approximation.standard_error[1]

# On a large one there is no exact answer to be had; this is said, and an error is asked for.
large = grid(30)
given = {"x29_29": 1, "x12_20": 0, "x20_5": 1}
try:
    large.p("x15_15", given, method="exact")
except LimitError as refused:
    print(f"\n30 × 30, exact: {refused.message}")
found = large.p("x15_15", given, error=0.005)
print(found)
print(found.approximation)
assert found.approximation.half_width <= 0.005

# Other seeds draw other samples; the intervals hold what the others find.
others = [large.p("x15_15", given, error=0.005, rng=seed)[1] for seed in range(1, 6)]
low, high = found.approximation.interval
print("\nfive other seeds:", "  ".join(f"{p:.4f}" for p in others))
assert all(low[1] - 0.005 < p < high[1] + 0.005 for p in others)

# Rare evidence costs nothing: the samples are led by messages that know of it.
row = {f"x29_{j}": int(j % 2) for j in range(30)}
log_p = large.log_evidence(row, budget="50000 samples")
print(f"\nln P(the last row alternates) = {log_p}")
assert log_p < np.log(1e-6) and log_p.approximation.effective > 1000
