"""What a table says of its columns besides their cells: categories in their order, and an index.

An Arrow dictionary is often only an encoding, whose order is that in which values were met. It is
a list of categories where it is ordered, or where who wrote it says so: pandas and R in the
metadata of the schema, polars and credo in that of the column. Parquet keeps dictionaries of texts
alone; of other categories the file only says that there were some.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa

from credo.core.state_values import is_missing
from credo.data.columns.cells import cell_key, unsigned
from credo.data.columns.infer import Declared
from credo.data.columns.taking import python_values
from credo.data.sources.arrays import sound

OUR_STATES = {b"credo": b"states"}
"""The metadata of a column whose dictionary holds the states of a variable, in their order."""

_INDEX = Declared((), aside=("identifier", "the index of a pandas frame"))


def declared_by(
    schema: pa.Schema, chunks: Callable[[int], Iterable[Any]], label: str
) -> dict[int, Declared]:
    """What is declared of each column, by its position; `chunks` gives those chunks of one whose
    dictionaries are to be looked at.

    >>> cells = pa.array(["b", "a"]).dictionary_encode()
    >>> kind = pa.dictionary(pa.int32(), pa.string(), ordered=True)
    >>> declared_by(pa.schema({"x": kind}), lambda i: [cells], "a table")[0].states
    ('b', 'a')
    """
    told = _pandas_note(schema)
    categorical = {c.get("field_name", c.get("name")): c for c in told.get("columns", ())
                   if c.get("pandas_type") == "categorical"}  # fmt: skip
    index = {name for name in told.get("index_columns", ()) if isinstance(name, str)}
    from_r = b"r" in (schema.metadata or {})
    out = {}
    for i, field in enumerate(schema):
        if field.name in index:
            out[i] = _INDEX
            continue
        note = field.metadata or {}
        ours = OUR_STATES.items() <= note.items()
        said = field.name in categorical or from_r or ours
        if not pa.types.is_dictionary(field.type):
            if field.name in categorical or ours:
                out[i] = Declared(())
        elif enum := _enum_values(note.get(b"_PL_ENUM_VALUES2", b"")):
            out[i] = Declared(enum, ordered=True)
        elif field.type.ordered or said:
            found = _dictionaries(chunks(i), field.type.ordered, field.name, label)
            if found:
                out[i] = found
    return out


def array_declared(cells: Any) -> Declared | None:
    """What a column of Arrow says by itself: an ordered dictionary is a list of categories."""
    if not isinstance(cells, (pa.Array, pa.ChunkedArray)):
        return None
    if not pa.types.is_dictionary(cells.type) or not cells.type.ordered:
        return None
    chunks = cells.chunks if isinstance(cells, pa.ChunkedArray) else [cells]
    return _dictionaries(chunks, True, "", "")


def _dictionaries(chunks: Iterable[Any], ordered: bool, name: str, label: str) -> Declared | None:
    """The values of the chunks' dictionaries, which may differ as those of several files do."""
    parts: list[dict[str, Declared]] = []
    seen: Any = None
    for chunk in chunks:
        if seen is not None and chunk.dictionary.equals(seen):
            continue
        seen = chunk.dictionary
        states = _dictionary(sound(chunk, name, label).dictionary if label else seen)
        if states:
            parts.append({name: Declared(states, ordered)})
    return merged(parts).get(name)


def _dictionary(values: Any) -> tuple[Any, ...]:
    """The values of a dictionary that are not missing; none if one stands twice."""
    states = tuple(unsigned(v) for v in python_values(values) if not is_missing(v))
    return states if len(set(map(cell_key, states))) == len(states) else ()


def _pandas_note(schema: Any) -> dict[str, Any]:
    """What pandas wrote of the frame that a schema was made from."""
    try:
        told = json.loads((schema.metadata or {})[b"pandas"])
        columns = [c for c in told.get("columns", ()) if isinstance(c, dict)]
        return {"columns": columns, "index_columns": list(told.get("index_columns", ()))}
    except (ValueError, AttributeError, KeyError, TypeError):
        return {}


def _enum_values(note: bytes) -> tuple[str, ...] | None:
    """The categories that polars writes of an enum, each after the number of its bytes.

    >>> _enum_values(b"1;z3;b;1")
    ('z', 'b;1')
    """
    out = []
    while note:
        size, mark, rest = note.partition(b";")
        if not mark or not size.isdigit() or int(size) > len(rest):
            return None
        try:
            out.append(rest[: int(size)].decode())
        except UnicodeDecodeError:
            return None
        note = rest[int(size) :]
    return tuple(out) if len(set(out)) == len(out) else None


def merged(parts: Sequence[Mapping[str, Declared]]) -> dict[str, Declared]:
    """What several files of one table declare: the categories of all, each list in its order as far
    as they agree. They are ordered where the files together say so of every two neighbours.

    >>> a, b = Declared(("low", "high"), True), Declared(("low", "mid", "high"), True)
    >>> merged([{"x": a}, {"x": b}])["x"].states
    ('low', 'mid', 'high')
    """
    out = {}
    for name in dict.fromkeys(n for part in parts for n in part):
        found = [part[name] for part in parts if name in part]
        states: list[Any] = []
        for declared in found:
            _insert(states, declared.states)
        ordered = len(found) == len(parts) and all(d.ordered for d in found)
        ordered = ordered and _agree(states, [d.states for d in found])
        aside = {d.aside for d in found}
        out[name] = Declared(tuple(states), ordered, aside.pop() if len(aside) == 1 else None)
    return out


def _insert(states: list[Any], more: Sequence[Any]) -> None:
    """Put what is new after what it follows, or before what follows it."""
    keys = list(map(cell_key, states))
    known = set(keys)
    at = next((keys.index(k) for k in map(cell_key, more) if k in known), len(keys))
    for state in more:
        key = cell_key(state)
        if key not in known:
            states.insert(at, state)
            keys.insert(at, key)
        elif at == len(keys) or keys[at] != key:
            at = keys.index(key)
        at += 1


def _agree(states: Sequence[Any], lists: Sequence[Sequence[Any]]) -> bool:
    """Whether every list is in the order of the states, and every two neighbours stand in one."""
    place = {cell_key(s): i for i, s in enumerate(states)}
    places = [[place[cell_key(s)] for s in one] for one in lists]
    pairs = {pair for one in places for pair in pairwise(one)}
    return all(one == sorted(one) for one in places) and all(
        pair in pairs for pair in pairwise(range(len(states)))
    )
