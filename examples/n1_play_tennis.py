"""N1. PlayTennis: naive Bayes by counting, and why it answers No.

Fourteen days; is today (sunny, cool, humid, windy) a day for tennis? The notes (000) give
P(yes)·… = .005 and P(no)·… = .021, so No with probability .795. Exactly: 0.795417.
"""

import credo as cr

days = cr.examples.play_tennis()
today = {"Outlook": "Sunny", "Temperature": "Cool", "Humidity": "High", "Wind": "Strong"}

model = cr.naive_bayes(days, "PlayTennis", smoothing=0)  # maximum likelihood, as in the notes
print(model.p(today), end="\n\n")
print(model.explain(today), end="\n\n")
assert round(model.p(today)["No"], 6) == 0.795417

# Overcast days were never without tennis: with maximum likelihood No is impossible then.
assert model.p({"Outlook": "Overcast"})["No"] == 0
# One imagined day in each cell (Laplace, the default) is less sure of itself.
laplace = cr.naive_bayes(days, "PlayTennis")
print(laplace.p({"Outlook": "Overcast"}), end="\n\n")
low, high = laplace.interval(today)["No"]
print(f"P(No) = {laplace.p(today)['No']:.3f}; fourteen days leave {low:.2f} to {high:.2f} open.")
assert low < laplace.p(today)["No"] < high
