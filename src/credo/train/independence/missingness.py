"""Missingness: where the gaps of a table are, which come together, and what they go with.

    φ(A, B) = (p_AB − p_A p_B) / √(p_A(1−p_A) p_B(1−p_B)),      A, B: "this cell is missing"

A gap that depends on nothing (MCAR) or only on cells that were observed (MAR) does EM no harm. A
gap that depends on its own value (MNAR) biases every method, and no table can tell: that is for
someone who knows how the table came about.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, TableError
from credo.core.frozen import Frozen
from credo.core.render import bar, number, shortened, table_html, table_text
from credo.core.schema import Schema, Variable
from credo.data import Stream, Table, read
from credo.model.values.reals import shown
from credo.model.values.value import finite
from credo.stats.block import Block
from credo.stats.counts import Counts
from credo.stats.moments import Moments
from credo.stats.plan import tally_block
from credo.stats.tally import Tally

__all__ = ["Missingness", "missingness"]

_SHOWN = 12

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Missingness(Frozen):
    """A report on the gaps of a table.

    `rates` is the share of rows in which each column is missing; `patterns` the sets of columns
    that are missing at once, most frequent first, with their share of the rows; `together` pairs
    of columns that go missing together more (or less) often than chance would have it, with their
    correlation φ; `depends` columns whose gaps go with the values of another column. `set_aside`
    are the columns with gaps that reading set aside, so that nothing here counts them: the share
    of their cells that is missing, and the reason.
    """

    rows: float
    rates: dict[str, float]
    patterns: tuple[tuple[tuple[str, ...], float], ...]
    together: tuple[tuple[str, str, float], ...]
    depends: tuple[tuple[str, str, float], ...]
    set_aside: dict[str, tuple[float, str]] = field(default_factory=dict)

    @property
    def complete(self) -> float:
        """The share of rows without a gap."""
        return sum(share for names, share in self.patterns if not names)

    @property
    def cells(self) -> float:
        """The share of cells that are missing."""
        return sum(self.rates.values()) / max(len(self.rates), 1)

    def __str__(self) -> str:
        return "\n\n".join(f"{title}\n{table_text(h, r, right=right)}" if r else title
                           for title, h, r, right in self._parts())  # fmt: skip

    def _parts(self) -> list[tuple[str, list[str], list[list[str]], list[int]]]:
        gaps = sorted(((r, n) for n, r in self.rates.items() if r), key=lambda x: -x[0])
        rates = [[n, f"{r:.2%}", bar(r)] for r, n in gaps[:_SHOWN]]
        title = (
            f"{number(self.rows)} rows, {self.cells:.2%} of the cells missing, "
            f"{self.complete:.2%} of the rows complete"
        )
        out = [(title, ["column", "missing", ""], rates, [1])]
        if self.set_aside:
            aside = sorted(self.set_aside.items(), key=lambda x: -x[1][0])
            told = [[n, f"{rate:.2%}", why] for n, (rate, why) in aside[:_SHOWN]]
            note = "set aside by reading, and not counted here (schema= makes them variables)"
            out.append((note, ["column", "missing", "why"], told, [1]))
        if not gaps:
            return out
        shown = [[shortened(n, 8) or "(none)", f"{s:.2%}", bar(s)]
                 for n, s in self.patterns[:_SHOWN]]  # fmt: skip
        more = len(self.patterns) - len(shown)
        note = f" ({more:,} more)" if more else ""
        out.append((f"missing at once{note}", ["columns", "rows", ""], shown, [1]))
        pairs = [[a, b, f"{phi:+.3f}"] for a, b, phi in self.together[:_SHOWN]]
        if pairs:
            out.append(("gaps that go together", ["column", "column", "φ"], pairs, [2]))
        depends = [[a, b, f"{p:.2g}"] for a, b, p in self.depends[:_SHOWN]]
        if depends:
            head = ["gaps of", "go with the value of", "p"]
            out.append(("gaps that are not completely at random", head, depends, [2]))
        return out

    def __repr__(self) -> str:
        return f"Missingness({self.cells:.2%} of the cells, {self.complete:.2%} rows complete)"

    def _repr_html_(self) -> str:
        return "".join(
            table_html(h, r, right=right, caption=title) for title, h, r, right in self._parts()
        )


def missingness(source: Any, *, level: float = 0.001) -> Missingness:
    """Where the gaps of a table are, which come together, and what they go with.

    A pair is reported where chance alone would give it with probability below `level` (divided
    by the number of pairs looked at); a row of weight k counts as k rows.

    >>> import credo as cr
    >>> rows = {"a": [1, 2, None, None, 2], "b": ["x", None, "y", "y", "x"]}
    >>> report = cr.missingness(rows)
    >>> report.rates
    {'a': 0.4, 'b': 0.2}
    >>> report.patterns
    (((), 0.4), (('a',), 0.4), (('b',), 0.2))
    """
    if not 0 < finite(level, "level") < 1:
        raise InputError(f"level must be a probability between 0 and 1, got {shown(level)}.")
    opened = source if isinstance(source, (Table, Stream)) else read(source)
    found = opened.fold(_patterns, _merged)
    if not found:
        raise TableError("There are no rows to look at.")
    names = opened.schema.names
    gone = np.array([np.frombuffer(pattern, dtype=np.bool_) for pattern in found])
    weights = np.array(list(found.values()))
    total = float(weights.sum())
    rates = {n: float(weights @ gone[:, k]) / total for k, n in enumerate(names)}
    shares = [
        (tuple(n for n, g in zip(names, pattern, strict=True) if g), float(weight) / total)
        for pattern, weight in zip(gone, weights, strict=True)
    ]
    return Missingness(
        total,
        rates,
        tuple(sorted(shares, key=lambda x: (-x[1], len(x[0]), x[0]))),
        _together(gone, weights, names, total, level),
        _depends(opened, rates, total, level),
        {
            c.name: (c.missing_rate, c.reason)
            for c in opened.schema.columns
            if not c.used and c.missing
        },
    )


def _gone(table: Table) -> NDArray[np.bool_]:
    """Which cells are missing."""
    columns = zip(table.schema.variables, table.block.arrays, strict=True)
    return np.stack([a == v.arity if v.is_discrete else np.isnan(a) for v, a in columns], axis=1)


def _patterns(table: Table) -> dict[bytes, float]:
    """The sets of columns that are missing at once, with the weight of their rows."""
    packed, inverse = np.unique(np.packbits(_gone(table), axis=1), axis=0, return_inverse=True)
    weights = np.bincount(inverse.ravel(), table.weights, minlength=len(packed))
    gone = np.unpackbits(packed, axis=1, count=len(table.schema)).astype(np.bool_)
    return {row.tobytes(): float(w) for row, w in zip(gone, weights, strict=True)}


def _merged(a: dict[bytes, float], b: dict[bytes, float]) -> dict[bytes, float]:
    for pattern, weight in b.items():
        a[pattern] = a.get(pattern, 0.0) + weight
    return a


def _together(
    gone: NDArray[np.bool_], weights: Floats, names: tuple[str, ...], total: float, level: float
) -> tuple[tuple[str, str, float], ...]:
    from scipy.stats import chi2

    at = [k for k in range(len(names)) if 0 < gone[:, k].sum() < len(gone)]
    if len(at) < 2:
        return ()
    x = gone[:, at].astype(np.float64)
    p = weights @ x / total
    both = (x * weights[:, None]).T @ x / total
    phi = (both - np.outer(p, p)) / np.sqrt(np.outer(p * (1 - p), p * (1 - p)))
    pairs = len(at) * (len(at) - 1) // 2
    least = float(chi2.isf(level / pairs, 1)) / total
    out = [
        (names[at[i]], names[at[j]], float(phi[i, j]))
        for i in range(len(at))
        for j in range(i + 1, len(at))
        if phi[i, j] ** 2 > least
    ]
    return tuple(sorted(out, key=lambda x: -abs(x[2])))


def _depends(
    source: Table | Stream, rates: dict[str, float], total: float, level: float
) -> tuple[tuple[str, str, float], ...]:
    """Columns whose gaps go with another column's values: χ² for states, Welch's t for numbers."""
    from scipy.stats import chi2, norm

    names = source.schema.names
    targets = tuple(n for n in names if 5 <= rates[n] * total <= total - 5)
    if not targets:
        return ()
    tally = source.fold(partial(_beside_gaps, targets))
    assert tally is not None
    tests = max(len(targets) * (len(names) - 1), 1)
    out = []
    for target in targets:
        for name in names:
            if name == target:
                continue
            found = tally[name, [_GAP + target]]
            if isinstance(found, Counts):
                observed = np.asarray(found, dtype=np.float64)  # [there and gone, states]
                if not (observed.sum(axis=1) >= 5).all():
                    continue
                observed = observed[:, observed.sum(axis=0) > 0]
                expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / observed.sum()
                square = ((observed - expected) ** 2 / expected).sum()
                p = float(chi2.sf(square, max(observed.shape[1] - 1, 1)))
            else:
                assert isinstance(found, Moments)
                n = found.n.astype(np.float64)
                if len(n) < 2 or not (n >= 5).all():
                    continue
                error = np.sqrt((found.scatter[:, 0, 0] / (n - 1) / n).sum())
                if not error > 0:
                    continue
                p = float(2 * norm.sf(abs(found.mean[0, 0] - found.mean[1, 0]) / error))
            if p < level / tests:
                out.append((target, name, p))
    return tuple(sorted(out, key=lambda x: x[2]))


_GAP = "\0gap of "  # a column that nobody has


def _beside_gaps(targets: tuple[str, ...], table: Table) -> Tally:
    """Each column beside whether a cell of each target is missing."""
    schema, gone = table.schema, _gone(table)
    marks = [Variable(_GAP + n, "discrete", (False, True)) for n in targets]
    columns = [gone[:, schema.index(n)].astype(np.uint8) for n in targets]
    block = Block(
        Schema((*schema.variables, *marks)), (*table.block.arrays, *columns), table.weights
    )
    return tally_block(block, [(n, [_GAP + t]) for t in targets for n in schema.names if n != t])
