"""The rows that a run records, as typed dictionaries. Bits are unsigned and as wide as the element type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict, cast

from tiebreak.golden.elements import ELEMENT_TYPES, IntegerType, decimal
from tiebreak.golden.rounding import short_mode

if TYPE_CHECKING:
    import pandas as pd


class CaseRow(TypedDict):
    """A case on a backend before its outputs are judged."""

    backend: str
    version: str
    operator: str
    case: str
    origin: str  # vector, generated or typed
    round_mode: str  # empty where the document names none, or several
    input_type: str
    output_type: str
    flags: str  # of a vector, with blanks between
    clauses: str  # those that the case shows, with blanks between
    message: str
    fault: str
    seconds: float
    elements: int
    document: str  # own, foreign or none: see golden/verdicts.py
    domain: str  # of a case that ran: calibrated, edge or pathological
    digest: int  # of its outputs; 0 where it did not run, and in older runs


class Counts(TypedDict, total=False):
    """How many elements of a case have each grade; absent where it did not run."""

    exact: int
    working_precision: int
    other_order: int
    unspecified: int
    deviates: int
    judged_calibrated: int
    working_calibrated: int
    other_order_calibrated: int
    deviates_calibrated: int
    judged_edge: int
    working_edge: int
    other_order_edge: int
    deviates_edge: int


class ModeCounts(TypedDict, total=False):
    """For each rounding mode: elements that were compared with it, and those that differ from both its truths."""

    compared_NEAREST_TOWARD_INFINITY: int
    differs_NEAREST_TOWARD_INFINITY: int
    compared_NEAREST_TOWARD_ZERO: int
    differs_NEAREST_TOWARD_ZERO: int
    compared_NEAREST_UPWARD: int
    differs_NEAREST_UPWARD: int
    compared_NEAREST_DOWNWARD: int
    differs_NEAREST_DOWNWARD: int
    compared_NEAREST_TOWARD_EVEN: int
    differs_NEAREST_TOWARD_EVEN: int
    compared_TOWARD_INFINITY: int
    differs_TOWARD_INFINITY: int
    compared_TOWARD_ZERO: int
    differs_TOWARD_ZERO: int
    compared_UP: int
    differs_UP: int
    compared_DOWN: int
    differs_DOWN: int


class ResultRow(CaseRow, Counts, ModeCounts):
    """One case on one backend."""

    verdict: str


class OperandColumns(TypedDict):
    """Where a deviating element is, and its operands."""

    output: str
    index: int  # in row-major order
    input_bits: int
    input: float
    scale_bits: int  # 0 where there is no scale
    scale: float  # NaN where there is no scale
    zero_point: int
    operands: str  # JSON: [name, bits, decimal] of each
    domain: str
    boundary_ulp: float  # NaN where the result is not a rounded quotient


class ResultColumns(TypedDict):
    """The expected and the actual result of a deviating element."""

    expected: float
    expected_working: float
    got: float
    expected_bits: int
    working_bits: int
    got_bits: int
    distance: int  # in integers, or in units in the last place
    result_type: str


class SharedColumns(TypedDict):
    """Columns that all deviating elements of a case share until causes are found."""

    id: str  # D000001, …; empty until the run is whole
    backend: str
    operator: str
    case: str
    round_mode: str
    input_type: str
    output_type: str
    flags: str
    document: str
    cause_id: str  # made of keys of the table of causes; empty in older runs
    cause: str
    clause: str


class DiscrepancyRow(SharedColumns, OperandColumns, ResultColumns):
    """One deviating element of a backend."""


class Witness(TypedDict):
    """The plainest discrepancy of a root cause; `operands` are [name, bits, decimal], `output` is the output's name.

    `attributes` are those that its case gives, each with its value.
    """

    id: str
    case: str
    elements: int
    output: str
    operands: list[list[str]]
    expected: str
    got: str
    attributes: NotRequired[list[str]]


class Example(TypedDict):
    """What a report adds to a discrepancy. `rounded` is the exact argument of the document's round() as a fraction.

    `modes` are the exact results of the nine modes in their order, empty texts where undefined. Both are empty where
    nothing is rounded to an integer.
    """

    id: str
    rounded: str
    modes: list[str]


class PicturePoint(TypedDict):
    """A float or an integer of a picture as [decimal, bits], and the results there: empty texts where unknown."""

    x: list[str]
    exact: str
    working: str
    got: str


class Picture(TypedDict):
    """The numbers of a root cause's picture, in order of x.

    `kind` is "steps": results over the first operand, whose name is `operand` and whose value in the witness is `x`; or
    "floats": the neighbours of a real result. `apart` is 1 if the points are all values of the type between the ends.
    """

    kind: str
    operand: str
    apart: int
    points: list[PicturePoint]
    x: str


class DomainShare(TypedDict):
    """A cause's elements and cases in one domain, of all of its backend's operator that were judged there.

    Older runs lack the cases.
    """

    elements: int
    judged: int
    cases: NotRequired[int]
    judged_cases: NotRequired[int]
    farthest: int
    boundary_ulp: float | None


class RootCauseRow(TypedDict):
    """One root cause: a backend's operator and the cause of its discrepancies."""

    id: str  # C001, …: those that matter most first
    backend: str
    version: str
    operator: str
    cause_id: str
    cause: str
    arithmetic: str  # the id without facts of the environment; empty if there is nothing else
    environment: str  # the fact of the environment that it consists of or has, such as "flushes"
    clause: str
    document: str
    domains: dict[str, DomainShare]  # those that it has elements in
    elements: int
    cases: int
    types: list[str]
    farthest: int  # the greatest distance, in integers or units in the last place
    boundary_ulp: float | None
    witness: Witness
    theorems: NotRequired[list[str]]  # what is counted of its arithmetic over all scales and inputs
    sentence: NotRequired[str]
    examples: NotRequired[list[Example]]
    picture: NotRequired[Picture | None]


class PathAnswer(TypedDict):
    """One of several answers to the same operands, with an example; `paths` say where it is given."""

    bits: str
    value: str
    elements: int
    paths: list[str]
    case: str
    index: int
    deviates: bool


class PathRow(TypedDict):
    """Operands to which one node gives several answers, depending on the layout."""

    backend: NotRequired[str]
    operator: str
    input_type: str
    output_type: str
    node: str
    output: str
    operands: list[list[str]]
    answers: list[PathAnswer]
    deviates: bool


class FailedCase(TypedDict):
    """The smallest case of a kind of failure. `call` has its attributes, and its inputs with their first values."""

    case: str
    message: str
    call: NotRequired[str]


class FailureRow(TypedDict):
    """One kind of crash, timeout or error of a backend's operator."""

    id: str  # F001, …
    backend: str
    version: str
    operator: str
    verdict: str
    fault: str
    cases: int
    message: str
    witness: FailedCase
    cause_id: NotRequired[str]  # where it is known why outputs change
    example: NotRequired[dict[str, Any]]  # the element that changes: its operands and both answers


def judged_row(row: CaseRow, verdict: str, **columns: Any) -> ResultRow:
    """The row with the verdict and the counts that belong to it."""
    return cast("ResultRow", {**row, "verdict": verdict, **columns})


def differing_from(row: ResultRow, mode: str) -> int:
    """How many elements of a case differ from both truths of a rounding mode."""
    return cast("dict[str, int]", row).get(f"differs_{short_mode(mode)}", 0)


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A table's rows, column names to values."""
    return cast("list[dict[str, Any]]", frame.to_dict("records"))


def values_by_key(values: pd.Series[Any]) -> Iterable[tuple[tuple[Any, ...], Any]]:
    """Sums or counts of groups, each with the group's key."""
    return cast("Iterable[tuple[tuple[Any, ...], Any]]", values.items())


def rows_by_key(frame: pd.DataFrame) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The rows of a table of groups by the group's key."""
    return cast("dict[tuple[Any, ...], dict[str, Any]]", frame.to_dict("index"))


def result_rows(results: pd.DataFrame) -> list[ResultRow]:
    """The rows of a run's results."""
    return cast("list[ResultRow]", results.to_dict("records"))


def discrepancy_rows(discrepancies: pd.DataFrame) -> list[DiscrepancyRow]:
    """The rows of a run's discrepancies."""
    return cast("list[DiscrepancyRow]", discrepancies.to_dict("records"))


def decimal_result(row: Mapping[str, Any], name: str) -> str:
    """A discrepancy's "expected" or "got" in the fewest digits that say which number of its type it is."""
    kind = ELEMENT_TYPES[str(row["result_type"])]
    return str(int(row[name])) if isinstance(kind, IntegerType) else decimal(int(row[f"{name}_bits"]), kind)


def right_results(row: Mapping[str, Any]) -> str:
    """What conforms instead of a discrepancy: the exact result and, where it is another, that in working precision."""
    working = {
        "expected": row["expected_working"],
        "expected_bits": row["working_bits"],
        "result_type": row["result_type"],
    }
    return " or ".join(dict.fromkeys(decimal_result(one, "expected") for one in (row, working)))
