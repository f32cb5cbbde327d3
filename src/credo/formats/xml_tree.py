"""XML as a plain tree, read by expat with everything that could expand or reach out refused.

A document type with elements and attributes is passed over; an entity is refused where it is
declared, so nothing is ever expanded and no file or address is opened.
"""

from __future__ import annotations

from xml.parsers import expat

from credo.formats.reading import Reading

MAX_ELEMENTS = 2_000_000
"""More elements than this are not a network."""


class Element:
    """A tag, its attributes, its text, what is inside, and its line."""

    __slots__ = ("_text", "attributes", "inside", "line", "tag")

    def __init__(self, tag: str, attributes: dict[str, str], line: int) -> None:
        self.tag = tag
        self.attributes = attributes
        self.line = line
        self.inside: list[Element] = []
        self._text: list[str] = []

    @property
    def text(self) -> str:
        """The text directly inside, without blanks at its ends."""
        return "".join(self._text).strip()

    def all(self, tag: str) -> list[Element]:
        """What is inside with this tag, capitals or not."""
        return [e for e in self.inside if e.tag.lower() == tag]

    def add(self, text: str) -> None:
        """More text."""
        self._text.append(text)


def parse(data: bytes | str, reading: Reading) -> tuple[Element, list[str]]:
    """The root element, and the comments."""
    if isinstance(data, str):
        # lone surrogates cannot be encoded; expat refuses what stands for them
        parser = expat.ParserCreate("utf-8")
        data = data.encode("utf-8", "surrogatepass")
    else:
        parser = expat.ParserCreate()
    tree = _Tree(parser, reading)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code) or "it is not XML"
        raise reading.error(error.lineno, f"The XML cannot be read: {what}.") from None
    except (LookupError, ValueError) as error:
        if hasattr(error, "message"):
            raise
        raise reading.error(1, f"The XML cannot be read: {error}.") from None
    assert tree.root is not None
    return tree.root, tree.comments


class _Tree:
    def __init__(self, parser: expat.XMLParserType, reading: Reading) -> None:
        self.parser = parser
        self.reading = reading
        self.root: Element | None = None
        self.open: list[Element] = []
        self.comments: list[str] = []
        self.elements = 0
        # a network has two elements for each variable, a variable one for each state
        self.most = 2 * reading.limits.variables + reading.limits.states
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.CommentHandler = self.comments.append
        parser.EntityDeclHandler = self._entity
        parser.ExternalEntityRefHandler = self._reference
        parser.SkippedEntityHandler = self._reference

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        if len(self.open) >= self.reading.limits.nesting:
            raise self.reading.too_large(line, "The elements are nested too deeply", "nesting")
        self.elements += 1
        if self.elements > MAX_ELEMENTS:
            raise self.reading.too_many(line, "the file", MAX_ELEMENTS)
        element = Element(tag, attributes, line)
        if self.open:
            beside = self.open[-1].inside
            beside.append(element)
            if len(beside) > self.most:
                what = f"the element {self.open[-1].tag!r}"
                raise self.reading.too_many(line, what, self.most)
        else:
            self.root = element
        self.open.append(element)

    def _end(self, tag: str) -> None:
        self.open.pop()

    def _characters(self, text: str) -> None:
        self.open[-1].add(text)

    def _entity(self, name: str, *rest: object) -> None:
        raise self.reading.error(
            self.parser.CurrentLineNumber,
            f"The entity {name!r} is declared; entities are not read, for safety.",
        )

    def _reference(self, *what: object) -> int:
        raise self.reading.error(
            self.parser.CurrentLineNumber, "An entity from outside the file is not read."
        )
