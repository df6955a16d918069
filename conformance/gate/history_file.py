"""A history in one DuckDB file: the counts and root causes of runs, which may be gone.

`runs` has a row for each run, `counts` for each of its backends and operators, `causes` for each root cause of these.
docs/history.md has their columns. Every run is added whole or not at all, and once.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tiebreak.conformance.gate.history import OFFLINE, Row, described, duckdb, rows_of_run
from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.golden.files import check_plain
from tiebreak.golden.places import RECORDS
from tiebreak.golden.verdicts import VERDICTS
from tiebreak.reports.records import read_info
from tiebreak.reports.run_folders import date_of

FORMAT = ("tiebreak-history", 1)
CLOSED = OFFLINE | {"enable_external_access": False}  # a file from elsewhere reads no other
RUN = {"digest": "VARCHAR PRIMARY KEY", "run": "VARCHAR", "created": "VARCHAR", "level": "VARCHAR", "seed": "BIGINT"}
RUN |= {"tiebreak": "VARCHAR", "machine": "VARCHAR"}
COUNT: dict[str, str] = {
    "digest": "VARCHAR",
    **dict.fromkeys(("backend", "library", "version", "release", "operator"), "VARCHAR"),
    "is_foreign": "BOOLEAN",
    **dict.fromkeys(("cases", "ran", "failures", "judged", "deviating"), "BIGINT"),
    **dict.fromkeys(("judged_calibrated", "deviating_calibrated"), "BIGINT"),
    **dict.fromkeys((name.replace("-", "_") for name in VERDICTS), "BIGINT"),
}
CAUSE = {**dict.fromkeys(("digest", "backend", "version", "operator", "cause", "cause_id"), "VARCHAR")}
CAUSE |= {"elements": "BIGINT"}
LATER = ("other_order",)  # columns of `counts` that files of an earlier Tiebreak lack: there it is 0
TABLES = {"about": {"format": "VARCHAR", "version": "INTEGER"}, "runs": RUN, "counts": COUNT, "causes": CAUSE}


def add_runs(path: Path, runs: Sequence[Path]) -> list[tuple[Path, bool]]:
    """Add runs to a history, which is made if it is not there; of each run whether it was new.

    A run that is there already is left as it is. DamagedFile or InvalidInput for what is no run or no history; then
    nothing is added.
    """
    whole = [(run, *read_whole(run)) for run in runs]
    with opened(path, read_only=False) as connection:
        return [(run, add_run(connection, head, rows)) for run, head, rows in whole]


@contextmanager
def opened(path: Path, *, read_only: bool) -> Iterator[Any]:
    """The file, with its tables. InvalidInput if it can't be opened, DamagedFile if it is no history."""
    database = duckdb()
    check_plain(path)
    fresh = not path.exists()
    if fresh and read_only:
        raise InvalidInput(f"{path}: no such history; tiebreak history add RUN_DIR --db {path} begins one")
    try:
        with database.connect(str(path), read_only=read_only, config=CLOSED) as connection:
            if fresh:
                begin(connection)
            check_about(path, connection)
            if not read_only:
                for name in LATER:
                    connection.execute(f'ALTER TABLE counts ADD COLUMN IF NOT EXISTS "{name}" BIGINT DEFAULT 0')
            yield connection
    except database.CatalogException:
        raise DamagedFile(f"{path}: no history; tiebreak history add RUN_DIR --db FILE begins one") from None
    except database.Error as error:
        raise DamagedFile(f"{path}: damaged, in use, or no history: {' '.join(str(error).split())[:200]}") from None


def begin(connection: Any) -> None:
    for name, columns in TABLES.items():
        said = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
        connection.execute(f'CREATE TABLE "{name}" ({said})')
    connection.execute("INSERT INTO about VALUES (?, ?)", list(FORMAT))


def check_about(path: Path, connection: Any) -> None:
    found = connection.execute("SELECT format, version FROM about").fetchall()
    if [row[0] for row in found] != [FORMAT[0]]:
        raise DamagedFile(f"{path}: damaged: no history of Tiebreak")
    if found[0][1] != FORMAT[1]:
        raise DamagedFile(f'{path}: "version" is {found[0][1]!r:.40}, this Tiebreak reads {FORMAT[1]}')


def read_whole(run: Path) -> tuple[list[Any], list[Row]]:
    """A run's row of `runs`, and its others as `rows_of_run` gives them. DamagedFile if one of its files is damaged.

    The digest of its run.json tells it from all others.
    """
    info, database = read_info(run), duckdb()
    try:
        rows = rows_of_run(database, run)
    except database.Error as error:
        raise DamagedFile(f"{run}: damaged run: {' '.join(str(error).split())[:200]}") from None
    digest = hashlib.sha256((run / RECORDS[0]).read_bytes()).hexdigest()
    made_by = str(info.get("made_by", {}).get("tiebreak", ""))
    name, facts = run.resolve().name, [info["level"], info["seed"], made_by, info["machine"]]
    return [digest, name, date_of(run, info), *facts], rows


def add_run(connection: Any, head: Sequence[Any], rows: Sequence[Row]) -> bool:
    """Add one run; False if it is there."""
    digest = head[0]
    if connection.execute("SELECT 1 FROM runs WHERE digest = ?", [digest]).fetchall():
        return False
    connection.begin()
    insert(connection, "runs", [head])
    insert(connection, "counts", [count_row(digest, row) for row in rows])
    insert(connection, "causes", [cause for row in rows for cause in cause_rows(digest, row)])
    connection.commit()
    return True


def insert(connection: Any, table: str, rows: Sequence[Sequence[Any]]) -> None:
    if rows:
        names = ", ".join(f'"{name}"' for name in TABLES[table])
        connection.executemany(f'INSERT INTO "{table}" ({names}) VALUES ({", ".join("?" * len(TABLES[table]))})', rows)


def count_row(digest: str, row: Row) -> list[Any]:
    verdicts = {name.replace("-", "_"): row["verdicts"].get(name, 0) for name in VERDICTS}
    values = row | verdicts | {"digest": digest}
    return [values[name] for name in COUNT]


def cause_rows(digest: str, row: Row) -> Iterator[list[Any]]:
    for (cause, id_), elements in row["causes"].items():
        yield [digest, row["backend"], row["version"], row["operator"], cause, id_, elements]


def history_of_file(path: Path) -> dict[str, Any]:
    """The document that `tiebreak history FILE --json` prints; the same as of a folder with these runs."""
    return described(path, rows_of_file(path))


def rows_of_file(path: Path) -> list[Row]:
    with opened(path, read_only=True) as connection:
        there = {str(row[0]) for row in connection.execute("DESCRIBE counts").fetchall()}
        known = {name: "0" if name in LATER and name not in there else f'counts."{name}"' for name in COUNT}
        columns = ", ".join(f"{known[name]}::{kind}" for name, kind in COUNT.items())
        query = f"SELECT runs.run::VARCHAR, runs.created::VARCHAR, {columns} FROM counts JOIN runs USING (digest)"
        counts = connection.execute(query).fetchall()
        query = "SELECT digest, backend, version, operator, cause, cause_id, elements::BIGINT FROM causes"
        causes = connection.execute(query).fetchall()
    roots: dict[tuple[Any, ...], Counter[tuple[str, str]]] = {}
    for *key, cause, id_, elements in causes:
        roots.setdefault(tuple(key), Counter())[str(cause), str(id_)] += elements
    return [row_of(dict(zip(("run", "created", *COUNT), values, strict=True)), roots) for values in counts]


def row_of(values: Row, roots: dict[tuple[Any, ...], Counter[tuple[str, str]]]) -> Row:
    """A row of `counts` as `rows_of_run` gives it."""
    verdicts = {name: values.pop(name.replace("-", "_")) for name in VERDICTS}
    key = values.pop("digest"), values["backend"], values["version"], values["operator"]
    share = values["deviating"] / values["judged"] if values["judged"] else None
    shown = {name: count for name, count in verdicts.items() if count}
    return values | {"share": share, "verdicts": shown, "causes": roots.get(key, Counter())}


def known_releases(path: Path) -> set[tuple[str, str]]:
    """The backends and releases that a history has; none if it is not there."""
    if not path.exists():
        return set()
    with opened(path, read_only=True) as connection:
        found = connection.execute("SELECT DISTINCT backend::VARCHAR, release::VARCHAR FROM counts").fetchall()
    return {(str(backend), str(release)) for backend, release in found}
