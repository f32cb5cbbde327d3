"""N7. Importance-weighted rows: two equal e-mails are one of weight 2. (Lecture notes 004.)"""

import credo as cr

copies = cr.examples.spam_emails_duplicates()
weighted = cr.examples.spam_emails_weighted()
print(copies)
print("\nis the same as\n")
print(weighted)
print(f"with the weights {weighted.weights.tolist()}\n")

dag = cr.Dag([("Spam", word) for word in ("Free", "Offer", "Lecture", "CS")])
a = cr.fit(dag, copies, prior=cr.K2())
b = cr.fit(dag, weighted, prior=cr.K2())
for name in a.names:
    assert (a.cpt(name).counts == b.cpt(name).counts).all()
assert abs(a.record.score - b.record.score) < 1e-12
print(b.cpt("Free"))

# Three e-mails say little, and the answer says so.
mail = {"Free": 1, "Offer": 1}
print(f"\nIs a mail with {mail} spam?\n")
print(b.p("Spam", given=mail, interval=0.9))
