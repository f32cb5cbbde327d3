"""The rules by which a column becomes a variable, or is set aside."""

import numpy as np
import pytest

import credo as cr


def kind(cells, name="x", **options):
    table = cr.read({name: cells, "other": [i % 2 for i in range(len(cells))]}, **options)
    return table.schema.column(name).kind


def test_three_e_mails_are_not_identifiers():
    table = cr.examples.spam_words()
    assert table.schema.set_aside == {}
    assert table.schema["Word1"].states == ("Do", "Hello", "I")


def test_play_tennis_day_is_an_identifier():
    assert cr.examples.play_tennis().schema.column("Day").kind == "identifier"


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([True, False, True], "discrete"),
        (["a", "b", "a"], "discrete"),
        ([0, 1, 0, 2, 1], "discrete"),
        ([3, 1, 4, 1, 5, 9, 2, 6], "continuous"),
        (list(range(10)), "continuous"),
        (list(range(20)), "continuous"),
        (list(range(21)), "identifier"),
        (list(range(1, 61)), "identifier"),
        (list(range(1990, 2020)), "continuous"),
        ([31, 33, 32, 35, 34], "continuous"),
        ([f"{9 + i // 60}:{i % 60:02d}" for i in range(300)], "date"),
        ([i * i for i in range(60)], "continuous"),
        ([0.5, 1.5, 0.5, 1.5], "continuous"),
        ([1.0, 2.0, 1.0, 2.0], "discrete"),
        ([0, 0.5, 1.0] * 10, "discrete"),
        ([0, 0.5, 1.0] * 9, "continuous"),
        ([0.1, 0.2, 0.3, 0.4, 0.5] * 50, "continuous"),
        ([7] * 5, "constant"),
        ([0.25] * 5, "constant"),
        (["k"] * 5, "constant"),
        ([None] * 5, "empty"),
        ([f"p{i:03d}" for i in range(40)], "identifier"),
        ([f"a rather long sentence number {i}" for i in range(6)], "text"),
        ([f"v{i % 30}" for i in range(40)], "text"),
        ([f"v{i % 15}" for i in range(40)], "discrete"),
        (["a", "b"], "discrete"),
        (list(range(5)) * 4, "discrete"),
        (list(range(5)) * 3, "continuous"),
        (list(range(10)) * 4, "discrete"),
        (list(range(11)) * 40, "continuous"),
        ([100, 200, 300, 400, 500] * 40, "continuous"),
        ([50, 56, 58, 62, 70, 75, 80] * 3, "continuous"),
    ],
)
def test_rules(cells, expected):
    assert kind(cells) == expected


@pytest.mark.parametrize("name", ["dose", "rank", "month", "hours", "x1"])
def test_consecutive_numbers_of_a_small_table_are_quantities(name):
    for cells in ([0, 1, 2, 3, 4], list(range(1, 13)), [3, 1, 2, 5, 4], list(range(20))):
        assert kind(cells, name) == "continuous"


@pytest.mark.parametrize("odd", ["inf", "1e309", "1,5", "0x10", "x"])
def test_a_small_column_of_decimals_with_one_odd_cell_is_doubtful(odd, tmp_path):
    path = tmp_path / "t.csv"
    cells = [f"{1 + i / 10:.1f}" for i in range(12)] + [odd]
    path.write_text("a;y\n" + "".join(f"{c};{i % 2}\n" for i, c in enumerate(cells)))
    said = f"Column 'a' was set aside: row 13 holds '{odd}', which is not a number"
    with pytest.warns(cr.errors.CredoWarning, match=said):
        table = cr.read(path)
    assert table.schema.column("a").kind == "doubtful"
    table = cr.read(path, missing=[odd])
    assert table.schema["a"].kind == "continuous"


@pytest.mark.parametrize("cells", ["0 1 2 3+", "1 2 3 4 5 6+", "0 1 0 1 1,5 0", "$5 $10 $5 $10"])
def test_states_that_are_nearly_numbers_stay_states(put, cells):
    path = put("a;y\n" + "".join(f"{c};{i % 2}\n" for i, c in enumerate(cells.split())))
    assert cr.read(path).schema["a"].states == tuple(sorted(set(cells.split())))


def test_every_set_aside_column_can_be_used_when_the_user_says_so():
    cells = {
        "id": list(range(8)),
        "const": ["k"] * 8,
        "text": [f"one two three four {i}" for i in range(8)],
        "y": [0, 1] * 4,
    }
    assert set(cr.read(cells).schema.set_aside) == {"id", "const", "text"}
    table = cr.read(cells, {"id": "continuous", "const": "discrete", "text": "discrete"})
    assert table.schema.set_aside == {}
    assert table.schema["const"].states == ("k",) and table.schema["text"].arity == 8
    assert cr.read(cells, {"id": "discrete"}).schema["id"].arity == 8


def test_dropping_and_states_in_order():
    table = cr.read({"a": ["I", "II", "I"], "b": [0, 1, 0]}, {"a": ["III", "II", "I"], "b": None})
    assert table.schema.names == ("a",)
    assert table.schema["a"].states == ("III", "II", "I") and table.schema["a"].ordered
    assert table.codes("a").tolist() == [2, 1, 2]


def test_states_given_for_text_find_any_type(put):
    path = put("a,b,c\n1,TRUE,2.50\n2,false,1.0\n1,TRUE,2.5\n")
    table = cr.read(path, {"a": [2, 1], "b": [True, False], "c": [1.0, 2.5]})
    assert table.values("a").tolist() == [1, 2, 1]
    assert table.values("b").tolist() == [True, False, True]
    assert table.values("c").tolist() == [2.5, 1.0, 2.5]
    table = cr.read(path, {"a": ["1", "2"]})
    assert table.values("a").tolist() == ["1", "2", "1"]


def test_a_schema_reads_another_table_alike():
    train = cr.read({"a": ["x", "y", "z"], "b": [0.5, 1.5, 2.5], "id": [7, 8, 9]}, {"id": "drop"})
    test = cr.read({"id": [1], "b": [3.5], "a": ["z"]}, train.schema)
    assert test.schema == train.schema and test.codes("a").tolist() == [2]
    with pytest.raises(
        cr.errors.TableError, match=r"Row 1 of column 'a' holds 'w', which is not one"
    ):
        cr.read({"b": [3.5], "a": ["w"]}, train.schema)
    with pytest.raises(cr.errors.UnknownNameError, match="Column 'b' is not in the table"):
        cr.read({"a": ["x"]}, train.schema)


def test_a_variable_of_another_column_lends_its_states():
    train = cr.read({"a": ["y", "x", "z"]}, {"a": ["z", "y", "x"]})
    lent = cr.read({"b": ["x", "z"]}, {"b": train.schema["a"]}).schema["b"]
    assert (lent.name, lent.states) == ("b", ("z", "y", "x"))


@pytest.mark.parametrize(
    "ask",
    [
        lambda table, name: table.tally([name]),
        lambda table, name: cr.fit([(name, "a")], table),
        lambda table, name: cr.em([(name, "a")], table),
        lambda table, name: cr.score([(name, "a")], table),
        lambda table, name: cr.independence_test(table, name, "a"),
    ],
)
def test_who_asks_for_a_column_set_aside_is_told_why_and_what_to_do(ask):
    table = cr.read(
        {"a": ["x", "y", "x"], "id": [3, 5, 8], "w": [1, 2, 3]}, {"id": "drop"}, weights="w"
    )
    with pytest.raises(
        cr.errors.SchemaError, match=r"'id' was set aside: dropped .* schema=\{'id': 'disc"
    ):
        ask(table, "id")
    with pytest.raises(
        cr.errors.SchemaError, match=r"'w' was set aside: .* give weights= another column"
    ):
        ask(table, "w")


def test_text_types_of_a_csv_file(put):
    path = put(
        "tf,word,sign,code,dec\nT,TRUE,+2,007,1.5\nF,False,-1,012,2.5\nT,true,+2,007,3.5\nF,FALSE,-1,012,4.5\n",
    )
    schema = cr.read(path).schema
    assert schema["tf"].states == ("F", "T")
    assert schema["word"].states == (False, True)
    assert schema["sign"].states == (-1, 2)
    assert schema["code"].states == ("007", "012")
    assert schema["dec"].kind == "continuous"


def test_blanks_around_numbers_and_tokens_are_ignored_but_not_around_states(put):
    path = put("a, b,c\n1, 2.5, x\n0, NA,x\n1, 3.5,x \n")
    table = cr.read(path)
    assert np.isnan(table.values(" b")[1])
    assert table.schema["c"].states == (" x", "x", "x ")
    assert "look alike but are kept apart" in str(table.schema)


def test_whole_floats_are_judged_as_whole_numbers_with_a_note():
    schema = cr.read({"sex": [0.0, 1.0] * 20}).schema
    assert schema["sex"].states == (0, 1)
    assert "sex: whole numbers stored as decimals are its states; schema={'sex': 'cont" in str(
        schema
    )


def test_a_gap_in_whole_numbers_of_pandas_is_noted_however_small_the_table():
    pd = pytest.importorskip("pandas")
    schema = cr.read(pd.DataFrame({"grade": [1, 2, None, 2, 3], "y": [0, 1, 0, 1, 0]})).schema
    assert schema["grade"].states == (1, 2, 3)
    assert "grade: whole numbers stored as decimals" in str(schema)
    schema = cr.read(pd.DataFrame({"grade": [1.5, 2, None], "y": [0, 1, 0]})).schema
    assert schema["grade"].kind == "continuous" and "stored as decimals" not in str(schema)


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("class", list(range(16)) * 2, "discrete, whole numbers, 16 different, under a name for c"),
        (
            "region_code",
            [11, 230, 48, 97, 12] * 2,
            "discrete, whole numbers, 5 different, under a ",
        ),
        ("year", [2001, 2002, 2003] * 9, "discrete, whole numbers, 3 different"),
        ("Year", list(range(2001, 2007)) * 9, "continuous, whole numbers, 6 different, under a na"),
        ("birthYear", list(range(60, 67)) * 90, "continuous, whole numbers, 7 different, under a"),
        ("AIRFLOW", [50, 56, 58, 62, 70, 75, 80] * 3, "continuous, whole numbers, 7 different, on"),
        ("pain", [1, 2, 3, 4, 5] * 40, "discrete, whole numbers, 5 different, 40 rows for each"),
        (
            "age",
            [118, 484, 664, 1004, 1582] * 40,
            "continuous, whole numbers, 5 different, under a",
        ),
        ("width2", [118, 484, 664, 1004, 1582] * 40, "continuous, whole numbers, 5 different, und"),
        ("ram", [2, 4, 8, 16, 24, 32] * 40, "continuous, whole numbers, 6 different, far apart"),
        ("edema", [0, 0.5, 1] * 40, "discrete, decimals, 3 different, 40 rows for each"),
    ],
)
def test_numbers_are_states_by_their_rows_and_names(name, cells, expected):
    told = cr.read({name: cells}).schema.column(name)
    assert f"{told.kind}, {told.reason}".startswith(expected)


@pytest.mark.parametrize("name", ["", "rownames", "Unnamed: 0"])
@pytest.mark.parametrize(
    "cells",
    [[4, 9, 12, 30], ["Essex", "Kent", "Devon"], [1962.25, 1962.5, 1962.75]],
)
def test_row_names_are_identifiers_whatever_they_are(put, name, cells):
    rows = {name: cells, "y": [i % 2 for i in range(len(cells))]}
    path = put(f"{name},y\n" + "".join(f"{c},{i % 2}\n" for i, c in enumerate(cells)))
    for table in (cr.read(rows), cr.read(path)):
        assert table.schema.columns[0].kind == "identifier"
        assert "different values in" in table.schema.columns[0].reason


def test_identifiers_that_repeat():
    ids = [f"player{i}" for i in range(40)] * 6
    assert kind(ids, "id") == "identifier"  # a row for each of his seasons
    assert kind([i % 59 for i in range(236)], "subject") == "identifier"
    assert kind([i % 40 for i in range(400)], "ID") == "identifier"
    assert kind([i % 6 for i in range(60)], "id") == "discrete"
    assert kind(["Ann", "Bob", "Cid", "Dan"], "first_name") == "identifier"
    assert kind(["Ann", "Bob", "Ann", "Dan"], "first_name") == "discrete"
    genes = [f"g{i}" for i in range(2_000)] * 10
    assert kind(genes, "gene") == "text"
    assert kind([f"g{i}" for i in range(200)] * 10, "gene") == "discrete"


def test_row_order_does_not_change_the_schema():
    rng = np.random.default_rng(0)
    frame = {
        "a": rng.integers(0, 5, 50),
        "b": rng.choice(["x", "y", "zz"], 50),
        "c": rng.permutation(50),
    }
    order = rng.permutation(50)
    shuffled = {k: v[order] for k, v in frame.items()}
    assert cr.read(frame).schema == cr.read(shuffled).schema
    assert cr.read(frame).schema.set_aside == cr.read(shuffled).schema.set_aside


@pytest.mark.slow
def test_a_million_states_are_refused_or_set_aside():
    cells = np.arange(300_000).astype(str)
    assert kind(cells) == "identifier"
    with pytest.raises(cr.errors.LimitError, match=r"has 300,000 states; at most 10,000"):
        cr.read({"x": cells}, {"x": "discrete"})
    many = np.arange(300_000)
    rng = np.random.default_rng(0)
    assert kind(rng.permutation(many)) == "identifier"
    assert kind(rng.integers(0, 10**9, 300_000)) == "continuous"


def test_the_report_in_a_notebook_escapes_everything():
    html = cr.read({"<b>x</b>": ["<img onerror=1>", "y", "y"]}).schema._repr_html_()
    assert "<img" not in html and "<b>" not in html and "&lt;img" in html


def test_quantities_that_are_named_like_numbers_of_rows():
    for name, cells in {
        "body_mass_index": [22, 27, 31, 24, 29, 35],
        "heat_index": [88, 91, 94, 99, 103, 85, 90],
        "atomic_number": [1, 6, 7, 8, 15, 16],
        "glycemic index": [*range(20, 44), 20],
    }.items():
        assert kind(cells, name) == "continuous"
    assert kind(["C", "G", "D", "A", "E"], "key") == "discrete"
    assert kind(list(range(100, 130)), "index") == "identifier"
    assert kind(list(range(100, 130)), "house no") == "identifier"


def test_a_name_that_says_identifier_needs_two_rows():
    assert kind([5, 9, 2, 7], "id") == kind([5, 9], "id") == kind(["u", "v"], "id") == "identifier"
    assert kind([5], "id") == "discrete"
    assert kind([5, 5, 2, 2], "id") == "discrete"


@pytest.mark.parametrize("header", ["", "Unnamed: 0", "Unnamed: 0.1", "...1", "index"])
def test_an_index_written_to_a_file_is_an_identifier_in_a_small_table(put, header):
    path = put(f"{header},a,b\n0,x,1\n1,y,2\n2,x,2\n")
    assert cr.read(path).schema.names == ("a", "b")


@pytest.mark.parametrize("cells", ["inf 1 2", "1.5 1_000", "1 0x10", "7 8 9 $5"])
def test_a_cell_that_only_looks_like_a_number_is_doubtful_however_small_the_table(put, cells):
    path = put("a;y\n" + "".join(f"{c};{'uv'[i % 2]}\n" for i, c in enumerate(cells.split())))
    with pytest.warns(cr.errors.CredoWarning, match="'a' was set aside"):
        assert cr.read(path).schema.column("a").kind == "doubtful"


def test_codes_are_text(tmp_path):
    path = tmp_path / "t.csv"
    for cells in ("1 2 007", "02139 10001 60601 10001"):
        rows = enumerate(cells.split())
        path.write_text("a;y\n" + "".join(f"{c};{'uv'[i % 2]}\n" for i, c in rows))
        assert cr.read(path).schema["a"].states == tuple(sorted(set(cells.split())))


def test_dates_written_in_several_ways_are_noted_beside_cells_that_are_none(put):
    path = put("d,e\n2020-01-02,u\n02/03/2021,v\nsoon,u\n")
    notes = cr.read(path).schema.column("d").notes
    assert [n for n in notes if "'02/03/2021', which is written in another way" in n]
    assert [n for n in notes if "'soon', which is not a date" in n]
    path.write_text("d,e\n2020-01-02,u\n02/03/2021,v\n2020-01-02,u\n")
    assert cr.read(path).schema.column("d").kind == "date"


def test_the_report_says_that_a_text_file_has_booleans_and_a_frame_of_texts_has_none(put):
    path = put("a,b,c\n" + "TRUE,true,1\nFALSE,false,2\nTRUE,true,2\n")
    table = cr.read(path)
    assert table.schema["a"].states == (False, True)
    note = "a, b: FALSE and TRUE are booleans in a text file, not in a frame of texts; "
    assert table.schema.notes == (f"{note}schema={{'a': ['FALSE', 'TRUE']}} keeps texts",)
    assert cr.read(path, {"a": ["FALSE", "TRUE"]}).schema["a"].states == ("FALSE", "TRUE")
    assert cr.read({"a": ["TRUE", "FALSE", "TRUE"]}).schema["a"].states == ("FALSE", "TRUE")
