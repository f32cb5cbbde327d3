"""Every public value shows itself in a notebook: well-formed HTML in which every name is escaped."""

import importlib
import inspect
import pkgutil
from html.parser import HTMLParser

import pytest

import credo as cr

ODD = "<script>alert(\"1\")</script> & 'x'"
STATES = ("<i>no</i>", 'yes & "so"')
VOID = {"br", "hr", "img", "meta", "link", "input", "path", "rect", "polygon", "line", "polyline"}


class Checker(HTMLParser):
    """Follows the tags of a fragment; what does not close, or runs, is kept in `wrong`."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.stack, self.wrong, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "iframe"):
            self.wrong.append(tag)
        self.wrong += [name for name, value in attrs if name.startswith("on")]
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.stack or self.stack.pop() != tag:
            self.wrong.append(f"/{tag}")

    def handle_data(self, data):
        self.text += data


def problems(value):
    shown = value._repr_html_()
    checker = Checker()
    checker.feed(shown)
    checker.close()
    assert shown.strip() and isinstance(shown, str)
    assert "<script>" not in shown and "<i>no</i>" not in shown
    return checker.wrong + [f"open {t}" for t in checker.stack]


def _values():
    """One of each value that the library returns, with a name that would break a careless page."""
    import numpy as np

    from credo.core.schema import Column
    from credo.estimators import calibration_report, compare, learning_curves
    from credo.predict.intervals.interval import predict_proba_interval

    rows = {
        ODD: [STATES[i % 2] for i in range(24)],
        "B": [STATES[(i // 2) % 2] for i in range(24)],
        "C": [STATES[int(i % 5 > 2)] for i in range(24)],
    }
    table = cr.read(rows)
    net = cr.fit(cr.Dag([(ODD, "B"), ("B", "C")]), table, prior=cr.BDeu(2))
    plain = cr.fit(cr.Dag([(ODD, "B"), ("B", "C")]), table)
    gaps = cr.read({ODD: [*rows[ODD][:-2], None, None], "B": [None, *rows["B"][1:]]})
    numbers = {
        ODD: [i % 7 + 0.5 for i in range(20)],
        "y": [1.5 * (i % 7) + i % 3 for i in range(20)],
    }
    line = cr.fit(cr.Dag([(ODD, "y")]), numbers, prior=cr.LinePrior())
    scaled = cr.fit(
        cr.Dag([(ODD, "y")]), numbers, cr.LinePrior(), numbers={ODD: "square-root", "y": "log1p"}
    )
    softmax = cr.fit(
        cr.Dag([("y", ODD)]), {ODD: [STATES[i % 3 > 1] for i in range(20)], "y": numbers["y"]}
    ).cpt(ODD)
    dag = net.dag
    tally = table.tally([ODD, ("B", [ODD])])
    moments = cr.read(numbers).tally([ODD])[ODD]
    markov = cr.MarkovNetwork({(ODD, "B"): [[1, 2], [3, 4]]}, states={ODD: STATES, "B": STATES})
    spins = cr.ising_grid(2)
    bags = cr.Hypotheses({ODD: {"lime": 0.5, "cherry": 0.5}, "h": {"lime": 1.0, "cherry": 0.0}})
    after = bags.observe(["lime", "lime"])
    naive = cr.naive_bayes(table, "C")
    cell = {"B": STATES[0]}
    given = {"C": STATES[1]}
    em = cr.em(cr.Dag([(ODD, "B")]), gaps)
    averaged = cr.average(table)
    xy = np.array([[0.1 * i] for i in range(32)]), np.array([0, 1, 0, 1] * 8)
    out = [
        table, table.schema, table.schema[ODD], table.schema.columns[0],
        Column(ODD, "discrete", STATES[0]),
        cr.read(cr.examples.path("play_tennis"), memory="100 B"),
        tally, tally[ODD], tally["B", [ODD]], moments,
        cr.Families([(ODD, ["B"])]), next(iter(cr.Families([(ODD, ["B"])]))),
        table.select([ODD]).unique(),
        dag, dag.cpdag(), dag.moral(), dag.why(ODD, "C", given=["B"]),
        dag.factorisation(), dag.independences(), next(iter(dag.independences())),
        dag.compare(cr.Dag([("B", ODD)], nodes=dag.nodes)),
        net, net.record, net.record.families, net.cpt("B"), net.cpt("B").interval(),
        net.cpt("B").learned, line.cpt("y"), line.cpt("y").posterior,
        line.cpt("y").interval(0.9, of="variance"), line,
        net.p(ODD, given=given), net.p([ODD, "B"]), net.p(ODD, interval=0.9),
        net.ask(f'P("{ODD.replace(chr(34), chr(92) + chr(34))}")', explain=True),
        net.ask('P(B="<i>no</i>")', interval=0.9), net.mpe(given),
        net.ask('P(B="<i>no</i>")', explain=True).account,
        net.p(ODD, method="importance", budget="500 samples"),
        net.p(ODD, method="importance", budget="500 samples").approximation,
        net.ask('P(B="<i>no</i>")', method="importance", budget="500 samples"),
        line.p("y", given={ODD: 1.0}), line.p([ODD, "y"]), line.p("y", interval=0.9),
        predict_proba_interval(net, {"B": [STATES[0]]}, "C", 0.9, 200, 0, 1),
        net.impute({"B": [STATES[0]], "C": [None]}, "posterior"),
        em, em.record, cr.missingness(gaps), cr.edge_strengths(table, "bic", samples=3),
        averaged, averaged.edges, averaged.parents("B"), averaged.effect(ODD, "B"),
        averaged.edge(ODD, "B"),
        cr.independence_test(table, ODD, "B"), cr.score(dag, table, "bic"),
        markov, markov.factors[0], markov.to_factor_graph(), markov.graph,
        markov.why(ODD, "B"),
        spins, spins.potentials[0],
        bags, after.posterior, after.predict(), after.history, after.compare("lime"),
        cr.number_game(20).observe([2, 4]).generalise(),
        naive, naive.explain(cell), naive.p(cell),
        cr.Bernoulli(0.3, name=ODD), cr.Categorical([0.2, 0.8], states=STATES, name=ODD),
        cr.Gaussian(0, 1, name=ODD), cr.distributions.MultivariateGaussian([0, 0], [[1, 0], [0, 1]]),
        cr.Beta(1, 2, name=ODD), cr.Dirichlet([1, 2], states=STATES, name=ODD),
        cr.BDeu(1), cr.K2(), cr.Laplace(1), cr.LinePrior(),
        cr.distributions.NormalInverseGamma.default(), cr.distributions.NormalMean(0, 1, 1),
        cr.distributions.NormalInverseWishart.default([0, 0], [1, 1]), cr.distributions.StudentT(5, 0, 1),
        cr.distributions.MultivariateT(5, [0, 0], [[1, 0], [0, 1]]),
        cr.Bernoulli.likelihood_curve([True, False]),
        cr.predictive_check(cr.Gaussian(0, 1), [0.1, -0.3, 1.0], draws=50),
        cr.plot.network_svg(net), calibration_report(cr.estimators.NaiveBayes(), *xy, cv=2),
        compare(table, "C", methods=["naive Bayes"], cv=2),
        learning_curves(table, "C", sizes=[6, 10], repeats=1, methods=["naive Bayes"]),
        cr.check(net, table, draws=20, edges=0, folds=2, sections=["outliers", "held_out"]),
        plain,
    ]  # fmt: skip
    check = out[-2]
    scales = [cr.Transform("log"), cr.Bins([1.0], [0.0, 1.0, 3.0], [0.1, 0.4, 0.4, 0.1])]
    priced = {ODD: [1.0, 2.0, 5.0, 9.0, 12.0, 30.0]}
    scales += [cr.learn(priced, numbers={ODD: way}).p(ODD) for way in ("log", [4.0])]
    more = [*scales, *_mixed_values(), *_groups(), *_decisions(net), *_causes(net, table)]
    return [softmax, scaled.p([ODD, "y"]), *out, *check.findings, *check.sections.values(), *more]


def _decisions(net):
    act = f"act {ODD}"
    worth = cr.Utility(
        "U", (net.variable("B"), cr.Variable(act, "discrete", STATES)), [[1, 2], [3, 0]]
    )
    key = act.replace('"', chr(92) + '"')
    d = net.decide({f'"{key}"|C': STATES}, {f'U|B:"{key}"': worth})
    solved, best = d.solve(draws=50), d.best({"C": STATES[0]}, draws=50)
    compared = d.compare({ODD: None}, draws=50)
    return [
        d, worth, solved, solved.policy, solved[act], best, best.ranked[0], compared,
        compared.strategies[0], d.simulate(n=20), d.ask("EU", interval=0.9), d.next_question(),
        d.value_of_information(), d.value_of_information().items[0], d.sensitivity(),
        d.sensitivity().parameters[0], d.value_of_rows("B", 3, draws=20),
    ]  # fmt: skip


def _causes(net, table):
    """What is said of causes: graphs, formulas, sets, effects."""
    from credo.predict.questions.question import quoted

    graph = cr.CausalGraph([(ODD, "B"), ("B", "C")], hidden=[(ODD, "C")])
    found = graph.identify(f"P(C | do({quoted(ODD)}))")
    effect = cr.effect(table, ODD, "C", graph, values=STATES, outcome=STATES[1])
    return [
        graph, found, found.formula, found.question, graph.front_door(ODD, "C"),
        graph.adjustment_sets(ODD, "B"), graph.adjustment_sets(ODD, "B")[0], effect,
        effect.difference, cr.CausalGraph(graph).why(ODD, "C"), cr.learn(table, search="fci"),
        cr.Pag((ODD, "B"), ((ODD, "B", "o", ">"),)),
        graph.do("C").identify("P(B)"), *cr.CausalGraph("[Z][X|Z][Y|X] X<->Y").instruments("X", "Y"),
    ]  # fmt: skip


def _mixed_values():
    rows = {
        ODD: [STATES[i % 2] for i in range(24)],
        "x": [float(i % 2) + 0.1 * (i % 7) for i in range(24)],
        "y": [i % 5 + 0.5 for i in range(24)],
    }
    net = cr.fit(
        cr.Dag([(ODD, "x"), ("x", "y")]), rows, prior={ODD: cr.BDeu(2)}, default=cr.LinePrior()
    )
    return [
        net, net.p("x"), net.p(["x", "y"]), net.p([ODD, "x"]), net.p("x", interval=0.9),
        net.p(["x", "y"], interval=0.9), net.p(ODD, given={"y": 2.5}),
    ]  # fmt: skip


def _groups():
    rows = {
        ODD: [STATES[i // 12] for i in range(24)],
        "x": [float(i // 12) * 5 + 0.1 * (i % 7) for i in range(24)],
        "y": [float(i // 12) + 0.1 * (i % 5) for i in range(24)],
    }
    groups = [cr.cluster(rows, m, k=2, stability=2) for m in ("k-means", "average", "latent-class")]
    mixture = cr.mixture({n: rows[n] for n in "xy"}, 2)
    classes = cr.mixture(rows, 2)
    out = [*groups, groups[0].profiles, groups[0].profiles[0][0], groups[0].stability]
    out += [groups[1].tree, mixture, mixture.candidates, classes, *mixture.parts, *classes.parts]
    counted = cr.mixture({"n": [1, 2, 0, 9, 8, 11] * 4}, 2, counts=["n"])
    return [*out, *counted.parts, cr.which_k(rows, k=[2, 3])]


@pytest.fixture(scope="module")
def values():
    return _values()


def test_every_value_is_well_formed_and_escaped(values):
    for value in values:
        assert problems(value) == [], type(value)


PACKAGES = (
    "credo",
    "credo.distributions",
    "credo.stats",
    "credo.data",
    "credo.estimators",
    "credo.checking",
)
NOT_VALUES = {
    "Source",
    "Column",
    "Columns",
    "Held",
    "Kept",
}  # a protocol; what learners take rows from


def test_every_public_class_shows_itself(values):
    """What is exported must show itself, and the list above must have one of it."""
    seen = {c for v in values for c in type(v).__mro__}
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            found = getattr(module, name)
            if not inspect.isclass(found) or name in NOT_VALUES:
                continue
            assert hasattr(found, "_repr_html_"), f"{package}.{name} does not show itself"
            if package in ("credo", "credo.distributions", "credo.stats", "credo.data"):
                assert found in seen, f"{package}.{name} is not looked at by this test"


def test_what_has_a_text_of_its_own_shows_itself():
    """A class with its own `__str__` is made to be looked at, so a notebook must show it."""
    lacking = []
    for found in pkgutil.walk_packages(cr.__path__, "credo."):
        if found.name.endswith("_core") or found.name.startswith(("credo.cli", "credo.formats")):
            continue
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            if not inspect.isclass(value) or value.__module__ != found.name:
                continue
            if issubclass(value, BaseException) or name.startswith("_"):
                continue
            if inspect.isabstract(value) or issubclass(value, str) or name == "FactorModel":
                continue
            if "__str__" in vars(value) and not hasattr(value, "_repr_html_"):
                lacking.append(f"{found.name}.{name}")
    assert lacking == []
