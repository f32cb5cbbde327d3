"""`python -m benchmarks [area …]`: measure credo and every installed peer, and print tables."""

from __future__ import annotations

import argparse
import sys
import warnings
from importlib import import_module

AREAS = (
    "counting", "reading", "streaming", "moments", "hypotheses", "distributions", "inference",
    "sampling", "parameters", "approximate", "undirected", "naive_bayes", "structure", "em",
    "mixtures", "clustering", "checking", "decisions", "causal", "numbers", "averaging", "engines",
    "sql", "studio",
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("areas", nargs="*", metavar="area", help=f"of {', '.join(AREAS)}")
    parser.add_argument("--rows", help="rows to measure with, as 1e4,1e5,1e6")
    parser.add_argument("--quick", action="store_true", help="small tables, few repeats")
    parser.add_argument("--json", metavar="FILE", help="write every figure to this file too")
    given = parser.parse_args()
    for area in given.areas:
        if area not in AREAS:
            parser.error(f"there is no area {area!r}; there are {', '.join(AREAS)}")
    try:
        rows = tuple(int(float(r)) for r in given.rows.split(",")) if given.rows else None
    except ValueError:
        parser.error(f"--rows must be numbers such as 1e4,1e5, got {given.rows!r}")
    if rows and min(rows) < 1000:
        parser.error("--rows must be 1000 or more")

    warnings.simplefilter("ignore")  # the peers' deprecations are not ours to print
    from benchmarks.harness import Bench

    bench = Bench(rows=rows, quick=given.quick, json=given.json)
    bench.about()
    for area in given.areas or AREAS:
        bench.area = area
        import_module(f"benchmarks.{area}").run(bench)
    bench.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
