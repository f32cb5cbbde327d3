"""Our own file: what it keeps, and that nothing else comes out of it."""

import base64
import contextlib
import datetime as dt
import hashlib
import io
import json
import pickle
import zipfile

import numpy as np
import pytest

from credo.core.schema import Variable
from credo.errors import CredoError, InputError, LimitError
from credo.formats import Limits, dumps, load, loads, save
from credo.formats.archive import ARRAYS, MODEL
from credo.model.graphs.dag import Dag
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.network import Network
from credo.model.values.record import Record

# A file of version 1, typed in when version 1 was written. It must stay readable for ever.
VERSION_1 = (
    "UEsDBBQAAAAIAAAAIQD07hw9LAMAAE4HAAAKAAAAbW9kZWwuanNvbrVV227jOAz9lcDPbSBR9/mVIg8URU2Nde3A"
    "dqazKPrvSylFt8Eu2u7DIghgURQpnkMevQx1WZ9wH34cBlq5LMPdYfjF6zYus9i0rOal8CbfDy/DjE/cPLF5/THO"
    "pS3KuMnJnZtt23G/Ou/rhe8OFaeNT7KxrIUlvOx0k1jOuPK8d9/mIFH2dcyX/Zr45T38jnnqsWm5XP1fhu0Rz+0i"
    "D9COygqcb76RlTGqKA2xZiYF2QYPtdgINttoDUMlZ6IxFQ0oTorROAADVlPJaXht1eN04c/zFOc1OgQgrCZqg7Gg"
    "IwvEqFxGpuStMTn4WiiEALUiO0zGJDaasPQ8K2+EU8dEHdWrmP4GOH8NsFADRyem30M7WcTenEGBvVdwD1LMLfBX"
    "Rj7iLjx+D/p/heTuYG9RSYG9w+hz9BSzyhmEA0IKUHIhjFwr1egg2uhVBTYuQVKFrNM1uEAdlXeW58s0fYHS748o"
    "0TLv43xZLtvw36qcxplxPfzEy7aNOLfT47zzSnzeP+2CSh4sJDLsk1K6eJcCUOGcbM0JUUcMJZH2maxNrNkGy4Gt"
    "zjk52XqrV2AZaeR/9vbdQd0mZJOVhIIUK2nSNmHN1VJMyUtCuUtAic7W25STsYQ2uZR0DgJ6js69tfcqVRJ/3uCU"
    "NHFCp0qhCDFYhQg+WBO0jynUIuRmb6su2cuEMXiDLmWWwbAOeXi9ZerP7zHVCf2/6ELyNdoGF8pUEgZXAlHEmqoi"
    "g8w1ScmZK6AicjUWx97UWj3morX5mi59m9BR5FwSx5JCcL7UlF0OIggMwE2RvPPClRUtSbrKT24gG1EAp6CN+T5d"
    "DMKLzUq4IeOUJYaiYnUEsajWgtIagV0skjmDEQQCaPmgmpX1qtN16sNGohc91ePy3NEWrGeZvpZuuaz9HsOZl/PE"
    "R9p+dbucaeZ7fdWjfcW36+4XcetadVRNrdTpqnu4dU5bI8hT8/MtvOSey9bnHFw39KkP/Qna3+TnPeSwzF2a9udl"
    "6GEL7zhOV68nPDcfGf3p/NgeK3V0Ut/D8PzI82dy+SBh+Nw93mNM0oliaYJ71aQPtxDSzen1dGp/wfAvUEsDBBQA"
    "AAAIAAAAIQDlu3KbegAAALAAAAAKAAAAYXJyYXlzLmJpbmNgAIEP9mCKQclh1kwQ2Gl/9gwIvLEvSSjN3Op2055n"
    "1tVNMz8/su8Kiu49399u73t/QsmWGaH2VX8Siua1HLbft3PSBKPnd+wFoqJM2x8ft/9jKm9eevIU1FwYgNkDoxkc"
    "INQDKP8HmviH/RD6gv2flR8v+SYF2AMAUEsBAhQDFAAAAAgAAAAhAPTuHD0sAwAATgcAAAoAAAAAAAAAAAAAAIAB"
    "AAAAAG1vZGVsLmpzb25QSwECFAMUAAAACAAAACEA5btym3oAAACwAAAACgAAAAAAAAAAAAAAgAFUAwAAYXJyYXlz"
    "LmJpblBLBQYAAAAAAgACAHAAAAD2AwAATQBjcmVkbyBzaGEyNTYgMDcyMzNkM2ZjOGIxZTVmZWNmZTc4YTU1NWE1"
    "ZjM4ZTc1MmRiNGQwYzgyOTQ3N2NkYzg1Y2I1Mjk4ZTFkNjk3OA=="
)


def sealed(members, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name, data in members.items():
            z.writestr(zipfile.ZipInfo(name), data, compress_type=method)
        z.comment = b"credo sha256 " + b"0" * 64
    data = out.getvalue()[:-77]
    return data + b"credo sha256 " + hashlib.sha256(data).hexdigest().encode()


def opened(data):
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        assert z.testzip() is None
        return {n: z.read(n) for n in z.namelist()}


@pytest.fixture
def mixed():
    """Discrete and continuous variables, pseudo-counts, typed states, a record."""
    a = Variable("a", "discrete", (True, False))
    b = Variable("b", "discrete", (1, 2.5, "x", dt.date(2024, 2, 29)), ordered=True)
    x, y = Variable("x", "continuous"), Variable("y", "continuous")
    rng = np.random.default_rng(0)
    tables = [
        Cpt(a, (), [0.1, 0.9], counts=np.array([1.0, 9.0])),
        Cpt(b, (a,), rng.dirichlet(np.ones(4), size=2)),
        LinearGaussian(x, (a,), [0.0, 1.0], np.zeros((2, 0)), [1.0, 2.0]),
        LinearGaussian(y, (x, a), [0.5, 1.5], [[2.0], [-1.0]], [0.25, 1e-3]),
    ]
    edges = [(p.name, t.name) for t in tables for p in t.parents]
    record = Record(
        how="learned",
        source="people.csv",
        score=-12.5,
        trace=(1.0, 2.0),
        reason="converged",
        seconds=0.25,
        seed=7,
        notes=("one", "two"),
        details={"alpha": 0.5, "when": dt.date(2024, 2, 29), "deep": {"list": [1, None, (2, 3)]}},
    )
    return Network(
        Dag(edges, nodes=["a", "b", "x", "y"]), {t.name: t for t in tables}, record=record
    )


def test_everything_is_kept(mixed, tmp_path):
    save(mixed, tmp_path / "m.credo")
    back = load(tmp_path / "m.credo")
    assert back == mixed
    assert back.names == mixed.names
    assert back.record == mixed.record
    assert back.variables == mixed.variables
    assert [type(s) for s in back.variable("b").states] == [int, float, str, dt.date]
    assert back.variable("b").ordered
    for name in mixed.names:
        assert back.cpt(name) == mixed.cpt(name)
        assert back.cpt(name).parents == mixed.cpt(name).parents
    assert (back.cpt("a").counts == [1, 9]).all()
    assert dumps(back, "credo") == dumps(mixed, "credo")
    assert back.with_record(None).record is None
    assert loads(dumps(back.with_record(None), "credo"), "credo").record is None


def test_details_of_other_types_are_kept_as_text():
    v = Variable("x", "discrete", ("a", "b"))
    record = Record(how="h", details={"odd": object, "array": np.arange(3), "inf": float("-inf")})
    net = Network([], {"x": Cpt(v, (), [0.5, 0.5])}, record=record)
    details = loads(dumps(net, "credo"), "credo").record.details
    assert details == {"odd": "<class 'object'>", "array": [0, 1, 2], "inf": float("-inf")}


def test_it_is_an_ordinary_zip_of_json_and_raw_numbers(mixed):
    members = opened(dumps(mixed, "credo"))
    assert list(members) == [MODEL, ARRAYS]
    model = json.loads(members[MODEL])
    assert (model["format"], model["version"]) == ("credo", 2)
    first = np.frombuffer(members[ARRAYS], "<f8")[:4]
    assert first.tolist() == [1.0, 9.0, 0.1, 0.9]


def test_one_flipped_bit_anywhere_is_refused(small):
    data = dumps(small, "credo")
    for i in range(len(data)):
        for bit in range(8):
            bad = bytearray(data)
            bad[i] ^= 1 << bit
            with pytest.raises(InputError):
                loads(bytes(bad), "credo")


def test_a_file_of_version_1_stays_readable():
    net = loads(base64.b64decode(VERSION_1), "credo")
    assert net.names == ("a", "b", "x", "y")
    assert net.variable("b").states == (1, 2.5, "x", dt.date(2024, 2, 29))
    assert net.cpt("a").values.tolist() == [0.1, 0.9]
    assert net.cpt("a").counts.tolist() == [1.0, 9.0]
    assert net.cpt("y").coefficients.tolist() == [[2.0], [-1.0]]
    assert net.record.details["deep"] == {"list": [1, None, (2, 3)]}


def test_a_pickle_is_not_opened(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (print, ("executed",))

    (tmp_path / "m.credo").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(InputError, match=r"m\.credo: This is not a \.credo file"):
        load(tmp_path / "m.credo")


def edited(net, change):
    members = opened(dumps(net, "credo"))
    model = json.loads(members[MODEL])
    text = change(model, members)
    members[MODEL] = text.encode() if isinstance(text, str) else json.dumps(model).encode()
    return sealed(members)


def put(*path_and_value):
    *path, key, value = path_and_value

    def change(model, members):
        at = model
        for step in path:
            at = at[step]
        if value is DELETE:
            del at[key]
        else:
            at[key] = value

    return change


DELETE = object()
NODE = ("nodes", 1)
CASES = {
    "a future version": (put("version", 5), "is of version 5; this credo reads up to version 4"),
    "no version": (put("version", DELETE), "has no version"),
    "version true": (put("version", True), "has no version"),
    "another format": (put("format", "other"), "does not describe a credo model"),
    "no nodes": (put("nodes", DELETE), "'nodes' is missing"),
    "nodes empty": (put("nodes", []), "numbers in the file that belong to no variable"),
    "a node that is no object": (put("nodes", 0, 3), "'name' is missing"),
    "a name twice": (put(*NODE, "name", "A"), "declared twice"),
    "an empty name": (put(*NODE, "name", ""), "non-empty text"),
    "another kind": (put(*NODE, "kind", "odd"), "must be 'discrete' or 'continuous'"),
    "continuous with a table": (put(*NODE, "kind", "continuous"), "continuous"),
    "no states": (put(*NODE, "states", []), "needs at least one state"),
    "a state twice": (put(*NODE, "states", ["b0", "b0"]), "given twice"),
    "an odd state": (put(*NODE, "states", ["b0", {"odd": 1}]), "not one that credo writes"),
    "a bad date": (put(*NODE, "states", ["b0", {"date": "x"}]), "not one that credo writes"),
    "a missing state": (put(*NODE, "states", ["b0", None]), "cannot be missing"),
    "a list as a state": (put(*NODE, "states", ["b0", [1]]), "hashable"),
    "more states": (put(*NODE, "states", ["b0", "b1", "b2"]), "shape"),
    "ordered is no boolean": (put(*NODE, "ordered", 1), "'ordered' is missing"),
    "an unknown parent": (put(*NODE, "parents", ["Z"]), "parent 'Z' is not in the file"),
    "itself as a parent": (put(*NODE, "parents", ["B"]), "B"),
    "a cycle": (put("nodes", 0, "parents", ["B"]), "shape"),
    "no distribution": (put(*NODE, "distribution", DELETE), "'distribution' is missing"),
    "an unknown distribution": (
        put(*NODE, "distribution", "kind", "magic"),
        "'magic' is not known",
    ),
    "a line for a table": (
        put(*NODE, "distribution", "kind", "linear gaussian"),
        "'shape' is missing",
    ),
    "no numbers": (put(*NODE, "distribution", "values", None), "'shape' is missing"),
    "a negative shape": (
        put(*NODE, "distribution", "values", "shape", [-2, -2]),
        "is not one of an array",
    ),
    "a shape of booleans": (
        put(*NODE, "distribution", "values", "shape", [True]),
        "is not one of an array",
    ),
    "a huge shape": (
        put(*NODE, "distribution", "values", "shape", [2**31 - 1] * 3),
        "not all in the file",
    ),
    "a smaller shape": (put(*NODE, "distribution", "values", "shape", [2]), "checksum"),
    "another checksum": (
        put(*NODE, "distribution", "values", "sha256", "0" * 64),
        "its checksum is not",
    ),
    "rescaled is text": (put(*NODE, "distribution", "rescaled", "x"), "'rescaled' is missing"),
    "a record without how": (put("record", {"source": "x"}), "'how' is missing"),
    "a record with more": (put("record", {"how": "x", "more": 1}), "not one that this credo knows"),
    "a record with an odd map": (
        put("record", {"how": "x", "details": {"map": [1]}}),
        "not made of pairs",
    ),
    "a record with a bad value": (
        put("record", {"how": "x", "details": {"map": [[1, {"a": 1}]]}}),
        "not one that",
    ),
    "a NaN": (lambda m, _: json.dumps(m).replace("0.0", "NaN"), "holds NaN"),
    "an infinite number": (lambda m, _: json.dumps(m).replace("0.0", "1e999"), "holds 1e999"),
    "a huge integer": (
        lambda m, _: json.dumps(m).replace("0.0", "9" * 5000),
        "JSON cannot be read",
    ),
    "a key twice": (
        lambda m, _: '{"format": "credo", "format": "credo"}',
        "has the key 'format' twice",
    ),
    "a list": (lambda m, _: "[]", "does not describe a credo model"),
    "not JSON": (lambda m, _: "{", "JSON cannot be read"),
    "not ASCII": (lambda m, _: '{"é": 1}', "not ASCII"),
    "more numbers": (
        lambda m, f: f.update({ARRAYS: f[ARRAYS] + b"12345678"}),
        "belong to no variable",
    ),
    "other numbers": (lambda m, f: f.update({ARRAYS: f[ARRAYS][::-1]}), "checksum"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_changed_model_is_refused(small, case):
    change, says = CASES[case]
    with pytest.raises(InputError, match=f"(?s)the text: .*{says}"):
        loads(edited(small, change), "credo")


def test_an_empty_model_is_refused(small):
    def change(model, members):
        members[ARRAYS] = b""
        model["nodes"] = []

    with pytest.raises(InputError, match="no variable in the file"):
        loads(edited(small, change), "credo")


def numbers_of(values):
    def change(model, members):
        raw = np.array(values, "<f8").tobytes()
        said = model["nodes"][0]["distribution"]["values"]
        members[ARRAYS] = raw + members[ARRAYS][16:]
        said["sha256"] = hashlib.sha256(raw).hexdigest()

    return change


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([0.5, 0.45], "add up to 0.95"),
        ([-0.5, 1.5], "is negative"),
        ([np.nan, 1.0], "is not finite"),
        ([np.inf, 1.0], "is not finite"),
    ],
)
def test_bad_numbers_are_refused(small, values, says):
    with pytest.raises(InputError, match=f"the text: .*{says}"):
        loads(edited(small, numbers_of(values)), "credo")


def test_a_true_cycle_is_spelled_out(small):
    def change(model, members):
        raw = np.array([0.5] * 4, "<f8").tobytes()
        said = {"shape": [2, 2], "sha256": hashlib.sha256(raw).hexdigest()}
        for node, parent in zip(model["nodes"], "BA", strict=True):
            node["parents"] = [parent]
            node["distribution"]["values"] = said
        members[ARRAYS] = raw + raw

    with pytest.raises(InputError, match=r"the text: .*cycle: (A → B → A|B → A → B)"):
        loads(edited(small, change), "credo")


def test_nesting_is_refused_without_a_recursion_error(small):
    deep = "[" * 100_000 + "]" * 100_000
    with pytest.raises(LimitError, match="nested too deeply; at most 100"):
        loads(edited(small, lambda m, _: deep), "credo")
    brackets = json.dumps("[" * 1000 + '\\"')  # brackets in a text are not nesting
    with pytest.raises(InputError, match="does not describe"):
        loads(edited(small, lambda m, _: brackets), "credo")


def test_limits_are_checked_before_unpacking(small):
    data = dumps(small, "credo")
    with pytest.raises(LimitError, match="holds 6 numbers; at most 5"):
        loads(data, "credo", limits=Limits(numbers=5))
    with pytest.raises(LimitError, match="has 2 variables; at most 1"):
        loads(data, "credo", limits=Limits(variables=1))
    with pytest.raises(LimitError, match="has 2 states; at most 1"):
        loads(data, "credo", limits=Limits(states=1))
    with pytest.raises(LimitError, match=r"would have .* bytes; at most 40"):
        loads(data, "credo", limits=Limits(decompressed_bytes=40))
    bomb = sealed({MODEL: b"{}", ARRAYS: bytes(2**24)}, zipfile.ZIP_DEFLATED)
    with pytest.raises(LimitError, match="grows more than 200 times"):
        loads(bomb, "credo")
    with pytest.raises(LimitError, match=r"model\.json would have"):
        loads(sealed({MODEL: bytes(2**25 + 1), ARRAYS: b""}), "credo")


def test_a_network_of_zeros_can_be_read_again():
    v = Variable("x", "discrete", tuple(range(2000)))
    w = Variable("y", "discrete", tuple(range(200)))
    values = np.zeros((2000, 200))
    values[:, 0] = 1
    tables = {"x": Cpt(v, (), np.eye(2000)[0]), "y": Cpt(w, (v,), values)}
    net = Network([("x", "y")], tables)
    data = dumps(net, "credo")
    assert loads(data, "credo") == net


@pytest.mark.parametrize(
    "members",
    [
        {MODEL: b"{}"},
        {MODEL: b"{}", "other.bin": b""},
        {MODEL: b"{}", ARRAYS: b"", "third": b""},
    ],
)
def test_other_members_are_refused(members):
    with pytest.raises(InputError, match=r"zip must hold model\.json and arrays\.bin"):
        loads(sealed(members), "credo")


def test_other_ways_of_packing_are_refused():
    with pytest.raises(InputError, match="packed in a way that is not read"):
        loads(sealed({MODEL: b"{}", ARRAYS: b""}, zipfile.ZIP_BZIP2), "credo")


def test_a_zip_with_a_right_seal_and_wrong_insides_is_refused(small):
    data = dumps(small, "credo")
    for i in range(len(data) - 77):
        bad = bytearray(data[:-77])
        bad[i] ^= 0xFF
        whole = bytes(bad) + b"credo sha256 " + hashlib.sha256(bad).hexdigest().encode()
        with contextlib.suppress(CredoError):  # or it was a date, say: nothing that is read
            assert loads(whole, "credo") == small
