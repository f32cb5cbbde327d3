"""What each reader understands besides what we write ourselves."""

import pytest

from credo.errors import InputError, UnknownNameError
from credo.formats import dumps, loads

BIF = """// JavaBayes writes names in quotes, without commas
network "Dog-Problem" { // 2 variables
  property "credal set constant-density-bounded 1.1" ;
}
variable  "dog-out" { //2 values
  type discrete[2] {  "true"  "false" };
  property "position = (155, 165)" ;
}
/* tables may come
   before their variables */
probability (  "dog-out" | "bowel-problem" "family-out" ) { //3 variables and 8 values
  table 0.99 0.97 0.9 0.3 0.01 0.03 0.1 0.7 ;
  property "observed; }";
}
variable  "bowel-problem" { type discrete[2] {  "true"  "false" }; }
variable  "family-out" { type discrete[2] {  "true"  "false" } }
probability (  "bowel-problem" ) { table 0.01 0.99 ; }
probability (  "family-out" ) { default 0.15 0.85 ; }
"""


def test_bif_of_javabayes():
    net = loads(BIF, "bif")
    assert net.names == ("dog-out", "bowel-problem", "family-out")
    # The first variable, the child, is slowest: 0.97 is P(true | true, false).
    cpt = net.cpt("dog-out")
    assert cpt["true", "false"]["true"] == 0.97
    assert cpt["false", "true"]["true"] == 0.9
    assert net.record.notes == ()
    assert net.cpt("family-out").values.tolist() == [0.15, 0.85]


HEAD = "variable A { type discrete [2] { a, b }; } variable B { type discrete [3] { x, y, z }; }\n"
HEAD += "probability (A) { table 0.2, 0.8; } "


def test_bif_tables_in_either_order():
    wanted = [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
    right = loads(HEAD + "probability (B | A) { table 0.1 0.3 0.2 0.3 0.7 0.4; }", "bif")
    other = loads(HEAD + "probability (B | A) { table 0.1 0.2 0.7 0.3 0.3 0.4; }", "bif")
    assert right.cpt("B").values.tolist() == other.cpt("B").values.tolist() == wanted
    assert right.record.notes == ()
    assert other.record.notes == (
        "the table of 'B' lists the child fastest, against the format's rule; "
        "only so do its rows add up to 1",
    )
    with pytest.raises(
        InputError, match=r"line 2: The probabilities of 'B' add up to 0.7, not to 1"
    ):
        loads(HEAD + "probability (B | A) { table 0.1 0.2 0.3 0.3 0.3 0.3; }", "bif")


def test_bif_rows_and_default():
    net = loads(HEAD + "probability (B | A) { (b) 0 0 1; default 0.5, 0.25, 0.25; }", "bif")
    assert net.cpt("B").values.tolist() == [[0.5, 0.25, 0.25], [0, 0, 1]]
    net = loads(HEAD + 'probability (B | A) { ("b") 0 0 1; ("a") 1 0 0; property x; }', "bif")
    assert net.cpt("B").values.tolist() == [[1, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("probability (B | A) { (a) 1 0 0; (c) 1 0 0; }", "line 2: State 'c' is not one of 'A'"),
        (
            "probability (B | A) { (a, b) 1 0 0; }",
            "line 2: A row of 'B' needs a state for each of its 1 parents, got 2",
        ),
        ('probability (B | A) { ("a" "b") 1 0 0; }', "needs a state for each"),
        ("probability (B | A) { (a) 1 0; }", "line 2: A row of 'B' needs 3 numbers, got 2"),
        ("probability (B | A) { default 1 0; }", "needs 3 numbers, got 2"),
        ("probability (B | A) { default 1 0 0; default 1 0 0; }", "has two defaults"),
        ("probability (B | A) { default 1 0 x; }", "line 2: Expected a number, got 'x'"),
        (
            "probability (B | A) { default 1 0 0.5; }",
            "line 2: The probabilities of 'B' add up to 1.5",
        ),
        ("probability (B | A) { table 1 0; }", "line 2: The table of 'B' needs 6 numbers, got 2"),
        ("probability (B | A) { table 1 1 0 0 0 0; table 1 1 0 0 0 0; }", "two tables for 'B'"),
        ("probability (B | A) { table 1 1 0 0 0 0; (a) 1 0 0; }", "is given whole and by rows"),
        (
            "probability (B | A) { wrong 1; }",
            "Expected 'table', 'default', a row or '}', got 'wrong'",
        ),
        ("probability (B | A A) { table 1; }", "'A' is given twice as a parent of 'B'"),
        ("probability () { table 1; }", "names no variable"),
        ("probability B { table 1; }", r"Expected '\(' after probability, got 'B'"),
        ("probability (B { table 1; }", r"Expected '\)' after the variables, got '{'"),
        ("probability (B) [ table 1; }", "Expected '{' after the variables"),
        ("probability (B) { table 1 0 0", "ends inside this probability block"),
        ("probability (B) { (", "ends inside"),
        (
            "variable C { type continuous; }",
            "line 2: The variable 'C' is continuous; BIF can say so",
        ),
        ("variable C { type odd; }", "Expected the type 'discrete', got 'odd'"),
        ("variable C { type discrete [2] { a }; }", "should have 2 states, got 1"),
        ("variable C { type discrete [x] { a }; }", "Expected the number of states, got 'x'"),
        ("variable C { type discrete { }; }", "needs at least one state"),
        ("variable C { type discrete { a }; type discrete { a }; }", "'C' has two types"),
        ("variable C { }", "'C' has no type"),
        (
            "variable C { wrong }",
            "Expected 'type', 'property' or '}' in the variable 'C', got 'wrong'",
        ),
        ("variable A { type discrete { a }; }", "line 2: The variable 'A' is declared twice"),
        ('variable "" { type discrete { a }; }', "A variable has no name"),
        ("variable { }", "Expected the name of a variable, got '{'"),
        ('variable "C', "text in quotes is not closed"),
        ("/* open", "line 2: This comment is not closed"),
        ("/*/", "This comment is not closed"),
        ("network x", "has no '{'"),
        ("network x { odd }", "Expected 'property' or '}', got 'odd'"),
        ("network x { property a", "The file ends inside a property; ';' is missing"),
        ("rubbish", "line 2: Expected 'network', 'variable' or 'probability', got 'rubbish'"),
        ("", "The variable 'B' has no table"),
        ("probability (C) { table 1; }", "Variable 'C' is not declared in the file"),
    ],
)
def test_bif_refusals(text, says):
    with pytest.raises((InputError, UnknownNameError), match=says):
        loads(HEAD + text, "bif")


NET = """% Hugin
net { node_size = (80 40); HR_Desc = "a ; in a text"; }
discrete node A { label = "A; {x}"; position = (0 0); states = ("yes" "no"); }
node B { states = ("lo" "mid" "hi"); subtype = label; }
potential (A) { data = ( 0.2 0.8 ); } % after
potential (B | A) { data = (( 0.1 0.2 0.7 ) % first
  ( 0.3 0.3 0.4 )); }
"""


def test_net_of_hugin():
    net = loads(NET, "net")
    assert net.cpt("B").values.tolist() == [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
    assert loads(NET.replace("(B | A)", "( B |A)").replace("(A)", "(A |)"), "net") == net


@pytest.mark.parametrize("mark", ["//", "///", "%", "#", "/* */ //"])
def test_comments_of_other_programs_in_net(mark):
    noted = "\n".join(f'{line} {mark} "a" note }}; 50%' for line in NET.splitlines())
    assert loads(f"{mark} Written by hand\n{noted}", "net") == loads(NET, "net")
    assert loads(NET.replace("yes", mark), "net").variable("A").states == (mark, "no")


@pytest.mark.parametrize("mark", ["//", "%", "#"])
def test_comment_lines_in_bif(mark):
    text = "variable A { type discrete [2] { #a, %b }; }\nprobability ( A ) { table 0.5, 0.5; }"
    net = loads(f"{mark} it's written by hand\n{mark}\n{text}\n{mark} and the end", "bif")
    assert net.variable("A").states == ("#a", "%b")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "discrete node",
            "continuous node",
            "with 'continuous' cannot be read: only discrete chance nodes",
        ),
        ("discrete node", "decision", "A decision network needs a utility; there is none"),
        ("discrete node", "utility", "The utility 'A' needs 1 numbers, got 2"),
        ("net {", "class C {", "'class' cannot be read"),
        ("discrete node", "discrete thing", "Expected 'node' after 'discrete', got 'thing'"),
        ("net {", "rubbish {", "Expected 'net', 'node' or 'potential', got 'rubbish'"),
        ("(B | A) {", "(B A) {", "must have one child"),
        ("(B | A) {", "(B, A | ) {", "must have one child"),
        ("(B | A) {", "( | A) {", "must have one child"),
        ("(B | A) {", "B {", r"Expected '\(' after potential"),
        ("data = ( 0.2 0.8 );", "", "line 5: The potential of 'A' has no data"),
        ("data = ( 0.2 0.8 );", "data = ( 0.2 0.8 ); data = (1 0);", "has two data"),
        ("data = ( 0.2 0.8 );", "data = 0.2 0.8;", "must be a list in brackets"),
        ("data = ( 0.2 0.8 );", "data = (0.2 0.8;", "must be a list in brackets"),
        ("data = ( 0.2 0.8 );", "data = (0.2);", "needs 2 numbers, got 1"),
        ("data = ( 0.2 0.8 );", "model_data = (x);", "is a model expression"),
        ("data = ( 0.2 0.8 );", "data ( 0.2 0.8 );", "Expected '=' after the attribute 'data'"),
        ("data = ( 0.2 0.8 );", '"data" = ( 0.2 0.8 );', "Expected an attribute or '}'"),
        ('states = ("lo" "mid" "hi");', "", "The node 'B' has no states"),
        ('states = ("lo" "mid" "hi");', 'states = ("lo"); states = ("a");', "has its states twice"),
        ('states = ("lo" "mid" "hi");', 'states = "lo";', r"Expected '\(' after the states of 'B'"),
        (
            'states = ("lo" "mid" "hi");',
            'states = ("lo";',
            r"Expected '\)' after the states of 'B'",
        ),
        (
            'states = ("lo" "mid" "hi");',
            'states = ("lo")',
            "Expected ';' after the states of 'B', got 'subtype'",
        ),
        ("subtype = label;", "subtype = label", "';' is missing after the attribute 'subtype'"),
        ("subtype = label;", 'subtype = "label"', "';' is missing after the attribute 'subtype'"),
        ("node B", "node =", "Expected the name of a node"),
    ],
)
def test_net_refusals(old, new, says):
    assert old in NET
    with pytest.raises(InputError, match=says):
        loads(NET.replace(old, new, 1), "net")


DSC = """belief network "x"
properties { version = 1; }
node A { name: "A; }"; type: discrete[2] = { "yes", "no" }; position: (1, 2); }
node B { type = discrete[3] { lo, mid, hi } }  // no quotes
probability (A) { 0.2, 0.8; }
probability (B | A) { (0): 0.1, 0.2, 0.7; default: 0.3, 0.3, 0.4; }
"""


def test_dsc_of_msbn():
    net = loads(DSC, "dsc")
    assert net.cpt("B").values.tolist() == [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
    for old, new in (
        ('belief network "x"', "network x { version is 1; }"),
        ('belief network "x"', "network"),
        ("(0): 0.1", '("yes"): 0.1'),
        ("(0): 0.1", "(yes) = 0.1"),
        ("default:", "(1):"),
    ):
        assert loads(DSC.replace(old, new), "dsc") == net


def test_dsc_names_in_quotes_come_before_positions():
    text = DSC.replace('{ "yes", "no" }', '{ "1", "0" }')
    assert loads(text, "dsc").cpt("B")["1"]["hi"] == 0.7
    assert loads(text.replace("(0):", '("0"):'), "dsc").cpt("B")["0"]["hi"] == 0.7


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("belief network", "belief", "Expected 'network' after 'belief'"),
        ("type: discrete[2]", "type: continuous[2]", "of the type 'continuous'; only 'discrete'"),
        ("discrete[2]", "discrete[3]", "should have 3 states, got 2"),
        ('type: discrete[2] = { "yes", "no" };', "", "The node 'A' has no type"),
        ("position: (1, 2);", "type: discrete[1] = {a};", "has two types"),
        ("position: (1, 2);", "; (1, 2);", "Expected an attribute or '}' in 'A'"),
        (
            "position: (1, 2);",
            "position: (1, 2)",
            "line 3: ';' is missing after the attribute 'position'",
        ),
        ("(0): 0.1", "(2): 0.1", "State '2' is not one of 'A'"),
        ("(0): 0.1", "(0, 0): 0.1", "needs a state for each of its 1 parents, got 2"),
        ("(0): 0.1", "function: max; (0): 0.1", "The function of 'B' is not read"),
        ("(0): 0.1", "; 0.1", "Expected a row, numbers or '}'"),
        ("probability (A)", "probability ()", "names no node"),
        ("probability (A)", "rubbish (A)", "Expected 'node' or 'probability', got 'rubbish'"),
    ],
)
def test_dsc_refusals(old, new, says):
    assert old in DSC
    with pytest.raises((InputError, UnknownNameError), match=says):
        loads(DSC.replace(old, new, 1), "dsc")


UAI = "c a comment\nBAYES\n3\n2 2 3 # states\n3\n1 0\n2 0 1\n2 1 2\n\n2\n0.4 0.6\n\n4\n0.7 0.3\n0.2 0.8\n\n6\n0.2 0.8 0 1 0 0\n"


def test_uai_by_position_and_counted_from_one():
    net = loads(UAI, "uai")
    assert net.names == ("v0", "v1", "v2")
    assert net.variable("v2").states == ("0", "1", "2")
    assert net.cpt("v1")["1"]["0"] == 0.2
    one = loads(UAI.replace("1 0\n2 0 1\n2 1 2\n", "1 1\n2 1 2\n2 2 3\n"), "uai")
    assert one == net
    assert one.record.notes == ("the variables are counted from 1, against the format's rule",)
    assert "credo" not in dumps(net, "uai")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("BAYES", "OTHER", "starts with BAYES or MARKOV, got 'OTHER'"),
        ("\n3\n1 0", "\n2\n1 0", "one table for each of its 3 variables, got 2"),
        ("1 0\n", "9 0\n", "Table 0 cannot have 9 variables"),
        ("2 0 1\n", "2 7 1\n", "line 7: There is no variable 7; the last is 2"),
        ("\n4\n", "\n5\n", "line 13: The table of 'v1' needs 4 numbers, not 5"),
        (
            "0.2 0.8 0 1 0 0\n",
            "0.2\n",
            "line 18: The file ends inside the table of 'v2': 6 numbers",
        ),
        ("0.2 0.8 0 1 0 0\n", "0.2 0.8 0 1 0 0 5\n", "Expected the end of the file, got '5'"),
        ("0.2 0.8\n", "0.2 0.9\n", "line 15: The probabilities of 'v1' add up to 1.1"),
        ("2 2 3", "2 -2 3", "Expected the number of states of variable 1, got '-2'"),
        ("2 2 3", "2 0 3", "needs at least one state"),
    ],
)
def test_uai_refusals(old, new, says):
    assert old in UAI
    with pytest.raises(InputError, match=says):
        loads(UAI.replace(old, new, 1), "uai")


@pytest.mark.parametrize(
    ("comment", "says"),
    [
        ("{", "line 20: The JSON cannot be read"),
        ("[]", "line 20: The comment must name 3 variables"),
        ('{"variables": [1, 2, 3]}', "does not name a variable and its states"),
        ('{"variables": [{"name": "a", "states": ["x"]}, 1, 1]}', "names 1 states of 'a', not 2"),
        ('{"variables": NaN}', "holds NaN"),
    ],
)
def test_uai_comments_of_ours_are_checked(comment, says):
    with pytest.raises(InputError, match=says):
        loads(UAI + f"\nc credo {comment}\n", "uai")


def test_uai_with_no_variable():
    with pytest.raises(InputError, match="There is no variable in the file"):
        loads("BAYES 0 0", "uai")


def test_escaped_names_that_fall_together_are_refused():
    text = """network x { property "credo names _xH_"; }
    variable a_x5F_ { type discrete { y }; } variable a_ { type discrete { y }; }
    probability (a_) { table 1; } probability (a_x5F_) { table 1; }"""
    with pytest.raises(InputError, match="'a_' is declared twice"):
        loads(text, "bif")
    with pytest.raises(InputError, match="given twice"):
        loads(
            text.replace("variable a_ {", "variable b {")
            .replace("(a_)", "(b)")
            .replace("{ y }; } variable b", "{ _x79_, y }; } variable b")
            .replace("(a_x5F_) { table 1;", "(a_x5F_) { table .5 .5;"),
            "bif",
        )


def test_uai_of_agrum_counts_the_first_parent_fastest():
    """It is known by the names behind the scopes; the rows are those of (A, B) = 00, 10, 01, 11."""
    text = "BAYES\n3\n2 2 2\n3\n1 0   # A\n1 1   # B\n3 0 1 2   # C\n\n"
    text += "2 0.5 0.5\n2 0.5 0.5\n8\n 0.1 0.9\n 0.2 0.8\n 0.3 0.7\n 0.4 0.6\n"
    net = loads(text, "uai")
    assert net.cpt("v2").row(v0="1", v1="0")["0"] == 0.2
    assert "written by aGrUM" in net.record.notes[0]
    plain = loads(text.replace("# B", ""), "uai")
    assert plain.cpt("v2").row(v0="1", v1="0")["0"] == 0.3
    assert plain.record.notes == ()


def test_uai_of_pgmpy_counts_the_first_variable_fastest():
    """P(C | A, B) is written with the scope (B, A, C) and the order of (C, A, B)."""
    text = "BAYES\n3\n2 2 2\n3\n1 0\n1 1\n3 1 0 2\n\n2\n0.5 0.5\n2\n0.5 0.5\n"
    text += "8\n0.1 0.3 0.2 0.4 0.9 0.7 0.8 0.6\n"
    net = loads(text, "uai")
    assert [p.name for p in net.cpt("v2").parents] == ["v0", "v1"]
    assert net.cpt("v2").values[..., 0].tolist() == [[0.1, 0.3], [0.2, 0.4]]
    assert "written by pgmpy" in net.record.notes[0]
    for bad in ("x", "0.65"):
        with pytest.raises(InputError, match=r"line 1\d: "):
            loads(text.replace("0.6\n", f"{bad}\n"), "uai")
