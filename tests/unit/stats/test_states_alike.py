"""States that are equal in Python, or written alike, are told apart: True, 1, '1' and 'True'."""

import credo as cr

ROWS = {"x": [True, 1, "1", 1, True, True, "True"], "y": ["a", "b", "a", "b", "a", "b", "a"]}


def test_the_report_shows_them_apart():
    table = cr.read(ROWS)
    assert "4: True, 1, '1', 'True'" in str(table.schema)
    assert "2: a, b" in str(table.schema)  # of texts alone the quotes would say nothing
    assert "3: 0.5, 1.5, 2.5" in str(cr.read({"x": [0.5, 1.5, 2.5] * 3}, {"x": "discrete"}).schema)


def test_counts_are_shown_apart():
    tally = cr.tally(cr.read(ROWS), ["x", ("y", ["x"])])
    assert str(tally["x"]).splitlines() == [
        "x=True  x=1  x='1'  x='True'",
        "     3    2      1         1",
    ]
    assert [line.split() for line in str(tally["y", ["x"]]).splitlines()] == [
        ["x", "y=a", "y=b"],
        ["True", "2", "1"],
        ["1", "0", "2"],
        ["'1'", "1", "0"],
        ["'True'", "1", "0"],
    ]


def test_answers_and_tables_are_shown_apart():
    net = cr.fit("[x][y|x]", cr.read(ROWS), prior=cr.BDeu(1))
    first = ["True", "1", "'1'", "'True'"]
    for shown in (net.p("x"), net.cpt("y")):
        assert [line.split()[0] for line in str(shown).splitlines()[-4:]] == first
    assert "x='1'" in str(net.cpt("x"))


def test_they_come_back_in_frames():
    net = cr.fit("[x][y|x]", cr.read(ROWS), prior=cr.BDeu(1))
    cells = net.sample(200, rng=0, to="pandas")["x"].tolist()
    assert {(type(c), c) for c in cells} == {(bool, True), (int, 1), (str, "1"), (str, "True")}
