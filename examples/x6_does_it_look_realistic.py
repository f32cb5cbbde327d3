"""X6, B5. Does the data that a network generates look realistic?

The fourth step of the recipe of lecture notes 004, for a network: generate data; does it look like
the data that was seen? A model of a clinic that leaves out one cause is found out, named, mended,
and checked again. With `--plot` the predictive histogram is drawn to realistic.png.
"""

import sys

import numpy as np

import credo as cr

rng = np.random.default_rng(1)
n = 1500


def coin(p):
    """Yes with probability p, for each patient."""
    return np.where(rng.random(n) < p, "yes", "no")


season = np.where(rng.random(n) < 0.4, "winter", "summer")
flu = coin(np.where(season == "winter", 0.3, 0.05))
smoke = coin(np.full(n, 0.35))
cough = coin(0.05 + 0.6 * (flu == "yes") + 0.25 * (smoke == "yes"))
fever = np.where(flu == "yes", 38.6, 36.9) + rng.normal(0, 0.4, n)
clinic = cr.read(
    {"season": season, "flu": flu, "smoke": smoke, "cough": cough, "fever": fever.tolist()}
)

print("1. A model whose author forgot that smokers cough\n")
first = cr.fit("[season][flu|season][smoke][cough|flu][fever|flu]", clinic, prior=cr.BDeu(1))
report = cr.check(first, clinic)
for finding in report.findings[:3]:
    print(" ", finding)
assert not report.is_sound
bad = {frozenset(c.variables) for c in report.predictive.unrealistic}
assert bad == {frozenset(("smoke", "cough"))}
assert any(f.advice == "Consider the edge smoke → cough." for f in report.findings)

print("\n2. The edge drawn in: does generated data look realistic now?\n")
second = cr.fit("[season][flu|season][smoke][cough|flu:smoke][fever|flu]", clinic, prior=cr.BDeu(1))
again = cr.check(second, clinic)
for finding in again.findings:
    print(" ", finding)
assert again.is_sound and not again.predictive.unrealistic

print("\n3. Both on rows that their parameters have not seen\n")
both = cr.compare({"forgetful": first, "mended": second}, clinic)
print(both)
assert both.best.name == "mended"
assert both.scores[1].lead > 3 * both.scores[1].lead_error

print("\n4. Strange rows are told: a child's thermometer in Fahrenheit\n")
wrong = {name: list(clinic[name]) for name in clinic.columns}
wrong["fever"][41] = 101.5
found = cr.check(second, wrong, sections=["outliers"], held_out=True).outliers
print(found)
assert found.rows[0].row == 42 and found.above == 1

if "--plot" in sys.argv:
    ax = cr.plot.predictive_histogram(report, "information of smoke on cough")
    ax.figure.savefig("realistic.png")
