"""UAI, the format of the inference competitions: positions only, no names.

A file of factors without directions starts with MARKOV: see `credo.formats.uai_markov`.

    BAYES / number of variables / their numbers of states / number of tables /
    for each table: its size and variables, the child last / for each table: its numbers

The last variable, the child, is fastest. Names are `v0`, `v1`, … with states `0`, `1`, …
unless a comment line of ours (`c credo {…}`) holds the names and states.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from credo.core.schema import Variable
from credo.formats.names import NOTHING, Spelling
from credo.formats.printed import MOST, adds_up
from credo.formats.reading import Reading
from credo.formats.states import kinds_text
from credo.formats.strict_json import loads as strict_loads
from credo.formats.writing import Page
from credo.model.networks.network import Network

_COMMENT = re.compile(r"[ \t]*+c(?:[ \t]++(.*))?", re.S)
_OURS = "credo "


class Words:
    """The words of the file in order, without its comments, each with its line."""

    def __init__(self, text: str, reading: Reading) -> None:
        self.reading = reading
        self.words: list[str] = []
        self.before: list[int] = []  # how many words stand before each line
        self.ours: list[tuple[str, int]] = []
        self.noted: set[int] = set()  # lines that end in a comment
        self.at = 0
        for number, line in enumerate(text.split("\n"), 1):
            self.before.append(len(self.words))
            comment = _COMMENT.fullmatch(line) if "c" in line else None
            if comment is None:
                said, mark, _ = line.partition("#")
                self.words += said.split()
                if mark:
                    self.noted.add(number)
            elif (comment[1] or "").startswith(_OURS):
                self.ours.append((comment[1].removeprefix(_OURS), number))

    @property
    def is_markov(self) -> bool:
        """Whether the file is a MARKOV file."""
        return bool(self.words) and self.words[0].upper() == "MARKOV"

    def end(self) -> None:
        """Refuse what comes after the last table."""
        if self.at < len(self.words):
            raise self.error(f"Expected the end of the file, got {self.words[self.at][:40]!r}.")

    def line(self, at: int) -> int:
        """The line of a word."""
        return bisect_right(self.before, min(at, max(len(self.words) - 1, 0)))

    def error(self, message: str, at: int | None = None) -> Exception:
        return self.reading.error(self.line(self.at if at is None else at), message)

    def integer(self, what: str) -> int:
        if self.at >= len(self.words):
            raise self.error(f"The file ends where {what} should be.")
        word = self.words[self.at]
        if not (word.isascii() and word.isdigit() and len(word) < 19):
            raise self.error(f"Expected {what}, got {word[:40]!r}.")
        self.at += 1
        return int(word)

    def take(self, count: int, what: str) -> list[str]:
        left = len(self.words) - self.at
        if count > left:
            raise self.error(
                f"The file ends inside {what}: {count:,} numbers are needed, {left:,} are there.",
                len(self.words),
            )
        self.at += count
        return self.words[self.at - count : self.at]


def read(words: Words) -> None:
    """Find the variables and tables of a BAYES file."""
    names = declared(words)
    tables = words.integer("the number of tables")
    if tables != len(names):
        raise words.error(
            f"A Bayesian network has one table for each of its {len(names)} variables, "
            f"got {tables:,}.",
            words.at - 1,
        )
    scopes = scopes_of(words, len(names), tables, least=1)
    if all(words.line(at) in words.noted for _, at in scopes):
        words.reading.notes.append(
            "written by aGrUM (it names the child behind each scope), which lists the rows with "
            "the first parent fastest"
        )
        scopes = [([*reversed(scope[:-1]), scope[-1]], at) for scope, at in scopes]
    _tables(words, names, scopes)


def declared(words: Words) -> list[str]:
    """The variables of either kind of file, by name."""
    reading = words.reading
    head = words.words[0] if words.words else ""
    if head.upper() not in ("BAYES", "MARKOV"):
        raise words.error(f"A UAI file starts with BAYES or MARKOV, got {head[:40]!r}.")
    words.at = 1
    count = words.integer("the number of variables")
    if count > reading.limits.variables:
        raise reading.too_large(words.line(1), f"The file has {count:,} variables", "variables")
    arities = []
    for i in range(count):
        arities.append(words.integer(f"the number of states of variable {i}"))
        reading.check_states(arities[-1], f"v{i}", words.line(words.at - 1))
    return _declare(arities, words)


def _declare(arities: list[int], words: Words) -> list[str]:
    """The names of the variables: from our comment, or by their positions."""
    reading = words.reading
    if not words.ours:
        for i, n in enumerate(arities):
            reading.variable(f"v{i}", [str(k) for k in range(n)], words.line(2 + i))
        return list(reading.states)
    text, line = words.ours[0]
    said = strict_loads(text, reading, line)
    variables = said.get("variables") if isinstance(said, dict) else None
    if not isinstance(variables, list) or len(variables) != len(arities):
        raise reading.error(line, f"The comment must name {len(arities)} variables.")
    for n, variable in zip(arities, variables, strict=True):
        name, states, kinds = _named(variable, reading, line)
        if len(states) != n:
            raise reading.error(
                line, f"The comment names {len(states)} states of {name!r}, not {n}."
            )
        reading.variable(name, states, line)
        if kinds:
            reading.kinds[name] = kinds
    return list(reading.states)


def _named(variable: Any, reading: Reading, line: int) -> tuple[str, list[str], str]:
    if isinstance(variable, dict):
        name, states = variable.get("name"), variable.get("states")
        kinds = variable.get("types", "")
        if (
            isinstance(name, str)
            and isinstance(kinds, str)
            and isinstance(states, list)
            and all(isinstance(s, str) for s in states)
        ):
            return name, states, kinds
    raise reading.error(line, "The comment does not name a variable and its states.")


def scopes_of(words: Words, count: int, tables: int, *, least: int) -> list[tuple[list[int], int]]:
    """The variables of each table, and where they stand."""
    scopes = []
    for i in range(tables):
        at = words.at
        size = words.integer(f"the size of table {i}")
        if not least <= size <= count:
            raise words.error(f"Table {i} cannot have {size:,} variables.", at)
        scopes.append(([words.integer(f"a variable of table {i}") for _ in range(size)], at))
    used = {v for scope, _ in scopes for v in scope}
    if used and max(used) == count and 0 not in used:
        words.reading.notes.append("the variables are counted from 1, against the format's rule")
        scopes = [([v - 1 for v in scope], at) for scope, at in scopes]
    for scope, at in scopes:
        if scope and max(scope) >= count:
            raise words.error(f"There is no variable {max(scope)}; the last is {count - 1}.", at)
    return scopes


def _tables(words: Words, names: list[str], scopes: list[tuple[list[int], int]]) -> None:
    reading = words.reading
    children = []
    for scope, at in scopes:
        *parents, child = (names[v] for v in scope)
        children.append((child, prod(reading.family(child, parents, words.line(at)))))
    tables = []
    for child, size in children:
        start = words.at
        said = words.integer(f"the number of entries of {child!r}")
        if said != size:
            raise words.error(
                f"The table of {child!r} needs {size:,} numbers, not {said:,}.", start
            )
        tables.append((child, start + 1, words.take(size, f"the table of {child!r}")))
    words.end()
    tables = _as_the_format_asks(tables, reading)
    for child, start, parts in tables:
        k = len(reading.states[child])
        reading.table(child, parts, lambda row, s=start, k=k: words.line(s + row * k))  # type: ignore[misc]


Table = tuple[str, int, list[str]]


def _as_the_format_asks(tables: list[Table], reading: Reading) -> list[Table]:
    """The tables with the last variable fastest; pgmpy writes the first so, which shows in the
    sums when the child, the last, is slowest.
    """

    def add_up(*, child_fastest: bool) -> bool:
        for child, _, parts in tables:
            try:
                flat = np.array(parts, dtype=np.float64)
            except ValueError:
                return child_fastest
            k = len(reading.states[child])
            if not adds_up(flat.reshape(-1, k) if child_fastest else flat.reshape(k, -1).T, MOST):
                return False
        return True

    if add_up(child_fastest=True) or not add_up(child_fastest=False):
        return tables
    reading.notes.append("written by pgmpy, which lists the first variable of a table fastest")
    out = []
    for child, start, parts in tables:
        family = reading.families[child]
        family.parents = family.parents[::-1]
        n = len(parts) // len(reading.states[child])
        out.append((child, start, [p for row in range(n) for p in parts[row::n]]))
    return out


def write(net: Network) -> str:
    """A network as UAI text, its names and states in a comment at the end."""
    page = Page(net, "UAI", Spelling(NOTHING))
    at = {v.name: i for i, (v, _) in enumerate(page.variables)}
    out = [f"BAYES\n{len(at)}\n{' '.join(str(v.arity) for v, _ in page.variables)}\n{len(at)}\n"]
    for cpt, _ in page.tables:
        scope = [at[v.name] for v in cpt.variables]
        out.append(f"{len(scope)} {' '.join(map(str, scope))}\n")
    for cpt, _ in page.tables:
        rows = "\n".join(" ".join(row) for row in page.rows(cpt))
        out.append(f"\n{cpt.values.size}\n{rows}\n")
    return "".join([*out, names_comment([v for v, _ in page.variables], page.states)])


def names_comment(variables: Sequence[Variable], states: Mapping[str, list[str]]) -> str:
    """The comment that holds names and states; empty when the positions say it all."""
    plain = all(
        v.name == f"v{i}" and list(v.states) == [str(k) for k in range(v.arity)]
        for i, v in enumerate(variables)
    )
    if plain:
        return ""
    said: list[dict[str, Any]] = []
    for v in variables:
        kinds = kinds_text(v)
        said.append({"name": v.name, "states": states[v.name]})
        said[-1].update({"types": kinds} if kinds else {})
    return f"\nc {_OURS}{json.dumps({'variables': said})}\n"
