"""Pictures of classifiers: evidence by cell, reliability, learning curves."""

from __future__ import annotations

import math
import textwrap
from typing import Any

from credo.core.errors import InputError
from credo.model.values.reals import shown
from credo.plot.axes import axes, entry, legend, name_rows, words


def contributions(found: Any, ax: Any = None, most: int = 20) -> Any:
    """The evidence of each cell for a class against another, in bits, as bars.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> model = cr.naive_bayes(cr.examples.play_tennis(), "PlayTennis")
    >>> cr.plot.contributions(model.explain({"Outlook": "Sunny"})).get_xlabel()
    'bits for No against Yes'
    """
    ax = axes(ax)
    cells = [("(prior)", "", found.prior), *found.cells[:most]]
    labels = [f"{n} = {v}" if v != "" else str(n) for n, v, _ in cells]
    widest = max([abs(b) for _, _, b in cells if math.isfinite(b)], default=1.0) or 1.0
    bits = [b if math.isfinite(b) else math.copysign(1.1 * widest, b) for _, _, b in cells]
    colours = ["tab:blue" if b >= 0 else "tab:orange" for b in bits]
    ax.barh(range(len(bits)), bits, color=colours)
    name_rows(ax, labels)
    ax.axvline(0, color="black", linewidth=0.8)
    words(
        ax, x=f"bits for {found.of} against {found.against}", title=f"P({found.of}) = {found.p:.4f}"
    )
    return ax


def reliability(report: Any, ax: Any = None) -> Any:
    """Predicted against observed shares; the diagonal is honesty, dots grow with their rows."""
    ax = axes(ax)
    p, right, n = report.curve.T
    ax.plot([0, 1], [0, 1], color="grey", linewidth=0.8, linestyle="--", label="honest")
    ax.plot(p, right, color="tab:blue", linewidth=1.0)
    ax.scatter(p, right, s=20 + 180 * n / n.max(), color="tab:blue", label="observed", zorder=3)
    words(
        ax,
        x="predicted probability",
        y="observed share",
        title=f"calibration error {report.error:.4f}, slope {report.slope:.3f}",
    )
    legend(ax)
    return ax


def cost_curve(report: Any, variable: str | None = None, ax: Any = None) -> Any:
    """What decisions cost by the share of cost on either error, beside one call for all rows.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.BDeu(1))
    >>> wrong = {"Pneu": {"T": {"F": 5}, "F": {"T": 1}}}
    >>> report = cr.check(net, cr.examples.pneumonia(), sections=["costs"], costs=wrong)
    >>> cr.plot.cost_curve(report).get_ylabel()
    'cost for each row'
    """
    found = getattr(report, "costs", report)
    if found is None:
        raise InputError("The report has no costs.", hint="Give cr.check(…, costs={…}).")
    one = found.variables[0] if variable is None else found[variable]
    if not len(one.curve):
        raise InputError(f"{one.variable!r} has more than two classes, so it has no cost curve.")
    ax = axes(ax)
    t, paid, fixed = one.curve.T
    ax.plot(t, fixed, color="grey", linewidth=0.8, linestyle="--", label="one call for all rows")
    ax.plot(t, paid, color="tab:blue", label="by the model")
    words(ax, x="share of the cost on wrong calls of the second class", y="cost for each row",
          title=one.variable)  # fmt: skip
    legend(ax)
    return ax


def learning_curves(curves: Any, ax: Any = None) -> Any:
    """Log loss on rows held out against the number of rows learned from."""
    ax = axes(ax)
    for method, loss in curves.log_loss.items():
        ax.plot(curves.sizes, loss, marker="o", label=entry(method))
    ax.set_xscale("log")
    words(ax, x="rows learned from", y="log loss on rows held out")
    legend(ax)
    return ax


# --- A picture of learning: what was climbed, iteration by iteration.


def trace(model: Any, ax: Any = None, **line: Any) -> Any:
    """The trace of a learned model: the objective at the start and after each iteration.

    For EM and gradients it is the log-likelihood, for a search its score.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> rows = {"a": [0, 1, None, 1], "b": [0, 1, 1, 1]}
    >>> net = cr.em("[a][b|a]", rows)
    >>> ax = trace(net)
    >>> len(ax.lines[0].get_xdata()) == len(net.record.trace)
    True
    """
    record = getattr(model, "record", model)
    values = getattr(record, "trace", None)
    if not values:
        raise InputError(f"There is no trace to draw in {shown(model)}.")
    ax = axes(ax)
    few = len(values) <= 60
    ax.plot(range(len(values)), values, marker="o" if few else None, markersize=3, **line)
    ax.xaxis.get_major_locator().set_params(integer=True)  # there is no iteration 2.5
    words(ax, x="iteration")
    score = getattr(record, "details", {}).get("score")
    words(ax, y=f"score ({score})" if score else "ln P(rows)")
    title = f"{record.how}: {record.reason}" if record.reason else record.how
    words(ax, title="\n".join(textwrap.wrap(title, 60)), fontsize="small")
    return ax
