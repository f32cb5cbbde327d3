"""L6. Three kinds of missing: completely at random, at random, and not at random.

EM is right in the first two. In the third it is biased, as everything is, and nothing in the
table tells: whether gaps depend on the values they hide is for someone who knows the table.
"""

import numpy as np

import credo as cr

rng = np.random.default_rng(0)
n = 40_000
smoker = rng.random(n) < 0.3
cough = rng.random(n) < np.where(smoker, 0.7, 0.2)
truth = cough.mean()
print(f"P(cough) in the whole table: {truth:.3f}\n")

kinds = {
    "completely at random (MCAR)": np.full(n, 0.5),
    "at random, by smoking (MAR)": np.where(smoker, 0.8, 0.1),
    "not at random, by coughing (MNAR)": np.where(cough, 0.8, 0.1),
}
errors = {}
for kind, rate in kinds.items():
    gone = rng.random(n) < rate
    table = cr.read(
        {"smoker": smoker, "cough": np.where(gone, None, cough.astype(object))},
        {"smoker": [False, True], "cough": [False, True]},
    )
    left = float(cough[~gone].mean())
    net = cr.em("[smoker][cough|smoker]", table)
    found = net.p("cough")[True]
    errors[kind] = (left - truth, found - truth)
    suspects = cr.missingness(table).depends
    print(f"{kind}: rows left {left:.3f}, EM {found:.3f}")
    print(f"  gaps go with observed values: {', '.join(b for _, b, _ in suspects) or 'no'}\n")

mcar, mar, mnar = errors.values()
assert abs(mcar[0]) < 0.01 and abs(mcar[1]) < 0.01
assert abs(mar[0]) > 0.05 and abs(mar[1]) < 0.01
assert abs(mnar[1]) > 0.05
