"""Every real table loads; kinds, gaps and traps are as its README says."""

import re

import numpy as np
import pytest

import credo as cr


def test_every_table_loads_with_the_missing_cells_its_readme_counts(shared_tables):
    readme = (shared_tables / "README.md").read_text()
    rows = re.findall(r"\| `([\w.]+)` \| (\d+) \| (\d+) \| (\d+) \|", readme)
    assert len(rows) >= 45
    for name, n, columns, missing in rows:
        table = cr.read(shared_tables / name)
        assert len(table) == int(n), name
        assert len(table.schema.columns) == int(columns), name
        assert sum(c.missing for c in table.schema.columns) == int(missing), name


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("play_tennis.csv", "Day"),
        ("breast_cancer_wisconsin.csv", "Id"),
        ("titanic.csv", "PassengerId"),
        ("horse_colic.csv", "hospital_number"),
    ],
)
def test_identifiers(shared_tables, table, column):
    assert cr.read(shared_tables / table).schema.column(column).kind == "identifier"


def test_traps(shared_tables):
    def schema(name):
        return cr.read(shared_tables / name).schema

    assert "None" in schema("restaurant.csv")["Pat"].states
    assert schema("spam_words.csv")["Word3"].states == ("car", "offer", "to")
    assert schema("pneumonia.csv")["Fev"].states == ("F", "T")
    assert schema("zoo.csv")["hair"].states == (False, True)
    assert schema("house_votes_84.csv")["Class"].states == ("democrat", "republican")
    assert schema("mushroom.csv.gz").column("veil-type").kind == "constant"
    assert schema("digits.csv").column("pixel_0_0").kind == "constant"
    assert schema("seattle_weather.csv").column("date").kind == "date"
    assert schema("penguins_raw.csv").column("Date Egg").kind == "date"
    assert schema("sms_spam.csv.gz").column("text").kind == "text"
    assert schema("titanic.csv").column("Name").kind == "text"
    assert schema("class_preference.csv")["Rating"].states == (-2, -1, 0, 1, 2)
    assert len(schema("gaussian_test.csv.gz").continuous) == 7
    mixed = schema("clgaussian_test.csv.gz")
    assert mixed.discrete == ("A", "B", "C", "F") and mixed.continuous == ("D", "E", "G", "H")


def test_ugly_reports_each_doubtful_cell(shared_tables):
    table = cr.read(shared_tables / "ugly.csv")
    text = str(table.schema)
    assert len(table) == 7
    for cell in ("1,65", "inf", "1e309"):
        assert f"holds {cell!r}, which is not a number" in text
    assert "column 1 has no name" in text and "repeats the name 'dup'" in text
    assert "look alike but are kept apart as states" in text
    assert {"const", "all missing", "ID"} <= set(table.schema.set_aside)
    assert table.values("new\nline")[0] == "line1\nline2"
    assert "None" in table.schema["NaN"].states


@pytest.mark.parametrize("name", ["adult.csv.gz", "alarm.csv.gz", "titanic.csv", "penguins.csv"])
def test_streaming_a_real_table_is_the_same_to_the_last_count(shared_tables, name):
    table = cr.read(shared_tables / name)
    stream = cr.read(shared_tables / name, memory="1kB")
    assert isinstance(stream, cr.Stream) and stream.schema == table.schema
    names = table.schema.names
    families = [(a, [b]) for i, a in enumerate(names[:8]) for b in names[:i]]
    a, b = table.tally(families), stream.tally(families)
    for family in a:
        assert a[family] == b[family]


def test_against_pandas_crosstab(shared_tables):
    import pandas as pd

    path = shared_tables / "asia.csv"
    frame = pd.read_csv(path)
    names = list(frame.columns)
    tally = cr.tally(path, [(a, [b]) for a in names for b in names if a != b])
    for a in names:
        for b in names:
            if a != b:
                expected = pd.crosstab(frame[b], frame[a]).to_numpy()
                np.testing.assert_array_equal(np.asarray(tally[a, [b]]), expected)


def test_the_same_rows_are_the_same_variables_whatever_they_come_from(shared_tables):
    """Of text that says numbers, booleans or dates, a frame of texts keeps the texts."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    words = {"keep_default_na": False, "na_values": ["", "NA", "NaN", "null", "?"]}
    codes = {f"lesion_type{i}": str for i in (1, 2, 3)}  # 00000 is no number
    large = ("sms_spam", "gene_expression", "letter", "hailfinder", "adult", "sachs_continuous")
    for path in sorted(shared_tables.glob("*.csv*")):
        if path.name.startswith(("ugly", *large)):
            continue
        rows = cr.read(path).schema
        frame = pd.read_csv(path, dtype=codes, **words)
        arrow = pa.Table.from_pandas(frame, preserve_index=False)
        for table in (frame, pl.from_pandas(frame), arrow):
            same = cr.read(table).schema
            assert [(c.name, c.kind, c.missing) for c in same.columns] == [
                (c.name, c.kind, c.missing) for c in rows.columns
            ], path.name
            assert same == rows, path.name
