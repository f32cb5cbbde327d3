"""G6. Pictures: naive Bayes with its features on a plate, observed nodes shaded.

A plate is a box around what is repeated: D features for each of N examples. The class C of an
example is hidden when we predict, its features are seen (lecture notes 004).
"""

import tempfile
from pathlib import Path
from xml.etree import ElementTree

import credo as cr

folder = Path(tempfile.mkdtemp(prefix="credo-"))


def draw(name, dag, **options):
    """Write a picture and check that any browser can read it."""
    svg = dag.svg(**options)
    ElementTree.fromstring(svg)
    (folder / name).write_text(svg, encoding="utf-8")
    print(f"{name}: {len(dag)} nodes, {len(svg):,} characters")
    return svg


plate = cr.Dag([("C", "x")])
print(plate.dot(observed=["x"], plates=[("N", ["C", "x"]), ("D", ["x"])]), end="\n\n")
svg = draw(
    "naive_bayes_plate.svg",
    plate,
    observed=["x"],
    plates=[("N", ["C", "x"]), ("D", ["x"])],
    title="naive Bayes",
)
assert svg.count('class="plate"') == 2 and svg.count('class="observed"') == 1

# The same model without the plate, for flu with two symptoms, and for thirty features.
flu = cr.Dag([("Flu", "Fever"), ("Flu", "Cough")])
assert draw("flu.svg", flu, observed=flu.leaves).count('class="observed"') == 2
wide = cr.Dag([("Class", f"feature {i}") for i in range(1, 31)])
assert draw("thirty_features.svg", wide, observed=wide.leaves).count('class="observed"') == 30

# Plates inside plates: topics of documents (Blei, Ng & Jordan 2003).
topics = cr.Dag([("α", "θ"), ("θ", "z"), ("z", "w"), ("β", "w"), ("η", "β")])
plates = [("D", ["θ", "z", "w"]), ("N", ["z", "w"]), ("K", ["β"])]
assert draw("topics.svg", topics, observed=["w"], plates=plates).count('class="plate"') == 3
print(f"\nThe pictures are in {folder}.")
