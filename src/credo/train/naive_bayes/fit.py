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
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError, unknown_name
from credo.core.interval_states import cuts_of
from credo.model.naive_bayes.blocks import NormalBlock, StateBlock
from credo.model.naive_bayes.features import Bag, Feature, Kernel, Normals, States
from credo.model.naive_bayes.model import NaiveBayesModel
from credo.model.values.record import Record
from credo.stats.by_class import ByClass, ClassMoments, JointMoments, Points, StateCounts, Totals
from credo.stats.window_counts import WindowCounts
from credo.train.naive_bayes.plan import check_numbers


@dataclass(frozen=True, slots=True)
class Options:
    """How a statistic becomes a model; see the names in `NaiveBayes`."""

    smoothing: Any = 1.0
    class_prior: Any = None
    class_smoothing: float = 0.0
    variance: str = "shrunk"
    variance_floor: float = 1e-9
    min_states: Any = None

    def __post_init__(self) -> None:
        if self.variance not in ("shrunk", "ml", "sample"):
            raise InputError(f"variance must be 'shrunk', 'ml' or 'sample', got {self.variance!r}.")
        not_negative(self.class_smoothing, "class_smoothing")
        if not (not_negative(self.variance_floor, "variance_floor") > 0):
            raise InputError("variance_floor must be above 0, got 0.")

    def without(self, names: Collection[str]) -> Options:
        """The same options, less those of columns that were set aside.

        >>> Options({"a": 1, "b": 2}).without(["b"]).smoothing
        {'a': 1}
        """
        if not names:
            return self
        changed: dict[str, Any] = {
            what: {n: v for n, v in given.items() if n not in names}
            for what in ("smoothing", "min_states")
            if isinstance(given := getattr(self, what), Mapping)
        }
        return replace(self, **changed) if changed else self

    def numbers_of(self, numbers: Any, kinds: Any) -> tuple[str, Any]:
        """How numbers are modelled, in a word, and the kinds of those that a mapping names.

        Intervals need a prior: without one, a class that lacks a row in one of them is ruled out.

        >>> Options().numbers_of("auto", "auto"), Options(variance="ml").numbers_of("auto", "auto")
        (('auto', 'auto'), ('gaussian', 'auto'))
        """
        word, kinds = check_numbers(numbers, kinds)
        given = self.smoothing.values() if isinstance(self.smoothing, Mapping) else [self.smoothing]
        with_prior = self.variance == "shrunk" and all(v != 0 for v in given)
        return ("gaussian" if word == "auto" and not with_prior else word), kinds

    def smoothing_of(self, name: str) -> float:
        """l of one feature."""
        return self.of_feature(self.smoothing, name, 1.0, f"The smoothing of {name!r}")

    def prior_rows(self, names: Sequence[str]) -> NDArray[np.float64]:
        """The rows of the variance within the classes that count as more rows of each class.

        >>> Options({"a": 2}).prior_rows(["a", "b"]).tolist()
        [2.0, 1.0]
        """
        if self.variance != "shrunk":
            return np.zeros(len(names))
        if isinstance(self.smoothing, Mapping):
            return np.array([self.smoothing_of(n) for n in names])
        return np.full(len(names), self.smoothing_of(names[0]) if names else 0.0)

    def least_of(self, name: str) -> float:
        """The number of states a feature has at least."""
        return self.of_feature(self.min_states or 0, name, 0, f"min_states of {name!r}")

    def of_feature(self, given: Any, name: str, otherwise: float, what: str) -> float:
        """A number for one feature, from one for all or a mapping by name."""
        if isinstance(given, Mapping):
            given = given.get(name, otherwise)
        return not_negative(given, what)


def not_negative(value: Any, what: str) -> float:
    """A finite number that is 0 or more; anything else is refused."""
    if type(value) is float and 0 <= value < math.inf:
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InputError(f"{what} must be a number of 0 or more, got {value!r}.")
    if not 0 <= value < math.inf:
        raise InputError(f"{what} must be a number of 0 or more, got {value!r}.")
    return float(value)


Floats = NDArray[np.float64]


def train(statistic: ByClass, options: Options, source: str = "") -> NaiveBayesModel:
    """The model of some rows, from their statistics by class alone.

    >>> import numpy as np
    >>> from credo import Variable
    >>> y = Variable("y", "discrete", ("a", "b")); x = Variable("x", "discrete", (0, 1))
    >>> x = StateCounts(x, np.array([[2, 0], [0, 1]]))
    >>> s = ByClass(y, np.array([2, 1]), ("x",), counts=(x,))
    >>> np.exp(train(s, Options()).features[0].log_theta).round(4).tolist()
    [[0.75, 0.25], [0.3333, 0.6667]]
    """
    log_prior = check_options(statistic, options)
    assert log_prior is not None
    features, notes = _features(statistic, options)
    if statistic.unlabelled:
        notes += (f"{statistic.unlabelled:,} rows without a class were left out",)
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
        for name in given:
            if name not in statistic.names:
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


def _features(statistic: ByClass, options: Options) -> tuple[Sequence[Feature], tuple[str, ...]]:
    """All features in order, and what was noticed of them; those of one array stay in one."""
    counts, moments = statistic.counts, statistic.moments
    alone = not (statistic.joint or statistic.words or statistic.points)
    if alone and moments is None and not isinstance(counts, tuple):
        return _state_block(counts, options)
    if alone and moments is not None and not len(counts) and not moments.scales:
        return _normal_block(moments, options, statistic.target.states)
    notes: dict[str, list[str]] = {n: [] for n in statistic.names}
    found: dict[str, Feature] = {}
    for part in counts:
        name = part.variable.name
        found[name] = _states(part, options, notes[name])
    if moments is not None:
        normals, said = _normal_block(moments, options, statistic.target.states)
        for at, name in enumerate(moments.names):
            found[name] = replace(normals.one(at), scale=moments.scales.get(name))
        for name, note in zip(_noted(normals), said, strict=True):
            notes[name].append(note)
    for joint in statistic.joint:
        found[joint.names[0]] = _normals(joint, options, statistic, notes[joint.names[0]])
    if statistic.words is not None and statistic.words.words:
        found[statistic.words.words[0]] = _bag(statistic.words, options)
    for points in statistic.points:
        found[points.name] = _kernel(points, options, notes[points.name])
    features = tuple(found[n] for n in statistic.names if n in found)
    return features, tuple(note for said in notes.values() for note in said)


def log_shares(n: Floats, smoothing: Any, states: Any) -> tuple[Floats, Floats]:
    """ln (n + l) / (N + l·J) for each state, and for one never seen; unseen classes are uniform.

    The states are the last axis of `n`; l and J are numbers, or arrays for the axes before it.
    """
    total = n.sum(axis=-1) + smoothing * states
    empty = total == 0
    each = smoothing[..., None] if isinstance(smoothing, np.ndarray) else smoothing
    with np.errstate(divide="ignore", invalid="ignore"):
        theta = np.log(n + each) - np.log(total)[..., None]
        new = np.log(smoothing) - np.log(total + smoothing)
    if empty.any():
        many = np.broadcast_to(np.asarray(states, dtype=np.float64), empty.shape)[empty]
        theta[empty] = -np.log(many)[:, None]
        new[empty] = -np.log(many + 1)
    return theta, new


def _state_block(counts: WindowCounts, options: Options) -> tuple[StateBlock, tuple[str, ...]]:
    """Discrete features whose states are whole numbers of one window, all at once."""
    names, known = counts.names, counts.known
    count = known.sum(axis=1)
    smoothing: Any = options.smoothing_of(names[0])
    if isinstance(options.smoothing, Mapping):
        smoothing = np.array([options.smoothing_of(n) for n in names])
    least: Any = options.least_of(names[0])
    if isinstance(options.min_states, Mapping):
        least = np.array([options.least_of(n) for n in names])
    states = np.maximum(count, least).astype(np.float64)
    each = np.broadcast_to(np.asarray(smoothing, dtype=np.float64), states.shape)
    values = np.ascontiguousarray(counts.values)
    theta, new = _core.naive_log_shares(values, np.ascontiguousarray(each), states)
    found = StateBlock(names, counts.low, known, theta, values, new, smoothing, counts.above)
    alone = np.flatnonzero((count == 1) & (np.asarray(least) < 2)).tolist()
    return found, tuple(_one_state(names[j], counts.states(j)[0]) for j in alone)


def _one_state(name: str, state: Any) -> str:
    return f"column {name!r} has one state, {state!r}: it tells nothing"


def _states(part: StateCounts, options: Options, notes: list[str]) -> States:
    name = part.variable.name
    smoothing, least = options.smoothing_of(name), options.least_of(name)
    n = part.values.astype(np.float64)
    theta, new = log_shares(n, smoothing, max(n.shape[1], least))
    if n.shape[1] == 1 and least < 2 and cuts_of(part.variable.states) is None:
        notes.append(_one_state(name, part.variable.states[0]))
    return States(part.variable, theta, n + smoothing, new, smoothing, part.above)


def _normal_block(
    moments: ClassMoments, options: Options, classes: Sequence[Any]
) -> tuple[NormalBlock, tuple[str, ...]]:
    """Gaussian features, each alone, all at once."""
    names, n, scatter = moments.names, moments.n, moments.scatter
    sample, prior = options.variance == "sample", options.prior_rows(names)
    mean, variance, floored, idle = _core.naive_gaussians(
        n, moments.mean, scatter, options.variance_floor, sample, prior
    )
    mean = moments.mean if mean is None else mean  # every class has rows
    if options.variance == "shrunk":
        scatter = variance * n
    found = NormalBlock(names, mean, variance, n, scatter, floored, idle)
    notes: list[str] = []
    for j, c in _noted_at(found):
        if idle[j]:
            what = "is constant" if n[j].sum() else "has no value"
            notes.append(f"column {names[j]!r} {what}: it tells nothing")
        else:
            notes.append(
                f"column {names[j]!r} has no spread in class {classes[c]!r} ({n[j, c]:g} rows): "
                "its variance there comes from all classes"
            )
    return found, tuple(notes)


def _noted_at(block: NormalBlock) -> list[tuple[int, int]]:
    """Feature and class of each note; the first class of a feature that is constant."""
    if not (block.floored.any() or block.idle.any()):
        return []
    told = block.floored & ~block.idle[:, None]
    told[block.idle, 0] = True
    return [(int(j), int(c)) for j, c in np.argwhere(told)]


def _noted(block: NormalBlock) -> list[str]:
    """The feature of each note."""
    return [block.names[j] for j, _ in _noted_at(block)]


def _bag(part: Totals, options: Options) -> Bag:
    given = options.smoothing
    default = 1.0 if isinstance(given, Mapping) else given
    l = not_negative(default, "smoothing")  # noqa: E741  (the lecture's letter)
    n = part.values.astype(np.float64)
    theta, _ = log_shares(n, l, len(part.words))
    return Bag(part.words, theta, n + l)


def _floor(part: JointMoments, options: Options, notes: list[str]) -> Floats:
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


def _normals(part: JointMoments, options: Options, statistic: ByClass, notes: list[str]) -> Normals:
    floor = _floor(part, options, notes)
    d, classes = len(part.names), len(part.n)
    covariance, scatter = np.empty((classes, d, d)), np.empty((classes, d, d))
    total, middle, pooled = part.pooled()
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
    mean = np.where((part.n > 0)[:, None], part.mean, middle)
    return Normals(part.names, mean, covariance, part.n, scatter)


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
