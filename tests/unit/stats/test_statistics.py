"""Counts, moments, rows, families and tallies: what they answer and what they refuse."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import credo as cr
from credo.errors import CredoError, InputError, LimitError, SchemaError, UnknownNameError
from credo.stats import Family
from credo.stats.family_counts import FamilyCounts

A = cr.Variable("A", "discrete", ("x", "y"))
B = cr.Variable("B", "discrete", (0, 1, 2))
C = cr.Variable("C", "continuous")


# --- counts -------------------------------------------------------------------------------


def test_counts_answer_by_label():
    c = cr.Counts((A, B), np.arange(6).reshape(2, 3))
    assert c["y", 2] == 5 and c[{"A": "y", "B": 0}] == 3
    assert np.asarray(c[{"A": "y"}]).tolist() == [3, 4, 5]
    assert c.total == 15 and c.cells == 6 and len(c) == 2
    assert dict(c.items())["x", 1] == 1 and ("x", 0) not in dict(c.items())
    assert c.values.flags.writeable is False
    with pytest.raises(UnknownNameError, match="State 'z' is not one of 'A'"):
        c["z", 0]
    with pytest.raises(InputError, match="Expected 2 labels, one for each of A, B, got 1"):
        c["x"]
    with pytest.raises(UnknownNameError, match="Axis 'Q' is not in these counts"):
        c.marginal("Q")
    with pytest.raises(InputError, match="named twice"):
        c.marginal(["A", "A"])


def test_counts_as_arrays():
    c = cr.Counts((A, B), np.arange(6).reshape(2, 3))
    assert np.asarray(c, dtype=float).dtype == float
    copy = np.array(c)
    copy[0, 0] = 9
    assert c["x", 0] == 0
    assert (np.asarray(c) / c.total).sum() == pytest.approx(1)
    assert [row.tolist() for row in c] == [[0, 1, 2], [3, 4, 5]]
    assert list(c.marginal("B")) == [3, 5, 7]  # by place, though its states are numbers too


def test_counts_refuse_nonsense():
    with pytest.raises(InputError, match=r"Counts of A must have the shape \(2,\), got \(3,\)"):
        cr.Counts((A,), np.zeros(3))
    with pytest.raises(InputError, match="not negative"):
        cr.Counts((A,), np.array([1, -1]))
    with pytest.raises(InputError, match="finite"):
        cr.Counts((A,), np.array([1, np.nan]))
    with pytest.raises(InputError, match="one row of codes"):
        cr.Counts((A,), np.array([1]), np.zeros((2, 1), np.uint32))


def test_counts_add_only_when_their_variables_agree():
    c = cr.Counts((A, B), np.ones((2, 3), int))
    turned = cr.Counts((B, A), np.ones((3, 2), int))
    assert (c + turned).names == ("A", "B") and (c + turned).total == 12
    with pytest.raises(SchemaError, match=r"Counts of \(A\) cannot be added to counts of \(A, B\)"):
        c + cr.Counts((A,), np.ones(2, int))
    other = cr.Variable("A", "discrete", ("x", "z"))
    with pytest.raises(SchemaError, match="The states of 'A' differ"):
        cr.Counts((A,), np.ones(2, int)) + cr.Counts((other,), np.ones(2, int))
    assert c.__add__(3) is NotImplemented and c != 3


def test_counts_print_and_show(tmp_path):
    c = cr.Counts((A, B), np.arange(6).reshape(2, 3), None, 2)
    assert str(c).splitlines()[0].split() == ["A", "B=0", "B=1", "B=2"]
    assert "(2 rows skipped: a cell was missing)" in str(c)
    assert repr(c) == "Counts(A, B; n = 15, dense)"
    assert repr(c.sparse()) == "Counts(A, B; n = 15, 5 cells seen)"
    assert "<table>" in c._repr_html_()
    many = cr.Variable("M", "discrete", tuple(range(40)))
    assert "M    n" in str(cr.Counts((many,), np.arange(40)))
    assert str(cr.Counts((), np.array(3))) == "n\n3"


def test_a_family_of_a_billion_cells_costs_what_its_rows_cost():
    rng = np.random.default_rng(0)
    table = cr.read({f"v{i}": rng.integers(0, 10, 2000) for i in range(60)})
    names = table.schema.names
    nine = table.tally([(names[0], names[1:9])])[names[0], names[1:9]]
    assert nine.cells == 10**9 and not nine.is_dense and nine.total == 2000
    sixty = table.tally([(names[0], names[1:])])[names[0], names[1:]]
    assert sixty.cells == 10**60 and sixty.total == 2000
    np.testing.assert_array_equal(
        np.asarray(sixty.marginal(names[:2])),
        np.asarray(table.tally([(names[1], [names[0]])])[names[1], [names[0]]]),
    )
    with pytest.raises(LimitError, match=r"would have 1,000,000,000 cells; at most 100,000,000"):
        np.asarray(nine)
    assert (nine + nine).total == 4000


def test_too_many_dense_tables_are_refused_before_they_are_made():
    rng = np.random.default_rng(0)
    rows = {f"v{i}": rng.integers(0, 19, 4000) for i in range(50)}
    table = cr.read(rows, dict.fromkeys(rows, "discrete"))
    names = table.schema.names
    families = [
        (a, [b, c]) for i, a in enumerate(names) for j, b in enumerate(names[:i]) for c in names[:j]
    ]
    with pytest.raises(LimitError, match=r"cells together; at most 100,000,000"):
        table.tally(families)


# --- moments ------------------------------------------------------------------------------


def test_moments_far_from_zero_keep_their_variance():
    rng = np.random.default_rng(0)
    z = rng.normal(size=200_000)
    table = cr.read({"x": 1e9 + z, "g": rng.integers(0, 3, 200_000)})
    expected = np.var((1e9 + z).astype(np.longdouble) - 1e9)
    moments = table.tally(["x"])["x"]
    assert float(moments.variance[0, 0]) == pytest.approx(float(expected), rel=1e-9)
    halves = table.take(slice(0, 70_000)).tally(["x"]) + table.take(slice(70_000, None)).tally(
        ["x"]
    )
    assert float(halves["x"].variance[0, 0]) == pytest.approx(float(expected), rel=1e-9)
    by_group = table.tally([("x", ["g"])])["x", ["g"]].marginal("x")
    assert float(by_group.variance[0, 0]) == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize(("scale", "text"), [(1e200, "too large"), (1e-200, "too close together")])
def test_values_whose_squares_cannot_be_held_are_refused(scale, text):
    x = np.linspace(1, 2, 50) * scale
    with pytest.raises(InputError, match=f"The values of 'x' are {text}"):
        cr.read({"x": x}).tally(["x"])["x"]
    with pytest.raises(InputError, match=text):
        cr.Moments.of({"x": x})


def test_moments_by_slice_and_their_refusals():
    table = cr.read(
        {"x": [1.0, 2.0, 4.0, 8.0], "y": [0.5, 0.25, 0.5, 1.0], "g": ["a", "b", "a", None]}
    )
    m = table.tally([("x", ["g", "y"])])["x", ["g", "y"]]
    assert m.skipped == 1 and m.total == 3
    assert m[{"g": "a"}].mean.tolist() == [[0.5, 2.5]]
    assert m.names == ("g", "y", "x")
    assert m.marginal(["x", "g"]).scatter[0].tolist() == [[4.5]]
    with pytest.raises(UnknownNameError, match="Discrete variable 'h' is not in these moments"):
        m[{"h": 1}]
    with pytest.raises(UnknownNameError, match="Variable 'z' is not in these moments"):
        m.marginal("z")
    with pytest.raises(SchemaError, match="cannot be added"):
        m + m.marginal("x")
    assert (
        "mean x" in str(m) and "<table>" in m._repr_html_() and repr(m) == "Moments(g, y, x; n = 3)"
    )
    assert m.covariance.shape == (2, 2, 2) and m != 3
    with pytest.raises(InputError, match="same length"):
        cr.Moments.of({"x": [1.0], "y": [1.0, 2.0]})
    with pytest.raises(InputError, match="finite"):
        cr.Moments.of({"x": [1.0, np.inf]})


# --- rows ---------------------------------------------------------------------------------


def test_weighted_e_mails_are_the_duplicated_ones():
    weighted = cr.examples.spam_emails_weighted()
    copies = cr.examples.spam_emails_duplicates()
    families = [("Free", ["Spam"]), ("CS", ["Spam", "Offer"])]
    assert weighted.tally(families) == copies.tally(families)
    assert weighted.unique() == copies.unique()
    assert dict(copies.unique().items()) == {(0, 0, 1, 1, 0): 2, (1, 1, 0, 0, 1): 1}


def test_rows_refuse_what_does_not_fit():
    rows = cr.examples.spam_emails().unique()
    with pytest.raises(UnknownNameError, match="Variable 'Fre' is not in these rows"):
        rows.marginal("Fre")
    with pytest.raises(SchemaError, match="cannot be added"):
        rows + rows.marginal("Free")
    with pytest.raises(InputError, match="at least one discrete variable"):
        cr.read({"x": [0.5, 1.5]}).unique()
    assert "weight" in str(rows) and "<table>" in rows._repr_html_() and len(rows) == 3
    assert rows.marginal(["CS", "Free"]) + rows.marginal(["Free", "CS"]) == rows.marginal(
        ["CS", "Free"]
    ) + rows.marginal(["CS", "Free"])


# --- families and tallies -----------------------------------------------------------------


def test_families_in_every_form():
    assert Family.of("A") == Family("A")
    assert Family.of(("A", "B")) == Family("A", ("B",))
    assert list(cr.Families.of({"A": ["B"], "B": []})) == [Family("A", ("B",)), Family("B")]
    assert len(cr.Families.of([("A", ["B", "C"]), ("A", ["C", "B"])])) == 1
    for bad, text in [
        (3, "must be a list"),
        ([3], "must be a name or a pair"),
        ([("A", 3)], "parents of 'A' must be a list of names"),
        ([("A", ["A"])], "stands twice"),
        ([("A", [3])], "made of variable names"),
        ([("A", "B", "C")], "must be a name or a pair"),
    ]:
        with pytest.raises(InputError, match=text):
            cr.Families.of(bad)


def test_a_list_of_families_is_read_when_it_is_given():
    listed = [("A", ["B", "C"]), "B", ("C", "A")]
    first = cr.Families.of(listed)
    assert cr.Families.of([("A", ("B", "C")), "B", ("C", "A")]) == first
    listed.append("A")  # a list that was changed is another list
    assert len(first) == 3 and len(cr.Families.of(listed)) == 4
    assert first.spelled == {("A", "B", "C"): 0, ("B",): 1, ("C", "A"): 2}
    assert first.index(("A", ["C", "B"])) == 0  # whatever the order of the parents
    trusted = cr.Families.trusted(first.spelled)
    assert trusted == first and hash(trusted) == hash(first) and list(trusted) == list(first)
    assert trusted.index(("A", ["C", "B"])) == 0 and repr(trusted) == repr(first)


def test_a_tally_keeps_the_families_of_a_list_that_changes_later():
    table = cr.examples.pneumonia()
    listed = [("Fev", ["Pneu", "Cou"]), "Cou"]
    s = cr.tally(table, listed)
    listed[0][1].clear()
    listed.append(("Pneu", ["Fev"]))
    assert list(s) == [Family("Fev", ("Pneu", "Cou")), Family("Cou")]
    assert s["Fev", ["Pneu", "Cou"]].names == ("Pneu", "Cou", "Fev")
    assert len(cr.tally(table, listed)) == 3


@pytest.mark.parametrize(
    "families",
    [
        [("Fev", ["Pneu"]), ("Cou", "Fev"), "Cou"],
        (("Fev", ("Pneu",)), ["Cou", ["Fev"]], "Cou"),
        [Family("Fev", ("Pneu",)), ("Cou", {"Fev"}), ("Cou", [])],
        {"Fev": ["Pneu"]}.items(),
        iter([("Fev", ["Pneu"])]),
    ],
)
def test_a_tally_takes_families_however_they_are_written(families):
    s = cr.tally(cr.examples.pneumonia(), families)
    assert np.asarray(s["Fev", ["Pneu"]]).tolist() == [[4, 3], [2, 3]]
    assert s["Fev", "Pneu"] is s["Fev", ["Pneu"]] is s["Fev", ("Pneu",)]
    if len(s) == 3:
        assert s["Cou"] is s["Cou", []] and s["Cou", {"Fev"}].names == ("Fev", "Cou")


@pytest.mark.parametrize(
    ("families", "says"),
    [
        ([("Fev", ["Pneu"]), ("Fev", ["Peu"])], "Variable 'Peu' is not in the table. Did you mean"),
        ([("Fev", ["Pneu", "Pneu"])], "stands twice in the family 'Fev'"),
        (["Fev", ("Fev", ["Fev"])], "stands twice in the family 'Fev'"),
        ([("Fev", [1])], "made of variable names, got 1"),
        ([("Fev", 1)], "parents of 'Fev' must be a list of names, got 1"),
        ([("Fev", "Pneu", "Cou")], "must be a name or a pair"),
        (7, "must be a list of"),
        ([("Fev", 10**400)], "got 10{78}…"),
        ([np.zeros((3, 3))], r"got array\(\[\[0., 0., 0.\], \[0., 0., 0.\], \[0., 0., 0.\]\]\)."),
    ],
)
def test_a_tally_says_on_one_line_which_family_is_wrong(families, says):
    with pytest.raises(CredoError, match=says) as caught:
        cr.tally(cr.examples.pneumonia(), families)
    assert "\n" not in str(caught.value)


def test_get_and_in_answer_as_for_any_mapping():
    s = cr.tally(cr.examples.pneumonia(), [("Fev", ["Pneu"])])
    assert s.get(("Fev", ["Cou"])) is None and s.get("Cou", 0) == 0
    assert s.get(("Fev", "Pneu")) is s["Fev", ["Pneu"]] and "Cou" not in s
    with pytest.raises(KeyError) as caught:  # and the sentence is whole, not the repr of a key
        s["Fev", ["Cou"]]
    assert str(caught.value).startswith("The family 'Fev | Cou' is not in this tally.")
    seen = cr.number_game().observe([16]).generalise()
    assert seen.get(1000) is None and 1000 not in seen


def test_as_many_threads_as_one_likes():
    table = cr.examples.pneumonia()
    assert cr.tally(table, ["Fev"], threads=10**400) == cr.tally(table, ["Fev"], threads=1)


def test_a_tally_is_a_mapping_of_families():
    s = cr.tally(cr.examples.pneumonia(), [("Fev", ["Pneu"]), "Cou"])
    assert len(s) == 2 and ("Fev", ["Pneu"]) in s and "Fev" not in s and 3 not in s
    assert list(s) == [Family("Fev", ("Pneu",)), Family("Cou")]
    assert "Fev | Pneu" in str(s) and "Fev | Pneu" in s._repr_html_()
    with pytest.raises(UnknownNameError, match=r"The family 'Fev \| Cou' is not in this tally"):
        s["Fev", ["Cou"]]
    with pytest.raises(InputError, match="same families"):
        s + cr.tally(cr.examples.pneumonia(), ["Cou"])
    assert s != 3 and s.__add__(3) is NotImplemented


def test_unknown_variables_in_a_family():
    with pytest.raises(
        UnknownNameError, match=r"Variable 'Fever' is not in the table. Did you mean 'Fev'\?"
    ):
        cr.tally(cr.examples.pneumonia(), [("Fever", ["Pneu"])])
    with pytest.raises(SchemaError, match="'Day' was set aside"):
        cr.tally(cr.examples.play_tennis(), ["Day"])


def test_tally_takes_any_table_and_any_source():
    frame = {"a": ["x", "y", "x"], "b": [0, 1, 1]}
    expected = cr.read(frame).tally()
    assert cr.tally(frame) == expected

    class Halves:
        """A source of one's own: it has a schema and can tally."""

        schema = cr.read(frame).schema

        def tally(self, families):
            table = cr.read(frame)
            return table.take([0]).tally(families) + table.take([1, 2]).tally(families)

    assert cr.tally(Halves(), ["a", "b"]) == expected


def test_no_rows_left_to_tally():
    table = cr.read({"a": ["x", "y"]}).take(slice(0, 0))
    assert table.tally(["a"])["a"].total == 0


def test_the_arrays_of_a_tally_are_its_tables():
    table = cr.examples.play_tennis()
    names = table.schema.discrete
    families = [(a, [b]) for a in names for b in names if a != b]
    families += [*names, (names[0], list(names[1:4])), (names[0], [names[3], names[1]])]
    found = cr.tally(table, families)
    arrays = found.arrays()
    assert len(arrays) == len(found)
    for family, array in zip(found, arrays, strict=True):
        expected = np.zeros([table.schema[n].arity for n in family.names], dtype=np.int64)
        rows = zip(*(table.block.arrays[table.schema.index(n)] for n in family.names), strict=True)
        for row in rows:
            expected[tuple(row)] += 1
        np.testing.assert_array_equal(array, expected)
        np.testing.assert_array_equal(found[family].values, expected)
        assert not array.flags.writeable
        assert not found[family].values.flags.writeable
    merged = found + found
    for array, twice in zip(arrays, merged.arrays(), strict=True):
        np.testing.assert_array_equal(2 * array, twice)


@pytest.mark.parametrize("axes", [62, 63, 64, 65])
@pytest.mark.parametrize("weights", [None, [1, 2], [0.1, 0.2]])
def test_tables_of_about_as_many_axes_as_arrays_have(axes, weights):
    first, *rest = names = [f"v{i}" for i in range(axes)]
    data, schema = {n: ["x", "x"] for n in names}, {n: ["x"] for n in names}
    found = cr.tally(cr.read(data, schema, weights=weights), [(first, rest)])
    counts, total = found[first, rest], sum(weights or [1, 1])
    for c, times in ((counts, 1), (counts + counts, 2), (counts.sparse(), 1)):
        assert list(c.items()) == [(("x",) * axes, pytest.approx(times * total))]
        assert c.marginal(names[:2]).total == pytest.approx(times * total)
    assert pickle.loads(pickle.dumps(found)) == found
    if axes == 62:
        assert found.arrays()[0].shape == (1,) * 62 and found.arrays()[0].item() == counts.total
        assert counts.sparse().dense() == counts
    else:
        for ask in (found.arrays, counts.dense):
            with pytest.raises(LimitError, match=f"{axes} axes is asked for; at most 62"):
                ask()


@pytest.mark.parametrize("weights", [None, [1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4]])
def test_the_tables_of_a_tally_cannot_be_made_writeable(weights):
    table = cr.read({"a": ["u", "v", "v", None], "b": [0, 1, 0, 1]}, weights=weights)
    found = cr.tally(table, [("a", ["b"]), "b"])
    for array in (*found.arrays(), found["a", ["b"]].values, found["b"].values):
        for view in (array, array.T, array.view()):
            with pytest.raises(ValueError, match="WRITEABLE"):
                view.flags.writeable = True


def test_arrays_of_what_has_no_table():
    found = cr.tally({"a": ["u", "v"], "y": [1.0, 2.5]}, ["a", ("y", ["a"])])
    with pytest.raises(InputError, match=r"family y \| a has a continuous variable"):
        found.arrays()


def test_sparse_families_are_arrays_too():
    rng = np.random.default_rng(0)
    columns = {f"v{i}": rng.integers(0, 60, 500).tolist() for i in range(3)}
    table = cr.read(columns, schema=dict.fromkeys(columns, "discrete"))
    found = cr.tally(table, ["v0", ("v0", ["v1", "v2"])])
    assert not found["v0", ["v1", "v2"]].is_dense
    small, large = found.arrays()
    np.testing.assert_array_equal(small, large.sum(axis=(0, 1)))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (("Fev", ["Pneu", "Cou"]), [Family("Fev", ("Pneu", "Cou"))]),
        (("Fev", ["Pneu"]), [Family("Fev", ("Pneu",))]),
        (("Fev", []), [Family("Fev")]),
        ("Fev", [Family("Fev")]),
        (("Fev", "Pneu"), [Family("Fev"), Family("Pneu")]),
        (("Fev", ("Pneu", ["Cou"])), [Family("Fev"), Family("Pneu", ("Cou",))]),
        (["Fev", ["Pneu", ["Cou"]]], [Family("Fev"), Family("Pneu", ("Cou",))]),
    ],
)
def test_one_family_needs_no_list(given, wanted):
    table = cr.examples.pneumonia()
    assert list(cr.tally(table, given)) == list(cr.Families.of(given)) == wanted
    assert cr.tally(table, given) == cr.tally(table, wanted)


def test_kept_counts_of_tables_in_another_order_are_refused():
    block = cr.examples.play_tennis().block
    families = [("Wind", ["PlayTennis"]), "Outlook", ("Wind", ["Outlook", "PlayTennis"])]
    counts = FamilyCounts.of(block.schema, families, [block])
    assert pickle.loads(pickle.dumps(counts)).tally() == counts.tally()
    restore, (schema, kept, rows, whole) = counts.__reduce__()
    for other in (whole[:5], (*whole[:5], whole[5][::-1])):
        with pytest.raises(SchemaError, match="another version of credo"):
            restore(schema, kept, rows, other)


def test_counts_from_a_tally_are_frozen_and_survive_a_pickle():
    found = cr.tally(cr.examples.play_tennis(), [("PlayTennis", ["Outlook"])])
    counts = found["PlayTennis", ["Outlook"]]
    assert type(counts) is cr.Counts
    with pytest.raises(AttributeError):
        counts.skipped = 3
    assert pickle.loads(pickle.dumps(counts)) == counts
    assert copy.copy(counts) == counts
    assert dataclasses.replace(counts, skipped=2).skipped == 2
