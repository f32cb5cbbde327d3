"""The report that answers evidence by itself: in Chromium, from a file, without a network."""

import math
import re
import warnings

import numpy as np
import pytest
from tests.e2e.test_studio import AXE, Person, browser, chest  # noqa: F401

import credo as cr
import credo.errors
from credo.studio.opening import STATIC

pytestmark = pytest.mark.skipif(
    not (STATIC / "report.js").exists(), reason="the studio's page is not built: make studio"
)

ASK = "([name, request]) => document.getElementById('credo-ask').answer(name, request)"


@pytest.fixture
def opened(browser, tmp_path):  # noqa: F811
    """Opens the report of a network, offline; what goes wrong in the page fails the test."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000}, offline=True)
    wrong = []

    def open_(net, **options):
        path = cr.write_report(net, tmp_path / "r.html", interactive=True, checks=False, **options)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
        page.goto(path.as_uri())
        page.locator("#credo-ask .node").first.wait_for()
        return page

    yield open_
    context.close()
    assert not wrong


def in_the_page(page, evidence, net):
    """What the page believes under evidence given to it as the studio's requests."""
    page.evaluate(ASK, ["clear", {"seq": 0, "name": None}])
    for name, (verb, args) in evidence.items():
        page.evaluate(ASK, [verb, {"seq": 0, "name": name, **args}])
    shown = page.evaluate(ASK, ["open", {"seq": 0}])
    return shown, page.evaluate(ASK, ["panel", {"seq": 0, "selected": net.names[0]}])


def drawn_evidence(net, rng):
    """Random evidence of every sort, as requests, and as `given` and `do`."""
    requests, given, do = {}, {}, {}
    row = net.sample(1, rng=rng)
    for name in rng.permutation(net.names)[: rng.integers(1, 5)].tolist():
        variable = net.variable(name)
        sort = rng.choice(["is", "not", "soft", "do"])
        if not variable.is_discrete or variable.scale is not None:
            value = float(row.values(name)[0])
            sort = "do" if sort == "do" else "is"
            requests[name] = ("value", {"value": value, "how": sort})
            (do if sort == "do" else given)[name] = value
            continue
        k = variable.code(row.values(name)[0])
        if sort == "soft":
            weights = rng.uniform(0.1, 1, variable.arity)
            requests[name] = ("soft", {"weights": weights.tolist()})
            given[name] = dict(
                zip(variable.states, (weights / weights.max()).tolist(), strict=True)
            )
        elif sort == "not" and variable.arity > 2:
            k = (k + 1) % variable.arity
            requests[name] = ("click", {"state": k, "how": "not"})
            given[name] = [s for i, s in enumerate(variable.states) if i != k]
        else:
            sort = "do" if sort == "do" else "is"
            requests[name] = ("click", {"state": k, "how": sort})
            (do if sort == "do" else given)[name] = variable.states[k]
    return requests, given, do


def compare(page, net, rounds, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        requests, given, do = drawn_evidence(net, rng)
        shown, panel = in_the_page(page, requests, net)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cr.errors.CredoWarning)
            after = net.do(do) if do else net
        assert shown["impossible"] is None
        assert math.isclose(
            panel["surprise"], -after.log_evidence(given) / math.log(2), abs_tol=1e-8
        )
        for name, right in after.marginals(given=given).items():
            if name in do:
                continue
            found = shown["beliefs"][name]
            variable = net.variable(name)
            if not variable.is_discrete or variable.scale is not None:
                assert math.isclose(found["mean"], right.mean, rel_tol=1e-9, abs_tol=1e-9)
                assert math.isclose(found["sd"], right.sd, rel_tol=1e-8, abs_tol=1e-9)
                for q, end in ((0.025, "low"), (0.975, "high")):
                    assert math.isclose(found[end], right.quantile(q), rel_tol=2e-4, abs_tol=2e-4)
                x = np.array(found["x"])
                np.testing.assert_allclose(found["y"], right.pdf(x), rtol=1e-6, atol=1e-9)
            else:
                np.testing.assert_allclose(found["p"], right.p, rtol=0, atol=1e-9)


def numbers():
    """Rows whose numbers are learned behind a transform, as a line, and in bins with an atom."""
    rng, n = np.random.default_rng(0), 600
    c = rng.integers(0, 3, n)
    x = np.exp(0.5 * c + rng.normal(size=n) * 0.6)
    z = np.where(rng.random(n) < 0.3, 0, rng.gamma(2, size=n) * (1 + c))
    y = 2 * np.log(x) + rng.normal(size=n)
    return {"c": np.array(["a", "b", "d"])[c], "x": x, "y": y, "z": z}


def test_the_page_answers_as_python_does(opened):
    net = chest()
    net = cr.fit(net, net.sample(400, rng=0), prior=cr.BDeu(8))
    compare(opened(net), net, 15)


def test_numbers_too(opened):
    net = cr.learn(numbers(), rng=0)
    assert {type(v.scale).__name__ for v in net.variables} == {"NoneType", "Transform", "Bins"}
    page = opened(net)
    page.locator('.node[data-name="x"] .density').wait_for()
    compare(page, net, 12)


@pytest.mark.slow
def test_larger_networks_too(opened):
    for n, seed in ((40, 0), (100, 1)):
        rng = np.random.default_rng(seed)
        names = [f"v{i}" for i in range(n)]
        dag = cr.Dag(
            [
                (names[j], names[i])
                for i in range(n)
                for j in range(max(0, i - 4), i)
                if rng.random() < 0.5
            ],
            nodes=names,
        )
        tables = {}
        arity = dict(zip(names, rng.integers(2, 5, n).tolist(), strict=True))
        for v in names:
            p = rng.dirichlet(np.ones(arity[v]), [arity[u] for u in dag.parents(v)])
            tables[v] = p
        compare(opened(cr.Network(dag, tables)), cr.Network(dag, tables), 10, seed)


def test_what_is_too_large_is_refused_with_its_size(tmp_path):
    names = [f"v{i}" for i in range(26)]
    dag = cr.Dag([(v, "v25") for v in names[:20]], nodes=names)
    tables = {v: [0.5, 0.5] for v in names} | {"v25": np.full((2,) * 21, 0.5)}
    with pytest.raises(
        cr.errors.LimitError, match="cells; a page answers by itself up to 2,000,000"
    ):
        cr.write_report(cr.Network(dag, tables), tmp_path / "r.html", interactive=True)
    assert not (tmp_path / "r.html").exists()


def test_a_person_asks_the_page(opened):
    net = chest()
    page = opened(net)
    person = Person(page)
    person.state("xray", "yes").click()
    person.sees("xray = yes")
    shown = person.p("lung", "yes")
    assert math.isclose(shown, net.p("lung", {"xray": "yes"})["yes"], abs_tol=1e-9)
    person.state("either", "no").click()
    person.state("lung", "yes").click()
    person.sees(re.compile("either=no and lung=yes cannot be true together"))
    person.button("Undo").click()
    person.select("smoke")
    person.sees("What to ask next")
    person.panel().get_by_text("Most probable explanation").click()
    if AXE.exists():
        page.evaluate(AXE.read_text())
        found = page.evaluate(
            "axe.run('#credo-ask', {resultTypes: ['violations']}).then(r => r.violations)"
        )
        assert not [(v["id"], v["nodes"][0]["html"][:200]) for v in found]
