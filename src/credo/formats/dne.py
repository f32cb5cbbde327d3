"""DNE and DNET, the text files of Netica; they are read, not written.

    bnet Name { node A { kind = NATURE; states = (yes, no); parents = (B, C);
                         probs = ((0.1, 0.9), …); }; };

Numbers count over the parents in order, then the child: the child is fastest, whatever the
brackets. `functable` gives one state for each configuration, by name, as `#0`, `#1`, …, or as a
value of its `levels`; these also cut a continuous node into the intervals that are its states. As
in Netica a node without a table is uniform. Findings are not part of the network.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise
from math import prod

from credo.formats.reading import Reading
from credo.formats.scanner import C_COMMENTS, Scanner, Token

_ASKED = {
    "kind", "discrete", "states", "numstates", "levels", "parents", "probs", "functable",
    "equation", "evidence",
}  # fmt: skip
_IMPOSSIBLE = "@imposs"
_MARK = re.compile(r'(?:[^"{};]++|"[^"]*")*+([{};])')


def read(text: str, reading: Reading) -> None:
    """Find the variables and tables of a Netica file."""
    plain = re.sub(r"\\.", lambda m: "''" if m[0] == '\\"' else m[0], text)  # \" in a comment
    scanner = Scanner(plain, reading, C_COMMENTS, "{}(),;=")
    first = scanner.next()
    if not first.is_mark("bnet"):
        raise scanner.error(f"A Netica file starts with 'bnet', got {first.text[:40]!r}.", first.at)
    scanner.name("the name of the net")
    scanner.expect("{", "the name of the net")
    nodes = []
    while not (token := scanner.next()).is_mark("}"):
        if token.is_mark("node"):
            node = _Node(scanner)
            if node.word("kind") == "CONSTANT":
                reading.notes.append(f"the constant {node.name!r} was left out")
            else:
                nodes.append(node)
                reading.variable(node.name, node.states(), node.line)
        elif not token.is_mark(";"):
            _pass_over(scanner, token)
    for node in nodes:
        node.table()
    found = [f"{n.name}={' '.join(n.words('evidence'))}" for n in nodes if n.words("evidence")]
    if found:
        more = ", …" if len(found) > 5 else ""
        reading.notes.append(f"findings were left out: {', '.join(found[:5])}{more}")


def _pass_over(scanner: Scanner, first: Token) -> None:
    """Go to the end of an attribute or of a block, whatever is in it."""
    if first.quoted:
        raise scanner.error("Expected an attribute, got a text in quotes.", first.at)
    depth, scanner.at = 0, first.at
    while (match := _MARK.match(scanner.text, scanner.at)) is not None:
        scanner.at = match.end()
        mark = match[1]
        if depth == 0 and mark == "}":  # the block around it ends here
            scanner.at -= 1
            return
        depth += (mark == "{") - (mark == "}")
        if depth == 0 and mark != "{":
            return
    raise scanner.error(f"The file ends inside {first.text[:40]!r}.", first.at)


class _Node:
    """One node: the attributes that make the network, as they stand in the file."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner, self.reading = scanner, scanner.reading
        token = scanner.name("the name of a node")
        self.name, self.line = token.text, scanner.line(token.at)
        self.said: dict[str, tuple[list[str], int]] = {}
        scanner.expect("{", f"node {self.name}")
        while not (token := scanner.next()).is_mark("}"):
            if token.text in self.said:
                raise scanner.error(f"The node {self.name!r} has two {token.text!r}.", token.at)
            if token.text in _ASKED and not token.quoted:
                scanner.expect("=", f"{token.text!r}")
                value, at = scanner.until(";", f"the attribute {token.text!r}", braces=False)
                words = re.sub(r"[(),]", " ", value).split()
                self.said[token.text] = words, at
            elif not token.is_mark(";"):
                _pass_over(scanner, token)
        kind = self.word("kind")
        if kind in ("DECISION", "UTILITY"):
            raise self.reading.no_chance(self.line, self.name, kind)
        if kind not in ("NATURE", "CONSTANT"):
            raise self.reading.error(
                self.line, f"The node {self.name!r} is of the kind {kind!r}, which is not read."
            )

    def words(self, attribute: str) -> list[str]:
        return self.said.get(attribute, ([], 0))[0]

    def word(self, attribute: str) -> str:
        return " ".join(self.words(attribute)).upper() or "NATURE"

    def at(self, attribute: str) -> int:
        return self.scanner.line(self.said[attribute][1])

    def levels(self) -> list[float]:
        """The values of a discrete node's states, or where a continuous one is cut."""
        said = [re.sub("INFINITY", "inf", w) for w in self.words("levels")]
        return self.reading.numbers(said, self.at("levels")).tolist() if said else []

    def states(self) -> list[str]:
        if self.words("states"):
            return self.words("states")
        if self.word("discrete") == "FALSE":
            if len(self.words("levels")) < 2:
                raise self.reading.error(
                    self.line,
                    f"The node {self.name!r} is continuous, and no levels cut it into states.",
                )
            return [f"{a} to {b}" for a, b in pairwise(self.words("levels"))]
        if self.words("levels"):
            return self.words("levels")
        count = " ".join(self.words("numstates"))
        if not re.fullmatch("[0-9]{1,18}", count):
            raise self.reading.error(self.line, f"The node {self.name!r} has no states.")
        self.reading.check_states(int(count), self.name, self.line)
        return [f"#{i}" for i in range(int(count))]

    def table(self) -> None:
        shape = self.reading.family(self.name, self.words("parents"), self.line)
        if self.words("probs"):
            line = self.at("probs")
            self.reading.table(self.name, self._possible(shape[-1]), lambda row: line)
        elif self.words("functable"):
            line, levels = self.at("functable"), self.levels()
            found = [self._state(word, levels) for word in self.words("functable")]
            self.reading.functional(self.name, found, prod(shape[:-1]), line)
        elif self.words("equation"):
            raise self.reading.error(
                self.line,
                f"The node {self.name!r} is told by an equation, which is not read; let Netica "
                "make its table first.",
            )
        else:
            self.reading.notes.append(f"{self.name!r} has no table, and is uniform")
            uniform = [repr(1 / shape[-1])] * prod(shape)
            self.reading.table(self.name, uniform, lambda row: self.line)

    def _possible(self, k: int) -> list[str]:
        """The numbers; a configuration of the parents that cannot be is uniform."""
        parts = self.words("probs")
        if _IMPOSSIBLE not in parts:
            return parts
        self.reading.notes.append(f"rows of {self.name!r} that cannot be were read as uniform")
        rows = [parts[i : i + k] for i in range(0, len(parts), k)]
        uniform = [repr(1 / k)] * k
        return [
            p.replace(_IMPOSSIBLE, "0")
            for row in rows
            for p in (uniform if set(row) == {_IMPOSSIBLE} and len(row) == k else row)
        ]

    def _state(self, word: str, levels: list[float]) -> str:
        """The state that an entry of `functable` means."""
        states = self.reading.states[self.name]
        if word in self.reading.codes[self.name]:
            return word
        if re.fullmatch("#[0-9]{1,9}", word) and int(word[1:]) < len(states):
            return states[int(word[1:])]
        try:
            value = float(word)
        except ValueError:
            return word
        if self.word("discrete") != "FALSE":
            return states[levels.index(value)] if value in levels[: len(states)] else word
        at = min(bisect_right(levels, value) - 1, len(levels) - 2)
        inside = levels and levels[0] <= value <= levels[-1] and at < len(states)
        return states[at] if inside else word
