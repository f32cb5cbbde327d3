"""`credo impute` gives back the file it was given: every column in its place, gaps filled."""

import json

import pyarrow.parquet as pq
import pytest
from tests.in_process import call

import credo as cr

ROWS = 'id,Name,Burglary,n,Alarm\n1,"Doe, J",no,1,off\n007,"a ""b""",no,2,off\n3,,,1,on\n4,é,yes,0,on\n'


@pytest.fixture
def place(tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS)
    table = {
        "Burglary": {"no": 0.9, "yes": 0.1},
        "Alarm": {"no": {"off": 0.99, "on": 0.01}, "yes": {"off": 0.01, "on": 0.99}},
    }
    cr.Network("[Burglary][Alarm|Burglary]", table).save(tmp_path / "m.credo")
    return tmp_path


def test_a_text_file_changes_in_its_gaps_alone(place):
    out = call("impute", place / "m.credo", place / "rows.csv", "-o", place / "f.csv")
    assert "Kept as they are, since the model does not have them: id, Name, n." in out
    assert (place / "f.csv").read_text() == ROWS.replace("3,,,1,on", "3,,yes,1,on")
    call("impute", place / "m.credo", place / "rows.csv", "-o", place / "f.tsv")
    assert (place / "f.tsv").read_text().splitlines()[3] == "3\t\tyes\t1\ton"


def test_other_forms_keep_all_columns_too(place):
    names = ["id", "Name", "Burglary", "n", "Alarm"]
    for ending in ("jsonl", "json", "parquet", "arrow"):
        path = place / f"f.{ending}"
        call("impute", place / "m.credo", place / "rows.csv", "-o", path)
        if ending.startswith("json"):
            rows = [json.loads(line) for line in path.read_text().splitlines()]
            assert list(rows[0]) == names
            assert rows[2] == {"id": "3", "Name": None, "Burglary": "yes", "n": "1", "Alarm": "on"}
    again = place / "again.parquet"
    call("impute", place / "m.credo", place / "f.parquet", "-o", again)
    assert pq.read_table(again).to_pylist() == pq.read_table(place / "f.parquet").to_pylist()
    assert pq.read_table(again).column_names == names
    document = json.loads(call("impute", place / "m.credo", place / "rows.csv", "--json"))
    assert list(document["table"][0]) == names and document["filled"] == {"Burglary": 1}


def test_rows_of_weight_zero_stay_out_and_the_others_in_their_place(place):
    path = place / "f.csv"
    call("impute", place / "m.credo", place / "rows.csv", "--weights", "n", "-o", path)
    assert path.read_text() == "\n".join(
        line.replace("3,,,1", "3,,yes,1") for line in ROWS.splitlines()[:4]
    ) + "\n"  # fmt: skip


def test_gaps_are_told_with_rows_that_count_from_one(place):
    out = call("impute", place / "m.credo", place / "rows.csv", "--method", "posterior")
    assert out.splitlines()[0].split() == ["row", "variable", "most", "probable", "p"]
    assert out.splitlines()[1].split()[:2] == ["3", "Burglary"]
    told = call("impute", place / "m.credo", place / "rows.csv", "--method", "posterior", "--json")
    assert [(g["row"], g["variable"]) for g in json.loads(told)["gaps"]] == [(3, "Burglary")]


def test_rows_of_weight_zero_have_their_number(place):
    path = place / "w.csv"
    path.write_text(ROWS.replace(",no,1,off", ",no,0,off"))  # the first row is absent
    asked = ("impute", place / "m.credo", path, "--weights", "n", "--method", "posterior")
    assert call(*asked).splitlines()[1].split()[:2] == ["3", "Burglary"]
    assert [g["row"] for g in json.loads(call(*asked, "--json"))["gaps"]] == [3]
