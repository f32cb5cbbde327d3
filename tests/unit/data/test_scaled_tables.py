"""Tables whose numbers have a scale: encoded below, the user's own at every door."""

import numpy as np
import pytest

import credo as cr
from credo.core.scales import Bins, Transform
from credo.data.out.writing import write_rows
from credo.errors import SchemaError, TableError

FARE = [7.25, 71.5, None, 0.0, 8.05]
BINS = Bins([10.0], [0.0, 10.0, 80.0], [0.1, 0.5, 0.3, 0.1], tails=(1.0, 20.0))
LOG = Transform("log1p")


@pytest.fixture
def table():
    rows = {"fare": FARE, "age": [22, 38, 26, 35, 35], "sex": list("mffmm")}
    return cr.read(rows, schema={"fare": "continuous", "age": "continuous"})


def test_codes_and_floats_below_numbers_above(table):
    scaled = table.scaled({"fare": BINS, "age": LOG})
    assert scaled.codes("fare").tolist() == [0, 1, 2, 0, 0]
    np.testing.assert_allclose(scaled.block.arrays[1], np.log1p([22, 38, 26, 35, 35]))
    assert scaled["age"].tolist() == [22, 38, 26, 35, 35]
    assert scaled.to("arrow").equals(table.to("arrow"))
    assert str(scaled) == str(table)
    assert scaled.schema.scales == {"fare": BINS, "age": LOG}
    assert "2 bins" in str(scaled.schema) and "log1p" in str(scaled.schema)


def test_parts_keep_their_numbers(table):
    scaled = table.scaled({"fare": BINS, "age": LOG})
    part = scaled.take([1, 3]).select(["sex", "fare"])
    assert part["fare"].tolist() == [71.5, 0.0] and list(part.raw) == ["fare"]
    again = scaled.scaled({"fare": Transform("log1p", low=0.0), "age": None})
    np.testing.assert_allclose(again.block.arrays[0], np.log1p([7.25, 71.5, np.nan, 0, 8.05]))
    assert again.schema["age"] == table.schema["age"]
    assert again.unscaled.schema == table.schema


def test_reading_by_a_schema_that_has_scales(table, tmp_path):
    scaled = table.scaled({"fare": BINS, "age": LOG})
    for form in ("csv", "parquet", "jsonl"):
        path = tmp_path / f"rows.{form}"
        write_rows(path, scaled.schema, [scaled])
        assert cr.read(path).schema.names == table.schema.names
        again = cr.read(path, schema=scaled.schema)
        assert again.schema == scaled.schema
        for a, b in zip(again.block.arrays, scaled.block.arrays, strict=True):
            np.testing.assert_array_equal(a, b)
        stream = cr.read(path, schema=scaled.schema, memory="10 B")
        assert isinstance(stream, cr.Stream) and stream.schema == scaled.schema
        assert stream.tally(["fare"]) == scaled.tally(["fare"])
        np.testing.assert_array_equal(stream.load()["fare"], scaled["fare"])


def test_the_slopes_of_the_rows(table):
    scaled = table.scaled({"fare": BINS, "age": LOG})
    age, fare = np.array([22, 38, 26, 35, 35.0]), np.array([7.25, 71.5, np.nan, 0, 8.05])
    within = np.nan_to_num(BINS.log_density(fare))
    np.testing.assert_allclose(scaled.log_slopes, LOG.log_slope(age) + within)
    assert table.log_slopes is None


def test_numbers_that_a_transform_cannot_take(table):
    with pytest.raises(TableError, match=r"Row 4: 'fare' is 0, but its log takes numbers above 0"):
        table.scaled({"fare": Transform("log")})
    with pytest.raises(SchemaError, match="'sex' is discrete, and a scale is for numbers"):
        table.scaled({"sex": BINS})
