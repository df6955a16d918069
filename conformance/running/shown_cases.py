"""The domain of the case that shows a finding: whether a calibrated model has such operands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tiebreak.conformance.judging.both_answers import contradicting_rows
from tiebreak.conformance.judging.chunk import Chunk
from tiebreak.golden.nodes import Case
from tiebreak.golden.problems import output_slices, problems_of
from tiebreak.golden.verdicts import DOMAINS, NO_ELEMENTS

Place = tuple[str, str, int]  # a case, an output, an element


def domains_of_findings(info: Mapping[str, Any], cases: Sequence[Case]) -> dict[str, str]:
    """By the id of a contradiction or a failure, the domain of the operands that show it: those of an element, or the
    first of DOMAINS that the smallest case of a failure has. NO_ELEMENTS for each finding, causes among them, whose
    case has an input without any.
    """
    known, found = {case.id: case for case in cases}, {}
    for id_, (name, output, index) in shown_by(info):
        if name in known:
            found[id_] = domain_of(known[name], output, index)
    empty = (row for row in info.get("clusters", []) if has_no_elements(known.get(str(row["witness"]["case"]))))
    return found | {str(row["id"]): NO_ELEMENTS for row in empty}


def shown_by(info: Mapping[str, Any]) -> Iterator[tuple[str, Place]]:
    """The ids of contradictions and failures, each with the place that shows it; without an output all of a case."""
    for row in contradicting_rows(info):
        example = row.get("example", row)
        first = example["answers"][0]
        yield str(row["id"]), (str(first["case"]), str(example["output"]), int(first["index"]))
    for row in info.get("failures", []):
        yield str(row["id"]), (str(row["witness"]["case"]), "", 0)


def domain_of(case: Case, output: str, index: int) -> str:
    if has_no_elements(case) or not case.size:
        return NO_ELEMENTS
    domains = Chunk((case,)).domains
    if not output:
        return DOMAINS[int(domains.min())]
    problems = problems_of(case)
    own = next(own for one, own in zip(problems, output_slices(problems), strict=True) if one.output == output)
    return DOMAINS[int(domains[own.start + index])]


def has_no_elements(case: Case | None) -> bool:
    return case is not None and bool(Chunk((case,)).has_empty_input[0])
