"""Names that load when they are first used, so that importing a package stays quick."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_IMPORT = re.compile(r"^from (\S+) import \(?\s*(\w+) as \w+", re.MULTILINE)


def public_names(
    package: str, file: str, renamed: Mapping[str, tuple[str, str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of a package, from the stub beside its `file`.

    The stub is the one list of names: type checkers read it, and so does this. `renamed` has the
    old names of this version: the module and name behind each, and what to write instead; they
    answer with a warning.

    >>> import credo
    >>> _, _, names = public_names("credo", credo.__file__, {})
    >>> "read" in names and "errors" in names
    True
    """
    stub = Path(file).with_name("__init__.pyi").read_text(encoding="utf-8")
    where = {
        name: f"{package}.{name}" if module == package else module
        for module, name in _IMPORT.findall(stub)
    }
    get, names = lazy_names(package, where)

    def get_or_renamed(name: str) -> Any:
        if name not in renamed:
            return get(name)
        old, new = renamed[name]
        told = f"{package}.{name} is now {new}; the old name will go."
        warnings.warn(told, DeprecationWarning, stacklevel=2)
        module, _, attribute = old.rpartition(".")
        return getattr(import_module(module), attribute)

    return get_or_renamed, names, ["__version__", *where]


def lazy_names(
    package: str, where: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package whose names live in other modules.

    A name that maps to itself, as a module of the package, is that module.

    >>> get, names = lazy_names("credo", {"bar": "credo.core.render"})
    >>> get("bar")(0.5, 4), names()
    ('██', ['bar'])
    """

    def get(name: str) -> Any:
        if name not in where:
            near = []
            if not name.startswith("_"):  # such names are asked for by tools, hundreds of times
                from credo.core.errors import close_names

                near = close_names(name, where)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise AttributeError(f"{package} has no name {name!r}.{hint}")
        found = import_module(where[name])
        value = found if where[name] == f"{package}.{name}" else getattr(found, name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(where)


def renamed_arguments(**new: str) -> Callable[[F], F]:
    """A function that still takes the old names of its arguments, with a warning.

    >>> @renamed_arguments(budget="max_iter")
    ... def count(max_iter=3):
    ...     return max_iter
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     count(budget=5)
    5
    >>> print(told[0].message)
    budget= of count is now max_iter=; the old name will go.
    """

    def of(function: F) -> F:
        @wraps(function)
        def called(*args: Any, **options: Any) -> Any:
            for old in [n for n in options if n in new]:
                if new[old] in options:
                    raise TypeError(f"{old}= is the old name of {new[old]}=: give one of them.")
                name = function.__qualname__.removesuffix(".__init__")
                told = f"{old}= of {name} is now {new[old]}=; the old name will go."
                warnings.warn(told, DeprecationWarning, stacklevel=2)
                options[new[old]] = options.pop(old)
            return function(*args, **options)

        return called  # type: ignore[return-value]

    return of
