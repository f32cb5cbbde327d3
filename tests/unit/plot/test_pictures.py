"""Tables, lines, parameters, answers, gaps and traces as pictures."""

import numpy as np
import pytest
from scipy import stats

import credo as cr
from credo.errors import InputError, LimitError, UnknownNameError

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture
def net():
    return cr.fit("[Pneu][Fev|Pneu][Cou|Pneu:Fev]", cr.examples.pneumonia(), prior=cr.BDeu(2))


def texts_are_inside(ax):
    ax.figure.canvas.draw()
    whole = ax.figure.bbox
    labels = [
        *ax.get_xticklabels(),
        *ax.get_yticklabels(),
        ax.title,
        ax.xaxis.label,
        ax.yaxis.label,
    ]
    for text in [*labels, *ax.texts]:
        if text.get_text():
            box = text.get_window_extent()
            assert box.x0 >= -2 and box.y0 >= -2, text
            assert box.x1 <= whole.x1 + 2 and box.y1 <= whole.y1 + 2, text


def test_a_heat_map_has_the_table_and_its_intervals(net):
    table = net.cpt("Cou")
    ax = cr.plot.cpt(table, interval=0.9)
    shown = ax.images[0].get_array()
    assert np.allclose(shown, table.values.reshape(4, 2))
    low, high = table.interval(0.9)
    assert ax.texts[1].get_text() == (
        f"{table.values[0, 0, 1]:.3f}\n{low[0, 0, 1]:.3f}–{high[0, 0, 1]:.3f}"
    )
    texts_are_inside(ax)
    names = [f"a rather long state {k}" for k in range(4)]
    long = cr.Network("[x]", {"x": [0.1, 0.2, 0.3, 0.4]}, states={"x": names})
    texts_are_inside(cr.plot.cpt(long.cpt("x")))


def test_a_heat_map_says_what_it_cannot_draw(net):
    with pytest.raises(LimitError, match="1 rows and 40 states does not fit"):
        many = cr.Network("[x]", {"x": np.full(40, 1 / 40)}, states={"x": list(range(40))})
        cr.plot.cpt(many.cpt("x"))
    with pytest.raises(InputError, match=r"has no posterior, so it has no interval"):
        cr.plot.cpt(cr.fit("[Pneu]", cr.examples.pneumonia()).cpt("Pneu"), interval=0.9)
    with pytest.raises(InputError, match=r"Give net\.cpt"):
        cr.plot.cpt(net)
    line = cr.fit("[x]", {"x": [0.5, 1.5, 2.0]}).cpt("x")
    with pytest.raises(InputError, match="has lines, not a table"):
        cr.plot.cpt(line)
    with pytest.raises(InputError, match="draw tables with"):
        cr.plot.lines(net.cpt("Pneu"))


def test_lines_have_the_mean_and_a_band():
    rows = {
        "sex": ["f", "m"] * 10,
        "x": [float(i) for i in range(20)],
        "y": [2.0 * i + (i % 2) + 0.1 * (i % 3) for i in range(20)],
    }
    found = cr.fit(
        "[sex][x][y|sex:x]", cr.read(rows, schema={"x": "continuous", "y": "continuous"})
    )
    line = found.cpt("y")
    ax = cr.plot.lines(line, "x", span=(0, 10))
    assert [t.get_label() for t in ax.lines] == ["sex=f", "sex=m"]
    y = ax.lines[1].get_ydata()
    assert y[0] == pytest.approx(line.intercept[1]) and y[-1] == pytest.approx(
        line.intercept[1] + 10 * line.coefficients[1, 0]
    )
    assert cr.plot.lines(found.cpt("x")).get_ylabel() == "density"
    with pytest.raises(UnknownNameError, match="Continuous parent 'z'"):
        cr.plot.lines(line, "z")


def test_a_parameter_before_and_after_data(net):
    table = net.cpt("Fev")
    ax = cr.plot.parameter(table, "T", {"Pneu": "T"})
    a, b = table.counts[1, 1], table.counts[1, 0]
    x, y = ax.lines[1].get_data()
    assert np.allclose(y, stats.beta(a, b).pdf(x))
    assert np.allclose(ax.lines[0].get_ydata(), stats.beta(0.5, 0.5).pdf(x))
    with pytest.raises(InputError, match="no posterior"):
        cr.plot.parameter(cr.fit("[Pneu]", cr.examples.pneumonia()).cpt("Pneu"), "T")
    with pytest.raises(InputError, match="needs a state for 'Pneu' too"):
        cr.plot.parameter(table, "T")


def test_a_response_is_the_answer_at_each_value(net):
    ax = cr.plot.response(net, "Pneu", over="Fev", given={"Cou": "T"}, interval=0.9)
    for k, state in enumerate(("F", "T")):
        asked = [net.p("Pneu", given={"Fev": s, "Cou": "T"})[state] for s in ("F", "T")]
        assert ax.lines[k].get_ydata().tolist() == pytest.approx(asked)
    assert len(ax.collections) == 2 and ax.get_title() == "given Cou = T"
    line = cr.fit("[x][y|x]", {"x": [0.0, 1, 2, 3], "y": [0.1, 0.9, 2.2, 2.8]})
    ax = cr.plot.response(line, "y", over="x", span=(0, 3))
    assert ax.lines[0].get_ydata()[-1] == pytest.approx(line.p("y", given={"x": 3.0}).mean)
    x = cr.plot.response(line, "y", over="x").lines[0].get_xdata()
    known = line.p("x")
    assert [x[0], x[-1]] == pytest.approx(
        [known.mean - 2.5 * known.sd, known.mean + 2.5 * known.sd]
    )
    with pytest.raises(InputError, match="different variables"):
        cr.plot.response(net, "Pneu", over="Pneu")


def test_gaps_are_drawn_pattern_by_pattern():
    rows = {"a": [1, None, None, 2] * 5, "b": ["x", None, "y", "x"] * 5, "c": [1, 2, 3, 4] * 5}
    ax = cr.plot.missingness(rows)
    grid = np.asarray(ax.images[0].get_array())
    assert grid.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0]]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["a 50%", "b 25%", "c 0%"]
    ax = cr.plot.missingness(cr.missingness(rows), most=1, columns=2)
    assert ax.get_xlabel() == "not drawn: 2 more patterns, 50.0% of the rows; 1 more columns"
    texts_are_inside(ax)
    with pytest.raises(InputError, match="At least one pattern"):
        cr.plot.missingness(rows, most=0)


def test_a_trace_names_what_climbed():
    rows = cr.read({"a": [0, 1, None, 1, 0, 1] * 6, "b": [0, 1, 1, 1, 0, 0] * 6})
    assert cr.plot.trace(cr.em("[a][b|a]", rows)).get_ylabel() == "ln P(rows)"
    found = cr.learn(cr.examples.play_tennis(), search="hill-climb", score="bic")
    ax = cr.plot.trace(found)
    assert ax.get_ylabel() == "score (bic)"
    assert ax.lines[0].get_ydata().tolist() == list(found.record.trace)


def test_lines_run_where_the_parent_is():
    rng = np.random.default_rng(0)
    rows = {"a": rng.normal(97, 3, 200), "b": rng.normal(-400, 20, 200)}
    rows["y"] = 2 * rows["a"] + 0.1 * rows["b"] + rng.normal(0, 1, 200)
    net = cr.fit("[a][b][y|a:b]", rows)
    for ax in (cr.plot.lines(net.cpt("y")), cr.plot.lines(net.cpt("y"), net=net)):
        x, y = ax.lines[0].get_xdata(), ax.lines[0].get_ydata()
        assert x.mean() == pytest.approx(rows["a"].mean())
        assert x[-1] - x[0] == pytest.approx(5 * rows["a"].std(), rel=0.01)
        assert y.mean() == pytest.approx(rows["y"].mean())  # the other parent at its mean
    far = cr.plot.lines(net.cpt("y"), over="b", span=(-500, -300)).lines[0].get_xdata()
    assert far[0] == -500 and far[-1] == -300
