"""From statistics by class to a naive Bayes model.

    P(c)      = (n[c] + l₀) / (n + l₀·C)                       l₀ = 0 unless told otherwise
    P(x | c)  = (n[c, x] + l) / (n[c] + l·J)                   l = 1: Laplace; l = 0: likelihood
    variance  = (scatter + l·w) / (n + l)                      w: the variance within the classes
              = scatter / n   or   scatter / (n − 1)           by name: "ml", "sample"

θ is the posterior mean under a symmetric Dirichlet prior with l pseudo-counts a state, and so the
probability of the next value. A variance has the scaled inverse-χ² prior of l degrees of freedom
about w, what the feature varies within the classes (over all rows, if in no class it does): l more
rows of each class that vary as much (1/variance is the posterior mean of the precision, Gelman et
al. 2013, 2.6). So a class of few rows, or of rows that agree, is not infinitely sure. By name there
is no prior, and a variance is at least `variance_floor` times w. A feature that is constant over
all rows tells nothing, and has the factor 1 in every class.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, unknown_name
from credo.model.naive_bayes.features import Bag, Feature, Kernel, Normals, States
from credo.model.naive_bayes.model import NaiveBayesModel
from credo.model.values.record import Record
from credo.stats.by_class import Block, ByClass, Points, Spread, StateCounts, Totals
from credo.stats.class_blocks import Spreads
from credo.train.naive_bayes.blocks import feature_block, log_shares, normal_block
from credo.train.naive_bayes.groups import apart
from credo.train.naive_bayes.notes import AndMore
from credo.train.naive_bayes.options import Options, not_negative

__all__ = ["Options", "check_options", "class_log_prior", "train"]

Floats = NDArray[np.float64]


def train(statistic: ByClass, options: Options, source: str = "") -> NaiveBayesModel:
    """The model of some rows, from their statistics by class alone.

    >>> import numpy as np
    >>> from credo import Variable
    >>> y = Variable("y", "discrete", ("a", "b")); x = Variable("x", "discrete", (0, 1))
    >>> s = ByClass(y, np.array([2, 1]), (StateCounts(x, np.array([[2, 0], [0, 1]])),))
    >>> np.exp(train(s, Options()).features[0].log_theta).round(4).tolist()
    [[0.75, 0.25], [0.3333, 0.6667]]
    """
    log_prior = check_options(statistic, options)
    assert log_prior is not None
    features, notes = _features(statistic, options)
    if statistic.unlabelled:
        notes = AndMore(notes, (f"{statistic.unlabelled:,} rows without a class were left out",))
    how = f"naive Bayes with l = {options.smoothing}"
    return NaiveBayesModel(
        statistic.target,
        log_prior,
        features,
        statistic,
        partial(train, options=options, source=source),
        Record(how, source, notes=notes),
        _class_alpha(statistic, options),
    )


def _class_alpha(statistic: ByClass, options: Options) -> Floats | None:
    """The Dirichlet posterior of P(class): with at least one imagined row for each class."""
    if options.class_prior is not None:
        return None
    return statistic.weight + max(float(options.class_smoothing), 1.0)


def check_options(statistic: ByClass, options: Options, some: bool = True) -> Floats | None:
    """ln P(class); options that do not fit the statistics are refused.

    Without `some` rows that have a class, which may come later, P(class) is not known yet.
    """
    for what, check in (("smoothing", options.smoothing_of), ("min_states", options.least_of)):
        given = getattr(options, what)
        if not isinstance(given, Mapping):
            for name in statistic.names[:1]:
                check(name)
            continue
        aside = getattr(statistic.open, "order", ())
        for name in given:
            if name not in statistic.names and name not in aside:
                raise unknown_name(f"The {what} of", name, statistic.names, "for a feature")
            check(name)
    if not some and not statistic.weight.any() and options.class_prior is None:
        return None
    return class_log_prior(statistic, options)


def class_log_prior(statistic: ByClass, options: Options) -> Floats:
    """ln P(class): as given, or from the weights of the classes."""
    classes = statistic.target.states
    given = options.class_prior
    if given is None:
        n = statistic.weight.astype(np.float64) + options.class_smoothing
        if n.sum() == 0:
            raise InputError("There is no row with a class to learn from.")
        with np.errstate(divide="ignore"):
            return np.log(n) - math.log(n.sum())
    if isinstance(given, Mapping):
        for c in given:
            if c not in classes:
                raise unknown_name("The class", c, classes, f"one of {statistic.target.name!r}")
        for c in classes:
            if c not in given:
                raise InputError(
                    f"class_prior has no probability for the class {c!r}.",
                    hint="Give one to each class; they add up to 1.",
                )
        given = [given[c] for c in classes]
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise _no_prior(given)
    try:
        p = np.array([float(v) for v in given])
    except (TypeError, ValueError):
        raise _no_prior(options.class_prior) from None
    if p.shape != (len(classes),):
        raise InputError(
            f"class_prior must have one probability for each of the {len(classes)} classes, "
            f"got {len(p)}: Number of priors must match number of classes."
        )
    if not (p >= 0).all():
        raise InputError("class_prior must not be negative: Priors must be non-negative.")
    if abs(p.sum() - 1) > 1e-8:
        raise InputError(f"class_prior must add up to 1, got {p.sum():.9g}.")
    with np.errstate(divide="ignore"):
        out: Floats = np.log(p / p.sum())
    return out


def _no_prior(given: Any) -> InputError:
    return InputError(
        f"class_prior must be a mapping or a list of probabilities, got {given!r}.",
        hint="None takes the shares of the classes.",
    )


Noted = tuple[Feature, list[str]]


def _features(statistic: ByClass, options: Options) -> tuple[Sequence[Feature], Sequence[str]]:
    """All features, and what was noticed of them."""
    if isinstance(statistic.parts, Block):
        return feature_block(statistic.parts, options, statistic.target.states)
    statistic = replace(statistic, parts=tuple(apart(statistic.parts)))
    notes: list[str] = []
    known = _alike(statistic, options)
    features = tuple(
        _noted(known.pop(i), notes) if i in known else _feature(part, options, statistic, notes)
        for i, part in enumerate(statistic.parts)
    )
    return features, tuple(notes)


def _noted(found: Noted, notes: list[str]) -> Feature:
    notes += found[1]
    return found[0]


def _alike(statistic: ByClass, options: Options) -> dict[int, Noted]:
    """The features that are learned together by place: states as many each, and single reals.

    A table has many small features, and a few calls for each cost more than the numbers.
    """
    reals = [i for i, p in enumerate(statistic.parts) if type(p) is Spread and len(p.names) == 1]
    alone = [statistic.parts[i] for i in reals]
    found = dict(zip(reals, _normals_alone(alone, options, statistic.target.states), strict=True))
    groups: dict[tuple[int, float, float], list[int]] = {}
    for i, p in enumerate(statistic.parts):
        if type(p) is StateCounts:
            given = options.smoothing_of(p.variable.name), options.least_of(p.variable.name)
            groups.setdefault((len(p.variable.states), *given), []).append(i)
    for (_, smoothing, least), places in groups.items():
        parts: Any = [statistic.parts[i] for i in places]
        found |= dict(zip(places, _states(parts, smoothing, least), strict=True))
    return found


def _feature(part: Any, options: Options, statistic: ByClass, notes: list[str]) -> Feature:
    if isinstance(part, Totals):
        return _bag(part, options)
    if isinstance(part, Points):
        return _kernel(part, options, notes)
    assert isinstance(part, Spread)
    return _normals(part, options, statistic, notes)


def _states(parts: Sequence[StateCounts], smoothing: float, least: float) -> list[Noted]:
    """Features that have the same number of states."""
    n = np.stack([p.values for p in parts]).astype(np.float64)
    states = n.shape[-1]
    theta, new = log_shares(n, smoothing, max(states, least))
    alpha = n + smoothing
    out: list[Noted] = []
    for i, p in enumerate(parts):
        feature = States(p.variable, theta[i], alpha[i], new[i], smoothing, p.above)
        notes = []
        if states == 1 and least < 2:
            name, only = p.variable.name, p.variable.states[0]
            notes.append(f"column {name!r} has one state, {only!r}: it tells nothing")
        out.append((feature, notes))
    return out


def _bag(part: Totals, options: Options) -> Bag:
    given = options.smoothing
    default = 1.0 if isinstance(given, Mapping) else given
    l = not_negative(default, "smoothing")  # noqa: E741  (the lecture's letter)
    n = part.values.astype(np.float64)
    theta, _ = log_shares(n, l, len(part.words))
    return Bag(part.words, theta, n + l)


def _floor(part: Spread, options: Options, notes: list[str]) -> Floats:
    """The least variance of each variable: a share of its variance within the classes."""
    n, mean, scatter = part.pooled()
    pooled = np.diagonal(scatter) / max(n, 1.0)
    within = np.diagonal(part.scatter.sum(axis=0)) / max(n, 1.0)
    if not n:
        names = ", ".join(map(repr, part.names))
        notes.append(f"no row has a value in each of {names}: together they tell nothing")
    for name, v in zip(part.names, pooled, strict=True):
        if n and v == 0:
            notes.append(f"column {name!r} is constant: it tells nothing")
    scale = np.where(within > 0, within, pooled)
    return np.where(scale > 0, scale * options.variance_floor, np.maximum(mean**2, 1.0) * 1e-18)


def _means(part: Spread) -> Floats:
    """The mean in each class; over all rows where a class has no value."""
    return np.where((part.n > 0)[:, None], part.mean, part.pooled()[1])


def _normals_alone(parts: Sequence[Any], options: Options, classes: Sequence[Any]) -> list[Noted]:
    """Real features that stand alone, all at once: arrays [feature, class]."""
    if not parts:
        return []
    n = np.array([p.n for p in parts])
    mean = np.array([p.mean for p in parts])[:, :, 0]
    scatter = np.array([p.scatter for p in parts])[:, :, 0, 0]
    block = Spreads(tuple(p.names[0] for p in parts), n, mean.copy(), scatter.copy())
    features, noted = normal_block(block, options, classes)
    notes: list[list[str]] = [[] for _ in parts]
    for place, note in zip(noted.places(), noted, strict=True):
        notes[place].append(note)
    return list(zip(features, notes, strict=True))


def _normals(part: Spread, options: Options, statistic: ByClass, notes: list[str]) -> Normals:
    floor = _floor(part, options, notes)
    d, classes = len(part.names), len(part.n)
    covariance, scatter = np.empty((classes, d, d)), np.empty((classes, d, d))
    total, _, pooled = part.pooled()
    prior = float(options.prior_rows(part.names).min())
    more = prior * part.scatter.sum(axis=0) / max(total, 1.0)
    for c in range(classes):
        freedom = part.n[c] - 1.0 if options.variance == "sample" else part.n[c]
        rows = freedom + prior
        s = (part.scatter[c] + more) / rows if freedom > 0 else pooled / max(total, 1.0)
        s = (s + s.T) / 2
        # a documented ridge: enough on the diagonal that every direction has the floor's spread
        scale = np.sqrt(np.maximum(np.diagonal(s), floor))
        least = float(np.linalg.eigvalsh(s / np.outer(scale, scale))[0])
        need = max(options.variance_floor, 1e-12)
        if least < need:
            label = statistic.target.states[c]
            if total:
                notes.append(
                    f"columns {', '.join(map(repr, part.names))} are collinear in class {label!r}: "
                    "a ridge was added"
                )
            s = s + np.diag(scale**2) * (need - min(least, 0.0))
        covariance[c], scatter[c] = s, s * max(freedom, 0.0)
    return Normals(part.names, _means(part), covariance, part.n, scatter)


def _kernel(part: Points, options: Options, notes: list[str]) -> Kernel:
    """Silverman's rule of thumb: 0.9 · min(sd, IQR / 1.34) · n^(−1/5) (Silverman 1986, 3.31)."""
    everything = np.concatenate(part.values)
    if not len(everything):
        notes.append(f"column {part.name!r} has no value: it tells nothing")
        one = np.zeros(1)
        same = tuple(one for _ in part.values)
        return Kernel(part.name, same, tuple(one + 1 for _ in same), np.ones(len(same)))
    with np.errstate(over="ignore"):
        spread = float(np.ptp(everything))
    if spread == 0:
        notes.append(f"column {part.name!r} is constant: it tells nothing")
    elif not 1e-290 < spread < 1e300:
        what, cure = ("close together", "Multiply") if spread < 1 else ("far apart", "Divide")
        raise InputError(
            f"The values of {part.name!r} are too {what} for a density: they spread over "
            f"{spread:g}.",
            hint=f"{cure} {part.name!r} by a power of ten.",
        )
    least = math.sqrt(options.variance_floor) * (spread or max(abs(everything[0]), 1.0))
    points, weights, widths = [], [], []
    for values, w in zip(part.values, part.weights, strict=True):
        if not len(values):  # a class without values has the density of all of them
            values, order = np.unique(everything, return_inverse=True)
            w = np.bincount(order, np.concatenate(part.weights)).astype(np.float64)
        n = w.sum()
        mean = (values * w).sum() / n
        away = (values - mean) / (spread or 1.0)  # squares neither vanish nor pass all bounds
        sd = math.sqrt(max((away**2 * w).sum() / n, 0.0)) * spread
        share = (np.cumsum(w) - w / 2) / n
        low, high = np.interp([0.25, 0.75], share, values)
        size = min(sd, (high - low) / 1.34) or sd
        points.append(values)
        weights.append(np.ascontiguousarray(w, dtype=np.float64))
        widths.append(max(0.9 * size * float(n) ** -0.2, least))
    return Kernel(part.name, tuple(points), tuple(weights), np.array(widths))
