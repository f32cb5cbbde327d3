"""Types of cells that few tables have: extensions, runs of dictionaries, instants, huge numbers."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import credo as cr

Z = ["u", "v"] * 3


def read(column, kind=None):
    return cr.read(pa.table({"a": column, "z": Z}), {"a": kind} if kind else None)


# --- extensions and runs ----------------------------------------------------------------------


class Marked(pa.ExtensionType):
    """A type that Python defines; it cannot be hashed."""

    def __init__(self, storage=None):
        super().__init__(storage or pa.int64(), "credo.tests.marked")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, _):
        return cls(storage)


@pytest.fixture
def registered():
    pa.register_extension_type(Marked())
    yield
    pa.unregister_extension_type("credo.tests.marked")


def marked(values):
    return pa.ExtensionArray.from_storage(Marked(values.type), values)


@pytest.mark.parametrize(
    ("values", "states"),
    [
        (pa.array([1, 2, 3] * 2), (1, 2, 3)),
        (pa.array(["b", "a", None] * 2), ("a", "b")),
        (pa.array(["b", "a", None] * 2).dictionary_encode(), ("a", "b")),
    ],
)
def test_an_extension_that_python_defines_is_read_as_its_storage(values, states):
    table = pa.table({"a": marked(values), "z": Z})
    frame = pd.DataFrame({"a": pd.arrays.ArrowExtensionArray(table["a"]), "z": Z})
    for given in (table, table.to_reader(), frame, {"a": marked(values), "z": Z}):
        assert cr.read(given).schema["a"].states == states


def test_an_extension_of_decimals_is_continuous():
    cells = marked(pa.array([0.5, 1.5, None] * 2))
    assert read(cells).schema["a"].kind == "continuous"
    assert read(cells, "discrete").schema["a"].states == (0.5, 1.5)


def test_an_extension_of_texts_can_be_numbers_that_are_asked_for():
    assert read(marked(pa.array(["1", "2"] * 3)), "continuous").values("a").tolist() == [1, 2] * 3


def test_an_extension_in_a_parquet_file(registered, tmp_path):
    pq.write_table(pa.table({"a": marked(pa.array([1, 2, 3] * 2)), "z": Z}), tmp_path / "e.parquet")
    assert cr.read(tmp_path / "e.parquet").schema["a"].states == (1, 2, 3)


def test_runs_of_a_dictionary_and_of_an_extension():
    def runs(values):
        return pa.RunEndEncodedArray.from_arrays(pa.array([2, 6], pa.int32()), values)

    texts = runs(pa.array(["q", "p"]).dictionary_encode())
    assert read(texts).values("a").tolist() == list("qqpppp")
    assert cr.read(pa.table({"a": texts})[1:4]).values("a").tolist() == list("qpp")
    numbers = runs(pa.array([0.5, 1.5]).dictionary_encode())
    assert read(numbers).values("a").tolist() == [0.5] * 2 + [1.5] * 4
    assert read(runs(marked(pa.array([0.5, 1.5])))).values("a").tolist() == [0.5] * 2 + [1.5] * 4
