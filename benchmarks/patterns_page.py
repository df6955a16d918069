"""Writes docs/pattern-results.md from what `tiebreak pattern run` left.

tiebreak pattern run -o RUN_DIR; python benchmarks/patterns_page.py RUN_DIR [OTHER] > docs/pattern-results.md

OTHER holds the counts of the same releases on another kind of processor, such as benchmarks/patterns/without-vnni.json.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pattern_decisions import decision_rows, only_beside_decisions

from tiebreak.reports.patterns import pairs_text, share, shown

HEAD = """# Patterns: results

Made by `python benchmarks/patterns_page.py` from what `tiebreak pattern run` found; not edited by hand. What a pattern
is, and what it is compared with, says [Patterns](patterns.md).
"""
LONGEST = 60  # characters of a graph or of a list of ways


def page(found: Mapping[str, Any], other: Mapping[str, Any] | None = None) -> str:
    parts = [*grid(found), ""]
    if other is not None:
        parts += [*by_processor(found, other), ""]
    parts += ["## The worst setting of each", "", *worst(found), "", *decided(found)]
    return "\n".join([HEAD, *parts]) + "\n"


def grid(found: Mapping[str, Any]) -> Iterator[str]:
    """A row for each pattern: for each runtime fused ≠ unfused, fused ≠ exact, unfused ≠ exact."""
    backends = list(dict.fromkeys((cell["backend"], cell["version"]) for cell in found["cells"]))
    yield f"Level {found['level']}. Each cell has three counts of output elements: as shipped against unfused,"
    yield "as shipped against exact, unfused against exact.\n"
    yield "| pattern | outputs | " + " | ".join(" ".join((name, release(version))) for name, version in backends) + " |"
    yield "| --- | --- | " + " | ".join("---" for _ in backends) + " |"
    cells = {(cell["pattern"], cell["backend"]): cell for cell in found["cells"]}
    for pattern in dict.fromkeys(cell["pattern"] for cell in found["cells"]):
        row = [cells[pattern, name] for name, _ in backends]
        outputs = max(cell["outputs"] for cell in row)
        yield f"| {pattern} | {outputs:,} | {' | '.join(map(counts, row))} |"


def by_processor(found: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    """A row for each pattern and runtime whose counts differ between the two processors."""
    before = {(cell["backend"], cell["version"], cell["pattern"]): cell for cell in other["cells"]}
    keys = [(cell["backend"], release(cell["version"]), cell["pattern"]) for cell in found["cells"]]
    both = [(before[key], cell) for key, cell in zip(keys, found["cells"], strict=True) if key in before]
    rows = [(old, new) for old, new in both if counts(old) != counts(new)]
    yield "## What depends on the processor\n"
    yield f"The table above is of a processor with {found['instruction_sets']}."
    yield f"On one {other['processor']} the same releases give other counts in {len(rows)} of {len(both)} cells."
    yield from (*other["why"], "")
    yield f"| runtime | pattern | {other['processor']} | the one above |"
    yield "| --- | --- | --- | --- |"
    yield from (f"| {new['backend']} | {new['pattern']} | {counts(old)} | {counts(new)} |" for old, new in rows)


def release(version: str) -> str:
    """A version without what names its build."""
    return version.partition("-")[0]


def counts(cell: Mapping[str, Any]) -> str:
    if not cell["outputs"]:
        return "refused"
    three = [shown(cell[name]) for name in ("fused_unfused", "fused_exact", "unfused_exact")]
    return f"**{three[0]}**, {', '.join(three[1:])}" if cell["fused_unfused"] > 0 else ", ".join(three)


def worst(found: Mapping[str, Any]) -> Iterator[str]:
    yield "| runtime | pattern | differ | graph as shipped | scales @ zero points | witness | undone by |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for cell in sorted((one for one in found["cells"] if one["worst"]), key=share, reverse=True):
        row = cell["worst"]
        graph = cut(" > ".join(row["graph"]))
        differ = f"{row['differ_unfused']:,} of {row['outputs']:,}"
        words = (cell["backend"], cell["pattern"], differ, graph, pairs_text(row), witness(row))
        yield f"| {' | '.join((*words, cut(', '.join(cell['restores'])) or '–'))} |"


def decided(found: Mapping[str, Any]) -> Iterator[str]:
    """What the settings beside decisions show."""
    yield "## Found beside decisions alone\n"
    yield "No setting of the sets shows these differences.\n"
    yield "| runtime | pattern | differ | graph as shipped | scales @ zero points | decision |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for backend, pattern, row in only_beside_decisions(found):
        differ = f"{row['differ_unfused']:,} of {row['outputs']:,}"
        words = (backend, pattern, differ, cut(" > ".join(row["graph"])), pairs_text(row), row["reason"])
        yield f"| {' | '.join(words)} |"
    yield "\n## Both sides of decisions\n"
    yield "The graph changes if another one runs, or none, on one of the two sides, in any way of the runtime. The last"
    yield "two columns count outputs unlike the unfused graph's, over all patterns that the rule looks at: as shipped;"
    yield "LiteRT with integer kernels; XNNPACK with those and the delegate."
    yield "[Decisions](pattern-decisions.md) says where the conditions were read.\n"
    yield "| runtime | condition | the graph changes in patterns | differ where it holds | differ where not |"
    yield "| --- | --- | --- | --- | --- |"
    yield from (f"| {' | '.join(row)} |" for row in decision_rows(found))


def witness(row: Mapping[str, Any]) -> str:
    found = row["witness"]
    if found is None:
        return "–"
    operands = ", ".join(f"{name} = {', '.join(values)}" for name, values in found["operands"].items())
    lonely = "" if found["alone"] else " (among other rows)"
    return f"{cut(operands)}: {found['got']}, unfused {found['unfused']}, exact {found['exact'] or '–'}{lonely}"


def cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def main() -> None:
    found = json.loads((Path(sys.argv[1]) / "patterns.json").read_text(encoding="utf-8"))
    other = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")) if sys.argv[2:] else None
    sys.stdout.write(page(found, other).replace("\n\n\n", "\n\n"))


if __name__ == "__main__":
    main()
