"""MixedJoint: discrete and continuous variables together.

    P(d, x) = P(d) · p(x | d)

A distribution of the discrete variables and, for each of their states that can be, the
distribution of the continuous ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.render import bar, many, number, short_probability
from credo.core.state_values import json_state
from credo.model.answers.distribution import Distribution
from credo.model.answers.interval import Interval
from credo.model.answers.multivariate_mixture import MultivariateMixture
from credo.model.answers.normal_mixture import NormalMixture
from credo.model.answers.number_answer import NumberAnswer
from credo.model.answers.numbers_answer import NumbersAnswer
from credo.model.distributions.multivariate import MultivariateGaussian
from credo.model.values.value import Value, View

SHOWN = 60


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MixedJoint(Value, Mapping[Any, Any]):
    """P(d, x): `discrete` is P(d), and a state of d picks p(x | d).

    >>> import credo as cr
    >>> sex, tall = cr.Variable("sex", "discrete", ("f", "m")), cr.Variable("height", "continuous")
    >>> net = cr.Network("[sex][height|sex]", [
    ...     cr.Cpt(sex, (), [0.5, 0.5]),
    ...     cr.LinearGaussian(tall, (sex,), [1.65, 1.78], [], [0.07**2, 0.08**2]),
    ... ])
    >>> both = net.p(["sex", "height"])
    >>> print(both)
    P(sex, height)
    sex        p  mean height  sd height
    f    0.50000         1.65       0.07  ██████████
    m    0.50000         1.78       0.08  ██████████
    >>> both["m"]
    Gaussian(mean=1.78, variance=0.0064)
    >>> round(both.pdf("m", 1.8), 6)
    2.416676
    >>> both.marginal
    NormalMixture(height: 2 Gaussians, mean=1.715, sd=0.099373)

    With `interval=` in the question, `p_interval`, `mean_interval` and `sd_interval` hold the ends
    for each state.
    """

    discrete: Distribution
    continuous: tuple[str, ...]
    given: tuple[Any, ...]
    """p(x | d) for each state of d, None where d is impossible."""
    mean_interval: Interval | None = field(default=None, compare=False)
    sd_interval: Interval | None = field(default=None, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all the variables, the discrete ones first."""
        return (*self.discrete.names, *self.continuous)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the answer rests on, where that is not rows alone."""
        return self.discrete.notes

    @property
    def p_interval(self) -> Interval | None:
        """The credible interval of the probability of each state."""
        return self.discrete.interval

    def _position(self, state: Any) -> int:
        return int(np.ravel_multi_index(self.discrete._where(state), self.discrete.p.shape))

    def __getitem__(self, state: Any) -> Any:
        """The distribution of the continuous variables given a state of the discrete ones."""
        found = self.given[self._position(state)]
        if found is None:
            raise InputError(f"{state!r} has probability zero, so nothing is known given it.")
        return found

    def __iter__(self) -> Iterator[Any]:
        return (s for s, g in zip(self.discrete, self.given, strict=True) if g is not None)

    def __len__(self) -> int:
        return sum(g is not None for g in self.given)

    def logpdf(self, state: Any, x: Any) -> float:
        """ln P(state) + ln p(x | state)."""
        return self.discrete.log_p(state) + float(self[state].logpdf(x))

    def pdf(self, state: Any, x: Any) -> float:
        """P(state) · p(x | state)."""
        return float(np.exp(self.logpdf(state, x)))

    @property
    def marginal(self) -> Any:
        """The distribution of the continuous variables alone: a mixture."""
        parts = [g for g in self.given if g is not None]
        if isinstance(parts[0], NumberAnswer):
            return parts[0].mixed(
                parts, self.discrete.p.ravel()[[g is not None for g in self.given]]
            )
        if isinstance(parts[0], NumbersAnswer):
            below = tuple(None if g is None else g.below for g in self.given)
            return replace(parts[0], below=replace(self, given=below).marginal)
        weights, means, spreads = [], [], []
        for p, part in zip(self.discrete.p.ravel(), self.given, strict=True):
            if part is None:
                continue
            many = isinstance(part, (NormalMixture, MultivariateMixture))
            weights.append(p * (part.weights if many else np.ones(1)))
            means.append(part.means if many else np.atleast_1d(part.mean)[None])
            if len(self.continuous) == 1:
                means[-1] = means[-1].reshape(-1)
                spreads.append(part.variances if many else np.array([part.variance]))
            else:
                spreads.append(part.covariances if many else part.covariance[None])
        w, m, s = (np.concatenate(x) for x in (weights, means, spreads))
        if len(self.continuous) == 1:
            return NormalMixture(w, m, s, self.continuous[0])
        return MultivariateMixture(w, m, s, self.continuous)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        cells = []
        for (state, p), part in zip(self.discrete.items(), self.given, strict=True):
            labels = state if isinstance(state, tuple) else (state,)
            cell: dict[str, Any] = {"state": [json_state(s) for s in labels], "p": p}
            if part is not None:
                cell["mean"] = np.asarray(part.mean).tolist()
                cell["variance"] = np.asarray(part.variance).tolist()
            cells.append(cell)
        return {"variables": list(self.names), "distribution": cells}

    def __repr__(self) -> str:
        return f"MixedJoint({', '.join(self.names)}: {many(len(self), 'state')})"

    def _moments(self, part: Any) -> list[str]:
        if part is None:
            return [""] * (2 * len(self.continuous))
        mean, variance = np.atleast_1d(part.mean), np.atleast_1d(part.variance)
        out = []
        for m, v in zip(mean, variance, strict=True):
            out += [number(float(m)), number(float(np.sqrt(v)))]
        return out

    def _view(self) -> View:
        head = [*self.discrete.names, "p"]
        spans = [self.p_interval, self.mean_interval, self.sd_interval]
        level = "" if spans[0] is None else f"{100 * spans[0].level:.10g} %"
        head += [level] if level else []
        for name in self.continuous:
            head += [f"mean {name}", level] if level else [f"mean {name}"]
            head += [f"sd {name}", level] if level else [f"sd {name}"]
        rows = []
        flat = [None if s is None else [_rows(e, len(self.given)) for e in s] for s in spans]
        for i, ((state, p), part) in enumerate(zip(self.discrete.items(), self.given, strict=True)):
            if i == SHOWN:
                break
            row = [str(s) for s in (state if isinstance(state, tuple) else (state,))]
            row.append(f"{p:.5f}")
            if flat[0] is not None:
                row.append("–".join(short_probability(float(e[i, 0])) for e in flat[0]))
            moments = self._moments(part)
            for j, cell in enumerate(moments):
                row.append(cell)
                span = flat[1 + j % 2]
                if level:
                    ends = [] if span is None or not cell else [e[i, j // 2] for e in span]
                    row.append(" to ".join(number(float(e)) for e in ends))
            rows.append([*row, bar(p)])
        more = len(self.given) - len(rows)
        notes = [f"… {more:,} more"] if more else []
        drawn: Any = [s for s in spans if getattr(s, "draws", 0)]
        if drawn:
            errors = zip(("p", "mean", "sd"), drawn, strict=False)
            off = ", ".join(f"{what} ± {float(np.max(s.error)):.2g}" for what, s in errors)
            notes.append(f"({drawn[0].draws:,} draws; ends: {off})")
        about = self.discrete.approximation
        notes += [about.line] if about is not None else []
        notes += self.notes
        k = len(self.discrete.names)
        title = f"P({', '.join(self.names)})"
        return View(title, [*head, ""], rows, list(range(k, len(head))), "\n".join(notes))


def _rows(end: Any, n: int) -> NDArray[np.float64]:
    return np.reshape(np.asarray(end, dtype=np.float64), (n, -1))


def conditional(names: tuple[str, ...], mean: Any, covariance: Any) -> Any:
    """One Gaussian, of one variable or of several."""
    from credo.model.distributions.gaussian import Gaussian

    if len(names) == 1:
        return Gaussian(float(mean[0]), float(covariance[0, 0]), names[0])
    return MultivariateGaussian(mean, covariance, names)
