"""PGMX (ProbModelXML), the files of OpenMarkov; they are read, not written.

    <Potential type="Table" role="conditionalProbability"><Variables><Variable name="A"/>
      <Variable name="B"/><Variable name="C"/></Variables><Values>0.1 0.9 …</Values></Potential>

The first variable, the child, is fastest, then the others in order: the last is slowest.
"""

from __future__ import annotations

from math import prod

from credo.formats.reading import Reading
from credo.formats.xml_tree import Element, parse


def read(data: bytes | str, reading: Reading) -> None:
    """Find the variables and tables of a PGMX file."""
    root, _ = parse(data, reading)
    nets = root.all("probnet")
    if root.tag != "ProbModelXML" or len(nets) != 1:
        raise reading.error(
            root.line, f"Expected one ProbNet in ProbModelXML, got {len(nets)} in {root.tag!r}."
        )
    for variable in _inside(nets[0], "variables", "variable"):
        _variable(variable, reading)
    kind = nets[0].attributes.get("type", "")
    if kind != "BayesianNetwork":
        raise reading.error(
            nets[0].line, f"The network is of the type {kind!r}; only 'BayesianNetwork' is read."
        )
    for potential in _inside(nets[0], "potentials", "potential"):
        _potential(potential, reading)


def _inside(element: Element, plural: str, one: str) -> list[Element]:
    return [e for many in element.all(plural) for e in many.all(one)]


def _variable(element: Element, reading: Reading) -> None:
    name = element.attributes.get("name", "")
    role = element.attributes.get("role", "chance")
    if role != "chance":
        raise reading.no_chance(element.line, name, role)
    states = [s.attributes.get("name", "") for s in _inside(element, "states", "state")]
    reading.variable(name, states, element.line)


def _potential(element: Element, reading: Reading) -> None:
    family = [v.attributes.get("name", "") for v in _inside(element, "variables", "variable")]
    if not family:
        raise reading.error(element.line, "A potential names no variable.")
    child, *parents = family
    shape = reading.family(child, parents[::-1], element.line)
    kind = element.attributes.get("type", "")
    if kind == "Uniform":
        parts, line = [repr(1 / shape[-1])] * prod(shape), element.line
    else:
        values = element.all("values")
        if kind != "Table" or len(values) != 1:
            raise reading.error(
                element.line,
                f"The potential of {child!r} is of the type {kind!r}; only a 'Table' with its "
                "Values and 'Uniform' are read.",
            )
        parts, line = values[0].text.split(), values[0].line
    reading.table(child, parts, lambda row: line)
