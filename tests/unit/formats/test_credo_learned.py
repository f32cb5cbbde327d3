"""Version 2 of the .credo file: what a network was learned from is kept, and checked."""

import base64
import hashlib
import json

import numpy as np
import pytest
from tests.unit.formats.test_credo_file import ARRAYS, MODEL, opened, sealed

import credo as cr
from credo.errors import InputError
from credo.formats import dumps, loads


def learned_network():
    rows = {
        "a": ["x", "y", "x", "x", "y", "x", "y", None],
        "b": [0, 1, 1, 0, 1, 0, 1, 1],
        "u": [0.5, 1.5, 0.25, 2.0, 1.0, 0.75, 3.0, 1.25],
        "v": [1.0, 2.5, 1.25, 3.5, 2.0, 2.25, 4.0, 2.75],
        "w": [1.5, 1.0, 0.5, 1.0, 1.0, 2.0, 1.0, 1.0],
    }
    return cr.fit(
        "[a][b|a][u][v|u]", rows,
        {"a": cr.Dirichlet({"x": 1.0, "y": 2.0}), "v": cr.LinePrior(ridge=2, kappa=1, alpha=2, beta=1)},
        default=cr.BDeu(3), weights="w",
    )  # fmt: skip


# A file of version 2, written when version 2 was. It must stay readable for ever.
VERSION_2 = (
    "UEsDBBQAAAAIAAAAIQAq9ABmhgYAALUTAAAKAAAAbW9kZWwuanNvbu1Y224bSQ79FUPPQVDFuu+vBHlgkay4EVkt"
    "tKTJLoz8+5xuOTd74jiz692XNSBD1Zdi8fDwkNT9bszLHZ93/7jZyWI6797c7P6w5TTNB1wjrA6z2gnf393vDnxn"
    "65O8PvVxOui60OmEN8+2Xjud+Xx9ePfPdf2v3Xv8nxc17I3Lg/cnw5UjL3Y4bw+uD2CL8zL1y/lq9f7r3mfu+21j"
    "mS/X5+93p1s+rqd4R+urWFHK2/GpuVq6lWE5aYkpU/QhVy/dYsKtErVF16XlgtskrCpW2xAmH7vffV5d5/3Fnrfj"
    "cinqhqdYYvOdQ1dfkgudivqUqo6cYlXuGburNYEliSVHi6K4u9lZ7CS83zBxb916ZW+8HLYL9zs7nScEZcP6zviw"
    "InCetpsbXp9u5719B+fp43Q8brf9W/cytBoBj5JSqdRUA0DpKrG6HHtS84mi5JJTSbFlyS4nzr2Rtpp9zM3c5sVx"
    "meblWTMqzYs1Tg5gV6olOmbKJYbic21laKfecxxee840jHLg1Lol2Elsu8+fYegb8/qvmQcA/C9ZBwr/G8R7c/PI"
    "zTK85FhDSV40DtIMVy12I0/VBRtWK4/GI5PKcCk3aSo5gBCpSuefc++JqSjel1pTEyktkXfEZFINgMZAoNsgKYFj"
    "AUG55CrV1ZCLIQl6bur+V/R74kgLXAEXgKhF+pqwoRo3OIGcQoKlmmWE5ARpa/BSAJRJKmL42nL7GQN/tGIx+Mak"
    "JbQQR5E0xKQVRCXXMpID6ziGAKqlwpGtuREaueic1NFKfkzAy/cElPlwng6X+XLa/Yao7acDwL75wJfTabqiOx3O"
    "togdz8+6ooDMKwCwTEjemjTH2KE1cVggigGKk9WJjy0KiFUbByiPifoQNW6AyWxjTDLZkwi5R9ZCB/SRWh3i1y15"
    "9IFtW8sDShCpsEVvMcfWAa1wbKlBD3Es6jWlB0ov8FDsObfgBBvoaYi1V1bIgIcEiR+Q5krec4ZEcyTIQ/elIygM"
    "1hfIVRsj9CsP5hMQ/MKFTzZ9uH0Wy1ScK1x8R9ogf3qIoaokCgi6787BsVqr1Rgikiu6NFKX9QiVm2S7irgAxMVe"
    "H8UtB1+bGKf9fPwv+HI6Lsb6yM6bm9cwxfvjLT+H25rkiVRTV+diAWjiUiUeYFcPFfxooXKOVKFHwLJQCcH76AQV"
    "K5NsVrqdnzUiim5AHDjkKuNTrZUijihBnVuS7iw17B6MYw+uoIOJATJVU2i5Rr4K0G/p8zc9XtX4br77muwQrDF9"
    "uCy8itKj/PevE4VHzPWvkIdP88M/9AD/6RwRPkNmntp6Yg7hNTPNguNmBJxLQNSboOLzdpKehEC6mDo6Hp/QYIGL"
    "rHXg+3Br3/PmWiluvpW4Bz/dVmQ/8vHIX1dfsve6Wib98G31JQ+uqwe+XhdfFWztAn4sdH+8qNChHr5KrUuC/Eto"
    "qdAfonm3YA7p4oQtF6k+S3Sa0GK55FfUuKOpHy6PSFzBpPaLWvcoWhWdh1XvXUNWinkr3RXv0JI6aSElMJFoiBvo"
    "DmpEdxcGMrWib6mEhGgvrnVBQbteB3VwDg0N+F04RaWce2q+ukhrp8iKUaEEsEOJ1hQQWpuSh+btd2sdYbgZ0QZs"
    "gGVjAD5LvnXnMQWNgeElQNc0ZPM9SkDWJ2RIWPtzn/DqT2vdIxR9ROF2oLg1X5oG3z16XYedC5TOZw/NIBkyCoci"
    "SqboiOvI2nyM2uuLah1CVJ13ZR3iRscOkaEZyTsIVO6F0RsIZ4dAoSFfBwk1J9YpoHVgdMY/q3WvwYi/qnVPpWII"
    "9aBAIYHRI1lQWLVCKDMJnTu6o+Y89MLjGwhiEC/wnqgiFeBveFmtaz1A/XKDgFP3js1Hjwl1cLWhA2YxuDgQhXkQ"
    "F0quGApgR29eoFhVX1TrOiaaobEwgouJMhry1Hxt1QfETPG3TZO+kDKioil02DKDRQyCUv9f6/5erXvySwikIgZV"
    "4N+SZU8hYxvw0/eqtVPBTEg1h9ZGTiF3GfiUZjRUkZHP1rqngxylEV3tAA+DbgdhrDIGtCgp5UGtYCQd2cooHmOp"
    "SxhOBZMVJW1S0lgJ/NJa55+pdfRDraPva53/q1r3fhuDZV6uPLudP23JOJ23XxPmy7Ip+W5b4al1cbjs9yv9Fn5Q"
    "+fPluL+mwXWo5tNW/q4vYe+Dnr69drKNpg+rw3x+mPV/3ERx5Gl/vXPHx/X6u90yf1oLb3vr3r/H0f8EUEsDBBQA"
    "AAAIAAAAIQA8SDD8zQAAAHgBAAAKAAAAYXJyYXlzLmJpbmNgAAEJBzDFIOJQctFVPLbkoT2QALLu2sPEITQHlP4A"
    "FWeA8kWh9Beo+AsozefQNfdG59wbL+1vdoIYJ+xDweCo/epVIPAKqk4Iqv8BzFwGVPte2BfJHC+UOf7Z3mDh3pZv"
    "l95C1Sk5wMQhfAGHJxZ9jy3i2BzQ5SHiYg5bwstW7v78wb6i7AHHa8b39qvaZff1NTyC6ldxOHsGBD7az5oJBJKM"
    "DjB1JsZA8F4Raq6UQ9esDNcjBZwY9kD4zA4w+/6DgL4EnAZLX5BzAABQSwECFAMUAAAACAAAACEAKvQAZoYGAAC1"
    "EwAACgAAAAAAAAAAAAAAgAEAAAAAbW9kZWwuanNvblBLAQIUAxQAAAAIAAAAIQA8SDD8zQAAAHgBAAAKAAAAAAAA"
    "AAAAAACAAa4GAABhcnJheXMuYmluUEsFBgAAAAACAAIAcAAAAKMHAABNAGNyZWRvIHNoYTI1NiAxMzVlZWRmN2E5"
    "Y2Q5ZThiZmRiYTVhNGMwODY2OTFjZTA2ODYzNWY2Yjc1MGY0NjQ4YzU0NmYzY2Y5ZTU2NWNh"
)


def test_everything_learned_is_kept():
    net = learned_network()
    back = loads(dumps(net, "credo"), "credo")
    assert back == net and dumps(back, "credo") == dumps(net, "credo")
    for name in net.names:
        assert back.cpt(name).learned.same_as(net.cpt(name).learned)
    assert (back.cpt("v").posterior.spread == net.cpt("v").posterior.spread).all()
    assert back.cpt("a").prior.tolist() == [1, 2]
    assert back.p("a", {"b": 1}, interval=0.9) == net.p("a", {"b": 1}, interval=0.9)
    assert str(back.record.families) == str(net.record.families)
    assert json.loads(opened(dumps(net, "credo"))[MODEL])["version"] == 2


def test_a_file_of_version_2_stays_readable():
    net = loads(base64.b64decode(VERSION_2), "credo")
    again = learned_network()
    for name in again.names:
        a, b = net.cpt(name), again.cpt(name)
        if isinstance(b, cr.Cpt):
            assert a.counts == pytest.approx(b.counts, rel=1e-12)
            assert a.prior == pytest.approx(b.prior, rel=1e-12)
        else:
            assert a.variance == pytest.approx(b.variance, rel=1e-9)
            assert a.posterior.beta == pytest.approx(b.posterior.beta, rel=1e-9)
    assert net.update({"a": ["x"], "b": [0], "u": [1.0], "v": [2.0]}).record.details["rows"] == 10.0


DELETE = object()


def learned(node, *path_and_value):
    *path, key, value = path_and_value

    def change(model, members):
        at = model["nodes"][node]["learned"]
        for step in path:
            at = at[step]
        if value is DELETE:
            del at[key]
        else:
            at[key] = value

    return change


def numbers(node, what, values):
    """Other numbers in place of an array of the learned part, with the right checksum."""

    def change(model, members):
        flat = b""
        at = 0
        for i, n in enumerate(model["nodes"]):
            for said in list(_arrays(n)):
                size = 8 * int(np.prod(said["shape"]))
                raw = members[ARRAYS][at : at + size]
                at += size
                if i == node and said is _find(n, what):
                    raw = np.array(values, "<f8").tobytes()
                    said["shape"] = list(np.shape(values))
                    said["sha256"] = hashlib.sha256(raw).hexdigest()
                flat += raw
        members[ARRAYS] = flat

    return change


def _arrays(value):
    if isinstance(value, dict):
        if "sha256" in value:
            yield value
        else:
            for part in value.values():
                yield from _arrays(part)


def _find(node, what):
    at = node["learned"]
    for step in what.split("."):
        at = at[step]
    return at


CASES = {
    "an unknown estimate": (learned(0, "estimate", "best"), "The estimate 'best' is not one of"),
    "ties that are no names": (learned(0, "tied", [3]), "the names it is tied to are not names"),
    "skipped as text": (learned(0, "skipped", "x"), "rows it skipped are not a number"),
    "skipped below 0": (learned(0, "skipped", -1), "skipped weight must be 0 or more"),
    "no statistic": (learned(0, "counts", DELETE), "learned from cannot be read"),
    "a prior that does not fit": (numbers(0, "prior", [1.0, 2.0, 3.0]), "does not fit its table"),
    "a prior of 0": (numbers(0, "prior", [0.0, 1.0]), "must be above 0"),
    "counts that are not whole": (learned(1, "whole", True), "its counts are not whole"),
    "counts below 0": (numbers(0, "counts", [-1.0, 1.0]), "finite and not negative"),
    "another line prior": (learned(3, "line prior", {"mean": 1.0}), "not one of a line"),
    "a line prior below 0": (learned(3, "line prior", "kappa", -1.0), "The kappa of a LinePrior"),
    "moments of no rows": (numbers(2, "moments.n", [-1.0]), "not all above 0"),
    "configurations of others": (
        numbers(2, "moments.configurations", [[1.0]]),
        "configurations it was learned from are not its own",
    ),
    "learned is a list": (lambda m, f: m["nodes"][0].update(learned=[1]), "cannot be read"),
    "a posterior that does not fit": (
        lambda m, f: m["nodes"][3]["distribution"]["posterior"].update(
            weight={"shape": [0], "sha256": ""}
        ),
        "checksum|shape",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_changed_file_is_refused(case):
    change, says = CASES[case]
    members = opened(dumps(learned_network(), "credo"))
    model = json.loads(members[MODEL])
    change(model, members)
    members[MODEL] = json.dumps(model).encode()
    with pytest.raises(InputError, match=says):
        loads(sealed(members), "credo")
