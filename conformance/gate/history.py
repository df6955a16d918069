"""The trend over a folder of runs: DuckDB sums their Parquet files by backend, version and operator."""

from __future__ import annotations

import importlib
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiebreak.adapters.environments.named import split_release
from tiebreak.golden.errors import DamagedFile, InvalidInput, MachineryFailed
from tiebreak.golden.verdicts import RAN, VERDICTS
from tiebreak.reports.libraries import library_of
from tiebreak.reports.records import DISCREPANCIES, JUDGED, LATER, RESULTS, read_info
from tiebreak.reports.root_cause import root_of
from tiebreak.reports.run_folders import date_of, run_folders

OFFLINE = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}

OF_VERDICTS = ",\n".join(f"       count(*) FILTER (verdict = '{one}') AS \"{one}\"" for one in VERDICTS)
COUNTS = f"""
SELECT backend::VARCHAR AS backend,
       version::VARCHAR AS version,
       operator::VARCHAR AS operator,
       count(*) AS cases,
       count(*) FILTER (verdict IN ({", ".join(map(repr, RAN))})) AS ran,
       count(*) FILTER (verdict IN ('error', 'crash', 'timeout')) AS failures,
{OF_VERDICTS},
       sum({{judged}})::BIGINT AS judged,
       sum(deviates)::BIGINT AS deviating
FROM read_parquet(?, hive_partitioning = false)
WHERE backend IS NOT NULL AND operator IS NOT NULL
GROUP BY ALL ORDER BY ALL
"""
CALIBRATED = """
SELECT backend::VARCHAR AS backend,
       version::VARCHAR AS version,
       operator::VARCHAR AS operator,
       sum(judged_calibrated)::BIGINT AS judged_calibrated,
       sum(deviates_calibrated)::BIGINT AS deviating_calibrated,
       bool_or(document = 'foreign') AS is_foreign
FROM read_parquet(?, hive_partitioning = false)
WHERE backend IS NOT NULL AND operator IS NOT NULL
GROUP BY ALL
"""
CAUSES = """
SELECT backend::VARCHAR, operator::VARCHAR, cause::VARCHAR, {id}, count(*)
FROM read_parquet(?, hive_partitioning = false)
WHERE backend IS NOT NULL AND operator IS NOT NULL AND cause IS NOT NULL
GROUP BY ALL ORDER BY ALL
"""
# What a run does not say that is older than domains and documents.
UNKNOWN: dict[str, Any] = {"judged_calibrated": None, "deviating_calibrated": None, "is_foreign": False}
Row = dict[str, Any]


def history(folder: Path) -> dict[str, Any]:
    """The document that `tiebreak history --json` prints: `rows` by backend, operator and date, and `damaged` runs.

    See docs/history.md.
    The `causes` of a row are its root causes with the number of elements of each, by the words of the latest run.
    InvalidInput if the folder holds no run, MachineryFailed without DuckDB.
    """
    database = duckdb()
    rows: list[Row] = []
    damaged: list[dict[str, str]] = []
    for run in run_folders(folder):
        try:
            rows += rows_of_run(database, run)
        except (DamagedFile, InvalidInput, database.Error) as error:
            damaged.append({"run": run.name, "problem": " ".join(str(error).split())[:300]})
    return described(folder, rows, damaged)


def described(place: Path, rows: Sequence[Row], damaged: Sequence[Row] = ()) -> dict[str, Any]:
    """The document of these rows, ordered by backend, operator and date."""
    order = sorted(rows, key=lambda row: [row[name] for name in ("backend", "operator", "created", "run", "version")])
    return {"folder": str(place), "rows": with_latest_words(order), "damaged": list(damaged)}


def with_latest_words(rows: Sequence[Row]) -> list[Row]:
    """The rows, oldest first, with each cause called as the latest run that knows its id calls it."""
    words: dict[tuple[str, str, str], str] = {}
    found = []
    for row in reversed(rows):
        causes: Counter[str] = Counter()
        for (text, id_), elements in row["causes"].items():
            known = words.setdefault((row["backend"], row["operator"], id_), text) if id_ else text
            causes[known] += elements
        found.append(row | {"root_causes": len(causes), "causes": dict(causes)})
    return found[::-1]


def duckdb() -> Any:
    """The package `duckdb`; MachineryFailed without it."""
    try:
        return importlib.import_module("duckdb")
    except ModuleNotFoundError:
        raise MachineryFailed("tiebreak history needs DuckDB: pip install duckdb") from None


def rows_of_run(database: Any, run: Path) -> list[Row]:
    """The rows of one run. DamagedFile or DuckDB's own error for files that no run writes."""
    info = read_info(run)
    created, facts = date_of(run, info), facts_by_name(info)
    with database.connect(config=OFFLINE) as connection:
        results, discrepancies = (Table(connection, run / name) for name in (RESULTS, DISCREPANCIES))
        there = results.columns()
        judged = [name for name in JUDGED if name in there or name not in LATER]
        rows = results.rows(COUNTS.format(judged=" + ".join(judged)))
        calibrated = results.rows(CALIBRATED) if "judged_calibrated" in there else []
        id_ = "cause_id::VARCHAR" if "cause_id" in discrepancies.columns() else "''"
        causes = discrepancies.tuples(CAUSES.format(id=id_))
    known = {(row["backend"], row["version"], row["operator"]): row for row in calibrated}
    roots: dict[tuple[str, str], Counter[tuple[str, str]]] = defaultdict(Counter)
    for backend, operator, cause, id_, elements in causes:
        roots[backend, operator][root_of(cause), id_ or ""] += elements
    return [
        {"run": run.name, "created": created}
        | (UNKNOWN | known.get((row["backend"], row["version"], row["operator"]), {}) | without_verdicts(row))
        | {"version": row["version"] or "", "share": row["deviating"] / row["judged"] if row["judged"] else None}
        | {"verdicts": {name: row[name] for name in VERDICTS if row[name]}}
        | facts.get(row["backend"], {"library": row["backend"], "release": row["version"] or ""})
        | {"causes": roots[row["backend"], row["operator"]]}
        for row in rows
    ]


def without_verdicts(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in VERDICTS}


@dataclass(frozen=True)
class Table:
    """A Parquet file, as DuckDB reads it."""

    connection: Any
    path: Path

    def tuples(self, query: str) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self.connection.execute(query, [duckdb_path(self.path)]).fetchall()
        return found

    def rows(self, query: str) -> list[Row]:
        found = self.connection.execute(query, [duckdb_path(self.path)])
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def columns(self) -> set[str]:
        return {str(row[0]) for row in self.tuples("DESCRIBE SELECT * FROM read_parquet(?, hive_partitioning = false)")}


def facts_by_name(info: Row) -> dict[str, Row]:
    """Each backend's library, its release, and its name without one, from run.json.

    The release is that of its environment, as `NAME@VERSION` names it; otherwise what the library says of itself.
    """
    found: dict[str, Row] = {}
    for backend in info["backends"]:
        name, release = split_release(str(backend.get("spec", "")))
        named = {"name": name} if release else {}
        found[str(backend["name"])] = {
            **({"backend": name} if release else {}),
            "library": library_of({**backend, **named}),
            "release": release or backend["version"],
        }
    return found


def duckdb_path(path: Path) -> str:
    """An absolute path with DuckDB's wildcards escaped, so that it names exactly this file.

    It is passed as a parameter, never as SQL text, and being absolute it is never taken for a URL.
    """
    return re.sub(r"([*?\[])", r"[\1]", str(path.resolve()))
