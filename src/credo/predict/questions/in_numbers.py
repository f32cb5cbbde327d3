"""Answers in the user's numbers: what the engines say of numbers with a scale, seen through it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.bins import Bins
from credo.core.scales import Transform
from credo.core.schema import Variable
from credo.model.answers.credible import Credible
from credo.model.answers.distribution import Distribution
from credo.model.answers.interval import Interval
from credo.model.answers.mixed_joint import MixedJoint
from credo.model.answers.number_answer import NumberAnswer
from credo.model.answers.numbers_answer import NumbersAnswer

if TYPE_CHECKING:
    from credo.predict.questions.request import Request

__all__ = ["binned", "in_numbers"]

Floats = NDArray[np.float64]


def in_numbers(request: Request, answer: Any) -> Any:
    """The answer to a request about targets, its numbers as the user measures them.

    One number alone, or beside variables with states, is a `NumberAnswer`, several of which some
    have a transform a `NumbersAnswer`. Several numbers in bins are a distribution over their
    intervals.
    """
    net = request.net
    if not net.schema.scales:
        return answer
    if isinstance(answer, Distribution):
        numbers = [v for v in answer.variables if isinstance(v.scale, Bins)]
        if len(numbers) != 1:
            return answer
        if len(answer.variables) == 1:
            return binned(request, answer)
        return _beside(request, answer, numbers[0])
    if isinstance(answer, MixedJoint):
        names = answer.continuous
        given = tuple(None if g is None else _behind(net, g, names) for g in answer.given)
        return replace(answer, given=given)
    return _behind(net, answer, getattr(answer, "names", None) or (answer.name,))


def _behind(net: Any, answer: Any, names: Sequence[str]) -> Any:
    """Gaussians of one number or of several, seen through their transforms, where they have one."""
    scales = tuple(net.variable(n).scale for n in names)
    if not any(isinstance(s, Transform) for s in scales):
        return answer
    notes = getattr(answer, "notes", ())
    if len(names) == 1:
        return NumberAnswer(answer, scales[0], names[0], notes=notes)
    return NumbersAnswer(answer, scales, tuple(names), notes=notes)


def binned(request: Request, answer: Distribution, samples: Floats | None = None) -> NumberAnswer:
    """The distribution over bins as one of numbers, cut off where the evidence has a range.

    `samples` are draws of the probabilities, of which the mean and the deviation get intervals.
    """
    variable: Variable = answer.variables[0]
    name, bins = variable.name, variable.scale
    assert isinstance(bins, Bins)
    range_, span = request.evidence.within.get(name), answer.interval
    if range_ is not None:
        bins, kept = bins.within(range_.low, range_.high)
        if span is not None:
            lower, upper = (np.asarray(end)[kept] for end in span)
            span = Interval(lower, upper, span.level)
        p, of = answer.p[kept], (Variable(name, "discrete", scale=bins),)
        answer = Distribution(of, p / p.sum(), span, None, answer.notes)
        samples = None if samples is None else samples[:, kept]
    spans: dict[str, Any] = {}
    if samples is not None and request.level is not None:
        drawn = samples / samples.sum(axis=-1, keepdims=True)
        spans["mean_interval"] = Credible.of(bins.mean(drawn), request.level)
        spans["sd_interval"] = Credible.of(np.sqrt(bins.variance(drawn)), request.level)
    return NumberAnswer(answer, bins, name, notes=answer.notes, **spans)


def _beside(request: Request, answer: Distribution, number: Variable) -> MixedJoint:
    """One number in bins beside variables with states: a distribution of it for each of those."""
    at = answer.variables.index(number)
    rest = tuple(v for v in answer.variables if v is not number)
    p = np.moveaxis(answer.p, at, -1)
    total = p.sum(axis=-1)
    given = []
    for share, row in zip(total.ravel(), p.reshape(-1, p.shape[-1]), strict=True):
        one = Distribution((number,), row / share) if share > 0 else None
        given.append(None if one is None else binned(request, one))
    discrete = Distribution(rest, total, None, answer.approximation, answer.notes)
    return MixedJoint(discrete, (number.name,), tuple(given))
