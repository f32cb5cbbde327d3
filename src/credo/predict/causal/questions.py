"""The text of a causal question about a graph: `P(y | do(x), z)`, names only.

Values after `=` are read over: a formula holds for all of them. Names may be quoted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from credo.core.errors import InputError, unknown_name
from credo.model.values.value import Told
from credo.predict.questions.question import quoted, unquoted

if TYPE_CHECKING:
    from credo.model.causal.causal_graph import CausalGraph
    from credo.model.causal.pag import Pag

__all__ = ["CausalQuestion", "read"]

_NAME = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^|,()'"=]+)"""
_ITEM = rf"\s*{_NAME}\s*(?:=\s*{_NAME})?"
_LIST = rf"{_ITEM}(?:,{_ITEM})*"
_QUESTION = re.compile(rf"\s*Pr?\s*\((?P<of>{_LIST})(?:\|(?P<given>.*))?\)\s*", re.S)
_PART = re.compile(rf"\s*(?:do\s*\((?P<do>{_LIST})\)|(?P<item>{_ITEM}))\s*(?:,|$)", re.S)


@dataclass(frozen=True, slots=True)
class CausalQuestion(Told):
    """P(of | do(set), given)."""

    of: tuple[str, ...]
    set: tuple[str, ...]
    given: tuple[str, ...] = ()

    def __str__(self) -> str:
        of, to, given = (", ".join(map(quoted, part)) for part in (self.of, self.set, self.given))
        known = ", ".join([*([f"do({to})"] if to else []), *([given] if given else [])])
        return f"P({of} | {known})" if known else f"P({of})"


def read(graph: CausalGraph | Pag, text: str, given: Sequence[str] | str = ()) -> CausalQuestion:
    """The parts of a question, each a node of the graph.

    >>> from credo import CausalGraph
    >>> print(read(CausalGraph("[X][Y|X]"), "P(Y | do(X=1))"))
    P(Y | do(X))
    """
    found = _QUESTION.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise InputError(f"A causal question is a text such as 'P(Y | do(X))', got {text!r}.")
    of, to = _names(found["of"]), []
    known = [given] if isinstance(given, str) else list(given)
    rest, at = found["given"] or "", 0
    while at < len(rest):
        part = _PART.match(rest, at)
        if part is None:
            raise InputError(f"Expected do(X) or the name of a variable, got {rest[at:]!r}.")
        to += _names(part["do"]) if part["do"] else []
        known += _names(part["item"]) if part["item"] else []
        at = part.end()
    seen: set[str] = set()
    for name in (*of, *to, *known):
        if name not in graph.nodes:
            raise unknown_name("Node", name, graph.nodes, "in the graph")
        if name in seen:
            raise InputError(f"{name!r} stands twice in the question {text!r}.")
        seen.add(name)
    return CausalQuestion(tuple(of), tuple(to), tuple(known))


def _names(text: str) -> list[str]:
    items = re.findall(_ITEM, text)
    return [unquoted(re.match(rf"\s*({_NAME})", item)[1].strip()) for item in items]  # type: ignore[index]
