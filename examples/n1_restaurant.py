"""N1. Restaurant: shall we wait? And a slip on the slide.

The slide (000) writes P(Rain | Wait) = #(Wait ∧ Rain) / #(Rain). That is P(Wait | Rain): what is
given must be counted below the line. P(Rain | Wait) = #(Wait ∧ Rain) / #(Wait).
"""

import numpy as np

import credo as cr

visits = cr.examples.restaurant()
counts = cr.tally(visits, [("Rain", ["Wait"])])["Rain", ["Wait"]]
print(counts, end="\n\n")
both, wait, rain = counts["T", "T"], counts[{"Wait": "T"}].total, counts.marginal("Rain")["T"]
print(f"on the slide #(Wait ∧ Rain) / #(Rain) = {both}/{rain};  right: {both}/{wait}", end="\n\n")

model = cr.naive_bayes(visits, "Wait", smoothing=0)
states = model.feature("Rain").variable.states
theta = dict(zip(states, np.exp(model.feature("Rain").log_theta[1]), strict=True))
assert abs(theta["T"] - both / wait) < 1e-15

tonight = {"Type": "Thai", "Pat": "Full", "Rain": "F"}
print(model.p(tonight))
assert abs(model.p(tonight)["T"] - 1 / 3) < 1e-12
