"""Results are values: no array and no dict in them can be written to, on any floor."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, is_dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

import credo as cr
from credo.core.frozen import Frozen, ReadOnly, fixed
from credo.estimators import (
    NaiveBayes,
    TextNaiveBayes,
    calibration_report,
    compare,
    learning_curves,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2)) + 8 * np.repeat([0, 1], 30)[:, None]
COIN = {"a": ["x", "y", "x", "y"] * 15, "b": ["p", "p", "q", "q"] * 15}
MIXED = {**COIN, "x": X[:, 0], "y": X[:, 1]}
GAPS = {**COIN, "b": [None if i % 7 == 0 else b for i, b in enumerate(COIN["b"])]}


@cache
def net() -> cr.Network:
    return cr.fit("[a][b|a]", COIN, prior=cr.BDeu(1))


@cache
def lines() -> cr.Network:
    return cr.fit("[a][x|a][y|x]", MIXED)


RESULTS: dict[str, Callable[[], Any]] = {
    "schema": lambda: cr.read(GAPS).schema,
    "tally": lambda: cr.tally(COIN, [("b", ["a"])])["b", ["a"]],
    "moments": lambda: cr.tally(MIXED, [("x", ["a"])])["x", ["a"]],
    "network": net,
    "record": lambda: net().record,
    "lines": lines,
    "gaussian posterior": lambda: lines().p("y", given={"a": "x"}),
    "joint of numbers": lambda: lines().p(["x", "y"]),
    "distribution": lambda: net().p("b", given={"a": "x"}),
    "joint": lambda: net().p(["a", "b"]),
    "sampled": lambda: net().p("b", method="weighting", budget="1000 samples").approximation,
    "loopy": lambda: net().p("b", method="loopy").approximation,
    "credible": lambda: net().ask("P(b=p | a=x)", interval=0.95),
    "mpe": lambda: net().mpe(),
    "learned": lambda: cr.learn(COIN, rng=0),
    "learned with gaps": lambda: cr.learn(GAPS, rng=0),
    "em": lambda: cr.em("[H][a|H][b|H]", COIN, hidden={"H": 2}, rng=0),
    "score": lambda: cr.score("[a][b|a]", COIN, "bdeu"),
    "strengths": lambda: cr.edge_strengths(COIN, samples=3, rng=0),
    "missingness": lambda: cr.missingness(GAPS),
    "markov": lambda: cr.fit(cr.UndirectedGraph([("a", "b")]), COIN),
    "check": lambda: cr.check(net(), COIN),
    "cross-validation": lambda: cr.cross_validate("[a][b|a]", COIN, folds=3, rng=0),
    "comparison": lambda: cr.compare({"one": net(), "two": cr.fit("[a][b]", COIN)}, COIN),
    "value of evidence": lambda: cr.evidence_value(net(), "a"),
    "sensitivity": lambda: cr.sensitivity(net(), "P(b=p | a=x)"),
    "hypotheses": lambda: cr.Hypotheses({"h": {"c": 0.5, "l": 0.5}, "i": {"c": 1, "l": 0}}),
    "posterior of hypotheses": lambda: cr.Hypotheses(
        {"h": {"c": 0.5, "l": 0.5}, "i": {"c": 1, "l": 0}}
    ).observe(["c"] * 3),
    "naive bayes": lambda: cr.naive_bayes(MIXED, "a"),
    "naive bayes of states": lambda: NaiveBayes().fit(np.array(COIN["a"])[:, None], COIN["b"]),
    "text": lambda: TextNaiveBayes().fit(["good film", "bad film"] * 4, ["+", "-"] * 4),
    "classifiers": lambda: compare(COIN, "a", cv=3),
    "learning curves": lambda: learning_curves(COIN, "a", repeats=1),
    "calibration": lambda: calibration_report(NaiveBayes(), X, np.arange(60) % 2),
    "impute": lambda: net().impute(GAPS),
    "mixture": lambda: cr.mixture(X),
    "averaged mixture": lambda: cr.mixture(X, average=True, max_components=3),
    "latent classes": lambda: cr.mixture(MIXED, 2),
    "which k": lambda: cr.which_k(X),
    "k-means": lambda: cr.cluster(X, stability=2),
    "average link": lambda: cr.cluster(MIXED, "average", k=2),
    "spectral": lambda: cr.cluster(X, "spectral"),
    "latent clusters": lambda: cr.cluster(MIXED, "latent-class"),
    "graph": lambda: cr.cluster(graph=[(i, i + 1) for i in range(9)], method="average", k=2),
}


def writable(value: Any, path: str, seen: set[int]) -> list[str]:
    """Where arrays and dicts that can be written to stand in a value."""
    if id(value) in seen:
        return []
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return [path] if value.flags.writeable else []
    inside: Mapping[Any, Any] = {}
    if isinstance(value, dict) and not isinstance(value, ReadOnly):
        return [path]
    if isinstance(value, Mapping) and type(value).__module__ in ("builtins", "credo.core.frozen"):
        inside = value
    elif isinstance(value, tuple | list):
        inside = dict(enumerate(value))
    elif type(value).__module__.startswith("credo"):
        names = {*getattr(value, "__dict__", {}), *getattr(type(value), "__dataclass_fields__", ())}
        inside = {n: getattr(value, n, None) for n in names if not n.startswith("_")}
    return [w for n, v in inside.items() for w in writable(v, f"{path}.{n}", seen)]


@pytest.mark.parametrize("name", RESULTS)
def test_nothing_in_a_result_can_be_written_to(name: str) -> None:
    result = RESULTS[name]()
    if hasattr(result, "get_params"):  # an estimator holds state, its model does not
        result = result.model_
    str(result)  # fills what is kept for later
    assert not writable(result, name, set())


@pytest.mark.parametrize("name", ["record", "check", "which k", "mixture", "k-means", "strengths"])
def test_a_result_that_was_pickled_or_copied_is_still_read_only(name: str) -> None:
    result = RESULTS[name]()
    for other in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert str(other) == str(result)
        assert not writable(other, name, set())


@dataclass(frozen=True, slots=True)
class Held(Frozen):
    shares: dict[str, Any]
    parts: tuple[Any, ...] = ()
    _kept: dict[str, int] = field(default_factory=dict)


def test_what_a_frozen_value_holds_is_fixed_and_what_it_keeps_for_itself_is_not() -> None:
    given = {"a": np.zeros(2), "b": {"c": 1}}
    held = Held(given, (np.ones(1), 2))
    held._kept["n"] = 1
    given["d"] = 3
    assert set(held.shares) == {"a", "b"}
    assert not writable(held, "held", set()) and is_dataclass(held)
    for other in (pickle.loads(pickle.dumps(held)), copy.deepcopy(held), copy.copy(held)):
        assert not writable(other, "held", set())
        assert other.shares["b"] == {"c": 1} and other._kept == {"n": 1}


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.__setitem__("a", 2),
        lambda d: d.__delitem__("a"),
        lambda d: d.update(a=2),
        lambda d: d.pop("a"),
        lambda d: d.popitem(),
        lambda d: d.clear(),
        lambda d: d.setdefault("b", 2),
        lambda d: d.__ior__({"a": 2}),
    ],
)
def test_a_read_only_dict_refuses_every_change(change: Callable[[dict], Any]) -> None:
    held = fixed({"a": 1})
    with pytest.raises(TypeError, match="part of a frozen value; dict"):
        change(held)
    assert held == {"a": 1} and type(held) is ReadOnly


def test_a_read_only_dict_is_a_dict_to_all_who_read() -> None:
    held = fixed({"a": 1, "b": {"c": 2}})
    assert json.dumps(held) == '{"a": 1, "b": {"c": 2}}'
    assert repr(held) == "{'a': 1, 'b': {'c': 2}}"
    assert type(held | {"d": 3}) is dict and type(held.copy()) is dict
    assert pickle.loads(pickle.dumps(held)) == held == copy.deepcopy(held)
