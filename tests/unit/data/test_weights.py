"""Weights are numbers, in whatever form they come; what could be taken for one is refused."""

import datetime as dt
import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import credo as cr
from credo.errors import InputError, TableError
from credo.estimators import NaiveBayes

NO_NUMBERS = {
    "dates": [dt.date(2020, 1, 1), dt.date(2020, 1, 2)],
    "datetimes": [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2)],
    "times": [dt.time(6), dt.time(12)],
    "durations": [dt.timedelta(1), dt.timedelta(2)],
    "pandas durations": pd.to_timedelta([1, 2]),
    "NumPy dates": np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"),
    "bytes": [b"1", b"2"],
    "an array of bytes": np.array([b"1", b"2"]),
    "texts": ["1", "2"],
    "an array of texts": np.array(["1", "2"]),
    "a text among numbers": [1, "2"],
    "categories": pd.Categorical(["1", "2"]),
    "complex numbers": [1 + 0j, 2 + 0j],
    "an array of complex numbers": np.array([1 + 0j, 2 + 0j]),
    "lists": [[1, 2], [3]],
    "polars dates": pl.Series([dt.date(2020, 1, 1), dt.date(2020, 1, 2)]),
    "Arrow texts": pa.array(["1", "2"]),
}


@pytest.mark.parametrize("memory", [None, 1])
@pytest.mark.parametrize("cells", NO_NUMBERS.values(), ids=NO_NUMBERS.keys())
def test_what_is_no_number_is_no_weight_in_any_form(cells, memory):
    with pytest.raises(InputError, match="weights must be numbers"):
        cr.read({"a": ["x", "y"]}, weights=cells, memory=memory)
    with pytest.raises(TableError, match=r"Row [12] of the weights column 'w' is .*, of type "):
        cr.read({"a": ["x", "y"], "w": cells}, weights="w", memory=memory)


def test_the_sentence_names_the_cell_its_type_and_its_row(put):
    said = "is '2', of type str; weights must be numbers. Turn them into numbers first"
    frame = pd.DataFrame({"a": ["x", "y"], "w": pd.Series([None, "2"], dtype="string")})
    path = put("\n".join(json.dumps({"a": "x", "w": w}) for w in (1, "2")), "t.jsonl")
    for table in (frame, pl.from_pandas(frame), path, {"a": ["x", "y"], "w": [1, "2"]}):
        with pytest.raises(TableError, match=f"Row 2 of the weights column 'w' {said}"):
            cr.read(table, weights="w")
    with pytest.raises(TableError, match=f"Row 2 of the weights {said}"):
        cr.read({"a": ["x", "y"]}, weights=[1, "2"])
    for bad in ("1", np.array(["1", "2"]), pd.to_timedelta([1, 2])):
        with pytest.raises(InputError, match="sample_weight must be numbers, got "):
            NaiveBayes().fit(np.array([[0.5], [1.5]]), ["u", "v"], sample_weight=bad)


@pytest.mark.parametrize(
    "cells",
    [
        [2, 0.5],
        [Decimal("2"), Decimal("0.5")],
        [Fraction(2), Fraction(1, 2)],
        [2, Decimal("0.5")],
        np.array([2, 0.5], dtype=np.float32),
        np.array([2, 0.5], dtype=object),
        np.ma.array([2, 0.5], mask=[0, 0]),
        pd.Series([2, 0.5], dtype="Float64"),
        pd.Categorical([2.0, 0.5]),
        pl.Series([2.0, 0.5]),
        pa.chunked_array([[2.0], [0.5]]),
    ],
)
def test_numbers_of_every_type_are_weights(cells):
    table = {"a": ["x", "y"]}
    assert cr.read(table, weights=cells).weights.tolist() == [2, 0.5]
    assert cr.read(table | {"w": cells}, weights="w").weights.tolist() == [2, 0.5]


def test_the_texts_of_a_text_file_and_booleans_are_weights(put):
    path = put("a,w\nx,2\ny,0.5\nx,1\n")
    assert cr.read(path, weights="w").weights.tolist() == [2, 0.5, 1]
    truths = [True, False, True]
    for cells in (truths, np.array(truths), pa.array(truths)):
        table = {"a": ["x", "y", "z"], "w": cells}
        assert cr.read(table, weights="w").weights.tolist() == [1, 1]
        assert cr.read({"a": ["x", "y", "z"]}, weights=cells).weights.tolist() == [1, 1]


def test_weights_beyond_all_numbers_and_none_at_all_are_told():
    with pytest.raises(TableError, match="Row 2 of the weights is inf"):
        cr.read({"a": ["x", "y"]}, weights=[1, 10**400])
    for column in ([None, None], pa.array([None, None], pa.string())):
        with pytest.raises(TableError, match="Row 1 of the weights column 'w' is missing"):
            cr.read({"a": ["x", "y"], "w": column}, weights="w")
