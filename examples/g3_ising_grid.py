"""G3. The Ising grid: spins that like to agree, an undirected model whose phases can be seen.

P(s) ∝ exp(J Σ s_i s_j). Below the critical coupling J = ln(1 + √2) / 2 a border of +1 spins is
forgotten a few steps inside; above it, it is felt in the middle. (Onsager, *Phys. Rev.* 65, 1944.)
"""

from itertools import product
from math import isclose

import numpy as np

import credo as cr
from credo.model.undirected.markov_network import CRITICAL

# ln Z of a small grid, against all 2^16 configurations.
small = cr.ising_grid(4, coupling=0.3, field=0.1)
spins = np.array(list(product([-1, 1], repeat=16))).reshape(-1, 4, 4)
pairs = (spins[:, 1:] * spins[:, :-1]).sum((1, 2)) + (spins[:, :, 1:] * spins[:, :, :-1]).sum(
    (1, 2)
)
energy = 0.3 * pairs + 0.1 * spins.sum((1, 2))
brute = np.log(np.exp(energy).sum())
print(f"ln Z of a 4 × 4 grid: {small.log_partition:.9f}, all configurations: {brute:.9f}")
assert isclose(small.log_partition, brute, rel_tol=1e-12)

# ... of a ring of 30 columns, against the power of its transfer matrix.
strip = cr.ising_grid(2, 30, coupling=0.4, periodic=True)
states = [np.array(s) for s in product([-1, 1], repeat=2)]
matrix = np.array([[np.exp(0.4 * (s[0] * s[1] + (s * t).sum())) for t in states] for s in states])
exact = np.log((np.linalg.eigvals(matrix).real ** 30).sum())
print(f"ln Z of a 2 × 30 ring: {strip.log_partition:.9f}, transfer matrix: {exact:.9f}")
assert isclose(strip.log_partition, exact, rel_tol=1e-12)

# The border is +1: how sure is the middle? The change comes at the critical coupling.
size = 13
names = cr.ising_grid(size).names
edge = {"1", str(size)}
border = {n: 1 for n in names if edge & set(n.removeprefix("r").split("c"))}
middle = f"r{size // 2 + 1}c{size // 2 + 1}"
print(f"\ncritical coupling {CRITICAL:.4f}; {size} × {size} spins, those of the border are +1")
sure = []
for coupling in (0.1, 0.2, 0.3, 0.4, CRITICAL, 0.5, 0.6, 0.8):
    grid = cr.ising_grid(size, coupling=coupling)
    sure.append(grid.p(middle, given=border)[1])
    print(f"J = {coupling:.2f}  P(middle = +1) = {sure[-1]:.4f}  " + "█" * round(40 * sure[-1]))
assert sure == sorted(sure) and sure[0] < 0.51 and sure[-1] > 0.95

# Exact samples of the whole grid, not a chain of them: what the three phases look like.
for coupling in (0.2, CRITICAL, 0.7):
    grid = cr.ising_grid(size, coupling=coupling)
    row = {n: column[0] for n, column in grid.sample(1, rng=6, to="dict").items()}
    print(f"\none draw at J = {coupling:.2f}")
    for i in range(size):
        print("  " + "".join("██" if row[f"r{i + 1}c{j + 1}"] > 0 else "· " for j in range(size)))

# The coupling is learned back from rows: exactly, and by pseudo-likelihood.
truth = cr.ising_grid(8, coupling=0.35)
rows = truth.sample(2_000, rng=0)
for method in ("likelihood", "pseudo-likelihood"):
    learned = cr.fit(cr.ising_grid(8, coupling=0), rows, method=method)
    print(f"\n{learned.record}\n  weights {learned.weights}")
    assert isclose(learned.weights["coupling"], 0.35, abs_tol=0.01)
