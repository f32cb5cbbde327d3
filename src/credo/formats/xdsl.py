"""XDSL, the format of GeNIe and SMILE.

    <cpt id="A"><state id="yes"/><state id="no"/><parents>B C</parents>
      <probabilities>0.1 0.9 …</probabilities></cpt>

Probabilities count over the parents in order, then the child: the child is fastest. A node may
be a noisy-MAX (`credo.formats.noisy_max`), which is expanded and written back as it was. Decisions
and utilities make it a decision network; a `mau` is a weighted sum of utilities.
"""

from __future__ import annotations

from math import prod
from xml.sax.saxutils import escape

from credo.formats import noisy_max
from credo.formats.influence import written
from credo.formats.names import LETTER_FIRST, MARK, XML_TEXT, Spelling
from credo.formats.reading import Reading
from credo.formats.states import kinds_text
from credo.formats.writing import Page
from credo.formats.xml_tree import Element, parse
from credo.model.decisions.decision_network import DecisionNetwork
from credo.model.networks.network import Network

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
        name = node.attributes.get("id", "")
        states = [s.attributes.get("id", "") for s in node.all("state")]
        if node.tag == "utility":
            reading.diagram.utility(reading, name, node.line)
            continue
        if node.tag == "decision":
            reading.diagram.decision(reading, name, states, node.line)
        elif node.tag in ("cpt", "deterministic", "noisymax"):
            reading.variable(name, states, node.line)
        elif node.tag != "mau":
            raise reading.error(
                node.line,
                f"The node {name!r} is of the kind {node.tag!r}; only 'cpt', 'deterministic', "
                "'noisymax', 'decision', 'utility' and 'mau' are read.",
            )
        for said in node.all("property"):
            if said.attributes.get("id") == "credo_states":
                reading.kinds[name] = said.text
            elif said.attributes.get("id") == "credo_memory" and said.text == "limited":
                reading.diagram.memory = "limited"
    backwards = _backwards(root)
    if backwards:
        reading.notes.append("written by aGrUM, which lists the rows with the first parent fastest")
    for node in sorted(nodes[0].inside, key=lambda n: n.tag == "mau"):
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
        names = [n for n in names if n not in reading.diagram.utilities]
        ours = genie.attributes.get("app") == "credo"
        if ours and len(names) == len(reading.states) and set(names) == set(reading.states):
            reading.states = {n: reading.states[n] for n in names}


def _table(node: Element, reading: Reading, backwards: bool) -> None:
    name = node.attributes.get("id", "")
    parents = " ".join(p.text for p in node.all("parents")).split()
    parents = parents[::-1] if backwards else parents
    if node.tag == "decision":
        reading.diagram.sees(reading, name, parents, node.line)
        return
    if node.tag == "utility":
        parts, line = _words(node, "utilities", reading)
        reading.diagram.worth(reading, name, parents, parts, line)
        return
    if node.tag == "mau":
        _weigh(node, parents, reading)
        return
    shape = reading.family(name, parents, node.line)
    if node.tag == "cpt":
        parts, line = _words(node, "probabilities", reading)
        reading.table(name, parts, lambda row: line)
    elif node.tag == "deterministic":
        parts, line = _words(node, "resultingstates", reading)
        reading.functional(name, parts, prod(shape[:-1]), line)
    else:
        strengths, _ = _words(node, "strengths", reading, needed=False)
        parts, line = _words(node, "parameters", reading)
        noisy_max.read(name, strengths, parts, line, reading)


def _weigh(node: Element, parents: list[str], reading: Reading) -> None:
    """A sum of utilities, each with its weight."""
    name = node.attributes.get("id", "")
    odd = next((p for p in parents if p not in reading.diagram.utilities), None)
    if odd is not None or node.all("expression"):
        raise reading.error(node.line, f"The node {name!r} is not a weighted sum of utilities.")
    parts, line = _words(node, "weights", reading, needed=False)
    weights = reading.numbers(parts or ["1"] * len(parents), line)
    if len(weights) != len(parents):
        raise reading.error(line, f"The node {name!r} needs {len(parents)} weights.")
    for parent, weight in zip(parents, weights.tolist(), strict=True):
        reading.diagram.scale(parent, weight)


def _words(
    node: Element, tag: str, reading: Reading, *, needed: bool = True
) -> tuple[list[str], int]:
    found = node.all(tag)
    if len(found) != 1 and (needed or found):
        name = node.attributes.get("id", "")
        raise reading.error(node.line, f"The node {name!r} needs one {tag!r}, got {len(found)}.")
    return (found[0].text.split(), found[0].line) if found else ([], node.line)


def write(model: Network | DecisionNetwork) -> str:
    """A network as XDSL text, its nodes placed on a grid."""
    parts = written(model, "XDSL")
    net = parts.net
    page = Page(net, "XDSL", Spelling(LETTER_FIRST, LEAD))
    utilities = parts.utilities(page.spell)
    out = ['<?xml version="1.0" encoding="UTF-8"?>\n']
    out.append(f"<!-- {MARK} -->\n" if page.escaped else "")
    out.append('<smile version="1.0" id="credo" numsamples="10000" discsamples="10000">\n')
    out.append("\t<nodes>\n")
    tables = {cpt.name: (cpt, name) for cpt, name in page.tables}
    order = [n for n in model.dag.order if n in tables]  # GeNIe wants parents first
    for cpt, name in (tables[n] for n in order):
        noisy, seen = noisy_max.parameters(net, cpt), parts.sees(cpt.name)
        kind = "decision" if seen is not None else "noisymax" if noisy else "cpt"
        out.append(f'\t\t<{kind} id="{name}">\n')
        out += [f'\t\t\t<state id="{s}" />\n' for s in page.states[cpt.name]]
        given = " ".join(page.names[n] for n in seen or (p.name for p in cpt.parents))
        out.append(f"\t\t\t<parents>{given}</parents>\n" if given else "")
        if seen is not None:
            memory = '\t\t\t<property id="credo_memory">limited</property>\n'
            out.append(memory if parts.limited else "")
        elif noisy:
            out += [f"\t\t\t<{k}>{' '.join(map(repr, v))}</{k}>\n" for k, v in noisy.items()]
        else:
            flat = " ".join(" ".join(row) for row in page.rows(cpt))
            out.append(f"\t\t\t<probabilities>{flat}</probabilities>\n")
        kinds = kinds_text(cpt.child)
        out.append(f'\t\t\t<property id="credo_states">{kinds}</property>\n' if kinds else "")
        out.append(f"\t\t</{kind}>\n")
    for u, name, numbers in utilities:
        given = " ".join(page.names[p.name] for p in u.parents)
        out.append(f'\t\t<utility id="{name}">\n')
        out.append(f"\t\t\t<parents>{given}</parents>\n" if given else "")
        out.append(f"\t\t\t<utilities>{' '.join(numbers)}</utilities>\n\t\t</utility>\n")
    out.append('\t</nodes>\n\t<extensions>\n\t\t<genie version="1.0" app="credo" name="credo">\n')
    plain = Spelling(XML_TEXT)
    named = [(v.name, name) for v, name in page.variables]
    named += [(u.name, name) for u, name, _ in utilities]
    for i, (own, name) in enumerate(named):
        x, y = 40 + 160 * (i % 8), 40 + 100 * (i // 8)
        out.append(
            f'\t\t\t<node id="{name}">\n'
            f"\t\t\t\t<name>{escape(plain(own))}</name>\n"
            '\t\t\t\t<interior color="e5f6f7" />\n\t\t\t\t<outline color="000080" />\n'
            '\t\t\t\t<font color="000000" name="Arial" size="8" />\n'
            f"\t\t\t\t<position>{x} {y} {x + 120} {y + 60}</position>\n\t\t\t</node>\n"
        )
    return "".join([*out, "\t\t</genie>\n\t</extensions>\n</smile>\n"])
