"""Questions in text: the grammar, errors that point at the character, slips, the account."""

import numpy as np
import pytest

import credo as cr
from credo.errors import CredoError, InputError, UnknownNameError
from credo.model.networks.network import Network
from credo.predict.questions.question import parse

# --- Questions in text: the grammar, errors that point at the character, and the account ---


NET = Network(
    "[smoke][lung|smoke][in-hospital|lung][Asy/Patch][count|lung][flag|lung]",
    {
        "smoke": {"yes": 0.3, "no": 0.7},
        "lung": {"yes": [0.2, 0.3, 0.5], "no": [0.05, 0.15, 0.8]},
        "in-hospital": {"bad": [0.9, 0.1], "so so": [0.5, 0.5], "fine": [0.1, 0.9]},
        "Asy/Patch": {"<5.12": 0.25, "5.12-9 %": 0.25, "a=b|c": 0.25, "it's": 0.25},
        "count": {s: {1: 0.2, 2: 0.3, 3: 0.5} for s in ("bad", "so so", "fine")},
        "flag": {"bad": 0.9, "so so": 0.4, "fine": 0.2},
    },
    states={"lung": ("bad", "so so", "fine"), "in-hospital": ("in", "out")},
)

SAME = [
    ("P(lung)", lambda: NET.p("lung")),
    ("P(lung|smoke=yes)", lambda: NET.p("lung", {"smoke": "yes"})),
    ("  p ( lung  |  smoke = yes )  ", lambda: NET.p("lung", {"smoke": "yes"})),
    ("Pr('lung' | \"smoke\"='yes')", lambda: NET.p("lung", {"smoke": "yes"})),
    ("P(lung | smoke=YES)", lambda: NET.p("lung", {"smoke": "yes"})),
    ("P(smoke | lung=so so)", lambda: NET.p("smoke", {"lung": "so so"})),
    ("P(smoke | lung in {bad, so so})", lambda: NET.p("smoke", {"lung": {"bad", "so so"}})),
    ("P(smoke | lung ∈ {bad,'so so'})", lambda: NET.p("smoke", {"lung": {"bad", "so so"}})),
    ("P(smoke | lung != fine)", lambda: NET.p("smoke", {"lung": {"bad", "so so"}})),
    ("P(smoke|lung!=fine)", lambda: NET.p("smoke", {"lung": {"bad", "so so"}})),
    ("P(lung, smoke)", lambda: NET.p(["lung", "smoke"])),
    ("P(lung=bad)", lambda: NET.p("lung")["bad"]),
    ("P(lung in {bad, bad})", lambda: NET.p("lung")["bad"]),
    ("P(lung != fine)", lambda: 1 - NET.p("lung")["fine"]),
    ("P(lung=bad, smoke=no)", lambda: NET.p(["lung", "smoke"])["bad", "no"]),
    ("P(lung in {bad, bad}, smoke=no)", lambda: NET.p(["lung", "smoke"])["bad", "no"]),
    ("P(lung != bad, smoke=no)", lambda: NET.p(["lung", "smoke"]).p[1:, 1].sum()),
    ("P(in-hospital)", lambda: NET.p("in-hospital")),
    ("P(in-hospital = 'in')", lambda: NET.p("in-hospital")["in"]),
    ("P(lung | in-hospital=out)", lambda: NET.p("lung", {"in-hospital": "out"})),
    ("P(Asy/Patch=<5.12)", lambda: 0.25),
    ("P(Asy/Patch = 5.12-9 %)", lambda: 0.25),
    ("P('Asy/Patch' = 'a=b|c')", lambda: 0.25),
    (r"P(Asy/Patch = 'it\'s')", lambda: 0.25),
    ('P(Asy/Patch = "it\'s")', lambda: 0.25),
    ("P(count=2)", lambda: 0.3),
    ("P(count in {1, 3})", lambda: 0.7),
    ("P(count=2.0)", lambda: 0.3),
    ("P(lung | flag=True)", lambda: NET.p("lung", {"flag": True})),
    ("P(lung | flag=true, count=3)", lambda: NET.p("lung", {"flag": True, "count": 3})),
    ("P(smoke | do(lung=bad))", lambda: NET.p("smoke")),
    ("P(flag | do(lung=bad, count=1), smoke=no)", lambda: NET.do({"lung": "bad"}).p("flag")),
    ("P(flag=true | smoke=no, do(lung=bad))", lambda: 0.9),
    ("argmax P(lung, smoke)", lambda: NET.map(["lung", "smoke"])),
    ("argmax P(smoke | lung=bad)", lambda: NET.map(["smoke"], {"lung": "bad"})),
]


@pytest.mark.parametrize(("text", "exact"), SAME, ids=[t for t, _ in SAME])
def test_the_grammar(text, exact):
    found, wanted = NET.ask(text), exact()
    if isinstance(wanted, float):
        assert found == pytest.approx(wanted, abs=1e-14)
    elif hasattr(wanted, "p"):
        assert found.names == wanted.names
        np.testing.assert_allclose(found.p, wanted.p, atol=1e-14)
    else:
        assert found == wanted and found.log_p == pytest.approx(wanted.log_p)


def test_argmax_of_everything_is_the_most_probable_explanation():
    small = Network(
        "[a][b|a]", {"a": [0.35, 0.3, 0.35], "b": {0: [0.5, 0.5], 1: [0.1, 0.9], 2: [0.5, 0.5]}}
    )
    assert small.ask("argmax P(a, b)") == small.mpe() == {"a": 1, "b": 1}
    # a set is evidence, and what is not asked for is summed out
    assert small.ask("argmax P(b | a in {0, 1, 2})") == small.map(["b"]) == {"b": 1}
    found = small.ask("argmax P(a | a in {0, 2})")
    assert found == {"a": 0} and found.log_p == pytest.approx(np.log(0.35))
    assert small.ask("argmax P(b | do(a=1))") == {"b": 1}


def test_states_that_differ_only_in_type():
    net = Network("[x]", {"x": [0.1, 0.2, 0.3, 0.4]}, states={"x": (1, "1", True, "True")})
    found = [net.ask(q) for q in ("P(x=1)", "P(x='1')", "P(x=True)", "P(x='True')")]
    np.testing.assert_allclose(found, [0.1, 0.2, 0.3, 0.4])
    assert net.ask("P(x != True)") == pytest.approx(0.7)
    assert net.ask("P(x in {1, '1'})") == pytest.approx(0.3)


POINTS = [
    ("", "A question is a text", None),
    ("lung", "'P(' or 'argmax P('", 1),
    ("P", "'('", 2),
    ("P(", "a variable's name", 3),
    ("P()", "a variable's name", 3),
    ("P(lung", "')'", 7),
    ("P(lung) x", "the end of the question", 9),
    ("P(lung | )", "a variable's name", 10),
    ("P(lung | smoke)", "'='", 15),
    ("P(lung | smoke=)", "a state of 'smoke'", 16),
    ("P(lung | smoke=yes", "')'", 19),
    ("P(lung, | smoke=yes)", "a variable's name", 9),
    ("P(lung in bad)", "'{'", 11),
    ("P(lung in {bad)", "'}'", 15),
    ("P(lung in {})", "a state of 'lung'", 12),
    ("P(lung | do(smoke))", "'='", 18),
    ("P('lung)", "can be read", 3),
    ("P(lung ! bad)", "can be read", 7),
]


@pytest.mark.parametrize(("text", "wanted", "place"), POINTS)
def test_errors_point_at_the_character(text, wanted, place):
    with pytest.raises(InputError) as caught:
        NET.ask(text)
    message = str(caught.value)
    assert wanted in message
    if place is not None:
        assert f"at character {place}" in message
        lines = message.splitlines()
        assert lines[1] == f"  {text}" and lines[2].index("^") == place + 1


NAMES = [
    ("P(lnug)", r"'lnug' \(character 3\) is not in the model. Did you mean 'lung'\?"),
    ("P(lung | smoke=yse)", r"'yse' \(character 16\) is not one of 'smoke'. Did you mean 'yes'\?"),
    ("P(lung | smoke=42)", r"'42' \(character 16\) is not one of 'smoke'. There are 'yes', 'no'"),
    ("P(lung | do(smok=yes))", r"'smok' \(character 13\)"),
]


@pytest.mark.parametrize(("text", "wanted"), NAMES)
def test_unknown_names_offer_near_ones(text, wanted):
    with pytest.raises(UnknownNameError, match=wanted):
        NET.ask(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("P(lung, lung)", "asked about twice"),
        ("P(lung=bad, smoke)", "'smoke' has none"),
        ("P(lung | smoke=yes, smoke=no)", "given twice"),
        ("P(lung | smoke=yes, do(smoke=no))", "given twice"),
        ("P(lung | lung=bad)", "asked about and observed"),
        ("P(lung=bad | lung=bad)", "asked about and observed"),
        ("argmax P(lung=bad)", "argmax asks for states"),
    ],
)
def test_questions_that_make_no_sense(text, wanted):
    with pytest.raises(InputError, match=wanted):
        NET.ask(text)


def test_any_text_is_answered_or_refused():
    rng = np.random.default_rng(0)
    bits = [
        "P",
        "(",
        ")",
        "|",
        "=",
        "!=",
        ",",
        "{",
        "}",
        "in",
        "lung",
        "smoke",
        "bad",
        "yes",
        "'",
        '"',
        "do",
        " ",
        "argmax",
        "\\",
        "∈",
        "é",
        "\n",
    ]
    for _ in range(3000):
        text = "".join(rng.choice(bits, rng.integers(1, 14)))
        try:
            parse(NET, text)
        except CredoError as error:
            assert str(error)


def test_the_account():
    net = Network(
        "[a][b|a][c|b][d|c][e|a]",
        {"a": 0.4, **{x: {False: 0.2, True: 0.7} for x in "bcde"}},
    )
    answer = net.ask("P(a=true | b=true, c=true)", explain=True)
    assert float(answer) == pytest.approx(net.p("a", {"b": True})[True])
    work = answer.account
    assert work.pruned["e"] == work.pruned["d"] == "no evidence below it and not asked about"
    assert work.largest >= 1 and work.total >= 1
    assert work.state == "a=True" and set(work.weights) == {"b", "c"}
    without = net.p("a", {"c": True})[True]
    assert work.weights["b"] == pytest.approx(np.log2(float(answer) / without))
    assert work.weights["c"] == pytest.approx(0.0, abs=1e-12)  # cut off by b
    assert next(iter(work.weights)) == "b"
    text = str(answer)
    for part in (
        "P(a=true | b=true, c=true)",
        "left out",
        "summed out in the order",
        "largest table",
        "bits",
    ):
        assert part in text
    assert answer._repr_html_().startswith("<p>P(a=true")
    whole = net.ask("P(d)", explain=True)
    assert set(whole.account.order) >= {"a", "b", "c"} and "e" in whole.account.pruned
    assert whole[True] == whole.value[True] and "<table>" in whole._repr_html_()
    joint = net.ask("P(a, d | b=true)", explain=True)
    assert joint.account.weights == {} and "bits" not in str(joint)
    best = net.ask("argmax P(a, d | b=true)", explain=True)
    assert best.value == net.map(["a", "d"], {"b": True})
    done = net.ask("P(a | do(b=true))", explain=True)
    assert done.value.isclose(net.p("a"))


# --- Questions written as other systems write them: answered where they can be, else with the
#     cure ---


CLASS = cr.read({"c": [1, 2, 3, 1, 2, 1] * 4, "g": ["lo", "hi", "mid"] * 8, "x": [0.5, 1.5, 2.5, 3.5, 0.7, 1.1, 2.1, 4.5] * 3},
                schema={"g": ["lo", "mid", "hi"]})  # fmt: skip
NET_QUESTION_SLIPS = cr.fit("[c][g|c][x|g]", CLASS, prior=cr.BDeu(1))


@pytest.mark.parametrize(
    ("bound", "states"),
    [("c < 3", "{1, 2}"), ("c <= 2", "{1, 2}"), ("c > 1", "{2, 3}"), ("c ≥ 2", "{2, 3}"),
     ("c > 0.5", "{1, 2, 3}"), ("c < 3.0", "{1, 2}"), ("1 < c <= 3", "{2, 3}"), ("2 <= c", "{2, 3}")],
)  # fmt: skip
def test_a_bound_on_numbers_is_a_set_of_states(bound, states):
    assert NET_QUESTION_SLIPS.ask(f"P({bound})") == pytest.approx(
        NET_QUESTION_SLIPS.ask(f"P(c in {states})")
    )
    given = NET_QUESTION_SLIPS.ask(f"P(g | {bound})")
    assert given.p.tolist() == pytest.approx(
        NET_QUESTION_SLIPS.ask(f"P(g | c in {states})").p.tolist()
    )


def test_a_bound_on_states_in_order():
    assert NET_QUESTION_SLIPS.ask("P(g >= mid)") == pytest.approx(
        NET_QUESTION_SLIPS.ask("P(g in {mid, hi})")
    )
    assert NET_QUESTION_SLIPS.ask("P(g < hi, c > 1)") == pytest.approx(
        NET_QUESTION_SLIPS.ask("P(g in {lo, mid}, c in {2, 3})")
    )


@pytest.mark.parametrize(
    ("question", "cure"),
    [
        ("P(x in [1,2])", r"with its bounds: P\(1 < x < 2\)"),
        ("P(2 < c < 3)", "No state of 'c' is < 3 and > 2"),
        ("P(c in [1, 2])", r"as a set: P\(c in \{1, 2\}\)"),
        ("P(c=1 and g=lo)", r"separated by commas: P\(c=1, g=lo\)"),
        ("P(c==1)", r"after one '=': P\(c=1\)"),
        ("P(c < 0)", "No state of 'c' is < 0. Its states are 1, 2, 3"),
        ("P(c < two)", "A bound of 'c' is a number, got 'two'"),
        ("P(g < low)", "one of its states, got 'low'. They are lo, mid, hi, in this order"),
        ("P(c | Cabin=1)", "There are 'c', 'g', 'x'"),
    ],
)
def test_what_is_refused_comes_with_its_cure(question, cure):
    with pytest.raises(CredoError, match=cure):
        NET_QUESTION_SLIPS.ask(question)


def test_the_pointer_comes_last():
    with pytest.raises(CredoError) as refused:
        NET_QUESTION_SLIPS.ask("P(c==1)")
    assert str(refused.value).endswith("\n  P(c==1)\n      ^")


def test_evidence_far_from_every_row_is_named():
    with pytest.warns(cr.errors.CredoWarning, match=r"Far outside of the rows .*: x=3000"):
        NET_QUESTION_SLIPS.ask("P(g | x=3000)")
    NET_QUESTION_SLIPS.ask("P(g | x=5)")


def test_a_long_question_is_read_or_refused_at_once():
    """Each of these took seconds: patterns went back over what they had read (now 10 ms)."""
    long = ["P(c given g=" + "1..2" * 2500, "P(c, s" + "&" * 10_000, "P(x > 2 | " + ";" * 10_000,
            "=" * 5000 + "\\" * 5000, "P(c" + " " * 10_000 + "<" * 500, "P(" + "'" * 9999,
            "P(c in " + "[" * 9000, "E[" * 5000, "P(c | " + "c < " * 2500]  # fmt: skip
    for text in long:
        with pytest.raises(CredoError):
            NET_QUESTION_SLIPS.ask(text)


def test_marginals_of_some_variables_are_those_of_all():
    net = cr.fit("[a][b|a][x|a]", {"a": ["u", "v"] * 9, "b": ["p", "q", "p"] * 6, "x": range(18)})
    whole, some = net.marginals({"a": "u"}), net.marginals({"a": "u"}, targets=["x", "b"])
    assert list(some) == ["x", "b"] and all(str(some[n]) == str(whole[n]) for n in some)
    with pytest.raises(InputError, match="'a' is asked about and observed at once"):
        net.marginals({"a": "u"}, targets=["a"])
