"""Answer: what was asked, the answer, and how it was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from credo.model.answers.approximation import Approximation
    from credo.predict.exact.account import Account

__all__ = ["Answer"]


@dataclass(frozen=True)
class Answer:
    """An answer with its account; the answer itself is `value`."""

    question: str
    value: Any
    account: Account | Approximation

    def __float__(self) -> float:
        return float(self.value)

    def __getitem__(self, key: Any) -> Any:
        return self.value[key]

    def __str__(self) -> str:
        exact = type(self.value) is float
        value = f"{self.value:.6g}" if exact else str(self.value)
        return f"{self.question}\n{value}\n\n{self._account}"

    @property
    def _account(self) -> str:
        """The account, less what the value says itself."""
        return getattr(self.account, "details", str(self.account))

    def _repr_html_(self) -> str:
        import html

        shown = getattr(self.value, "_repr_html_", None)
        body = shown() if shown else html.escape(str(self.value))
        return f"<p>{html.escape(self.question)}</p>{body}<pre>{html.escape(self._account)}</pre>"
