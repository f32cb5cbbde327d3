"""Tables in: frames, files and engines become codes and floats, with a schema that is printed."""

from credo.data.reading import MISSING, read, tally
from credo.data.stream import Stream
from credo.data.table import Table

__all__ = ["MISSING", "Stream", "Table", "read", "tally"]
