"""Judges a random sample of a submission's stored outputs again, by the kernel and by the oracle."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tiebreak.conformance.judging.chunk import Chunk
from tiebreak.conformance.judging.chunk_judgement import ChunkJudgement
from tiebreak.conformance.judging.deviating import add_rounded, deviating_elements
from tiebreak.conformance.judging.judge import Judgement, judge
from tiebreak.conformance.judging.truths import truths_by
from tiebreak.conformance.running.recording import COUNTS
from tiebreak.conformance.submissions.denominators import is_of_these_sources
from tiebreak.conformance.submissions.refused import Refused
from tiebreak.conformance.submissions.submission import Submission
from tiebreak.golden import oracle
from tiebreak.golden.elements import FloatType, IntegerType
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import output_slices
from tiebreak.golden.untrusted_text import plural
from tiebreak.golden.verdicts import DEVIATES, DOMAINS, OTHER_ORDER

if TYPE_CHECKING:
    import pandas as pd

KNOWS_ORDERS = "strict"  # what run.json has since there are other orders
ELEMENT = (
    *("output", "index", "input_bits", "scale_bits", "input", "scale", "zero_point", "operands", "expected"),
    *("expected_working", "got", "expected_bits", "working_bits", "got_bits", "distance", "boundary_ulp"),
    "result_type",
)  # the columns of discrepancies.parquet that judging fills


def check_sample(one: Submission, size: int, seed: int) -> str:
    """Judge so many of the cases that ran again, all if there are fewer; the seed chooses which."""
    rows = one.run.results
    known = {**one.made, **one.vectors}
    keys = sorted(key for key in one.outputs if key[1] in known)
    chosen = random.Random(seed).sample(keys, min(size, len(keys)))
    place = {key: n for n, key in enumerate(zip(rows["backend"].astype(str), rows["case"].astype(str), strict=True))}
    elements = deviating_rows(told_elements(one), set(chosen))
    told = KNOWS_ORDERS in one.info
    for key in chosen:
        found = rows.iloc[place[key]]
        problem = next(differences(known[key[1]], one.outputs[key], found, elements.get(key), told), "")
        if problem:
            raise Refused(f"{key[0]:.80}, {key[1]:.200}: judged again, {problem}")
    judged = sum(one.outputs[key].size for key in chosen)
    return f"{len(chosen):,} of {plural(len(keys), 'case')}, {plural(judged, 'element')} (--seed {seed})"


def told_elements(one: Submission) -> pd.DataFrame:
    """The deviating elements; those of another Tiebreak without distances that it did not know."""
    rows = one.run.discrepancies
    if is_of_these_sources(one) or not rows["boundary_ulp"].isna().any():
        return rows
    return rows.assign(boundary_ulp=rows["boundary_ulp"].astype(object).where(rows["boundary_ulp"].notna(), None))


def deviating_rows(elements: pd.DataFrame, chosen: set[tuple[str, str]]) -> dict[tuple[str, str], pd.DataFrame]:
    keys = list(zip(elements["backend"].astype(str), elements["case"].astype(str), strict=True))
    own = elements[np.array([key in chosen for key in keys], bool)]
    groups = own.groupby([own["backend"].astype(str), own["case"].astype(str)], sort=False)
    return {(str(key[0]), str(key[1])): rows for key, rows in groups}


def differences(case: Case, codes: Array, row: Any, elements: pd.DataFrame | None, knows_orders: bool) -> Iterator[str]:
    """What is not as recorded, in words, once the outputs of one case are judged again.

    An earlier Tiebreak that did not know other orders of steps called them deviations.
    """
    chunk = Chunk((case,))
    if codes.size != chunk.size or not fits(chunk, codes):
        yield "its stored outputs are no values of its types"
        return
    judgement = judge(codes, chunk.judged_by, chunk)
    truths = truths_by(oracle.solve, case)
    if not np.array_equal(judgement.grades, judge(codes, truths.judged_by, truths).grades):
        yield "the oracle and the kernel disagree"
    if not knows_orders:
        orders = judgement.grades == OTHER_ORDER
        judgement = Judgement(np.where(orders, DEVIATES, judgement.grades).astype(np.uint8), judgement.values)
    found = ChunkJudgement(chunk, np.ones(1, bool), judgement, codes)
    counts = found.counts()
    for name in COUNTS:
        now = int(counts[name][0]) if name in counts else 0
        if now != int(row[name]):
            yield f"its {name} is {now:,}; the run says {int(row[name]):,}"
    domain = DOMAINS[int(chunk.case_domains[0])]
    if domain != row["domain"]:
        yield f"its domain is {domain}; the run says {row['domain']!r:.40}"
    yield from differing_elements(chunk, found.deviating, codes, elements)


def fits(chunk: Chunk, codes: Array) -> bool:
    """Whether all codes are values of the outputs' types."""
    (problems,) = chunk.problems
    pairs = zip(problems, output_slices(problems), strict=True)
    return all(in_type(codes[own], problem.result) for problem, own in pairs)


def in_type(codes: Array, kind: FloatType | IntegerType) -> bool:
    if not codes.size or kind.bits == 64:
        return True
    low, high = (kind.lowest, kind.highest) if isinstance(kind, IntegerType) else (0, (1 << kind.bits) - 1)
    return low <= int(codes.min()) and int(codes.max()) <= high


def differing_elements(chunk: Chunk, places: Array, codes: Array, rows: pd.DataFrame | None) -> Iterator[str]:
    """Whether the deviating elements, with every bit of them, are the rows of discrepancies.parquet."""
    found = deviating_elements(chunk, places, codes, 0)
    add_rounded(found, chunk, places)
    told = 0 if rows is None else len(rows)
    if len(found) != told:
        yield f"{len(found):,} elements deviate; the run has {told:,}"
    if rows is None or len(found) != told:
        return
    for name in ELEMENT:
        now, before = list(getattr(found, name)), rows[name].tolist()
        for n, (one, other) in enumerate(zip(now, before, strict=True)):
            if not (one == other or other is None or (one != one and other != other)):
                yield f"element {int(found.index[n])} has {name} {one!s:.80}; the run says {other!s:.80}"
    if [DOMAINS[int(number)] for number in found.domain] != rows["domain"].astype(str).tolist():
        yield "the domains of its deviating elements are others"
