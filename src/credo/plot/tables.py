"""A picture of P(child | parents): a row for each configuration, colours for probabilities.

For a continuous child, its lines: the mean against a parent, with a band that holds 95 %.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.core.errors import InputError, LimitError, unknown_name
from credo.core.render import short_probability
from credo.model.answers.distribution import Distribution
from credo.model.answers.number_answer import NumberAnswer
from credo.model.networks.cpt import Cpt
from credo.model.networks.family import cells
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.values.reals import shown
from credo.plot.axes import axes, entry, legend, name_columns, name_rows, words
from credo.stats.moments import Moments
from credo.train.independence.missingness import Missingness
from credo.train.independence.missingness import missingness as _missingness

if TYPE_CHECKING:
    from credo.model.networks.network import Network

MOST_ROWS, MOST_STATES = 64, 30
"""A heat map has at most so many rows and columns."""

_LONG = 28


def cpt(table: Any, ax: Any = None, *, interval: float | None = None) -> Any:
    """A heat map of a table: the darker, the more probable; each cell says its number.

    With `interval=0.95` each cell also has its credible interval (the table must have been learned
    with a prior).

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.K2())
    >>> ax = cpt(net.cpt("Fev"), interval=0.95)
    >>> ax.get_title(), [t.get_text() for t in ax.get_yticklabels()]
    ('P(Fev | Pneu)', ['F', 'T'])
    >>> ax.texts[0].get_text()
    '0.556\\n0.245–0.843'
    """
    if isinstance(table, LinearGaussian):
        raise InputError(
            f"{table.name!r} is continuous and has lines, not a table.",
            hint="Draw them with cr.plot.lines.",
        )
    if not isinstance(table, Cpt):
        raise InputError(f"A table is needed, got {shown(table)}.", hint="Give net.cpt('name').")
    rows, states = cells(table.parents), table.child.arity
    if rows > MOST_ROWS or states > MOST_STATES:
        raise LimitError(
            f"A table of {rows:,} rows and {states:,} states does not fit in a picture; at most "
            f"{MOST_ROWS} rows and {MOST_STATES} states do.",
            hint="Print the table, or draw one row with cr.plot.distribution(cpt.row(…)).",
        )
    ends = None if interval is None else table.interval(interval)
    new = ax is None
    ax = axes(ax)
    names = [_short(s) for s in table.child.states]
    given = _configurations(table.parents, named=False) if table.parents else [""]
    if new:  # room for the texts on both sides
        cell = max(0.95 if ends is not None else 0.6, 0.09 * min(12, max(map(len, names))))
        left = 1.0 + 0.085 * max(map(len, given))
        wide = max(left + cell * states, 0.11 * len(table.title[:60]) + left)
        tall = 1.3 + (0.3 if ends is None else 0.45) * rows
        ax.figure.set_size_inches(max(3.5, wide), max(1.9, tall))
    p = table.values.reshape(rows, states)
    ax.imshow(p, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    small = 9 if rows <= 24 and states <= 10 else 6
    bounds = None if ends is None else [e.reshape(rows, states) for e in ends]
    for i, j in np.ndindex(rows, states):
        text = short_probability(float(p[i, j]))
        if bounds is not None:
            low, high = (short_probability(float(e[i, j])) for e in bounds)
            text += f"\n{low}–{high}"
        ink = "white" if p[i, j] > 0.55 else "black"
        ax.text(j, i, text, ha="center", va="center", color=ink, fontsize=small)
    name_columns(ax, names)
    if max(map(len, names)) > 12:
        ax.tick_params(axis="x", rotation=35)
        for label in ax.get_xticklabels():
            label.set_ha("right")
    name_rows(ax, given, turned=False)
    words(
        ax,
        x=_short(table.name),
        y=_short(", ".join(p.name for p in table.parents), 50),
        title=_short(table.title, 60),
        fontsize="medium",
    )
    return ax


def _short(text: object, most: int = _LONG) -> str:
    line = str(text)
    return line if len(line) <= most else line[: most - 1] + "…"


def _configurations(parents: tuple[Any, ...], named: bool = True) -> list[str]:
    out = []
    for at in np.ndindex(*(v.arity for v in parents)):
        pairs = [(f"{v.name}=" * named, v.states[i]) for v, i in zip(parents, at, strict=True)]
        out.append(_short(", ".join(f"{name}{state}" for name, state in pairs), 60))
    return out


def lines(
    line: LinearGaussian,
    over: str | None = None,
    ax: Any = None,
    span: Any = None,
    *,
    net: Network | None = None,
) -> Any:
    """The mean of a continuous variable against one of its continuous parents, for each
    configuration of the discrete ones, with a band that holds 95 %.

    The parent runs over its mean ± 2.5 standard deviations, or over `span`, and the other
    continuous parents are held at their means: those of the network `net`, or of the rows that the
    line was learned from. Where neither is known they run from −1 to 1 and are held at 0. A
    variable without continuous parents is drawn as its densities.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> net = cr.fit("[x][y|x]", {"x": [90.0, 95.0, 99.0, 104.0], "y": [1.0, 3.1, 4.9, 7.0]})
    >>> ax = lines(net.cpt("y"))
    >>> ax.get_xlabel(), [round(float(x), 1) for x in ax.lines[0].get_xdata()[[0, -1]]]
    ('x', [84.1, 109.9])
    """
    if not isinstance(line, LinearGaussian):
        raise InputError(
            f"The line of a continuous variable is needed, got {shown(line)}.",
            hint="Give net.cpt('name'); draw tables with cr.plot.cpt.",
        )
    names = [p.name for p in line.continuous]
    if over is None and names:
        over = names[0]
    if over is not None and over not in names:
        raise unknown_name("Continuous parent", over, names, f"one of {line.name!r}")
    ax = axes(ax)
    labels = _configurations(line.discrete) if line.discrete else [""]
    shown_lines = list(zip(labels, np.ndindex(*line.intercept.shape), strict=True))[:12]
    if over is None:
        _densities(ax, line, shown_lines)
    else:
        k, known = names.index(over), _known(line, net)
        middle, away = known[k]
        low, high = (middle - away, middle + away) if span is None else map(float, span)
        x = np.linspace(low, high, 50)
        held = np.array([0.0 if i == k else known[i][0] for i in range(len(names))])
        for label, at in shown_lines:
            mean = line.intercept[at] + line.coefficients[at] @ held + line.coefficients[at][k] * x
            sd = float(np.sqrt(line.variance[at]))
            [drawn] = ax.plot(x, mean, label=entry(label) or None)
            ax.fill_between(
                x, mean - 1.96 * sd, mean + 1.96 * sd, alpha=0.12, color=drawn.get_color()
            )
        words(ax, x=over, y=line.name)
    more = len(labels) - len(shown_lines)
    words(ax, title=line.title + (f"  ({more} more lines)" if more else ""), fontsize="medium")
    if line.discrete:
        legend(ax)
    return ax


def _known(line: LinearGaussian, net: Network | None) -> list[tuple[float, float]]:
    """The mean of each continuous parent, and 2.5 standard deviations of it."""
    out = []
    for parent in line.continuous:
        if net is not None:
            alone = net.p(parent.name)
            alone = getattr(alone, "below", alone)  # on the scale that the line has
            mean, variance = float(alone.mean), float(alone.variance)
        elif line.learned is not None and isinstance(line.learned.observed, Moments):
            rows = line.learned.observed.marginal([parent.name])
            mean = float(np.ravel(rows.mean)[0])
            variance = float(np.ravel(rows.scatter)[0] / np.ravel(rows.n)[0])
        else:
            mean, variance = 0.0, 0.16
        out.append((mean, 2.5 * np.sqrt(variance) if variance > 0 else 1.0))
    return out


def _densities(ax: Any, line: LinearGaussian, shown_lines: list[Any]) -> None:
    sds = np.sqrt(line.variance)
    low, high = float((line.intercept - 4 * sds).min()), float((line.intercept + 4 * sds).max())
    x = np.linspace(low, high, 400)
    for label, at in shown_lines:
        z = (x - line.intercept[at]) / sds[at]
        ax.plot(
            x, np.exp(-0.5 * z * z) / (sds[at] * np.sqrt(2 * np.pi)), label=entry(label) or None
        )
    words(ax, x=line.name, y="density")
    ax.set_ylim(0, None)


# --- A picture of how sure: one line from end to end of each interval, with a dot at the answer.

_MOST = 100
_Line = tuple[str, float, float, float]


def intervals(what: Any, ax: Any = None, *, level: float = 0.95) -> Any:
    """Credible intervals: of a table's entries, of an answer, or of all marginals at once.

    `what` is a `Cpt` learned with a prior (`level` says how wide), an answer asked with
    `interval=`, or a dict of them such as `net.marginals(interval=0.95)`.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.K2())
    >>> ax = intervals(net.cpt("Fev"))
    >>> [t.get_text() for t in ax.get_yticklabels()]
    ['Fev=F | Pneu=F', 'Fev=T | Pneu=F', 'Fev=F | Pneu=T', 'Fev=T | Pneu=T']
    """
    title, lines = _lines(what, level)
    if len(lines) > _MOST:
        raise InputError(
            f"{len(lines):,} intervals do not fit in a picture; at most {_MOST} do.",
            hint="Draw one row, or one variable, at a time.",
        )
    ax = axes(ax)
    where = np.arange(len(lines))
    names, p, low, high = zip(*lines, strict=True)
    ax.hlines(where, low, high, linewidth=2)
    ax.plot(p, where, "o", color="0.2")
    name_rows(ax, names)
    ax.set_xlim(0, 1)
    words(ax, x=title)
    return ax


def _lines(what: Any, level: float) -> tuple[str, list[_Line]]:
    if isinstance(what, Cpt):
        return f"probability, {100 * level:.10g} % intervals", _table(what, level)
    if isinstance(what, NumberAnswer):
        what = what.bins
    if isinstance(what, Distribution):
        return _title(what), _answer(what)
    if isinstance(what, Mapping) and what:
        parts = [d.bins if isinstance(d, NumberAnswer) else d for d in what.values()]
        if all(isinstance(d, Distribution) for d in parts):
            return _title(parts[0]), [line for d in parts for line in _answer(d)]
    raise InputError(
        f"A table, an answer with an interval, or a dict of answers is needed, got {shown(what)}.",
        hint="Ask with interval=0.95.",
    )


def _title(answer: Distribution) -> str:
    if answer.interval is None:
        answer.low  # noqa: B018  (says that there is none)
    assert answer.interval is not None
    return f"probability, {100 * answer.interval.level:.10g} % intervals"


def _table(cpt: Cpt, level: float) -> list[_Line]:
    low, high = cpt.interval(level)
    out = []
    for at in itertools.islice(np.ndindex(*cpt.shape), _MOST + 1):
        given = [f"{v.name}={v.states[i]}" for v, i in zip(cpt.parents, at[:-1], strict=True)]
        name = f"{cpt.name}={cpt.child.states[at[-1]]}"
        name += f" | {', '.join(given)}" if given else ""
        out.append((name, float(cpt.values[at]), float(low[at]), float(high[at])))
    return out


def _answer(d: Distribution) -> list[_Line]:
    out = []
    for at in itertools.islice(np.ndindex(*d.p.shape), _MOST + 1):
        name = ", ".join(f"{v.name}={v.states[i]}" for v, i in zip(d.variables, at, strict=True))
        out.append((name, float(d.p[at]), float(d.low[at]), float(d.high[at])))
    return out


# --- A picture of the gaps of a table: which columns miss cells together, and how often ---
#
# Each row is a pattern, as tall as the share of rows that have it; dark cells are missing.


def missingness(what: Any, ax: Any = None, *, most: int = 20, columns: int = 40) -> Any:
    """The patterns of missing cells, the most frequent first; `what` is a table or a report.

    Of many columns those with the most gaps are drawn, of many patterns the most frequent; what
    is left out is said.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> ax = missingness({"a": [1, 2, None, None, 2], "b": ["x", None, "y", "y", "x"]})
    >>> [t.get_text() for t in ax.get_yticklabels()]
    ['40.0 % complete', '40.0 %', '20.0 %']
    >>> ax.get_title()
    '30.0 % of the cells are missing'
    """
    report = what if isinstance(what, Missingness) else _missingness(what)
    if most < 1 or columns < 1:
        raise InputError("At least one pattern and one column must be drawn.")
    ax = axes(ax)
    order = sorted(report.rates, key=lambda n: -report.rates[n])[:columns]
    kept = set(order)
    names = [n for n in report.rates if n in kept]
    patterns = report.patterns[:most]
    grid = np.zeros((len(patterns), len(names)))
    for i, (gone, _) in enumerate(patterns):
        inside = set(gone)
        grid[i] = [n in inside for n in names]
    ax.imshow(grid, cmap="Blues", vmin=0, vmax=1.25, aspect="auto", interpolation="nearest")
    ax.set_xticks(np.arange(len(names) + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(len(patterns) + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="0.85", linewidth=0.6)
    ax.tick_params(which="minor", length=0)
    labels = [n if len(n) <= 18 else n[:17] + "…" for n in names]
    texts = [f"{t} {report.rates[n]:.0%}" for t, n in zip(labels, names, strict=True)]
    name_columns(ax, texts, rotation=90)
    ax.tick_params(axis="x", labelsize="small")
    shares = [f"{s:.1%}".replace("%", " %") + ("" if n else " complete") for n, s in patterns]
    ax.set_yticks(range(len(patterns)), shares)
    more = len(report.patterns) - len(patterns)
    rest = sum(s for _, s in report.patterns[most:])
    words(ax, y="share of the rows")
    left = len(report.rates) - len(names)
    said = [f"{more:,} more patterns, {rest:.1%} of the rows"] if more else []
    said += [f"{left:,} more columns"] if left else []
    if said:
        words(ax, x="not drawn: " + "; ".join(said))
    words(ax, title=f"{report.cells:.1%} of the cells are missing".replace("%", " %"))
    return ax
