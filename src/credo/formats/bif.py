"""BIF, the interchange format of JavaBayes and of the Bayesian Network Repository.

    variable A { type discrete [ 2 ] { yes, no }; }
    probability ( A | B, C ) { (b0, c0) 0.1, 0.9; … default 0.5, 0.5; }

`table` in a conditional block counts with the first variable, the child, slowest (BIF 0.15).
"""

from __future__ import annotations

import itertools
import re

from credo.formats.names import MARK, QUOTED, Spelling
from credo.formats.reading import Reading
from credo.formats.rows import Rows, parts_of
from credo.formats.scanner import C_COMMENTS, Scanner, Token
from credo.formats.states import kinds_text
from credo.formats.writing import Page
from credo.model.networks.network import Network

_ROW = re.compile(r'\s*+\(([^()"]*+)\)([^;"(){}]*+);')
_BODY = re.compile(r'(?:[^"}]++|"[^"]*")*+\}')
_BARE = re.compile(r'(?:[^\s{}()\[\]|;,"/\\]|/(?![/*]))+')


def read(text: str, reading: Reading) -> None:
    """Find the variables and tables of a BIF file."""
    scanner = Scanner(text, reading, C_COMMENTS)
    blocks: list[tuple[int, int]] = []
    while (token := scanner.next()).text:
        if token.is_mark("network"):
            _network(scanner)
        elif token.is_mark("variable"):
            _variable(scanner)
        elif token.is_mark("probability"):
            blocks.append((token.at, scanner.at))
            _pass_over(scanner)
        elif token.text.startswith(("%", "#")):  # a comment line, as other programs write
            end = scanner.text.find("\n", token.at)
            scanner.at = end if end >= 0 else scanner.end
        else:
            raise scanner.error(
                f"Expected 'network', 'variable' or 'probability', got {token.text[:40]!r}.",
                token.at,
            )
    for start, at in blocks:
        scanner.at = at
        _probability(scanner, start)


def _network(scanner: Scanner) -> None:
    while not (token := scanner.next()).is_mark("{"):
        if not token.text and not token.quoted:
            raise scanner.error("The network block has no '{'.")
    while not (token := scanner.next()).is_mark("}"):
        if token.is_mark("property"):
            if MARK in scanner.until(";", "a property")[0]:
                scanner.reading.escaped = True
        else:
            raise scanner.error(f"Expected 'property' or '}}', got {token.text[:40]!r}.", token.at)


def _variable(scanner: Scanner) -> None:
    name = scanner.name("the name of a variable")
    scanner.expect("{", f"variable {name.text}")
    found: list[str] | None = None
    while not (token := scanner.next()).is_mark("}"):
        if token.is_mark("property"):
            said = scanner.until(";", "a property")[0].strip().strip('"')
            if said.startswith("credo states "):
                scanner.reading.kinds[name.text] = said.removeprefix("credo states ")
        elif token.is_mark("type"):
            if found is not None:
                raise scanner.error(f"The variable {name.text!r} has two types.", token.at)
            found = _type(scanner, name)
        else:
            raise scanner.error(
                f"Expected 'type', 'property' or '}}' in the variable {name.text!r}, "
                f"got {token.text[:40]!r}.",
                token.at,
            )
    if found is None:
        raise scanner.error(f"The variable {name.text!r} has no type.", name.at)
    scanner.reading.variable(name.text, found, scanner.line(name.at))


def _type(scanner: Scanner, name: Token) -> list[str]:
    kind = scanner.next()
    if kind.text == "continuous":
        raise scanner.error(
            f"The variable {name.text!r} is continuous; BIF can say so but not how it is "
            "distributed, so it cannot be read.",
            kind.at,
        )
    if not kind.is_mark("discrete"):
        raise scanner.error(f"Expected the type 'discrete', got {kind.text[:40]!r}.", kind.at)
    count = None
    if scanner.peek().is_mark("["):
        scanner.next()
        count, at = scanner.count("the number of states")
        scanner.reading.check_states(count, name.text, scanner.line(at))
        scanner.expect("]", "the number of states")
    scanner.expect("{", "the type")
    states = scanner.names("}", "the states")
    if scanner.peek().is_mark(";"):
        scanner.next()
    if count is not None and count != len(states):
        raise scanner.error(
            f"The variable {name.text!r} should have {count} states, got {len(states)}.", kind.at
        )
    return states


def _pass_over(scanner: Scanner) -> None:
    """Go to the end of a block; its variables may be declared after it."""
    start = scanner.at
    match = _BODY.match(scanner.text, start)
    if match is None:
        raise scanner.error("The file ends inside this probability block.", start)
    scanner.at = match.end()


def _probability(scanner: Scanner, start: int) -> None:
    scanner.expect("(", "probability")
    family = scanner.names(")", "the variables")
    if not family:
        raise scanner.error("The probability block names no variable.", start)
    rows = Rows(scanner, family[0], family[1:], start)
    rows.block(_ROW, lambda state, known, named: known.get(state), _other)
    rows.finish(child_fastest=False)


def _other(rows: Rows, token: Token) -> None:
    """What a block may hold besides rows."""
    if token.is_mark("table"):
        rows.whole(parts_of(rows.scanner.until(";", "the table")[0]), token.at)
    elif token.is_mark("property"):
        rows.scanner.until(";", "a property")
    else:
        raise rows.scanner.error(
            f"Expected 'table', 'default', a row or '}}', got {token.text[:40]!r}.", token.at
        )


def write(net: Network) -> str:
    """A network as BIF text."""
    page = Page(net, "BIF", Spelling(QUOTED))

    def spelled(text: str) -> str:
        return text if _BARE.fullmatch(text) else f'"{text}"'

    out = []
    for v, name in page.variables:
        kinds = kinds_text(v)
        out.append(
            f"variable {spelled(name)} {{\n"
            f"  type discrete [ {v.arity} ] {{ {', '.join(map(spelled, page.states[v.name]))} }};\n"
            + (f'  property "credo states {kinds}";\n' if kinds else "")
            + "}\n"
        )
    for cpt, name in page.tables:
        parents = [p.name for p in cpt.parents]
        if not parents:
            out.append(f"probability ( {spelled(name)} ) {{\n")
            out.append(f"  table {', '.join(page.rows(cpt)[0])};\n}}\n")
            continue
        given = ", ".join(spelled(page.names[p]) for p in parents)
        out.append(f"probability ( {spelled(name)} | {given} ) {{\n")
        labels = [[spelled(s) for s in page.states[p]] for p in parents]
        for states, row in zip(itertools.product(*labels), page.rows(cpt), strict=True):
            out.append(f"  ({', '.join(states)}) {', '.join(row)};\n")
        out.append("}\n")
    mark = f'  property "{MARK}";\n' if page.spell.escaped else ""
    return "".join([f"network unknown {{\n{mark}}}\n", *out])
