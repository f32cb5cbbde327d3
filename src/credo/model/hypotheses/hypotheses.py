"""A finite space of hypotheses, learned from observations by Bayes' rule.

    P(h | x₁ … x_n) = α · P(h) · Π_i P(xᵢ | h)          P(x | data) = Σ_h P(x | h) · P(h | data)

The observations are independent given the hypothesis. Prediction averages over hypotheses,
or picks one: the most probable (`map`), the one that fits best (`mle`), or the one that tells
hypothesis and data in the fewest bits (`mdl`). Follows Russell & Norvig, *Artificial
Intelligence*, section 20.1, and Tenenbaum (1999) for concepts learned from examples alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np

from credo.core.errors import ImpossibleError, InputError, LimitError
from credo.core.render import bar, number, shortened
from credo.core.schema import MAX_STATES, Variable
from credo.model.answers.distribution import Distribution
from credo.model.hypotheses.evidence import Evidence, posterior
from credo.model.hypotheses.generalise import Generalisation
from credo.model.hypotheses.history import History
from credo.model.hypotheses.likelihoods import Sampling
from credo.model.hypotheses.observations import Past, read_observations
from credo.model.hypotheses.prior import read_bits, read_prior
from credo.model.hypotheses.rules import (
    ByName,
    Comparison,
    Picked,
    Rule,
    best,
    known_rule,
    scores,
)
from credo.model.hypotheses.space import Space, TableSpace, observed, read_space, refuse_weak
from credo.model.values.reals import Floats, shown
from credo.model.values.value import Value, View

_MOST = 20  # hypotheses printed
_HIGHEST = 709.78  # the logarithm of the largest float
_ALL = object()  # predict() without an outcome

By = Literal["average", "map", "mle", "mdl"]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Hypotheses(Value):
    """Named hypotheses with their prior, and what has been observed; `observe` gives a new one.

    Each hypothesis is a mapping from outcome to probability (an outcome that it lacks and
    another has is impossible under it), a distribution (anything with `logpdf`), a belief about
    the parameter of one (`Beta`, `NormalMean`, …: the parameter is not known, and is learned), a
    function of the observation that gives its probability (its logarithm with `log=True`), or a
    set of outcomes from which examples are drawn evenly (`sampling="weak"`: a set only says what
    is possible). The prior is a sequence, a mapping, or nothing for a uniform one; its weights
    are divided by their sum. `bits` are description lengths: without a prior they make it,
    P(h) ∝ 2^−bits; with one, the prior serves Bayes and the bits serve MDL. `outcomes` lists
    all outcomes where the hypotheses do not, so that functions predict as well.

    >>> h = Hypotheses({"fair": {"heads": 1/2, "tails": 1/2}, "bent": {"heads": 3/4, "tails": 1/4}})
    >>> h = h.observe(["heads", "heads", "tails"])
    >>> round(h.posterior["bent"], 6), round(h.p("heads"), 6)
    (0.529412, 0.632353)
    """

    _space: Space
    _weights: Floats
    _log_prior: Floats = field(compare=False)
    _bits: Floats | None
    _evidence: Evidence = field(compare=False)
    _past: Past
    _now: Space = field(compare=False)  # the same space, its beliefs after the past

    def __init__(
        self,
        hypotheses: Mapping[Any, Any],
        prior: Any = None,
        *,
        bits: Any = None,
        outcomes: Iterable[Any] | None = None,
        log: bool = False,
        sampling: Sampling = "strong",
    ) -> None:
        space = read_space(hypotheses, outcomes=outcomes, log=log, sampling=sampling)
        lengths = read_bits(bits, space.names)
        weights, log_prior = read_prior(prior, space.names, lengths)
        for array in (weights, log_prior):
            array.setflags(write=False)
        evidence = Evidence.none(len(space.names))
        self._set(space, weights, log_prior, lengths, evidence, Past(), space)

    def _set(self, *values: Any) -> None:
        for part, value in zip(fields(self), values, strict=True):
            object.__setattr__(self, part.name, value)

    # --- learning -----------------------------------------------------------------------

    def observe(self, data: Any, *, counts: Any = None) -> Hypotheses:
        """What is believed after some more observations; this value stays as it is.

        A list, tuple, range, array or column is many observations, anything else is one.
        `counts=True` takes a mapping from outcome to count; a sequence of counts goes with a
        sequence of observations; `Counts` of one variable are taken as they are. Counted
        observations are one step of the history.

        >>> h = Hypotheses({"a": {0: 0.5, 1: 0.5}, "b": {0: 0.9, 1: 0.1}})
        >>> h.observe([0, 0, 1]).posterior == h.observe({0: 2, 1: 1}, counts=True).posterior
        True
        >>> h.observe({1: 1_000_000}, counts=True).n
        1000000
        """
        return self._with(*read_observations(data, counts))

    def observe_one(self, observation: Any, *, count: float = 1) -> Hypotheses:
        """The same for one observation, which may itself be a list or a tuple.

        >>> h = Hypotheses({"near": lambda xy: 0.1, "far": lambda xy: 0.3})
        >>> round(h.observe_one((3, 4)).posterior["far"], 6)
        0.75
        """
        return self._with(*read_observations([observation], [count]))

    def _with(self, observations: list[Any], counts: Floats) -> Hypotheses:
        if not observations:
            return self
        values = self._space.encode(observations)
        now, evidence = observed(self._now, self._evidence, values, counts, self._past.steps)
        past = self._past.then(values, counts)
        possible = np.isfinite(self._log_prior)
        if not (possible & evidence.alive).any():
            raise self._impossible(evidence, past, possible)
        new = object.__new__(Hypotheses)
        new._set(self._space, self._weights, self._log_prior, self._bits, evidence, past, now)
        return new

    def _impossible(self, evidence: Evidence, past: Past, possible: Any) -> ImpossibleError:
        """The observation that left no hypothesis, and those that it ruled out."""
        last = int(evidence.ruled_at[possible].max())
        gone = [self.names[k] for k in np.flatnonzero(possible & (evidence.ruled_at == last))]
        earlier = int((possible & (evidence.ruled_at < last)).sum())
        was = "the last hypothesis" if len(gone) == 1 else "the last hypotheses"
        before = f"; {earlier:,} had been ruled out before" if earlier else ""
        seen = shown(self._space.decode(past[last]))
        return ImpossibleError(
            f"Observation {last + 1}, {seen}, has probability 0 under "
            f"{was} left: {shortened(map(repr, gone))}{before}.",
            hint="Check the observation, or add a hypothesis that allows it.",
        )

    # --- what is believed ---------------------------------------------------------------

    @property
    def names(self) -> tuple[Any, ...]:
        """The hypotheses, in their order."""
        return self._space.names

    @property
    def outcomes(self) -> tuple[Any, ...] | None:
        """Every outcome, in order; None when the hypotheses do not list them."""
        return self._space.outcomes

    @property
    def n(self) -> int | float:
        """How many observations came, repeats counted."""
        return self._past.n

    @cached_property
    def prior(self) -> Distribution:
        """P(h) before any observation."""
        return self._over_names(self._weights)

    @cached_property
    def posterior(self) -> Distribution:
        """P(h | data).

        >>> h = Hypotheses({"a": {"x": 1.0}, "b": {"x": 0.5, "y": 0.5}}).observe("x")
        >>> round(h.posterior["a"], 6), h.posterior.mode
        (0.666667, 'a')
        """
        return self._over_names(self._posterior)

    @property
    def log_posterior(self) -> Mapping[Any, float]:
        """ln P(h | data) for each hypothesis, exact where the posterior itself is too small."""
        return self._by_name(self._log_posterior)

    @property
    def log_likelihood(self) -> Mapping[Any, float]:
        """ln P(data | h) for each hypothesis; −inf where the data are impossible.

        >>> h = Hypotheses({"a": {0: 0.5, 1: 0.5}, "b": {0: 1.0}}).observe([1, 0])
        >>> h.log_likelihood["b"], round(h.log_likelihood["a"], 6)
        (-inf, -1.386294)
        """
        return self._by_name(self._evidence.log_likelihood)

    @property
    def log_evidence(self) -> float:
        """ln P(data), every hypothesis weighted by its prior; a density for continuous data."""
        return self._updated[1] if self._past.steps else 0.0

    @property
    def ruled_out(self) -> Mapping[Any, Any]:
        """The hypotheses of posterior exactly 0, each with the first observation that did it.

        None stands for a prior of zero: no observation was needed.

        >>> h = Hypotheses({"even": {2, 4, 6}, "small": {1, 2, 3}}).observe([2, 4])
        >>> dict(h.ruled_out)
        {'small': 4}
        """
        out: dict[Any, Any] = {}
        for k, name in enumerate(self.names):
            if np.isinf(self._log_prior[k]):
                out[name] = None
            elif (step := int(self._evidence.ruled_at[k])) >= 0:
                out[name] = self._space.decode(self._past[step])
        return MappingProxyType(out)

    @cached_property
    def _updated(self) -> tuple[Floats, float]:
        return posterior(self._log_prior, self._evidence)

    @property
    def _log_posterior(self) -> Floats:
        return self._updated[0]

    @cached_property
    def _posterior(self) -> Floats:
        if not self._past.steps:
            return self._weights  # the user's own digits
        p = np.exp(self._log_posterior)
        return np.asarray(p / p.sum())

    def _over_names(self, p: Floats) -> Distribution:
        if len(self.names) > MAX_STATES:
            raise LimitError(
                f"A distribution over {len(self.names):,} hypotheses has more than the "
                f"{MAX_STATES:,} states allowed.",
                hint="Use log_posterior, which has no limit.",
            )
        return _distribution(self.names, p, "hypothesis")

    def _by_name(self, values: Floats) -> Mapping[Any, float]:
        return MappingProxyType(ByName(zip(self.names, values.tolist(), strict=True)))

    # --- choosing and predicting --------------------------------------------------------

    def choose(self, by: str = "map") -> Any:
        """The one hypothesis a rule picks; of several equally good ones the first.

        `map` maximises the posterior, `mle` the likelihood (the prior plays no part), `mdl`
        minimises bits of hypothesis + bits of data. Without `bits=` a hypothesis costs
        −log₂ P(h) bits, and then MDL and MAP pick the same.

        >>> h = Hypotheses({"a": {0: 0.5, 1: 0.5}, "b": {0: 0.9, 1: 0.1}}, prior=[0.9, 0.1])
        >>> h = h.observe([0, 0]); h.choose("map"), h.choose("mle")
        ('a', 'b')
        """
        return self.names[self._pick(by)[0]]

    def ties(self, by: str = "map") -> tuple[Any, ...]:
        """All hypotheses a rule finds equally good, to about 13 digits, in their order.

        >>> Hypotheses({"a": {0: 1.0}, "b": {0: 1.0}}).observe(0).ties("mle")
        ('a', 'b')
        """
        return tuple(self.names[k] for k in self._pick(by))

    def _pick(self, by: str) -> list[int]:
        by = known_rule(by, get_args(Rule), "one that picks a hypothesis")
        likelihood = self._evidence.log_likelihood
        return best(scores(by, likelihood, self._log_prior, self._bits))

    def predict(self, outcome: Any = _ALL, *, by: str = "average") -> Any:
        """P(next outcome | data): a Distribution, or the probability of one outcome.

        `by="average"` weighs every hypothesis by its posterior (Bayesian model averaging);
        `map`, `mle` and `mdl` use the one hypothesis that the rule picks.

        >>> h = Hypotheses({"a": {"x": 0.5, "y": 0.5}, "b": {"x": 1.0}}).observe("x")
        >>> h.predict().mode, round(h.predict("x"), 6), h.predict("x", by="map")
        ('x', 0.833333, 1.0)
        """
        if outcome is not _ALL:
            return self.p(outcome, by=by)
        self._check_by(by)
        if not isinstance(self._now, TableSpace):
            raise InputError(
                "These hypotheses do not list their outcomes, so there is no table of predictions.",
                hint="Ask for one outcome, h.predict(x), or give outcomes=[...].",
            )
        refuse_weak(self._space)
        return _distribution(self._now.outcomes, self._predicted(self._now, by), "outcome")

    def _predicted(self, space: TableSpace, by: str) -> Floats:
        """P(next | data) of every outcome."""
        if by == "average":
            return space.chance @ self._posterior
        return space.chance[:, self._pick(by)[0]]

    def p(self, outcome: Any, *, by: str = "average") -> float:
        """The probability that the next observation is `outcome`; a density where it is one.

        >>> h = Hypotheses({"low": lambda x: 0.1, "high": lambda x: 0.3})
        >>> round(h.p(7), 6), round(h.p(7, by="map"), 6)
        (0.2, 0.1)
        """
        code = self._asked(outcome, by)
        if isinstance(self._now, TableSpace):
            return float(self._predicted(self._now, by)[code[0]])
        log_p = self.log_p(outcome, by=by)
        if log_p > _HIGHEST:
            raise LimitError(
                f"The density of {shown(outcome)} is exp({log_p:.6g}), beyond a float.",
                hint="Ask for log_p instead.",
            )
        return math.exp(log_p)

    def log_p(self, outcome: Any, *, by: str = "average") -> float:
        """The logarithm of `p`, also where that is too small or too large for a float.

        >>> h = Hypotheses({"low": lambda x: 1500.0, "high": lambda x: 1510.0}, log=True)
        >>> round(h.log_p(7), 6), h.log_p(7, by="map")
        (1509.306898, 1500.0)
        """
        from scipy.special import logsumexp

        row: Floats = self._now.rows(self._asked(outcome, by))[0]
        average = by == "average"
        return float(logsumexp(row + self._log_posterior) if average else row[self._pick(by)[0]])

    def _asked(self, outcome: Any, by: str) -> Any:
        """The code of an outcome whose prediction by a rule is asked for."""
        self._check_by(by)
        refuse_weak(self._space)
        rule = isinstance(outcome, str) and outcome in get_args(By)
        if rule and isinstance(self._now, TableSpace) and outcome not in self._now.outcomes:
            raise InputError(
                f"{outcome!r} is not an outcome.", hint=f"Write predict(by={outcome!r})."
            )
        return self._now.encode([outcome])

    def _check_by(self, by: str) -> None:
        known_rule(by, get_args(By), "a way to predict")

    def generalise(self) -> Generalisation:
        """P(y belongs to the concept | data) for every outcome y; for hypotheses that are sets.

        >>> h = Hypotheses({"even": {2, 4, 6}, "small": {1, 2, 3}}).observe(2)
        >>> dict(h.generalise())
        {1: 0.5, 2: 1.0, 3: 0.5, 4: 0.5, 6: 0.5}
        """
        space = self._space
        if not isinstance(space, TableSpace) or not space.are_sets:
            raise InputError(
                "Only sets of listed outcomes have members, so only they generalise.",
                hint="Use predict() for the next outcome.",
            )
        inside = (space.log_chance > -np.inf) @ self._posterior
        return Generalisation(space.outcomes, np.minimum(inside, 1.0))

    # --- reports ------------------------------------------------------------------------

    @property
    def history(self) -> History:
        """The posterior and the predictions after each step, from none to all."""
        return History(self._space, self._weights, self._log_prior, self._bits, self._past)

    def compare(self, outcome: Any = _ALL) -> Comparison:
        """Averaging, MAP, ML and MDL side by side: what each picks, its bits, its prediction.

        >>> h = Hypotheses({"a": {"x": 0.5, "y": 0.5}, "b": {"x": 0.75, "y": 0.25}}).observe("x")
        >>> print(h.compare("x"))
        rule     hypothesis  hypothesis bits  data bits  total bits  P(x next)
        average  all                               0.68                   0.65
        map      b                         1       0.42        1.42       0.75
        mle      b                         1       0.42        1.42       0.75
        mdl      b                         1       0.42        1.42       0.75
        """
        bits = -self._log_prior / math.log(2) if self._bits is None else self._bits
        data = -self._evidence.log_likelihood / math.log(2)
        rows = [Picked("average", (), None, -self.log_evidence / math.log(2) + 0.0, None)]
        for rule in get_args(Rule):
            ks = self._pick(rule)
            k = ks[0]
            tied = tuple(self.names[i] for i in ks)
            rows.append(Picked(rule, tied, float(bits[k]) + 0.0, float(data[k]) + 0.0, k))
        predictions: list[Any] = []
        for row in rows:
            if outcome is not _ALL:
                predictions.append(self.p(outcome, by=row.rule))
            elif isinstance(self._space, TableSpace) and not self._space.weak:
                predictions.append(self.predict(by=row.rule))
            else:
                predictions.append(None)
        return Comparison(tuple(rows), tuple(predictions), None if outcome is _ALL else (outcome,))

    def __hash__(self) -> int:
        return hash((self.names, self._past.steps, self._past.total))

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        k, n = len(self.names), self.n
        return (
            f"<Hypotheses: {k:,} hypothes{'is' if k == 1 else 'es'}, "
            f"{n:,} observation{'' if n == 1 else 's'}>"
        )

    def _view(self) -> View:
        """A row for each hypothesis, in order; of many, the most probable ones."""
        k, p, note = len(self.names), self._posterior, ""
        order = np.arange(k)
        if k > _MOST:
            order = np.argsort(-self._log_posterior, kind="stable")[:_MOST]
            rest = max(0.0, 1.0 - float(p[order].sum()))
            note = f"… {k - _MOST:,} more, {number(rest, 3)} together"
        likelihood = [number(x).replace("-inf", "−∞") for x in self._evidence.log_likelihood[order]]
        rows = [
            [self.names[i], number(self._weights[i], 4), likelihood[j], number(p[i]), bar(p[i])]
            for j, i in enumerate(order)
        ]
        size = f"{k:,} hypothes{'i' if k == 1 else 'e'}s"
        title = f"{size}, {self.n:,} observed, ln P(data) = {number(self.log_evidence)}"
        head = ["hypothesis", "prior", "ln likelihood", "posterior", ""]
        return View(title, head, rows, (1, 2, 3), note)


def _distribution(states: tuple[Any, ...], p: Floats, name: str) -> Distribution:
    return Distribution((Variable(name, "discrete", states),), p / p.sum())
