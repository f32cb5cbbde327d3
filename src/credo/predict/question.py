"""The text of a question, read into its parts. Errors point at the character.

    P(lung | smoke=yes, dysp=no)     the distribution of lung
    P(lung=yes, bronc=no | …)        a probability
    P(lung in {yes, maybe} | …)      the probability of one of several states
    P(age > 40 | lung=yes)           the probability of a bound on a continuous variable
    P(stage <= 2 | …)                of a discrete one with numbers or an order: a set of states
    P(lung | do(smoke=yes))          after an intervention
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

from credo.errors import InputError, UnknownNameError, close_names
from credo.frozen import Frozen
from credo.predict.question_slips import cure, states_within
from credo.schema import Variable

if TYPE_CHECKING:
    from credo.model.network import Network

__all__ = ["Question", "parse", "parse_conditions"]


@dataclass(frozen=True)
class Question(Frozen):
    """What is asked: targets, events among them, evidence, interventions."""

    targets: tuple[str, ...]
    events: dict[str, list[Any]] = field(default_factory=dict)
    given: dict[str, Any] = field(default_factory=dict)
    do: dict[str, Any] = field(default_factory=dict)
    argmax: bool = False
    bound: tuple[str, float] | None = None  # of one continuous target: '<=' or '>', and the number


_TOKEN = re.compile(
    r"""\s*(?:(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<mark>[|(),{}]|!=|=|∈)"""
    r"""|(?P<word>[^\s|(),{}=!'"]+))"""
)


_BOUND = re.compile(
    r"""(?P<name>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^|(),{}<>≤≥]+?)\s*"""
    r"""(?P<mark><=|>=|[<>≤≥])\s*(?P<number>[^\s|(),]+)\s*(?=[|,)])"""
)


class _Reader:
    """Tokens of the text with the place where each begins."""

    def __init__(self, text: str, net: Network) -> None:
        self.text = text
        self.net = net
        self.tokens: list[tuple[str, str, int]] = []
        at = 0
        while at < len(text.rstrip()):
            match = _TOKEN.match(text, at)
            if match is None:
                raise self.error(at, "something that can be read", text[at])
            kind = match.lastgroup or ""
            if match[kind] == "in":
                self.tokens.append(("mark", "in", match.start(kind)))
                at = match.end()
                continue
            self.tokens.append((kind, match[kind], match.start(kind)))
            at = match.end()
        self.tokens.append(("end", "", len(text.rstrip())))
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

    def word(self, what: str) -> tuple[str, int]:
        """A name or a state: quoted text, or words up to the next mark."""
        kind, text, place = self.next
        if kind == "quoted":
            self.at += 1
            return re.sub(r"\\(.)", r"\1", text[1:-1]), place
        if kind != "word":
            raise self.error(place, what, text)
        end = place
        while self.next[0] == "word":
            end = self.next[2] + len(self.next[1])
            self.at += 1
        return self.text[place:end], place

    def bound(self) -> tuple[str, str, float] | None:
        """A bound on a continuous variable, `age > 30`: its name, '<=' or '>', and the number."""
        found = _BOUND.match(self.text, self.next[2])
        if found is None:
            return None
        name = found["name"]
        name = re.sub(r"\\(.)", r"\1", name[1:-1]) if name[0] in "'\"" else name
        if name not in self.net.schema or self.net.variable(name).is_discrete:
            return None
        try:
            number = float(found["number"])
        except ValueError:
            place = found.start("number")
            raise self.error(place, f"a number for {name!r}", found["number"]) from None
        while self.next[0] != "end" and self.next[2] < found.end():
            self.at += 1
        return name, "<=" if found["mark"][0] in "<≤" else ">", number

    def within(self) -> tuple[Variable, list[Any]] | None:
        """A bound on a discrete variable, `stage <= 2`: the states that keep it."""
        found = _BOUND.match(self.text, self.next[2])
        if found is None or found["name"] not in self.net.schema:
            return None
        variable = self.net.variable(found["name"])
        if not variable.is_discrete:
            return None
        while self.next[0] != "end" and self.next[2] < found.end():
            self.at += 1
        return variable, states_within(variable, found["mark"], found["number"])

    def variable(self) -> Variable:
        name, place = self.word("a variable's name")
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
        text, place = self.word(f"a state of {variable.name!r}")
        if not variable.is_discrete:
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
    bound = reader.bound()
    if bound is None:
        targets, events = _targets(reader)
    else:
        targets, events = [bound[0]], {}
    given: dict[str, Any] = {}
    do: dict[str, Any] = {}
    if reader.has("|"):
        _conditions(reader, given, do)
    if bound is not None and reader.next[1] == ",":
        raise InputError("A bound is asked of one variable at a time.")
    reader.take(")")
    kind, came, place = reader.next
    if kind != "end":
        raise reader.error(place, "the end of the question", came)
    if argmax and (events or bound):
        raise InputError("argmax asks for states; leave out the ones after '='.")
    if events and len(events) < len(targets):
        lacking = next(t for t in targets if t not in events)
        raise InputError(
            f"P of {', '.join(events)} has states but {lacking!r} has none.",
            hint="Give every target a state, or none.",
        )
    limit = None if bound is None else bound[1:]
    return Question(tuple(targets), events, given, do, argmax, limit)


def parse_conditions(net: Network, text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read what stands after the bar, `smoke=yes, do(x=1)`: evidence, and interventions."""
    reader = _Reader(text, net)
    given: dict[str, Any] = {}
    do: dict[str, Any] = {}
    _conditions(reader, given, do)
    if reader.next[0] != "end":
        raise reader.error(reader.next[2], "',' or the end", reader.next[1])
    return given, do


def _targets(reader: _Reader) -> tuple[list[str], dict[str, list[Any]]]:
    targets: list[str] = []
    events: dict[str, list[Any]] = {}
    while True:
        among = reader.within()
        variable = among[0] if among is not None else reader.variable()
        if variable.name in targets:
            raise InputError(f"{variable.name!r} is asked about twice.")
        targets.append(variable.name)
        if among is not None:
            events[variable.name] = among[1]
        elif reader.has("="):
            events[variable.name] = [reader.value(variable)]
        elif reader.has("!="):
            out = reader.value(variable)
            events[variable.name] = _others(variable, out)
        elif reader.has("in", "∈"):
            events[variable.name] = _set(reader, variable)
        if not reader.has(","):
            return targets, events


def _set(reader: _Reader, variable: Variable) -> list[Any]:
    reader.take("{")
    states = [reader.value(variable)]
    while reader.has(","):
        states.append(reader.value(variable))
    reader.take("}")
    if not variable.is_discrete:
        raise InputError(f"{variable.name!r} is continuous; it is observed as one number.")
    return [variable.states[i] for i in sorted({variable.code(s) for s in states})]


def _others(variable: Variable, out: Any) -> list[Any]:
    if not variable.is_discrete:
        raise InputError(f"{variable.name!r} is continuous; it is observed as one number.")
    return [s for i, s in enumerate(variable.states) if i != variable.code(out)]


_BAYES = "Bayes' rule turns it round: P(A | {0}) = P({0} | A) · P(A) / P({0}), each can be asked."


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
            beyond = reader.bound()
            if beyond is not None:
                raise InputError(
                    f"{beyond[0]!r} is continuous; it is observed as one number.",
                    hint=_BAYES.format(f"{beyond[0]} {beyond[1]} {beyond[2]:g}"),
                )
            among = reader.within()
            variable = among[0] if among is not None else reader.variable()
            value: Any
            if among is not None:
                value = among[1]
            elif reader.has("!="):
                out = reader.value(variable)
                value = _others(variable, out)
            elif reader.has("in", "∈"):
                value = _set(reader, variable)
            else:
                reader.take("=")
                value = reader.value(variable)
            _put(given, variable.name, value, do)
        if not reader.has(","):
            return


def _put(here: dict[str, Any], name: str, value: Any, there: dict[str, Any]) -> None:
    if name in here or name in there:
        raise InputError(f"{name!r} is given twice.")
    here[name] = value
