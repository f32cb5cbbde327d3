"""STEP 2 of the recipe: from statistics to a model. The names load when they are first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credo.lazy import lazy_names

_WHERE = {
    "fit": "parameters",
}

__all__ = list(_WHERE)

if TYPE_CHECKING:
    from credo.train.parameters import fit as fit


__getattr__, __dir__ = lazy_names(
    "credo.train", {name: f"credo.train.{module}" for name, module in _WHERE.items()}
)
