"""What can be asked of a decision network. The algorithms live in `credo.predict.decisions`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import os

    from credo.model.decisions.decision_network import DecisionNetwork
    from credo.model.networks.network import Network
    from credo.model.values.randomness import Rng
    from credo.predict.decisions.solution import Ranking, Solution

__all__ = ["DecisionMethods"]


class DecisionMethods:
    """The questions of a decision network; `DecisionNetwork` adds the rest."""

    __slots__ = ()

    @property
    def _asked(self) -> DecisionNetwork:
        return cast("DecisionNetwork", self)

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
        Test    Drill  probability  EU(yes)  EU(no)
        none    no           0.410 -30.4878       0
        open    yes          0.350  32.8571       0
        closed  yes          0.240     87.5       0
        """
        from credo.predict.decisions.solving import solve

        return solve(self._asked, given, interval=interval, draws=draws, rng=rng)

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
        from credo.predict.decisions.solving import best

        return best(
            self._asked, given, decision=decision, interval=interval, draws=draws, rng=rng
        )
