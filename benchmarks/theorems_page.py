"""Writes docs/theorems.md and the packaged results from what benchmarks/theorems.py counted.

    python benchmarks/theorems_page.py benchmarks/theorems.jsonl

The results are those that `tiebreak audit` and reports cite: conformance/theorems/results.json.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from textwrap import fill

from theorems import Row, read

from tiebreak.conformance.theorems.catalogue import Theorem, theorems
from tiebreak.conformance.theorems.certificates import comparison_of
from tiebreak.conformance.theorems.compare import ScaleComparison
from tiebreak.golden.elements import FloatType, decimal
from tiebreak.reports.markdown_table import markdown_table
from tiebreak.reports.records import write_text
from tiebreak.reports.severity import percent

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "theorems.md"
RESULTS = ROOT / "conformance" / "theorems" / "results.json"
Counted = Mapping[str, ScaleComparison]
HEAD = """# Theorems on all scales

Made by `python benchmarks/theorems_page.py benchmarks/theorems.jsonl`; not edited by hand.

How often do two ways to compute round(x / scale) + zero_point give different codes? Each theorem counts it for every
positive finite scale and every input but NaN. Nothing is sampled. The names are those of an [audit's](audit.md) facets:
`reciprocal in float32` is x times 1 / scale, `exact` is real arithmetic. What a name does not say is the usual:
ties to even, and the zero point added after rounding.

## How it is counted

An arithmetic's code never falls as x grows. Each of its steps (a quotient, a product, a sum, a conversion) never falls,
and rounding a result keeps the order. So the code is the number of *decisions* that x has passed: the least x with each
code says all. Two arithmetics differ exactly for the inputs between their least inputs of a decision. Their number is a
difference of two ordinals, which count floating-point numbers in order.

The exact least input is (k + 1/2) * scale, a product that float64 holds, rounded up to the next input. The least input
of another arithmetic is guessed from such a product. Then the arithmetic itself is computed at that input and at the
one before: it must pass the decision at the first and not at the second. Where it does not, a search by halving
decides. What follows the quotient (a zero point, a sum with a half, the rounding) is that of an audit's facets.

If x and scale are multiplied by a power of two, no significand changes, as long as nothing is subnormal or overflows.
So the 8,388,608 scales from 1 to 2 stand for all other *ordinary* exponents. At the *ends*, the other exponents, each
scale is counted by itself, subnormal ones too. Where 1 / scale is infinite, 0 times it is NaN: such pairs have no code
and are not counted. Of float16 and bfloat16 each scale is counted by itself.

`pytest tests/test_theorems.py` compares the codes with exact fractions, also around every kind of end.
`benchmarks/theorems.jsonl` has a certificate of each theorem: the SHA-256 of the counts of each 65,536 scales (2,048
of the narrow types), little-endian uint32 in the order of the scales, of which it holds 16 digits. Anybody can count
such a block again with a program of their own. `python benchmarks/theorems.py -o FILE` counts all of them anew.

{cost}

## Read the tables

*Inputs per scale* is the mean over the scales of a row. *Without* is the share of scales at which no input differs. The
*simplest* counterexample is one with the fewest significant bits in the scale, then in x. *Ends* has the pairs of an
input and a scale that differ at the ends, and for how many scales. `every zero point` counts an input if its code
differs for some zero point of the type; since the zero point is added after rounding there, one pass gives all.
"""


def page(rows: Iterable[Row]) -> str:
    by_id = {row["id"]: row for row in rows}
    known = [theorem for theorem in theorems() if theorem.id in by_id]
    found = {theorem.id: comparison_of(by_id[theorem.id]) for theorem in known}
    parts = [HEAD.format(cost=cost_text([by_id[theorem.id] for theorem in known])).strip()]
    for title, equal in (("Equal", True), ("Different", False)):
        parts.append(f"## {title}")
        groups: dict[str, list[Theorem]] = defaultdict(list)
        for theorem in known:
            if theorem.equal == equal:
                groups[heading(theorem)].append(theorem)
        for name, group in groups.items():
            parts += section(name, group, found)
    return "\n\n".join(parts) + "\n"


def cost_text(rows: Iterable[Row]) -> str:
    """The most seconds that a theorem took, by the bits of its codes and by whether the ends were counted."""
    most: dict[tuple[int, bool], float] = defaultdict(float)
    for row in rows:
        domain = comparison_of(row).domain
        if domain.real == "float32" and row["cpu_seconds"] is not None:
            key = domain.quantized_type.bits, domain.ends
            most[key] = max(most[key], row["cpu_seconds"])
    rows_of_table = [
        (f"float32 to {bits} bits", "all" if ends else "ordinary", f"{seconds:,.0f}")
        for (bits, ends), seconds in sorted(most.items())
    ]
    return markdown_table(("inputs, codes", "scales", "most CPU seconds (AVX2, a busy machine)"), rows_of_table)


def heading(theorem: Theorem) -> str:
    return f"{theorem.left.name} against {theorem.right.name}"


def section(name: str, group: list[Theorem], found: Counted) -> Iterator[str]:
    verb = "gives the same codes as" if group[0].equal else "gives other codes than"
    yield f"### {name}"
    yield f"`{group[0].left.name}` {verb} `{group[0].right.name}`.\n{fill(group[0].why, 120)}"
    head = ("inputs, codes", "inputs per scale", "most", "without", "simplest", "ends")
    yield markdown_table(head, [row_of(found[theorem.id]) for theorem in group])


def row_of(found: ScaleComparison) -> tuple[str, ...]:
    part = found.normal or found.parts[0]
    real = found.domain.real_type
    most = f"{part.worst:,} at {decimal(part.worst_scale, real)}" if part.worst else "0"
    return (
        found.domain.text,
        f"{part.mean:,.6g}",
        most,
        percent(part.without, part.scales),
        example_text(found, real),
        ends_text(found),
    )


def example_text(found: ScaleComparison, real: FloatType) -> str:
    if found.counterexample is None:
        return "none"
    one = found.counterexample
    return f"x {decimal(one.x, real)}, scale {decimal(one.scale, real)}: {one.left}, not {one.right}"


def ends_text(found: ScaleComparison) -> str:
    if found.domain.real != "float32":
        return "counted in"
    if found.ends is None:
        return "not counted"
    undefined = f"; {found.undefined:,} pairs without a code" if found.undefined else ""
    return f"{found.ends.differing:,} in {found.ends.scales:,} scales{undefined}"


def results(rows: Iterable[Row]) -> str:
    """The packaged results: each certificate without what only a check needs."""
    known = {theorem.id for theorem in theorems()}
    short = [{name: row[name] for name in row if name not in ("digests", "cpu_seconds")} for row in rows]
    lines = [json.dumps(row) for row in short if row["id"] in known]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def main(path: str) -> None:
    rows = read(Path(path))
    write_text(PAGE, page(rows))
    write_text(RESULTS, results(rows))


if __name__ == "__main__":
    main(sys.argv[1])
