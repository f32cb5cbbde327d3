"""Questions that models with and without directions answer in the same words.

    P(x | e) = Σ_rest P(x, rest, e) / P(e)

The algorithms live in `credo.predict`, which sees a model as names, variables and an engine. What
differs between the two is in `network.py` and `undirected.py` beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from credo.model.networks.network import Network
    from credo.model.values.randomness import Rng
    from credo.predict.exact.explanation import Explanation
    from credo.predict.questions.asking import Answer

__all__ = ["Questions"]


class Questions:
    """What can be asked of a Bayesian network, a Markov network and a factor graph alike."""

    __slots__ = ()

    @property
    def _asked(self) -> Network:
        """This model as the questions see it: names, variables and an engine are all they need."""
        return cast("Network", self)

    def p(
        self,
        target: str | Sequence[str] | Mapping[str, Any],
        given: Mapping[str, Any] | None = None,
        *,
        interval: float | None = None,
        draws: int | None = None,
        method: str = "auto",
        budget: float | str | None = None,
        error: float | None = None,
        rng: Rng = 0,
    ) -> Any:
        """The distribution of one variable, or the joint of several, given evidence.

        A mapping from variable to state, a set of states or a range (`cr.between(2, 5)`) asks for
        the probability of that event.

        With `interval=0.95` it carries credible intervals, from `draws` (1,000) of the parameters
        (docs/how-sure.md). Exact if that fits, else approximate with its error, which is said:
        `method` is "auto", "exact", "importance", "weighting", "loopy" or "gibbs" (without
        directions "auto", "exact", "loopy" or "gibbs"); `budget` is a time ("2 s") or a number of
        "10000 samples"; `error` is half the width of each 95 % interval that is wanted
        (docs/approximate.md). `rng` is the seed.

        >>> from credo import MarkovNetwork, Network
        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> print(net.p("rain", given={"wet": True}))
        rain         p
        False  0.33333  ██████▋
        True   0.66667  █████████████▍
        >>> joint, event = net.p(["rain", "wet"]), net.p({"rain": True, "wet": True})
        >>> round(joint[True, True], 6), round(event, 6)
        (0.16, 0.16)
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> net.p("A", given={"B": 1})
        Distribution(A: 0 0.166667, 1 0.833333)
        """
        from credo.predict.questions.asking import answer

        return answer(
            self._asked, target, given, interval=interval, draws=draws, method=method,
            budget=budget, error=error, rng=rng,
        )  # fmt: skip

    def ask(
        self,
        question: str,
        *,
        explain: bool = False,
        interval: float | None = None,
        draws: int | None = None,
        method: str = "auto",
        budget: float | str | None = None,
        error: float | None = None,
        rng: Rng = 0,
    ) -> Answer | Any:
        """Answer a question in text, such as `"P(lung | smoke=yes)"`; see docs/asking.md.

        The options are those of `p`; with `interval=0.95` the answer carries its credible
        interval (docs/how-sure.md).

        >>> from credo import MarkovNetwork, Network
        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> round(net.ask("P(rain=true | wet=true)"), 6)
        0.666667
        >>> dict(net.ask("argmax P(rain, wet)"))
        {'rain': False, 'wet': False}
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> round(net.ask("P(A=1 | C=1)"), 6)
        0.6875
        """
        from credo.predict.questions.asking import ask

        return ask(
            self._asked, question, explain=explain, interval=interval, draws=draws, method=method,
            budget=budget, error=error, rng=rng,
        )  # fmt: skip

    def marginals(
        self,
        given: Mapping[str, Any] | None = None,
        *,
        targets: Sequence[str] | None = None,
        interval: float | None = None,
        draws: int | None = None,
        method: str = "auto",
        budget: float | str | None = None,
        error: float | None = None,
        rng: Rng = 0,
    ) -> dict[str, Any]:
        """The distribution of every variable that is not observed, all at once.

        Of `targets` alone, where they are named. The other options are those of `p`.

        >>> from credo import MarkovNetwork, Network
        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> net.marginals()["wet"]
        Distribution(wet: False 0.76, True 0.24)
        >>> list(net.marginals(targets=["wet"]))
        ['wet']
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> net.marginals(given={"B": 1})["C"]
        Distribution(C: 0 0.333333, 1 0.666667)
        """
        from credo.predict.questions.asking import answer_all

        return answer_all(
            self._asked, given, targets, interval=interval, draws=draws, method=method,
            budget=budget, error=error, rng=rng,
        )  # fmt: skip

    def log_evidence(
        self,
        given: Mapping[str, Any],
        *,
        method: str = "auto",
        budget: float | str | None = None,
        error: float | None = None,
        rng: Rng = 0,
    ) -> float:
        """ln P(evidence).

        `method`, `budget`, `error` and `rng` are those of `p`; `error` is that of the logarithm.
        Without directions, where exact is too much, it is Bethe's estimate by messages.

        >>> from credo import MarkovNetwork, Network
        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> round(net.log_evidence({"wet": True}), 6)  # ln 0.24
        -1.427116
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> round(net.log_evidence({"B": 1}), 6)  # ln 0.6
        -0.510826
        """
        from credo.predict.exact.posterior import log_evidence
        from credo.predict.questions.request import request
        from credo.predict.questions.softmax import in_tables

        how: dict[str, Any] = {"method": method, "budget": budget, "error": error, "rng": rng}
        return log_evidence(request(in_tables(self._asked, given, ()), given, **how))

    def mpe(self, given: Mapping[str, Any] | None = None) -> Explanation:
        """The most probable explanation: a state for every variable that is not observed.

        >>> from credo import MarkovNetwork, Network
        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> print(net.mpe({"wet": True}))
        variable  state
        rain      True
        ln P = -1.83258
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> dict(net.mpe())
        {'A': 1, 'B': 1, 'C': 1}
        """
        from credo.predict.exact.explanation import mpe
        from credo.predict.questions.request import request
        from credo.predict.questions.softmax import in_tables

        return mpe(request(in_tables(self._asked, given, None), given))

    def map(self, targets: Sequence[str], given: Mapping[str, Any] | None = None) -> Explanation:
        """The most probable states of some variables together, the others summed out.

        >>> from credo import MarkovNetwork, Network
        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> net.map(["rain"], given={"wet": True})["rain"]
        True
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> dict(net.map(["C"], given={"A": 0}))
        {'C': 0}
        """
        from credo.predict.exact.explanation import marginal_map
        from credo.predict.questions.request import request
        from credo.predict.questions.softmax import in_tables

        return marginal_map(request(in_tables(self._asked, given, targets), given, targets))

    def log_likelihood(self, rows: Any, **options: Any) -> float:
        """ln P(rows), missing cells summed out.

        >>> from credo import MarkovNetwork, Network
        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> rows = {"rain": [True, None], "wet": [True, True]}
        >>> round(net.log_likelihood(rows), 6)  # ln 0.16 + ln 0.24
        -3.259698
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> round(net.log_likelihood({"A": [1, None], "B": [1, 1]}), 6)  # ln ½ + ln 0.6
        -1.203973
        """
        from credo.predict.rows.rows import log_likelihood

        return log_likelihood(self._asked, rows, **options)
