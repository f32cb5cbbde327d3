"""The 24 networks of the repository: the counts of its table, and exact round trips."""

import os
import re
from pathlib import Path

import pytest

from credo.formats import FORMATS, dumps, load, loads, save

BESIDE = Path(__file__).resolve().parents[3] / "shared"
FOLDER = Path(os.environ.get("CREDO_SHARED", BESIDE)) / "data" / "networks"
ROW = re.compile(r"\| (\w+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+)-(\d+) \|")
TABLE = ROW.findall((FOLDER / "README.md").read_text()) if FOLDER.is_dir() else []
LARGE = (
    "mildew",
    "diabetes",
    "barley",
    "pathfinder",
    "munin",
    "munin2",
    "munin3",
    "munin4",
    "link",
)

pytestmark = pytest.mark.skipif(not TABLE, reason="the shared networks are not on this machine")


def test_there_are_24():
    assert len(TABLE) == 24


@pytest.mark.parametrize("row", TABLE, ids=[r[0] for r in TABLE])
def test_a_network_of_the_repository(row, tmp_path):
    name, (nodes, arcs, parameters, most, low, high) = row[0], map(int, row[1:])
    net = load(FOLDER / f"{name}.bif.gz")
    assert (len(net.names), len(net.dag.edges), net.free_parameters) == (nodes, arcs, parameters)
    assert max(len(net.dag.parents(n)) for n in net.names) == most
    arities = [v.arity for v in net.variables]
    assert (min(arities), max(arities)) == (low, high)
    for note in net.record.notes:  # "… which missed 1 by at most 3e-07"
        assert float(note.rsplit(" ", 1)[1]) < 4e-7
    for format in ("bif", "credo") if name in LARGE else FORMATS:
        same(loads(dumps(net, format), format), net)
    save(net, tmp_path / "net.credo.gz")
    back = load(tmp_path / "net.credo.gz")
    same(back, net)
    assert back.record == net.record


def same(a, b):
    assert a.names == b.names
    assert a.dag.edges == b.dag.edges or a.dag == b.dag
    for name in a.names:
        x, y = a.cpt(name), b.cpt(name)
        assert (x.child, x.parents) == (y.child, y.parents)
        assert x.values.tobytes() == y.values.tobytes()
