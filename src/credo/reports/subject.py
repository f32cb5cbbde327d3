"""What a report is about: a model, perhaps its data, and how both are called on disk."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from credo.data import Stream, Table
from credo.errors import CredoWarning
from credo.model.network import Network

__all__ = ["Subject"]


@dataclass(frozen=True)
class Subject:
    """The model and its data. `level` is that of credible intervals; `budget` the cells of tables
    that may still be written out."""

    model: Any
    data: Table | Stream | None = None
    questions: tuple[str, ...] = ()
    level: float = 0.95
    seed: int = 0
    model_file: str = ""
    data_file: str = ""
    reading: str = ""
    checks: bool = True
    notes: list[str] = field(default_factory=list)

    @property
    def directed(self) -> bool:
        """Whether the model is a Bayesian network."""
        return isinstance(self.model, Network)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The edges of its graph."""
        return tuple(self.model.dag.edges if self.directed else self.model.graph.edges)

    @cached_property
    def has_posterior(self) -> bool:
        """Whether every distribution of the network keeps its posterior, as intervals need."""
        if not self.directed:
            return False
        parts = self.model.distributions.values()
        return all(
            getattr(d, "counts", None) is not None or getattr(d, "posterior", None) is not None
            for d in parts
        )

    @cached_property
    def usual_questions(self) -> list[str]:
        """Questions that any reader would ask of this model."""
        from credo.reports.questions_section import default_questions

        return default_questions(self)

    @cached_property
    def beliefs(self) -> dict[str, Any]:
        """What is believed of every variable when nothing is observed; found once."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CredoWarning)
            found: dict[str, Any] = self.model.marginals()
        return found

    @property
    def model_name(self) -> str:
        """The name of the model's file, or a stand-in."""
        return self.model_file or "model.credo"
