"""Regular records read natively are what Arrow's parser reads, and the rest is left to it."""

import csv
import io

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from credo import _core
from credo.data.sources import text
from credo.data.sources.arrays import encoded_texts
from credo.data.sources.records import regular_batches
from credo.data.sources.text import Dialect
from credo.errors import TableError

CELLS = st.text(alphabet='ab é"\r\n,;日', max_size=12)
PLAIN = st.text(alphabet="abc é日\x7f", max_size=12)
DOUBLED = CELLS.map(lambda c: '"' + c.replace('"', '""') + '"')


@st.composite
def files(draw):
    width = draw(st.integers(1, 4))
    cell = draw(st.sampled_from([PLAIN, CELLS, DOUBLED, PLAIN | DOUBLED]))
    end = draw(st.sampled_from(["\n", "\r\n", "\n\n", "\r"]))
    rows = draw(st.lists(st.lists(cell, min_size=width, max_size=width), min_size=1, max_size=8))
    if draw(st.integers(0, 9)) == 0:
        rows.insert(draw(st.integers(0, len(rows))), ["x"] * (width + 1))
    body = end.join(",".join(row) for row in rows)
    return width, (body + draw(st.sampled_from(["", end]))).encode()


def scanned(path, width, *, native, header):
    dialect = Dialect(path, "", "utf-8", ",", width, header)
    with pytest.MonkeyPatch.context() as patch:
        if not native:
            patch.setattr(text, "regular_batches", _nothing)
        try:
            batches = list(text._scan(dialect, list(range(width)), None))
        except TableError as error:
            return str(error)
    return [row for b in batches for row in zip(*(c.to_pylist() for c in b), strict=True)]


def _nothing(*_, header, **__):
    yield from ()
    return b"", header


@given(files(), st.booleans())
@example((2, b'a,b\n"x","y"\nz,w'), True)
@example((2, b'a,b\n"x,""y""",z\nz,w\n'), True)
@example((1, b"a\n\nb\n"), False)
@example((2, b"a,b\r\n1,2\r\n3,\xff\r\n"), True)
@example((2, b'a,b\n1,"open\n2,3\n'), True)
def test_native_and_arrow_read_the_same(tmp_path_factory, made, header):
    width, data = made
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_bytes(data)
    assert scanned(path, width, native=True, header=header) == scanned(
        path, width, native=False, header=header
    )


@given(files(), st.integers(1, 40))
def test_the_size_of_the_blocks_does_not_matter(made, block):
    width, data = made

    def rows_and_rest(size):
        found, generator = (
            [],
            regular_batches(
                io.BytesIO(data), ",", width, list(range(width)), header=False, block=size
            ),
        )
        while True:
            try:
                batch = next(generator)
            except StopIteration as end:
                return found, end.value
            found += zip(*(c.to_pylist() for c in batch), strict=True)

    whole, rest = rows_and_rest(10**6)
    part, left = rows_and_rest(block)
    assert part == whole[: len(part)]
    if left is None:
        assert (part, rest) == (whole, None)


@given(st.lists(st.text(alphabet="abé日\0", max_size=20), max_size=60), st.booleans())
def test_codes_of_texts_are_arrows_dictionary(texts, wide):
    cells = pa.array(["first", *texts], type=pa.large_string() if wide else pa.string())[1:]
    codes, first = encoded_texts(cells)
    expected = cells.dictionary_encode()
    assert codes.tolist() == expected.indices.to_pylist()
    assert cells.take(first).to_pylist() == expected.dictionary.to_pylist()


def test_many_different_texts_are_coded_alike():
    texts = pa.array([f"{'long ' * (i % 3)}{i * 7919 % 5000}" for i in range(20_000)])
    codes, _ = encoded_texts(texts)
    assert codes.tolist() == texts.dictionary_encode().indices.to_pylist()


def test_a_column_of_different_texts_stops_being_coded():
    lines = "".join(f"{i},{i % 3}\n" for i in range(4000)).encode()
    batches = list(regular_batches(io.BytesIO(lines), ",", 2, [1, 0], header=False, block=2048))
    assert pa.types.is_dictionary(batches[0][1].type)
    assert pa.types.is_string(batches[-1][1].type)
    assert all(pa.types.is_dictionary(b[0].type) for b in batches)
    assert [x for b in batches for x in b[1].to_pylist()] == [str(i) for i in range(4000)]
    assert [x for b in batches for x in b[0].to_pylist()] == [str(i % 3) for i in range(4000)]


@pytest.mark.parametrize("states, coded", [(10**9, False), (9_000, True), (50, True)])
def test_a_column_of_different_texts_stops_being_coded_within_a_block(states, coded):
    cells = [f'"n{i * 7919 % states}"' for i in range(20_000)]
    lines = "".join(f"{c},{i % 3}\n" for i, c in enumerate(cells)).encode()
    (batch,) = regular_batches(io.BytesIO(lines), ",", 2, [0, 1], header=False, block=10**7)
    if states != 9_000:  # which differ at first, and may be either
        assert pa.types.is_dictionary(batch[0].type) == coded
    assert batch[0].to_pylist() == [c.strip('"') for c in cells]
    assert batch[1].to_pylist() == [str(i % 3) for i in range(20_000)]


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=8))
def test_quotes_inside_a_cell_are_regular(rows):
    text_ = io.StringIO(newline="")
    csv.writer(text_, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    data = io.BytesIO(text_.getvalue().encode())
    generator = regular_batches(data, ",", 2, [0, 1], header=False, block=10**6)
    (batch,) = generator
    assert list(map(list, zip(*(c.to_pylist() for c in batch), strict=True))) == rows
    assert data.read() == b""


def test_wrong_arguments_are_refused():
    text_ = np.frombuffer(b"abc", dtype=np.uint8)
    for offsets in ([0, 4], [2, 1], [-1, 2]):
        with pytest.raises(ValueError, match="offsets of the texts"):
            _core.encode_texts(np.array(offsets, dtype=np.int32), text_)
    with pytest.raises(ValueError, match="int32 or int64"):
        _core.encode_texts(np.zeros(2), text_)
    with pytest.raises(ValueError, match="rise and be below"):
        _core.CsvRecords(",", 2, [1, 1])
    with pytest.raises(ValueError, match="one byte"):
        _core.CsvRecords(",,", 2, [1])
