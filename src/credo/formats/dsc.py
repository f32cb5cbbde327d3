"""DSC, the belief network format of Microsoft's MSBN.

    node A { type : discrete [ 2 ] = { "yes", "no" }; }
    probability ( A | B, C ) { (0, 0) : 0.1, 0.9; … }

A row names the parents' states by their positions, from 0.
"""

from __future__ import annotations

import itertools
import re

from credo.formats.names import IDENTIFIER, MARK, QUOTED, Spelling
from credo.formats.reading import Reading
from credo.formats.rows import Rows, parts_of
from credo.formats.scanner import C_COMMENTS, Scanner, Token
from credo.formats.states import kinds_text
from credo.formats.writing import Page
from credo.model.networks.network import Network

_MARKS = "{}()[];,|=:"
_ROW = re.compile(r"\s*+\(([0-9,\s]*+)\)\s*+[:=]([^;\"(){}]*+);")


def read(text: str, reading: Reading) -> None:
    """Find the variables and tables of a DSC file."""
    scanner = Scanner(text, reading, C_COMMENTS, _MARKS)
    blocks: list[tuple[int, int]] = []
    while (token := scanner.next()).text:
        if token.text in ("belief", "network"):
            _title(scanner, token.text)
        elif token.is_mark("properties"):
            if MARK in _block(scanner, "the properties"):
                reading.escaped = True
        elif token.is_mark("node"):
            _node(scanner)
        elif token.is_mark("probability"):
            blocks.append((token.at, scanner.at))
            scanner.until("{", "a probability block")
            scanner.at -= 1
            _block(scanner, "a probability block")
        else:
            raise scanner.error(
                f"Expected 'node' or 'probability', got {token.text[:40]!r}.", token.at
            )
    for start, at in blocks:
        scanner.at = at
        _probability(scanner, start)


def _title(scanner: Scanner, word: str) -> None:
    if word == "belief":
        scanner.expect("network", "'belief'")
    if scanner.peek().quoted or scanner.peek().text not in ("{", "node", "properties", ""):
        scanner.next()
    if scanner.peek().is_mark("{"):
        _block(scanner, "the network block")


def _block(scanner: Scanner, what: str) -> str:
    scanner.expect("{", what)
    return scanner.until("}", what)[0]


def _node(scanner: Scanner) -> None:
    name = scanner.name("the name of a node")
    scanner.expect("{", f"node {name.text}")
    states: list[str] | None = None
    while not (token := scanner.next()).is_mark("}"):
        if token.is_mark("type"):
            if states is not None:
                raise scanner.error(f"The node {name.text!r} has two types.", token.at)
            states = _type(scanner, name.text)
        elif token.quoted or not token.text or token.text in _MARKS:
            raise scanner.error(f"Expected an attribute or '}}' in {name.text!r}.", token.at)
        else:
            value, _ = scanner.until(";", f"the attribute {token.text!r}", braces=False)
            if token.text == "credo_states":
                scanner.reading.kinds[name.text] = value.strip(' ":=\n')
    if states is None:
        raise scanner.error(f"The node {name.text!r} has no type.", name.at)
    scanner.reading.variable(name.text, states, scanner.line(name.at))


def _separator(scanner: Scanner) -> None:
    if scanner.peek().text in (":", "=", "is"):
        scanner.next()


def _type(scanner: Scanner, name: str) -> list[str]:
    _separator(scanner)
    kind = scanner.next()
    if kind.text in ("decision", "utility"):
        raise scanner.reading.no_chance(scanner.line(kind.at), name, kind.text)
    if not kind.is_mark("discrete"):
        raise scanner.error(
            f"The node {name!r} is of the type {kind.text[:40]!r}; only 'discrete' is read.",
            kind.at,
        )
    scanner.expect("[", "'discrete'")
    count, at = scanner.count("the number of states")
    scanner.reading.check_states(count, name, scanner.line(at))
    scanner.expect("]", "the number of states")
    _separator(scanner)
    scanner.expect("{", "the type")
    states = scanner.names("}", "the states")
    if scanner.peek().is_mark(";"):
        scanner.next()
    if len(states) != count:
        raise scanner.error(
            f"The node {name!r} should have {count} states, got {len(states)}.", kind.at
        )
    return states


def _probability(scanner: Scanner, start: int) -> None:
    scanner.expect("(", "probability")
    family = scanner.names(")", "the variables")
    if not family:
        raise scanner.error("The probability block names no node.", start)
    rows = Rows(scanner, family[0], family[1:], start)
    rows.block(_ROW, _code, _other, lambda: _separator(scanner))
    rows.finish(child_fastest=True)


def _other(rows: Rows, token: Token) -> None:
    """What a block may hold besides rows: all numbers at once."""
    scanner = rows.scanner
    if token.is_mark("function"):
        raise scanner.error(f"The function of {rows.child!r} is not read.", token.at)
    if token.quoted or not token.text or token.text in _MARKS:
        raise scanner.error("Expected a row, numbers or '}'.", token.at)
    scanner.at = token.at
    rows.whole(parts_of(scanner.until(";", "the numbers")[0]), token.at)


def _code(state: str, known: dict[str, int], named: bool) -> int | None:
    """The position of a state, given as a position or, where `named`, by name first."""
    if named and state in known:
        return known[state]
    digits = state.isascii() and state.isdigit() and len(state) < 6
    return int(state) if digits and int(state) < len(known) else None


def write(net: Network) -> str:
    """A network as DSC text."""
    page = Page(net, "DSC", Spelling(IDENTIFIER), Spelling(QUOTED))
    label = Spelling(QUOTED)
    out = []
    for i, (v, name) in enumerate(page.variables):
        states = ", ".join(f'"{s}"' for s in page.states[v.name])
        kinds = kinds_text(v)
        out.append(
            f"node {name} {{\n"
            f'  name : "{label(v.name)}";\n'
            f"  type : discrete [ {v.arity} ] = {{ {states} }};\n"
            f"  position : ({40 + 160 * (i % 8)}, {40 + 100 * (i // 8)});\n"
            + (f'  credo_states : "{kinds}";\n' if kinds else "")
            + "}\n"
        )
    for cpt, name in page.tables:
        given = ", ".join(page.names[p.name] for p in cpt.parents)
        if not given:
            out.append(f"probability ( {name} ) {{\n  {', '.join(page.rows(cpt)[0])};\n}}\n")
            continue
        out.append(f"probability ( {name} | {given} ) {{\n")
        labels = [list(map(str, range(p.arity))) for p in cpt.parents]
        for states_at, row in zip(itertools.product(*labels), page.rows(cpt), strict=True):
            out.append(f"  ({', '.join(states_at)}) : {', '.join(row)};\n")
        out.append("}\n")
    mark = f'properties {{\n  credo_names = "{MARK}";\n}}\n' if page.escaped else ""
    return "".join(['belief network "unknown"\n', mark, *out])
