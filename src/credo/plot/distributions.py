"""Pictures of distributions: bars, densities, beliefs before and after data, likelihood curves.

Each function draws on `ax`, or on a new pair of axes, and returns it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError
from credo.model.answers.distribution import Distribution
from credo.model.answers.normal_mixture import NormalMixture
from credo.model.answers.number_answer import NumberAnswer
from credo.model.distributions.categorical import Categorical as Discrete
from credo.model.distributions.conjugate import Conjugate
from credo.model.distributions.dirichlet import Pseudocounts
from credo.model.distributions.gaussian import Gaussian
from credo.model.distributions.likelihood import LikelihoodCurve
from credo.model.distributions.normal_inverse_gamma import NormalInverseGamma
from credo.model.distributions.normal_mean import NormalMean
from credo.model.distributions.point import Point
from credo.model.distributions.predictive_check import observed_rows
from credo.model.distributions.student import StudentT
from credo.model.values.data import columns
from credo.model.values.randomness import Rng, size
from credo.model.values.reals import shown as shown_value
from credo.model.values.value import flag
from credo.plot.axes import axes, name_bars, words

_SEEN = "0.35"

MAX_GENERATED = 10_000
"""At most this many data sets are generated for a picture."""
MAX_CELLS = 20_000_000
"""At most this many values are generated for a picture."""


def distribution(d: Distribution | Discrete | NumberAnswer, ax: Any = None) -> Any:
    """Bars of the probability of each state, with their credible intervals if there are any.

    Of a number in bins, bars of its bins.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> ax = distribution(Distribution.of({"no": 0.4, "yes": 0.6}, name="Fever"))
    >>> ax.get_xlabel(), len(ax.patches)
    ('Fever', 2)
    """
    if isinstance(d, Discrete):
        d = d.distribution()
    if isinstance(d, NumberAnswer):
        d = d.bins
    if not isinstance(d, Distribution):
        raise InputError(f"A discrete distribution is needed, got {shown_value(d)}.")
    if len(d) > 200:
        raise InputError(
            f"{len(d):,} bars do not fit in a picture; at most 200 do.",
            hint="Take a marginal() of fewer variables.",
        )
    ax = axes(ax)
    labels = [str(s) if len(d.names) == 1 else ", ".join(map(str, s)) for s in d]
    p = d.p.ravel()
    where = np.arange(len(p))
    errors = None
    if d.interval is not None:
        low, high = (np.ravel(end) for end in d.interval)
        errors = np.maximum(np.stack([p - low, high - p]), 0.0)
    ax.bar(where, p, width=0.8, yerr=errors, capsize=3 if len(p) <= 40 else 0)
    name_bars(ax, labels)
    words(ax, x=", ".join(d.names), y="probability")
    ax.set_ylim(0, None)
    return ax


def likelihood_curve(curve: LikelihoodCurve, ax: Any = None, *, log: bool = False) -> Any:
    """A likelihood curve scaled to 1, or its logarithm; contours when there are two parameters.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> from credo import Bernoulli
    >>> ax = likelihood_curve(Bernoulli.likelihood_curve([True] * 12 + [False] * 8))
    >>> ax.get_title()
    'greatest at 0.6'
    """
    if not isinstance(curve, LikelihoodCurve):
        raise InputError(
            f"A likelihood curve is needed, got {shown_value(curve)}.",
            hint="Make one with cr.Bernoulli.likelihood_curve(data), or another's.",
        )
    log = flag(log, "log")
    if len(curve.grids) == 2 and min(map(len, curve.grids)) < 2:
        raise InputError(
            f"Contours need at least two values of {curve.parameters[0]} and of "
            f"{curve.parameters[1]}, got {' and '.join(str(len(g)) for g in curve.grids)}."
        )
    ax = axes(ax)
    best = np.atleast_1d(curve.maximum)
    if len(curve.grids) == 2:
        x, y = curve.grids
        drops = curve.log_likelihood.T - curve.highest
        ax.contour(x, y, drops, levels=[-8.0, -4.5, -2.0, -0.5])
        ax.plot(*best, "o", color=_SEEN)
        words(ax, y=curve.parameters[1])
    else:
        values = curve.log_likelihood if log else curve.likelihood
        shown = np.isfinite(values)
        ax.plot(curve.grids[0][shown], values[shown])
        ax.axvline(best[0], color=_SEEN, linestyle="--", linewidth=1)
        words(ax, y="log-likelihood" if log else "likelihood (greatest = 1)")
    words(ax, x=curve.parameters[0], title="greatest at " + ", ".join(f"{b:.6g}" for b in best))
    return ax


def _belief(c: Conjugate, of: Any) -> tuple[str, Any, Gaussian | StudentT | None]:
    """What the belief is about, its density, and its curve if it can lie anywhere."""
    if isinstance(c, Pseudocounts):
        state = c._state(of, "the picture")
        beta = c.marginal(state)
        return f"P({c.name} = {state})", lambda x: np.exp(beta.logpdf(x)), None
    if isinstance(c, (NormalMean, NormalInverseGamma)):
        over: Gaussian | StudentT
        over = c.belief if isinstance(c, NormalMean) else c.marginal_mean()
        return f"mean of {c.name}", over.pdf, over
    raise InputError(
        "Only beliefs about one parameter can be drawn as a curve.",
        hint="Take the marginal() of one column first.",
    )


def _range(prior: Any, posterior: Any) -> tuple[float, float]:
    """Where the curves are drawn: all of the posterior, and the middle half of the prior.

    A prior far wider than the posterior is cut, so that the posterior stays visible.
    """
    if posterior is None:
        return 0.0, 1.0
    low, high = _middle(posterior, 0.995 if isinstance(posterior, Gaussian) else 0.98)
    if prior is not None:
        wide = 10 * (high - low)
        left, right = prior.interval(0.95 if isinstance(prior, Gaussian) else 0.5)
        low, high = min(low, max(left, low - wide)), max(high, min(right, high + wide))
    return low, high


def _middle(model: Any, level: float) -> tuple[float, float]:
    """The central interval; where its tails pass every number, what lies near the centre."""
    low, high = model.interval(level)
    if not np.isfinite(high - low) and isinstance(model, StudentT):
        low, high = model.location - 10 * model.scale, model.location + 10 * model.scale
    return low, high


def prior_posterior(
    prior: Conjugate, posterior: Conjugate, ax: Any = None, *, of: Any = None
) -> Any:
    """What is believed of a parameter before and after data, as two curves.

    An improper prior has no density, so only the posterior is drawn.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> from credo import Beta
    >>> ax = prior_posterior(Beta(3, 4), Beta(6, 6))
    >>> [line.get_label() for line in ax.lines]
    ['prior', 'posterior']
    """
    if not isinstance(prior, Conjugate) or type(prior) is not type(posterior):
        raise InputError("A prior and its posterior are of the same kind.")
    if not posterior.is_proper:
        raise InputError("The posterior is not yet a distribution.", hint="Give it more data.")
    ax = axes(ax)
    shown = [("prior", prior)] if prior.is_proper else []
    views = [(label, *_belief(c, of)) for label, c in [*shown, ("posterior", posterior)]]
    x = np.linspace(*_range(views[0][3] if shown else None, views[-1][3]), 801)
    if isinstance(prior, Pseudocounts):
        x = x[1:-1]  # a density may be infinite at 0 and 1
    for (label, _, pdf, _), style in zip(views, ["--", "-"][-len(views) :], strict=True):
        ax.plot(x, pdf(x), style, label=label)
    words(ax, x=views[-1][1], y="density")
    ax.set_ylim(0, None)
    ax.legend()
    return ax


def density(
    model: Gaussian | StudentT | NormalMixture | NumberAnswer, data: Any = None, ax: Any = None
) -> Any:
    """The density of a number, over a histogram of the data if it is given.

    `model` is a Gaussian, a Student t, or a network's answer about a number.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> density(Gaussian(6, 1), [4.0, 8.0, 6.0]).get_ylabel()
    'density'
    """
    if not isinstance(model, (Gaussian, StudentT, NormalMixture, NumberAnswer)):
        raise InputError(
            f"A Gaussian or a StudentT is needed, got {shown_value(model)}.",
            hint="A network's answer about a number, net.p('x'), is drawn too.",
        )
    ax = axes(ax)
    low, high = _middle(model, 0.98 if isinstance(model, StudentT) else 0.998)
    if data is not None:
        _, rows = columns(data, (model.name,))
        seen = rows[:, 0]
        if seen.size:
            low, high = min(low, seen.min()), max(high, seen.max())
            ax.hist(seen, bins=_bins(seen), density=True, color=_SEEN, alpha=0.35, label="seen")
    pad = 0.02 * (high - low) if isinstance(model, NumberAnswer) else 0.0  # atoms at the ends
    x = np.linspace(low - pad, high + pad, 401)
    name = "model" if isinstance(model, NumberAnswer) else type(model).__name__
    ax.plot(x, _curve(model, x), label=name)
    words(ax, x=model.name, y="density")
    ax.set_ylim(0, None)
    ax.legend()
    return ax


def _curve(model: Any, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The density; of a number in bins that of the small steps, in which an atom can be seen."""
    if isinstance(model, NumberAnswer):
        half = (x[1] - x[0]) / 2
        steps: NDArray[np.float64] = (model.cdf(x + half) - model.cdf(x - half)) / (2 * half)
        return steps
    found: NDArray[np.float64] = model.pdf(x)
    return found


def _bins(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bins of the width 2·IQR/∛n (Freedman & Diaconis 1981), at most 60."""
    quarter, three = np.quantile(values, [0.25, 0.75])
    width = 2 * (three - quarter) / len(values) ** (1 / 3)
    span = float(values.max() - values.min())
    bins = int(min(60.0, max(6.0, span / width))) if width > 0 else 6
    return np.histogram_bin_edges(values, bins=bins)


def generated(
    model: Point | Conjugate, data: Any, n: int = 20, rng: Rng = 0, ax: Any = None
) -> Any:
    """The data seen against `n` data sets of the same size that the model generates.

    The bars are the data. For numbers the line is the median of the generated sets in each bin
    and the band holds 95 % of them; for states each mark is one set. Is the data one of them?
    Given a posterior, each set draws its own parameter first. At most 10,000 sets are drawn.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> ax = generated(Gaussian(6, 1), [4.0, 8.0, 6.0], n=5, rng=0)
    >>> ax.get_title()
    '3 values seen, 5 data sets generated'
    """
    if not isinstance(model, (Point, Conjugate)):
        raise InputError(f"A distribution or a posterior is needed, got {shown_value(model)}.")
    n = size(n, "n", MAX_GENERATED)
    if not n:
        raise InputError("At least one data set must be generated, got n=0.")
    seen = observed_rows(model, data)
    if not len(seen):
        raise InputError("There is no data to compare with.")
    if np.ndim(seen) > 1:
        raise InputError(
            "A histogram shows one variable.", hint="Take the marginal() of one column."
        )
    cells = n * len(seen)
    if cells > MAX_CELLS:
        raise LimitError(
            f"{n:,} sets of {len(seen):,} values would take {cells:,} draws; at most "
            f"{MAX_CELLS:,} are drawn.",
            hint="Generate fewer sets.",
        )
    ax = axes(ax)
    draw = _generated_states if isinstance(model, (Discrete, Pseudocounts)) else _generated_numbers
    draw(model, seen, list(model.replicates(len(seen), n, rng)), ax)
    words(
        ax,
        x=getattr(model, "name", ""),
        title=f"{len(seen):,} values seen, {n:,} data sets generated",
    )
    ax.legend()
    return ax


def _generated_states(model: Any, seen: list[Any], sets: list[Any], ax: Any) -> None:
    variable = model.variable
    where = np.arange(variable.arity)

    def share(values: list[Any]) -> NDArray[np.float64]:
        codes = [variable.code(v) for v in values]
        return np.bincount(codes, minlength=variable.arity) / len(values)

    shares = np.array([share(values) for values in sets])
    low, high = np.quantile(shares, [0.025, 0.975], axis=0)
    ax.bar(where, share(seen), color=_SEEN, alpha=0.35, label="seen")
    for i, row in enumerate(shares[:50]):
        ax.plot(where, row, "_", color="C0", ms=16, alpha=0.35, label="" if i else "generated")
    ax.vlines(where, low, high, color="C0", label="95 % of generated")
    name_bars(ax, [str(s) for s in variable.states])
    words(ax, y="share")


def _generated_numbers(model: Any, seen: NDArray[np.float64], sets: list[Any], ax: Any) -> None:
    every = np.concatenate([seen, np.ravel(sets)])
    low, high = np.quantile(every, [0.005, 0.995])
    low, high = min(low, seen.min()), max(high, seen.max())
    if not high > low:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, max(6, min(40, 2 * round(len(seen) ** 0.5) + 6)))
    heights = np.array([np.histogram(values, bins=edges)[0] for values in sets])
    below, middle, above = np.quantile(heights, [0.025, 0.5, 0.975], axis=0)
    ax.hist(seen, bins=edges, color=_SEEN, alpha=0.35, label="seen")
    ax.stairs(
        above, edges, baseline=below, fill=True, color="C0", alpha=0.2, label="95 % of generated"
    )
    ax.stairs(middle, edges, color="C0", linewidth=1.5, label="median of generated")
    words(ax, y="values")
