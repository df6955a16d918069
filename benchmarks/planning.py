"""What planning a run costs: from JSON and Hypothesis, in a first run, and with everything in the cache."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

from fresh import Failed, in_fresh_process

# Nothing of Tiebreak is loaded here: what planning imports is a part of what it costs.

JSON, FIRST, AGAIN = "nothing kept: JSON and Hypothesis", "first run", "later runs"
CHOICE: dict[str, Any] = {"level": "quick"}


def measure(choice: dict[str, Any], rounds: int) -> dict[str, Any]:
    """A row for each way, the quickest of the rounds; `choice` are arguments of Selection."""
    found: dict[str, Any] = {"level": choice.get("level", "full"), "rounds": rounds}
    try:
        tried = [one_round(choice) for _ in range(rounds)]
    except Failed as error:
        return found | {"rows": [], "note": str(error)}
    rows = [min((rows[way] for rows in tried), key=lambda row: float(row["cpu_seconds"])) for way in WAYS]
    return found | {"cases": rows[0]["cases"], "rows": rows}


def one_round(choice: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """A row for each way, one after the other in processes of their own, with an empty cache at first."""
    with tempfile.TemporaryDirectory() as cache:
        return {way: in_fresh_process(planned, way, choice, cache)[0] for way in WAYS}


def planned(way: str, choice: dict[str, Any], cache: str) -> dict[str, Any]:
    """Seconds from the first import to the last case, and processor time of this process and its children."""
    os.environ["XDG_CACHE_HOME"] = cache
    started, used = time.perf_counter(), processor_time()
    cases = WAYS[way](choice)
    seconds = {"seconds": time.perf_counter() - started, "cpu_seconds": processor_time() - used}
    return {"way": way, "cases": cases, **seconds}


def processor_time() -> float:
    return sum(os.times()[:4])


def from_json(choice: dict[str, Any]) -> int:
    """As it was before anything was kept."""
    from tiebreak.conformance.cases.plan import LEVELS, Selection, chosen_operators
    from tiebreak.conformance.cases.recipes import recipes_of
    from tiebreak.golden.builder import all_files, file_name
    from tiebreak.golden.vectorfile import VECTORS, read_cases

    selection = Selection(**choice)
    operators = chosen_operators(selection)
    stored = [case for file in all_files(operators) for case in read_cases(VECTORS / file_name(*file), trusted=True)]
    how = selection.level, LEVELS[selection.level], selection.seed
    return len(stored) + sum(len(recipe.make()) for recipe in recipes_of(operators, operators, *how))


def by_plan(choice: dict[str, Any]) -> int:
    from tiebreak.conformance.cases.plan import Selection, plan

    return len(plan(Selection(**choice)))


WAYS: dict[str, Callable[[dict[str, Any]], int]] = {JSON: from_json, FIRST: by_plan, AGAIN: by_plan}
