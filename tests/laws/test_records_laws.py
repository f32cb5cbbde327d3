"""The records of text files are what wrote them, whatever their blocks; texts have codes."""

import csv

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from credo import _core
from credo.data.sources import text
from credo.data.sources.arrays import encoded_texts
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


def read_rows(path, width, *, header=False, block=None):
    dialect = Dialect(path, "", "utf-8", ",", width, header)
    with pytest.MonkeyPatch.context() as patch:
        if block is not None:
            patch.setattr(text, "block_of", lambda width: block)
        try:
            batches = list(text._read(dialect, list(range(width)), None))
        except TableError as error:
            return str(error)
    return [row for b in batches for row in zip(*(c.to_pylist() for c in b), strict=True)]


@given(files(), st.integers(200, 400))
@example((2, b'a,b\n"x","y"\nz,w'), 200)
@example((2, b'a,b\n"x,""y""",z\nz,w\n'), 200)
@example((1, b"a\n\nb\n"), 200)
@example((2, b"a,b\r\n1,2\r\n3,\xff\r\n"), 200)
@example((2, b'a,b\n1,"open\n2,3\n'), 200)
def test_the_size_of_the_blocks_does_not_matter(tmp_path_factory, made, block):
    width, data = made
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_bytes(data)
    whole, part = read_rows(path, width), read_rows(path, width, block=block)
    assert part == whole or "cannot be read" in part  # a record may be longer than a block


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


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=8))
def test_a_file_is_what_the_csv_module_wrote(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerows([["a", "b"], *rows])
    assert list(map(list, read_rows(path, 2, header=True))) == rows


def test_wrong_arguments_are_refused():
    text_ = np.frombuffer(b"abc", dtype=np.uint8)
    for offsets in ([0, 4], [2, 1], [-1, 2]):
        with pytest.raises(ValueError, match="offsets of the texts"):
            _core.encode_texts(np.array(offsets, dtype=np.int32), text_)
    with pytest.raises(ValueError, match="int32 or int64"):
        _core.encode_texts(np.zeros(2), text_)
