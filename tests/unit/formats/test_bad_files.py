"""The bad files of RELIABILITY.md, each in each format where it can be written."""

import time

import pytest

from credo.errors import CredoError, InputError, LimitError, UnknownNameError
from credo.formats import FORMATS, Limits, dumps, loads

TEXT = [f for f in FORMATS if f != "credo"]

# How each format spells the parts of the network A → B that the cases change.
PARTS = {
    "bif": {
        "root": "probability ( A ) {\n  table 0.25, 0.75;\n}\n",
        "child": "probability ( B | A )",
        "cyclic root": "probability ( A | B ) {\n (b0) 0.25, 0.75;\n (b1) 0.25, 0.75;\n}\n",
        "row": "  (a1) 0.5, 0.5;\n",
        "states": "{ a0, a1 }",
        "twice": "{ a0, a0 }",
        "self": ("( B | A )", "( B | B )"),
        "unknown": ("( B | A )", "( B | AA )"),
        "separator": ", ",
    },
    "xmlbif": {
        "root": "<DEFINITION>\n  <FOR>A</FOR>\n  <TABLE>0.25 0.75</TABLE>\n</DEFINITION>\n",
        "cyclic root": "<DEFINITION>\n  <FOR>A</FOR><GIVEN>B</GIVEN>\n"
        "  <TABLE>0.25 0.75 0.25 0.75</TABLE>\n</DEFINITION>\n",
        "row": "\n0.5 0.5",
        "states": "<OUTCOME>a1<",
        "twice": "<OUTCOME>a0<",
        "self": ("<GIVEN>A<", "<GIVEN>B<"),
        "unknown": ("<GIVEN>A<", "<GIVEN>AA<"),
        "separator": " ",
    },
    "net": {
        "root": "potential (A)\n{\n  data = (0.25 0.75);\n}\n",
        "cyclic root": "potential (A | B)\n{\n  data = ((0.25 0.75)(0.25 0.75));\n}\n",
        "row": "\n(0.5 0.5)",
        "states": '("a0" "a1")',
        "twice": '("a0" "a0")',
        "self": ("(B | A)", "(B | B)"),
        "unknown": ("(B | A)", "(B | AA)"),
        "separator": " ",
    },
    "dsc": {
        "root": "probability ( A ) {\n  0.25, 0.75;\n}\n",
        "cyclic root": "probability ( A | B ) {\n (0) : 0.25, 0.75;\n (1) : 0.25, 0.75;\n}\n",
        "row": "  (1) : 0.5, 0.5;\n",
        "states": '{ "a0", "a1" }',
        "twice": '{ "a0", "a0" }',
        "self": ("( B | A )", "( B | B )"),
        "unknown": ("( B | A )", "( B | AA )"),
        "separator": ", ",
    },
    "xdsl": {
        "root": "<probabilities>0.25 0.75</probabilities>",
        "cyclic root": "<parents>B</parents><probabilities>0.25 0.75 0.25 0.75</probabilities>",
        "row": " 0.5 0.5<",
        "row gone": "<",
        "states": '<state id="a1" />',
        "twice": '<state id="a0" />',
        "self": ("<parents>A<", "<parents>B<"),
        "unknown": ("<parents>A<", "<parents>AA<"),
        "separator": " ",
    },
    "uai": {
        "row": "\n0.5 0.5",
        "states": '"a1"',
        "twice": '"a0"',
        "self": ("\n2 0 1\n", "\n2 1 1\n"),
        "unknown": ("\n2 0 1\n", "\n2 7 1\n"),
        "separator": " ",
    },
}


def changed(text: str, old: str, new: str) -> str:
    assert old in text, (old, text)
    return text.replace(old, new, 1)


@pytest.mark.parametrize("format", TEXT)
@pytest.mark.parametrize(
    ("number", "says"),
    [
        ("0.825", r"line \d+: The probabilities of 'B' add up to 0.95, not to 1"),
        ("-0.125", r"line \d+: P\(B=b1\) is negative: -0.125"),
        ("nan", r"line \d+: P\(B=b1\) is not finite: nan"),
        ("inf", r"line \d+: P\(B=b1\) is not finite: inf"),
        ("1e999", r"line \d+: P\(B=b1\) is not finite: inf"),
        ("0.8_75", r"line \d+: Expected a number, got '0.8_75'"),
        ("0x10", r"line \d+: Expected a number, got '0x10'"),
        ("٠.٥", r"line \d+: Expected a number"),
        ("", r"line \d+: "),
        ("0.5 0.375", r"line \d+: "),
    ],
)
def test_bad_numbers_are_refused_with_the_line(small, format, number, says):
    text = changed(dumps(small, format), "0.875", number)
    with pytest.raises(InputError, match=says):
        loads(text, format)


@pytest.mark.parametrize("format", TEXT)
def test_a_row_within_a_millionth_is_divided_by_its_sum_and_said(small, format):
    net = loads(changed(dumps(small, format), "0.875", "0.8750003"), format)
    assert net.cpt("B").values[0].sum() == pytest.approx(1, abs=1e-15)
    assert net.record.notes == ("1 row was divided by the sum, which missed 1 by at most 3e-07",)
    again = loads(dumps(net, format), format)
    assert again.record.notes == ()
    assert (again.cpt("B").values == net.cpt("B").values).all()


@pytest.mark.parametrize("format", [f for f in TEXT if f != "uai"])
def test_a_cycle_is_spelled_out(small, format):
    part = PARTS[format]
    text = changed(dumps(small, format), part["root"], part["cyclic root"])
    with pytest.raises(
        InputError, match=r"line \d+: The arrows form a cycle: (A → B → A|B → A → B)\."
    ):
        loads(text, format)


def test_a_cycle_in_uai_is_spelled_out():
    with pytest.raises(InputError, match=r"line 1: The arrows form a cycle: v0 → v1 → v0\."):
        loads("BAYES 2 1 1 2 2 1 0 2 0 1  1 1  1 1", "uai")


@pytest.mark.parametrize("format", TEXT)
def test_a_self_loop_is_refused(small, format):
    text = changed(dumps(small, format), *PARTS[format]["self"])
    with pytest.raises(InputError, match=r"line \d+: The variable 'B' is its own parent: B → B\."):
        loads(text, format)


@pytest.mark.parametrize("format", TEXT)
def test_an_unknown_parent_is_refused_with_near_names(small, format):
    text = changed(dumps(small, format), *PARTS[format]["unknown"])
    says = "There is no variable 7" if format == "uai" else "'AA' is not declared in the file. Did"
    with pytest.raises((UnknownNameError, InputError), match=rf"line \d+: .*{says}"):
        loads(text, format)


@pytest.mark.parametrize("format", [f for f in TEXT if f != "uai"])
def test_a_missing_table_is_refused(small, format):
    with pytest.raises(InputError, match=r"line \d+: The (variable|node) 'A' (has no table|needs)"):
        loads(changed(dumps(small, format), PARTS[format]["root"], ""), format)


@pytest.mark.parametrize("format", ["bif", "xmlbif", "net", "dsc"])
def test_a_table_given_twice_is_refused(small, format):
    root = PARTS[format]["root"]
    with pytest.raises(InputError, match=r"line \d+: There are two tables for 'A'"):
        loads(changed(dumps(small, format), root, root + root), format)


def test_a_uai_table_given_twice_is_refused():
    with pytest.raises(InputError, match=r"There are two tables for 'v0'"):
        loads("BAYES 2 1 1 2 1 0 1 0  1 1  1 1", "uai")


@pytest.mark.parametrize("format", TEXT)
def test_a_missing_row_is_refused(small, format):
    part = PARTS[format]
    text = changed(dumps(small, format), part["row"], part.get("row gone", ""))
    with pytest.raises(InputError, match=r"line \d+: "):
        loads(text, format)


@pytest.mark.parametrize("format", ["bif", "dsc"])
def test_the_missing_row_is_named_and_a_row_given_twice_is_refused(small, format):
    text, row = dumps(small, format), PARTS[format]["row"]
    with pytest.raises(InputError, match=r"The table of 'B' has no row for A=a1\."):
        loads(changed(text, row, ""), format)
    with pytest.raises(InputError, match="has this row twice"):
        loads(changed(text, row, row + row), format)


@pytest.mark.parametrize("format", TEXT)
def test_a_state_given_twice_is_refused(small, format):
    part = PARTS[format]
    text = changed(dumps(small, format), part["states"], part["twice"])
    with pytest.raises(InputError, match=r"line \d+: The state 'a0' of 'A' is given twice"):
        loads(text, format)


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_cut_anywhere_is_refused_by_our_own_error(small, format):
    whole = dumps(small, format)
    complete = len(whole.rstrip())
    for n in range(complete):
        try:
            net = loads(whole[:n], format)
        except CredoError:
            continue
        # Only a cut inside our closing comment leaves a whole network.
        assert (
            format == "uai"
            and net.dag
            == loads("BAYES\n2\n2 2\n2\n1 0\n2 0 1\n2\n.5 .5\n4\n.5 .5 .5 .5", "uai").dag
        )


SIZES = {
    "bif": "variable A {{ type discrete [ {n} ] {{ a, b }}; }}",
    "dsc": 'node A {{ type : discrete [ {n} ] = {{ "a" }}; }}',
    "uai": "BAYES 1 {n} 1 1 0",
}


@pytest.mark.parametrize("format", SIZES)
@pytest.mark.parametrize("n", [10**6, 2**31 - 1, 10**17])
def test_a_declared_size_is_refused_before_anything_is_allocated(format, n):
    with pytest.raises(
        LimitError, match=r"line 1: The variable '\w+' has [\d,]+ states; at most 10,000"
    ):
        loads(SIZES[format].format(n=n), format)


def test_more_variables_than_allowed_are_refused():
    with pytest.raises(LimitError, match=r"line 1: The file has 2,147,483,647 variables"):
        loads(f"BAYES {2**31 - 1} 2", "uai")
    with pytest.raises(LimitError, match="too many variables"):
        loads(
            "variable A { type discrete { a }; } variable B { type discrete { a }; }",
            "bif",
            limits=Limits(variables=1),
        )


def a_million_states(format):
    states = [f"s{i}" for i in range(10**6)]
    if format == "bif":
        return f"variable A {{ type discrete {{ {', '.join(states)} }}; }}"
    if format == "net":
        return "node A { states = (" + " ".join(f'"{s}"' for s in states) + "); }"
    if format == "xmlbif":
        inside = "".join(f"<OUTCOME>{s}</OUTCOME>" for s in states)
        return f"<BIF><NETWORK><VARIABLE><NAME>A</NAME>{inside}</VARIABLE></NETWORK></BIF>"
    inside = "".join(f'<state id="{s}"/>' for s in states)
    return f'<smile><nodes><cpt id="A">{inside}</cpt></nodes></smile>'


@pytest.mark.parametrize("format", ["bif", "net", "xmlbif", "xdsl"])
def test_a_million_states_are_refused(format):
    with pytest.raises(LimitError, match=r"There are more than [0-9,]+ names in"):
        loads(a_million_states(format), format)


def sixty_parents(format):
    names = [f"p{i}" for i in range(60)]
    if format == "bif":
        head = "".join(f"variable {n} {{ type discrete [2] {{ a, b }}; }}\n" for n in [*names, "c"])
        return head + f"probability ( c | {', '.join(names)} ) {{ default 0.5, 0.5; }}"
    if format == "dsc":
        head = "".join(f"node {n} {{ type : discrete [2] = {{ a, b }}; }}\n" for n in [*names, "c"])
        return head + f"probability ( c | {', '.join(names)} ) {{ default : 0.5, 0.5; }}"
    if format == "net":
        head = "".join(f'node {n} {{ states = ("a" "b"); }}\n' for n in [*names, "c"])
        return head + f"potential ( c | {' '.join(names)} ) {{ data = (0.5); }}"
    if format == "xmlbif":
        head = "".join(
            f"<VARIABLE><NAME>{n}</NAME><OUTCOME>a</OUTCOME><OUTCOME>b</OUTCOME></VARIABLE>"
            for n in [*names, "c"]
        )
        given = "".join(f"<GIVEN>{n}</GIVEN>" for n in names)
        return f"<BIF><NETWORK>{head}<DEFINITION><FOR>c</FOR>{given}<TABLE>1</TABLE></DEFINITION></NETWORK></BIF>"
    if format == "xdsl":
        state = '<state id="a"/><state id="b"/>'
        head = "".join(
            f'<cpt id="{n}">{state}<probabilities>0.5 0.5</probabilities></cpt>' for n in names
        )
        return f'<smile><nodes>{head}<cpt id="c">{state}<parents>{" ".join(names)}</parents></cpt></nodes></smile>'
    scopes = " ".join(f"1 {i}" for i in range(60)) + " 61 " + " ".join(map(str, range(61)))
    return f"BAYES 61 {'2 ' * 61} 61 {scopes}"


@pytest.mark.parametrize("format", TEXT)
def test_sixty_binary_parents_are_refused(format):
    with pytest.raises(LimitError, match=r"would have 2,305,843,009,213,693,952 numbers; at most"):
        loads(sixty_parents(format), format)


@pytest.mark.parametrize("format", TEXT)
@pytest.mark.parametrize(
    "text",
    [
        " ",
        "\n",
        "\t ",
        "{",
        "}",
        "(",
        "[",
        '"',
        '""',
        "/*",
        "/*/",
        "//",
        "/",
        "%",
        "#",
        "c ",
        "c\n",
        ";",
        ",",
        "|",
        "<",
        "<a>",
        "<!--",
        "&",
        "variable ",
        "network {",
        "network n { property ",
        'probability ( "a',
        "probability (",
        "probability (A) {(",
        "node x {",
        "node a { states = (",
        "potential (a | b) { data = ((",
        "_x",
        "0 ",
        "BAYES ",
        "\x00",
        "\ufeff",
    ],
)
def test_two_hundred_kilobytes_of_anything_are_answered_at_once(format, text):
    start = time.perf_counter()
    with pytest.raises(CredoError):
        loads(text * (200_000 // len(text)), format)
    assert time.perf_counter() - start < 5  # about 0.1 s; generous for a busy machine


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("text", [b"", b"\x80\x04\x95\x05pickle.", b"PK\x03\x04", b"\xff\xfe\x00"])
def test_other_bytes_are_refused(format, text):
    with pytest.raises(CredoError):
        loads(text, format)
