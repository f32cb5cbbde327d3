"""X1. How sure is it? Coronary heart disease in 1,841 men, and in one of eighteen of them.

The risk factors of Reiniš et al. (1981), with a graph often drawn for them. The same question is
asked of a network that saw all rows and of one that saw few: the answers are near each other, the
intervals are not. The table lies beside the repository; without it there is nothing to show.
"""

import os
from pathlib import Path

import numpy as np

import credo as cr

QUESTION = "P(Pressure='>140' | Smoking=yes, Proteins='>3')"
GRAPH = cr.Dag(
    [
        ("M. Work", "P. Work"),
        ("M. Work", "Smoking"),
        ("P. Work", "Proteins"),
        ("Smoking", "Proteins"),
        ("M. Work", "Proteins"),
        ("Smoking", "Pressure"),
        ("Proteins", "Pressure"),
    ]
)


def main() -> None:
    """Ask few men, then all of them."""
    shared = os.environ.get("CREDO_SHARED", Path(__file__).resolve().parents[2] / "shared")
    path = Path(shared) / "data" / "tables" / "coronary.csv"
    if not path.exists():
        print(f"The table {path.name} is not on this machine; CREDO_SHARED names its folder.")
        return
    men = cr.read(path)
    few = np.arange(len(men)) % 18 == 0
    small = cr.fit(GRAPH, men.take(few), prior=cr.BDeu(10))
    large = cr.fit(GRAPH, men, prior=cr.BDeu(10))
    widths = []
    for net in (small, large):
        answer = net.ask(QUESTION, interval=0.95)
        print(f"{QUESTION} from {net.record.details['rows']:,} men\n{answer}\n")
        widths.append(answer.interval.width)
        assert answer.low < float(answer) < answer.high
    assert widths[1] < widths[0] / 3  # eighteen times the rows, about a quarter of the width

    print("The families of the last\n")
    print(large.record.families)

    # The rest of the rows, added later, give the same network.
    assert small.update(men.take(~few)) == large


main()
