"""The trend over a folder of runs: DuckDB sums their Parquet files by backend, version and operator."""

from __future__ import annotations

import importlib
import re
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tiebreak.golden.errors import DamagedFile, InvalidInput, MachineryFailed
from tiebreak.reports.records import read_info
from tiebreak.reports.root_cause import root_of

FILES = ("run.json", "results.parquet", "discrepancies.parquet", "unfinished")
OFFLINE = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}

COUNTS = """
SELECT backend::VARCHAR AS backend,
       version::VARCHAR AS version,
       operator::VARCHAR AS operator,
       count(*) AS cases,
       count(*) FILTER (verdict IN ('exact', 'working-precision', 'unspecified', 'deviates')) AS ran,
       count(*) FILTER (verdict IN ('error', 'crash', 'timeout')) AS failures,
       sum(exact + working_precision + deviates)::BIGINT AS judged,
       sum(deviates)::BIGINT AS deviating
FROM read_parquet(?, hive_partitioning = false)
WHERE backend IS NOT NULL AND operator IS NOT NULL
GROUP BY ALL ORDER BY ALL
"""
CAUSES = """
SELECT DISTINCT backend::VARCHAR, operator::VARCHAR, cause::VARCHAR
FROM read_parquet(?, hive_partitioning = false)
"""


def history(folder: Path) -> dict[str, Any]:
    """The document that `tiebreak history --json` prints: `rows` by backend, operator and date, and `damaged` runs.

    InvalidInput if the folder holds no run, MachineryFailed without DuckDB.
    """
    database = duckdb()
    rows: list[dict[str, Any]] = []
    damaged: list[dict[str, str]] = []
    for run in run_folders(folder):
        try:
            rows += rows_of_run(database, run)
        except (DamagedFile, InvalidInput, database.Error) as error:
            damaged.append({"run": run.name, "problem": " ".join(str(error).split())[:300]})
    rows.sort(key=lambda row: (row["backend"], row["operator"], row["created"], row["run"], row["version"]))
    return {"folder": str(folder), "rows": rows, "damaged": damaged}


def duckdb() -> Any:
    """The package `duckdb`; MachineryFailed without it."""
    try:
        return importlib.import_module("duckdb")
    except ModuleNotFoundError:
        raise MachineryFailed("tiebreak history needs DuckDB: pip install duckdb") from None


def run_folders(folder: Path) -> list[Path]:
    """The subfolders that hold a run, or what is left of one; InvalidInput if there is none."""
    try:
        inside = sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError as error:
        raise InvalidInput(f"{folder}: can't read: {error.strerror or error}") from None
    found = [path for path in inside if any((path / name).exists() for name in FILES)]
    if not found:
        hint = "; it is a run itself: name the folder that holds it" if (folder / "run.json").exists() else ""
        raise InvalidInput(f"{folder}: no run folder in it{hint}")
    return found


def rows_of_run(database: Any, run: Path) -> list[dict[str, Any]]:
    """The rows of one run. DamagedFile or DuckDB's own error for files that no run writes."""
    created = date_of(run)
    with database.connect(config=OFFLINE) as connection:
        counts = connection.execute(COUNTS, [duckdb_path(run / "results.parquet")])
        names = [column[0] for column in counts.description]
        rows = [dict(zip(names, row, strict=True)) for row in counts.fetchall()]
        causes = connection.execute(CAUSES, [duckdb_path(run / "discrepancies.parquet")]).fetchall()
    roots: dict[tuple[str, str], set[str]] = defaultdict(set)
    for backend, operator, cause in causes:
        roots[backend, operator].add(root_of(str(cause)))
    return [
        {"run": run.name, "created": created}
        | (row | {"version": row["version"] or ""})
        | {"share": row["deviating"] / row["judged"] if row["judged"] else None}
        | {"root_causes": len(roots[row["backend"], row["operator"]])}
        for row in rows
    ]


def date_of(run: Path) -> str:
    """When the run was made, in UTC as ISO 8601. DamagedFile if run.json does not say."""
    try:
        made = datetime.fromisoformat(read_info(run)["created"])
    except (KeyError, TypeError, ValueError, OverflowError):
        raise DamagedFile(f'{run / "run.json"}: damaged run file: no date in "created"') from None
    return (made if made.tzinfo else made.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="seconds")


def duckdb_path(path: Path) -> str:
    """An absolute path with DuckDB's wildcards escaped, so that it names exactly this file.

    It is passed as a parameter, never as SQL text, and being absolute it is never taken for a URL.
    """
    return re.sub(r"([*?\[])", r"[\1]", str(path.resolve()))
