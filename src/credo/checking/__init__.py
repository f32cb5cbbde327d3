"""STEP 4: model × data → report. What a model gets right, what it gets wrong, and what to do.

Each check is one file and one section of the report; `check` runs them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credo.core.lazy import lazy_names

_WHERE = {
    "check": "checkup",
    "Report": "report",
    "Finding": "findings",
    "cross_validate": "questions.cross_validation",
    "CrossValidation": "questions.cross_validation",
    "sensitivity": "questions.tipping",
    "Sensitivity": "questions.tipping",
    "evidence_value": "questions.information_gain",
    "EvidenceValue": "questions.information_gain",
    "compare": "questions.comparing",
    "ModelComparison": "questions.comparing",
}

__all__ = list(_WHERE)

if TYPE_CHECKING:
    from credo.checking.checkup import check as check
    from credo.checking.findings import Finding as Finding
    from credo.checking.questions.comparing import ModelComparison as ModelComparison
    from credo.checking.questions.comparing import compare as compare
    from credo.checking.questions.cross_validation import CrossValidation as CrossValidation
    from credo.checking.questions.cross_validation import cross_validate as cross_validate
    from credo.checking.questions.information_gain import EvidenceValue as EvidenceValue
    from credo.checking.questions.information_gain import evidence_value as evidence_value
    from credo.checking.questions.tipping import Sensitivity as Sensitivity
    from credo.checking.questions.tipping import sensitivity as sensitivity
    from credo.checking.report import Report as Report


__getattr__, __dir__ = lazy_names(
    "credo.checking", {name: f"credo.checking.{module}" for name, module in _WHERE.items()}
)
