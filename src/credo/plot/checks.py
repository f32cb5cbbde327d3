"""Pictures of a check: predictive histograms, calibration, surprise by row, tornadoes, bars.

Each takes a section of `cr.check`'s report (or the report itself), draws on `ax`, and returns it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.core.errors import InputError, unknown_name
from credo.plot.axes import axes, entry, legend, name_rows, words

_BLUE, _ORANGE, _GREY = "tab:blue", "tab:orange", "grey"


def _section(given: Any, name: str) -> Any:
    """A section, given by itself or as part of a report."""
    if hasattr(given, "findings") and hasattr(given, "left_out") and hasattr(given, "sections"):
        found = getattr(given, name)
        if found is None:
            why = given.left_out.get(name, "it was not asked for")
            raise InputError(f"The report has no section {name!r}: {why}.")
        return found
    return given


def predictive_histogram(report: Any, statistic: str | None = None, ax: Any = None) -> Any:
    """A statistic in the generated tables, and a line where the table seen has it.

    Without a name, the statistic that fits least.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.BDeu(1))
    >>> report = cr.check(net, cr.examples.pneumonia(), draws=50, sections=["predictive"])
    >>> cr.plot.predictive_histogram(report, "share of Fev = T").get_xlabel()
    'share of Fev = T'
    """
    found = _section(report, "predictive")
    if not found.checks:
        raise InputError("The predictive check has no statistics.")
    name = found.checks[0].name if statistic is None else statistic
    if name not in found.generated:
        raise unknown_name("Statistic", name, list(found.generated), "in the report")
    ax = axes(ax)
    check, values = found[name], found.generated[name]
    bins = min(30, max(5, len(np.unique(values))))
    ax.hist(values, bins=bins, color=_BLUE, alpha=0.6, label="generated tables")
    ax.axvline(check.observed, color=_ORANGE, linewidth=2, label="the table seen")
    words(ax, x=name, y="tables", title=f"p {_p(check.p)}, adjusted {_p(check.adjusted)}")
    legend(ax)
    return ax


def _p(p: float) -> str:
    return "< 0.001" if p < 0.0005 else f"= {p:.3f}"


def calibration_curves(report: Any, variables: Any = None, ax: Any = None, most: int = 6) -> Any:
    """Predicted against observed shares of discrete variables given the others.

    Without names, the variables that fit least.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.BDeu(1))
    >>> report = cr.check(net, cr.examples.pneumonia(), draws=50, sections=["calibration"])
    >>> cr.plot.calibration_curves(report).get_ylabel()
    'observed share'
    """
    found = _section(report, "calibration")
    chosen = [c for c in found.discrete if variables is None or c.variable in variables][:most]
    if not chosen:
        raise InputError(
            "There is no discrete variable to draw.", hint="rank_histogram draws continuous ones."
        )
    ax = axes(ax)
    ax.plot([0, 1], [0, 1], color=_GREY, linewidth=0.8, linestyle="--", label="honest")
    for one in chosen:
        p, right, n = one.report.curve.T
        line = ax.plot(p, right, linewidth=1.0, label=entry(f"{one.variable} ({one.error:.3f})"))[0]
        ax.scatter(p, right, s=10 + 90 * n / n.max(), color=line.get_color(), zorder=3)
    words(
        ax,
        x="predicted probability",
        y="observed share",
        title="each variable given the others (calibration error)",
    )
    legend(ax, 7)
    return ax


def rank_histogram(report: Any, variable: str | None = None, ax: Any = None) -> Any:
    """The ranks of a continuous variable's values in their distributions: flat if it is honest.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> rows = {"x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "y": [1.1, 2.9, 5.2, 7.1, 8.8, 11.1]}
    >>> net = cr.fit("[x][y|x]", rows, prior=cr.LinePrior())
    >>> report = cr.check(net, rows, draws=50, folds=2, sections=["calibration"])
    >>> cr.plot.rank_histogram(report, "y").get_xlabel()
    'share of the distribution of y below the value seen'
    """
    found = _section(report, "calibration")
    if not found.continuous:
        raise InputError("There is no continuous variable to draw.", hint="Use calibration_curves.")
    names = [c.variable for c in found.continuous]
    if variable is not None and variable not in names:
        raise unknown_name("Variable", variable, names, "a continuous one of the report")
    one = found[variable or names[0]]
    ax = axes(ax)
    bins = min(20, max(5, one.rows // 20))
    ax.hist(one.ranks, bins=bins, range=(0, 1), color=_BLUE, alpha=0.6)
    mean = one.rows / bins
    slack = 2 * np.sqrt(mean * (1 - 1 / bins))
    ax.axhspan(mean - slack, mean + slack, color=_GREY, alpha=0.2, label="95 % if honest")
    ax.axhline(mean, color=_GREY, linewidth=0.8, linestyle="--")
    words(
        ax,
        x=f"share of the distribution of {one.variable} below the value seen",
        y="rows",
        title=f"{one.coverage[0.9]:.1%} of the values in their 90 % intervals",
    )
    legend(ax)
    return ax


def surprise(report: Any, ax: Any = None) -> Any:
    """The surprise of every row in bits, and the line that outliers lie above.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.BDeu(1))
    >>> report = cr.check(net, cr.examples.pneumonia(), draws=50, sections=["outliers"])
    >>> cr.plot.surprise(report).get_ylabel()
    'surprise, bits'
    """
    found = _section(report, "outliers")
    ax = axes(ax)
    bits = np.asarray(found.bits, dtype=np.float64)
    rows = np.arange(1, len(bits) + 1)
    finite = np.isfinite(bits)
    over = finite & (bits > found.threshold)
    ax.scatter(rows[finite & ~over], bits[finite & ~over], s=6, color=_BLUE, label="rows")
    if over.any():
        ax.scatter(rows[over], bits[over], s=18, color=_ORANGE, label="outliers")
    if (~finite).any():
        top = float(
            bits[finite].max(initial=found.threshold if np.isfinite(found.threshold) else 1)
        )
        ax.scatter(rows[~finite], np.full(int((~finite).sum()), top), marker="^", color="tab:red",
                   label="probability zero")  # fmt: skip
    if np.isfinite(found.threshold):
        ax.axhline(found.threshold, color=_GREY, linestyle="--", linewidth=0.8,
                   label="95 % of generated tables stay below")  # fmt: skip
    words(ax, x="row", y="surprise, bits")
    legend(ax)
    return ax


def held_out_bars(report: Any, ax: Any = None) -> Any:
    """How far each baseline is behind the model on rows not seen, in bits a row.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.BDeu(1))
    >>> report = cr.check(net, cr.examples.pneumonia(), sections=["held_out"])
    >>> cr.plot.held_out_bars(report).get_xlabel()
    'bits a row behind the model, ± 2 standard errors'
    """
    found = _section(report, "held_out")
    if not found.baselines:
        raise InputError("The report has no baselines to draw.")
    ax = axes(ax)
    per = 1 / np.log(2)
    lead = [b.lead * per for b in found.baselines]
    error = [2 * b.lead_error * per for b in found.baselines]
    colours = [_BLUE if v >= 0 else _ORANGE for v in lead]
    ax.barh(range(len(lead)), lead, xerr=error, color=colours, alpha=0.7)
    name_rows(ax, [b.name for b in found.baselines])
    ax.axvline(0, color="black", linewidth=0.8)
    words(ax, x="bits a row behind the model, ± 2 standard errors")
    return ax


def edge_bars(report: Any, ax: Any = None, most: int = 25) -> Any:
    """How often each edge comes back in resamples, weakest first.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> rows = cr.examples.titanic().select(["Survived", "Sex", "Pclass"])
    >>> net = cr.fit("[Sex][Pclass][Survived|Sex:Pclass]", rows, prior=cr.BDeu(1))
    >>> report = cr.check(net, rows, edges=10, sections=["edges"])
    >>> cr.plot.edge_bars(report).get_xlabel()
    'share of 10 resamples'
    """
    found = _section(report, "edges")
    if not found.edges:
        raise InputError("The graph has no edges to draw.")
    ax = axes(ax)
    shown = found.edges[:most]
    ax.barh(range(len(shown)), [e.strength for e in shown], color=_BLUE, alpha=0.4, label="joined")
    arrows = [e.strength * e.direction for e in shown]
    ax.barh(range(len(shown)), arrows, color=_BLUE, label="with this arrow")
    name_rows(ax, [e.name for e in shown])
    ax.axvline(0.5, color=_GREY, linestyle="--", linewidth=0.8)
    ax.set_xlim(0, 1)
    words(ax, x=f"share of {found.samples:,} resamples")
    legend(ax)
    return ax


def tornado(found: Any, ax: Any = None, most: int = 15) -> Any:
    """The answer over the range of each parameter, those that move it most on top.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> net = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> cr.plot.tornado(net.sensitivity("P(rain=true | wet=true)")).get_title()
    'P(rain=true | wet=true) = 0.6667'
    """
    ax = axes(ax)
    shown = found.parameters[:most]
    for k, p in enumerate(shown):
        colour = _BLUE if p.derivative > 0 else _ORANGE
        ax.barh(k, p.high - p.low, left=p.low, color=colour, alpha=0.7)
    name_rows(ax, [p.parameter for p in shown])
    ax.axvline(found.answer, color="black", linewidth=0.8)
    if found.threshold is not None:
        ax.axvline(found.threshold, color=_GREY, linewidth=0.8, linestyle="--")
    words(ax, x=f"answer {found.range}", title=f"{found.question} = {found.answer:.4g}")
    return ax


def evidence_bars(found: Any, ax: Any = None, most: int = 15) -> Any:
    """What each variable would tell of the target, in bits.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> net = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> cr.plot.evidence_bars(net.evidence_value("rain")).get_xlabel()
    'bits on rain'
    """
    ax = axes(ax)
    shown = found.gains[:most]
    ax.barh(range(len(shown)), [g.bits for g in shown], color=_BLUE)
    name_rows(ax, [g.variable for g in shown])
    words(ax, x=f"bits on {found.target}")
    if found.uncertainty is not None:
        words(ax, title=f"of {found.uncertainty:.3g} bits that are not known")
    return ax
