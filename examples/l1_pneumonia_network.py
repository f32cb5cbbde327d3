"""L1. Known structure, complete data: the tables of the pneumonia network, by ML and by Bayes.

Twelve patients; pneumonia causes the four findings. The likelihood falls apart into families, so
each table is learned by itself, from its own counts. (Lecture notes 000 and 002.)
"""

import credo as cr

patients = cr.examples.pneumonia()
dag = cr.Dag([("Pneu", finding) for finding in ("Pal", "Fev", "Cou", "HWB")])

# Maximum likelihood: P(Fever = T | Pneumonia = T) is 3 of 5.
ml = cr.fit(dag, patients)
print("Maximum likelihood\n")
print(ml.cpt("Fev"))
assert ml.cpt("Fev").row(Pneu="T")["T"] == 0.6

# Bayes: Beta(3, 4) before the rows is Beta(6, 6) after them.
net = cr.fit(dag, patients, prior={"Fev": cr.Beta(3, 4)}, default=cr.BDeu(1))
before, after = net.cpt("Fev").prior[1], net.cpt("Fev").counts[1]
print(f"\nFever given pneumonia: Beta(3, 4) becomes Beta({after[1]:g}, {after[0]:g})\n")
print(net.cpt("Fev").row(Pneu="T", interval=0.95))
assert before.tolist() == [4, 3] and after.tolist() == [6, 6]
assert net.cpt("Fev").row(Pneu="T")["T"] == 0.5

# Family by family: the log-likelihood is their sum, and so is the log evidence.
print("\nThe families\n")
print(net.record.families)
parts = [family["log_likelihood"] for family in net.record.families]
assert abs(sum(parts) - net.log_likelihood(patients)) < 1e-9

# A posterior is the next prior: patient after patient gives what all at once give.
belief = cr.fit(dag, patients.take([0]), prior={"Fev": cr.Beta(3, 4)}, default=cr.BDeu(1))
for i in range(1, len(patients)):
    belief = belief.update(patients.take([i]))
assert belief == net

# Twelve patients leave much open.
answer = net.ask("P(Pneu=T | Fev=T, Cou=T)", interval=0.95)
print(f"\nP(Pneu=T | Fev=T, Cou=T)\n{answer}")
assert answer.low < float(answer) < answer.high and answer.high - answer.low > 0.3
