"""Counting: pair tables and family tables of 37 variables with the arities of alarm.

The first row gives every table as a plain array, as the NumPy loops do.

The table is in memory, read beforehand, in the form that suits each library best. Cold is the
first tally of a table, in which credo builds its bitmaps; the other rows are later ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, cycle
from math import prod
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.counting_kernels import crossover
from benchmarks.harness import Bench, Entry, Task

Set = tuple[int, ...]  # positions of the variables: the parents, then the child


def run(bench: Bench) -> None:
    for rows in bench.sizes(10_000, 100_000, 1_000_000, quick=(10_000, 100_000)):
        world = World(rows)
        pairs = list(combinations(range(37), 2))
        bench.compare(
            Task(
                f"all {len(pairs)} pair tables, {rows:,} rows", steady(world.pair_entries()), pairs
            )
        )
        child, parents = 36, [5, 17, 30]
        for k in (1, 2, 3):
            base = parents[: k - 1]
            last = [i for i in range(36) if i not in base]
            sets = [(*base, i, child) for i in last]
            title = (
                f"{len(sets)} families of {k} parent{'s' * (k > 1)}, "
                f"the last one varying, {rows:,} rows"
            )
            bench.compare(Task(title, steady(world.family_entries()), sets))
    crossover(bench)


def steady(entries: list[Entry]) -> list[Entry]:
    """Every way that needs no fresh state counts the same tables each time."""
    return [replace(e, steady=e.fresh is None) for e in entries]


class World:
    """One data set in the form of every library, each made when first asked for."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.names = data.names()
        self.arity = data.arities()
        self.codes = data.codes(rows)
        self._made: dict[str, Any] = {}

    def once(self, make: Callable[[], Any]) -> Callable[[], Any]:
        """The same, made once for all tasks: loading a table is not counting it."""

        def give() -> Any:
            if make.__name__ not in self._made:
                self._made[make.__name__] = make()
            return self._made[make.__name__]

        return give

    def shape(self, at: Set) -> tuple[int, ...]:
        return tuple(self.arity[i] for i in at)

    # --- entries ------------------------------------------------------------------------------

    def pair_entries(self) -> list[Entry]:
        entries = self.family_entries()
        entries.insert(
            next(k for k, e in enumerate(entries) if "bincount" in e.name),
            Entry(
                "NumPy, one-hot matrix product",
                self._product,
                setup=lambda: self.codes,
                whole=True,
            ),
        )
        return entries

    def family_entries(self) -> list[Entry]:
        return [
            self._credo("credo tally, a plain list, every table as an array", arrays=True),
            self._credo("credo tally, a plain list, every table by name", taken=True),
            self._credo("credo tally, a plain list, none taken"),
            self._credo("credo tally, another list each time", another=True),
            self._credo("credo tally, Families kept", kept=True),
            self._credo("credo tally, kept, every table by name", kept=True, taken=True),
            self._credo("credo tally, kept, every table by np.asarray", kept=True, cast=True),
            self._credo("credo tally, kept, every table as an array", kept=True, arrays=True),
            self._credo("credo tally, kept, 2 threads", kept=True, threads=2),
            self._credo("credo tally, kept, cold", kept=True, cold=True),
            self._credo("credo tally, kept, cold, 2 threads", kept=True, cold=True, threads=2),
            self._native("credo kernel alone"),
            self._native("credo kernel alone, cold", cold=True),
            Entry("NumPy bincount, uint8 codes", self._bincount8, answer=self._flat),
            Entry(
                "NumPy bincount, intp codes",
                self._bincount,
                setup=lambda: [c.astype(np.intp) for c in self.codes],
                answer=self._flat,
            ),
            Entry(
                "NumPy bincount of ravel_multi_index",
                self._raveled,
                setup=lambda: [c.astype(np.intp) for c in self.codes],
                answer=self._flat,
            ),
            Entry(
                "pyAgrum rawPseudoCount",
                self._pyagrum,
                "pyagrum",
                self.once(self._learner),
                answer=lambda raw, items: [
                    np.reshape(r, self.shape(at), order="F")
                    for r, at in zip(raw, items, strict=True)
                ],
            ),
            Entry(
                "polars group_by",
                self._polars,
                "polars",
                self.once(self._polars_frame),
                answer=self._grouped,
            ),
            Entry(
                "DuckDB GROUP BY",
                self._duckdb,
                "duckdb",
                self.once(self._relation),
                answer=self._grouped,
            ),
            Entry(
                "pandas groupby.size",
                self._groupby,
                "pandas",
                self.once(self._frame),
                answer=self._series,
            ),
            Entry(
                "pandas crosstab",
                self._crosstab,
                "pandas",
                self.once(self._frame),
                answer=self._series,
            ),
            Entry(
                "pgmpy state_counts",
                self._pgmpy,
                "pgmpy",
                self.once(self._estimator),
                answer=self._series,
            ),
            Entry(
                "scikit-learn contingency_matrix",
                self._contingency,
                "scikit-learn",
                answer=lambda raw, items: [
                    np.reshape(r, self.shape(at)) for r, at in zip(raw, items, strict=True)
                ],
            ),
        ]

    # --- credo --------------------------------------------------------------------------------

    def _credo(
        self,
        name: str,
        *,
        taken: bool = False,
        cast: bool = False,
        arrays: bool = False,
        kept: bool = False,
        another: bool = False,
        cold: bool = False,
        threads: int = 1,
    ) -> Entry:
        """A tally makes a table's `Counts` when it is asked for: `taken` asks for every one by
        `tally[child, parents]`, `cast` makes an array of each besides, and `arrays` asks for all
        arrays at once. What is not `kept` is a plain list of pairs, which is read in each run, and
        planned anew where it is not the list before; `another` turns it round each time, so that
        it never is. Writing it down is not timed, as it is not for the other libraries."""
        import credo as cr
        from credo.stats.block import Block

        asked: dict[int, Any] = {}  # the user's own list, made in the run before the clock starts

        def families(items: Sequence[Set]) -> Any:
            if id(items) not in asked:
                pairs = [(self.names[at[-1]], [self.names[i] for i in at[:-1]]) for at in items]
                wanted = cr.Families.of(pairs) if kept else pairs
                asked[id(items)] = pairs, cycle([wanted, pairs[::-1]] if another else [wanted])
            pairs, wanted = asked[id(items)]
            return pairs, next(wanted)

        def run(table: Any, items: Sequence[Set]) -> Any:
            pairs, wanted = families(items)
            found = cr.tally(table, wanted, threads=threads)
            if arrays:
                found.arrays()
            if taken:
                for child, parents in pairs:
                    found[child, parents]
            if cast:
                for child, parents in pairs:
                    np.asarray(found[child, parents])
            return found

        def fresh(table: Any) -> Any:
            return cr.Table(Block(table.schema, table.block.arrays)) if cold else table

        def answer(found: Any, items: Sequence[Set]) -> list[np.ndarray]:
            return [np.asarray(found[f]) for f in families(items)[0]]

        return Entry(
            name,
            run,
            None,
            lambda: data.credo_table(self.codes),
            fresh if cold else None,
            answer,
            threads,
            whole=True,
        )

    def _native(self, name: str, *, cold: bool = False) -> Entry:
        lists: dict[int, list[list[int]]] = {}

        def columns() -> Any:
            return data.credo_table(self.codes).block.native

        def run(native: Any, items: Sequence[Set]) -> Any:
            if id(items) not in lists:  # what varies comes last, so that the rest is shared
                lists[id(items)] = [[*at[:-2], at[-1], at[-2]] for at in items]
            return native.count(lists[id(items)], threads=1)

        def answer(raw: Any, items: Sequence[Set]) -> list[np.ndarray]:
            out = []
            for r, at in zip(raw, items, strict=True):
                shape = self.shape((*at[:-2], at[-1], at[-2]))
                out.append(np.reshape(r, shape).swapaxes(-1, -2))
            return out

        fresh = (lambda _: columns()) if cold else None
        return Entry(name, run, None, columns, fresh, answer, whole=True)

    # --- NumPy --------------------------------------------------------------------------------

    def _flat(self, raw: Sequence[np.ndarray], items: Sequence[Set]) -> list[np.ndarray]:
        return [np.reshape(r, self.shape(at)) for r, at in zip(raw, items, strict=True)]

    def _bincount8(self, _: Any, items: Sequence[Set]) -> list[np.ndarray]:
        """The cell's number is computed in one byte; bincount casts it."""
        out = []
        for at in items:
            cells = prod(self.shape(at))
            small = np.uint8 if cells <= 256 else np.uint16
            flat = self.codes[at[0]]
            for i in at[1:]:
                flat = np.add(flat * small(self.arity[i]), self.codes[i], dtype=small)
            out.append(np.bincount(flat, minlength=cells))
        return out

    def _bincount(self, codes: list[np.ndarray], items: Sequence[Set]) -> list[np.ndarray]:
        """No casts: the codes are intp already."""
        out = []
        for at in items:
            flat = codes[at[0]]
            for i in at[1:]:
                flat = flat * self.arity[i]
                flat += codes[i]
            out.append(np.bincount(flat, minlength=prod(self.shape(at))))
        return out

    def _raveled(self, codes: list[np.ndarray], items: Sequence[Set]) -> list[np.ndarray]:
        """The loop as it is usually written; the two above are written for speed."""
        return [
            np.bincount(
                np.ravel_multi_index([codes[i] for i in at], self.shape(at)),
                minlength=prod(self.shape(at)),
            )
            for at in items
        ]

    def _product(self, codes: list[np.ndarray], items: Sequence[Set]) -> list[np.ndarray]:
        """One-hot columns in single precision, in blocks of rows; XᵀX holds every pair."""
        start = np.concatenate([[0], np.cumsum(self.arity)])
        total = np.zeros((start[-1], start[-1]))
        for low in range(0, self.rows, 16_384):
            parts = [
                c[low : low + 16_384] == s
                for c, a in zip(codes, self.arity, strict=True)
                for s in range(a)
            ]
            x = np.array(parts, dtype=np.float32)
            total += x @ x.T
        return [
            total[start[i] : start[i + 1], start[j] : start[j + 1]].astype(np.int64)
            for i, j in items
        ]

    # --- peers --------------------------------------------------------------------------------

    def _frame(self) -> Any:
        import pandas as pd

        return pd.DataFrame(
            {
                n: pd.Categorical.from_codes(c.astype(np.int8), data.states(a))
                for n, a, c in zip(self.names, self.arity, self.codes, strict=True)
            }
        )

    def _groupby(self, frame: Any, items: Sequence[Set]) -> list[Any]:
        return [
            frame.groupby([self.names[i] for i in at], observed=False, sort=False).size()
            for at in items
        ]

    def _crosstab(self, frame: Any, items: Sequence[Set]) -> list[Any]:
        import pandas as pd

        return [
            pd.crosstab(
                [frame[self.names[i]] for i in at[:-1]], frame[self.names[at[-1]]], dropna=False
            )
            for at in items
        ]

    def _estimator(self) -> Any:
        from pgmpy.estimators import BaseEstimator

        labels = {n: data.states(a) for n, a in zip(self.names, self.arity, strict=True)}
        return BaseEstimator(self.once(self._frame)(), state_names=labels)

    def _pgmpy(self, estimator: Any, items: Sequence[Set]) -> list[Any]:
        return [
            estimator.state_counts(self.names[at[-1]], [self.names[i] for i in at[:-1]])
            for at in items
        ]

    def _series(self, raw: Sequence[Any], items: Sequence[Set]) -> list[np.ndarray]:
        """Counts whose index names the states, as arrays."""
        out = []
        for found, at in zip(raw, items, strict=True):
            table = np.zeros(self.shape(at), dtype=np.int64)
            series = found if found.ndim == 1 else found.stack(list(range(found.columns.nlevels)))
            level = [self.names.index(n) for n in series.index.names]
            for labels, n in series.items():
                cell = dict(zip(level, labels, strict=True))
                table[tuple(data.states(self.arity[i]).index(cell[i]) for i in at)] = n
            out.append(table)
        return out

    def _polars_frame(self) -> Any:
        import polars as pl

        return pl.DataFrame(dict(zip(self.names, self.codes, strict=True)))

    def _polars(self, frame: Any, items: Sequence[Set]) -> list[Any]:
        return [frame.group_by([self.names[i] for i in at]).len() for at in items]

    def _relation(self) -> Any:
        import duckdb
        import pyarrow as pa

        connection = duckdb.connect()
        connection.execute("SET threads=1")
        given = pa.table(dict(zip(self.names, self.codes, strict=True)))
        connection.register("given", given)
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
        connection.unregister("given")
        return connection

    def _duckdb(self, connection: Any, items: Sequence[Set]) -> list[Any]:
        out = []
        for at in items:
            by = ", ".join(self.names[i] for i in at)
            out.append(connection.execute(f"SELECT {by}, count(*) FROM t GROUP BY {by}").fetchall())
        return out

    def _grouped(self, raw: Sequence[Any], items: Sequence[Set]) -> list[np.ndarray]:
        """Rows of codes and a count, as arrays."""
        out = []
        for found, at in zip(raw, items, strict=True):
            table = np.zeros(self.shape(at), dtype=np.int64)
            for *cell, n in found if isinstance(found, list) else found.rows():
                table[tuple(cell)] = n
            out.append(table)
        return out

    def _learner(self) -> Any:
        import pyagrum as gum

        template = gum.BayesNet()  # fixes the order of the states
        for n, a in zip(self.names, self.arity, strict=True):
            template.add(gum.LabelizedVariable(n, n, data.states(a)))
        learner = gum.BNLearner(self.once(self._frame)(), template)
        learner.useNoPrior()
        learner.setNumberOfThreads(1)
        return learner

    def _pyagrum(self, learner: Any, items: Sequence[Set]) -> list[Any]:
        return [learner.rawPseudoCount([self.names[i] for i in at]) for at in items]

    def _contingency(self, _: Any, items: Sequence[Set]) -> list[Any]:
        """Of two labels; more parents are one label, numbered in the timing."""
        from sklearn.metrics.cluster import contingency_matrix

        out = []
        for at in items:
            label = self.codes[at[0]]
            for i in at[1:-1]:
                label = label * np.uint8(self.arity[i]) + self.codes[i]
            found = contingency_matrix(label, self.codes[at[-1]])
            if found.shape[0] < prod(self.shape(at[:-1])):  # it drops what was not seen
                whole = np.zeros((prod(self.shape(at[:-1])), found.shape[1]), dtype=found.dtype)
                whole[np.unique(label)] = found
                found = whole
            out.append(found)
        return out
