"""What can be asked of a model without directions, in the words of a Bayesian network.

    P(x) = (1/Z) Π_f φ_f(x_f),      Z = Σ_x Π_f φ_f(x_f)

The algorithms live in `credo.predict`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from credo.core.errors import InputError
from credo.model.methods.questions import Questions

if TYPE_CHECKING:
    import os

    import numpy as np
    from numpy.typing import NDArray

    from credo.model.networks.network import Network
    from credo.model.undirected.factor_model import FactorModel
    from credo.model.values.randomness import Rng

__all__ = ["FactorMethods"]


class FactorMethods(Questions):
    """The questions of a product of factors; `FactorModel` adds the rest."""

    __slots__ = ()

    @property
    def _model(self) -> FactorModel:
        return cast("FactorModel", self)

    def predict_proba(self, rows: Any, target: str, **options: Any) -> NDArray[np.float64]:
        """P(target | the other cells) for each row of a table, a column for each state.

        >>> from credo.model.undirected.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> net.predict_proba({"B": [0, 1]}, "A").round(4).tolist()
        [[0.75, 0.25], [0.1667, 0.8333]]
        """
        from credo.predict.rows.rows import predict_proba

        return predict_proba(self._asked, rows, target, **options)

    def sample(
        self, n: int, rng: Rng, given: Mapping[str, Any] | None = None, **options: Any
    ) -> Any:
        """Rows drawn from the model, all of it or given evidence, exactly; options as a network's.

        >>> import credo as cr
        >>> grid = cr.ising_grid(3, coupling=1.0)
        >>> rows = grid.sample(10_000, rng=0, given={"r1c1": 1})
        >>> round(float((rows["r3c3"] == 1).mean()), 1), round(grid.p("r3c3", {"r1c1": 1})[1], 3)
        (0.9, 0.944)
        """
        from credo.predict.sampling.sample import sample

        return sample(self._asked, n, rng, given, **options)

    def do(self, values: Mapping[str, Any]) -> Any:
        """Refused: an intervention cuts the arrows into a variable, and here are none."""
        raise InputError(
            "An intervention needs directions, which an undirected model does not have.",
            hint="Ask a Bayesian network, or condition on the states instead.",
        )

    @property
    def log_partition(self) -> float:
        """ln Z, the logarithm of the sum over all configurations.

        >>> from credo.model.undirected.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> round(net.log_partition, 6)  # ln 30
        3.401197
        """
        from credo.predict.exact.undirected import log_partition

        return log_partition(self._model)

    def to_network(self) -> Network:
        """An equivalent Bayesian network: the same joint distribution, by elimination.

        The order of elimination triangulates the graph; the record says what it added.

        >>> from credo.model.undirected.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> net.to_network().p("A", given={"B": 1})
        Distribution(A: 0 0.166667, 1 0.833333)
        """
        from credo.predict.exact.undirected import equivalent_network

        return equivalent_network(self._model)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file: `.uai` (a MARKOV file) or `.credo`.

        >>> from credo.model.undirected.markov_network import MarkovNetwork
        >>> net = MarkovNetwork({("A", "B"): [[3, 1], [1, 5]], ("B", "C"): [[2, 1], [1, 2]]})
        >>> import credo as cr, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "net.uai")
        >>> net.save(path)
        >>> cr.load(path)
        MarkovNetwork(3 variables, 2 edges, 2 potentials)
        """
        from credo.formats import save

        save(self._model, path)
