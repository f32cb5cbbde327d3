"""L5: Occam's razor made visible: likelihood against marginal likelihood over nested structures.

A child has two parents that matter and four that do not. With every parent the maximum likelihood
grows; BIC and the marginal likelihood (BDeu) rise with the two that matter and fall with the rest.
"""

import numpy as np

import credo as cr

rng = np.random.default_rng(1)
N = 1000
parents = {f"p{i}": rng.integers(0, 2, N) for i in range(1, 7)}
chance = 0.1 + 0.5 * parents["p1"] + 0.3 * parents["p2"]
table = cr.read({**parents, "child": (rng.random(N) < chance).astype(int)})

curves = {name: [] for name in ("loglik", "bic", "bdeu")}
for k in range(7):
    dag = cr.Dag([(f"p{i}", "child") for i in range(1, k + 1)], table.schema.names)
    for name, curve in curves.items():
        curve.append(float(cr.score(dag, table, name)))

print("parents  " + "  ".join(f"{name:>10}" for name in curves))
for k in range(7):
    print(f"{k:7}  " + "  ".join(f"{curve[k]:10.2f}" for curve in curves.values()))
for name, curve in curves.items():
    print(f"{name} is highest with {int(np.argmax(curve))} parents")
assert int(np.argmax(curves["loglik"])) == 6
assert int(np.argmax(curves["bic"])) == int(np.argmax(curves["bdeu"])) == 2

try:
    import matplotlib.pyplot as plt
except ImportError:
    print("pip install 'credo[plot]' draws the picture")
else:
    figure, axes = plt.subplots(figsize=(6, 4))
    for name, curve in curves.items():
        axes.plot(range(7), curve, marker="o", label=name)
    axes.axvline(2, color="grey", linestyle=":", label="the truth")
    axes.set_xlabel("parents of the child")
    axes.set_ylabel("ln score")
    axes.legend()
    figure.savefig("occams_razor.png", dpi=120)
    print("picture in occams_razor.png")
