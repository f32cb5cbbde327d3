"""MARKOV files and .credo files of undirected models: read, written, cut, refused."""

import numpy as np
import pytest
from tests.unit.predict.product import Product, random_model

import credo as cr
from credo.errors import CredoError, InputError, LimitError
from credo.formats import Limits, dumps, loads

# the example of the competition's own description of the format
UAI = """MARKOV
3
2 2 3
2
2 0 1
3 0 1 2

4
 4.000 2.400
 1.000 0.000

12
 2.2500 3.2500 3.7500
 0.0000 0.0000 10.0000
 1.8750 4.0000 3.3330
 2.0000 2.0000 3.4000
"""


def test_the_example_of_the_format():
    net = loads(UAI, "uai")
    assert isinstance(net, cr.MarkovNetwork)
    assert [f.names for f in net.factors] == [("v0", "v1"), ("v0", "v1", "v2")]
    assert net.variable("v2").states == ("0", "1", "2")
    assert net.factors[0]["0", "1"] == 2.4 and net.factors[1]["0", "1", "2"] == 10.0
    np.testing.assert_allclose(net.log_partition, Product(net).log_z)
    assert net.record.how == "read"


@pytest.mark.parametrize("seed", range(6))
def test_what_is_written_comes_back(seed, tmp_path):
    model = random_model(seed, scale=1e100)
    for path in ("m.uai", "m.uai.gz", "m.credo"):
        model.save(tmp_path / path)
        again = cr.load(tmp_path / path)
        assert again == model
        assert again.log_partition == model.log_partition
    graph = model.to_factor_graph()
    graph.save(tmp_path / "g.credo")
    assert cr.load(tmp_path / "g.credo") == graph


def test_names_states_and_types():
    net = cr.MarkovNetwork(
        {("a b", "Ω"): np.ones((2, 3))}, states={"a b": (True, False), "Ω": (1, 2.5, "x")}
    )
    text = dumps(net, "uai")
    assert loads(text, "uai").variable("a b").states == ("True", "False")
    assert loads(text, "uai", types=True) == net
    plain = loads(UAI, "uai")
    assert "credo" not in dumps(plain, "uai") and loads(dumps(plain, "uai"), "uai") == plain


def test_a_credo_file_keeps_features_scales_edges_and_the_record(tmp_path):
    grid = cr.ising_grid(3, coupling=0.7)
    far = cr.MarkovNetwork(
        [cr.Factor.from_log(grid.variables[:2], [[1e4, 1e4 + 1], [1e4, -np.inf]], "far")],
        graph=[("r1c1", "r1c2"), ("r1c2", "r1c3")],
        states=grid.variables[:3],
    )
    for model in (grid, far, grid.to_factor_graph()):
        again = loads(dumps(model, "credo"), "credo")
        assert again == model and type(again) is type(model)
        assert again.weights == model.weights and again.graph == model.graph
    assert loads(dumps(far, "credo"), "credo").log_partition == far.log_partition
    with pytest.raises(LimitError, match=r"far\(r1c1, r1c2\) are beyond what a UAI file can hold"):
        dumps(far, "uai")


def test_features_become_tables_in_a_uai_file():
    grid = cr.ising_grid(3, coupling=0.7)
    again = loads(dumps(grid, "uai"), "uai")
    assert not again.weights and again.log_partition == pytest.approx(grid.log_partition)


@pytest.mark.parametrize("format", ["bif", "xmlbif", "net", "dsc", "xdsl"])
def test_formats_of_bayesian_networks_refuse(format):
    with pytest.raises(
        InputError, match=r"or as a network: to_network\(\), credo convert --directed"
    ):
        dumps(cr.ising_grid(2), format)


def test_a_constant_factor_and_a_variable_in_none():
    net = loads("MARKOV 2 2 2 1 0 1 3.0", "uai")
    assert np.exp(net.log_partition) == pytest.approx(12)
    assert loads(dumps(net, "uai"), "uai") == net
    np.testing.assert_allclose(net.p("v1").p, 0.5)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("2 0 1\n", "2 0 0\n", "line 5: Table 0 names a variable twice"),
        ("2 0 1\n", "9 0 1\n", "line 5: Table 0 cannot have 9 variables"),
        ("2 0 1\n", "2 0 7\n", "line 5: There is no variable 7; the last is 2"),
        ("\n4\n", "\n5\n", "line 8: Table 0 needs 4 numbers, not 5"),
        ("2.400", "-2.4", r"line 8: The potential of \(v0, v1\) is negative at v0=0, v1=1: -2.4"),
        ("2.400", "nan", "is not finite"),
        ("2.400", "inf", "is not finite"),
        ("2.400", "two", "Expected a number, got 'two'"),
        ("3.4000\n", "3.4 7\n", "Expected the end of the file, got '7'"),
        ("3.4000\n", "\n", "line 16: The file ends inside table 1: 12 numbers are needed, 11 are"),
        ("2 2 3", "2 0 3", "needs at least one state"),
        ("\n2\n2 0 1", "\nx\n2 0 1", "Expected the number of tables, got 'x'"),
    ],
)
def test_refusals(old, new, says):
    assert old in UAI
    with pytest.raises(InputError, match=says):
        loads(UAI.replace(old, new, 1), "uai")


def test_limits_come_before_memory():
    with pytest.raises(LimitError, match=r"at most 5 are allowed.*Limits\(numbers=…\)"):
        loads(UAI, "uai", limits=Limits(numbers=5))
    with pytest.raises(LimitError, match="variables"):
        loads("MARKOV 99999999 2", "uai")
    wide = f"MARKOV 20 {'9999 ' * 20} 1 20 {' '.join(map(str, range(20)))} 5 1 1 1 1 1"
    with pytest.raises(LimitError, match="at most 100,000,000 are allowed"):
        loads(wide, "uai")
    with pytest.raises(InputError, match="The file ends where"):
        loads("MARKOV 2 2 2 999999999", "uai")


def test_cut_anywhere_is_our_own_error():
    whole = dumps(cr.MarkovNetwork({("a", "b"): [[1, 2], [3, 4]], "b": [1, 2]}), "uai")
    end = whole.index("\nc credo")
    for k in range(len(whole)):
        try:
            loads(whole[:k], "uai")
        except CredoError as error:
            assert str(error)
        else:
            assert k >= end - 3  # only the names were lost, or digits of the last number
    data = dumps(cr.ising_grid(2), "credo")
    for k in range(0, len(data), 7):
        with pytest.raises(CredoError):
            loads(data[:k], "credo")


def test_a_damaged_credo_file_says_what_is_wrong():
    import hashlib
    import io
    import json
    import zipfile

    def changed(change):
        with zipfile.ZipFile(io.BytesIO(dumps(cr.ising_grid(2), "credo"))) as archive:
            members = {i.filename: archive.read(i) for i in archive.infolist()}
        model = json.loads(members["model.json"])
        change(model)
        members["model.json"] = json.dumps(model).encode()
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
            archive.comment = b"credo sha256 " + b"0" * 64
        body = out.getvalue()[:-77]
        return body + b"credo sha256 " + hashlib.sha256(body).hexdigest().encode()

    assert loads(changed(lambda m: None), "credo") == cr.ising_grid(2)
    for change, says in (
        (lambda m: m.update(version=3), "version 3; this credo reads up to version 2"),
        (lambda m: m.update(kind="other"), "version 2; this credo reads up to|'nodes' is missing"),
        (lambda m: m["edges"].append(["r1c1", "zz"]), "does not join two variables of the file"),
        (lambda m: m["potentials"][0].update(kind="spline"), "kind 'spline' is not known"),
        (lambda m: m["potentials"][0].update(scope=["zz"]), "'zz' is not in the file"),
        (lambda m: m["potentials"][0].update(weight="x"), "'weight' is missing or not what"),
        (lambda m: m["potentials"].pop(), "numbers in the file that belong to no"),
        (lambda m: m["variables"].append(m["variables"][0]), "declared twice"),
    ):
        with pytest.raises(CredoError, match=says):
            loads(changed(change), "credo")
