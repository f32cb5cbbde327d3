"""XMLBIF 0.3, the XML form of BIF (JavaBayes, WEKA, SamIam).

    <DEFINITION><FOR>A</FOR><GIVEN>B</GIVEN><TABLE>0.1 0.9 0.4 0.6</TABLE></DEFINITION>

A table counts over the given variables in order, then the child: the child is fastest.
"""

from __future__ import annotations

from xml.sax.saxutils import escape

from credo.formats.influence import written
from credo.formats.names import MARK, XML_TEXT, Spelling
from credo.formats.reading import Reading
from credo.formats.states import kinds_text
from credo.formats.writing import Page
from credo.formats.xml_tree import Element, parse
from credo.model.decisions.decision_network import DecisionNetwork
from credo.model.networks.network import Network

_LIMITED = "credo memory limited"
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<BIF VERSION="0.3">
<NETWORK>
<NAME>unknown</NAME>
"""


def read(data: bytes | str, reading: Reading) -> None:
    """Find the variables and tables of an XMLBIF file."""
    root, _ = parse(data, reading)
    networks = root.all("network") if root.tag.lower() == "bif" else []
    if len(networks) != 1:
        raise reading.error(
            root.line, f"Expected one NETWORK inside BIF, got {len(networks)} inside {root.tag!r}."
        )
    network = networks[0]
    reading.escaped = any(p.text == MARK for p in network.all("property"))
    if any(p.text == _LIMITED for p in network.all("property")):
        reading.diagram.memory = "limited"
    for element in network.all("variable"):
        _variable(element, reading)
    for element in [*network.all("definition"), *network.all("probability")]:
        _definition(element, reading)


def _variable(element: Element, reading: Reading) -> None:
    name = _one(element, "name", reading)
    kind = next((v for k, v in element.attributes.items() if k.lower() == "type"), "nature")
    states = [o.text for o in [*element.all("outcome"), *element.all("value")]]
    if kind.lower() == "utility":
        reading.diagram.utility(reading, name, element.line)
        return
    if kind.lower() == "decision":
        reading.diagram.decision(reading, name, states, element.line)
    elif kind.lower() in ("nature", "discrete"):
        reading.variable(name, states, element.line)
    else:
        raise reading.error(
            element.line,
            f"The variable {name!r} is of the type {kind!r}; only 'nature', 'decision' and "
            "'utility' are read.",
        )
    for said in element.all("property"):
        if said.text.startswith("credo states "):
            reading.kinds[name] = said.text.removeprefix("credo states ")


def _definition(element: Element, reading: Reading) -> None:
    child = _one(element, "for", reading)
    parents = [g.text for g in element.all("given")]
    tables, diagram = element.all("table"), reading.diagram
    if child in diagram.decisions and not tables:
        diagram.sees(reading, child, parents, element.line)
        return
    if child not in diagram.utilities:
        reading.family(child, parents, element.line)
    if len(tables) != 1:
        raise reading.error(
            element.line, f"The definition of {child!r} needs one TABLE, got {len(tables)}."
        )
    parts = tables[0].text.replace(",", " ").split()
    if child in diagram.utilities:
        diagram.worth(reading, child, parents, parts, tables[0].line)
        return
    reading.table_either(child, parts, tables[0].line, child_fastest=True)


def _one(element: Element, tag: str, reading: Reading) -> str:
    found = element.all(tag)
    if len(found) != 1:
        raise reading.error(
            element.line, f"{element.tag} needs one {tag.upper()}, got {len(found)}."
        )
    return found[0].text


def write(model: Network | DecisionNetwork) -> str:
    """A network as XMLBIF text."""
    parts = written(model, "XMLBIF")
    page = Page(parts.net, "XMLBIF", Spelling(XML_TEXT))
    utilities = parts.utilities(page.spell)
    out = [_HEAD, f"<PROPERTY>{MARK}</PROPERTY>\n" if page.escaped else ""]
    out.append(f"<PROPERTY>{_LIMITED}</PROPERTY>\n" if parts.limited else "")
    for v, name in page.variables:
        kinds = kinds_text(v)
        kind = "nature" if parts.sees(v.name) is None else "decision"
        out.append(f'<VARIABLE TYPE="{kind}">\n  <NAME>{escape(name)}</NAME>\n')
        out += [f"  <OUTCOME>{escape(s)}</OUTCOME>\n" for s in page.states[v.name]]
        out.append(f"  <PROPERTY>credo states {kinds}</PROPERTY>\n" if kinds else "")
        out.append("</VARIABLE>\n")
    for _, name, _ in utilities:
        out.append(f'<VARIABLE TYPE="utility">\n  <NAME>{escape(name)}</NAME>\n')
        out.append("  <OUTCOME>0</OUTCOME>\n</VARIABLE>\n")
    for v, name in page.variables:
        if seen := parts.sees(v.name):
            out.append(_definition_text(name, [page.names[n] for n in seen], ""))
    for u, name, numbers in utilities:
        table = f"  <TABLE>{' '.join(numbers)}</TABLE>\n"
        out.append(_definition_text(name, [page.names[p.name] for p in u.parents], table))
    for cpt, name in parts.chances(page.tables):
        rows = "\n".join(" ".join(row) for row in page.rows(cpt))
        given = [page.names[p.name] for p in cpt.parents]
        out.append(_definition_text(name, given, f"  <TABLE>{rows}</TABLE>\n"))
    return "".join([*out, "</NETWORK>\n</BIF>\n"])


def _definition_text(name: str, given: list[str], table: str) -> str:
    parents = "".join(f"  <GIVEN>{escape(n)}</GIVEN>\n" for n in given)
    return f"<DEFINITION>\n  <FOR>{escape(name)}</FOR>\n{parents}{table}</DEFINITION>\n"
