"""What people write in a question that is written otherwise here, and how it is written."""

from __future__ import annotations

import re
from typing import Any

from credo.core.schema import Variable

__all__ = ["cure"]

_LONGEST = 500  # characters of a question that is looked through for slips

_NAME = r"[^\s|(),{}<>≤≥=\[\]]+"
_LISTED = re.compile(
    rf"(?P<name>{_NAME})\s+in\s+(?:\[|\()(?P<low>[^,\])]+),(?P<high>[^,\])]+)[\])]"
)
_DOTS = re.compile(rf"(?P<name>{_NAME})\s+in\s+(?P<low>[\d.]+?)(?:\.\.|-|:)(?P<high>[\d.]+)")
_GIVEN = re.compile(r"\s+(?:given|GIVEN|if|wenn)\s+")
_AND = re.compile(r"\s(?:and|AND|und|&&?)\s|\s*;\s*|\S&\S")


def cure(net: Any, text: str) -> str:
    """What to write instead, for a question that could not be read; empty if nothing is known.

    >>> import credo as cr
    >>> net = cr.Network("[A][B|A]", {"A": 0.5, "B": {False: 0.1, True: 0.2}})
    >>> cure(net, "P(A=true and B=true)")
    'Parts are separated by commas: P(A=true, B=true).'
    >>> cure(net, "P(A==true)")
    "A state stands after one '=': P(A=true)."
    >>> cure(net, "P(A given B=true)")
    "What is known stands after '|': P(A | B=true)."
    >>> cure(net, "P(A | B)")
    'What is known has its value: P(A | B=False).'
    """
    if len(text) > _LONGEST:
        return ""
    for form in (_LISTED, _DOTS):
        found = form.search(text)
        if found is not None and found["name"] in net.schema:
            return _range(net.variable(found["name"]), found["low"], found["high"])
    if _GIVEN.search(text) and "|" not in text:
        return f"What is known stands after '|': {_asked(_GIVEN.sub(' | ', text, count=1))}."
    if "==" in text:
        return f"A state stands after one '=': {re.sub('==+', '=', text)}."
    if _AND.search(text):
        commas = re.sub(r"\s(?:and|AND|und|&&?)\s|\s*;\s*|(?<=\S)&(?=\S)", ", ", text)
        return f"Parts are separated by commas: {commas}."
    if re.search(r"\s(?:or|OR|\|\|)\s", text):
        return "There is no 'or': states of one variable are asked for as a set, P(X in {a, b})."
    if re.match(r"\s*E\s*[\[(]", text):
        inner = re.sub(r"^\s*E\s*[\[(]|[\])]\s*$", "", text)
        return f"Ask for P({inner}): of a number its answer has the mean."
    bare = re.search(rf"[|,]\s*(?:do\()?\s*(?P<name>{_NAME})\s*\)*\s*$", text)
    if "|" in text and bare is not None and bare["name"] in net.schema:
        known = f"{bare['name']}={_some_state(net.variable(bare['name']))}"
        end = text[bare.end("name") :] or ")"
        return f"What is known has its value: {text[: bare.start('name')]}{known}{end}."
    if not re.match(r"\s*(?:argmax\s+)?P\b", text):
        return f"A question is written like {_example(net)}."
    return ""


def _asked(text: str) -> str:
    """The same within P(...)."""
    return text if re.match(r"\s*(?:argmax\s+)?P\s*\(", text) else f"P({text.strip()})"


def _some_state(variable: Variable) -> str:
    return str(variable.states[0]) if variable.is_discrete else "1.5"


def _example(net: Any) -> str:
    """A question in the names of the model."""
    first, *rest = net.names
    if not rest:
        return f"P({first})"
    return f"P({first} | {rest[0]}={_some_state(net.variable(rest[0]))})"


def _range(variable: Variable, low: str, high: str) -> str:
    name, low, high = variable.name, low.strip(), high.strip()
    if variable.is_discrete:
        some = ", ".join(map(str, variable.states[:2]))
        return f"States are asked for as a set: P({name} in {{{some}}})."
    return f"A range is written with its bounds: P({low} < {name} < {high})."
