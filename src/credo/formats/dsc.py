"""DSC, the belief network format of Microsoft's MSBN.

    node A { type : discrete [ 2 ] = { "yes", "no" }; }
    probability ( A | B, C ) { (0, 0) : 0.1, 0.9; … }

A row names the parents' states by their positions, from 0.
"""

from __future__ import annotations

import re

from credo.formats.names import IDENTIFIER, MARK, QUOTED, Spelling
from credo.formats.reading import Reading
from credo.formats.rows import Rows
from credo.formats.scanner import C_COMMENTS, Scanner
from credo.formats.writing import Page
from credo.model.networks.network import Network

__all__ = ["read", "write"]

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
    scanner.expect("{", "the variables")
    while True:
        match = _ROW.match(scanner.text, scanner.at)
        if match is not None:
            scanner.at = match.end()
            at = match.start(1)
            states = match[1].replace(",", " ").split()
            rows.row(_codes(scanner, rows, states, at), _parts(match[2]), at)
            continue
        token = scanner.next()
        if token.is_mark("}"):
            break
        if token.is_mark("("):
            states = scanner.names(")", "the states")
            _separator(scanner)
            found = _codes(scanner, rows, states, token.at, named=True)
            rows.row(found, _parts(scanner.until(";", "a row")[0]), token.at)
        elif token.is_mark("default"):
            _separator(scanner)
            rows.default(_parts(scanner.until(";", "the default")[0]), token.at)
        elif token.is_mark("function"):
            raise scanner.error(f"The function of {family[0]!r} is not read.", token.at)
        elif token.quoted or not token.text or token.text in _MARKS:
            raise scanner.error("Expected a row, numbers or '}'.", token.at)
        else:
            scanner.at = token.at
            rows.whole(_parts(scanner.until(";", "the numbers")[0]), token.at)
    rows.finish(child_fastest=True)


def _parts(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _codes(
    scanner: Scanner, rows: Rows, states: list[str], at: int, *, named: bool = False
) -> list[int]:
    """Positions of the parents' states, given as positions or, where `named`, by name first."""
    out = []
    for parent, state in zip(rows.parents, states, strict=False):
        known = scanner.reading.codes[parent]
        if named and state in known:
            out.append(known[state])
        elif state.isascii() and state.isdigit() and len(state) < 6 and int(state) < len(known):
            out.append(int(state))
        else:
            raise scanner.reading.unknown(
                scanner.line(at), "State", state, list(known), f"one of {parent!r}"
            )
    return out if len(states) == len(rows.parents) else [0] * len(states)


def write(net: Network) -> str:
    """A network as DSC text."""
    page = Page(net, "DSC", Spelling(IDENTIFIER), Spelling(QUOTED))
    label = Spelling(QUOTED)
    out = []
    for i, (v, name) in enumerate(page.variables):
        states = ", ".join(f'"{s}"' for s in page.states[v.name])
        kinds = page.kinds(v)
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
        for states_at, row in zip(page.configurations(labels), page.rows(cpt), strict=True):
            out.append(f"  ({', '.join(states_at)}) : {', '.join(row)};\n")
        out.append("}\n")
    mark = f'properties {{\n  credo_names = "{MARK}";\n}}\n' if page.escaped else ""
    return "".join(['belief network "unknown"\n', mark, *out])
