"""Questions written as other systems write them: answered where they can be, else with the cure."""

import pytest

import credo as cr
from credo.errors import CredoError

CLASS = cr.read({"c": [1, 2, 3, 1, 2, 1] * 4, "g": ["lo", "hi", "mid"] * 8, "x": [0.5, 1.5, 2.5, 3.5, 0.7, 1.1, 2.1, 4.5] * 3},
                schema={"g": ["lo", "mid", "hi"]})  # fmt: skip
NET = cr.fit("[c][g|c][x|g]", CLASS, prior=cr.BDeu(1))


@pytest.mark.parametrize(
    ("bound", "states"),
    [("c < 3", "{1, 2}"), ("c <= 2", "{1, 2}"), ("c > 1", "{2, 3}"), ("c ≥ 2", "{2, 3}"),
     ("c > 0.5", "{1, 2, 3}"), ("c < 3.0", "{1, 2}"), ("1 < c <= 3", "{2, 3}"), ("2 <= c", "{2, 3}")],
)  # fmt: skip
def test_a_bound_on_numbers_is_a_set_of_states(bound, states):
    assert NET.ask(f"P({bound})") == pytest.approx(NET.ask(f"P(c in {states})"))
    given = NET.ask(f"P(g | {bound})")
    assert given.p.tolist() == pytest.approx(NET.ask(f"P(g | c in {states})").p.tolist())


def test_a_bound_on_states_in_order():
    assert NET.ask("P(g >= mid)") == pytest.approx(NET.ask("P(g in {mid, hi})"))
    assert NET.ask("P(g < hi, c > 1)") == pytest.approx(NET.ask("P(g in {lo, mid}, c in {2, 3})"))


@pytest.mark.parametrize(
    ("question", "cure"),
    [
        ("P(x in [1,2])", r"with its bounds: P\(1 < x < 2\)"),
        ("P(x in 1..2)", r"with its bounds: P\(1 < x < 2\)"),
        ("P(2 < c < 3)", "No state of 'c' is < 3 and > 2"),
        ("P(c in [1, 2])", r"as a set: P\(c in \{1, 2\}\)"),
        ("P(c=1 and g=lo)", r"separated by commas: P\(c=1, g=lo\)"),
        ("P(c=1 & g=lo)", r"separated by commas: P\(c=1, g=lo\)"),
        ("P(x | c=1; g=lo)", r"separated by commas: P\(x \| c=1, g=lo\)"),
        ("P(c==1)", r"after one '=': P\(c=1\)"),
        ("P(c < 0)", "No state of 'c' is < 0. Its states are 1, 2, 3"),
        ("P(c < two)", "A bound of 'c' is a number, got 'two'"),
        ("P(g < low)", "one of its states, got 'low'. They are lo, mid, hi, in this order"),
        ("P(c | Cabin=1)", "There are 'c', 'g', 'x'"),
    ],
)
def test_what_is_refused_comes_with_its_cure(question, cure):
    with pytest.raises(CredoError, match=cure):
        NET.ask(question)


def test_the_pointer_comes_last():
    with pytest.raises(CredoError) as refused:
        NET.ask("P(c==1)")
    assert str(refused.value).endswith("\n  P(c==1)\n      ^")


def test_evidence_far_from_every_row_is_named():
    with pytest.warns(cr.errors.CredoWarning, match=r"Far outside of the rows .*: x=3000"):
        NET.ask("P(g | x=3000)")
    NET.ask("P(g | x=5)")


def test_a_long_question_is_read_or_refused_at_once():
    """Each of these took seconds: patterns went back over what they had read (now 10 ms)."""
    long = ["P(c given g=" + "1..2" * 2500, "P(c, s" + "&" * 10_000, "P(x > 2 | " + ";" * 10_000,
            "=" * 5000 + "\\" * 5000, "P(c" + " " * 10_000 + "<" * 500, "P(" + "'" * 9999,
            "P(c in " + "[" * 9000, "E[" * 5000, "P(c | " + "c < " * 2500]  # fmt: skip
    for text in long:
        with pytest.raises(CredoError):
            NET.ask(text)
