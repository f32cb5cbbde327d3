"""The counting kernels by themselves: where one overtakes the other."""

from __future__ import annotations

from math import prod
from typing import Any

from benchmarks import data
from benchmarks.harness import Bench, best_of


def crossover(bench: Bench) -> None:
    """Each kernel on each path, by the number of cells: where one overtakes the other."""
    from credo import _core

    rows = 200_000 if bench.quick else 1_000_000
    of = [2, 4, 4, 4, 4, 4, 4, 4] + [4] * 8
    native = data.credo_table(data.codes(rows, of), of).block.native
    paths = [p for p in _core.paths() if p != "auto"]
    ways = [(k, p) for k in ("popcount", "records", "histogram") for p in paths]
    lines = []
    for width in range(2, 9):
        for first in (1, 0):  # with and without the variable of arity 2 in front
            base = list(range(first, width - 1 + first))
            if first and len(base) > 6:
                continue
            sets = [[*base, i] for i in range(8, 16)]
            cells = prod(of[i] for i in sets[0])
            if cells > 20_000:
                continue
            line = [cells]
            for kernel, path in [*ways, ("sparse", "auto"), ("auto", "auto")]:
                if kernel == "popcount" and cells > 2_500:
                    line.append(None)
                    continue
                if kernel == "sparse" and cells not in (16, 256, 4096):
                    line.append(None)
                    continue

                def go(kernel: str = kernel, path: str = path, sets: Any = sets) -> Any:
                    return native.count(sets, None, kernel, path, 1)

                go()
                line.append(best_of(go, 3 if bench.quick else 5) / rows / len(sets) * 1e9)
            lines.append(line)
    lines.sort(key=lambda r: r[0])
    text = [
        [f"{line[0]:,}", *("" if x is None else f"{x:.3f}" for x in line[1:])] for line in lines
    ]
    bench.grid(
        f"ns per row and table by cells, 8 tables with the same first variables, {rows:,} rows",
        ["cells", *(f"{k} {p}" for k, p in ways), "sparse", "auto"],
        text,
        "auto should never be far above the least of its line.",
    )
