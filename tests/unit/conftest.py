"""What every unit test may rely on: no picture of the one before is left open."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _pictures_are_closed():
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")
