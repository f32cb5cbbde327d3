"""Folders of files are one table, and name columns of it."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import credo as cr
from credo.data import folders
from credo.errors import LimitError, TableError

ROWS = pa.table(
    {
        "y": ["a", "b"] * 6,
        "year": [2020, 2021, 2021, 2020] * 3,
        "place": ["north sea", "south", None] * 4,
        "n": [1.5, 2.5, 4.5] * 4,
    }
)
FAMILY = ("y", ["year", "place"])


@pytest.fixture
def parts(tmp_path):
    pq.write_to_dataset(ROWS, tmp_path / "rows", partition_cols=["year", "place"])
    (tmp_path / "rows" / "_SUCCESS").write_text("")
    (tmp_path / "rows" / ".crc").write_text("")
    (tmp_path / "rows" / "README.md").write_text("about")
    return tmp_path / "rows"


@pytest.mark.parametrize("memory", [None, "1B"])
@pytest.mark.parametrize("glob", ["", "*/*/*.parquet", "**/*.parquet", "year=*/*/*.parquet"])
def test_folders_are_columns_as_arrow_has_them(parts, glob, memory):
    source = cr.read(str(parts / glob) if glob else parts, memory=memory)
    whole = cr.read(
        ds.dataset(parts, format="parquet", partitioning="hive", exclude_invalid_files=True)
    )
    assert set(source.schema.names) == set(whole.schema.names) == set(ROWS.column_names)
    assert source.schema["year"].states == (2020, 2021)
    assert source.schema["place"].states == ("north sea", "south")
    found, expected = source.tally([FAMILY])[FAMILY], whole.tally([FAMILY])[FAMILY]
    assert found == expected and found.skipped == expected.skipped == 4
    assert source.tally(["year"])["year"].values.tolist() == [6, 6]
    assert not source.schema.notes


def test_what_a_path_names_is_no_column(parts):
    one = cr.read(str(parts / "year=2020" / "*" / "*.parquet"))
    assert "year" not in one.schema and one.schema["place"].arity == 2
    (note,) = one.schema.notes
    assert note == f"its folder names a column that it lacks ('year'); read {parts} to have it"
    (note,) = cr.read(next(parts.glob("year=2020/*south/*.parquet"))).schema.notes
    assert note.startswith("its folders name columns that it lacks ('year', 'place')")


def test_text_files_have_texts_in_their_folders(tmp_path):
    for month, rows in (("07", "a,b\n1,x\n2,y\n"), ("08", "a,b\n2,x\n1,x\n"), ("12", "a,b\n")):
        (tmp_path / f"month={month}").mkdir()
        (tmp_path / f"month={month}" / "t.csv").write_text(rows)
    table = cr.read(tmp_path)
    assert table.schema["month"].states == ("07", "08")
    assert table.values("month").tolist() == ["07", "07", "08", "08"]
    assert cr.read(tmp_path, {"month": "drop"}).schema.names == ("a", "b")


def test_a_column_of_the_files_stays_theirs(tmp_path):
    for year in (2020, 2021):
        (tmp_path / f"year={year}").mkdir()
        pd.DataFrame({"year": [1, 2], "x": ["u", "v"]}).to_parquet(tmp_path / f"year={year}" / "p.parquet")  # fmt: skip
    assert cr.read(tmp_path).schema["year"].states == (1, 2)


def test_a_folder_without_partitions_is_its_files(tmp_path):
    (tmp_path / "deeper").mkdir()
    (tmp_path / "b.jsonl").write_text('{"x": 1}\n{"x": 0}\n')
    (tmp_path / "deeper" / "a.jsonl").write_text('{"x": 1}\n{"x": 1}\n')
    assert cr.read(tmp_path).values("x").tolist() == [1, 0, 1, 1]


def test_files_in_other_folders_are_refused(parts):
    pq.write_table(pa.table({"y": ["a"], "n": [0.5]}), parts / "year=2020" / "more.parquet")
    with pytest.raises(TableError, match="'place' is in only one of them"):
        cr.read(parts)


def test_which_files_are_the_table_must_be_clear(parts, monkeypatch):
    (parts / "year=2020" / "t.csv").write_text("a\n1\n")
    with pytest.raises(TableError, match=r"of several kinds \(.* .parquet, 1 .csv\)") as caught:
        cr.read(parts)
    assert f"{parts}/**/*.parquet" in caught.value.hint
    monkeypatch.setattr(folders, "MANY", 2)
    with pytest.raises(LimitError, match="a folder of more than 2 files"):
        cr.read(parts)


def test_naive_bayes_learns_from_a_folder(parts):
    from credo.estimators import NaiveBayes

    net = NaiveBayes().fit(str(parts), "y")
    rows = {"year": [2020, 2021], "place": ["south", None], "n": [1.5, 2.5]}
    assert np.isclose(net.predict_proba(rows).sum(axis=1), 1).all()
