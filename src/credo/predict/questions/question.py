"""The text of a question, read into its parts. Errors point at the character.

    P(lung | smoke=yes, dysp=no)     the distribution of lung
    P(lung=yes, bronc=no | …)        a probability
    P(lung in {yes, maybe} | …)      the probability of one of several states
    P(age > 40 | bili < 2)           of a range; P(2 < bili < 5) of one with two ends
    P(stage <= 2 | …)                of a discrete one with numbers or an order: a set of states
    P(lung | do(smoke=yes))          after an intervention
    P(lung_{smoke=no}=yes | lung=yes)  what would have been (see predict/causal/counterfactual.py)
    argmax P(lung, bronc | …)        the most probable states together
    P(smoke=yes)                     the probability of evidence

Names and states may be quoted; blanks do not matter.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from credo.core.bins import Bins
from credo.core.errors import InputError, UnknownNameError, close_names
from credo.core.frozen import Frozen
from credo.core.schema import Variable
from credo.core.state_values import is_number, readable
from credo.model.answers.between import Between, between
from credo.predict.questions.evidence import states_within
from credo.predict.questions.slips import cure

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["Question", "parse", "parse_conditions", "quoted"]


@dataclass(frozen=True)
class Question(Frozen):
    """What is asked: targets, events among them (states, or a range), evidence, interventions."""

    targets: tuple[str, ...]
    events: dict[str, Any] = field(default_factory=dict)
    given: dict[str, Any] = field(default_factory=dict)
    do: dict[str, Any] = field(default_factory=dict)
    argmax: bool = False


_TOKEN = re.compile(
    r"""\s*(?:(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<mark>[|(),{}]|!=|=|∈)"""
    r"""|(?P<word>[^\s|(),{}=!'"]+))"""
)


_COMPARED = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(<=|>=|[<>≤≥=])""")
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class _Reader:
    """Tokens of the text with the place where each begins."""

    def __init__(self, text: str, net: Network) -> None:
        self.text = text
        self.net = net
        self.tokens: list[tuple[str, str, int]] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            match = _TOKEN.match(text, at)
            if match is None:
                raise self.error(at, "something that can be read", text[at])
            kind = match.lastgroup or ""
            word = match[kind]
            self.tokens.append(("mark" if word == "in" else kind, word, match.start(kind)))
            at = match.end()
        self.tokens.append(("end", "", end))
        self.at = 0

    def error(self, place: int, wanted: str, came: str) -> InputError:
        shown = repr(came) if came else "the end"
        pointer = f"\n  {self.text}\n  {' ' * place}^"
        return InputError(f"Expected {wanted} at character {place + 1}, got {shown}.{pointer}")

    @property
    def next(self) -> tuple[str, str, int]:
        return self.tokens[self.at]

    def take(self, mark: str) -> None:
        kind, text, place = self.next
        if kind == "end" or text != mark or kind == "quoted":
            raise self.error(place, repr(mark), text)
        self.at += 1

    def has(self, *marks: str) -> bool:
        kind, text, _ = self.next
        if kind != "quoted" and text in marks:
            self.at += 1
            return True
        return False

    def word(self, what: str, also: str = "") -> tuple[str, int]:
        """A name or a state: quoted text, or words up to the next mark that is not `also`."""
        kind, text, place = self.next
        if kind == "quoted":
            self.at += 1
            return unquoted(text), place
        if kind != "word":
            raise self.error(place, what, text)
        end = place
        while self.next[0] == "word" or (also and self.next[1] == also):
            end = self.next[2] + len(self.next[1])
            self.at += 1
        return self.text[place:end], place

    def compared(self) -> tuple[Variable, list[Any] | Between] | None:
        """Bounds on a variable, `age > 30` or `2 < bili < 5`: a range, or the states that keep it.

        None where the next item is something else.
        """
        start, ahead = self.next[2], self.at
        while self.tokens[ahead][1] not in ("|", "(", ")", ",", "{", "}", "in", "∈", "!=", ""):
            ahead += 1
        text = self.text[start : self.tokens[ahead][2]].rstrip()
        parts: list[tuple[str, int]] = []
        marks: list[str] = []
        at = 0
        for found in _COMPARED.finditer(text):
            if found[2] == "=" and not marks:
                return None  # a state that holds a mark, as in income=<50K
            if found[2] is not None:
                parts.append((text[at : found.start()].strip(), start + at))
                marks.append(found[2].replace("≤", "<=").replace("≥", ">="))
                at = found.end()
        parts.append((text[at:].strip(), start + at))
        if not marks or text in self.net.schema:
            return None
        if len(marks) > 2 or "=" in marks:
            return None
        where = 1 if len(marks) == 2 else int(_number(parts[0][0]) is not None)
        where = 0 if unquoted(parts[0][0]) in self.net.schema else where
        name = self.known(unquoted(parts[where][0]), parts[where][1]).name
        if len(marks) == 2 and marks[0][0] != marks[1][0]:
            raise self.error(start, f"a range such as 2 < {name} < 5", text)
        bounds = [(m, parts[i + 1]) for i, m in enumerate(marks) if i + 1 > where]
        bounds += [(_TURNED[m], parts[i]) for i, m in enumerate(marks) if i + 1 == where]
        self.at = ahead
        return self.net.variable(name), self._range(self.net.variable(name), bounds)

    def _range(
        self, variable: Variable, bounds: list[tuple[str, tuple[str, int]]]
    ) -> list[Any] | Between:
        if variable.is_discrete and not isinstance(variable.scale, Bins):
            kept = [states_within(variable, mark, unquoted(text)) for mark, (text, _) in bounds]
            states = [s for s in kept[0] if all(s in k for k in kept)]
            if not states:
                said = " and ".join(f"{mark} {text}" for mark, (text, _) in bounds)
                raise InputError(f"No state of {variable.name!r} is {said}.")
            return states
        ends: dict[str, float | None] = {"<": None, ">": None}
        for mark, (text, place) in bounds:
            number = _number(text)
            if number is None or math.isnan(number):
                raise self.error(place, f"a number for {variable.name!r}", text)
            ends[mark[0]] = _end(variable, mark, number)
        return between(ends[">"], ends["<"])

    def variable(self) -> Variable:
        return self.known(*self.word("a variable's name"))

    def known(self, name: str, place: int) -> Variable:
        """A variable of the model, by its name; `place` is where it stands."""
        if name not in self.net.schema:
            near = close_names(name, self.net.names)
            known = ", ".join(map(repr, self.net.names[:12]))
            known += f" and {len(self.net.names) - 12} more" if len(self.net.names) > 12 else ""
            hint = (
                f" Did you mean {near[0]!r}?"
                if near
                else f" There {'is' if len(self.net.names) == 1 else 'are'} {known}."
            )
            odd = next((n for n in self.net.names if self.text.startswith(n, place)), None)
            if odd is not None and odd.startswith(name) and odd != name:
                hint = (
                    f" Names with marks in them are quoted: {json.dumps(odd, ensure_ascii=False)}."
                )
            raise UnknownNameError(
                f"Variable {name!r} (character {place + 1}) is not in the model.{hint}"
            )
        return self.net.variable(name)

    def value(self, variable: Variable) -> Any:
        text, place = self.word(f"a state of {variable.name!r}", also="=")
        binned = isinstance(variable.scale, Bins) and text not in variable.states
        if not variable.is_discrete or binned:
            try:
                number = float(text)
            except ValueError:
                number = math.nan
            if math.isnan(number):
                raise self.error(place, f"a number for {variable.name!r}", text)
            return number
        quoted = self.text[place] in "'\""
        same = [s for s in variable.states if str(s) == text] or _same_value(variable, text)
        if same:  # "1" in quotes is rather the text than the number
            return next((s for s in same if isinstance(s, str) == quoted), same[0])
        folded = [s for s in variable.states if str(s).casefold() == text.casefold()]
        if len(folded) == 1:
            return folded[0]
        near = close_names(text, variable.states)
        known = ", ".join(repr(s) for s in variable.states[:8])
        hint = (
            f"Did you mean {near[0]!r}?"
            if near
            else f"There {'is' if variable.arity == 1 else 'are'} {known}."
        )
        raise UnknownNameError(
            f"State {text!r} (character {place + 1}) is not one of {variable.name!r}. {hint}"
        )


def quoted(value: Any) -> str:
    r"""A name or a state as a question reads it back.

    >>> quoted("smoke"), quoted("a, b"), quoted(True)
    ('smoke', '"a, b"', 'True')
    """
    if isinstance(value, bool) or is_number(value):
        return str(value)
    text = readable(value)
    if re.fullmatch(r"[^\s|(),{}=!<>≤≥'\"∈]+", text) and text not in ("in", "do", "P", "argmax"):
        return text
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def unquoted(text: str) -> str:
    """A name or a state without its quotes."""
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text[:1] in ("'", '"') else text


def _same_value(variable: Variable, text: str) -> list[Any]:
    """The state that is the number a text is, or that holds it, or whose bytes the text is."""
    for value in (text, _number(text)):
        place = None if value is None else variable.find(value)
        if place is not None and not isinstance(variable.states[place], bool):
            return [variable.states[place]]
    return []


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def parse(net: Network, text: str) -> Question:
    """Read a question about a network."""
    if not isinstance(text, str) or not text.strip():
        raise InputError("A question is a text such as 'P(lung | smoke=yes)'.")
    try:
        return _parsed(net, text)
    except (InputError, UnknownNameError) as error:
        better = "" if error.hint else cure(net, text)
        if not better:
            raise
        sentence, line, pointer = error.message.partition("\n")
        raise type(error)(f"{sentence} {better}{line}{pointer}") from None


def _parsed(net: Network, text: str) -> Question:
    reader = _Reader(text, net)
    argmax = reader.has("argmax", "mpe", "map")
    if not reader.has("P", "p", "Pr"):
        raise reader.error(reader.next[2], "'P(' or 'argmax P('", reader.next[1])
    reader.take("(")
    targets, events = _targets(reader)
    given: dict[str, Any] = {}
    do: dict[str, Any] = {}
    if reader.has("|"):
        _conditions(reader, given, do)
    reader.take(")")
    kind, came, place = reader.next
    if kind != "end":
        raise reader.error(place, "the end of the question", came)
    if argmax and events:
        raise InputError("argmax asks for states; leave out the ones after '='.")
    if events and len(events) < len(targets):
        lacking = next(t for t in targets if t not in events)
        raise InputError(
            f"P of {', '.join(events)} has a state or a range, but {lacking!r} has none.",
            hint="Give every target a state or a range, or none.",
        )
    return Question(tuple(targets), events, given, do, argmax)


def parse_conditions(net: Network, text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read what stands after the bar, `smoke=yes, do(x=1)`: evidence, and interventions."""
    reader = _Reader(text, net)
    given: dict[str, Any] = {}
    do: dict[str, Any] = {}
    _conditions(reader, given, do)
    if reader.next[0] != "end":
        raise reader.error(reader.next[2], "',' or the end", reader.next[1])
    return given, do


def _targets(reader: _Reader) -> tuple[list[str], dict[str, Any]]:
    targets: list[str] = []
    events: dict[str, Any] = {}
    while True:
        compared = reader.compared()
        variable, value = compared or (reader.variable(), None)
        value = _value(reader, variable) if value is None else value
        if variable.name in targets:
            value = _both(events.get(variable.name), value, f"{variable.name!r} is asked about")
        else:
            targets.append(variable.name)
        if value is not None:
            events[variable.name] = value
        if not reader.has(","):
            return targets, events


def _value(reader: _Reader, variable: Variable) -> list[Any] | None:
    """The states after `=`, `!=` or `in`; None where there is nothing of the kind."""
    if reader.has("="):
        return [reader.value(variable)]
    if reader.has("!="):
        return _others(variable, reader.value(variable))
    return _set(reader, variable) if reader.has("in", "∈") else None


def _both(one: Any, other: Any, what: str) -> Between:
    """Two ranges of one variable are one."""
    if isinstance(one, Between) and isinstance(other, Between):
        return one & other
    raise InputError(f"{what} twice.")


def _set(reader: _Reader, variable: Variable) -> list[Any]:
    reader.take("{")
    states = [reader.value(variable)]
    while reader.has(","):
        states.append(reader.value(variable))
    reader.take("}")
    _refuse_numbers(variable, states)
    return [variable.states[i] for i in sorted({variable.code(s) for s in states})]


def _refuse_numbers(variable: Variable, states: list[Any]) -> None:
    if not variable.is_discrete or (variable.scale and any(map(is_number, states))):
        raise InputError(f"{variable.name!r} is continuous; it is observed as one number.")


def _end(variable: Variable, mark: str, number: float) -> float:
    """The end of a range; one that belongs to it lies beyond an atom that is a value of its own."""
    if len(mark) == 1 or not isinstance(variable.scale, Bins) or number not in variable.scale.atoms:
        return number
    return math.nextafter(number, math.inf if mark == "<=" else -math.inf)


def _others(variable: Variable, out: Any) -> list[Any]:
    _refuse_numbers(variable, [out])
    return [s for i, s in enumerate(variable.states) if i != variable.code(out)]


def _conditions(reader: _Reader, given: dict[str, Any], do: dict[str, Any]) -> None:
    while True:
        if reader.next[1] == "do" and reader.tokens[reader.at + 1][1] == "(":
            reader.at += 2
            while True:
                variable = reader.variable()
                reader.take("=")
                _put(do, variable.name, reader.value(variable), given)
                if not reader.has(","):
                    break
            reader.take(")")
        else:
            compared = reader.compared()
            variable, found = compared or (reader.variable(), None)
            value: Any = found
            if found is None:
                one = reader.next[1] == "="
                states = _value(reader, variable)
                if states is None:
                    reader.take("=")
                    continue
                value = states[0] if one else states
            _put(given, variable.name, value, do)
        if not reader.has(","):
            return


def _put(here: dict[str, Any], name: str, value: Any, there: dict[str, Any]) -> None:
    if name in here or name in there:
        value = _both(here.get(name), value, f"{name!r} is given")
    here[name] = value
