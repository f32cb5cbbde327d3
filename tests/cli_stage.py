"""A folder with the files that the examples in the help speak of."""

import gzip
import shutil

import numpy as np

import credo as cr

ASIA = """network asia { }
variable age { type discrete [ 2 ] { old, young }; }
variable smoke { type discrete [ 2 ] { yes, no }; }
variable lung { type discrete [ 2 ] { yes, no }; }
variable bronc { type discrete [ 2 ] { yes, no }; }
variable xray { type discrete [ 2 ] { yes, no }; }
variable dysp { type discrete [ 2 ] { yes, no }; }
probability ( age ) { table 0.4, 0.6; }
probability ( smoke | age ) { (old) 0.6, 0.4; (young) 0.4, 0.6; }
probability ( lung | smoke ) { (yes) 0.2, 0.8; (no) 0.05, 0.95; }
probability ( bronc | smoke ) { (yes) 0.6, 0.4; (no) 0.3, 0.7; }
probability ( xray | lung ) { (yes) 0.95, 0.05; (no) 0.1, 0.9; }
probability ( dysp | lung, bronc ) { (yes, yes) 0.9, 0.1; (yes, no) 0.7, 0.3;
  (no, yes) 0.8, 0.2; (no, no) 0.1, 0.9; }
"""


def build(folder):
    """Write every file of the examples."""
    (folder / "asia.bif").write_text(ASIA)
    net = cr.load(folder / "asia.bif")
    for name, rows, seed in (("patients", 400, 1), ("more", 30, 2)):
        net.sample(rows, seed, path=folder / f"{name}.csv")
    lines = (folder / "patients.csv").read_text().splitlines()
    numbered = ["name," + lines[0], *(f"p{i:04},{line}" for i, line in enumerate(lines[1:]))]
    (folder / "patients.csv").write_text("\n".join(numbered) + "\n")
    ages = np.random.default_rng(0).normal(50, 12, len(numbered) - 1).round(1)
    rows = [line.split(",") for line in numbered]
    at = rows[0].index("age")
    for row, age in zip(rows[1:], ages, strict=True):
        row[at] = str(age)
    (folder / "survey.csv").write_text("\n".join(map(",".join, rows)) + "\n")
    net.sample(200, 3, path=folder / "part-1.parquet")
    net.sample(200, 4, path=folder / "part-2.parquet")
    for name in ("patients.csv", "asia.bif"):
        with gzip.open(folder / f"{name}.gz", "wb") as out:
            out.write((folder / name).read_bytes())
    drop = np.random.default_rng(1).random((len(lines) - 1, 6)) < 0.1
    gaps = [lines[0]]
    for line, out in zip(lines[1:], drop, strict=True):
        gaps.append(",".join("" if d else c for c, d in zip(line.split(","), out, strict=True)))
    (folder / "gaps.csv").write_text("\n".join(gaps) + "\n")
    chance = np.random.default_rng(3)
    stimulus, plate = chance.choice(["", "PKA"], 200), chance.choice(["p1", "p2"], 200)
    pka = np.where(stimulus == "PKA", chance.random(200) < 0.5, chance.random(200) < 0.2)
    akt = chance.random(200) < 0.1 + 0.7 * pka
    cells = zip(*(np.where(v, "on", "off") for v in (pka, akt)), stimulus, plate, strict=True)
    rows = ["PKA,Akt,stimulus,plate", *map(",".join, cells)]
    (folder / "cells.csv").write_text("\n".join(rows) + "\n")
    for name in ("pneumonia", "candy_wrappers"):
        shutil.copyfile(cr.examples.path(name), folder / f"{name}.csv")
    chance = np.random.default_rng(2)
    coronary = {n: chance.choice(["low", "high"], 40) for n in ("Smoking", "Proteins", "Pressure")}
    text = [",".join(coronary), *(",".join(row) for row in zip(*coronary.values(), strict=True))]
    (folder / "coronary.csv").write_text("\n".join(text) + "\n")
    words = {"work": "the report of the meeting on {} is due", "spam": "win a free prize on {} now"}
    days = ("monday", "tuesday", "friday", "sunday", "holiday", "payday")
    mail = [f"{f},{text.format(d)}" for d in days for f, text in words.items()]
    (folder / "mail.csv").write_text("\n".join(["folder,body", *mail]) + "\n")
    cr.DecisionNetwork(
        "[Oil][Test|Oil][Drill?|Test][Profit$|Drill:Oil]",
        {"Oil": {"dry": 0.5, "wet": 0.3, "soaking": 0.2},
         "Test": {"dry": {"none": 0.6, "open": 0.3, "closed": 0.1},
                  "wet": {"none": 0.3, "open": 0.4, "closed": 0.3},
                  "soaking": {"none": 0.1, "open": 0.4, "closed": 0.5}}},
        utilities={"Profit": {"yes": {"dry": -70, "wet": 50, "soaking": 200},
                              "no": {"dry": 0, "wet": 0, "soaking": 0}}},
    ).save(folder / "oil.xdsl")  # fmt: skip
    worth = ["treat,lung,cost", "no,no,0", "no,yes,-1000", "yes,no,-50", "yes,yes,-300"]
    (folder / "costs.csv").write_text("\n".join(worth) + "\n")
    cr.learn(folder / "patients.csv").save(folder / "patients.credo")
    cr.average(folder / "patients.csv").save(folder / "graphs.credo")
    return folder
