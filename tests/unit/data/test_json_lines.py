"""JSON lines give the values of Python's json module, whatever the file looks like."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import credo as cr
from credo.data.sources import jsonlines, unpack
from credo.data.sources.jsonlines import json_feed
from credo.errors import CredoWarning, LimitError, TableError


@pytest.fixture
def put(tmp_path):
    def write(content, name="t.jsonl"):
        path = tmp_path / name
        if not isinstance(content, (str, bytes)):
            content = "".join(json.dumps(row) + "\n" for row in content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def cells(feed):
    """Every cell of a feed as a Python value."""
    out = {name: [] for name in feed.names}
    for batch in feed.batches(feed.names):
        for name, column in batch.items():
            out[name] += column.tolist() if isinstance(column, np.ndarray) else column.to_pylist()
    return out


# --- against the json module itself -------------------------------------------------------

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(0, 3),
    st.floats(allow_nan=False),
    st.sampled_from(["", "a", "A", "1", "1.5", "2024-01-01", "10:00:00", "true", "null", "é\n\t"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)
values = st.one_of(scalars, scalars, st.lists(scalars, max_size=2))
keys = st.sampled_from(["a", "A", "b", "a b", "", "json", "é", '"', "column_1"])
number_columns = st.sampled_from(
    [
        st.booleans(),
        st.integers(-5, 5),
        st.floats(allow_nan=False),
        st.integers() | st.floats(allow_nan=False),
    ]
)
rows_of_anything = st.lists(st.dictionaries(keys, values, max_size=5), min_size=1, max_size=12)


@st.composite
def files(draw):
    """Rows, and a text that holds them: one a line, over several lines, or as one array."""
    rows = draw(rows_of_anything)
    numbers = draw(number_columns)
    for row in rows:
        if draw(st.booleans()):
            row["n"] = draw(numbers)
    ascii_only = draw(st.booleans())
    form = draw(st.sampled_from(["lines", "lines", "spread", "array", "spread array"]))
    indent = 1 if form.startswith("spread") else None
    written = [json.dumps(row, ensure_ascii=ascii_only, indent=indent) for row in rows]
    if "array" in form:
        return rows, "[" + ",".join(written) + "]"
    end = draw(st.sampled_from(["\n", "\r\n", "\n\n", " \n"]))
    return rows, end.join(written) + draw(st.sampled_from(["", end]))


def the_same(cell, expected):
    if isinstance(expected, float) and isinstance(cell, float):
        return cell == expected
    if isinstance(expected, int) and isinstance(cell, float):  # a whole number among decimals
        return type(expected) is int and cell == expected
    return type(cell) is type(expected) and cell == expected


@given(file=files(), kept=st.sampled_from([0, 2**20]), block=st.sampled_from([5, 60, 2**20]))
def test_cells_are_those_of_pythons_json(file, kept, block, tmp_path_factory):
    rows, text = file
    path = tmp_path_factory.mktemp("j") / "t.jsonl"
    path.write_bytes(text.encode())
    parsed = [json.loads(json.dumps(row)) for row in rows]
    names = list(dict.fromkeys(k for row in parsed for k in row))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonlines, "_BLOCK", block)
        patch.setattr(jsonlines, "BATCH", 3)
        feed = json_feed(path, "", kept=kept)
        found = list(cells(feed).values())
        again = list(cells(feed).values())
    assert feed.rows == len(rows)
    assert len(found) == len(names)
    for name, column, other in zip(names, found, again, strict=True):
        assert len(column) == len(other) == len(rows)
        for row, cell, same in zip(parsed, column, other, strict=True):
            assert the_same(cell, row.get(name)), (name, cell, row)
            assert the_same(same, row.get(name))


# --- keys ---------------------------------------------------------------------------------


def test_many_keys_are_many_columns(put):
    row = {f"k{i}": i % 2 for i in range(300)}
    table = cr.read(put([row, {k: 1 - v for k, v in row.items()}]))
    assert len(table.schema.columns) == 300 and len(table.schema) == 300


def test_sparse_keys_are_columns_with_gaps(put):
    rng = np.random.default_rng(0)
    rows = [
        {"y": int(rng.integers(2)), **{f"k{j}": "on" for j in rng.choice(60, 2, replace=False)}}
        for _ in range(1000)
    ]
    table = cr.read(put(rows))
    assert len(table.schema.columns) == 61
    for j in range(60):
        has = sum(f"k{j}" in row for row in rows)
        assert table.schema.column(f"k{j}").missing == 1000 - has


def test_a_key_of_the_last_line_is_not_lost(put):
    rows = [{"a": i % 2} for i in range(30_000)] + [{"a": 1, "late": "x"}, {"late": "y"}]
    table = cr.read(put(rows))
    assert table.schema["late"].states == ("x", "y")
    assert table.schema.column("late").missing == 30_000


def test_too_many_keys_are_refused_before_they_are_read(put):
    path = put([{f"k{i}_{j}": 1 for j in range(5000)} for i in range(5)])
    with pytest.raises(LimitError, match=r"t.jsonl has 25,000 columns; at most 20,000 are read"):
        cr.read(path)


# --- the very file ------------------------------------------------------------------------


# --- values -------------------------------------------------------------------------------


def test_texts_that_look_like_dates_and_times_stay_texts(put):
    path = put([{"d": "2024-01-01", "t": "10:00:00", "x": 1}, {"d": "2024-01-02", "t": "11:00:00"}])
    table = cr.read(path, {"d": "discrete", "t": "discrete", "x": [1]})
    assert table.values("d").tolist() == ["2024-01-01", "2024-01-02"]
    assert table.values("t").tolist() == ["10:00:00", "11:00:00"]
    assert cr.read(path, {"x": [1]} | {"d": "drop"}).schema.column("t").kind == "date"


def test_whole_numbers_beyond_64_bits_stay_whole(put):
    table = cr.read(put([{"n": 2**70}, {"n": 1}, {"n": 2**70}]), {"n": "discrete"})
    assert table.schema["n"].states == (1, 2**70)


@pytest.mark.parametrize("written", ["1e309", "-1e999", "Infinity"])
def test_a_number_beyond_all_floats_is_told_as_it_is_written(put, written):
    text = '{"x": 1.5, "y": 0}\n{"x": HERE, "y": 1}\n{"x": 2.5, "y": 1}\n'
    text = text.replace("HERE", written)
    for kind in (text, "[" + text.strip().replace("\n", ",\n") + "]"):
        with pytest.warns(CredoWarning, match=f"row 2 holds '{written}', which is not finite"):
            table = cr.read(put(kind))
        assert table.schema.names == ("y",)
        with pytest.raises(TableError, match=f"Row 2 of column 'x' holds '{written}'"):
            cr.read(put(kind), {"x": "continuous"})


def test_texts_among_numbers_of_another_block_are_texts(put, monkeypatch):
    monkeypatch.setattr(jsonlines, "_BLOCK", 100)
    rows = [{"x": i / 2} for i in range(1, 40)] + [{"x": "7"}, {"x": "7"}]
    table = cr.read(put(rows), {"x": "discrete"})
    assert "7" in table.schema["x"].states and 7.0 in table.schema["x"].states


def test_nested_values_are_set_aside(put):
    table = cr.read(put([{"a": 1, "b": {"c": 2}, "d": [1]}, {"a": 0, "b": {}, "d": []}]))
    assert table.schema.names == ("a",)
    assert table.schema.column("b").kind == table.schema.column("d").kind == "unsupported"


def test_the_gap_between_lines_cannot_be_forged(put):
    path = put('{"a": 1}\n{"a": [1\n2]}\n{"a": 1},0,{"a": 2}\n')
    with pytest.raises(TableError, match=r"line 2 cannot be read \(expecting ',' delimiter\)"):
        cr.read(path)
    path = put('{"a": 1},{"a": 2}\n{"a": 3\n"b": 4}\n')
    with pytest.raises(TableError, match="is not a file of JSON lines"):
        cr.read(path)


# --- elements of an array ------------------------------------------------------------------

HUGE = 10**30


@pytest.mark.parametrize("before", [0, 1, 40])
def test_faults_in_an_array_are_told_by_their_line(put, monkeypatch, before):
    monkeypatch.setattr(jsonlines, "_BLOCK", 60)
    plain = ['{"a": 1, "b": "x"}'] * before
    rows = [*plain, f'{{"a": {HUGE}, "b": "x"}}', *['{"a": 2, "b": "y"}'] * 40]
    for end, said in (
        (",\n]", r"cannot be read \(expecting value\)"),
        (',\n{"a" 3}]', r"cannot be read \(expecting ':' delimiter\)"),
        (',\n{"a": 3, "a": 3}]', "has the key 'a' twice"),
        ("\n]]", r"cannot be read \(text follows the end of the array\)"),
        (',\n{"a": 3}\n', r"cannot be read \(the array is not closed\)"),
    ):
        line = len(rows) + 1 + end.endswith("\n")
        with pytest.raises(TableError, match=rf"(?i)line {line} .*{said}"):
            cr.read(put("[" + ",\n".join(rows) + end, "t.json"))


# --- what is refused ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1,2]\n[3,4]\n", "its lines are not objects; line 1 is a number"),
        ("\n\n1\n2\n", "its lines are not objects; line 3 is a number"),
        ('{"a": 1}\n[1, 2]\n', "its lines are not objects; line 2 is a list"),
        ('{"a": 1}\n\n"x"\n', "its lines are not objects; line 3 is a text"),
        ('{"a": 1}\nnonsense\n', r"line 2 cannot be read \(expecting value\)"),
        ('[{"a": 1},\n {"a": 2}\n', r"line 3 cannot be read \(the array is not closed\)"),
        ('[{"a": 1},\n', r"line 2 cannot be read \(expecting value\)"),
        ('[{"a": 1}]\n[{"a": 2}]\n', r"line 2 cannot be read \(text follows the end of the array\)"),
        ('{"a":\n 1,\n "b" 2}', r"line 3 cannot be read \(expecting ':' delimiter\)"),
        ('{"a": 1}\n{"a": ' + "[" * 100_000 + "\n", r"line 2 cannot be read \(its values are nested"),
        ('{"a": 1}\n{"a": ' + "9" * 5000 + "}\n", "line 2 cannot be read"),
    ],
)  # fmt: skip
def test_what_is_not_objects_is_refused_by_its_line(put, text, said):
    with pytest.raises(TableError, match=said):
        cr.read(put(text))


def test_no_rows_and_no_columns(put):
    with pytest.raises(TableError, match=r"t.jsonl has no rows"):
        cr.read(put("[]"))
    with pytest.raises(TableError, match=r"t.jsonl has no rows"):
        cr.read(put("\n\n"))
    with pytest.raises(TableError, match=r"t.jsonl has no columns"):
        cr.read(put("{}\n{}\n"))


def test_half_a_pair_of_surrogates_is_refused(put):
    with pytest.raises(TableError, match=r"under 'a', which is not whole Unicode text"):
        cr.read(put('{"a": "\\ud800"}\n{"a": "x"}\n'))


def test_bytes_that_are_not_text(put):
    with pytest.raises(TableError, match=r"Byte 17 of t.jsonl is not utf-8 text"):
        cr.read(put(b'{"a": 1}\n{"a": "\xff"}\n'))
    path = put('{"a": "größer"}\n{"a": "kleiner"}\n'.encode("latin-1"))
    assert cr.read(path, encoding="latin-1").schema["a"].states == ("größer", "kleiner")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_encodings_are_recognised(put, encoding):
    path = put('{"größe": "klein"}\n{"größe": "groß"}\n'.encode(encoding))
    assert cr.read(path).schema["größe"].states == ("groß", "klein")


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_a_decompression_bomb_is_refused(put, monkeypatch, ending):
    monkeypatch.setattr(unpack, "MAX_UNPACKED", 2**20)
    text = b'{"a": 1}\n' * 2_000_000
    if ending == "gz":
        path = put(gzip.compress(text), "t.jsonl.gz")
    else:
        path = put(pa.compress(text, "zstd", asbytes=True), "t.jsonl.zst")
    with pytest.raises(LimitError, match="unpacks to more than 200 times its size"):
        cr.read(path)
