"""The errors and warnings of credo, to be caught by name: one tree, `core/errors.py`."""

from credo.core.errors import (
    CredoError,
    CredoWarning,
    ImpossibleError,
    InputError,
    LateError,
    LimitError,
    MissingPackageError,
    NoColumnError,
    NotIdentifiedError,
    SchemaError,
    TableError,
    UnknownNameError,
)

__all__ = [
    "CredoError",
    "CredoWarning",
    "ImpossibleError",
    "InputError",
    "LateError",
    "LimitError",
    "MissingPackageError",
    "NoColumnError",
    "NotIdentifiedError",
    "SchemaError",
    "TableError",
    "UnknownNameError",
]
