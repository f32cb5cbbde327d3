"""XDSL, the format of GeNIe and SMILE.

    <cpt id="A"><state id="yes"/><state id="no"/><parents>B C</parents>
      <probabilities>0.1 0.9 …</probabilities></cpt>

Probabilities count over the parents in order, then the child: the child is fastest.
"""

from __future__ import annotations

from xml.sax.saxutils import escape

import numpy as np

from credo.formats.names import LETTER_FIRST, MARK, XML_TEXT, Spelling
from credo.formats.reading import Reading
from credo.formats.scanner import numbers
from credo.formats.writing import Page
from credo.formats.xml_tree import Element, parse
from credo.model.network import Network

__all__ = ["read", "write"]

LEAD = "x_"
"""GeNIe's identifiers start with a letter; one that would not gets this in front."""


def read(data: bytes | str, reading: Reading) -> None:
    """Find the variables and tables of an XDSL file."""
    root, comments = parse(data, reading)
    if root.tag != "smile":
        raise reading.error(root.line, f"Expected the element 'smile', got {root.tag!r}.")
    if any(MARK in c for c in comments):
        reading.escaped, reading.lead = True, LEAD
    nodes = root.all("nodes")
    if len(nodes) != 1:
        raise reading.error(root.line, f"Expected one element 'nodes', got {len(nodes)}.")
    if root.all("dynamic"):
        raise reading.error(root.all("dynamic")[0].line, "A dynamic network cannot be read.")
    for node in nodes[0].inside:
        if node.tag not in ("cpt", "deterministic"):
            raise reading.error(
                node.line,
                f"The node {node.attributes.get('id', '')!r} is of the kind {node.tag!r}; "
                "only 'cpt' and 'deterministic' are read.",
            )
        name = node.attributes.get("id", "")
        states = [s.attributes.get("id", "") for s in node.all("state")]
        reading.variable(name, states, node.line)
        for said in node.all("property"):
            if said.attributes.get("id") == "credo_states":
                reading.kinds[name] = said.text
    backwards = _backwards(root)
    if backwards:
        reading.notes.append("written by aGrUM, which lists the rows with the first parent fastest")
    for node in nodes[0].inside:
        _table(node, reading, backwards)
    _order(root, reading)


def _genie(root: Element) -> list[Element]:
    return [g for e in root.all("extensions") for g in e.all("genie")]


def _backwards(root: Element) -> bool:
    """Whether aGrUM wrote the file: it counts the parents the other way round than GeNIe."""
    return any(g.attributes.get("app", "").startswith("aGrUM") for g in _genie(root))


def _order(root: Element, reading: Reading) -> None:
    """Our own files keep the order of the variables in the list of positions."""
    for genie in _genie(root):
        names = [n.attributes.get("id", "") for n in genie.all("node")]
        ours = genie.attributes.get("app") == "credo"
        if ours and len(names) == len(reading.states) and set(names) == set(reading.states):
            reading.states = {n: reading.states[n] for n in names}


def _table(node: Element, reading: Reading, backwards: bool) -> None:
    name = node.attributes["id"]
    parents = " ".join(p.text for p in node.all("parents")).split()
    parents = parents[::-1] if backwards else parents
    shape = reading.family(name, parents, node.line)
    size = 1
    for n in shape:
        size *= n
    tag = "probabilities" if node.tag == "cpt" else "resultingstates"
    found = node.all(tag)
    if len(found) != 1:
        raise reading.error(node.line, f"The node {name!r} needs one {tag!r}, got {len(found)}.")
    parts, line = found[0].text.split(), found[0].line
    wanted = size if node.tag == "cpt" else size // shape[-1]
    if len(parts) != wanted:
        what = "numbers" if node.tag == "cpt" else "states"
        raise reading.error(
            line, f"The table of {name!r} needs {wanted:,} {what}, got {len(parts):,}."
        )
    if node.tag == "cpt":
        values = numbers(parts, reading, line)
    else:
        codes = reading.codes[name]
        odd = next((p for p in parts if p not in codes), None)
        if odd is not None:
            raise reading.unknown(line, "State", odd, list(codes), f"one of {name!r}")
        values = np.zeros((wanted, shape[-1]))
        values[np.arange(wanted), [codes[p] for p in parts]] = 1.0
    reading.fill(name, values, lambda row: line)


def write(net: Network) -> str:
    """A network as XDSL text, its nodes placed on a grid."""
    page = Page(net, "XDSL", Spelling(LETTER_FIRST, LEAD))
    out = ['<?xml version="1.0" encoding="UTF-8"?>\n']
    out.append(f"<!-- {MARK} -->\n" if page.escaped else "")
    out.append('<smile version="1.0" id="credo" numsamples="10000" discsamples="10000">\n')
    out.append("\t<nodes>\n")
    tables = {cpt.name: (cpt, name) for cpt, name in page.tables}
    for cpt, name in (tables[n] for n in net.dag.order):  # GeNIe wants parents first
        out.append(f'\t\t<cpt id="{name}">\n')
        out += [f'\t\t\t<state id="{s}" />\n' for s in page.states[cpt.name]]
        given = " ".join(page.names[p.name] for p in cpt.parents)
        out.append(f"\t\t\t<parents>{given}</parents>\n" if given else "")
        flat = " ".join(" ".join(row) for row in page.rows(cpt))
        out.append(f"\t\t\t<probabilities>{flat}</probabilities>\n")
        kinds = page.kinds(cpt.child)
        out.append(f'\t\t\t<property id="credo_states">{kinds}</property>\n' if kinds else "")
        out.append("\t\t</cpt>\n")
    out.append('\t</nodes>\n\t<extensions>\n\t\t<genie version="1.0" app="credo" name="credo">\n')
    plain = Spelling(XML_TEXT)
    for i, (v, name) in enumerate(page.variables):
        x, y = 40 + 160 * (i % 8), 40 + 100 * (i // 8)
        out.append(
            f'\t\t\t<node id="{name}">\n'
            f"\t\t\t\t<name>{escape(plain(v.name))}</name>\n"
            '\t\t\t\t<interior color="e5f6f7" />\n\t\t\t\t<outline color="000080" />\n'
            '\t\t\t\t<font color="000000" name="Arial" size="8" />\n'
            f"\t\t\t\t<position>{x} {y} {x + 120} {y + 60}</position>\n\t\t\t</node>\n"
        )
    return "".join([*out, "\t\t</genie>\n\t</extensions>\n</smile>\n"])
