"""N5. Surprise Candy: maximum likelihood is counting. (Notes 003; they print 400/100 for .40.)"""

import numpy as np

import credo as cr

candies = cr.examples.candy_wrappers()  # 1000 candies, as four rows with weights
print(candies, candies.weights, "", sep="\n")
model = cr.naive_bayes(candies, "Flavor", smoothing=0)
theta = model.prior["cherry"]
wrapper = model.feature("Wrapper")
red = wrapper.variable.code("red")
theta1, theta0 = np.exp(wrapper.log_theta[:, red])
print(f"θ = {theta:.2f}, θ₁₁ = {theta1:.2f}, θ₀₁ = {theta0:.2f}", end="\n\n")
assert np.allclose([theta, theta1, theta0], [400 / 1000, 300 / 400, 120 / 600])

print(model.p({"Wrapper": "red"}), end="\n\n")
print("As a linear separator: the log odds of lime against cherry")
print(model.linear_form())
