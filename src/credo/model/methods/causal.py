"""What can be asked of a causal graph; the algorithms live in `credo.predict.causal`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from credo.model.causal.causal_graph import CausalGraph
    from credo.model.causal.pag import Pag
    from credo.model.graphs.relations import Names
    from credo.predict.causal.adjustment import AdjustmentSets
    from credo.predict.causal.designs import Instrument
    from credo.predict.causal.identify import Identification

__all__ = ["CausalMethods", "PagMethods"]


class CausalMethods:
    """The questions of a causal graph; `CausalGraph` adds the rest."""

    __slots__ = ()

    @property
    def _asked(self) -> CausalGraph:
        return cast("CausalGraph", self)

    def identify(
        self, question: str, given: Sequence[str] | str = (), *, by: str = "auto"
    ) -> Identification:
        """Whether an effect can be computed from what is observed, by which formula, or why not.

        `question` is a text such as "P(Y | do(X))"; what is observed besides stands after the bar
        or in `given`. The formula is an adjustment where there is one (`by="adjustment"` asks for
        that alone), else that of the ID algorithm (`by="id"`).

        >>> from credo import CausalGraph
        >>> found = CausalGraph("[X][M|X][Y|M] X<->Y").identify("P(Y | do(X))")
        >>> print(found.formula)
        Σ_M P(M | X) Σ_X' P(X') P(Y | X', M)
        >>> found = CausalGraph("[X][Y|X] X<->Y").identify("P(Y | do(X))")
        >>> found.identified, found.hedge.larger
        (False, ('X', 'Y'))
        >>> print(CausalGraph("[Z][X|Z][Y|X:Z]").identify("P(Y | do(X))"))
        P(Y | do(X)) = Σ_Z P(Y | X, Z) P(Z)
        blocks X ← Z → Y at Z
        """
        from credo.predict.causal.identify import identify

        return identify(self._asked, question, given, by)

    def adjustment_sets(self, x: Names, y: Names, kind: str = "minimal") -> AdjustmentSets:
        """Variables that make a comparison of x fair when they are held fixed, each with why.

        `kind`: "minimal" (every set of which nothing can be left out), "all", "optimal" (least
        variance; no hidden causes), "parent", or "back-door" (without descendants of x).

        >>> from credo import CausalGraph
        >>> graph = CausalGraph("[A][B][Z|A:B][X|A:Z][Y|X:B:Z]")
        >>> [s.names for s in graph.adjustment_sets("X", "Y")]
        [('A', 'Z'), ('B', 'Z')]
        >>> graph.adjustment_sets("X", "Y", kind="optimal")[0].names
        ('B', 'Z')
        """
        from credo.predict.causal.adjustment import adjustment_sets

        return adjustment_sets(self._asked, x, y, kind)

    def front_door(self, x: str, y: str) -> AdjustmentSets:
        """The minimal front-door sets of the effect of x on y.

        >>> from credo import CausalGraph
        >>> CausalGraph("[X][M|X][Y|M] X<->Y").front_door("X", "Y")[0].names
        ('M',)
        """
        from credo.predict.causal.designs import front_door

        return front_door(self._asked, x, y)

    def instruments(self, x: str, y: str) -> tuple[Instrument, ...]:
        """Variables that move x and touch y in no other way, with what they need to be known.

        >>> from credo import CausalGraph
        >>> print(CausalGraph("[Z][X|Z][Y|X] X<->Y").instruments("X", "Y")[0])
        Z: Z and X depend on each other, and Z reaches Y through X alone
        """
        from credo.predict.causal.designs import instruments

        return instruments(self._asked, x, y)


class PagMethods:
    """The questions of a class of graphs; `Pag` adds the rest."""

    __slots__ = ()

    @property
    def _asked(self) -> Pag:
        return cast("Pag", self)

    def effect(self, x: str, y: str) -> Identification:
        """The formula of P(y | do(x)) that all graphs of the class share, or why there is none.

        It is an adjustment (Perković et al. 2018), or P(y) where no graph has a path from x to y.

        >>> from credo.model.causal.pag import Pag
        >>> edges = (("A", "X", "o", ">"), ("B", "X", "o", ">"), ("X", "Y", "-", ">"))
        >>> pag = Pag(("A", "B", "X", "Y"), edges)
        >>> print(pag.effect("X", "Y").formula)
        P(Y | X)
        >>> print(pag.effect("A", "X").reason)
        not identifiable from the class: between A and X some graphs of the class have a hidden \
common cause, or point the other way.
        """
        from credo.predict.causal.classes import class_effect

        return class_effect(self._asked, x, y)

    def adjustment_sets(self, x: str, y: str) -> AdjustmentSets:
        """The smallest sets that adjust the effect of x on y in every graph of the class.

        >>> from credo.model.causal.pag import Pag
        >>> edges = (("A", "X", "o", ">"), ("B", "X", "o", ">"), ("X", "Y", "-", ">"))
        >>> [s.names for s in Pag(("A", "B", "X", "Y"), edges).adjustment_sets("X", "Y")]
        [()]
        """
        from credo.predict.causal.classes import class_adjustment_sets

        return class_adjustment_sets(self._asked, x, y)
