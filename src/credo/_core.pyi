"""Kernels of credo: counts, unique rows, moments of columns; exact inference; sampling (see cpp/).

Arrays must be contiguous, of the exact type; nothing is converted. Wrong values are a ValueError.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, TypeVar, final, overload

import numpy as np
from numpy.typing import NDArray

_Kernel: TypeAlias = Literal["auto", "popcount", "records", "histogram", "sparse"]
_Path: TypeAlias = Literal["auto", "avx512", "avx2", "plain"]
_Codes: TypeAlias = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]
_Ints: TypeAlias = NDArray[np.int64]
_Reals: TypeAlias = NDArray[np.float64]
_Code = TypeVar("_Code", np.uint8, np.uint16, np.uint32)
_Item = TypeVar("_Item")

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
        self,
        codes: Sequence[_Codes],
        arities: Sequence[int],
        missing: Sequence[bool] | None = None,
    ) -> None: ...
    @property
    def missing(self) -> list[bool]:
        """Whether each variable may be missing: as was told, or else as the codes are."""

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
    def count_tables(
        self,
        sets: FamilyPlan | Sets,
        weights: _Ints | None = None,
        kernel: _Kernel = "auto",
        path: _Path = "auto",
        threads: int = 1,
    ) -> _Ints:
        """The tables of `count_flat` alone: the dense ones of a plan, or of any sets."""

    @overload
    def count_tables(
        self,
        sets: FamilyPlan | Sets,
        weights: _Reals,
        kernel: _Kernel = "auto",
        path: _Path = "auto",
        threads: int = 1,
    ) -> _Reals: ...
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

@final
class Sets:
    """Sets of variables, by number, which `Columns.count_tables` takes as they are."""

    def __init__(self, sets: Sequence[Sequence[int]]) -> None: ...
    def __len__(self) -> int: ...
    def lists(self) -> list[list[int]]: ...

@final
class FamilyPlan:
    """Which tables some families need, and where each family's numbers lie in them.

    Of the families that differ, in the order given (family_tables.hpp).
    """

    def __len__(self) -> int: ...
    @property
    def n_dense(self) -> int:
        """How many of the tables are dense."""

    @property
    def all_dense(self) -> bool: ...
    @property
    def cells(self) -> int:
        """Of all dense tables."""

    @property
    def dense(self) -> Sets:
        """The variables of the dense tables, numbered among the discrete ones alone."""

    @property
    def sparse(self) -> Sets: ...
    @property
    def mixed(self) -> Sets: ...
    def spelled(self, names: tuple[str, ...]) -> dict[tuple[str, ...], int]:
        """The number of each family by (child, *parents)."""

    def axes(self, variables: tuple[_Item, ...]) -> list[tuple[_Item, ...]]:
        """The variables of each family: its parents, then the child."""

    def other(self, family: int) -> int:
        """Its place among the sparse tables, then the mixed; -1 if it is dense."""

    def view(self, tables: NDArray[Any], family: int) -> NDArray[Any]:
        """The table of a dense family, read-only, its axes in order."""

    def views(self, tables: NDArray[Any]) -> list[NDArray[Any]]:
        """The tables of all families, which must be dense."""

    def counts(
        self, kind: type[_Item], variables: tuple[Any, ...], tables: NDArray[Any]
    ) -> list[_Item]:
        """The same as objects of a class with the slots of `Counts`."""

def plan_families(
    families: Any,
    positions: dict[str, int],
    states: list[int],
    most: int,
    last: FamilyPlan | None = None,
) -> FamilyPlan | None:
    """Which tables families need.

    `states` are the variables' numbers of states, -1 for a continuous one; a table of more than
    `most` cells is sparse. None where a family is not a name or a (child, parents) pair of names
    in `positions`. `last`, a plan of the same variables, is given back if it is of these families.
    """

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

_Exact = tuple[NDArray[np.uint32], int]
"""Digits [count, size] of wide whole numbers, and the place of the first: cpp/exact.hpp."""

def exact_of(values: _Reals | NDArray[np.int64]) -> _Exact:
    """Finite numbers as wide whole numbers."""

def exact_planes(planes: NDArray[np.int64], low: int) -> _Exact:
    """Number i is the sum of planes[p, i] 2^(32 (low + p))."""

def exact_gathered(
    digits: NDArray[np.uint32], low: int, group: NDArray[np.int64], n_groups: int
) -> _Exact:
    """The sums of parts, each of as many numbers, by their groups."""

def exact_summed(values: _Reals, group: NDArray[np.int64], n_groups: int) -> _Exact:
    """The same of finite doubles."""

def exact_rounded(digits: NDArray[np.uint32], low: int) -> _Reals:
    """The nearest doubles."""

def exact_moments(
    columns: Sequence[_Reals],
    group: NDArray[np.uint32] | None,
    n_groups: int,
    weights: _Reals | None,
    threads: int = 1,
    path: _Path = "auto",
) -> tuple[NDArray[np.uint32], _Exact, _Exact, _Exact]:
    """The groups that have rows [U], and their sums of w [U], w x [U d], w x x' [U d (d + 1) / 2].

    Skips rows of group n_groups, of weight 0, and with a NaN. Nothing is rounded, so that neither
    threads nor paths nor the order of rows change a bit.
    """

def exact_spread(
    n: NDArray[np.uint32],
    n_low: int,
    first: NDArray[np.uint32],
    first_low: int,
    second: NDArray[np.uint32],
    second_low: int,
) -> tuple[_Reals, _Reals, _Reals]:
    """n [U], mean [U, d] and scatter [U, d, d] of such sums, each rounded once."""

def take_codes(
    indices: NDArray[np.int32] | _Codes,
    lut: NDArray[_Code],
    out: NDArray[_Code],
    path: str = "auto",
) -> None:
    """Recode: out[i] = lut[indices[i]]."""

def read_numbers(
    offsets: NDArray[np.int32] | NDArray[np.int64], bytes: NDArray[np.uint8], words: list[str]
) -> tuple[_Reals, NDArray[np.uint8]]:
    """The numbers that texts are (0 for others), and what each is: 0 a whole number, 1 a decimal,
    2 a word for missing, 3 something else, 4 unsure.
    """

def encode_texts(
    offsets: NDArray[np.int32] | NDArray[np.int64], bytes: NDArray[np.uint8]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """A code for each text, numbered as first met, and the row in which each is first met.

    Text i is bytes[offsets[i]:offsets[i + 1]].
    """

_TextColumn = tuple[
    NDArray[np.int8] | NDArray[np.int32] | None, NDArray[np.int32], NDArray[np.uint8]
]

@final
class CsvRecords:
    """Records of a text file, as long as they are regular; keeps what it learned of its columns."""

    def __init__(
        self,
        delimiter: str,
        width: int,
        wanted: Sequence[int],
        words: Sequence[str] | None = None,
        point: str = ".",
    ) -> None:
        """With words for missing, columns of many different numbers are given as numbers; `point`
        is what decimals have, a point or a comma.
        """

    def read(
        self, bytes: NDArray[np.uint8], last: bool
    ) -> tuple[int, int, bool, list[_TextColumn | None]]:
        """Bytes of whole records, their number, whether what follows is regular, the columns.

        A column is codes and the texts they stand for (offsets and bytes), or, with None for the
        codes, a text for each record; None for a column that is numbers.
        """

    def numbers(
        self,
    ) -> tuple[
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.uint8],
        NDArray[np.int64],
        NDArray[np.int64],
        NDArray[np.int64],
        NDArray[np.uint8],
        NDArray[np.int32],
        NDArray[np.uint8],
    ]:
        """The columns of the block read last that are numbers, a row of each array for a column.

        The numbers (NaN where a cell is none), the least and the greatest, whether one is written
        with a point and whether one is no whole number, how many cells are each word. Then what is
        neither number nor word: its column, its record, what it is, its text (offsets and bytes).
        """

    def want_texts(self, columns: Sequence[int]) -> None:
        """Give these columns as texts from the next block on."""

_JsonCells = (
    NDArray[np.uint8]
    | NDArray[np.int64]
    | NDArray[np.float64]
    | _TextColumn
    | tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]]
)

@final
class JsonRecords:
    """Objects of a JSON file, as long as they are plain: lines, or the elements of an array, of
    which some may have gone before (`began`). Keeps what it learned of their columns.
    """

    def __init__(self, most_columns: int, array: bool, began: bool = False) -> None: ...
    def read(
        self, bytes: NDArray[np.uint8], most_objects: int
    ) -> tuple[int, int, int, bool, list[tuple[str, int, NDArray[np.uint8] | None, _JsonCells]]]:
        """Bytes read, line ends among them, objects, whether what follows is plain, the columns.

        The bytes are UTF-8: whole lines, or text from within an array and a zero. A column is its
        key, the types of its values (bits: 1 bool, 2 int, 4 float, 8 str, 16 nested), bits of the
        objects for which it is not null (None: of all), and its cells: bits, numbers, or texts as
        `CsvRecords` has them, what is nested as it is written. Cells of several types are the type
        of each, a number (the bits of a float) or a place among texts, and those (offsets, bytes).
        """

@final
class Model:
    """Non-negative factors over discrete variables; tables in C order, last variable fastest."""

    def __init__(self, arities: Sequence[int], scopes: Sequence[Sequence[int]]) -> None: ...
    def compile(
        self,
        observed: Sequence[int],
        targets: Sequence[int] | None,
        soft: Sequence[int] = ...,
        mode: Literal["sum", "max"] = "sum",
        families: bool = False,
        budget_ms: float = -1.0,
        seed: int = 0,
        directed: bool = True,
        maybe: Sequence[int] = ...,
        evidence: bool = True,
    ) -> Plan:
        """A plan for hard evidence on `observed` and posteriors of `targets` (None: of the rest).

        A row may leave a variable of `maybe` open. `directed`: each factor is P(last of its scope |
        the others), so what no target or evidence descends from is dropped. `evidence=False` drops
        what is separated from the targets too; log_evidence is then that of the rest. budget_ms
        bounds the search of an elimination order; below 0, the expected run time does.
        """

@final
class Plan:
    """An elimination order and the contractions that follow from it; serves any tables and rows."""

    def run(
        self,
        tables: Sequence[_Reals],
        evidence: NDArray[np.int32],
        soft: Sequence[_Reals] = ...,
        threads: int = 1,
        path: _Path | Literal["wide"] = "auto",
        lanes: int = 0,
    ) -> tuple[_Reals, _Reals, _Reals | None]:
        """log P(evidence) [B], posteriors [B, states of all targets], families [B, cells] or None.

        Evidence [B, observed then maybe]: codes, -1 for a `maybe` that is missing. A table is
        [cells], or [B, cells] with one per row; soft evidence is [B or 1, states]. A row that is
        impossible has -inf and zeros. "wide" runs every row with numbers of unlimited exponent.
        """

    def expect(
        self,
        tables: Sequence[_Reals],
        evidence: NDArray[np.int32],
        weights: _Reals,
        threads: int = 1,
    ) -> tuple[_Reals, float, bool]:
        """Σ weight · P(family | row) [cells], Σ weight · ln P(row), whether a row is impossible.

        Needs families=True. The number of threads never changes a bit of the result.
        """

    def explain(
        self,
        tables: Sequence[_Reals],
        evidence: NDArray[np.int32],
        soft: Sequence[_Reals] = ...,
        threads: int = 1,
        path: _Path | Literal["wide"] = "auto",
        lanes: int = 0,
    ) -> tuple[NDArray[np.int32], _Reals]:
        """The most probable assignment [B, variables] and log P(assignment and evidence) [B].

        Needs mode="max". Among equals the smallest code; -1 and -inf for an impossible row.
        """

    @property
    def total_states(self) -> float:
        """Sum of the table sizes of the cliques."""

    @property
    def largest_clique(self) -> float: ...
    @property
    def largest(self) -> float:
        """Cells of the largest table that is stored (a clique's is not)."""

    @property
    def bytes(self) -> float:
        """Memory to run one row."""

    @property
    def flops(self) -> float:
        """Multiply-adds to run one row."""

    @property
    def order(self) -> list[int]:
        """The order of elimination."""

    @property
    def cliques(self) -> list[list[int]]: ...
    @property
    def tries(self) -> int:
        """Elimination orders that were tried; 0 where the graph is triangulated already."""

    @property
    def pruned(self) -> list[int]:
        """Variables neither observed nor needed."""

    @property
    def targets(self) -> list[int]: ...
    @property
    def offsets(self) -> list[int]:
        """Where the posterior of each target begins in a row, and where the last ends."""

    @property
    def family_offsets(self) -> list[int]:
        """Where each factor begins in a row of families, and where the last ends."""

@final
class Sampler:
    """Ancestral sampling; each scope is a child's parents, then the child, in any order of scopes.

    Scopes with a cycle are a ValueError.
    """

    def __init__(self, arities: Sequence[int], scopes: Sequence[Sequence[int]]) -> None: ...
    @property
    def order(self) -> list[int]:
        """The variables, parents before children."""

    def run(
        self,
        tables: Sequence[_Reals],
        n: int,
        seed: int,
        first: int = 0,
        fixed: NDArray[np.int32] | None = None,
        weights: Sequence[_Reals | None] | None = None,
        threads: int = 1,
        path: _Path = "auto",
    ) -> tuple[list[NDArray[np.uint8] | NDArray[np.uint16]], _Reals | None]:
        """Codes of rows first .. first + n of the endless table of a seed, and ln weights [n].

        A table is P(child | parents) of its scope, [cells], the child fastest; a row of zeros
        gives the first state. `fixed` [variables] holds codes of variables that are not drawn, -1
        for the others. With `weights`, a table or None for each scope, a row's ln weight is the sum
        of ln(weights / tables) of the free variables and ln(weights) of the fixed ones. Codes are
        uint8 up to 256 states, else uint16. Threads, paths and blocks never change a row.
        """

def normals(n: int, seed: int, stream: int, first: int = 0, threads: int = 1) -> _Reals:
    """Standard normal numbers of rows first .. first + n of a stream; threads change nothing."""

def join_rows(
    codes: Sequence[_Codes], texts: Sequence[NDArray[np.uint8]], ends: Sequence[_Ints]
) -> bytes:
    """Rows as text: the texts of a row's codes end to end, separators and all.

    Text i of a column is texts[ends[i]:ends[i + 1]]; 16 more bytes must follow the last.
    """

@final
class Loopy:
    """A factor graph for loopy belief propagation; tables in C order, last variable fastest."""

    def __init__(self, arities: Sequence[int], scopes: Sequence[Sequence[int]]) -> None: ...
    def run(
        self,
        tables: Sequence[_Reals],
        sweeps: int = 200,
        tolerance: float = 1e-8,
        damping: float = 0.0,
        seconds: float = -1.0,
    ) -> dict[str, Any]:
        """Pass messages until none changes by more than the tolerance.

        Returns beliefs (of all variables), to_variable and to_factor (messages of all edges: the
        factors in order, their scopes in order), trace (the largest change of each sweep), log_z
        (Bethe's), damping (used last), converged, impossible (proved: no common support).
        """

    @property
    def offsets(self) -> list[int]:
        """Where the message of each edge begins, and where the last ends."""

    @property
    def belief_offsets(self) -> list[int]:
        """Where the belief of each variable begins, and where the last ends."""

@final
class Gibbs:
    """Gibbs sampling of a product of factors that are above zero everywhere."""

    def __init__(self, arities: Sequence[int], scopes: Sequence[Sequence[int]]) -> None: ...
    def run(
        self,
        tables: Sequence[_Reals],
        states: NDArray[np.int32],
        queries: Sequence[Sequence[int]],
        sweeps: int,
        first: int = 0,
        seed: int = 0,
        collect: bool = True,
        threads: int = 1,
    ) -> tuple[NDArray[np.int32], _Reals]:
        """Move chains [chains, variables] by some sweeps; their states, and sums [chains, cells].

        For a query of one variable the sums are of its probabilities given all others, for one of
        several of the visits to each configuration. `first` numbers the sweeps for the random bits.
        """

def weighted_sums(
    columns: Sequence[NDArray[np.uint8] | NDArray[np.uint16]],
    arities: Sequence[int],
    weights: _Reals,
    threads: int = 1,
) -> _Reals:
    """Σw and Σw² [states of all columns, 2] of the rows in each state; threads change nothing."""

# --- naive Bayes: columns may have any stride and any number type -------------------------

_Window: TypeAlias = tuple[int, int, NDArray[np.uint16] | None, int]

_Given: TypeAlias = list[NDArray[Any]] | NDArray[Any] | tuple[NDArray[Any], _Ints]
_Windows: TypeAlias = (
    list[_Window] | _Window | tuple[_Ints, _Ints, _Ints, NDArray[np.uint16], _Ints]
)

def naive_ranges(columns: _Given) -> list[tuple[int, int, bool, bool, bool]]:
    """Of each column: low, high, whether whole, with missing cells, with infinite ones."""

def naive_counts(
    columns: _Given,
    windows: _Windows,
    group: NDArray[np.uint32],
    groups: int,
    weights: _Ints | _Reals | None = None,
    threads: int = 1,
) -> NDArray[Any]:
    """Counts [group][code] of each column, one after the other; missing and unseen come last.

    A window is (low, span, look-up table or None, code of missing). Columns are a list, a matrix,
    or a matrix and the places of some of its columns; windows a list, one for all, or five arrays
    (low, span, missing, look-up tables, where each begins or −1).
    """

def naive_moments(
    columns: _Given,
    group: NDArray[np.uint32],
    groups: int,
    weights: _Reals | None = None,
    threads: int = 1,
) -> _Reals:
    """Weight, mean and scatter as [3][column][group]; a column skips its own missing cells."""

def naive_totals(
    columns: _Given,
    group: NDArray[np.uint32],
    groups: int,
    weights: _Reals | None = None,
    threads: int = 1,
    present: bool = False,
    gaps: bool = True,
) -> tuple[_Reals, bool]:
    """Sums of counts [group][column], and whether all were finite and not negative.

    With `present` a count above 0 is 1; with `gaps` NaN is a missing one, else it is wrong.
    """

def naive_merged(
    n: _Reals,
    mean: _Reals,
    scatter: _Reals,
    other_n: _Reals,
    other_mean: _Reals,
    other_scatter: _Reals,
    places: NDArray[np.int64] | None = None,
) -> _Reals:
    """The moments [3][variable][class] of two parts together.

    `places` says where the other's classes stand among these, if they are not the same.
    """

def naive_log_shares(
    counts: NDArray[Any], smoothing: _Reals, states: _Reals
) -> tuple[_Reals, _Reals]:
    """ln of the shares [feature][class][state] after smoothing, and of a state never seen."""

def naive_usual_moments(n: _Reals, mean: _Reals, scatter: _Reals) -> bool:
    """Whether means and scatters [variable][class] are finite, and none hints at lost squares."""

def naive_gaussians(
    n: _Reals, mean: _Reals, scatter: _Reals, share: float, sample: bool, prior: _Reals
) -> tuple[_Reals | None, _Reals, NDArray[np.bool_], NDArray[np.bool_]]:
    """Mean, variance, whether rows have less than the floor [variable][class]; what is constant.

    The means are None where every class has rows: they are the given ones.
    """

def naive_finish(joint: _Reals, answer: str, threads: int = 1) -> tuple[_Ints, int]:
    """Turn ln P(class, row) into 'log', 'posterior' or 'best', in place; a row ruled out or −1."""

@final
class NaiveScorer:
    """The tables of a model; scores rows."""

    def __init__(
        self,
        bias: _Reals,
        singles: list[tuple[int, int]] | _Ints,
        pairs: Sequence[tuple[int, int, int, int]],
        tables: _Reals,
        mean: _Reals,
        variance: _Reals,
        weights: _Reals | None = None,
    ) -> None: ...
    def score(
        self,
        columns: _Given,
        windows: _Windows,
        reals: _Given,
        n_rows: int,
        extra: _Reals | None = None,
        answer: str = "posterior",
        threads: int = 1,
        counts: _Given = ...,
        present: bool = False,
        gaps: bool = True,
    ) -> tuple[NDArray[Any], int, list[int], list[int], bool]:
        """The answers, a row ruled out (or −1), columns with new states, with infinities."""

@final
class Vocabulary:
    """Words, numbered in the order in which they came."""

    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def words(self) -> list[str]: ...
    def add(self, words: list[str]) -> None: ...
    def bags(
        self, documents: list[Any], learn: bool, shortest: int = 1, lower: bool = True
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int32]]:
        """Sparse rows of word counts: begin, words, counts."""

def sparse_totals(
    begin: NDArray[Any],
    columns: NDArray[Any],
    values: NDArray[Any],
    n_columns: int,
    group: NDArray[np.uint32],
    groups: int,
    weights: _Reals | None = None,
    present: bool = False,
    threads: int = 1,
) -> tuple[_Reals, bool]:
    """Sums of sparse rows by group."""

def sparse_joint(
    begin: NDArray[Any],
    columns: NDArray[Any],
    values: NDArray[Any],
    table: _Reals,
    bias: _Reals,
    present: bool = False,
    threads: int = 1,
) -> tuple[_Reals, bool]:
    """bias + Σ value · table[column] for each row; whether all values were finite counts."""

def text_table(
    totals: _Reals, form: str, weight: _Reals, smoothing: _Reals
) -> tuple[_Reals, _Reals]:
    """The weights of words [word][class], and what they add to each class."""

def log_kernel_density(x: _Reals, points: _Reals, weights: _Reals, width: float) -> _Reals:
    """ln of a Gaussian kernel density; 0 where x is NaN."""

class Expectations:
    """The rows of a table folded for EM: see cpp/em_rows.hpp.

    `scopes` has for each variable its parents and then itself; an arity of 0 is a continuous
    variable. Components of gaps with more than `most` states are left to the inference engine.
    """

    def __init__(
        self,
        arities: Sequence[int],
        scopes: Sequence[Sequence[int]],
        most: int,
        most_mixed: int,
    ) -> None: ...
    def add(
        self,
        columns: Sequence[_Codes | _Reals | None],
        rows: int,
        weights: _Reals | None = None,
    ) -> None:
        """Fold more rows in. A column is codes (arity or more: missing), floats (NaN), or None."""

    def step(
        self, theta: _Reals, lines: _Reals, threads: int = 1
    ) -> tuple[_Reals, _Reals, float, bool]:
        """Expected counts, moments, ln P of the rows not left, and whether one is impossible."""

    def left(self) -> tuple[NDArray[np.int32], _Reals]:
        """The rows left to the engine [rows, variables], -1 for missing, and their weights."""

    def counted(self) -> tuple[_Reals, _Reals]:
        """The counts and moments of the families that were observed."""

    @property
    def problems(self) -> int: ...
    @property
    def shapes(self) -> int: ...
    @property
    def total(self) -> float:
        """The weight of all rows."""

    @property
    def too_large(self) -> list[int]:
        """The discrete variables of a mixed component that is too large, or nothing."""

def complete_rows(
    arities: Sequence[int],
    scopes: Sequence[Sequence[int]],
    theta: _Reals,
    columns: Sequence[_Codes | None],
    rows: int,
    weights: _Reals | None,
    most: int,
    draws: int,
    most_states: int,
    seed: int = 0,
) -> tuple[NDArray[np.uint16], _Reals, _Ints, int, int]:
    """Rows with their gaps filled in every way, weighted by its probability.

    Codes [rows, variables], weights, the rows left out because their gaps hang together too widely
    (more than `most_states`), how many rows had more than `most` ways and were given `draws`, and
    the first row of probability zero or -1.
    """

_Family: TypeAlias = tuple[int, Sequence[int]]
_Report: TypeAlias = Callable[[float, int, int], bool] | None
_Marks: TypeAlias = NDArray[np.uint8]

@final
class FamilyScores:
    """Local scores of families, by variable numbers; kept, so that nothing is counted twice.

    `penalty` is subtracted for each free parameter; `by_parents[k]` is added for k parents and
    `by_edge[child, parent]` for each edge.
    """

    @staticmethod
    def columns(
        columns: Columns,
        variables: Sequence[int],
        weights: _Ints | _Reals | None,
        name: str,
        rows: float,
        ess: float,
        penalty: float,
        by_parents: Sequence[float],
        by_edge: _Reals | None,
        threads: int,
    ) -> FamilyScores:
        """From columns in memory: loglik, bdeu, qnml, k2, bds, fnml, or available (gaps)."""

    @staticmethod
    def counts(
        arities: Sequence[int],
        count: Callable[[list[list[int]]], NDArray[Any]],
        sparse: Callable[[list[int]], tuple[NDArray[Any], _Ints]],
        dense: float,
        name: str,
        rows: float,
        ess: float,
        penalty: float,
        by_parents: Sequence[float],
        by_edge: _Reals | None,
    ) -> FamilyScores:
        """From tables that Python counts; sets of more cells than `dense` are asked sparsely."""

    @staticmethod
    def matrix(
        matrix: _Reals,
        rows: float,
        bge: bool,
        prior_rows: float,
        freedom: float,
        prior_scale: float,
        penalty: float,
        by_parents: Sequence[float],
        by_edge: _Reals | None,
    ) -> FamilyScores:
        """Gaussian, from the covariance, or BGe from the posterior scale matrix."""

    @staticmethod
    def function(
        n: int,
        function: Callable[[list[tuple[int, list[int]]]], _Reals],
        by_parents: Sequence[float],
        by_edge: _Reals | None,
    ) -> FamilyScores:
        """Local scores that a function computes, a batch at a time."""

    @staticmethod
    def mixed(
        tables: FamilyScores,
        moments: Callable[[list[int], list[int]], tuple[_Reals, _Reals, _Reals]],
        arities: Sequence[int],
        rows: float,
        penalty: float,
        like_all: float,
        most_numbers: float,
        by_parents: Sequence[float],
        by_edge: _Reals | None,
        threads: int,
    ) -> FamilyScores:
        """Conditional Gaussian; continuous variables have arity 0, `tables` scores the others.

        `moments(group, columns)` gives weights [G], means [G, m] and scatter matrices [G, m, m] of
        continuous columns by the configurations of discrete ones; at most `most_numbers` are kept.
        `like_all` above 0: marginal likelihoods, a line's variance worth so many rows like all.
        """

    def limit(self, seconds: float | None) -> None:
        """Long work ends after some seconds or at Ctrl-C: what is not scored then is −∞, not kept.

        None: work is always done.
        """

    @property
    def stopped(self) -> bool:
        """Whether the limit has ended work."""

    def score(self, families: Sequence[_Family]) -> _Reals: ...
    @property
    def counters(self) -> dict[str, int]: ...

def climb(
    scores: FamilyScores,
    allowed: _Marks,
    required: _Marks,
    most: Sequence[int],
    start: Sequence[Sequence[int]],
    tabu: int = 0,
    patience: int = 0,
    downhill: bool = True,
    restarts: int = 0,
    kicks: int = 0,
    most_steps: int = 0,
    polish: int = 0,
    lazy: bool = False,
    alone: int = 0,
    around: int = 0,
    seed: int = 0,
    report: _Report = None,
) -> dict[str, Any]:
    """Hill climbing or tabu search; `allowed` and `required` are [child, parent]."""

def anneal(
    scores: FamilyScores,
    allowed: _Marks,
    required: _Marks,
    most: Sequence[int],
    start: Sequence[Sequence[int]],
    hot: float,
    cold: float,
    steps: int,
    thin: int = 0,
    seed: int = 0,
    report: _Report = None,
) -> dict[str, Any]:
    """Metropolis with a temperature that falls from hot to cold."""

def log_complexity(n: float, k: int) -> float:
    """ln of the normalising sum of the multinomial maximum likelihood, exact."""

def log_complexity_approximate(n: float, k: float) -> float:
    """The same by Szpankowski and Weinberger's approximation."""

@final
class ParentLists:
    """For each child the parent sets worth having, best first."""

    def __init__(
        self, scores: FamilyScores, allowed: _Marks, required: _Marks, most: Sequence[int]
    ) -> None: ...
    def build(
        self, candidates: int = 64, beam: int = 0, most: int = 0, report: _Report = None
    ) -> tuple[bool, bool]:
        """Whether it was done, and whether Ctrl-C stopped it. beam 0: every set is extended."""

    def reach(self, pairs: int, by: FamilyScores, report: _Report = None) -> tuple[int, bool]:
        """Complete each child's best pairs of parents with any variable; how many were added."""

    def add(self, parents: Sequence[Sequence[int]], around: bool) -> int:
        """Add the families of a graph, and those around them; how many are worth having."""

    def order(
        self,
        start: Sequence[Sequence[int]],
        chains: int = 4,
        patience: int = 100,
        kicks: int = 0,
        seed: int = 0,
        threads: int = 1,
        turns: bool = False,
        report: _Report = None,
    ) -> dict[str, Any]:
        """Iterated insertion search over orders; `turns`: of every edge, before kicks."""

    def exact(self, report: _Report = None) -> dict[str, Any]:
        """The best graph of the lists by dynamic programming; at most 28 variables."""

    def sets(self, child: int) -> tuple[list[list[int]], _Reals]: ...
    @property
    def upper(self) -> _Reals:
        """For each child, what no family of it scores above; inf where that is not known."""

    @property
    def complete(self) -> bool: ...
    @property
    def scored(self) -> int: ...
    @property
    def size(self) -> int: ...

# --- clusters -----------------------------------------------------------------------------

_Columns: TypeAlias = Sequence[_Reals]
_States: TypeAlias = Sequence[NDArray[np.int32]]

def gower_pairs(
    reals: _Columns, codes: _States, apart: float, threads: int = 1
) -> tuple[_Reals, int]:
    """Gower's distance of every pair i < j, row by row, and how many pairs share no column.

    IN `reals` scaled, NaN missing; `codes` states, -1 missing.
    """

def gower_between(
    reals_a: _Columns,
    codes_a: _States,
    reals_b: _Columns,
    codes_b: _States,
    apart: float,
    threads: int = 1,
) -> tuple[_Reals, int]:
    """Gower's distance of each row of a to each row of b, and how many pairs share no column."""

def spanning_tree(points: _Reals, threads: int = 1, path: _Path = "auto") -> tuple[_Ints, _Reals]:
    """The edges of points' least spanning tree, the shortest first, and their lengths.

    Where distances tie there are several; with more threads than one it may be any of them.
    """

def links_of_tree(edges: _Ints, lengths: _Reals) -> _Reals:
    """The tree of single link, in SciPy's form, from a spanning tree's edges, shortest first."""

def labels_of_links(links: _Reals, merges: int) -> NDArray[np.int64]:
    """The clusters after the first merges of a tree in SciPy's form, numbered by first rows."""

def spread_of(values: _Reals, weights: _Reals | None = None) -> tuple[float, float, float, float]:
    """Least, greatest, mean and variance (of the population) of a column without gaps."""

def points_of(
    columns: _Columns, centres: _Reals | None = None, scales: _Reals | None = None
) -> _Reals:
    """Columns as rows: (x − centre) / scale, or the numbers as they are."""

@final
class LloydRows:
    """Rows of points without gaps, for k-means from one start or many: see cpp/lloyd.hpp."""

    def __init__(self, x: _Reals, weights: _Reals | None = None) -> None: ...
    def start(
        self, k: int, draws: _Reals, threads: int = 1, path: str = "auto"
    ) -> NDArray[np.int64]:
        """k rows by k-means++; `draws` in [0, 1): one for the first, as many for each later one."""

    def climb(
        self,
        centres: _Reals,
        iterations: int,
        tolerance: float,
        threads: int = 1,
        path: str = "auto",
    ) -> tuple[NDArray[np.int64], _Reals, list[float], list[int], bool]:
        """Labels, centres, W after each E and M step, rows moved at each E step, whether at rest.

        `tolerance` is scikit-learn's: of the mean variance of the columns.
        """

    def near_ties(self, centres: _Reals, threads: int = 1, path: str = "auto") -> NDArray[np.int64]:
        """The rows as near to a second centre, as far as rounding can tell."""

def links_of_points(points: _Reals, method: str, path: str = "auto") -> _Reals:
    """Complete, average or ward link of points (see cpp/chain.hpp): the rows of SciPy's tree."""

def links_of_ties(n: int, edges: _Ints, strengths: _Reals, average: bool, most: float) -> _Reals:
    """Average (or complete) link of a graph; as many merges as there are groups that are tied."""

@final
class MixtureRows:
    """Rows as a mixture sees them: see cpp/mixture.hpp and credo.predict.rows.mixture_rows."""

    def __init__(
        self,
        reals: _Reals,
        starts: NDArray[np.int64],
        seen: NDArray[np.uint8],
        codes: NDArray[np.uint16],
        offset: NDArray[np.int64],
        weights: _Reals | None,
    ) -> None: ...
    def step(
        self,
        log_weights: _Reals,
        tables: _Reals,
        means: _Reals,
        covariances: _Reals,
        joint: bool,
        threads: int = 1,
        path: str = "auto",
        rooted: bool = False,
    ) -> Any:
        """ln P, impossible rows, mass, counts, first, second; (None,) if there is no root."""

    def score(
        self,
        log_weights: _Reals,
        tables: _Reals,
        means: _Reals,
        covariances: _Reals,
        joint: bool,
        threads: int = 1,
        path: str = "auto",
        rooted: bool = False,
    ) -> Any:
        """P(class | row) and ln P(row); (None,) if a covariance has no root."""
