"""What can be asked of a mixture; the algorithms live in `credo.predict`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from credo.model.values.randomness import Rng, generator, size
from credo.model.values.reals import Floats

if TYPE_CHECKING:
    from credo.data.table import Table
    from credo.model.mixtures.mixture import Mixture

__all__ = ["MixtureMethods"]


class MixtureMethods:
    """The questions of a mixture; `Mixture` adds the rest."""

    __slots__ = ()

    @property
    def _model(self) -> Mixture:
        return cast("Mixture", self)

    def responsibilities(self, rows: Any, *, threads: int | None = None) -> Floats:
        """P(class | row) for each row of a table; missing cells are integrated out.

        A row that no class can have made is refused by its number.

        >>> import credo as cr
        >>> part = cr.distributions.Gaussians(("x", "y"), [[0, 0], [4, 1]], [1, 1], "spherical")
        >>> mixture = cr.Mixture([0.5, 0.5], [part])
        >>> mixture.responsibilities({"x": [None, 2.0], "y": [0.5, 0.5]}).tolist()
        [[0.5, 0.5], [0.5, 0.5]]
        """
        from credo.predict.rows.mixture import scored_rows

        return scored_rows(self._model, rows, threads).responsibilities()

    def predict(self, rows: Any, *, threads: int | None = None) -> NDArray[np.intp]:
        """The most probable class of each row; one that no class can have made is refused."""
        best: NDArray[np.intp] = self.responsibilities(rows, threads=threads).argmax(axis=1)
        return best

    def log_densities(self, rows: Any, *, threads: int | None = None) -> Floats:
        """ln P(row) for each row of a table; −inf where no class can have made it."""
        from credo.predict.rows.mixture import scored_rows

        return scored_rows(self._model, rows, threads).logs

    def log_likelihood(self, rows: Any, *, threads: int | None = None) -> float:
        """ln P(rows): the sum over the rows, by their weights if the table has any.

        It is −inf where no class can have made one of them, as that of a network is.
        """
        from credo.predict.rows.mixture import scored_rows

        return scored_rows(self._model, rows, threads).total

    def bic(self, rows: Any) -> float:
        """ln P(rows) − ½·parameters·ln n: higher is better (−½ of scikit-learn's figure)."""
        from credo.predict.rows.mixture import scored_rows

        found = scored_rows(self._model, rows)
        return found.total - 0.5 * self._model.free_parameters * math.log(
            max(found.cells.weight, 1.0)
        )

    def icl(self, rows: Any) -> float:
        """BIC less the entropy of the responsibilities: classes that overlap are paid for."""
        from credo.predict.rows.mixture import scored_rows

        found = scored_rows(self._model, rows)
        share, weights = found.shares, found.weights
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(share > 0, share * np.log(share), 0.0).sum(axis=1)
        return self.bic(rows) + float(terms.sum() if weights is None else weights @ terms)

    def sample(self, n: int, *, rng: Rng = 0) -> Table:
        """Rows drawn from the mixture, with their class in the last column.

        >>> import credo as cr
        >>> part = cr.distributions.Gaussians(("x",), [[0], [4]], [1, 1], "spherical")
        >>> cr.Mixture([0.5, 0.5], [part]).sample(3, rng=1).schema.names
        ('x', 'Class')
        """
        from credo.predict.rows.mixture import sampled

        return sampled(self._model, size(n), generator(rng))
