"""Markdown pages about the operators, from their clauses and from what a run's backends did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from tiebreak.golden.lemmas import LEMMAS
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.operators.model import Attribute, Clause, Contest, Operator
from tiebreak.golden.places import check_replaceable
from tiebreak.golden.untrusted_text import plural
from tiebreak.golden.verdicts import VERDICTS
from tiebreak.reports.markdown_table import markdown_table
from tiebreak.reports.page_results import OPEN, with_recorded
from tiebreak.reports.records import Run, write_aside
from tiebreak.reports.rows import rows_of
from tiebreak.reports.summary import cause_groups, verdict_counts

BACKENDS = "## What real backends do"
CONTESTED = "contested.md"
MOST_CAUSES = 12
MANY = 8  # equal neighbours of a tensor that are written once


def write_pages(folder: Path, run: Run | None) -> list[Path]:
    """Write a page for each operator and contested.md into a folder; returns their paths. Each appears whole.

    An older page's results of backends stay, unless the run has cases of its operator. Of a run of the same level, day
    and machine only the backends that it asked are replaced.
    """
    check_replaceable(folder, "pages", lambda place: (place / CONTESTED).exists())
    pages = {f"{spec.id}.md": operator_page(spec, run, recorded_part(folder, spec)) for spec in OPERATORS.values()}
    pages[CONTESTED] = contested_page()
    for name, text in pages.items():
        write_aside(folder / name, lambda path, text=text: path.write_text(text, encoding="utf-8"))  # type: ignore[misc]
    return [folder / name for name in pages]


def recorded_part(folder: Path, spec: Operator) -> str:
    """What a page in the folder says of an operator's backends; empty if it has no table of them."""
    page = folder / f"{spec.id}.md"
    text = page.read_text(encoding="utf-8", errors="replace") if page.is_file() else ""
    recorded = text.partition(BACKENDS)[2].strip()
    return recorded if "| backend |" in recorded else ""


def operator_page(spec: Operator, run: Run | None, recorded: str = "") -> str:
    """An operator's page: formula, inputs, working precision, rules, open questions, and the run's backends.

    `recorded` stands for the backends where the run has no cases of the operator.
    """
    parts = [
        f"# {spec.id}",
        "Made by `tiebreak operators --pages`; not edited by hand.",
        f"```text\n{spec.formula}\n```",
        *signature_part(spec),
        *not_offered_part(spec),
        "## Working precision",
        "Each step is rounded once (IEEE 754, ties to even), in this order:",
        "\n".join(f"{number}. {step}" for number, step in enumerate(spec.steps, start=1)),
        "## Rules",
        clause_table([clause for clause in spec.clauses if not clause.unspecified]),
        "## Open questions",
        "The documents say nothing of these. What a backend gives is observed and reported, never a failure.",
        clause_table([clause for clause in spec.clauses if clause.unspecified]),
        *contested_part(spec),
        *lemmas_part(spec),
        "## Sources",
        "\n".join(f"- {source}" for source in spec.sources),
        BACKENDS,
        backends_part(spec, run, recorded),
    ]
    return "\n\n".join(parts) + "\n"


def signature_part(spec: Operator) -> Iterator[str]:
    forms = " or ".join(", ".join(f"`{name}`" for name in form) for form in spec.forms)
    lines = [f"- inputs: {forms}", f"- outputs: {', '.join(f'`{name}`' for name in spec.outputs)}"]
    sides = zip(spec.sides, (spec.real_types, spec.quantized_types), strict=True)
    lines += [f"- {side} types: {', '.join(types)}" for side, types in sides if types]
    lines += [f"- opsets: {', '.join(map(str, spec.opsets))}"] if spec.opsets else []
    yield "\n".join(lines)
    if spec.attributes:
        rows = [(f"`{a.name}`", default_of(a), own_text(a.text)) for a in spec.attributes]
        yield markdown_table(("attribute", "default", "meaning"), rows)


def not_offered_part(spec: Operator) -> Iterator[str]:
    if spec.not_offered:
        yield "The document has more, which Tiebreak does not offer:"
        yield "\n".join(f"- {own_text(text)}" for text in spec.not_offered)


def default_of(attribute: Attribute) -> str:
    return (
        "required"
        if attribute.required
        else page_cell(str(attribute.default))
        if attribute.default is not None
        else "none"
    )


def clause_table(clauses: Sequence[Clause]) -> str:
    rows = [(c.id, own_text(c.text), own_text(c.source) + (" (derived)" if c.derived else "")) for c in clauses]
    return markdown_table(("clause", "says", "source"), rows)


def contested_part(spec: Operator) -> Iterator[str]:
    if spec.contested:
        yield "## Contested"
        links = [f"- [{c.id}](contested.md#{c.id.lower()}): {own_text(c.question)}" for c in spec.contested]
        yield "\n".join(links)


def lemmas_part(spec: Operator) -> Iterator[str]:
    """Links to the lemmas about the operator's clauses."""
    own = {clause.id for clause in spec.clauses}
    found = [lemma for lemma in LEMMAS.values() if own & set(lemma.clauses)]
    if found:
        yield "## Lemmas"
        links = (f"[{lemma.id}](../lemmas.md#{lemma.id})" for lemma in found if lemma.true)
        others = (f"[{lemma.id}](../lemmas.md#{lemma.id})" for lemma in found if not lemma.true)
        yield f"Proven: {', '.join(links)}.\n\nFalse, with the smallest counterexample: {', '.join(others)}."


def contested_page() -> str:
    """The page of every question that documents, or a document and a runtime, answer differently."""
    parts = [
        "# Contested",
        "Made by `tiebreak operators --pages`; not edited by hand.",
        "Where documents contradict each other, or a runtime's own documentation or tests, each authority's answer "
        "stands here with one input that tells them apart. A backend is judged by the authority it claims; *judged* "
        "marks the answer that Tiebreak's truths for the operator follow. Where none is marked, the elements in "
        "question are unspecified: observed and reported, never a failure.",
    ]
    for spec in OPERATORS.values():
        if spec.contested:
            parts.append(f"## {spec.id}")
            parts += [part for contest in spec.contested for part in contest_part(contest)]
    return "\n\n".join(parts) + "\n"


def contest_part(contest: Contest) -> Iterator[str]:
    yield f"### {contest.id}"
    yield f"{contest.question} ({', '.join(contest.clauses)})"
    yield f"Input: {contest_input(contest)}"
    rows = [
        (own_text(a.authority), own_text(a.says), answer_text(a.gives), "judged" if a.judged else "")
        for a in contest.answers
    ]
    yield markdown_table(("authority", "says", "gives", ""), rows)


def contest_input(contest: Contest) -> str:
    spec = next(spec for spec in OPERATORS.values() if contest in spec.contested)
    names = spec.forms[contest.node.get("form", 0)]
    values = ", ".join(f"{name} = {input_text(value)}" for name, value in zip(names, contest.inputs, strict=False))
    called = dict(zip(("real", "quantized"), spec.sides, strict=True)) | {"scale": "scale", "opset": "opset"}
    settings = {called[key]: value for key, value in contest.node.items() if key in called}
    settings |= contest.node.get("attributes", {})
    given = ", ".join(f"{name} {value}" for name, value in settings.items())
    return f"`{values}`" + (f" ({given})" if given else "")


def input_text(value: Any) -> str:
    flat = isinstance(value, list) and not any(isinstance(part, list) for part in value)
    return f"[{', '.join(with_counts([str(part) for part in value]))}]" if flat else str(value)


def answer_text(result: tuple[float, ...] | str) -> str:
    if isinstance(result, str):
        return own_text(result)
    return ", ".join(with_counts([f"{value:.9g}" for value in result]))


def with_counts(numbers: Sequence[str]) -> list[str]:
    """Many equal neighbours as one of them, with how many there are."""
    found: list[str] = []
    for number, group in groupby(numbers):
        count = len(list(group))
        found += [f"{number} ({count} times)"] if count >= MANY else [number] * count
    return found


def backends_part(spec: Operator, run: Run | None, recorded: str) -> str:
    """Verdicts, causes and observations of the run's backends that ran the operator, and what is recorded of others."""
    if run is None:
        return recorded or "No run was given."
    counts = {backend: found for (backend, name), found in verdict_counts(run.results).items() if name == spec.id}
    if not counts:
        return recorded or "No backend of the run claims this operator."
    versions = {backend["name"]: backend["version"] for backend in run.info["backends"]}
    occurring = [verdict for verdict in VERDICTS if any(verdict in found for found in counts.values())]
    rows = [
        (
            f"{page_cell(backend)} {page_cell(versions[backend])}",
            *(str(found.get(verdict, "")) for verdict in occurring),
        )
        for backend, found in counts.items()
    ]
    created = str(run.info["created"])[:10]
    parts = [
        f"Cases by verdict, level {run.info['level']}, {created}, {page_cell(machine_of(run.info))}:",
        markdown_table(("backend", *occurring), rows),
        causes_part(spec, run),
        observed_part(spec, run),
    ]
    return with_recorded("\n\n".join(part for part in parts if part), recorded)


def machine_of(info: Mapping[str, Any]) -> str:
    """The machine and its instruction sets, which decide what some libraries compute; older runs do not say them."""
    sets = info.get("instruction_sets")
    return f"{info['machine']}, {sets}" if sets else str(info["machine"])


def causes_part(spec: Operator, run: Run) -> str:
    mine = run.discrepancies[run.discrepancies["operator"] == spec.id]
    if mine.empty:
        return ""
    rows = [
        (
            page_cell(row["backend"]),
            page_cell(row["cause"]),
            page_cell(row["clause"]),
            f"{row['elements']} in {plural(row['cases'], 'case')}",
        )
        for row in rows_of(cause_groups(mine).groupby("backend", sort=False, observed=True).head(MOST_CAUSES))
    ]
    return markdown_table(("backend", "differs because", "clause", "elements"), rows)


def observed_part(spec: Operator, run: Run) -> str:
    rows = [
        (page_cell(row["backend"]), page_cell(row["situation"]), page_cell(row["gives"]), str(row["elements"]))
        for row in run.info["observed"]
        if row["operator"] == spec.id
    ]
    if not rows:
        return ""
    return f"{OPEN}\n\n" + markdown_table(("backend", "situation", "gives", "elements"), rows)


def own_text(text: str) -> str:
    """Tiebreak's own text for a table cell; it may hold Markdown."""
    return " ".join(text.split()).replace("|", "\\|")


def page_cell(value: Any) -> str:
    """Untrusted text for a table cell: one line, escaped for Markdown and HTML."""
    text = " ".join("".join(c if c.isprintable() else " " for c in str(value)).split())
    for special, escaped in (("\\", "\\\\"), ("|", "\\|"), ("<", "&lt;"), ("`", "\\`"), ("*", "\\*"), ("_", "\\_")):
        text = text.replace(special, escaped)
    return text
