"""A run's root causes as reports that one could file: a folder for each library, a Markdown file for each cause."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.untrusted_text import one_line, plural
from tiebreak.golden.verdicts import DOMAINS, OWN
from tiebreak.reports.findings import issue_of, keys_of, md
from tiebreak.reports.folding import FoldedCause
from tiebreak.reports.libraries import libraries_of, library_of
from tiebreak.reports.records import Run
from tiebreak.reports.rows import rows_of
from tiebreak.reports.severity import percent, severity, severity_rank, share_text
from tiebreak.reports.story import Chapter, Finding, story

Script = Callable[[str], tuple[str, str]]  # for an id: a standalone script, or an empty text and why there is none
FIXES = Path(__file__).parent / "fixes.toml"
LONGEST_NAME = 100  # of a file, in characters
INDEX = "README.md"


def finding_files(run: Run, script: Script) -> dict[str, str]:
    """The text of each file by its path below the output folder.

    Every text from a backend is escaped.
    """
    chapters = story(run)
    files: dict[str, str] = {}
    filed: dict[str, list[tuple[Finding, str]]] = defaultdict(list)
    names = {str(one["name"]): library_of(one) for one in run.info["backends"]}
    for finding in causes_in_order(chapters):
        assert finding.cause is not None
        library = safe_name(names[finding.backends[0]])
        path = unused(files, f"{library}/{safe_name(f'{finding.operators[0]}-{named(finding.cause)}')}")
        files[path] = cause_file(run, finding.cause, script(finding.ids[0]))
        filed[library].append((finding, path.rpartition("/")[2]))
    for backend, name in names.items():
        library = safe_name(name)
        path = f"{library}/{INDEX}"
        if path not in files:
            own = [one for one, other in names.items() if other == names[backend]]
            files[path] = library_page(run, name, own, chapters, filed[library])
    files[INDEX] = front_page(run, names, files, filed)
    return files


def causes_in_order(chapters: list[Chapter]) -> list[Finding]:
    """Those of claimed documents before conversion hazards; in each the calibrated ones first, and the worst first."""
    found = []
    for chapter in chapters:
        own = [one for one in chapter.findings if one.cause is not None]
        found += sorted(own, key=lambda one: severity_rank(one.cause.row) if one.cause else (0, 0))
    return found


def named(cause: FoldedCause) -> str:
    return str(cause.row.get("cause_id") or cause.row["cause"])


def safe_name(text: str) -> str:
    """A text as part of a path: letters, digits, dots and hyphens, no dot first."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.")[:LONGEST_NAME] or "unnamed"


def unused(files: Mapping[str, str], stem: str) -> str:
    taken = {path.lower() for path in files}
    names = (f"{stem}{f'-{number}' if number > 1 else ''}.md" for number in range(1, len(files) + 2))
    return next(name for name in names if name.lower() not in taken)


def cause_file(run: Run, cause: FoldedCause, script: tuple[str, str]) -> str:
    parts = [
        f"# {md(title(run, cause))}",
        "\n".join(facts(run, cause)),
        "## What the document says",
        "\n\n".join(document(run, cause)),
        "## What happens",
        "\n".join(witness_table(run, cause)),
        "## Reproduce",
        "\n\n".join(reproduce(cause, script)),
        "## How often",
        "\n".join(share_table(cause)),
        *fix_part(cause),
    ]
    return "\n\n".join(parts) + "\n"


def title(run: Run, cause: FoldedCause) -> str:
    library = libraries_of(run.info)[cause.backends[0]].rpartition(" ")[0]
    return f"{library}, {', '.join(cause.operators)}: {cause.row['cause']}"


def facts(run: Run, cause: FoldedCause) -> Iterator[str]:
    known = {str(one["name"]): str(one["version"]) for one in run.info["backends"]}
    yield f"- Backends: {', '.join(md(f'{name} {known[name]}') for name in cause.backends)}"
    yield f"- Found by: Tiebreak, level {md(run.info['level'])}, {md(run.info['created'][:10])}"
    yield f"- Machine: {md(run.info.get('machine', ''))}"
    yield f"- Cause: `{named(cause).replace('`', '')}`"
    yield f"- Severity: {severity(cause.row)}, {share_text(cause.row)}"
    yield f"- Public issue: {issue_link(issue_of(cause))}"


def issue_link(issue: str) -> str:
    if not issue:
        return "none known"
    repository, _, number = issue.partition("#")
    return f"[{md(issue)}](https://github.com/{repository}/issues/{number})"


def document(run: Run, cause: FoldedCause) -> Iterator[str]:
    """What the library claims or is mapped to, and the sentence of the rule that the elements break."""
    spec, clause = OPERATORS.get(cause.row["operator"]), cause.row["clause"]
    backend = next(one for one in run.info["backends"] if one["name"] == cause.row["backend"])
    operator = cause.row["operator"]
    if cause.document == OWN:
        claim = backend.get("claims", {}).get(operator, "")
        yield f"The library claims {md(operator)}{f': {md(claim)}' if claim else ''}."
    else:
        why = backend.get("maps", {}).get(operator, "")
        yield (
            f"The library does not claim {md(operator)}, which is mapped to "
            f"{md(why) if why else 'an operation of its own'}. So this is a conversion hazard and no error of the "
            "library: a model that moves there gets other results."
        )
    rule = next((one for one in spec.clauses if one.id == clause), None) if spec else None
    if rule is not None:
        yield f"> {md(rule.text)}"
        yield f"({md(clause)}, in Tiebreak's words; {md(rule.source)})"
    elif clause:
        yield f"Rule {md(clause)}."


def witness_table(run: Run, cause: FoldedCause) -> Iterator[str]:
    witness = cause.row.get("witness", {})
    rows = rows_of(run.discrepancies[run.discrepancies["id"] == witness.get("id", "")].head(1))
    bits = rows[0] if rows else {}
    yield from ("| | value | bits |", "| --- | --- | --- |")
    yield from (f"| {md(name)} | {md(value)} | {md(bits)} |" for name, bits, value in witness.get("operands", ()))
    for name in ("expected", "got"):
        yield f"| **{name}** | {md(witness.get(name, ''))} | {hexadecimal(bits.get(f'{name}_bits'))} |"
    yield f"\n{md(cause.row.get('sentence', ''))}"


def hexadecimal(bits: object) -> str:
    return f"0x{bits:x}" if isinstance(bits, int) else ""


def reproduce(cause: FoldedCause, script: tuple[str, str]) -> Iterator[str]:
    text, reason = script
    if text:
        fence = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", text)), 3)
        yield "The script needs the library and NumPy, and ends with 1 while the result is wrong."
        yield f"{fence}python\n{text.rstrip()}\n{fence}"
    else:
        yield f"`tiebreak repro {cause.ids[0]} --run RUN_DIR` made no script: {md(one_line(reason, 300))}"


def share_table(cause: FoldedCause) -> Iterator[str]:
    row = cause.row
    yield f"{plural(row['elements'], 'element')} in {plural(row['cases'], 'case')}: {md(', '.join(row['types']))}."
    for theorem in row.get("theorems", []):
        yield from ("", f"For all scales and inputs: {md(theorem)}.")
    own = row.get("domains", {})
    if own:
        yield from ("", "| domain | deviate so | judged | share |", "| --- | --- | --- | --- |")
        for name in DOMAINS:
            if name in own:
                deviate, judged = own[name]["elements"], own[name]["judged"]
                yield f"| {name} | {deviate:,} | {judged:,} | {percent(deviate, judged)} |"


def fix_part(cause: FoldedCause) -> list[str]:
    """What would mend it; nothing where fixes.toml has no entry."""
    known = [fixes().get(key) or fixes().get(key.partition(":")[0]) for key in keys_of(cause.row)]
    texts = list(dict.fromkeys(text for text in known if text))
    return ["## What would mend it", *(md(text) for text in texts)] if texts else []


@cache
def fixes() -> dict[str, str]:
    """The texts of fixes.toml by the key of a cause's id."""
    found: dict[str, str] = tomllib.loads(FIXES.read_text(encoding="utf-8"))["fix"]
    return found


def library_page(
    run: Run, name: str, backends: list[str], chapters: list[Chapter], filed: list[tuple[Finding, str]]
) -> str:
    """A library's findings in the order of the story; root causes are links to their files."""
    links = {id(finding.cause): path for finding, path in filed}
    lines = [f"# {md(name)}", "", f"Backends: {md(', '.join(backends))}."]
    for chapter in chapters:
        own = [one for one in chapter.findings if set(one.backends) & set(backends)]
        if chapter.id == "silent" or not own:
            continue
        lines += ["", f"## {chapter.title}", ""]
        if own[0].cause is not None:
            own.sort(key=lambda one: severity_rank(one.cause.row) if one.cause else (0, 0))
        for one in own:
            what = f"{md(', '.join(one.operators))}: {md(one.what)}"
            text = f"[{what}]({links[id(one.cause)]})" if one.cause is not None else what
            lines.append(f"- {text}: {md(one.how_much)}")
    if not any(line.startswith("## ") for line in lines):
        lines += ["", "Nothing found."]
    return "\n".join(lines) + "\n"


def front_page(
    run: Run, names: Mapping[str, str], files: Mapping[str, str], filed: Mapping[str, list[tuple[Finding, str]]]
) -> str:
    lines = [
        "# What a run found, by library",
        "",
        f"Made by `tiebreak findings` from a run's records ({md(run.info['created'][:10])}, level "
        f"{md(run.info['level'])}): {plural(len(run.info['backends']), 'backend')}, "
        f"{plural(len(run.results), 'case')}. Not edited by hand.",
        "",
        "Shares and severity are those of the calibrated domain (scales 2^-20 to 2^10, inputs up to 2^16 scales from "
        "zero, nothing subnormal, NaN or infinite), if a cause has elements there.",
        "",
        "| library | contradicts its own document | conversion hazards |",
        "| --- | --- | --- |",
    ]
    for name in dict.fromkeys(names.values()):
        library = safe_name(name)
        own = sum(one.cause is not None and one.cause.document == OWN for one, _ in filed.get(library, ()))
        lines.append(f"| [{md(name)}]({library}/{INDEX}) | {own} | {len(filed.get(library, ())) - own} |")
    return "\n".join(lines) + "\n"
