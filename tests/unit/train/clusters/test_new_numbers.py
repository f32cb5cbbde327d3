"""New rows hold numbers that no row had: where the model takes a column as numbers, they count."""

import numpy as np
import pytest

import credo as cr
from credo.errors import TableError

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
