"""The door again: arrays, rows seen before, classes without rows, new numbers, odd settings."""

import warnings

import numpy as np
import pytest

import credo as cr
from credo.errors import InputError, TableError, UnknownNameError

# --- The door again: arrays, rows seen before, classes without rows, the same rows, odd
#     settings ---


def two_heaps():
    x = np.random.default_rng(0).normal(size=(40, 3))
    x[:15] += 6
    return x


@pytest.mark.parametrize("method", ["k-means", "average", "ward", "spectral", "gaussian"])
def test_an_array_is_clustered_and_assigned(method):
    x = two_heaps()
    groups = cr.cluster(x, method, k=2)
    assert groups.columns == ("x0", "x1", "x2") and groups.sizes == (25, 15)
    assert groups.assign(x).tolist() == groups.labels.tolist()
    assert cr.which_k(x, method).k == 2


def test_the_columns_of_an_array_have_the_names_given():
    x = two_heaps()
    groups = cr.cluster(x, k=2, columns=["a", "b", "c"], aside="b")
    assert groups.columns == ("a", "c")
    assert groups.assign(x[:, [0, 2]]).tolist() == groups.assign(x).tolist()
    assert cr.cluster(x, k=2, columns=["x0", "x2"]).columns == ("x0", "x2")
    whole = np.column_stack([np.repeat([1, 5], 10), np.full(20, 3)])  # few and whole, yet numbers
    groups = cr.cluster(whole, k=2)
    assert groups.table.schema.continuous == ("x0", "x1")
    assert groups.assign(np.array([[6, 3], [0, 3]])).tolist() == [1, 0]


def test_arrays_of_another_shape_are_refused():
    x = two_heaps()
    with pytest.raises(InputError, match="two axes"):
        cr.cluster(x[:, 0], k=2)
    groups = cr.cluster(x, k=2)
    with pytest.raises(InputError, match="need 3 columns"):
        groups.assign(x[:, :2])
    with pytest.raises(InputError, match="1 axes"):
        groups.assign(x[0])


def test_a_row_seen_before_keeps_its_label():
    rows = {"x": [0.0, 1.0, 2.1, 3.3, 4.6, 6.0]}
    groups = cr.cluster(rows, "complete", k=2)
    assert groups.labels.tolist() == groups.assign(rows).tolist() == [0, 0, 0, 0, 1, 1]
    assert groups.assign({"x": [3.4, -0.0]}).tolist() == [1, 0]  # by the rule of the link


def test_a_row_seen_before_keeps_its_label_with_gaps():
    rng = np.random.default_rng(3)
    x = rng.normal(size=60)
    x[::7] = np.nan
    rows = {"x": x, "y": rng.normal(size=60), "c": rng.choice(list("abc"), 60)}
    for method in ("average", "complete", "spectral"):
        groups = cr.cluster(rows, method, k=3)
        assert groups.assign(rows).tolist() == groups.labels.tolist()


def test_classes_without_rows_are_told_and_give_no_nan():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        groups = cr.cluster(cr.examples.pneumonia(), "latent-class", k=5)
        found = cr.which_k(cr.examples.pneumonia(), "latent-class", k=[2, 5], by="silhouette")
    empty = groups.sizes.count(0)
    assert empty > 0
    assert all(np.isfinite(v) for v in groups.quality.values())
    assert all(np.isfinite(v) for k in found.rows for v in found[k].values())
    assert any(n.startswith(f"{empty} class") and "no row" in n for n in groups.record.notes)
    assert "nan" not in str(groups)


def test_k_is_chosen_among_as_many_as_there_are_different_rows():
    rows = {"x": [1.0, 2.0] * 15, "y": [1.0, 2.0] * 15}
    assert cr.cluster(rows).k == 2
    assert list(cr.which_k(rows).rows) == [2]
    with pytest.raises(InputError, match="1 of them different"):
        cr.cluster(np.ones((5, 2)))


@pytest.mark.parametrize("method", ["gaussian", "latent-class"])
def test_a_mixture_refuses_what_it_has_no_use_for(method):
    x = two_heaps()
    for name, value in (("scale", "sd"), ("distance", "gower")):
        with pytest.raises(InputError, match=f"no use for {name}='{value}'"):
            cr.cluster(x, method, k=2, **{name: value})
    for name in ("scale", "distance", "memory"):
        with pytest.raises(InputError, match=f"{name} must be"):
            cr.cluster(x, method, k=2, **{name: "nonsense"})


def test_the_gap_says_when_no_k_met_its_rule():
    x = np.random.default_rng(0).normal(size=(60, 2)) * 0.1
    x[20:40] += [5.0, 0.0]
    x[40:] += [0.0, 5.0]
    found = cr.which_k(x, k=[1, 2, 3], by="gap", restarts=2)
    assert found.k == 3 and "no k met the rule" in found.note
    assert "the last tried, not by gap" in str(found) and "no k met" in found._repr_html_()
    groups = cr.cluster(x, by="gap", k_max=3, restarts=2)
    assert any("no k met the rule" in n for n in groups.record.notes)
    found = cr.which_k(x, k=[1, 2, 3, 4], by="gap", restarts=2)
    assert found.k == 3 and not found.note and "◀ by gap" in str(found)


def test_small_things_are_refused():
    rows = {"x": [0.0, 0.1, 5.0, 5.2]}
    with pytest.raises(InputError, match="0 or more"):
        cr.cluster(rows, "average", height=-1.0)
    with pytest.raises(TypeError):
        cr.cluster(rows, k=2).quality["within"] = 0.0


def test_rows_of_weight_0_have_no_label_and_are_told():
    rows = {"x": [0.0, 0.1, 5.0, 5.2, 0.2, 9.5], "w": [1, 0, 2, 1, 1, 0]}
    groups = cr.cluster(rows, k=2, weights="w")
    assert len(groups.labels) == 4 and groups.row_numbers == [1, 3, 4, 5]
    assert any("2 rows of weight 0 are left out" in n for n in groups.record.notes)
    given = cr.cluster({"x": rows["x"]}, "average", k=2, weights=rows["w"])
    assert given.row_numbers == [1, 3, 4, 5]
    whole = cr.cluster({"x": rows["x"]}, k=2)
    assert whole.row_numbers == [1, 2, 3, 4, 5, 6]
    assert not any("weight" in n for n in whole.record.notes)


def test_a_weighted_stream_says_of_which_rows_its_labels_are(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,w\n" + "".join(f"{i % 2 * 5 + i / 100},{i % 3}\n" for i in range(60)))
    stream = cr.read(path, {"x": "continuous"}, "w", memory="100 B")
    groups = cr.cluster(stream, k=2)
    assert len(groups.labels) == 40
    assert any("rows of weight 0, if any, are left out" in n for n in groups.record.notes)


def test_a_column_that_new_rows_lack_is_named_with_the_cure() -> None:
    rows = {"x": [0.0, 0.1, 9.0, 9.1], "c": list("aabb")}
    groups = cr.cluster(rows, k=2)
    with pytest.raises(UnknownNameError, match=r"Column 'c' is not in.*as empty cells \(None\)"):
        groups.assign([{"x": 1.0}])
    assert groups.assign([{"x": 1.0, "c": None}]).tolist() == groups.labels[:1].tolist()


# --- New rows hold numbers that no row had: where the model takes a column as numbers, they
#     count ---


RNG = np.random.default_rng(0)
ROWS = {"n": RNG.poisson(np.repeat([2, 12], 30)), "x": RNG.normal(size=60)}
STATES = {"n": "discrete"}

FITS = {
    "rates": lambda: cr.cluster(ROWS, "latent-class", k=2, counts=["n"], schema=STATES),
    "normals": lambda: cr.cluster(ROWS, "gaussian", k=2, columns=["n", "x"], schema=STATES),
}


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_a_number_that_no_row_had_is_assigned(fit):
    groups = fit()
    assert groups.table.schema["n"].is_discrete
    fresh = {"n": [50, 0, 7, None], "x": [0.0, 0.1, None, 2.0]}
    share = groups.model.responsibilities(fresh)[:, groups.order]
    assert np.array_equal(groups.assign_membership(fresh), share)
    assert groups.assign(fresh).tolist() == share.argmax(axis=1).tolist()
    assert groups.assign([{"n": 50, "x": 0.0}]).tolist() == groups.assign(fresh)[:1].tolist()
    assert groups.assign(np.array([[50, 0.0]])).tolist() == groups.assign(fresh)[:1].tolist()


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_rows_that_were_read_already_are_assigned(fit):
    groups = fit()
    assert groups.assign(groups.table).tolist() == groups.labels.tolist()
    assert groups.assign(ROWS).tolist() == groups.labels.tolist()
    few = cr.read({"n": [50, 1, 50, 1], "x": [0.0, 0.1, 0.2, 0.3]}, {"n": "discrete"})
    assert len(set(groups.assign(few).tolist())) == 2
    with pytest.raises(TableError, match="'many'"):
        groups.assign({"n": ["many"], "x": [0.0]})


def test_a_state_that_no_row_had_is_still_refused():
    groups = cr.cluster(ROWS, "latent-class", k=2, schema=STATES)
    with pytest.raises(TableError, match="not one of its states"):
        groups.assign({"n": [50], "x": [0.0]})
