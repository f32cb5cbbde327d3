"""Kernels of credo: counts, unique rows and moments of columns (C++, see cpp/).

Arrays must be contiguous, of the exact type; nothing is converted. Wrong values are a ValueError.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias, TypeVar, final, overload

import numpy as np
from numpy.typing import NDArray

_Kernel: TypeAlias = Literal["auto", "popcount", "histogram", "sparse"]
_Path: TypeAlias = Literal["auto", "avx512", "avx2", "plain"]
_Codes: TypeAlias = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]
_Ints: TypeAlias = NDArray[np.int64]
_Reals: TypeAlias = NDArray[np.float64]
_Code = TypeVar("_Code", np.uint8, np.uint16, np.uint32)

def paths() -> list[_Path]:
    """The instruction sets this CPU can run, best first."""

def cores() -> int:
    """Hardware threads."""

@final
class Columns:
    """_Codes of discrete variables; code == arity means missing, where `missing` allows it.

    Keeps the arrays, which must not change afterwards. Bitmaps are built on demand and kept.
    """

    def __init__(
        self, codes: Sequence[_Codes], arities: Sequence[int], missing: Sequence[bool]
    ) -> None: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_variables(self) -> int: ...
    @property
    def bitmap_bytes(self) -> int:
        """Memory of the bitmaps built so far."""

    def bitmap(self, variable: int, path: _Path = "auto") -> NDArray[np.uint64]:
        """Read-only bits, a row per state: bit r tells whether row r has the state."""

    @overload
    def count(
        self,
        sets: Sequence[Sequence[int]],
        weights: _Ints | None = None,
        kernel: _Kernel = "auto",
        path: _Path = "auto",
        threads: int = 1,
    ) -> list[_Ints]:
        """One flat table per set, last variable fastest, of the rows with no missing cell in it.

        Sets with the same first variables share work. The tables are views of one array.
        """

    @overload
    def count(
        self,
        sets: Sequence[Sequence[int]],
        weights: _Reals,
        kernel: _Kernel = "auto",
        path: _Path = "auto",
        threads: int = 1,
    ) -> list[_Reals]: ...
    @overload
    def count_flat(
        self,
        sets: Sequence[Sequence[int]],
        weights: _Ints | None = None,
        kernel: _Kernel = "auto",
        path: _Path = "auto",
        threads: int = 1,
    ) -> tuple[_Ints, _Ints]:
        """The tables of `count` in one array, and where each begins (and the last ends).

        Much cheaper than a list where there are many small tables.
        """

    @overload
    def count_flat(
        self,
        sets: Sequence[Sequence[int]],
        weights: _Reals,
        kernel: _Kernel = "auto",
        path: _Path = "auto",
        threads: int = 1,
    ) -> tuple[_Reals, _Ints]: ...
    @overload
    def unique(self, variables: Sequence[int], weights: _Ints | None = None) -> tuple[_Ints, _Ints]:
        """Groups of equal rows, sorted by code: the first row of each, and its weight.

        Missing is one more value, after the states. With a limit, None at more groups than it.
        """

    @overload
    def unique(self, variables: Sequence[int], weights: _Reals) -> tuple[_Ints, _Reals]: ...
    @overload
    def unique(
        self, variables: Sequence[int], weights: _Ints | None = None, *, limit: int
    ) -> tuple[_Ints, _Ints] | None: ...
    @overload
    def unique(
        self, variables: Sequence[int], weights: _Reals, *, limit: int
    ) -> tuple[_Ints, _Reals] | None: ...
    @overload
    def count_sparse(
        self, variables: Sequence[int], weights: _Ints | None = None
    ) -> tuple[NDArray[np.uint32], _Ints]:
        """The configurations seen in rows with no missing cell, sorted, and their weights."""

    @overload
    def count_sparse(
        self, variables: Sequence[int], weights: _Reals
    ) -> tuple[NDArray[np.uint32], _Reals]: ...

def moments(
    columns: Sequence[_Reals],
    group: NDArray[np.uint32] | None,
    n_groups: int,
    weights: _Reals | None,
    threads: int = 1,
    path: _Path = "auto",
) -> tuple[_Reals, _Reals, _Reals]:
    """Sum of weights [G], mean [G, d] and scatter [G, d, d] of each group.

    Skips rows of group n_groups, of weight 0, and with a NaN. The number of threads never changes
    a bit of the result.
    """

def take_codes(
    indices: NDArray[np.int32] | _Codes, lut: NDArray[_Code], out: NDArray[_Code]
) -> None:
    """Recode: out[i] = lut[indices[i]]."""
