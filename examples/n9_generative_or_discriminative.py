"""N9. Naive Bayes against its discriminative twin as the training set grows. (Notes 004.)

Ng & Jordan (2002): the generative learner is at its best after few rows, the discriminative one
ends better when features depend on each other.
"""

import numpy as np

from credo.estimators import compare, learning_curves

rng = np.random.default_rng(0)
n = 3000
y = rng.integers(0, 2, n)
answer = {"y": np.where(y, "yes", "no").tolist()}
own = {f"own{j}": (rng.random(n) < 0.35 + 0.3 * y).astype(int) for j in range(12)}
hidden = rng.random(n) < 0.3 + 0.4 * y
copies = {f"copy{j}": (hidden ^ (rng.random(n) < 0.1)).astype(int) for j in range(4)}

print("Twelve features, independent once the class is known: the naive assumption is true")
curves = learning_curves(answer | own, "y", sizes=[10, 30, 100, 300, 1000, 2000], repeats=4)
print(curves, end="\n\n")
naive, logistic = curves.log_loss["naive Bayes"], curves.log_loss["logistic regression"]
assert naive[1] < logistic[1] and naive[2] < logistic[2]  # ahead with 30 and with 100 rows

print("Four more that repeat each other: the assumption is false")
both = answer | own | copies
curves = learning_curves(both, "y", sizes=[10, 30, 100, 300, 1000, 2000], repeats=4)
print(curves, end="\n\n")
naive, logistic = curves.log_loss["naive Bayes"], curves.log_loss["logistic regression"]
assert logistic[-1] < naive[-1]

methods = ["naive Bayes", "TAN", "AODE", "logistic regression"]
print(compare(both, "y", methods=methods), end="\n\n")

# A continuous target: the naive linear Gaussian and linear regression.
x = rng.normal(size=(400, 3))
numbers = {"height": x @ [1.0, 0.5, 0.0] + rng.normal(size=400)}
numbers |= {f"x{j}": x[:, j] for j in range(3)}
print(compare(numbers, "height"))
