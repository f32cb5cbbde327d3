"""Names and states of every kind come back as they were, from every format."""

import datetime as dt

import numpy as np
import pytest

from credo.core.schema import Variable
from credo.errors import InputError, UnknownNameError
from credo.formats import FORMATS, dumps, load, loads, save
from credo.formats.names import IDENTIFIER, LETTER_FIRST, QUOTED, XML_TEXT, Spelling, unescape
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.network import Network

NAMES = [
    "Asy/Patch",
    "<5.12",
    ">=12",
    "a b",
    " edges ",
    'say "hi"',
    "it's",
    "a,b|c;d",
    "{x}(y)[z]",
    "// no comment",
    "/* nor this */",
    "%",
    "naïve 变量 🎲",
    "\u00a0",
    "\u2028\x85",
    "tab\tand\nline\r\n",
    "\x00\x1f\x7f",
    "\ud800",
    "_x20_",
    "_x",
    "__x5F_x20__",
    "x_x_1",
    "x_",
    "5",
    "table",
    "default",
    "probability",
    "&amp;<b>",
    "]]>",
    "-->",
    "\\",
    "\\n",
    "=",
    ":",
    "#",
    "c",
    "credo names _xH_",
]


def network(names, states):
    variables = [Variable(n, "discrete", states) for n in names]
    rng = np.random.default_rng(3)
    tables = {}
    for i, v in enumerate(variables):
        parents = (
            tuple(variables[max(0, i - 2) : i]) if len(states) < 10 else tuple(variables[:i][-1:])
        )
        shape = [p.arity for p in parents] + [v.arity]
        values = rng.dirichlet(np.ones(v.arity), size=shape[:-1])
        tables[v.name] = Cpt(v, parents, values)
    edges = [(p.name, n) for n, t in tables.items() for p in t.parents]
    from credo.model.graphs.dag import Dag

    return Network(Dag(edges, nodes=list(names)), tables)


def same(a, b):
    assert a.names == b.names
    for name in a.names:
        x, y = a.cpt(name), b.cpt(name)
        assert x.child == y.child
        assert x.parents == y.parents
        assert x.values.tobytes() == y.values.tobytes()


@pytest.mark.parametrize("format", FORMATS)
def test_odd_names_and_states_come_back(format, tmp_path):
    net = network(NAMES[:12], ("", *NAMES[:8]))
    same(loads(dumps(net, format), format), net)
    net = network(NAMES, ("yes", "no"))
    same(loads(dumps(net, format), format), net)
    net = network(["A", "B"], ("", *NAMES))
    path = tmp_path / f"odd.{format}.gz"
    save(net, path)
    same(load(path), net)


@pytest.mark.parametrize("forbidden", [IDENTIFIER, LETTER_FIRST, QUOTED, XML_TEXT])
@pytest.mark.parametrize("lead", ["", "x_"])
def test_spelling_can_be_undone_and_holds_nothing_forbidden(forbidden, lead):
    spelled = {}
    for name in ["", *NAMES]:
        spell = Spelling(forbidden, lead)
        out = spell(name)
        assert unescape(out, lead) == name
        assert not forbidden.search(out)
        assert spell.escaped == (out != name)
        assert spelled.setdefault(out, name) == name
        if lead:
            assert out[0].isalpha()


def test_what_only_looks_like_an_escape_stays():
    text = "variable a_x20_b { type discrete { y }; } probability (a_x20_b) { table 1; }"
    assert loads(text, "bif").names == ("a_x20_b",)
    assert unescape("_x110000_ _xFFFFFFFFF_") == "_x110000_ _xFFFFFFFFF_"


def test_plain_names_are_written_plainly(small):
    for format in FORMATS:
        if format != "credo":
            assert "_x" not in dumps(small, format)
    assert dumps(network(["a b"], ("x", "y")), "bif").count('"a b"') == 2


TYPED = {
    "int": (0, 1, 10**30),
    "bool": (False, True),
    "float": (0.1, 1.0, float("inf")),
    "mixed": ("low", 2, 2.5, True, dt.date(2024, 2, 29)),
    "datetime": (dt.datetime(2024, 2, 29, 12, 30, tzinfo=dt.UTC), dt.datetime(2025, 1, 1)),
    "time": (dt.time(12, 30), dt.time(13)),
    "numpy": (np.int64(3), np.float64(0.5), np.datetime64("2024-02-29"), np.bool_(True)),
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", TYPED)
def test_types_of_states(format, kind):
    states = TYPED[kind]
    v = Variable("x", "discrete", states, ordered=kind == "int")
    net = Network([], {"x": Cpt(v, (), np.full(len(states), 1 / len(states)))})
    data = dumps(net, format)
    back = loads(data, format, types=True).variable("x")
    assert back.states == states
    assert back.ordered == v.ordered
    plain = [
        s.item() if isinstance(s, np.generic) and not isinstance(s, np.datetime64) else s
        for s in states
    ]
    assert [type(s) for s in back.states] == [type(s) for s in plain]
    if format != "credo":
        assert all(isinstance(s, str) for s in loads(data, format).variable("x").states)


def test_a_wrong_property_of_types_is_refused():
    text = 'variable x { type discrete { a, b }; property "credo states KIND"; }\nprobability (x) { table .5 .5; }'
    for kind, says in (
        ("int", "'a' is not of the type 'int'"),
        ("int,int,int", "3 types for 2 states"),
        ("odd", "type 'odd'"),
    ):
        with pytest.raises(InputError, match=says):
            loads(text.replace("KIND", kind), "bif", types=True)
    assert loads(text, "bif").variable("x").states == ("a", "b")


@pytest.mark.parametrize("format", [f for f in FORMATS if f != "credo"])
def test_what_a_text_format_cannot_hold_is_refused(format):
    v = Variable("x", "discrete", (1, "1"))
    with pytest.raises(
        InputError, match=r"include two that are written '1'.*Save the network as \.credo"
    ):
        dumps(Network([], {"x": Cpt(v, (), [0.5, 0.5])}), format)
    y = Variable("y", "continuous")
    with pytest.raises(InputError, match=r"holds discrete variables only; 'y' is continuous"):
        dumps(Network([], {"y": LinearGaussian(y, (), 0.0, [], 1.0)}), format)


def test_a_state_of_another_type_is_written_as_its_text():
    v = Variable("x", "discrete", ((1, 2), (3, 4)))
    net = Network([], {"x": Cpt(v, (), [0.5, 0.5])})
    assert loads(dumps(net, "bif"), "bif", types=True).variable("x").states == ("(1, 2)", "(3, 4)")
    assert loads(dumps(net, "credo"), "credo").variable("x").states == ((1, 2), (3, 4))
    v = Variable("x", "discrete", (frozenset({1}), "b"))
    with pytest.raises(InputError, match=r"of a type that a \.credo file does not keep"):
        dumps(Network([], {"x": Cpt(v, (), [0.5, 0.5])}), "credo")


def test_unknown_formats_and_endings(tmp_path, small):
    with pytest.raises(
        UnknownNameError, match=r"'bfi' is not one that is read and written\. Did you mean 'bif'"
    ):
        loads("", "bfi")
    with pytest.raises(InputError, match="must be str or bytes, got int"):
        loads(3, "bif")
    with pytest.raises(InputError, match="is bytes, not text"):
        loads("PK", "credo")
    with pytest.raises(
        InputError, match=r"ending of 'a.txt' is not that of a network file. Use .bif"
    ):
        save(small, tmp_path / "a.txt")
    save(small, tmp_path / "a.txt", format="net")
    assert load(tmp_path / "a.txt", format="net") == small
