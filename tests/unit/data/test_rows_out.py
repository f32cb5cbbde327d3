"""Tables out: frames of every kind, and files by their ending."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import credo as cr
from credo.core.schema import Schema, Variable
from credo.data.out.frames import frame_of
from credo.data.out.writing import row_form, write_rows
from credo.errors import InputError


@pytest.fixture
def table():
    return cr.read(
        {
            "text": ["a", None, "b", 'say "no"'],
            "truth": [True, False, None, True],
            "whole": [3, 5, 3, None],
            "real": [0.1, None, 1e-300, -2.5],
        },
        schema={"whole": "discrete"},
    )


VALUES = {
    "text": ["a", None, "b", 'say "no"'],
    "truth": [True, False, None, True],
    "whole": [3, 5, 3, None],
    "real": [0.1, None, 1e-300, -2.5],
}


def test_frames_keep_values_types_and_gaps(table):
    assert frame_of(table, "table") is table
    assert frame_of(table, "dict") == VALUES
    assert frame_of(table, "arrow").to_pydict() == VALUES
    assert frame_of(table, "polars").to_dict(as_series=False) == VALUES
    pandas = frame_of(table, "pandas")
    for name, values in VALUES.items():
        kept = [
            None if gone else x for x, gone in zip(pandas[name], pandas[name].isna(), strict=True)
        ]
        assert kept == values
    with pytest.raises(InputError, match=r"A frame can be 'table', .* or 'dict', got 'excel'"):
        frame_of(table, "excel")


def test_frames_read_back_are_the_same_table(table):
    for kind in ("arrow", "pandas", "polars"):
        back = cr.read(frame_of(table, kind), table.schema)
        for name in table.columns:
            expected = table[name]
            assert np.array_equal(back[name], expected, equal_nan=expected.dtype.kind == "f")


def test_ordered_states_stay_ordered():
    stage = Variable("stage", "discrete", ("II", "I", "III"), ordered=True)
    table = cr.read({"stage": ["I", "II"]}, Schema((stage,)))
    assert frame_of(table, "pandas")["stage"].cat.ordered
    assert list(frame_of(table, "pandas")["stage"].cat.categories) == ["II", "I", "III"]
    assert frame_of(table, "arrow").column("stage").type.ordered


def test_a_frame_can_be_written_in(table):
    frame = frame_of(table, "pandas")
    frame.loc[0, "real"] = 7.0
    frame.loc[0, "text"] = "b"
    assert frame["text"].tolist()[0] == "b"
    assert table["real"][0] == 0.1 and table["text"][0] == "a"


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "tsv", "jsonl"])
def test_files_read_back_are_the_same_table(table, tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    write_rows(path, table.schema, [table, table.take(slice(1, 3))])
    back = cr.read(path, table.schema)
    assert len(back) == 6
    for name in table.columns:
        expected = np.concatenate([table[name], table[name][1:3]])
        assert np.array_equal(back[name], expected, equal_nan=expected.dtype.kind == "f")


def test_text_is_what_people_write(table, tmp_path):
    write_rows(tmp_path / "rows.csv", table.schema, [table])
    assert (tmp_path / "rows.csv").read_text().splitlines() == [
        "text,truth,whole,real",
        "a,True,3,0.1",
        ",False,5,",
        "b,,3,1e-300",
        '"say ""no""",True,,-2.5',
    ]
    write_rows(tmp_path / "rows.jsonl", table.schema, [table])
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert rows == [
        dict(zip(VALUES, row, strict=True)) for row in zip(*VALUES.values(), strict=True)
    ]


def test_parquet_keeps_states_as_dictionaries(tmp_path):
    table = cr.read({"x": ["a", "b"] * 100})
    write_rows(tmp_path / "rows.parquet", table.schema, [table] * 3)
    back = pq.ParquetFile(tmp_path / "rows.parquet")
    assert back.num_row_groups == 3
    assert pa.types.is_dictionary(back.schema_arrow.field("x").type)


def test_endings():
    assert row_form("A.PARQUET") == "parquet"
    for bad in ("rows", "rows.txt", "rows.parquet.gz"):
        with pytest.raises(InputError, match="is not that of a file of rows"):
            row_form(bad)
