"""What the kernel calls plain holds what Python's json module finds in it."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credo import _core
from credo.data.sources.json_blocks import MIXED, Plain, kind_of, plain_block

MANY = 1_000


def reader() -> _core.JsonRecords:
    return _core.JsonRecords(MANY)


def read(text: str, most: int = MANY, records: _core.JsonRecords | None = None) -> Any:
    return plain_block(records or reader(), memoryview(text.encode()), most)


def once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def check(block: Plain, rows: list[Any], *, first: bool = True) -> None:
    """Every cell against the json module's; keys of the first block are in the order of the text."""
    assert all(type(row) is dict for row in rows) and len(rows) == block.rows
    keys = list(dict.fromkeys(key for row in rows for key in row))
    met = [key for key in block.types if key in keys]
    assert met == keys if first else set(met) == set(keys)
    for key, types in block.types.items():
        expected = [row.get(key) for row in rows]
        assert types == {type(v) for v in expected} - {type(None)}
        every = block.cells(key, MIXED).tolist()
        assert every == expected and list(map(type, every)) == list(map(type, expected))
        for found, value in zip(every, expected, strict=True):
            if type(value) is float:
                assert math.copysign(1, found) == math.copysign(1, value)
        alike = block.cells(key, kind_of(types))
        assert (alike.tolist() if isinstance(alike, np.ndarray) else alike.to_pylist()) == expected


def check_lines(block: Plain, lines: list[str]) -> None:
    full = [line for line in lines if line.strip(" \t\r")]
    check(block, [json.loads(line, object_pairs_hook=once_each) for line in full])


values = st.one_of(
    st.none(),
    st.recursive(
        st.none() | st.text(']}"\\', max_size=3),
        lambda v: (
            st.lists(v, max_size=2) | st.dictionaries(st.text("a]", max_size=1), v, max_size=2)
        ),
        max_leaves=3,
    ),
    st.booleans(),
    st.integers(-(2**70), 2**70) | st.integers(-3, 3) | st.integers(2**53 - 2, 2**53 + 2),
    st.floats(allow_nan=False)
    | st.sampled_from([0.1, -0.0, 5e-324, 1e22, 2.2250738585072014e-308]),
    st.text(max_size=20) | st.sampled_from(["", "é😀", "\0", 'q"\\/', "sixteen bytes and more"]),
)
keys = st.sampled_from(["a", "b", "c", "é", "k\n", ""])
spoils = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 1), st.sampled_from(list('{}[]":,\\ \tnx0.eE+-1u\x01'))),
    max_size=2,
)  # fmt: skip


@st.composite
def lines_of(draw: Any) -> str:
    """Objects, some of them spoilt."""
    out = []
    for row in draw(st.lists(st.dictionaries(keys, values, max_size=4), min_size=1, max_size=4)):
        separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : ")]))
        line = json.dumps(row, ensure_ascii=draw(st.booleans()), separators=separators)
        for at, gone, more in draw(spoils):
            line = line[:at] + more + line[at + gone :]
        out.append(line + draw(st.sampled_from(["", "\r", "\n", "\n \t"])))
    return "\n".join(out)


def is_text(text: str) -> bool:
    return not any("\ud800" <= c <= "\udfff" for c in text)  # half a pair is no text of a file


@settings(max_examples=400)
@given(lines_of().filter(is_text), st.sampled_from([1, 2, MANY]))
def test_lines_that_are_plain_are_what_json_reads(text: str, most: int) -> None:
    text += "\n"
    found = read(text, most)
    if found is not None:
        used, count, plain, block = found
        part = text.encode()[:used].decode()
        assert part.count("\n") == count and block.rows <= most
        check_lines(block, part.split("\n")[:-1])
        assert not plain or block.rows == most or used == len(text.encode())


@pytest.mark.parametrize(
    "line",
    [
        '{"a": 1, "b": "x", "c": 1.5, "d": null, "e": true, "f": false}',
        '{"a": -12, "b": "\\u00e9\\ud83d\\ude00 \\" \\\\ \\/ \\n", "c": 1E-7}',
        "{}",
        ' { "a":0.5,"b":"a text of more than sixteen bytes"}\t\r',
        '{"a": [1, "]\\"}", {"b": [null]}], "b": {"c": {}}, "d": []}',
        '{"n": 999999999999999999, "x": -1.7976931348623157e308}',
        '{"a": 1, "b": "x"}\n{"a": "1", "b": [1]}\n{"a": true, "b": 0.5}\n{"a": null, "b": "x"}',
        '{"a": 9007199254740993}\n{"a": 0.5}',
    ],
)
def test_what_is_plain(line: str) -> None:
    found = read(f"\n{line}\n \n{line}\n")
    assert found is not None and found[2]
    check_lines(found[3], f"{line}\n{line}".split("\n"))


@pytest.mark.parametrize(
    "line",
    [
        '{"a": [1}}', '{"a": {"b": 1]}', '{"a": {"b": 1, "b": 2}}', '{"a": [1}', '{"a": [}',
        '{"a": ["\\', '{"a": ["x}', '{"a": [[1]', '{"a": 1, "a": 2}', '{"a": NaN}', '{"a": 1e999}',
        '{"a": 12345678901234567890}', '{"a": 01}', '{"a": 1.}', '{"a": .5}', '{"a": +1}',
        '{"a": 1e}', '{"a": "\\ud800"}', '{"a": "\\udc00"}', '{"a": "\\ud800\\u0041"}',
        '{"a": "\\x41"}', '{"a": "\\u00g0"}', '{"a": "\t"}', '{"a": "x}', '{"a": 1', '{"a" 1}',
        '{"a": 1,}', "{a: 1}", '{"a": 1} 2', '{"a": tru}', '{"a": nulll}', "[1]", '"x"', "1", "x",
        "\u00a0",
    ],
)  # fmt: skip
def test_what_is_not(line: str) -> None:
    first = '{"a": 1}\n'
    found = read(f"{first}{line}\n")
    if found is not None:  # None: something nested is no JSON
        used, _, plain, block = found
        assert (used, plain) == (len(first), False)
        check(block, [{"a": 1}])


def test_whole_numbers_among_decimals_are_decimals() -> None:
    _, _, _, block = read('{"x": 1}\n{"x": null}\n{"x": 2.5}\n{"x": -3}\n')
    assert block.types == {"x": {int, float}}
    assert block.cells("x", "float").to_pylist() == [1.0, None, 2.5, -3.0]


def test_a_reader_goes_on_with_what_it_knows() -> None:
    records = reader()
    for start in range(0, 3_000, 1_000):  # texts that are all different are not coded for long
        lines = [
            json.dumps({"id": f"row {i} of many", "late": None if i % 3 else f"L{i}", "s": i % 2})
            for i in range(start, start + 1_000)
        ]
        _, _, _, block = read("\n".join(lines) + "\n", MANY, records)
        check_lines(block, lines)
    assert str(block.columns["id"].type) == "string"
    assert read('{"s": tru}\n', MANY, records)[3].rows == 0
    _, _, _, block = read('{"s": 1}\n', MANY, records)  # columns of other blocks are not of this
    assert list(block.types) == ["s"]
    check(block, [{"s": 1}])


def test_wide_objects_come_in_small_blocks_and_too_many_columns_not_at_all() -> None:
    lines = [json.dumps({f"k{i}": 1}) for i in range(20_000)]
    text = memoryview(("\n".join(lines) + "\n").encode())
    used, count, plain, block = plain_block(_core.JsonRecords(20_000), text, 10**6)  # type: ignore[misc]
    assert plain and block.rows == count < 3_000 and used < len(text)
    check_lines(block, lines[:count])
    used, count, plain, block = plain_block(reader(), text, 10**6)  # type: ignore[misc]
    assert count == MANY and not plain


def test_lines_must_be_whole() -> None:
    for text in (b"", b'{"a": 1}'):
        with pytest.raises(ValueError, match="end with a line end"):
            reader().read(np.frombuffer(text, np.uint8), MANY)
