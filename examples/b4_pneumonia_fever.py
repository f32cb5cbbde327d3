"""B4. Fever given pneumonia: one row of a conditional table, by maximum likelihood and by Bayes.

Twelve patients. To learn P(Fever | Pneumonia = T), select the rows with pneumonia, look at the
fever column only, and learn it as a coin is learned. (Lecture notes 002.)
"""

import credo as cr

patients = {
    "Paleness": list("TTFFFTFTTFTF"),
    "Fever": list("TFFFTFFTTTFT"),
    "Cough": list("TFTTTTFFTFFF"),
    "HighWBC": list("TFTFTFFFTTTF"),
    "Pneumonia": list("FFTTTFFFTTFF"),
}
table = cr.read(patients)

# Steps 1 and 2: select and focus. The counts of the family hold every case at once.
counts = cr.tally(table, [("Fever", ["Pneumonia"])])["Fever", ["Pneumonia"]]
print("Fever by pneumonia, counted\n")
print(counts)
ill = counts[{"Pneumonia": "T"}]
assert (ill["T"], ill["F"]) == (3, 2)

# Step 3a: maximum likelihood. p is the probability of the last state, T.
ml = cr.Bernoulli.fit(ill)
print("\nMaximum likelihood\n")
print(ml)
assert ml.p == 0.6
assert ml["T"] == 0.6 and ml["F"] == 0.4

# Step 3b: Bayes. Beta(3, 4) is worth three patients with fever and four without.
prior = cr.Beta(3, 4, states=("F", "T"))
posterior = prior + ill
print("\nBeta(3, 4) before, after five patients\n")
print(posterior)
assert (posterior.a, posterior.b) == (6, 6)
assert posterior == prior.update(["F", "F", "T", "T", "T"])  # the rows give the same
assert posterior.mean().p == 0.5
assert posterior.map().p == 0.5
assert posterior.predictive()["T"] == 0.5

print("\nThe three point estimates of P(Fever = T | Pneumonia = T)")
print(f"  maximum likelihood    {ml.p}")
print(f"  mode of the posterior {cr.Bernoulli.fit(ill, prior, 'map').p}")
print(f"  mean of the posterior {cr.Bernoulli.fit(ill, prior, 'mean').p}")

low, high = posterior.interval(0.95)
print(f"\nFive patients leave much open: with probability 95 % it lies in {low:.3f} to {high:.3f}.")
assert (round(low, 3), round(high, 3)) == (0.234, 0.766)

# One patient after the other gives what all at once give: a posterior is the next prior.
belief = prior
for fever in ["F", "F", "T", "T", "T"]:
    belief = belief.update([fever])
assert belief == posterior
