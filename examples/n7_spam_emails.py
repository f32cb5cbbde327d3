"""N5, N7. Three e-mails, a linear separator, and rows with weights. (Notes 004.)"""

import numpy as np

import credo as cr
from credo.estimators import NaiveBayes

mails = cr.examples.spam_emails()
print(mails, end="\n\n")
model = cr.naive_bayes(mails, "Spam", smoothing=0)
print("θ for spam, by maximum likelihood:")
for f in model.features:
    print(f"  {f.names[0]:8} {np.exp(f.log_theta[1, 1]):.2f}")
assert model.prior[1] == 2 / 3 or abs(model.prior[1] - 2 / 3) < 1e-15

# A duplicate e-mail is a weight of 2.
copies = cr.naive_bayes(cr.examples.spam_emails_duplicates(), "Spam")
weighted = cr.naive_bayes(cr.examples.spam_emails_weighted(), "Spam")
assert all(
    np.array_equal(a.log_theta, b.log_theta)
    for a, b in zip(copies.features, weighted.features, strict=True)
)
print("\nduplicates and weights give the same model\n")

# The same through scikit-learn's protocol, with a weight that is no whole number.
X, y = [[0, 0, 1, 1], [1, 1, 0, 0]], [0, 1]
clf = NaiveBayes(kinds="bernoulli").fit(X, y, sample_weight=[2.5, 1.0])
print(clf.linear_form())
test = [[0, 0, 1, 1]]
form = clf.linear_form()
odds = form.decide(dict(zip(clf.kinds_, test[0], strict=True)))[0]
p = clf.predict_proba(test)[0]
assert np.isclose(odds, np.log(p[1] / p[0])) and odds < 0
