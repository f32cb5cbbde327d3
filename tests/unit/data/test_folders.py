"""Folders of files are one table, and name columns of it."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import credo as cr
from credo.data.sources import folders
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


@pytest.mark.parametrize("memory", [None, "1B"])
def test_a_column_that_both_folders_and_files_have_is_told(tmp_path, memory):
    for a in (1, 2):
        (tmp_path / f"a={a}").mkdir()
        (tmp_path / f"a={a}" / "p.csv").write_text("a,b\nx,u\ny,v\n")
    told = "the column 'a' is that of the files; what their folders say of it is left out"
    for given in (tmp_path, str(tmp_path / "*" / "p.csv"), str(tmp_path / "a=*" / "p.csv")):
        schema = cr.read(given, memory=memory).schema
        assert schema["a"].states == ("x", "y") and told in schema.notes
    assert told not in cr.read(tmp_path / "a=1" / "p.csv", memory=memory).schema.notes


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path, monkeypatch):
    for a, text in ((1, "b\nu\nv\n"), (2, "c\nu\nv\n")):
        (tmp_path / f"a={a}").mkdir()
        (tmp_path / f"a={a}" / "p.csv").write_text(text)
    said = r"^a=2/p\.csv has other columns than a=1/p\.csv: 'b' is in only one of them"
    for given in (tmp_path, str(tmp_path / "*" / "*.csv"), sorted(tmp_path.glob("*/p.csv"))):
        with pytest.raises(TableError, match=said):
            cr.read(given)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TableError, match=said):
        cr.read("*/p.csv")
    with pytest.raises(TableError, match=r"p\.csv has other columns than .*a=1/p\.csv"):
        cr.read([tmp_path / "a=1" / "p.csv", "a=2/p.csv"])


def test_notes_and_types_of_files_of_one_name_are_told_apart(tmp_path):
    for a, cells in ((1, [1, 2]), (2, ["u", "v"])):
        (tmp_path / "typed" / f"a={a}").mkdir(parents=True)
        pq.write_table(pa.table({"b": cells}), tmp_path / "typed" / f"a={a}" / "p.parquet")
        (tmp_path / "text" / f"a={a}").mkdir(parents=True)
        (tmp_path / "text" / f"a={a}" / "p.csv").write_text("b,c\nu,1\nv\nv,2\n")
    with pytest.raises(TableError, match=r"is str in a=2/p\.parquet and int in a=1/p\.parquet"):
        cr.read(tmp_path / "typed")
    notes = cr.read(tmp_path / "text", ragged="skip").schema.notes
    skipped = "1 line with too many or too few cells skipped"
    assert notes[-2:] == (f"a=1/p.csv: {skipped}", f"a=2/p.csv: {skipped}")
