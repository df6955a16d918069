"""A run as pandas DataFrames, and the same tables as CSV, JSON Lines or Parquet files.

A run folder may come from elsewhere, so the lists of run.json are checked row by row before they become tables.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.version import Version

from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.golden.places import check_replaceable
from tiebreak.golden.verdicts import DOMAINS, OWN, VERDICTS
from tiebreak.reports.libraries import library_of
from tiebreak.reports.records import (
    DISCREPANCY_DTYPES,
    RESULT_DTYPES,
    Run,
    read_run,
    typed_frame,
    write_aside,
)
from tiebreak.reports.run_views import cause_frame, contradiction_frame, deviating_shares
from tiebreak.reports.table_files import write_table
from tiebreak.reports.text_columns import with_plain_text

if TYPE_CHECKING:
    import pandas as pd

TEXT = "string"
CLUSTER_DTYPES = {
    **dict.fromkeys(("id", "backend", "version", "operator", "cause_id", "cause", "clause", "document"), TEXT),
    **dict.fromkeys(("elements", "cases"), "int64"),
    **dict.fromkeys((f"{of}{domain}" for domain in DOMAINS for of in ("", "judged_")), "int64"),
    "types": TEXT,
    "farthest": "int64",
    "boundary_ulp": "float64",
    **dict.fromkeys(("sentence", "witness_id", "witness_case"), TEXT),
    "witness_elements": "int64",
    **dict.fromkeys(("witness_operands", "witness_expected", "witness_got"), TEXT),
}
PATH_DTYPES = {
    "set": "int64",
    **dict.fromkeys(("backend", "operator", "input_type", "output_type", "node", "output", "operands"), TEXT),
    **dict.fromkeys(("bits", "value"), TEXT),
    "elements": "int64",
    **dict.fromkeys(("paths", "case"), TEXT),
    "index": "int64",
    **dict.fromkeys(("deviates", "any_deviates"), "bool"),
}
BACKEND_COLUMNS = (
    *("name", "version", "library", "spec", "operators", "claims", "maps", "always_constant", "attestation"),
)
LIST_DTYPES = {
    "backends": dict.fromkeys(BACKEND_COLUMNS, TEXT),
    "observed": {**dict.fromkeys(("backend", "operator", "situation", "gives"), TEXT), "elements": "int64"},
    "forbidden": dict.fromkeys(
        ("backend", "version", "operator", "clause", "document", "what", "answer", "message", "got"), TEXT
    ),
    "relations": {
        **dict.fromkeys(("relation", "backend"), TEXT),
        **dict.fromkeys(("cases", "elements", "differ"), "int64"),
    },
    "pairs": {
        **dict.fromkeys(("a", "b", "operator"), TEXT),
        **dict.fromkeys(("cases", "elements", "differ"), "int64"),
    },
}  # fmt: skip
DTYPES: dict[str, dict[str, str]] = {
    "results": RESULT_DTYPES,
    "discrepancies": DISCREPANCY_DTYPES,
    "clusters": CLUSTER_DTYPES,
    "paths": PATH_DTYPES,
    **LIST_DTYPES,
}
FORMATS = ("csv", "jsonl", "parquet")
NUMBER = re.compile(r"[-+]?(\d+(\.\d+)?(e[-+]?\d+)?|inf)\Z", re.IGNORECASE | re.ASCII)
STARTS_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'")
JSON_ROWS = 10_000  # rows turned into text at a time


@dataclass(frozen=True)
class Tables:
    """A run: nine DataFrames with the columns and dtypes of DTYPES, and run.json as `info`.

    `results` has a row for each backend and case, `discrepancies` for each deviating element, `clusters` for each root
    cause, and `backends` for each backend. `paths` has a row for each answer to operands that get several answers.
    `observed` has a row for each backend, operator, situation and answer where the spec is silent. `forbidden` has a
    row for each backend and forbidden call. `relations` has a row for each backend and two operators that must agree,
    `pairs` for each operator and two backends. Text is never missing (NA); an unknown number is NaN.
    """

    results: pd.DataFrame
    discrepancies: pd.DataFrame
    clusters: pd.DataFrame
    backends: pd.DataFrame
    paths: pd.DataFrame
    observed: pd.DataFrame
    forbidden: pd.DataFrame
    relations: pd.DataFrame
    pairs: pd.DataFrame
    info: dict[str, Any]

    @property
    def exit_code(self) -> int:
        """The exit code of the command that recorded the run: 0, 1, 3 or 4."""
        return int(self.info["exit"])

    @property
    def causes(self) -> pd.DataFrame:
        """A row for each root cause of a library: those of its configurations, and of one operation, are one."""
        return cause_frame(run_of(self))

    @property
    def contradictions(self) -> pd.DataFrame:
        """A row for each way in which a library gives the same numbers another answer."""
        return contradiction_frame(run_of(self))

    def matrix(self, *, domain: str = "calibrated") -> pd.DataFrame:
        """Backend by operator: the share of the judged elements that deviate, NaN where none was judged.

        `domain` is "calibrated", "edge", "pathological" or "all"; InvalidInput for another.
        """
        return deviating_shares(self.results, domain)

    def __repr__(self) -> str:
        """The number of rows of each table, in one line."""
        return f"Tables({', '.join(f'{name}: {len(frame):,}' for name, frame in self)})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the libraries, the findings that matter most, and the matrix."""
        from tiebreak.reports.notebook import notebook_html

        return notebook_html(run_of(self))

    def __iter__(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """(name, DataFrame) of every table."""
        return ((name, getattr(self, name)) for name in DTYPES)


def run_of(tables: Tables) -> Run:
    """The run that the tables are of."""
    return Run(tables.info, tables.results, tables.discrepancies)


def load(run: str | Path) -> Tables:
    """The tables of the run folder `run`. InvalidInput if there is no run; DamagedFile names the damaged file."""
    folder = Path(run)
    return as_tables(read_run(folder), str(folder / "run.json"))


def as_tables(run: Run, source: str = "run.json") -> Tables:
    """The tables of a run in memory; `source` is what DamagedFile calls run.json."""
    rows = {name: list_of_objects(run.info, name, source) for name in ("clusters", "paths", *LIST_DTYPES)}
    try:
        rows["clusters"] = [flat_root_cause(row) for row in rows["clusters"]]
        rows["paths"] = [answer for number, row in enumerate(rows["paths"]) for answer in answer_rows(number, row)]
        rows["backends"] = [flat_backend(row) for row in rows["backends"]]
        rows["forbidden"] = [{"document": OWN, **row} for row in rows["forbidden"]]
        found = {name: checked_table(name, some) for name, some in rows.items()}
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise DamagedFile(f"{source}: damaged run file: {error_line(error)}") from None
    results, discrepancies = (with_whole_text(frame) for frame in (run.results, run.discrepancies))
    check_results(results, set(found["backends"]["name"]), source)
    return Tables(results, discrepancies, **found, info=run.info)


def with_whole_text(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with plain text, and with missing text made empty."""
    plain = with_plain_text(frame)
    missing = [name for name in text_columns(plain) if plain[name].hasnans]
    return plain.fillna(dict.fromkeys(missing, "")) if missing else plain


def check_results(results: pd.DataFrame, backends: set[str], source: str) -> None:
    """Raise DamagedFile for a row with an unknown backend or verdict, which later steps would lose silently."""
    for column, known in (("backend", backends), ("verdict", set(VERDICTS))):
        if unknown := set(results[column].unique()) - known:
            name = ascii(min(map(str, unknown)))[:100]
            raise DamagedFile(f"{source}: damaged run file: the results have the unknown {column} {name}")


def list_of_objects(info: Mapping[str, Any], name: str, source: str) -> list[Any]:
    """One of run.json's lists of objects; empty if an older run lacks it."""
    rows = info.get(name, [])
    if not isinstance(rows, list | tuple) or not all(isinstance(row, Mapping) for row in rows):
        raise DamagedFile(f'{source}: damaged run file: "{name}" is not a list of objects')
    return list(rows)


def error_line(error: Exception) -> str:
    reason = f"no {error}" if isinstance(error, KeyError) else str(error)
    return " ".join(reason.encode("ascii", "backslashreplace").decode().split())[:200]


def flat_root_cause(row: Mapping[str, Any]) -> dict[str, Any]:
    witness, limit = row["witness"], row["boundary_ulp"]
    if not isinstance(witness, Mapping):
        raise TypeError('"witness" of a cluster is not an object')
    flat = {f"witness_{name}": value for name, value in witness.items()}
    flat["witness_operands"] = operands_text(witness["operands"])
    for domain in DOMAINS:
        share = row.get("domains", {}).get(domain, {})
        flat |= {domain: share.get("elements", 0), f"judged_{domain}": share.get("judged", 0)}
    return {
        "document": OWN,
        "cause_id": "",
        **row,
        **flat,
        "types": joined_texts(row["types"], ", "),
        "boundary_ulp": math.nan if limit is None else limit,
    }


def answer_rows(number: int, row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each answer to the operands of one row of run.json's `paths`."""
    if not isinstance(row["answers"], list | tuple):
        raise TypeError('"answers" of a path is not a list')
    shared = {**row, "set": number, "operands": operands_text(row["operands"]), "any_deviates": row["deviates"]}
    for answer in row["answers"]:
        if not isinstance(answer, Mapping):
            raise TypeError('an answer of "paths" is not an object')
        own = ("bits", "value", "elements", "case", "index", "deviates")
        yield {**shared, **{name: answer[name] for name in own}, "paths": joined_texts(answer["paths"], "; ")}


def flat_backend(row: Mapping[str, Any]) -> dict[str, Any]:
    attestation = row.get("attestation", {})
    if not isinstance(attestation, Mapping):
        raise TypeError('"attestation" of a backend is not an object')
    names = {name: joined_texts(row.get(name) or [], " ") for name in ("operators", "always_constant")}
    said = {name: json.dumps(row.get(name, {})) for name in ("claims", "maps")}
    return {"spec": "", **row, **names, **said, "library": library_of(row), "attestation": json.dumps(attestation)}


def joined_texts(texts: Any, separator: str) -> str:
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise TypeError("a list of texts has something else in it")
    return separator.join(texts)


def operands_text(operands: Any) -> str:
    """JSON of the (name, bits, decimal) of each operand, as discrepancies have it."""
    if not isinstance(operands, list | tuple):
        raise TypeError('"operands" is not a list')
    if any(len(operand) != 3 or not joined_texts(operand, " ") for operand in operands):
        raise ValueError("an operand is not name, bits and decimal")
    return json.dumps([list(operand) for operand in operands])


def checked_table(name: str, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a DataFrame. KeyError for a missing value, TypeError for a wrong type: nothing is converted."""
    dtypes = DTYPES[name]
    allowed = {TEXT: (str,), "bool": (bool,), "int64": (int,), "float64": (int, float)}
    for row in rows:
        for column, dtype in dtypes.items():
            value = row[column]
            if not isinstance(value, allowed[dtype]) or (isinstance(value, bool) and dtype != "bool"):
                raise TypeError(f'"{column}" of "{name}" is not {dtype}')
    return typed_frame([dict(row) for row in rows], dtypes)


def write_tables(tables: Tables, folder: Path, form: str) -> list[Path]:
    """Write every table into `folder` as NAME.csv, NAME.jsonl or NAME.parquet, replacing earlier ones; their paths.

    Raises InvalidInput if the folder can't be written to, or holds a run, whose records would be overwritten.
    """
    if (folder / "run.json").exists():
        raise InvalidInput(f"output folder {folder}: holds a run; choose another")
    check_replaceable(folder, "tables", has_tables)
    write = WRITERS[form]
    paths = []
    for name, frame in tables:
        path = folder / f"{name}.{form}"
        write_aside(path, lambda aside, frame=frame: write(frame, aside))  # type: ignore[misc]
        paths.append(path)
    return paths


def has_tables(folder: Path) -> bool:
    return any((folder / f"{name}.{form}").exists() for name in DTYPES for form in FORMATS)


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write UTF-8 with commas, text in quotes, NaN and inf by name. Text like a formula gets a ' in front."""
    import csv

    texts = {name: frame[name].map(guarded) for name in text_columns(frame)}
    frame.assign(**texts).to_csv(path, index=False, na_rep="NaN", quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")


def text_columns(frame: pd.DataFrame) -> list[str]:
    return [str(name) for name, dtype in frame.dtypes.items() if dtype == TEXT]


def guarded(text: str) -> str:
    """Text that no spreadsheet runs: a ' is put before text that begins like a formula and is no number."""
    return f"'{text}" if text.startswith(STARTS_FORMULA) and not NUMBER.match(text) else text


def read_csv(path: Path) -> pd.DataFrame:
    """A table that write_csv wrote under its name, with the same values and dtypes."""
    import pandas as pd

    dtypes = DTYPES[path.stem]
    numbers = {name: ["NaN"] for name, dtype in dtypes.items() if dtype == "float64"}
    how: dict[str, Any] = {"keep_default_na": False, "na_values": numbers}
    if Version(pd.__version__) < Version("3.1"):  # later versions always round-trip float64, and warn about the option
        how["float_precision"] = "round_trip"
    frame: pd.DataFrame = pd.read_csv(path, dtype=dtypes, **how)
    texts = {name: frame[name].str.replace(r"\A'", "", regex=True) for name in text_columns(frame)}
    return frame.assign(**texts)


def write_jsonl(frame: pd.DataFrame, path: Path) -> None:
    """Write one JSON object per line, in ASCII. NaN is null; infinities are the texts "Infinity" and "-Infinity"."""
    with path.open("w", encoding="ascii", newline="\n") as file:
        for start in range(0, len(frame), JSON_ROWS):
            rows = frame.iloc[start : start + JSON_ROWS]
            columns = [plain_values(rows[name]) for name in rows]
            names = [str(name) for name in rows]
            for values in zip(*columns, strict=True):
                file.write(json.dumps(dict(zip(names, values, strict=True)), allow_nan=False) + "\n")


def plain_values(column: pd.Series) -> list[Any]:
    values: list[Any] = column.tolist()
    return [json_number(value) for value in values] if column.dtype == "float64" else values


def json_number(value: float) -> float | str | None:
    if math.isfinite(value):
        return value
    return None if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"


WRITERS: dict[str, Callable[[pd.DataFrame, Path], None]] = dict(
    zip(FORMATS, (write_csv, write_jsonl, write_table), strict=True)
)
