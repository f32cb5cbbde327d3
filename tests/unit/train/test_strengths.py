"""Edge strengths where cells are missing, and the network averaged from them."""

import re

import numpy as np
import pytest

import credo as cr
from credo.core.progress import within
from credo.errors import InputError, LateError
from credo.train.structure import strengths
from credo.train.structure.searching import searched


@pytest.fixture(scope="module")
def chain():
    """a → b → c with a quarter of the cells gone."""
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 600)
    b = np.where(rng.random(600) < 0.85, a, 1 - a)
    c = np.where(rng.random(600) < 0.85, b, 1 - b)
    columns = {}
    for name, values in {"a": a, "b": b, "c": c}.items():
        gone = rng.random(600) < 0.25
        columns[name] = [None if g else int(v) for g, v in zip(gone, values, strict=True)]
    return cr.read(columns, schema=dict.fromkeys("abc", "discrete"))


@pytest.mark.parametrize("score", ["bic", "bdeu", None])
@pytest.mark.parametrize("missing", ["structural-em", "available-cases", "complete-rows"])
def test_rows_with_gaps_are_resampled_by_the_way_that_learn_goes(chain, score, missing):
    found = cr.edge_strengths(chain, score, samples=12, missing=missing)
    learned = cr.learn(chain, score, "hill-climb", missing=missing)
    assert found.average().skeleton() == learned.dag.skeleton()
    assert {frozenset(e) for e in found.average().edges} == {frozenset("ab"), frozenset("bc")}
    assert len(found.notes) == 1 and found.notes[0] in str(found)
    assert "missing" in found.notes[0]


def test_gaps_are_learned_by_structural_em_unless_told_otherwise(chain):
    found = cr.edge_strengths(chain, "bic", samples=4, threads=1)
    assert "structural EM" in found.notes[0]
    assert found.strength == cr.edge_strengths(chain, "bic", samples=4, threads=2).strength
    whole = cr.edge_strengths(cr.read({"a": [0, 1] * 20, "b": [0, 1] * 20}), "bic", samples=2)
    assert whole.notes == ()
    with pytest.raises(InputError, match="missing must be 'structural-em'"):
        cr.edge_strengths(chain, missing="ignore")


def test_an_edge_as_strong_as_the_threshold_is_in_the_average():
    found = cr.edge_strengths(cr.read({"a": [0, 1] * 20, "b": [0, 1] * 20}), "bic", samples=5)
    assert found.strength["a", "b"] == 1.0
    assert len(found.average(1).edges) == len(found.average(0).edges) == 1


@pytest.mark.parametrize("threshold", [None, "a", True, 1.5, float("nan")])
def test_a_threshold_is_a_number_between_0_and_1(threshold):
    found = cr.edge_strengths(cr.read({"a": [0, 1] * 20, "b": [0, 1] * 20}), "bic", samples=2)
    text = re.escape("The threshold must be a number between 0 and 1, got ")
    with pytest.raises(InputError, match=text):
        found.average(threshold)


def test_a_stream_with_gaps_is_resampled_too(chain, tmp_path):
    path = tmp_path / "rows.csv"
    lines = ["a,b,c"]
    for row in zip(*(chain.codes(n) for n in "abc"), strict=True):
        lines.append(",".join("" if v == 2 else str(v) for v in row))
    path.write_text("\n".join(lines))
    stream = cr.read(path, dict.fromkeys("abc", "discrete"), memory="1 kB")
    for missing in ("structural-em", "available-cases"):
        found = cr.edge_strengths(stream, "bic", samples=6, missing=missing)
        assert {frozenset(e) for e in found.average().edges} == {frozenset("ab"), frozenset("bc")}


def test_resampling_ends_with_the_time_around_it(monkeypatch):
    """Searches that wait for their turn are given up, and one that runs hears the deadline."""
    rng = np.random.default_rng(0)
    rows = cr.read({f"v{i}": rng.normal(size=60) for i in range(40)})
    seen = []

    def counted(*arguments, **options):
        seen.append(searched(*arguments, **options).record.reason)
        return searched(rows.select(["v0", "v1"]), "bic", "chow-liu")

    monkeypatch.setattr(strengths, "searched", counted)
    with pytest.raises(LateError, match="no time left for resampling"), within(0.0):
        cr.edge_strengths(rows, samples=500, threads=1)
    assert len(seen) < 400 and "was spent" in seen[0]
