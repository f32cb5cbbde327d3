"""A conversation with a model: evidence is kept from line to line, questions are answered with it.

    smoke=yes, dysp=no        evidence (also: x != a, x in {a, b}, x > 2, do(x=a))
    lung     P(lung=yes)      questions
    evidence · clear · undo · mpe · marginals · variables · help · quit

The prompt of `credo ask` and its piped form stand on this; it knows no terminal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from credo.core.errors import ImpossibleError, InputError, LimitError, close_names
from credo.core.render import shortened, table_text
from credo.model.answers.between import Between
from credo.predict.questions.question import quoted

__all__ = ["WORDS", "Reply", "Session", "completions", "fragment"]

WORDS = {
    "evidence": "what is given so far",
    "clear": "forget the evidence, or that of the variables named after it",
    "undo": "take the last change of the evidence back",
    "mpe": "the most probable state of everything that is not given",
    "marginals": "the distribution of every variable",
    "variables": "the variables and their states",
    "help": "these lines",
    "quit": "leave (also Ctrl-D)",
}
_ALIASES = {"?": "help", "exit": "quit", "vars": "variables", "reset": "clear", "given": "evidence"}
_QUESTION = re.compile(r"\s*(?:argmax\b|(?:mpe|map)\s+P|P\s*\(|Pr\s*\()", re.I)


@dataclass(frozen=True)
class Reply:
    """What a line was answered with: text for people, and the answer to a question itself."""

    text: str = ""
    question: str = ""
    value: Any = None
    done: bool = False


@dataclass
class Session:
    """A model, the evidence so far, and how questions are to be answered.

    >>> import credo as cr
    >>> net = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> session = Session(net)
    >>> print(session.take("wet=true").text)
    given wet=True, which has probability 0.24
    >>> print(session.take("P(rain=true)").text)
    0.666667
    """

    net: Any
    how: Mapping[str, Any] = field(default_factory=dict)
    explain: bool = False
    given: dict[str, Any] = field(default_factory=dict)
    do: dict[str, Any] = field(default_factory=dict)
    _before: list[tuple[dict[str, Any], dict[str, Any]]] = field(default_factory=list)

    def take(self, line: str) -> Reply:
        """Answer one line; bad input is an error of ours and changes nothing."""
        line = line.strip()
        if not line or line.startswith("#"):
            return Reply()
        word, _, rest = line.partition(" ")
        word = _ALIASES.get(word.casefold(), word.casefold())
        if word in WORDS and (not rest or word == "clear") and line not in self.net.names:
            return self._command(word, rest)
        if _QUESTION.match(line):
            return self._ask(line)
        names = self._names(line)
        if names:
            return self._ask(f"P({', '.join(map(quoted, names))})")
        if re.search(r"[=∈<>≤≥]|\bin\s*\{", line):
            return self._observe(line)
        near = close_names(line, [*WORDS, *self.net.names])
        raise InputError(
            f"{line!r} is neither evidence, a question, a variable nor a command.",
            hint=f"Did you mean {near[0]!r}?" if near else "Type help.",
        )

    # --- evidence -------------------------------------------------------------------------

    def _observe(self, line: str) -> Reply:
        from credo.predict.questions.question import parse_conditions

        seen, done = parse_conditions(self.net, line)
        given, do = dict(self.given), dict(self.do)
        for name in (*seen, *done):
            given.pop(name, None)
            do.pop(name, None)
        given |= seen
        do |= done
        share = self._probability(given, do)
        self._change(given, do)
        return Reply(self._shown() + share)

    def _probability(self, given: dict[str, Any], do: dict[str, Any]) -> str:
        """How probable the evidence is, where that is quick to know; the impossible is refused."""
        import math

        from credo.predict.questions.intervention import intervene

        asked = intervene(self.net, do) if do else self.net
        if not given:
            return ""
        try:
            log_p = asked.log_evidence(given, method="exact")
        except ImpossibleError:
            raise
        except (LimitError, InputError):
            return ""
        if any(self.net.variable(n).is_numeric and not isinstance(v, (Between, str))
               for n, v in given.items()):  # fmt: skip
            return ""
        p = math.exp(log_p)
        return f", which has probability {p:.4g}" if p > 0 else f", of log-probability {log_p:.6g}"

    def _change(self, given: dict[str, Any], do: dict[str, Any]) -> None:
        self._before.append((self.given, self.do))
        self.given, self.do = given, do

    def _shown(self) -> str:
        return f"given {self.conditions}" if self.conditions else "nothing is given"

    @property
    def conditions(self) -> str:
        """The evidence, for people."""
        parts = [_condition(n, v, str) for n, v in self.given.items()]
        if self.do:
            parts.append(f"do({', '.join(_condition(n, v, str) for n, v in self.do.items())})")
        return ", ".join(parts)

    # --- commands -------------------------------------------------------------------------

    def _command(self, word: str, rest: str) -> Reply:
        if word == "quit":
            return Reply(done=True)
        if word == "help":
            return Reply(_help(self.net))
        if word == "evidence":
            return Reply(self._shown())
        if word == "clear":
            return self._clear(rest)
        if word == "undo":
            if not self._before:
                return Reply("nothing to undo")
            self.given, self.do = self._before.pop()
            return Reply(self._shown())
        if word == "variables":
            return Reply(self._variables())
        asked = self.net.do(self.do) if self.do else self.net
        if word == "mpe":
            found = asked.mpe(self.given)
            return Reply(str(found), self._title("mpe"), found)
        found = asked.marginals(given=self.given)
        texts = [str(found[n]) for n in found]
        return Reply("\n\n".join(texts))

    def _clear(self, rest: str) -> Reply:
        names = [n.strip().strip("'\"") for n in rest.split(",") if n.strip()]
        for name in names:
            if name not in self.given and name not in self.do:
                self.net.variable(name)
                raise InputError(f"{name!r} is not given.")
        gone = set(names) if names else {*self.given, *self.do}
        self._change(
            {n: v for n, v in self.given.items() if n not in gone},
            {n: v for n, v in self.do.items() if n not in gone},
        )
        return Reply(self._shown())

    def _variables(self) -> str:
        rows = []
        for v in self.net.variables:
            states = "a number" if v.is_numeric else shortened(v.texts)
            held = self.given.get(v.name, self.do.get(v.name))
            rows.append([v.name, states, "" if held is None else _condition(v.name, held, str)])
        return table_text(["variable", "states", "given"], rows)

    # --- questions ------------------------------------------------------------------------

    def _names(self, line: str) -> list[str]:
        """The variables that a line names, if it names nothing else."""
        if line in self.net.names:
            return [line]
        names = [n.strip().strip("'\"") for n in line.split(",")]
        return names if all(n in self.net.names for n in names) else []

    def _ask(self, text: str) -> Reply:
        full = self._with_evidence(text)
        value = self.net.ask(full, explain=self.explain, **self.how)
        shown = f"{value:.6g}" if type(value) is float else str(value)
        return Reply(shown, full, value)

    def _with_evidence(self, text: str) -> str:
        """The question with the evidence of the session; its own evidence goes first."""
        from credo.predict.questions.question import parse

        question = parse(self.net, text)
        for name in question.targets:
            if isinstance(self.given.get(name), Between):
                continue
            if name in self.given or name in self.do:
                raise InputError(
                    f"{name!r} is asked about and given at once.", hint=f"Type: clear {name}"
                )
        own = {*question.given, *question.do}
        parts = [_condition(n, v, quoted) for n, v in self.given.items() if n not in own]
        done = [_condition(n, v, quoted) for n, v in self.do.items() if n not in own]
        parts += [f"do({', '.join(done)})"] if done else []
        if not parts:
            return text
        inside = text.rstrip()
        bar = ", " if question.given or question.do else " | "
        return inside[: inside.rindex(")")] + bar + ", ".join(parts) + ")"

    def _title(self, word: str) -> str:
        return f"{word} | {self.conditions}" if self.conditions else word


# --- how names and states are written ------------------------------------------------------


def _condition(name: str, value: Any, write: Any) -> str:
    left = quoted(name) if write is quoted else name
    if isinstance(value, Between):
        return value.of(left)
    if isinstance(value, list):
        return f"{left} in {{{', '.join(map(write, value))}}}"
    return f"{left}={write(value)}"


def _help(net: Any) -> str:
    rows = [
        ["NAME=STATE, …", "evidence; also x != a, x in {a, b}, x > 2, do(x=a)"],
        ["NAME", "P(NAME) with the evidence; several names: together"],
        ["P(… | …)", "any question, such as P(a=yes | b=no) or argmax P(a, b)"],
        *([word, line] for word, line in WORDS.items()),
    ]
    return table_text(["type", "to get"], rows)


# --- completion ----------------------------------------------------------------------------


def fragment(net: Any, line: str) -> tuple[int, list[str]]:
    """Where the word under way begins, and what it may become.

    >>> import credo as cr
    >>> net = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> fragment(net, "P(rain | w"), fragment(net, "wet=T")
    ((9, ['wet']), (4, ['True']))
    """
    marks = re.search(r"[^|(),{}=!]*$", line)
    assert marks is not None
    tail = marks[0].lstrip()
    start = len(line) - len(tail)
    typed = tail.lstrip("'\"").casefold()
    of = re.search(r"([^|(),{}=!]+)!?=\s*[^|(),{}=!]*$", line) or re.search(
        r"([^|(),{}=!]+?)\s+in\s*\{[^}]*$", line
    )
    name = of[1].strip().strip("'\"") if of else ""
    words: list[Any]
    if name in net.names:
        words = list(net.variable(name).states)
    else:
        words = list(net.names)
        if not line[:start].strip():
            words += [w for w in WORDS if w not in words]
    return start, [quoted(w) for w in words if str(w).casefold().startswith(typed)]


def completions(net: Any, text: str) -> list[str]:
    """Whole texts that a question under way may become, for a shell."""
    start, words = fragment(net, text)
    return [text[:start] + w for w in words if w not in WORDS or text[:start]]
