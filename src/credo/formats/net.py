"""Hugin NET.

    node A { states = ("yes" "no"); }
    potential (A | B C) { data = ((0.1 0.9) …); }

Data count over the parents in order, then the child: the child is fastest.
"""

from __future__ import annotations

from credo.formats.influence import written
from credo.formats.names import IDENTIFIER, MARK, QUOTED, Spelling
from credo.formats.reading import Reading
from credo.formats.scanner import ALL_COMMENTS, Scanner, Token
from credo.formats.states import kinds_text
from credo.formats.writing import Page
from credo.model.decisions.decision_network import DecisionNetwork
from credo.model.networks.network import Network

_MARKS = "{}()[];,|="
_KINDS = ("continuous", "function", "boolean", "number", "interval", "class")


def read(text: str, reading: Reading) -> None:
    """Find the variables and tables of a NET file."""
    scanner = Scanner(text, reading, ALL_COMMENTS, _MARKS)
    blocks: list[tuple[int, int]] = []
    while (token := scanner.next()).text:
        if token.is_mark("net"):
            for name, value, _ in _attributes(scanner, "the net block"):
                if name == "credo_names" and MARK in value:
                    reading.escaped = True
                elif name == "credo_memory" and "limited" in value:
                    reading.diagram.memory = "limited"
        elif token.is_mark("node"):
            _node(scanner)
        elif token.is_mark("discrete"):
            scanner.expect("node", "'discrete'")
            _node(scanner)
        elif token.is_mark("potential"):
            blocks.append((token.at, scanner.at))
            scanner.until("{", "a potential")
            scanner.at -= 1
            for _ in _attributes(scanner, "the potential"):
                pass
        elif token.text in ("decision", "utility"):
            _node(scanner, token.text)
        elif token.text in _KINDS:
            raise scanner.error(
                f"A NET file with '{token.text}' cannot be read: only discrete chance nodes, "
                "decisions and utilities are.",
                token.at,
            )
        else:
            raise scanner.error(
                f"Expected 'net', 'node' or 'potential', got {token.text[:40]!r}.", token.at
            )
    for start, at in blocks:
        scanner.at = at
        _potential(scanner, start)


def _attributes(scanner: Scanner, what: str) -> list[tuple[str, str, int]]:
    """The `name = value;` lines of a block in braces, values as raw text."""
    scanner.expect("{", what)
    out = []
    while not (token := scanner.next()).is_mark("}"):
        if token.quoted or not token.text or token.text in _MARKS:
            raise scanner.error(f"Expected an attribute or '}}' in {what}.", token.at)
        scanner.expect("=", f"the attribute {token.text!r}")
        value, at = scanner.until(";", f"the attribute {token.text!r}", braces=False)
        out.append((token.text, value, at))
    return out


def _node(scanner: Scanner, kind: str = "node") -> None:
    name = scanner.name("the name of a node")
    reading, line = scanner.reading, scanner.line(name.at)
    states: list[str] | None = None
    for attribute, value, at in _attributes(scanner, f"the node {name.text!r}"):
        if attribute == "states":
            if states is not None:
                raise scanner.error(f"The node {name.text!r} has its states twice.", at)
            states = _states(scanner, at, name)
        elif attribute == "credo_states":
            scanner.reading.kinds[name.text] = value.strip().strip('"')
    if kind == "utility":
        reading.diagram.utility(reading, name.text, line)
    elif states is None:
        raise scanner.error(f"The node {name.text!r} has no states.", name.at)
    elif kind == "decision":
        reading.diagram.decision(reading, name.text, states, line)
    else:
        reading.variable(name.text, states, line)


def _states(scanner: Scanner, at: int, name: Token) -> list[str]:
    back, scanner.at = scanner.at, at
    scanner.expect("(", f"the states of {name.text!r}")
    states = scanner.names(")", f"the states of {name.text!r}")
    scanner.expect(";", f"the states of {name.text!r}")
    scanner.at = back
    return states


def _potential(scanner: Scanner, start: int) -> None:
    reading = scanner.reading
    line = scanner.line(start)
    scanner.expect("(", "potential")
    head, at = scanner.until(")", "the variables")
    scanner.at = at
    family = scanner.names(")", "the variables")
    children = _children(scanner, head, at)
    if children != 1 or not family:
        raise scanner.error("A potential must have one child, in front of '|'.", start)
    own, diagram = family[0], reading.diagram
    if own in diagram.decisions:
        diagram.sees(reading, own, family[1:], line)
        _attributes(scanner, f"the potential of {own!r}")  # what a decision has done is no part
        return
    if own not in diagram.utilities:
        reading.family(own, family[1:], line)
    data: tuple[str, int] | None = None
    for attribute, value, at in _attributes(scanner, f"the potential of {family[0]!r}"):
        if attribute == "data":
            if data is not None:
                raise scanner.error(f"The potential of {family[0]!r} has two data.", at)
            data = value, at
        elif attribute.startswith("model_"):
            raise scanner.error(
                f"The potential of {family[0]!r} is a model expression, which is not read; "
                "save the file from Hugin with its tables.",
                at,
            )
    if data is None:
        raise scanner.error(f"The potential of {family[0]!r} has no data.", start)
    value, at = data
    if value.count("(") != value.count(")") or not value.strip().startswith("("):
        raise scanner.error(f"The data of {family[0]!r} must be a list in brackets.", at)
    parts = value.replace("(", " ").replace(")", " ").replace(",", " ").split()
    where = scanner.line(at)
    if own in diagram.utilities:
        diagram.worth(reading, own, family[1:], parts, where)
    else:
        reading.table(own, parts, lambda row: where)


def _children(scanner: Scanner, head: str, at: int) -> int:
    """How many names stand before the bar."""
    back, scanner.at = scanner.at, at
    count = 0
    while not (token := scanner.next()).is_mark(")") and not token.is_mark("|"):
        count += token.quoted or token.text != ","
    scanner.at = back
    return count


def write(model: Network | DecisionNetwork) -> str:
    """A network as NET text."""
    parts = written(model, "NET")
    page = Page(parts.net, "NET", Spelling(IDENTIFIER), Spelling(QUOTED))
    utilities = parts.utilities(page.spell)
    label = Spelling(QUOTED)
    out = []
    for i, (v, name) in enumerate(page.variables):
        states = " ".join(f'"{s}"' for s in page.states[v.name])
        kinds = kinds_text(v)
        kind = "node" if parts.sees(v.name) is None else "decision"
        out.append(
            f"{kind} {name}\n{{\n"
            f'  label = "{label(v.name)}";\n'
            f"  position = ({40 + 160 * (i % 8)} {40 + 100 * (i // 8)});\n"
            f"  states = ({states});\n"
            + (f'  credo_states = "{kinds}";\n' if kinds else "")
            + "}\n"
        )
    out += [f'utility {name}\n{{\n  label = "{label(u.name)}";\n}}\n' for u, name, _ in utilities]
    for v, name in page.variables:
        if seen := parts.sees(v.name):
            out.append(f"potential ({name} | {' '.join(page.names[n] for n in seen)})\n{{\n}}\n")
    for u, name, numbers in utilities:
        given = " ".join(page.names[p.name] for p in u.parents)
        rows = _nested(numbers, [p.arity for p in u.parents], "{}")
        bar = f" | {given}" if given else ""
        out.append(f"potential ({name}{bar})\n{{\n  data = {rows};\n}}\n")
    for cpt, name in parts.chances(page.tables):
        given = " ".join(page.names[p.name] for p in cpt.parents)
        bar = f" | {given}" if given else ""
        rows = _nested([" ".join(r) for r in page.rows(cpt)], [p.arity for p in cpt.parents])
        out.append(f"potential ({name}{bar})\n{{\n  data = {rows};\n}}\n")
    mark = f'  credo_names = "{MARK}";\n' if page.escaped else ""
    mark += '  credo_memory = "limited";\n' if parts.limited else ""
    return "".join([f"net\n{{\n  node_size = (120 60);\n{mark}}}\n", *out])


def _nested(rows: list[str], arities: list[int], form: str = "({})") -> str:
    """Rows in brackets, one more pair around each block of a parent."""
    blocks = [form.format(r) for r in rows]
    if not arities and form == "{}":
        return f"({blocks[0]})"
    for n in reversed(arities):
        blocks = [f"({chr(10).join(blocks[i : i + n])})" for i in range(0, len(blocks), n)]
    return blocks[0]
