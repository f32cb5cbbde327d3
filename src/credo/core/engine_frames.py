"""Frames whose rows lie with an engine, told by their type alone; nothing is imported."""

from __future__ import annotations

from typing import Any


def lies_with_engine(x: Any) -> bool:
    """Whether something is a Dask or a Spark frame, to be scored where it is.

    >>> lies_with_engine({"a": [1]})
    False
    """
    package = type(x).__module__.partition(".")[0]
    return (package == "dask" and hasattr(x, "map_partitions")) or (
        package == "pyspark" and hasattr(x, "mapInArrow")
    )
