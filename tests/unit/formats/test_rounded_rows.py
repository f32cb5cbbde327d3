"""Rows that were rounded when they were printed, counts, percentages, and `normalise`."""

import pytest
from tests.unit.formats.test_bad_files import TEXT, changed

from credo.errors import CredoWarning, InputError
from credo.formats import dumps, loads


def uai(*entries: str) -> str:
    return f"BAYES 1 {len(entries)} 1 1 0 {len(entries)} {' '.join(entries)}"


@pytest.mark.parametrize(
    ("entries", "off"),
    [
        (("0.3333", "0.3333", "0.3333"), "0.0001"),
        (("0.333", "0.333", "0.333"), "0.001"),
        (("0.3333333", "0.3333333", "0.3333333"), "1e-07"),
        (("3.33e-1", "6.665E-01"), "0.0005"),
        (("0.5", "0.4995"), "0.0005"),
        (("1", "0.00083"), "0.00083"),
    ],
)
def test_a_row_may_miss_1_by_what_its_digits_explain(entries, off):
    net = loads(uai(*entries), "uai")
    assert net.cpt("v0").values.sum() == pytest.approx(1, abs=1e-15)
    note = f"1 row was divided by the sum, which missed 1 by at most {off}"
    assert net.record.notes == (note,)


@pytest.mark.parametrize(
    ("entries", "total"),
    [
        (("0.33333", "0.33333", "0.33332"), "0.99998"),  # 1.5e-5 is explained, not 2e-5
        (("0.33", "0.33", "0.33"), "0.99"),  # never more than 1e-3
        (("0.50000000", "0.50000200"), "1.000002"),  # never less than 1e-6
        (("0", "0"), "0"),
    ],
)
def test_a_row_further_off_is_refused(entries, total):
    says = f"line 1: The probabilities of 'v0' add up to {total}, not to 1"
    with pytest.raises(InputError, match=says) as refused:
        loads(uai(*entries), "uai")
    assert refused.value.hint == (
        "" if total == "0" else "Give normalise=True to divide each row by its sum."
    )


def test_an_entry_may_be_below_0_by_as_much():
    net = loads(uai("-1.2e-7", "0.4", "0.6000001"), "uai")
    assert net.cpt("v0").values[0] == 0
    assert net.cpt("v0").values.sum() == pytest.approx(1, abs=1e-15)
    with pytest.raises(InputError, match=r"P\(v0=0\) is negative: -0.002"):
        loads(uai("-0.002", "0.4", "0.602"), "uai", normalise=True)


def test_the_exponent_of_a_nought_may_be_of_any_size():
    for nought in ("0e9", "0e999999999", "0e-999999999", f"0e{'9' * 5000}"):
        assert loads(uai(nought, "1"), "uai").cpt("v0").values.tolist() == [0, 1]


@pytest.mark.parametrize("format", TEXT)
def test_every_reader_allows_for_printing(small, format):
    net = loads(changed(dumps(small, format), "0.875", "0.8755"), format)
    assert net.record.notes == ("1 row was divided by the sum, which missed 1 by at most 0.0005",)
    with pytest.raises(InputError, match=r"line \d+: .* add up to 1.00001, not to 1"):
        loads(changed(dumps(small, format).replace("0.125", "0.12500000"), "0.875", "0.87501000"),
              format)  # fmt: skip


@pytest.mark.parametrize("format", TEXT)
def test_normalise_takes_a_row_that_is_refused_and_says_so(small, format):
    text = changed(dumps(small, format), "0.875", "0.825")
    with pytest.warns(CredoWarning, match="the text: 1 row was divided by the sum, which missed 1"):
        net = loads(text, format, normalise=True)
    assert net.cpt("B").values[0].tolist() == pytest.approx([0.125 / 0.95, 0.825 / 0.95])
    with pytest.raises(InputError, match="is not finite"):
        loads(changed(dumps(small, format), "0.875", "inf"), format, normalise=True)


@pytest.mark.parametrize("format", TEXT)
@pytest.mark.parametrize(
    ("row", "kind", "first"), [(("12.5", "87.5"), "percentages", 0.125), (("1", "3"), "", 0)]
)
def test_a_table_of_percentages_or_counts(small, format, row, kind, first):
    text = dumps(small, format).replace("0.125", row[0]).replace("0.875", row[1])
    with pytest.raises(InputError, match=r"line \d+: The probabilities of 'B' add up to "):
        loads(text, format)
    text = text.replace("0.5", "50") if kind else text.replace("0.5", "2")
    net = loads(text, format)
    assert net.cpt("B").values.tolist() == [[first or 0.25, 1 - (first or 0.25)], [0.5, 0.5]]
    note = f"each row was divided by its sum in tables of {kind or 'counts'}: 'B'"
    assert net.record.notes == (note,)


def test_a_slip_in_a_table_of_noughts_and_ones_is_not_counts():
    text = "BAYES 2 2 2 2 1 0 2 0 1  2 0.5 0.5  4 1 0 {} 1"
    assert loads(text.format(0), "uai").record.notes == ()
    with pytest.raises(InputError, match="'v1' add up to 2, not to 1"):
        loads(text.format(1), "uai")


def test_the_order_that_adds_up_best_is_taken():
    """The format counts the child slowest; these rows add up exactly with the child fastest."""
    text = """network x { } variable A { type discrete [2] { a, b }; }
    variable B { type discrete [2] { c, d }; }
    probability ( A ) { table 0.5, 0.5; }
    probability ( B | A ) { table 0.4995, 0.5005, 0.5, 0.5; }"""
    net = loads(text, "bif")
    assert net.cpt("B").values.tolist() == [[0.4995, 0.5005], [0.5, 0.5]]
    assert "lists the child fastest, against the format's rule" in net.record.notes[0]
