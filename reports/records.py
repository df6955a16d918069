"""The run folder: run.json, results.parquet, discrepancies.parquet, cases.parquet and report.html.

Files are written aside and then renamed. Reading validates everything, since a run folder may come from elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiebreak.golden.elements import ELEMENT_TYPES, FloatType, element_type
from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.golden.files import bounded_text, check_format
from tiebreak.golden.make_node import node_from_key
from tiebreak.golden.nodes import Case
from tiebreak.golden.places import RECORDS, UNFINISHED, check_output, unfinished_path
from tiebreak.golden.problem import Array, array_of, codes_of, kind_of
from tiebreak.golden.problems import problems_of
from tiebreak.golden.rounding import ROUND_MODES, short_mode
from tiebreak.golden.verdicts import DOMAINS, GRADES, OWN
from tiebreak.reports.rows import rows_of
from tiebreak.reports.run_info import check_info
from tiebreak.reports.table_files import read_table, write_table

if TYPE_CHECKING:
    import pandas as pd

INFO, RESULTS, DISCREPANCIES, CASES, OUTPUTS = RECORDS
OFFLINE = "offline"  # the level of runs by `tiebreak verify`, whose device no command reaches
LARGEST_INFO = 1 << 30  # bytes of run.json
MODE_COLUMNS = tuple(f"{what}_{short_mode(mode)}" for mode in ROUND_MODES for what in ("compared", "differs"))
COUNTS = tuple(grade.replace("-", "_") for grade in GRADES)  # of elements, by grade
JUDGED = tuple(name for name in COUNTS if name != "unspecified")
DOMAIN_COLUMNS = tuple(
    f"{what}_{domain}" for domain in DOMAINS[:2] for what in ("judged", "working", "other_order", "deviates")
)
TEXT_COLUMNS = ("backend", "version", "operator", "case", "origin", "round_mode", "input_type", "output_type", "flags")
RESULT_DTYPES = {
    **dict.fromkeys((*TEXT_COLUMNS, "clauses", "document", "domain", "verdict", "message", "fault"), "string"),
    "seconds": "float64",
    **dict.fromkeys(("elements", *COUNTS), "int64"),
    **dict.fromkeys((*DOMAIN_COLUMNS, *MODE_COLUMNS), "int64"),
    "digest": "uint64",
}
DISCREPANCY_DTYPES = {
    "id": "string",
    **dict.fromkeys(("backend", "operator", "case", "round_mode", "input_type", "output_type", "flags"), "string"),
    **dict.fromkeys(("output", "result_type"), "string"),
    "index": "int64",
    **dict.fromkeys(("input_bits", "scale_bits"), "uint64"),
    **dict.fromkeys(("input", "scale"), "float64"),
    "zero_point": "int64",
    "operands": "string",
    **dict.fromkeys(("expected", "expected_working", "got"), "float64"),
    **dict.fromkeys(("expected_bits", "working_bits", "got_bits"), "uint64"),
    "distance": "int64",
    "boundary_ulp": "float64",
    **dict.fromkeys(("document", "domain", "cause_id", "cause", "clause"), "string"),
}
OF_ORDERS = ("other_order", *(f"other_order_{domain}" for domain in DOMAINS[:2]))  # columns that runs once lacked
# What older runs lack, with what they meant: every document was taken for the backend's own, and its order for the one.
LATER = {
    **{"document": OWN, "domain": "", "cause_id": ""},
    **dict.fromkeys(("other_order", *DOMAIN_COLUMNS, "digest"), 0),
}


class NotWritten(InvalidInput):
    """A file could not be written; an earlier file of that name is unchanged."""


@dataclass(frozen=True)
class RunRecords:
    """A run in memory: `info` is run.json, `generated` are the generated cases. For the tables see Run."""

    info: dict[str, Any]
    results: pd.DataFrame
    discrepancies: pd.DataFrame
    generated: Sequence[Case]


@dataclass(frozen=True)
class Run:
    """A run as tables. Text may be categories, whose distinct texts are held once, instead of dtype "string"."""

    info: dict[str, Any]
    results: pd.DataFrame
    discrepancies: pd.DataFrame


def typed_frame(rows: Sequence[Mapping[str, Any]], dtypes: dict[str, str]) -> pd.DataFrame:
    """Rows as a DataFrame with exactly these columns and dtypes. Missing counts become 0, missing text empty."""
    import pandas as pd

    columns = {}
    for name, dtype in dtypes.items():
        default: Any = "" if dtype == "string" else 0
        columns[name] = pd.Series([row.get(name, default) for row in rows], dtype=dtype)
    return pd.DataFrame(columns)


def as_run(records: RunRecords) -> Run:
    return Run(records.info, records.results, records.discrepancies)


def write_run(folder: Path, run: Run, generated: Sequence[Case]) -> None:
    """Write the records. run.json goes last, so that a folder that has it is complete."""
    replace_file(folder / RESULTS, lambda path: write_table(run.results, path))
    cases = typed_frame(
        [stored_case(case) for case in generated], dict.fromkeys(("id", "origin", "node", "inputs"), "string")
    )
    replace_file(folder / CASES, lambda path: write_table(cases, path))
    write_explanations(folder, run)


def write_explanations(folder: Path, run: Run) -> None:
    """Write the files that change when a run is explained: the discrepancies and run.json."""
    replace_file(folder / DISCREPANCIES, lambda path: write_table(run.discrepancies, path))
    write_info(folder, run.info)


def write_info(folder: Path, info: dict[str, Any]) -> None:
    text = json.dumps(info, indent=1, ensure_ascii=False) + "\n"
    replace_file(folder / INFO, lambda path: path.write_text(text, encoding="utf-8"))


def write_aside(path: Path, write: Callable[[Path], Any]) -> None:
    """Let `write` make a file beside `path`, then rename it to `path`.

    Raises InvalidInput if `path` is a run's record or can't be a file, NotWritten if writing fails.
    """
    check_output(path)
    replace_file(path, write)


def replace_file(path: Path, write: Callable[[Path], Any]) -> None:
    """Like write_aside, but may also replace a run's records."""
    aside = unfinished_path(path)
    try:
        write(aside)
        aside.replace(path)
    except BaseException as error:  # after an interrupt, too, no half-written file stays
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise NotWritten(f"{path}: can't write: {error.strerror or error}") from None
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text file beside `path` and rename it. Raises InvalidInput if that fails."""
    write_aside(path, lambda aside: aside.write_text(text, encoding="utf-8"))


def stored_case(case: Case) -> dict[str, str]:
    """A generated case as texts: floats as hexadecimal bits, integers as decimals."""
    inputs = [
        {"type": kind_of(array).name, "shape": list(array.shape), "values": tensor_text(array)} for array in case.inputs
    ]
    return {"id": case.id, "origin": case.origin, "node": case.node.key, "inputs": json.dumps(inputs)}


def tensor_text(array: Array) -> str:
    codes = codes_of(array).reshape(-1).tolist()
    if isinstance(kind_of(array), FloatType):
        return " ".join(f"{word:0{2 * array.dtype.itemsize}x}" for word in codes)
    return " ".join(map(str, codes))


def read_run(folder: Path) -> Run:
    """The tables of a run folder. InvalidInput if there is no run; DamagedFile names the damaged file."""
    info = read_info(folder)
    results = read_table(folder / RESULTS, RESULT_DTYPES, later=LATER)
    plain = ("id",)  # each is another
    discrepancies = read_table(folder / DISCREPANCIES, DISCREPANCY_DTYPES, plain=plain, later=LATER)
    for name, frame in ((RESULTS, results), (DISCREPANCIES, discrepancies)):
        known = {backend["name"] for backend in info["backends"]}
        check_known(f"{folder / INFO}: damaged run file: {name}", "backend", frame, known)
    check_known(f"{folder / DISCREPANCIES}: damaged run file: it", "result_type", discrepancies, set(ELEMENT_TYPES))
    return Run(info, results, discrepancies)


def check_known(file: str, column: str, frame: pd.DataFrame, known: set[str]) -> None:
    """Raise DamagedFile if a column has values that are not in `known`."""
    if unknown := set(frame[column].unique()) - known:
        raise DamagedFile(f"{file} has the unknown {column} {ascii(min(map(str, unknown)))[:100]}")


def read_info(folder: Path) -> dict[str, Any]:
    path = folder / INFO
    try:
        info = json.loads(bounded_text(path, LARGEST_INFO, "a run file"))
    except DamagedFile:
        raise
    except InvalidInput:
        begun = (folder / UNFINISHED / "plan.json").exists()
        unfinished = f"; an unfinished one goes on with: tiebreak run --resume {folder}" if begun else ""
        raise InvalidInput(f"{folder}: no run here (no readable {INFO}){unfinished}") from None
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"{path}: damaged run file: not JSON ({error})") from None
    info = check_format(path, info, "tiebreak-run", "run file")
    try:
        check_info(info)
    except ValueError as error:
        raise DamagedFile(f"{path}: damaged run file: {error}") from None
    return info


def read_generated(folder: Path, ids: Sequence[str] = ()) -> list[Case]:
    """The generated cases of a run, which no vectors are: those with these ids, or all if none are named."""
    path = folder / CASES
    rows = generated_rows(folder, *(one.stat().st_mtime_ns if one.exists() else 0 for one in (folder / INFO, path)))
    try:
        return [parse_case(row) for row in (rows.values() if not ids else (rows[one] for one in ids if one in rows))]
    except (ValueError, TypeError, KeyError, InvalidInput) as error:
        raise DamagedFile(f"{path}: damaged run file: {error}") from None


@lru_cache(maxsize=1)
def generated_rows(folder: Path, *written: int) -> dict[str, dict[Any, Any]]:
    """The rows of a run's generated cases by id, for files `written` then: each script reads one of them."""
    read_info(folder)
    dtypes: dict[str, str] = dict.fromkeys(("id", "origin", "node", "inputs"), "string")
    return {str(row["id"]): row for row in rows_of(read_table(folder / CASES, dtypes, plain=dtypes))}


def parse_case(row: dict[Any, Any]) -> Case:
    node = node_from_key(row["node"])
    case = Case(row["id"], node, tuple(parse_array(tensor) for tensor in json.loads(row["inputs"])), row["origin"])
    problems_of(case)
    return case


def parse_array(tensor: dict[str, Any]) -> Array:
    name, items = tensor["type"], tensor["values"].split()
    base = 16 if isinstance(element_type(name), FloatType) else 10
    return array_of(name, tuple(tensor["shape"]), [int(item, base) for item in items])
