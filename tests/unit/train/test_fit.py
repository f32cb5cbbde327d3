"""Tables learned from counts: priors, estimates, records, ties, known tables, every source."""

import math

import numpy as np
import pytest

import credo as cr
from credo.errors import (
    CredoWarning,
    InputError,
    LimitError,
    SchemaError,
    TableError,
    UnknownNameError,
)

DAG = "[Pneu][Fev|Pneu][Cou|Pneu]"


@pytest.fixture
def patients():
    return cr.examples.pneumonia()


def test_the_pneumonia_table(patients):
    net = cr.fit(DAG, patients)
    assert net.cpt("Fev").row(Pneu="T")["T"] == 0.6
    assert net.cpt("Fev").counts is None and net.cpt("Fev").prior is None
    net = cr.fit(DAG, patients, prior={"Fev": cr.Beta(3, 4)}, default=cr.K2())
    assert net.cpt("Fev").prior.tolist() == [[4, 3], [4, 3]]
    assert net.cpt("Fev").counts[1].tolist() == [6, 6]
    assert net.cpt("Fev").row(Pneu="T")["T"] == 0.5
    assert net.cpt("Cou").prior.tolist() == [[1, 1], [1, 1]]
    low, high = net.cpt("Fev").interval(0.95)
    exact = cr.Beta(6, 6).interval(0.95)
    assert (low[1, 1], high[1, 1]) == pytest.approx(tuple(exact), rel=1e-12)


@pytest.mark.parametrize(
    ("prior", "alpha"),
    [
        (cr.BDeu(8), 2.0),
        (cr.K2(), 1.0),
        (cr.Laplace(0.25), 0.25),
        (cr.Dirichlet({"T": 2.0, "F": 2.0}), 2.0),
        (np.full((2, 2), 3.0), 3.0),
    ],
)
def test_priors_are_pseudocounts(patients, prior, alpha):
    net = cr.fit("[Pneu][Fev|Pneu]", patients, {"Fev": prior}, default=cr.K2())
    n = np.array([[4, 3], [2, 3]])
    assert (net.cpt("Fev").prior == alpha).all()
    assert (net.cpt("Fev").counts == n + alpha).all()
    assert np.allclose(net.cpt("Fev").values, (n + alpha) / (n + alpha).sum(1, keepdims=True))


def test_a_dirichlet_finds_its_states_by_name(patients):
    net = cr.fit("[Pneu]", patients, cr.Dirichlet({"T": 9.0, "F": 1.0}))
    assert net.cpt("Pneu").prior.tolist() == [1.0, 9.0]
    net = cr.fit("[Pneu]", patients, cr.Dirichlet([1.0, 9.0]))  # no states: in their order
    assert net.cpt("Pneu").prior.tolist() == [1.0, 9.0]
    with pytest.raises(InputError, match="is over the states"):
        cr.fit("[Pneu]", patients, cr.Dirichlet({"yes": 1.0, "no": 1.0}))


def test_estimates(patients):
    n = np.array([7.0, 5.0])
    mean = cr.fit("[Pneu]", patients, cr.Laplace(3)).cpt("Pneu")
    mode = cr.fit("[Pneu]", patients, cr.Laplace(3), estimate="map").cpt("Pneu")
    mle = cr.fit("[Pneu]", patients, cr.Laplace(3), estimate="mle").cpt("Pneu")
    assert mean.values.tolist() == ((n + 3) / 18).tolist()
    assert mode.values.tolist() == ((n + 2) / 16).tolist()
    assert mle.values.tolist() == (n / 12).tolist()
    assert mode.counts.tolist() == mle.counts.tolist() == [10, 8]
    with pytest.raises(InputError, match="estimate='map' needs a prior"):
        cr.fit("[Pneu]", patients, estimate="map")
    with pytest.raises(InputError, match="estimate must be 'mean', 'map' or 'mle', got 'best'"):
        cr.fit("[Pneu]", patients, estimate="best")


def test_map_has_no_mode_below_one_row_a_cell():
    rows = {"a": ["x", "x", "y"], "b": ["u", "u", "v"]}
    with pytest.raises(InputError, match=r"The posterior of the table of 'b' has no mode"):
        cr.fit("[a][b|a]", rows, {"b": cr.Laplace(0.5)}, default=cr.K2(), estimate="map")
    net = cr.fit("[a][b|a]", rows, cr.K2(), estimate="map")
    assert net.cpt("b").row(a="x").to_dict() == {"u": 1.0, "v": 0.0}


def test_unseen_configurations_zeros_and_gaps_are_told():
    rows = {
        "a": ["0", "0", "1", "1", None, "0"],
        "b": ["0", "0", "0", "0", "1", "0"],
        "c": ["x", "y", "x", "x", "y", None],
    }
    net = cr.fit("[a][b][c|a:b]", rows)
    table = net.cpt("c")
    assert table.row(a="0", b="1").to_dict() == {"x": 0.5, "y": 0.5}  # never seen: uniform
    item = net.record.families["c"]
    assert item["unseen"] == 2 and item["unseen_first"] == (("0", "1"), ("1", "1"))
    assert item["zeros"] == 1 and item["skipped"] == 2 and item["rows"] == 4
    text = str(net.record)
    assert "c: 2 parent configurations never seen: uniform (first a=0, b=1)" in text
    assert "1 cell without a row in 1 family; their probability is 0 in c" in text
    assert "up to 2 rows skipped in 2 families for missing cells; EM (cr.em) uses them too" in text
    again = cr.fit("[a][b][c|a:b]", rows, cr.K2())
    assert "the prior alone" in str(again.record)


def test_the_likelihood_is_the_sum_of_the_families(patients):
    for prior in (None, cr.BDeu(3)):
        net = cr.fit(DAG, patients, prior)
        parts = [f["log_likelihood"] for f in net.record.families]
        assert sum(parts) == pytest.approx(net.log_likelihood(patients), rel=1e-12)
        assert net.record.score == net.record.details["log_likelihood"] == sum(parts)
    assert "sum" in str(net.record.families) and "<table>" in net.record.families._repr_html_()
    assert len(net.record.families) == 3 and net.record.families[0]["child"] == "Pneu"
    with pytest.raises(UnknownNameError, match="Did you mean 'Fev'"):
        net.record.families["Fevr"]


def test_the_sequential_product_is_the_marginal_likelihood(patients):
    """RELIABILITY, row 7: each row predicted from the rows before it."""
    whole = cr.fit(DAG, patients, cr.BDeu(2))
    net = cr.fit(DAG, patients.take([0]), cr.BDeu(2))
    first = math.log(0.5) * 3
    total = first
    for i in range(1, len(patients)):
        row = patients.take([i])
        total += net.log_likelihood(row)
        net = net.update(row)
    assert total == pytest.approx(whole.record.details["log_marginal"], rel=1e-12)
    assert net == whole


def test_the_evidence_of_all_tables_adds_up_to_one():
    """RELIABILITY, row 7: Σ exp(BDeu) over all tables of two variables and four rows is 1."""
    import itertools

    states = {"a": ["0", "1"], "b": ["0", "1"]}
    pairs = list(itertools.product("01", "01"))
    total = 0.0
    for rows in itertools.combinations_with_replacement(range(4), 4):
        n = np.bincount(rows, minlength=4)
        ways = math.factorial(4) / math.prod(math.factorial(int(k)) for k in n)
        columns = {v: [pairs[i][j] for i in rows] for j, v in enumerate("ab")}
        table = cr.read(columns, schema=states)
        net = cr.fit("[a][b|a]", table, cr.BDeu(1.7))
        total += ways * math.exp(net.record.details["log_marginal"])
    assert total == pytest.approx(1.0, abs=1e-12)


# --- sources ------------------------------------------------------------------------------


def test_every_source_gives_the_same(patients, tmp_path):
    net = cr.fit(DAG, patients, cr.BDeu(2))
    path = cr.examples.path("pneumonia")
    families = [(n, net.dag.parents(n)) for n in net.names]

    class Engine:
        schema = patients.schema

        def tally(self, wanted):
            return patients.tally(wanted)

    sources = [
        path,
        str(path),
        patients.to("pandas"),
        patients.to("polars"),
        patients.to("arrow"),
        {n: patients.values(n).tolist() for n in patients.schema.names},
        cr.read(path, memory="100 B"),
        cr.tally(patients, families),
        cr.tally(patients.take(slice(0, 5)), families)
        + cr.tally(patients.take(slice(5, 12)), families),
        Engine(),
    ]
    for source in sources:
        found = cr.fit(DAG, source, cr.BDeu(2))
        assert found == net
        assert found.record.score == net.record.score


def test_graphs_of_every_kind(patients):
    net = cr.fit(DAG, patients)
    edges = [("Pneu", "Fev"), ("Pneu", "Cou")]
    assert (
        cr.fit(cr.Dag(edges), patients) == cr.fit(edges, patients) == cr.fit(net, patients) == net
    )
    with pytest.raises(InputError, match="A graph is needed: a Dag"):
        cr.fit(3, patients)


def test_a_network_keeps_its_states(patients):
    v = cr.Variable("Pneu", "discrete", ("T", "unknown", "F"))
    start = cr.Network("[Pneu]", {"Pneu": cr.Cpt(v, (), [0.2, 0.3, 0.5])})
    for source in (
        patients,
        cr.examples.path("pneumonia"),
        cr.read(cr.examples.path("pneumonia"), memory="100 B"),
    ):
        net = cr.fit(start, source, cr.K2())
        assert net.cpt("Pneu").counts.tolist() == [6, 1, 8]
    with pytest.raises(SchemaError, match=r"The states of 'Pneu' are \['T', 'unknown', 'F'\]"):
        cr.fit(start, cr.tally(patients, ["Pneu"]))
    with pytest.raises(InputError, match="The model has its schema"):
        cr.fit(start, cr.examples.path("pneumonia"), schema={"Pneu": "discrete"})
    with pytest.raises(UnknownNameError, match="Column 'Pneu' is not in the table"):
        cr.fit(start, cr.read({"x": ["a", "b", "a"]}))


def test_weights_are_copies():
    twice = cr.examples.table("spam_emails_duplicates")
    once = cr.examples.table("spam_emails_weighted")
    dag = "[Spam][Free|Spam][Offer|Spam]"
    a, b = cr.fit(dag, twice, cr.K2()), cr.fit(dag, once, cr.K2())
    assert [a.cpt(n).counts.tolist() for n in a.names] == [
        b.cpt(n).counts.tolist() for n in b.names
    ]
    rows = {"x": ["a", "b", "a"], "w": [0.5, 1.25, 0.0]}
    net = cr.fit("[x]", rows, cr.K2(), weights="w")
    assert net.cpt("x").counts.tolist() == [1.5, 2.25]
    with pytest.raises(InputError, match="A tally is counted already"):
        cr.fit("[x]", cr.tally(rows, ["x"]), weights="w")
    with pytest.raises(TableError, match="a weight must be a finite number"):
        cr.fit("[x]", rows | {"w": [1.0, -1.0, 1.0]}, weights="w")
    with pytest.raises(TableError, match="Every weight is 0"):
        cr.fit("[x]", rows | {"w": [0, 0, 0]}, weights="w")


# --- known and shared ---------------------------------------------------------------------


def test_known_tables_are_held(patients):
    known = {"F": {"F": 0.9, "T": 0.1}, "T": {"F": 0.2, "T": 0.8}}
    net = cr.fit(DAG, patients, cr.K2(), fixed={"Fev": known})
    assert net.cpt("Fev").values.tolist() == [[0.9, 0.1], [0.2, 0.8]]
    assert net.cpt("Fev").counts is None
    assert net.record.families["Fev"]["prior"] == "fixed"
    assert net.record.score == pytest.approx(net.log_likelihood(patients), rel=1e-12)
    more = net.update(patients)
    assert more.cpt("Fev") == net.cpt("Fev") and more.cpt("Cou") != net.cpt("Cou")
    assert more.record.score == pytest.approx(2 * net.log_likelihood(patients), rel=0.05)
    again = cr.fit(net, patients, fixed=["Fev"])
    assert again.cpt("Fev").values.tolist() == net.cpt("Fev").values.tolist()
    with pytest.raises(InputError, match="needs a network to take the distributions from"):
        cr.fit(DAG, patients, fixed=["Fev"])
    with pytest.raises(UnknownNameError, match="Did you mean 'Fev'"):
        cr.fit(DAG, patients, fixed={"Feve": known})
    with pytest.raises(InputError, match="fixed= is a mapping"):
        cr.fit(DAG, patients, fixed="Fev")
    with pytest.raises(InputError, match="fixed= is a mapping"):
        cr.fit(DAG, patients, fixed=3)
    other = cr.Variable("Fev", "discrete", ("no", "yes"))
    with pytest.raises(SchemaError, match="The fixed distribution of 'Fev' has the states"):
        cr.fit("[Fev]", patients, fixed={"Fev": cr.Cpt(other, (), [0.5, 0.5])})


def test_an_impossible_known_table_says_so(patients):
    net = cr.fit("[Pneu]", patients, fixed={"Pneu": {"F": 1.0, "T": 0.0}})
    assert net.record.score == -math.inf


def test_tied_families_share_their_counts(patients):
    apart = cr.fit(DAG, patients, cr.K2())
    net = cr.fit(DAG, patients, cr.K2(), tied=[["Fev", "Cou"]])
    shared = apart.cpt("Fev").counts + apart.cpt("Cou").counts - 1
    assert net.cpt("Fev").counts.tolist() == net.cpt("Cou").counts.tolist() == shared.tolist()
    assert net.cpt("Fev").values.tolist() == net.cpt("Cou").values.tolist()
    parts = [f["log_likelihood"] for f in net.record.families]
    assert sum(parts) == pytest.approx(net.log_likelihood(patients), rel=1e-12)
    assert net.record.families["Cou"]["log_marginal"] is None  # counted once, with Fev's
    # one coin thrown twice as often: the evidence of the shared table
    from scipy.special import betaln

    n = shared - 1
    expected = sum(betaln(*(row + 1)) for row in n) + betaln(8, 6)
    assert net.record.details["log_marginal"] == pytest.approx(expected, rel=1e-12)
    for bad, says in [
        ([["Fev", "Pneu"]], "'Fev' and 'Pneu' cannot be tied: their families have the shapes"),
        ([["Fev", "Cou"], ["Cou"]], "'Cou' is tied twice"),
        ([["Fev", "Fev"]], "'Fev' is tied twice"),
        ("Fev", "tied= is a list of lists"),
        (["Fev"], "tied= is a list of lists"),
    ]:
        with pytest.raises(InputError, match=says):
            cr.fit(DAG, patients, tied=bad)
    with pytest.raises(UnknownNameError, match="The tied variable 'Fe' is not in the graph"):
        cr.fit(DAG, patients, tied=[["Fe", "Cou"]])
    with pytest.raises(InputError, match="fixed and tied at once"):
        cr.fit(DAG, patients, tied=[["Fev", "Cou"]], fixed={"Fev": {"F": [1, 0], "T": [0, 1]}})


# --- more rows ----------------------------------------------------------------------------


@pytest.mark.parametrize("options", [
    {}, {"prior": cr.BDeu(10 / 7)}, {"prior": cr.Laplace(2), "estimate": "map"},
    {"prior": cr.K2(), "estimate": "mle"}, {"prior": cr.BDeu(1), "tied": [["Fev", "Cou"]]},
    {"prior": cr.K2(), "fixed": {"Fev": {"F": [0.9, 0.1], "T": [0.2, 0.8]}}},
])  # fmt: skip
def test_an_update_is_the_fit_of_all_rows(patients, tmp_path, options):
    whole = cr.fit(DAG, patients, **options)
    net = cr.fit(DAG, patients.take(slice(0, 4)), **options)
    for part in (patients.take(slice(4, 9)), patients.take(slice(9, 12))):
        net.save(tmp_path / "net.credo")
        net = cr.load(tmp_path / "net.credo").update(part)
    assert net == whole
    assert net.record.score == whole.record.score
    assert net.record.details["log_marginal"] == whole.record.details["log_marginal"]
    assert net.record.details["rows"] == 12
    for name in net.names:
        assert net.cpt(name).learned.same_as(whole.cpt(name).learned)
    families = [(n, net.dag.parents(n)) for n in net.names]
    half = cr.fit(DAG, patients.take(slice(0, 4)), **options)
    assert half.update(cr.tally(patients.take(slice(4, 12)), families)) == whole


def test_updates_that_cannot_be(patients):
    net = cr.Network("[Pneu]", {"Pneu": {"F": 0.5, "T": 0.5}})
    with pytest.raises(InputError, match="was not learned from rows, so it cannot be updated"):
        net.update(patients)
    fitted = cr.fit("[Pneu]", patients)
    with pytest.raises(UnknownNameError, match="Column 'Pneu' is not in the table"):
        fitted.update({"Fev": ["T"]})
    with pytest.raises(InputError, match="'maybe'"):
        fitted.update({"Pneu": ["maybe"]})


def test_a_posterior_of_unknown_origin_is_the_next_prior(patients):
    v = patients.schema["Pneu"]
    net = cr.Network("[Pneu]", {"Pneu": cr.Cpt(v, (), [0.5, 0.5], [2.0, 2.0])})
    more = net.update(patients)
    assert more.cpt("Pneu").counts.tolist() == [9, 7]
    assert more.cpt("Pneu").prior.tolist() == [2, 2]


def test_a_table_given_in_another_order_keeps_what_it_learned(patients):
    net = cr.fit("[Pneu][Fev][Cou|Pneu:Fev]", patients, cr.K2())
    turned = net.cpt("Cou").on(net.variable("Cou"), (net.variable("Fev"), net.variable("Pneu")))
    assert turned.counts[1, 0].tolist() == net.cpt("Cou").counts[0, 1].tolist()
    assert turned.learned.observed.names == ("Fev", "Pneu", "Cou")
    back = turned.on(net.variable("Cou"), (net.variable("Pneu"), net.variable("Fev")))
    assert back == net.cpt("Cou") and back.learned.same_as(net.cpt("Cou").learned)


# --- refusals -----------------------------------------------------------------------------


def test_refusals(patients):
    with pytest.raises(UnknownNameError, match=r"Variable 'Feve' is not in the table.*needs EM"):
        cr.fit("[Feve]", patients)
    with pytest.raises(UnknownNameError, match="The prior of 'Feve' is not for a node"):
        cr.fit("[Fev]", patients, prior={"Feve": cr.K2()})
    with pytest.raises(InputError, match="default= goes with a mapping"):
        cr.fit("[Fev]", patients, prior=cr.K2(), default=cr.K2())
    with pytest.raises(InputError, match=r"got the word 'bdeu'.*prior=cr\.BDeu\(1\)"):
        cr.fit("[Fev]", patients, prior="bdeu")
    with pytest.raises(InputError, match="The prior of the table of 'Fev' must be BDeu, K2"):
        cr.fit("[Fev]", patients, prior=object())
    with pytest.raises(InputError, match=r"must have the shape \(2,\)"):
        cr.fit("[Fev]", patients, prior=[1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="must all be above 0"):
        cr.fit("[Fev]", patients, prior=[1.0, 0.0])
    for bad in (0, -1, math.nan, "x"):
        with pytest.raises(InputError, match="The ess of BDeu"):
            cr.BDeu(bad)
        with pytest.raises(InputError, match="The pseudo-count of Laplace"):
            cr.Laplace(bad)
    with pytest.raises(InputError, match="which is too little to reckon with"):
        cr.fit("[Fev]", patients, cr.BDeu(1.5e-15))
    rows = {"a": ["x", "y", "x"], "c": [1.5, 2.5, 3.25]}
    with pytest.raises(InputError, match="sample_variance=True goes with estimate='mle'"):
        cr.fit("[a]", rows, cr.K2(), sample_variance=True)
    net = cr.fit("[Fev]", patients)
    with pytest.raises(InputError, match="The table of 'Fev' has no posterior"):
        net.cpt("Fev").interval()
    with pytest.raises(InputError, match="The table of 'Fev' has no posterior"):
        net.cpt("Fev").row(interval=0.9)


def test_a_table_of_a_thousand_million_cells_is_refused_before_it_is_made():
    rng = np.random.default_rng(0)
    rows = {f"x{i}": [str(v) for v in rng.integers(0, 10, 200)] for i in range(9)}
    rows["y"] = [str(v) for v in rng.integers(0, 10, 200)]
    parents = ":".join(f"x{i}" for i in range(9))
    dag = "".join(f"[x{i}]" for i in range(9)) + f"[y|{parents}]"
    with pytest.raises(LimitError, match="The table of 'y' would have 10,000,000,000 numbers"):
        cr.fit(dag, rows)


def test_one_state_is_certain_and_warned_of():
    rows = cr.read({"a": ["x", "x"], "b": ["u", "v"]}, schema={"a": ["x"]})
    with pytest.warns(CredoWarning, match="a: one state only"):
        net = cr.fit("[a][b|a]", rows, cr.K2())
    assert net.p("a").to_dict() == {"x": 1.0}
    assert net.cpt("a").interval().lower.tolist() == [1.0]
    assert net.p("a", interval=0.9).low.tolist() == [1.0]


def test_threads_do_not_change_a_bit(patients):
    a, b = (cr.fit(DAG, patients, cr.BDeu(3), threads=t) for t in (1, 4))
    assert a == b and a.record.score == b.record.score


def test_priors_say_what_they_are():
    assert (str(cr.BDeu(10)), str(cr.K2()), str(cr.Laplace(0.5))) == (
        "BDeu(10)", "K2()", "Laplace(0.5)",
    )  # fmt: skip
    assert cr.BDeu(10) == cr.BDeu(10.0) and hash(cr.K2()) == hash(cr.K2())


def test_statistics_must_agree_and_have_rows(patients):
    from credo.stats.family import Families
    from credo.stats.tally import Tally

    v = cr.Variable("Pneu", "discrete", ("F", "T"))
    other = cr.Variable("Pneu", "discrete", ("F", "T", "?"))
    fev = cr.Variable("Fev", "discrete", ("F", "T"))
    families = Families.of([("Pneu", []), ("Fev", ["Pneu"])])
    parts = [cr.Counts((v,), np.ones(2)), cr.Counts((other, fev), np.ones((3, 2)))]
    with pytest.raises(SchemaError, match="The statistics differ on the states of 'Pneu'"):
        cr.fit("[Pneu][Fev|Pneu]", Tally(families, parts.__getitem__, 2))
    with pytest.raises(TableError, match="There are no rows to learn from"):
        cr.fit("[Pneu]", Tally(Families.of(["Pneu"]), parts.__getitem__, 0))
    with pytest.raises(UnknownNameError, match="The family"):
        cr.fit("[Fev]", cr.tally(patients, ["Pneu"]))


def test_sparse_families_are_learned_too():
    """More cells than the kernels keep dense."""
    rng = np.random.default_rng(0)
    rows = {f"x{i}": [str(v) for v in rng.integers(0, 12, 300)] for i in range(5)}
    dag = "[x0][x1][x2][x3][x4|x0:x1:x2:x3]"
    net = cr.fit(dag, rows, cr.BDeu(1))
    table = net.cpt("x4")
    assert table.learned.observed.total == 300
    assert table.counts.sum() == pytest.approx(301)
    assert net.record.families["x4"]["unseen"] > 20_000 - 300
    assert net.update({k: v[:3] for k, v in rows.items()}).cpt("x4").counts.sum() == pytest.approx(
        304
    )


def test_tied_families_have_one_prior():
    dag, rows, tied = "[Pneu][Fev|Pneu][Cou|Pneu]", cr.examples.pneumonia(), [["Fev", "Cou"]]
    with pytest.raises(InputError, match="'Fev' and 'Cou' are tied, so they share one prior"):
        cr.fit(dag, rows, prior={"Fev": cr.K2(), "Cou": cr.BDeu(1)}, tied=tied)
    net = cr.fit(dag, rows, prior={"Fev": cr.K2(), "Cou": cr.K2()}, tied=tied)
    assert net.cpt("Fev").counts.tolist() == net.cpt("Cou").counts.tolist()
