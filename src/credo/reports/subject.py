"""What a report is about: a model, perhaps its data, and how both are called on disk."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from credo.checking.again.folds import learned_from
from credo.checking.findings import Finding, kept
from credo.core.errors import CredoError, CredoWarning
from credo.core.schema import Schema
from credo.data import Stream, Table, read
from credo.model.decisions.decision_network import DecisionNetwork
from credo.model.networks.network import Network

__all__ = ["Subject"]

_MEASURED, _MIDDLE = 120, 64  # edges, and nodes, up to which strengths are measured
_LARGEST = 200_000_000  # bytes of a file that is read once more


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
    checks: Any = None
    decided: DecisionNetwork | None = None
    decided_questions: tuple[str, ...] = ()
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

    @cached_property
    def strengths(self) -> dict[tuple[str, str], float]:
        """The mutual information of the ends of each edge, in bits, where it is quick to have."""
        from credo.plot.networks.view import information

        if not 0 < len(self.edges) <= _MEASURED or len(self.model.names) > _MIDDLE:
            return {}
        try:
            return information(self.model, self.edges)
        except CredoError:
            return {}

    @cached_property
    def kept(self) -> tuple[Finding, ...]:
        """What was found when the model was learned from these rows, if its record keeps it."""
        if self.checks is not None or self.data is None or not self.directed:
            return ()
        found = kept(self.model.record)
        same = found and (isinstance(self.data, Stream) or learned_from(self.model, self.data))
        return found if same else ()

    @cached_property
    def checked(self) -> tuple[Any, str]:
        """The report of a check of the model on the rows; where there is none, why."""
        if self.data is None or self.kept:
            return None, ""
        if self.checks is False:
            return None, "The checks were left out, as asked."
        if not self.directed:
            return None, "Checks are made of Bayesian networks; this model has no directions."
        if not isinstance(self.checks, (bool, type(None))):
            return self.checks, ""
        from credo.checking import check

        data = self.data.load() if isinstance(self.data, Stream) else self.data
        try:
            return check(self.model, data, rng=self.seed), ""
        except CredoError as error:
            return None, f"The checks could not be made: {error}"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is known to be right and wrong with the model, worst first."""
        report, _ = self.checked
        return self.kept if report is None else report.findings

    @cached_property
    def by_rules(self) -> Schema | None:
        """The schema that the rules alone give the file; None where there is no such file."""
        try:
            if not os.path.isfile(self.data_file) or os.path.getsize(self.data_file) > _LARGEST:
                return None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CredoWarning)
                table = read(self.data_file)
        except (CredoError, OSError):
            return None
        return table.schema if isinstance(table, Table) else None

    @property
    def model_name(self) -> str:
        """The name of the model's file, or a stand-in."""
        return self.model_file or "model.credo"
