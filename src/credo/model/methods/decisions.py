"""What can be asked of a decision network, or of decisions over all graphs.

The algorithms live in `credo.predict.decisions`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

if TYPE_CHECKING:
    import os

    from credo.checking.questions.decision_tipping import DecisionSensitivity
    from credo.model.decisions.decision_network import DecisionNetwork
    from credo.model.networks.network import Network
    from credo.model.values.randomness import Rng
    from credo.predict.decisions.information import Information, InformationValue, NextQuestion
    from credo.predict.decisions.more_rows import RowsValue
    from credo.predict.decisions.problem import Problem
    from credo.predict.decisions.solution import Ranking, Solution
    from credo.predict.decisions.strategies import Simulation, StrategyComparison

__all__ = ["DecisionMethods", "DecisionQuestions"]


class DecisionQuestions:
    """The questions of any decisions; what answers them is their problem, given what is known."""

    __slots__ = ()

    @property
    @abstractmethod
    def _network(self) -> DecisionNetwork:
        """What is decided, known then and worth something."""

    @abstractmethod
    def _but_costs(self, costs: Mapping[str, float]) -> Self:
        """The same with other costs of observing."""

    @abstractmethod
    def _problem(self, given: Mapping[str, Any] | None) -> Problem:
        """What is to be decided, given what is known."""

    @abstractmethod
    def _probability(self, question: str, how: dict[str, Any]) -> Any:
        """The answer to a question that is not about EU."""

    def _unpriced(self, costs: Mapping[str, float] | None) -> tuple[Self, Mapping[str, float]]:
        """The same without the cost of observing, and the prices."""
        net = self._network
        return self._but_costs({}), net.but(costs=net.costs if costs is None else costs).costs

    def solve(
        self,
        given: Mapping[str, Any] | None = None,
        *,
        interval: float | None = 0.95,
        draws: int | None = None,
        rng: Rng = 0,
    ) -> Solution:
        """The best strategy: what to do in each situation, and its expected utility.

        Exact by elimination with full memory; with limited memory no single policy can be improved
        (and the answer says whether that is the best of all). Where parameters were learned with a
        prior, the expected utility has its `interval`, and `p_best` and `regret` tell how sure the
        strategy is, from `draws` (1,000) of the parameters.

        >>> import credo as cr
        >>> d = cr.DecisionNetwork(
        ...     "[Oil][Test|Oil][Drill?|Test][Profit$|Drill:Oil]",
        ...     {"Oil": {"dry": 0.5, "wet": 0.3, "soaking": 0.2},
        ...      "Test": {"dry": {"none": 0.6, "open": 0.3, "closed": 0.1},
        ...               "wet": {"none": 0.3, "open": 0.4, "closed": 0.3},
        ...               "soaking": {"none": 0.1, "open": 0.4, "closed": 0.5}}},
        ...     utilities={"Profit": {"yes": {"dry": -70, "wet": 50, "soaking": 200},
        ...                           "no": {"dry": 0, "wet": 0, "soaking": 0}}})
        >>> print(d.solve())
        expected utility 32.5
        Test    Drill  probability   EU(yes)  EU(no)
        none    no           0.410  -30.4878       0
        open    yes          0.350   32.8571       0
        closed  yes          0.240      87.5       0
        """
        from credo.predict.decisions.solving import solved

        return solved(self._problem(given), given, interval=interval, draws=draws, rng=rng)

    def best(
        self,
        given: Mapping[str, Any] | None = None,
        *,
        decision: str | None = None,
        interval: float | None = 0.95,
        draws: int | None = None,
        rng: Rng = 0,
    ) -> Ranking:
        """What to choose now, given what is known: the choices of the next decision, ranked.

        Later decisions are taken at their best. `interval`, `draws` and `rng` are those of `solve`.

        >>> import credo as cr
        >>> d = cr.DecisionNetwork("[Rain][Take?|Rain][U$|Rain:Take]", {"Rain": 0.3},
        ...     utilities={"U": {False: {"yes": 20, "no": 100}, True: {"yes": 70, "no": 0}}})
        >>> d.best(given={"Rain": True}).choice
        'yes'
        """
        from credo.predict.decisions.solving import ranking

        problem = self._problem(given)
        return ranking(problem, given, decision, interval=interval, draws=draws, rng=rng)

    def ask(
        self,
        question: str,
        *,
        interval: float | None = None,
        draws: int | None = None,
        rng: Rng = 0,
    ) -> Any:
        """Answer a question in text: `"EU(Drill=yes | Test=open)"`, `"argmax EU(Drill)"`, `"P(…)"`.

        Of a choice its expected utility, of a decision its choices ranked, of `EU` alone the best
        of all. What is open is at its best; probabilities are those under the best strategy.

        >>> import credo as cr
        >>> d = cr.DecisionNetwork("[Rain][Take?|Rain][U$|Rain:Take]", {"Rain": 0.3},
        ...     utilities={"U": {False: {"yes": 20, "no": 100}, True: {"yes": 70, "no": 0}}})
        >>> d.ask("EU(Take=yes | Rain=true)"), round(d.ask("EU(Take=yes)"), 6)
        (70.0, 35.0)
        >>> d.ask("argmax EU(Take | Rain=false)"), round(d.ask("P(Take=yes)"), 6)
        ('no', 0.3)
        """
        from credo.predict.decisions.asking import answered, expected_of

        how: dict[str, Any] = {"interval": interval, "draws": draws, "rng": rng}
        found = answered(
            self._network, question, lambda known: expected_of(self._problem(known), **how),
            lambda name, known: self.best(known, decision=name, **how),
        )  # fmt: skip
        return self._probability(question, how) if found is None else found

    def compare(
        self,
        strategies: Mapping[str, Any],
        given: Mapping[str, Any] | None = None,
        *,
        interval: float | None = 0.95,
        draws: int | None = None,
        rng: Rng = 0,
    ) -> StrategyComparison:
        """Strategies side by side: expected utility, its interval, how probably each is the best.

        A strategy has for each decision one choice, choices by what its arrows say is known, or a
        policy; None is the best strategy.

        >>> import credo as cr
        >>> d = cr.DecisionNetwork("[Rain][Take?|Rain][U$|Rain:Take]", {"Rain": 0.3},
        ...     utilities={"U": {False: {"yes": 20, "no": 100}, True: {"yes": 70, "no": 0}}})
        >>> d.compare({"best": None, "always": {"Take": "yes"}}).best
        'best'
        """
        from credo.predict.decisions.strategies import compared

        return compared(
            self._problem(given), strategies, lambda: self.solve(interval=None),
            interval=interval, draws=draws, rng=rng,
        )  # fmt: skip

    def value_of_information(
        self,
        variables: str | Sequence[str] | None = None,
        given: Mapping[str, Any] | None = None,
        *,
        before: str | None = None,
        costs: Mapping[str, float] | None = None,
    ) -> InformationValue:
        """What it is worth to know each variable, or some together, before a decision.

        The gain in expected utility from seeing it before the next decision (or `before` one that
        is named), never below 0; `costs` are prices to set against it.

        >>> import credo as cr
        >>> d = cr.DecisionNetwork("[Rain][Take?][U$|Rain:Take]", {"Rain": 0.3},
        ...     utilities={"U": {False: {"yes": 20, "no": 100}, True: {"yes": 70, "no": 0}}})
        >>> round(d.value_of_information("Rain")["Rain"].value, 6)
        21.0
        """
        from credo.predict.decisions.information import valued

        net, prices = self._unpriced(costs)
        return valued(net._problem(given), prices, variables, before)

    def next_question(
        self,
        given: Mapping[str, Any] | None = None,
        *,
        among: Sequence[str] | None = None,
        costs: Mapping[str, float] | None = None,
        before: str | None = None,
        exact: bool | None = None,
    ) -> NextQuestion:
        """Which question to ask next, each at its price, or whether to decide now.

        The first question of the best plan, in which each may hang on the answers so far, where
        that can be worked out (ten questions at most); else the one that gains most next.

        >>> import credo as cr
        >>> d = cr.DecisionNetwork("[Rain][Wet|Rain][Take?][U$|Rain:Take]",
        ...     {"Rain": 0.3, "Wet": {False: 0.1, True: 0.8}},
        ...     utilities={"U": {False: {"yes": 20, "no": 100}, True: {"yes": 70, "no": 0}}})
        >>> d.next_question(costs={"Rain": 15, "Wet": 2}).variable
        'Wet'
        """
        from credo.predict.decisions.information import questioned

        net, prices = self._unpriced(costs)
        return questioned(net._problem(given), prices, among, before, exact)


class DecisionMethods(DecisionQuestions):
    """The questions of a decision network; `DecisionNetwork` adds the rest."""

    __slots__ = ()

    @property
    def _asked(self) -> DecisionNetwork:
        return cast("DecisionNetwork", self)

    @property
    def _network(self) -> DecisionNetwork:
        return self._asked

    def _but_costs(self, costs: Mapping[str, float]) -> Self:
        return cast("Self", self._asked.but(costs=costs))

    def _problem(self, given: Mapping[str, Any] | None) -> Problem:
        from credo.predict.decisions.problem import problem_of

        return problem_of(self._asked, given)

    def _probability(self, question: str, how: dict[str, Any]) -> Any:
        from credo.predict.decisions.asking import probability_of

        return probability_of(self._asked, question, how)

    def under(self, strategy: Any = None) -> Network:
        """The Bayesian network in which the decisions follow a strategy (the best one).

        >>> import credo as cr
        >>> d = cr.DecisionNetwork("[Rain][Take?|Rain][U$|Rain:Take]", {"Rain": 0.3},
        ...     utilities={"U": {False: {"yes": 20, "no": 100}, True: {"yes": 70, "no": 0}}})
        >>> round(d.under().p("Take")["yes"], 6)
        0.3
        >>> d.under({"Take": "yes"}).p("Take")["yes"]
        1.0
        """
        from credo.predict.decisions.strategies import under

        return under(self._asked, strategy)

    def simulate(self, strategy: Any = None, *, n: int = 10_000, rng: Rng = 0) -> Simulation:
        """Rows drawn under a strategy (the best one), with the utility of each.

        >>> import credo as cr
        >>> d = cr.DecisionNetwork("[Rain][Take?][U$|Rain:Take]", {"Rain": 0.3},
        ...     utilities={"U": {False: {"yes": 20, "no": 100}, True: {"yes": 70, "no": 0}}})
        >>> run = d.simulate({"Take": "yes"}, n=1000, rng=0)
        >>> sorted(set(run.utilities.tolist()))
        [20.0, 70.0]
        """
        from credo.predict.decisions.strategies import simulate

        return simulate(self._asked, strategy, n=n, rng=rng)

    def value_of_test(
        self,
        of: str,
        table: Any,
        *,
        cost: float = 0.0,
        given: Mapping[str, Any] | None = None,
        before: str | None = None,
        name: str = "test",
    ) -> Information:
        """What a test of a variable is worth: `table` is P(result | state), `cost` its price.

        >>> import credo as cr
        >>> d = cr.DecisionNetwork("[Rain][Take?][U$|Rain:Take]", {"Rain": 0.3},
        ...     utilities={"U": {False: {"yes": 20, "no": 100}, True: {"yes": 70, "no": 0}}})
        >>> found = d.value_of_test("Rain", {False: {"dry": 0.9, "wet": 0.1},
        ...                                  True: {"dry": 0.2, "wet": 0.8}}, cost=5)
        >>> round(found.value, 6), round(found.net, 6)
        (11.2, 6.2)
        """
        from credo.predict.decisions.information import value_of_test

        return value_of_test(
            self._asked, of, table, cost=cost, given=given, before=before, name=name
        )

    def value_of_rows(
        self,
        table: str,
        n: int | Sequence[int],
        *,
        at: Mapping[str, Any] | None = None,
        given: Mapping[str, Any] | None = None,
        cost: float = 0.0,
        draws: int = 1000,
        rng: Rng = 0,
    ) -> RowsValue:
        """What `n` more rows for a table of probabilities are worth (sample information).

        `at` names the parents' states where all rows are made; else they fall as in the network,
        with decisions taken evenly. Exact where the outcomes can be listed, else from `draws`, with
        its error. `cost` is the price of a row.

        >>> import credo as cr
        >>> net = cr.fit("[Works]", {"Works": ["yes", "no", "yes"]}, prior=cr.Laplace(1))
        >>> d = net.decide({"Use": ["yes", "no"]}, {"Gain|Use:Works": {
        ...     "yes": {"yes": 10, "no": -20}, "no": {"yes": 0, "no": 0}}})
        >>> d.value_of_rows("Works", [5, 50], cost=0.1).best.n
        5
        """
        from credo.predict.decisions.more_rows import value_of_rows

        return value_of_rows(
            self._asked, table, n, at=at, given=given, cost=cost, draws=draws, rng=rng
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the decision network to a file: .credo, .xdsl, .net or .xmlbif.

        >>> import credo as cr, os, tempfile
        >>> d = cr.DecisionNetwork("[Rain][Take?][U$|Rain:Take]", {"Rain": 0.3},
        ...     utilities={"U": {False: {"yes": 20, "no": 100}, True: {"yes": 70, "no": 0}}})
        >>> path = os.path.join(tempfile.mkdtemp(), "umbrella.credo")
        >>> d.save(path)
        >>> cr.load(path) == d
        True
        """
        from credo.formats import save

        save(self._asked, path)

    def sensitivity(
        self, given: Mapping[str, Any] | None = None, *, level: float = 0.95
    ) -> DecisionSensitivity:
        """How far each probability and utility may move before the decision changes.

        Probabilities range over their `level` interval where they were learned with a prior, else
        over half to double their odds; see docs/decide.md.

        >>> import credo as cr
        >>> d = cr.DecisionNetwork("[Rain][Take?][U$|Rain:Take]", {"Rain": 0.3},
        ...     utilities={"U": {False: {"yes": 20, "no": 100}, True: {"yes": 70, "no": 0}}})
        >>> print(d.sensitivity())
        EU = 70
        ...
        """
        from credo.checking.questions.decision_tipping import decision_sensitivity

        return decision_sensitivity(self._asked, given, level=level)
