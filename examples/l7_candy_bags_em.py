"""L7. A hidden variable: two bags of candy were mixed. EM and the gradient, as in the textbook.

Russell & Norvig, section 20.3.2: 1,000 candies, of which flavour, wrapper and hole are known.
"""

from math import isclose

import credo as cr

candy = cr.read(
    {
        "Flavor": ["cherry"] * 4 + ["lime"] * 4,
        "Wrapper": ["red", "red", "green", "green"] * 2,
        "Hole": ["yes", "no"] * 4,
        "n": [273, 93, 104, 90, 79, 100, 94, 167],
    },
    weights="n",
)
graph = "[Bag][Flavor|Bag][Wrapper|Bag][Hole|Bag]"
start = cr.Network(
    graph,
    {
        "Bag": {1: 0.6, 2: 0.4},
        "Flavor": {1: {"cherry": 0.6, "lime": 0.4}, 2: {"cherry": 0.4, "lime": 0.6}},
        "Wrapper": {1: {"red": 0.6, "green": 0.4}, 2: {"red": 0.4, "green": 0.6}},
        "Hole": {1: {"yes": 0.6, "no": 0.4}, 2: {"yes": 0.4, "no": 0.6}},
    },
)

one = cr.em(graph, candy, start=start, max_iter=1)
print("After one iteration:")
printed = {"Flavor": (0.6684, 0.3887), "Wrapper": (0.6483, 0.3817), "Hole": (0.6558, 0.3827)}
states = {"Flavor": "cherry", "Wrapper": "red", "Hole": "yes"}
print(f"  theta = {one.p('Bag')[1]:.4f}")
assert isclose(one.p("Bag")[1], 0.6124, abs_tol=5e-5)
for name, figures in printed.items():
    found = [one.cpt(name).row(Bag=bag)[states[name]] for bag in (1, 2)]
    print(f"  {name:8} {found[0]:.4f} {found[1]:.4f}")
    assert all(isclose(a, b, abs_tol=5e-5) for a, b in zip(found, figures, strict=True))

whole = cr.em(graph, candy, start=start)
trace = whole.record.trace
print(f"\nln P: {trace[0]:.2f} at the start, {trace[1]:.2f} after 1, {trace[10]:.2f} after 10")
assert isclose(trace[0], -2044.26, abs_tol=0.005) and isclose(trace[1], -2021.03, abs_tol=0.005)
assert isclose(trace[10], -1982.02, abs_tol=0.005)
print(f"{whole.record.score:.4f} at the top; {whole.record.reason}")

gradient = cr.em(graph, candy, start=start, method="gradient")
print(f"{gradient.record.score:.4f} by the gradient of an adaptive probabilistic network")
assert isclose(gradient.record.score, whole.record.score, abs_tol=1e-6)

blind = cr.em(graph, candy, hidden={"Bag": 2}, rng=0)
print(f"{blind.record.score:.4f} from the best of ten random starts\n")
print(blind.cpt("Flavor"), end="\n\n")
print("\n".join(blind.record.notes))
