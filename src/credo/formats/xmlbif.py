"""XMLBIF 0.3, the XML form of BIF (JavaBayes, WEKA, SamIam).

    <DEFINITION><FOR>A</FOR><GIVEN>B</GIVEN><TABLE>0.1 0.9 0.4 0.6</TABLE></DEFINITION>

A table counts over the given variables in order, then the child: the child is fastest.
"""

from __future__ import annotations

from xml.sax.saxutils import escape

from credo.formats.names import MARK, XML_TEXT, Spelling
from credo.formats.reading import Reading
from credo.formats.states import kinds_text
from credo.formats.writing import Page
from credo.formats.xml_tree import Element, parse
from credo.model.networks.network import Network

__all__ = ["read", "write"]

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
    for element in network.all("variable"):
        _variable(element, reading)
    for element in [*network.all("definition"), *network.all("probability")]:
        _definition(element, reading)


def _variable(element: Element, reading: Reading) -> None:
    name = _one(element, "name", reading)
    kind = next((v for k, v in element.attributes.items() if k.lower() == "type"), "nature")
    if kind.lower() in ("decision", "utility"):
        raise reading.no_chance(element.line, name, kind)
    if kind.lower() not in ("nature", "discrete"):
        raise reading.error(
            element.line, f"The variable {name!r} is of the type {kind!r}; only 'nature' is read."
        )
    states = [o.text for o in [*element.all("outcome"), *element.all("value")]]
    reading.variable(name, states, element.line)
    for said in element.all("property"):
        if said.text.startswith("credo states "):
            reading.kinds[name] = said.text.removeprefix("credo states ")


def _definition(element: Element, reading: Reading) -> None:
    child = _one(element, "for", reading)
    parents = [g.text for g in element.all("given")]
    reading.family(child, parents, element.line)
    tables = element.all("table")
    if len(tables) != 1:
        raise reading.error(
            element.line, f"The definition of {child!r} needs one TABLE, got {len(tables)}."
        )
    parts = tables[0].text.replace(",", " ").split()
    reading.table_either(child, parts, tables[0].line, child_fastest=True)


def _one(element: Element, tag: str, reading: Reading) -> str:
    found = element.all(tag)
    if len(found) != 1:
        raise reading.error(
            element.line, f"{element.tag} needs one {tag.upper()}, got {len(found)}."
        )
    return found[0].text


def write(net: Network) -> str:
    """A network as XMLBIF text."""
    page = Page(net, "XMLBIF", Spelling(XML_TEXT))
    out = [_HEAD, f"<PROPERTY>{MARK}</PROPERTY>\n" if page.escaped else ""]
    for v, name in page.variables:
        kinds = kinds_text(v)
        out.append(f'<VARIABLE TYPE="nature">\n  <NAME>{escape(name)}</NAME>\n')
        out += [f"  <OUTCOME>{escape(s)}</OUTCOME>\n" for s in page.states[v.name]]
        out.append(f"  <PROPERTY>credo states {kinds}</PROPERTY>\n" if kinds else "")
        out.append("</VARIABLE>\n")
    for cpt, name in page.tables:
        out.append(f"<DEFINITION>\n  <FOR>{escape(name)}</FOR>\n")
        out += [f"  <GIVEN>{escape(page.names[p.name])}</GIVEN>\n" for p in cpt.parents]
        rows = "\n".join(" ".join(row) for row in page.rows(cpt))
        out.append(f"  <TABLE>{rows}</TABLE>\n</DEFINITION>\n")
    return "".join([*out, "</NETWORK>\n</BIF>\n"])
