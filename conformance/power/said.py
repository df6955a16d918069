"""What `tiebreak vectors minimal` says, and the folder that it writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tiebreak.conformance.offline.export import export_cases
from tiebreak.conformance.power.arithmetics import WrongArithmetic
from tiebreak.conformance.power.minimal import Minimal, sorted_names
from tiebreak.conformance.power.suites import SUITES
from tiebreak.golden.places import write_text_aside
from tiebreak.golden.untrusted_text import plural

FILE = "minimal.json"


def described(found: Minimal) -> dict[str, Any]:
    """The result as plain data, for --json and minimal.json."""
    return {
        "format": "tiebreak-minimal",
        "version": 1,
        "suite": found.suite,
        "compares": SUITES[found.suite].rule,
        "cases": found.cases,
        "candidates": found.candidates,
        "without_form": dict(found.reasons),
        "fewest": found.is_fewest,
        "at_least": found.at_least,
        "chosen": [
            {"case": one.case.id, "elements": one.case.size, "stops": list(map(row, sorted_names(one.seen)))}
            for one in found.chosen
        ],
        "stopped": len(found.stopped),
        "hidden_by_tolerance": list(map(row, found.hidden)),
        "stopped_only_by_cases_without_form": [{**row(name), "cases": n} for name, n in found.unsayable.items()],
        "equal_in_every_vector": [{**row(name), "proved_for": why} for name, why in found.equal.items()],
    }


def row(name: WrongArithmetic) -> dict[str, Any]:
    return {"cause": name.cause, "form": name.form, "sentence": name.text}


def lines(found: Minimal) -> Iterator[str]:
    """The same for people."""
    word = "the fewest" if found.is_fewest else f"few (no fewer than {found.at_least} would do)"
    stopped = f"{len(found.stopped)} wrong arithmetics in {found.suite}"
    yield f"{plural(len(found.chosen), 'case')}, {word} that stop {stopped}"
    yield f"  of {found.cases} vectors, {found.candidates} have a form there; it compares by {SUITES[found.suite].rule}"
    for one in found.chosen:
        alone = one.seen - frozenset[WrongArithmetic]().union(*(two.seen for two in found.chosen if two is not one))
        yield f"  {one.case.id}: {one.case.size} elements, stops {len(one.seen)}, {len(alone)} of them alone"
    for about, names in groups(found):
        if names:
            yield f"{len(names)} {'is' if len(names) == 1 else 'are'} not stopped: {about}"
            yield from (f"  {name.text}{why}" for name, why in names.items())


def groups(found: Minimal) -> Iterable[tuple[str, Mapping[WrongArithmetic, str]]]:
    """The arithmetics that no chosen case stops, by the reason."""
    yield "the suite's tolerance hides what they do", dict.fromkeys(found.hidden, "")
    only = {name: f" ({count} cases)" for name, count in found.unsayable.items()}
    yield "only cases without a form in the suite stop them", only
    proved = {name: f" (proved for {why})" * bool(why) for name, why in found.equal.items()}
    yield "they give the right results in every vector", proved


def write(found: Minimal, folder: Path) -> None:
    """The chosen cases in the suite's layout, with minimal.json beside them. InvalidInput as export_cases."""
    export_cases([one.case for one in found.chosen], folder, SUITES[found.suite].layout)
    text = json.dumps(described(found), indent=1, ensure_ascii=False) + "\n"
    write_text_aside(folder / FILE, text)
