"""N2. Which course will be liked? Smoothing, and class priors that are known. (Notes 004.)"""

import numpy as np

import credo as cr

ratings = cr.examples.class_preference()
names = [n for n in ratings.schema.names if n != "Rating"]
like = np.where(np.array([int(r) for r in ratings.values("Rating")]) >= 0, "Like", "Not like")
table = {n: ratings.values(n).tolist() for n in names} | {"Opinion": like.tolist()}

course = {"Easy?": "y", "AI?": "y", "Sys?": "n", "Thy?": "n", "Morning?": "n"}
print("l      P(Like)   P(Sys?=n | Not like)")
for l in (0, 0.5, 1, 10):  # noqa: E741
    model = cr.naive_bayes(table, "Opinion", smoothing=l)
    sys = model.feature("Sys?")
    theta = np.exp(sys.log_theta[1, sys.variable.code("n")])
    print(f"{l:<5} {model.p(course)['Like']:.5f}   {theta:.5f}")
    assert abs(theta - (0 + l) / (8 + 2 * l if l else 8)) < 1e-15  # θ = (n + l) / (N + l·J)

known = cr.naive_bayes(table, "Opinion", class_prior={"Like": 0.1, "Not like": 0.9})
print("\nWith P(Like) = 0.1 known beforehand\n")
print(known.p(course), end="\n\n")
print(known.explain(course, of="Like", against="Not like"))
