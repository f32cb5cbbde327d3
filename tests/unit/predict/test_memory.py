"""What is kept beside a model goes with it."""

import gc
import weakref

import pytest

import credo as cr

ROWS = cr.read(
    {"x": [0.1, 1.2, 0.3, 2.2, 1.9, 0.4] * 20, "y": [1.0, 2.5, 1.1, 4.0, 3.6, 1.2] * 20,
     "g": ["a", "b", "a", "b", "b", "a"] * 20}
)  # fmt: skip


def asked(net):
    net.p("g", given={"y": 1.0})
    net.ask("P(g | y=1)", interval=0.9)
    net.predict_proba(ROWS, "g")
    return net


@pytest.mark.parametrize(
    "made",
    [
        lambda: asked(cr.learn(ROWS, numbers="gaussian")),
        lambda: asked(cr.learn(ROWS, numbers="binned")),
        lambda: cr.naive_bayes(ROWS, "g"),
    ],
)
def test_a_model_that_was_asked_is_freed(made):
    model = made()
    left = weakref.ref(model)
    del model
    gc.collect()
    assert left() is None
