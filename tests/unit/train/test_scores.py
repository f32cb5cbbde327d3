"""Scores: golden numbers, closed forms, every kind of source, refusals."""

import pickle
import re

import numpy as np
import pytest
from scipy.special import gammaln
from tests.structure_data import (
    brute_complexity,
    closed_form,
    counts_of,
    discrete,
    random_dag,
    random_table,
    sampled,
)

import credo as cr
from credo import _core
from credo.errors import InputError, SchemaError, UnknownNameError
from credo.train.scores.scores import SCORES

TABLE_SCORES = ["loglik", "aic", "bic", "mdl", "bdeu", "bds", "k2", "fnml", "qnml"]
LEARNING = "[A][C][F][B|A][D|A:C][E|B:F]"


def test_bnlearns_learning_test(shared_tables):
    table = cr.read(shared_tables / "learning_test.csv")
    found = cr.score(LEARNING, table, "bdeu", ess=1)
    assert found == pytest.approx(-24028.09477835, abs=1e-7)
    assert found["A"] == pytest.approx(-5502.137377, abs=1e-5)
    assert found["B", ["A"]] == pytest.approx(-3688.939521, abs=1e-5)
    assert cr.score(LEARNING, table, "bic") == pytest.approx(-24006.73, abs=0.01)


def test_bnlearns_gaussian_test(shared_tables):
    table = cr.read(shared_tables / "gaussian_test.csv.gz")
    graph = "[A][B][E][G][C|A:B][D|B][F|A:D:E:G]"
    assert cr.score(graph, table, "bge") == pytest.approx(-53258.941618, abs=1e-5)
    # maximum likelihood of each regression, by NumPy
    total = 0.0
    for child, parents in [("A", ""), ("C", "AB"), ("F", "ADEG")]:
        x = np.stack([np.ones(len(table)), *(table.values(p) for p in parents)], axis=1)
        y = table.values(child)
        left = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
        total = -0.5 * len(y) * (np.log(2 * np.pi * (left @ left) / len(y)) + 1)
        found = cr.score(graph, table, "loglik")[child, list(parents)]
        assert found == pytest.approx(total, rel=1e-10)
        d = len(parents) + 2
        assert cr.score(graph, table, "aic")[child, list(parents)] == pytest.approx(total - d)


def test_conditional_gaussian_is_a_regression_in_each_configuration(shared_tables):
    table = cr.read(shared_tables / "clgaussian_test.csv.gz")
    graph = "[A][B][C][H][D|A:H][F|B:C][E|B:D][G|A:D:E:F]"
    found = cr.score(graph, table, "bic")
    a, f = table.codes("A"), table.codes("F")
    total = 0.0
    for i in range(2):
        for j in range(2):
            rows = (a == i) & (f == j)
            x = np.stack([np.ones(rows.sum()), table.values("D")[rows], table.values("E")[rows]], 1)
            y = table.values("G")[rows]
            left = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
            total += -0.5 * len(y) * (np.log(2 * np.pi * (left @ left) / len(y)) + 1)
    total -= 0.5 * np.log(len(table)) * 4 * 4
    assert found["G", ["A", "D", "E", "F"]] == pytest.approx(total, rel=1e-10)
    assert found["F", ["B", "C"]] == pytest.approx(
        closed_form(table, cr.Dag.parse("[B][C][F|B:C]"), "bic")
        - closed_form(table, cr.Dag.parse("[B][C]"), "bic")
    )


@pytest.mark.parametrize("name", TABLE_SCORES)
def test_scores_of_tables_are_their_closed_forms(name):
    rng = np.random.default_rng(3)
    for trial in range(6):
        arities = rng.integers(2, 5, 5).tolist()
        table = discrete(random_table(rng, 150 + 300 * trial, arities), arities)
        dag = random_dag(list(table.schema.names), rng)
        ess = {"ess": 2.5} if name in ("bdeu", "bds") else {}
        found = cr.score(dag, table, name, **ess)
        assert found == pytest.approx(closed_form(table, dag, name, 2.5), rel=1e-9)


def test_a_family_with_far_more_cells_than_rows_is_scored_from_the_cells_seen():
    rng = np.random.default_rng(4)
    arities = [3] * 13  # 1.6 million cells, 60 rows
    table = discrete(random_table(rng, 60, arities), arities)
    names = list(table.schema.names)
    dag = cr.Dag([(p, names[-1]) for p in names[:-1]], names)
    for name in ("loglik", "bdeu", "k2", "bds", "fnml"):
        found = cr.score(dag, table, name)[names[-1], names[:-1]]
        only = cr.Dag([(p, names[-1]) for p in names[:-1]], names)
        rest = closed_form(table, cr.Dag.empty(names[:-1]), name)
        assert found == pytest.approx(closed_form(table, only, name) - rest, rel=1e-9)


def test_whole_weights_are_copies_and_a_stream_is_its_table(tmp_path):
    rng = np.random.default_rng(5)
    columns = random_table(rng, 300, [2, 3, 2, 4])
    times = rng.integers(1, 4, 300)
    copies = {n: np.repeat(c, times) for n, c in columns.items()}
    plain = discrete(copies)
    weighted = cr.read(
        {n: list(map(int, c)) for n, c in columns.items()},
        schema={n: list(range(int(c.max()) + 1)) for n, c in columns.items()},
        weights=times,
    )
    path = tmp_path / "rows.csv"
    path.write_text(
        ",".join(copies)
        + "\n"
        + "\n".join(",".join(map(str, r)) for r in zip(*copies.values(), strict=True))
    )
    stream = cr.read(path, memory="1 kB", schema=dict.fromkeys(copies, "discrete"))
    assert isinstance(stream, cr.Stream)
    dag = random_dag(list(columns), rng)
    for name in TABLE_SCORES:
        expected = cr.score(dag, plain, name)
        assert cr.score(dag, weighted, name) == pytest.approx(expected, rel=1e-12)
        assert cr.score(dag, stream, name) == pytest.approx(expected, rel=1e-12)
    real = cr.read(
        {n: list(map(int, c)) for n, c in columns.items()},
        schema={n: list(range(int(c.max()) + 1)) for n, c in columns.items()},
        weights=times * 0.5,
    )
    half = cr.score(dag, real, "loglik")
    assert half == pytest.approx(0.5 * cr.score(dag, plain, "loglik"), rel=1e-12)


def test_bde_with_a_uniform_prior_network_is_bdeu_and_follows_another():
    rng = np.random.default_rng(6)
    table = discrete(random_table(rng, 200, [2, 3, 2]), [2, 3, 2])
    names = list(table.schema.names)
    dag = cr.Dag.parse(f"[{names[0]}][{names[1]}|{names[0]}][{names[2]}|{names[0]}:{names[1]}]")
    flat = cr.Network(
        cr.Dag.empty(names),
        {n: [1 / r] * r for n, r in zip(names, (2, 3, 2), strict=True)},
        states={v.name: v.states for v in table.schema.variables},
    )
    assert cr.score(dag, table, "bde", ess=4, prior=flat) == pytest.approx(
        cr.score(dag, table, "bdeu", ess=4), rel=1e-12
    )
    prior = cr.fit(dag, table, prior=cr.BDeu(5))
    found = cr.score(dag, table, "bde", ess=7, prior=prior)[names[1], [names[0]]]
    joint = prior.p([names[0], names[1]])
    alpha = 7 * np.array(list(joint.values())).reshape(2, 3)
    c = counts_of(table, names[1], [names[0]])
    expected = (gammaln(c + alpha) - gammaln(alpha)).sum() - (
        gammaln((c + alpha).sum(1)) - gammaln(alpha.sum(1))
    ).sum()
    assert found == pytest.approx(expected, rel=1e-10)


def test_a_prior_worth_very_much_data_leaves_the_rows_as_likely_as_it_says():
    table = cr.read({"a": ["x", "y"] * 4_000, "b": ["u", "u", "v", "w"] * 2_000})
    states = {v.name: v.states for v in table.schema.variables}
    flat = cr.Network("[a][b]", {"a": [0.5, 0.5], "b": [1 / 3] * 3}, states=states)
    told = -8_000 * np.log(6)
    for ess in (1e10, 1e15):
        assert cr.score("[a][b|a]", table, "bdeu", ess=ess) == pytest.approx(told, rel=1e-6)
        assert cr.score("[a][b|a]", table, "bde", ess=ess, prior=flat) == pytest.approx(
            told, rel=1e-6
        )
        assert cr.fit("[a][b|a]", table, prior=cr.BDeu(ess)).record.score == pytest.approx(
            told, rel=1e-6
        )


def test_a_prior_over_edges_adds_its_log_odds():
    table = cr.examples.pneumonia()
    plain = cr.score("[Pneu][Fev|Pneu][Cou|Pneu]", table, "k2")
    sparse = cr.score("[Pneu][Fev|Pneu][Cou|Pneu]", table, "k2", edge_prior=0.1)
    assert sparse - plain == pytest.approx(2 * np.log(0.1 / 0.9))
    some = cr.score("[Pneu][Fev|Pneu][Cou|Pneu]", table, "k2", edge_prior={("Pneu", "Fev"): 0.8})
    assert some - plain == pytest.approx(np.log(4))
    with pytest.raises(InputError, match="must be between 0 and 1"):
        cr.score("[Pneu][Fev]", table, "k2", edge_prior=1.0)


def test_a_score_of_the_users_own():
    def entropy(statistic):
        c = np.asarray(statistic, dtype=float).reshape(-1, statistic.shape[-1])
        p = c / np.maximum(c.sum(axis=1, keepdims=True), 1)
        return float((c[c > 0] * np.log(p[c > 0])).sum())

    table = cr.examples.pneumonia()
    assert cr.score("[Pneu][Fev|Pneu]", table, entropy) == pytest.approx(
        cr.score("[Pneu][Fev|Pneu]", table, "loglik")
    )
    with pytest.raises(InputError, match="must return a number"):
        cr.score("[Pneu][Fev|Pneu]", table, lambda s: float("nan"))


def test_mdl_says_what_its_bits_are_for():
    table = cr.examples.pneumonia()
    found = cr.score("[Pneu][Fev|Pneu]", table, "mdl")
    assert sum(found.parts.values()) * -np.log(2) == pytest.approx(found)
    assert found.parts["bits of parameters"] == pytest.approx(0.5 * np.log2(12) * 3)
    assert "bits of structure" in str(found)


def test_the_normalising_sum_against_brute_force():
    for n in (1, 2, 7, 50, 400):
        for k in (1, 2, 3, 5, 12):
            assert _core.log_complexity(n, k) == pytest.approx(brute_complexity(n, k), rel=1e-10)
    for n, k in ((1000, 5), (1000, 200), (50, 1000)):
        assert _core.log_complexity_approximate(n, k) == pytest.approx(
            _core.log_complexity(n, k), rel=5e-3
        )


def test_rows_with_gaps_are_used_where_a_family_has_them():
    table = cr.read({"a": ["x", "y", None, "x", "y", "y"], "b": ["u", "v", "v", None, "v", "u"]})
    found = cr.score("[a][b|a]", table, "loglik")
    whole = table.take([0, 1, 4, 5])
    assert found["b", ["a"]] == pytest.approx(
        cr.score("[a][b|a]", whole, "loglik")["b", ["a"]] * 6 / 4
    )
    with pytest.raises(InputError, match="needs complete rows, and 'a' has missing cells"):
        cr.score("[a][b|a]", table, "bdeu")


def test_a_score_is_a_number_that_can_be_kept(capsys):
    found = cr.score("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), "bic")
    again = pickle.loads(pickle.dumps(found))
    assert again == found and again.families == found.families
    assert f"{found:.2f}" == f"{float(found):.2f}"
    assert "Fev" in found._repr_html_()
    assert set(SCORES) >= set(TABLE_SCORES)
    with pytest.raises(UnknownNameError):
        found["Cou"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"score": "bdue"}, "Did you mean 'bde' or 'bdeu'"),
        ({"score": 3}, "a name or a function"),
        ({"score": "bic", "ess": 2}, "ess= goes with the score 'bdeu' or 'bde' or 'bds'"),
        ({"score": "bdeu", "ess": 0}, "ess must be a number above 0"),
        ({"score": "bdeu", "ess": float("nan")}, "ess must be a number above 0"),
        ({"score": "bde"}, "needs a prior network"),
        ({"score": "bge"}, "is for continuous variables; 'Fev' is discrete"),
        ({"score": "bic", "threads": 0}, "threads must be a whole number"),
        ({"dag": "[Pneu][Fevr|Pneu]"}, "Did you mean 'Fev'"),
        ({"dag": 5}, "A graph is needed"),
    ],
)
def test_refusals_say_what_to_do(change, text):
    given = {"dag": "[Pneu][Fev|Pneu]", "score": "bdeu"} | change
    with pytest.raises((InputError, UnknownNameError), match=re.escape(text)):
        cr.score(given.pop("dag"), cr.examples.pneumonia(), **given)


def test_refusals_of_continuous_columns():
    rng = np.random.default_rng(0)
    x = rng.normal(size=50)
    table = cr.read({"x": x, "y": 2 * x, "z": rng.normal(size=50)})
    assert cr.score("[x][y|x][z]", table, "bic") > cr.score("[x][y][z]", table, "bic") + 300
    with pytest.raises(SchemaError, match="is for discrete variables; 'x' is continuous"):
        cr.score("[x][z]", table, "fnml")
    with pytest.raises(InputError, match="freedom must be above"):
        cr.score("[x][z]", table, "bge", freedom=2)
    flat = cr.read({"x": x, "c": np.full(50, 2.5)}, schema={"c": "continuous"})
    with pytest.raises(InputError, match="'c' is constant"):
        cr.score("[x][c]", flat, "bic")


def test_scores_of_the_network_that_made_the_rows_beat_the_empty_graph():
    net = cr.Network("[a][b|a]", {"a": 0.3, "b": {False: 0.1, True: 0.9}})
    table = sampled(net, 500, 1)
    for name in TABLE_SCORES:
        assert cr.score(net, table, name) > cr.score("[a][b]", table, name)


@pytest.mark.parametrize(
    ("freedom", "prior_rows", "joined", "apart"),
    [
        (5, 1e-300, -4169.47648879426626, -3486.4492674815988),
        (1e6, 1.0, -87.1100752860013879, -87.1126186807274156),
        (1e10, 1.0, -87.1154083650590613, -87.1154086194370575),
        (1e15, 1e12, -48.9893853320853381, -48.989385332085956),
    ],
)
def test_bge_keeps_its_digits_under_a_prior_worth_much(freedom, prior_rows, joined, apart):
    """The references are the formula of Kuipers, Moffa & Heckerman (2014) in 60 digits."""
    rows = {"x": [0.0, 1.0, 2.0, 4.0, 7.0], "y": [1.0, 0.0, 3.0, 3.0, 9.0]}
    rows = cr.read(rows, {"y": "continuous"})
    prior = {"freedom": freedom, "prior_rows": prior_rows}
    assert cr.score("[x][y|x]", rows, "bge", **prior) == pytest.approx(joined, rel=1e-13)
    assert cr.score("[x][y]", rows, "bge", **prior) == pytest.approx(apart, rel=1e-13)
