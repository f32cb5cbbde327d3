"""G6. A mixed network: species and sexes of penguins, and four measurements of them.

Ten birds of each species, after those of the Palmer Archipelago (Gorman, Williams and Fraser 2014),
three cells of them left empty. Discrete and continuous variables in one network: a bill says
something of the species, a species of a mass, and what was not measured is integrated out.
"""

import numpy as np

import credo as cr

COLUMNS = ("species", "sex", "bill", "depth", "flipper", "mass")
BIRDS = [
    ("Adelie", "m", 39.1, 18.7, 181.0, 3750.0), ("Adelie", "f", 39.5, 17.4, 186.0, 3800.0),
    ("Adelie", "f", 40.3, 18.0, 195.0, 3250.0), ("Adelie", "f", 36.7, 19.3, 193.0, 3450.0),
    ("Adelie", "m", 39.3, 20.6, 190.0, 3650.0), ("Adelie", "f", 38.9, 17.8, 181.0, 3625.0),
    ("Adelie", "m", 39.2, 19.6, 195.0, 4675.0), ("Adelie", None, 34.1, 18.1, 193.0, 3475.0),
    ("Adelie", "f", 41.1, 17.6, 182.0, 3200.0), ("Adelie", "m", 38.6, 21.2, 191.0, 3800.0),
    ("Chinstrap", "f", 46.5, 17.9, 192.0, 3500.0), ("Chinstrap", "m", 50.0, 19.5, 196.0, 3900.0),
    ("Chinstrap", "m", 51.3, 19.2, 193.0, 3650.0), ("Chinstrap", "f", 45.4, 18.7, 188.0, 3525.0),
    ("Chinstrap", "m", 52.7, 19.8, 197.0, 3725.0), ("Chinstrap", "f", 45.2, 17.8, 198.0, 3950.0),
    ("Chinstrap", "f", 46.1, 18.2, 178.0, 3250.0), ("Chinstrap", "m", 51.3, 18.2, 197.0, 3750.0),
    ("Chinstrap", "f", 46.0, 18.9, 195.0, None), ("Chinstrap", "m", 51.3, 19.9, 198.0, 3700.0),
    ("Gentoo", "f", 46.1, 13.2, 211.0, 4500.0), ("Gentoo", "m", 50.0, 16.3, 230.0, 5700.0),
    ("Gentoo", "f", 48.7, 14.1, 210.0, 4450.0), ("Gentoo", "m", 50.0, 15.2, 218.0, 5700.0),
    ("Gentoo", "m", 47.6, 14.5, 215.0, 5400.0), ("Gentoo", "f", 46.5, 13.5, 210.0, 4550.0),
    ("Gentoo", "f", 45.4, 14.6, 211.0, 4800.0), ("Gentoo", "m", 46.7, 15.3, 219.0, 5200.0),
    ("Gentoo", "f", 43.3, 13.4, None, 4400.0), ("Gentoo", "m", 46.8, 15.4, 215.0, 5150.0),
]  # fmt: skip
GRAPH = "[species][sex][bill|species:sex][depth|species][flipper|species][mass|flipper:sex]"


def main() -> None:
    """Fit, then ask in every direction."""
    birds = cr.read(
        {c: list(column) for c, column in zip(COLUMNS, zip(*BIRDS, strict=True), strict=True)}
    )
    net = cr.fit(GRAPH, birds, prior=cr.BDeu(1))
    print(net.cpt("mass"), "\n")

    print("The mass of a bird of which nothing is known\n")
    mass = net.p("mass")
    print(mass, "\n")
    assert len(mass) == 6  # three species, two sexes
    assert abs(mass.cdf(mass.quantile(0.25)) - 0.25) < 1e-9

    print("A bird of 5,300 g: species and sex, flipper and bill not measured\n")
    print(net.p(["species", "sex"], given={"mass": 5300.0}), "\n")
    assert net.p("species", given={"mass": 5300.0})["Gentoo"] > 0.8

    print("Its flipper, by species\n")
    print(net.p(["species", "flipper"], given={"mass": 5300.0}), "\n")

    question = "P(species=Gentoo | mass=4600)"
    answer = net.ask(question, interval=0.95)
    print(f"{question}, from thirty birds\n{answer}\n")
    assert answer.low < answer < answer.high

    print("Bill and mass of a female together, with intervals of means, sds and correlation\n")
    print(net.ask("P(bill, mass | sex=f)", interval=0.95), "\n")

    # Rows with gaps in any column, and Bayes' rule in both directions.
    again = net.predict_proba(birds, "species")
    right = np.argmax(again, axis=1) == birds.codes("species")
    print(f"species told from the rest of the row: {right.mean():.0%}")
    assert right.mean() >= 0.9
    given = {"mass": 4600.0}
    bayes = net.p("mass", given={"species": "Gentoo"}).pdf(4600.0) * net.p("species")["Gentoo"]
    assert np.isclose(bayes, float(answer) * np.exp(net.log_evidence(given)))


main()
