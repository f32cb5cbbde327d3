"""The textbook tables of the course, shipped with the package.

Each function reads its table and gives it as `credo.read` does.

>>> import credo as cr
>>> cr.examples.names()[:3]
('candy_wrappers', 'class_preference', 'gender_measurements')
>>> cr.examples.play_tennis().schema.set_aside
{'Day': 'consecutive numbers from 1 to 14, each once'}
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credo.core.errors import unknown_name

if TYPE_CHECKING:
    from credo.data import Table

__all__ = ["names", "path", "table"]

# what must be said so that the table means what the notes mean
_READ: dict[str, dict[str, Any]] = {
    "candy_wrappers": {"weights": "Count"},
    "kidney_stones": {"weights": "Count"},
    "smoking_tar": {"weights": "Count"},
    "spam_emails_weighted": {"weights": "Weight"},
}


def _folder() -> Path:
    return Path(str(resources.files("credo.examples"))) / "tables"


def names() -> tuple[str, ...]:
    """The names of the tables.

    >>> "pneumonia" in names()
    True
    """
    return tuple(sorted(p.stem for p in _folder().glob("*.csv")))


def path(name: str) -> Path:
    """Where the CSV file of a table lies, for `credo schema` and friends.

    >>> path("pneumonia").name
    'pneumonia.csv'
    """
    if name not in names():
        raise unknown_name("The example", name, names(), "in the package")
    return _folder() / f"{name}.csv"


def table(name: str, **options: Any) -> Table:
    """One of the tables, read; options go to `credo.read`.

    >>> table("spam_emails_weighted").weights.tolist()
    [2, 1]
    """
    from credo.data import Table, read

    found = read(path(name), **(_READ.get(name, {}) | options))
    assert isinstance(found, Table)
    return found


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in names():
        raise AttributeError(f"credo.examples has no table {name!r}; see credo.examples.names().")

    def read_example(**options: Any) -> Table:
        return table(name, **options)

    read_example.__name__ = name
    read_example.__doc__ = f"The table {name!r}, read; options go to `credo.read`."
    return read_example
