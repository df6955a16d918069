"""Which clauses are checked, by how many vectors and generated cases, and which backends ran them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tiebreak.conformance.cases.made_cases import MadeCases
from tiebreak.conformance.cases.recipes import Recipe
from tiebreak.golden.builder import all_files, file_name
from tiebreak.golden.exit_codes import EXIT_CONFORMS, EXIT_DISCREPANCIES
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.vectorfile import VECTORS, read_document
from tiebreak.reports.progress import DoneLines


def vectors_by_clause() -> Counter[str]:
    """How many golden vectors cite each clause."""
    counts: Counter[str] = Counter()
    for file in all_files():
        document = read_document(VECTORS / file_name(*file), trusted=True)
        counts.update(c for group in document["groups"] for vector in group["vectors"] for c in vector["clauses"])
    return counts


def generated_by_clause(count: int, seed: int = 0) -> Counter[str]:
    """How many generated cases exercise each clause, of `count` for each operator; a line tells of each operator."""
    recipes = {name: Recipe("generated", name, count=count, seed=seed) for name in OPERATORS}
    counts = Counter[str]()
    with DoneLines(len(recipes), "operators") as lines, closing(MadeCases(list(recipes.values()))) as made:
        for name, recipe in recipes.items():
            counts.update(clause for case in made.cases(recipe) for clause in case.clauses)
            lines.done(name)
    return counts


def backends_by_clause(folders: Iterable[Path]) -> dict[str, set[str]]:
    """The backends that ran a case of each clause, in the given runs."""
    from tiebreak.golden.verdicts import RAN
    from tiebreak.reports.records import read_run

    found: dict[str, set[str]] = defaultdict(set)
    for folder in folders:
        results = read_run(folder).results
        ran = results[results["verdict"].isin(RAN)]
        for backend, clauses in ran[["backend", "clauses"]].drop_duplicates().itertuples(index=False):
            for clause in str(clauses).split():
                found[clause].add(str(backend))
    return found


def coverage_rows(runs: Sequence[Path], count: int) -> list[dict[str, Any]]:
    """One row for each clause of each operator: its vectors, its generated cases and the backends of the runs."""
    backends, generated, vectors = backends_by_clause(runs), generated_by_clause(count), vectors_by_clause()
    return [
        {
            "operator": spec.id,
            "clause": clause.id,
            "unspecified": clause.unspecified,
            "text": clause.text,
            "vectors": vectors[clause.id],
            "generated": generated[clause.id],
            "backends": sorted(backends.get(clause.id, ())),
        }
        for spec in OPERATORS.values()
        for clause in spec.clauses
    ]


def coverage(runs: Sequence[Path], *, count: int, as_json: bool) -> int:
    """Print the table of clauses; return exit code 1 if no vector or generated case checks a clause."""
    found = coverage_rows(runs, count)
    unchecked = [row["clause"] for row in found if not row["vectors"] and not row["generated"]]
    if as_json:
        print(json.dumps({"clauses": found, "unchecked": unchecked}, ensure_ascii=False))
    else:
        print_rows(found, with_backends=bool(runs))
    if unchecked and not as_json:
        print(f"nothing checks {', '.join(unchecked)}")
    return EXIT_DISCREPANCIES if unchecked else EXIT_CONFORMS


def print_rows(found: Sequence[Mapping[str, Any]], *, with_backends: bool) -> None:
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("clause", "says"):
        table.add_column(name, overflow="fold")
    for name in ("vectors", "generated"):
        table.add_column(name, justify="right")
    if with_backends:
        table.add_column("backends that ran it", overflow="fold")
    operator = ""
    for row in found:
        if row["operator"] != operator:
            operator = row["operator"]
            table.add_section()
            table.add_row(f"[bold]{operator}[/bold]")
        text = ("unspecified: " if row["unspecified"] else "") + row["text"]
        cells = [row["clause"], escape(text), str(row["vectors"] or "–"), str(row["generated"] or "–")]
        table.add_row(*cells, *([escape(", ".join(row["backends"])) or "–"] if with_backends else []))
    Console().print(table)
