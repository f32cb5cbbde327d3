"""Remarks in text files, and quotes that end before their cell does: named with their line."""

import csv

import pytest

import credo as cr
from credo.errors import TableError


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (
            "# made by hand\na,b\n1,x\n2,y\n",
            "The first line of t.csv starts with '#' and was taken for the header of 1 cell, but "
            "line 2 of t.csv has 2 cells. If it is a remark,",
        ),
        (
            "a,b\n1,x\n# half\n2,y\n",
            "Line 3 of t.csv starts with '#' and has 1 cell, but the header has 2. If it is a "
            "remark, delete it, or skip such lines with ragged='skip'.",
        ),
    ],
)
def test_a_remark_is_named(put, content, text):
    with pytest.raises(TableError) as caught:
        cr.read(put(content))
    assert text in str(caught.value)


@pytest.mark.parametrize("memory", [None, 1])
def test_rows_that_are_all_skipped_are_told(put, memory):
    path = put("# made by hand\na,b\n1,x\n2,y\n")
    with pytest.raises(TableError) as caught:
        cr.read(path, ragged="skip", memory=memory)
    assert str(caught.value) == (
        "No line of t.csv has as many cells as its header, 1, so all were skipped; the header "
        "starts with #. Check that the first line is the header."
    )


@pytest.mark.parametrize(
    "cells",
    [
        ['"x"y', "z", "z", "xy"],
        ['"he said ""hi"" to"', "z", '"x,1"y', '"x"y'],
        ['"two\nlines"', '"x"y', "z", "z"],
        ['5" pipe', '"z"', "z", "z"],
        ['"x"y', "z", '5" pipe', '"a ""b"" c"'],
    ],
)
def test_text_after_a_closing_quote_is_kept(put, cells):
    path = put("a,b\n" + "\n".join(f"{i % 2},{cell}" for i, cell in enumerate(cells)) + "\n")
    with path.open(newline="") as file:
        wanted = [row[1] for row in csv.reader(file)][1:]
    assert list(cr.read(path)["b"]) == wanted


def test_a_ragged_line_is_found_behind_such_a_cell(put):
    with pytest.raises(TableError, match=r"Line 3 of t\.csv has 3 cells, but the header has 2"):
        cr.read(put('a,b\n1,"x"y\n2,z,3\n1,z\n'))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a,b\nx,1\ny,"open\nz,2\n', 3),
        ('a,b\n"x"y,1\nx"y,1\nz,2\ny,"open\n', 5),
        ('a,b\n5" pipe,1\ny,"open\nz,2\n', 3),
        ('a,b\nz,1\n"x,1\n"y",2\n', 3),
        ('a,b\n"x"y,1\n\nz,2\ny,"open', 5),
        ('a,"b\n1,"2"\n', 1),
    ],
)
def test_an_open_quote_is_refused_among_such_cells(put, text, line):
    for memory in (None, 1):
        with pytest.raises(TableError, match=rf"Line {line} of t\.csv opens a quote that is not"):
            cr.read(put(text), memory=memory)
