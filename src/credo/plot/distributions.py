"""Pictures of distributions: bars, densities, beliefs before and after data, likelihood curves.

Each function draws on `ax`, or on a new pair of axes, and returns it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import InputError, MissingPackageError
from credo.model.conjugate import Conjugate
from credo.model.discrete import Discrete
from credo.model.distribution import Distribution
from credo.model.evidence import columns
from credo.model.gaussian import Gaussian
from credo.model.likelihood import LikelihoodCurve
from credo.model.normal_inverse_gamma import NormalInverseGamma
from credo.model.normal_mean import NormalMean
from credo.model.point import Point
from credo.model.pseudocounts import Pseudocounts
from credo.model.randomness import Rng
from credo.model.realism import observed_rows
from credo.model.student import StudentT

__all__ = ["density", "distribution", "generated", "likelihood_curve", "prior_posterior"]

_SEEN = "0.35"


def _axes(ax: Any) -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingPackageError(
            "Pictures need matplotlib, which is not installed.",
            hint='Run pip install "credo[plot]".',
        ) from None
    return pyplot.subplots(layout="constrained")[1] if ax is None else ax


def distribution(d: Distribution | Discrete, ax: Any = None) -> Any:
    """Bars of the probability of each state, with their credible intervals if there are any.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> ax = distribution(Distribution.of({"no": 0.4, "yes": 0.6}, name="Fever"))
    >>> ax.get_xlabel(), len(ax.patches)
    ('Fever', 2)
    """
    if isinstance(d, Discrete):
        d = d.distribution()
    if not isinstance(d, Distribution):
        raise InputError(f"A discrete distribution is needed, got {d!r}.")
    if len(d) > 200:
        raise InputError(
            f"{len(d):,} bars do not fit in a picture; at most 200 do.",
            hint="Take a marginal() of fewer variables.",
        )
    ax = _axes(ax)
    labels = [str(s) if len(d.names) == 1 else ", ".join(map(str, s)) for s in d]
    p = d.p.ravel()
    where = np.arange(len(p))
    errors = None
    if d.interval is not None:
        low, high = (np.ravel(end) for end in d.interval)
        errors = np.maximum(np.stack([p - low, high - p]), 0.0)
    ax.bar(where, p, width=0.8, yerr=errors, capsize=3)
    ax.set_xticks(where, labels, rotation=90 if len(p) > 12 else 0)
    ax.set_xlabel(", ".join(d.names))
    ax.set_ylabel("probability")
    ax.set_ylim(0, None)
    return ax


def likelihood_curve(curve: LikelihoodCurve, ax: Any = None, *, log: bool = False) -> Any:
    """A likelihood curve scaled to 1, or its logarithm; contours when there are two parameters.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> from credo.model import Bernoulli
    >>> ax = likelihood_curve(Bernoulli.likelihood_curve([True] * 12 + [False] * 8))
    >>> ax.get_title()
    'greatest at 0.6'
    """
    ax = _axes(ax)
    best = np.atleast_1d(curve.maximum)
    if len(curve.grids) == 2:
        x, y = curve.grids
        drops = curve.log_likelihood.T - curve.highest
        ax.contour(x, y, drops, levels=[-8.0, -4.5, -2.0, -0.5])
        ax.plot(*best, "o", color=_SEEN)
        ax.set_ylabel(curve.parameters[1])
    else:
        values = curve.log_likelihood if log else curve.likelihood
        shown = np.isfinite(values)
        ax.plot(curve.grids[0][shown], values[shown])
        ax.axvline(best[0], color=_SEEN, linestyle="--", linewidth=1)
        ax.set_ylabel("log-likelihood" if log else "likelihood (greatest = 1)")
    ax.set_xlabel(curve.parameters[0])
    ax.set_title("greatest at " + ", ".join(f"{b:.6g}" for b in best))
    return ax


def _belief(c: Conjugate, of: Any) -> tuple[str, Any, tuple[float, float]]:
    """What the belief is about, its density, and where it is worth drawing."""
    if isinstance(c, Pseudocounts):
        state = c._state(of)
        beta = c.marginal(state)
        return f"P({c.name} = {state})", lambda x: np.exp(beta.logpdf(x)), (0.0, 1.0)
    if isinstance(c, (NormalMean, NormalInverseGamma)):
        over: Gaussian | StudentT
        over = c.belief if isinstance(c, NormalMean) else c.marginal_mean()
        low, high = over.interval(0.98)
        return f"mean of {c.name}", over.pdf, (low, high)
    raise InputError(
        "Only beliefs about one parameter can be drawn as a curve.",
        hint="Take the marginal() of one column first.",
    )


def prior_posterior(
    prior: Conjugate, posterior: Conjugate, ax: Any = None, *, of: Any = None
) -> Any:
    """What is believed of a parameter before and after data, as two curves.

    An improper prior has no density, so only the posterior is drawn.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> from credo.model import Beta
    >>> ax = prior_posterior(Beta(3, 4), Beta(6, 6))
    >>> [line.get_label() for line in ax.lines]
    ['prior', 'posterior']
    """
    if type(prior) is not type(posterior):
        raise InputError("A prior and its posterior are of the same kind.")
    ax = _axes(ax)
    shown = [("prior", prior)] if prior.is_proper else []
    views = [(label, *_belief(c, of)) for label, c in [*shown, ("posterior", posterior)]]
    ends = [v[3] for v in views]
    x = np.linspace(min(e[0] for e in ends), max(e[1] for e in ends), 401)
    if isinstance(prior, Pseudocounts):
        x = x[1:-1]  # a density may be infinite at 0 and 1
    for (label, _, pdf, _), style in zip(views, ["--", "-"][-len(views) :], strict=True):
        ax.plot(x, pdf(x), style, label=label)
    ax.set_xlabel(views[-1][1])
    ax.set_ylabel("density")
    ax.set_ylim(0, None)
    ax.legend()
    return ax


def density(model: Gaussian | StudentT, data: Any = None, ax: Any = None) -> Any:
    """The density of a Gaussian or Student t, over a histogram of the data if it is given.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> density(Gaussian(6, 1), [4.0, 8.0, 6.0]).get_ylabel()
    'density'
    """
    if not isinstance(model, (Gaussian, StudentT)):
        raise InputError(f"A Gaussian or a StudentT is needed, got {model!r}.")
    ax = _axes(ax)
    low, high = model.interval(0.998 if isinstance(model, Gaussian) else 0.98)
    if data is not None:
        _, rows = columns(data, (model.name,))
        seen = rows[:, 0]
        if seen.size:
            low, high = min(low, seen.min()), max(high, seen.max())
            ax.hist(seen, bins=_bins(seen), density=True, color=_SEEN, alpha=0.35, label="seen")
    x = np.linspace(low, high, 401)
    ax.plot(x, model.pdf(x), label=type(model).__name__)
    ax.set_xlabel(model.name)
    ax.set_ylabel("density")
    ax.set_ylim(0, None)
    ax.legend()
    return ax


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

    The bars are the data; each thin line is one generated set. Does the data look like one of
    them? Given a posterior, each set draws its own parameter first.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> ax = generated(Gaussian(6, 1), [4.0, 8.0, 6.0], n=5, rng=0)
    >>> ax.get_title()
    '3 values seen, 5 data sets generated'
    """
    ax = _axes(ax)
    seen = observed_rows(model, data)
    if not len(seen):
        raise InputError("There is no data to compare with.")
    sets = list(model.replicates(len(seen), n, rng))
    if isinstance(model, (Discrete, Pseudocounts)):
        variable = model.variable
        where = np.arange(variable.arity)

        def share(values: list[Any]) -> NDArray[np.float64]:
            codes = [variable.code(v) for v in values]
            return np.bincount(codes, minlength=variable.arity) / len(values)

        ax.bar(where, share(seen), color=_SEEN, alpha=0.35, label="seen")
        for i, values in enumerate(sets):
            ax.plot(where, share(values), "_", color="C0", ms=20, label="" if i else "generated")
        ax.set_xticks(where, [str(s) for s in variable.states])
        ax.set_ylabel("share")
    else:
        if np.ndim(seen) > 1:
            raise InputError(
                "A histogram shows one variable.", hint="Take the marginal() of one column."
            )
        every = np.concatenate([seen, np.ravel(sets)])
        low, high = np.quantile(every, [0.005, 0.995])
        low, high = min(low, seen.min()), max(high, seen.max())
        edges = np.linspace(low, high, max(6, min(40, 2 * round(len(seen) ** 0.5) + 6)))
        ax.hist(seen, bins=edges, color=_SEEN, alpha=0.35, label="seen")
        for i, values in enumerate(sets):
            n_bin, _ = np.histogram(values, bins=edges)
            label = "" if i else "generated"
            ax.stairs(n_bin, edges, color="C0", alpha=0.4, linewidth=1, label=label)
        ax.set_ylabel("values")
    ax.set_xlabel(getattr(model, "name", ""))
    ax.set_title(f"{len(seen):,} values seen, {n:,} data sets generated")
    ax.legend()
    return ax
