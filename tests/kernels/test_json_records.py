"""Lines that the kernel calls plain hold what Python's json module finds in them."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credo import _core
from credo.data.json_blocks import Plain, plain_block

MANY = 1_000


def read(text: str, most: int = MANY, records: _core.JsonRecords | None = None) -> Any:
    records = records or _core.JsonRecords(MANY)
    return plain_block(records, memoryview(text.encode()), most)


def once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def check(block: Plain, lines: list[str]) -> None:
    """Every cell against the json module's, which must take the lines too."""
    rows = [json.loads(line, object_pairs_hook=once_each) for line in lines if line.strip(" \t\r")]
    assert all(type(row) is dict for row in rows) and len(rows) == block.rows
    assert list(block.types) == list(dict.fromkeys(key for row in rows for key in row))
    for key, types in block.types.items():
        expected = [row.get(key) for row in rows]
        assert types == {type(v) for v in expected} - {type(None)}
        cells = block.columns[key]
        every = cells.tolist() if isinstance(cells, np.ndarray) else cells.to_pylist()
        for found, value in zip(every, expected, strict=True):
            assert found == value
            if type(value) is float:
                assert math.copysign(1, found) == math.copysign(1, value)
            elif not (type(value) is int and float in types):
                assert type(found) is type(value)


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
columns = st.dictionaries(keys, st.sampled_from([0, 1, 2, 3]), max_size=5)
spoils = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 1), st.sampled_from(list('{}[]":,\\ \tnx0.eE+-1u\x01'))),
    max_size=2,
)  # fmt: skip


@st.composite
def line_of(draw: Any) -> str:
    row = draw(st.dictionaries(keys, values, max_size=4))
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : ")]))
    line = json.dumps(row, ensure_ascii=draw(st.booleans()), separators=separators)
    for at, gone, more in draw(spoils):
        line = line[:at] + more + line[at + gone :]
    return line + draw(st.sampled_from(["", "\r", "\n", "\n \t"]))


@settings(max_examples=400)
@given(st.lists(line_of(), min_size=1, max_size=4), st.sampled_from([1, 2, MANY]))
def test_what_is_plain_is_what_json_reads(lines: list[str], most: int) -> None:
    text = "\n".join(lines) + "\n"
    try:
        text.encode()
    except UnicodeEncodeError:  # half a pair of surrogates is no text of a file
        return
    found = read(text, most)
    if found is not None:
        used, count, block = found
        part = text.encode()[:used].decode()
        assert part.count("\n") == count and block.rows <= most
        check(block, part.split("\n")[:-1])


@pytest.mark.parametrize(
    "line",
    [
        '{"a": 1, "b": "x", "c": 1.5, "d": null, "e": true, "f": false}',
        '{"a": -12, "b": "\\u00e9\\ud83d\\ude00 \\" \\\\ \\/ \\n", "c": 1E-7}',
        "{}",
        ' { "a":0.5,"b":"a text of more than sixteen bytes"}\t\r',
        '{"a": [1, "]\\"}", {"b": [null]}], "b": {"c": {}}, "d": []}',
        '{"n": 999999999999999999, "x": -1.7976931348623157e308}',
    ],
)
def test_what_is_plain(line: str) -> None:
    found = read(f"\n{line}\n \n{line}\n")
    assert found is not None
    check(found[2], ["", line, " ", line])


@pytest.mark.parametrize(
    "line",
    [
        '{"a": [1}}', '{"a": {"b": 1]}', '{"a": {"b": 1, "b": 2}}', '{"a": [1}\n{"b": 1]}', '{"a": [}',
        '{"a": ["\\', '{"a": ["x}', '{"a": [1]}\n{"a": 1}', '{"a": 1, "a": 2}', '{"a": NaN}', '{"a": 1e999}',
        '{"a": 12345678901234567890}', '{"a": 01}', '{"a": 1.}', '{"a": .5}', '{"a": +1}',
        '{"a": 1e}', '{"a": "\\ud800"}', '{"a": "\\udc00"}', '{"a": "\\ud800\\u0041"}',
        '{"a": "\\x41"}', '{"a": "\\u00g0"}', '{"a": "\t"}', '{"a": "x}', '{"a": 1', '{"a" 1}',
        '{"a": 1,}', '{a: 1}', '{"a": 1} 2', '{"a": tru}', '{"a": nulll}', "[1]", '"x"', "1", "x",
        '{"a": 1}\n{"a": "1"}', '{"a": true}\n{"a": 1}', '{"a": 9007199254740993}\n{"a": 0.5}',
        '{"a": 0.5}\n{"a": 9007199254740993}', "\u00a0",
    ],
)  # fmt: skip
def test_what_is_not(line: str) -> None:
    assert read(f"{line}\n") is None


def test_whole_numbers_among_decimals_are_decimals() -> None:
    _, _, block = read('{"x": 1}\n{"x": null}\n{"x": 2.5}\n{"x": -3}\n')
    assert block.types == {"x": {int, float}}
    assert block.columns["x"].to_pylist() == [1.0, None, 2.5, -3.0]


def test_a_reader_goes_on_with_what_it_knows() -> None:
    records = _core.JsonRecords(MANY)
    for start in range(0, 3_000, 1_000):  # texts that are all different are not coded for long
        lines = [
            json.dumps({"id": f"row {i} of many", "late": None if i % 3 else f"L{i}", "s": i % 2})
            for i in range(start, start + 1_000)
        ]
        _, _, block = read("\n".join(lines) + "\n", MANY, records)
        check(block, lines)
    assert str(block.columns["id"].type) == "string"
    assert read('{"s": tru}\n', MANY, records) is None
    _, _, block = read('{"s": 1}\n', MANY, records)  # columns of other blocks are not of this one
    check(block, ['{"s": 1}'])


def test_wide_records_come_in_small_blocks_and_too_many_columns_not_at_all() -> None:
    lines = [json.dumps({f"k{i}": 1}) for i in range(20_000)]
    text = "\n".join(lines) + "\n"
    used, count, block = plain_block(_core.JsonRecords(20_000), memoryview(text.encode()), 10**6)  # type: ignore[arg-type,misc]  # fmt: skip
    assert block.rows == count < 3_000 and used < len(text)
    check(block, lines[:count])
    assert read("\n".join(lines[: MANY + 1]) + "\n", 10**6) is None


def test_lines_must_be_whole() -> None:
    for text in (b"", b'{"a": 1}'):
        with pytest.raises(ValueError, match="whole lines"):
            _core.JsonRecords(MANY).read(np.frombuffer(text, np.uint8), MANY)
