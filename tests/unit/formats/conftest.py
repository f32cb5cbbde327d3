"""The 24 networks of the repository, and small networks with every kind of name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from credo.core.schema import Variable
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network

SHARED = Path(os.environ.get("CREDO_SHARED", Path(__file__).resolve().parents[4] / "shared"))


@pytest.fixture(scope="session")
def shared_networks() -> Path:
    """The folder of repository networks; tests that need it are skipped where it is absent."""
    folder = SHARED / "data" / "networks"
    if not folder.is_dir():
        pytest.skip("the shared networks are not on this machine")
    return folder


@pytest.fixture
def small() -> Network:
    """A → B, two states each."""
    a = Variable("A", "discrete", ("a0", "a1"))
    b = Variable("B", "discrete", ("b0", "b1"))
    return Network(
        [("A", "B")],
        {"A": Cpt(a, (), [0.25, 0.75]), "B": Cpt(b, (a,), [[0.125, 0.875], [0.5, 0.5]])},
    )
