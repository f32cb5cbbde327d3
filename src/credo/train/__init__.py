"""STEP 2 of the recipe: from statistics to a model. The names load when they are first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credo.lazy import lazy_names

_WHERE = {
    "edge_strengths": "structure.strengths",
    "em": "em_fit",
    "find_hidden": "hidden",
    "fit": "parameters",
    "independence_test": "independence_tests",
    "learn": "structure.learning",
    "missingness": "missing",
    "score": "scores",
}

__all__ = list(_WHERE)

if TYPE_CHECKING:
    from credo.train.em_fit import em as em
    from credo.train.hidden import find_hidden as find_hidden
    from credo.train.independence_tests import independence_test as independence_test
    from credo.train.missing import missingness as missingness
    from credo.train.parameters import fit as fit
    from credo.train.scores import score as score
    from credo.train.structure.learning import learn as learn
    from credo.train.structure.strengths import edge_strengths as edge_strengths


__getattr__, __dir__ = lazy_names(
    "credo.train", {name: f"credo.train.{module}" for name, module in _WHERE.items()}
)
