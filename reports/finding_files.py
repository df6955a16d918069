"""The findings of runs as reports that one could file: a folder for each library, a Markdown file for each finding."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.untrusted_text import one_line, plural, printable
from tiebreak.golden.verdicts import DOMAINS, OWN
from tiebreak.reports.findings import issue_of, keys_of, md
from tiebreak.reports.folding import FoldedCause
from tiebreak.reports.libraries import libraries_of, library_of
from tiebreak.reports.markdown import repro_code
from tiebreak.reports.progress import DoneLines
from tiebreak.reports.records import Run
from tiebreak.reports.repro_command import shown_backends
from tiebreak.reports.rows import rows_of
from tiebreak.reports.severity import percent, severity, severity_rank, share_text
from tiebreak.reports.story import CHAPTERS, Chapter, Finding, operator_names, story

Script = Callable[[str], tuple[str, str]]  # for an id: a standalone script, or an empty text and why there is none
FIXES = Path(__file__).parent / "fixes.toml"
LONGEST_NAME = 100  # of a file, in characters
INDEX = "README.md"
COUNTED = ("itself", "own", "failures", "hazards")  # chapters whose findings have files


@dataclass(frozen=True)
class FiledRun:
    """A run, its story, and the file of each finding that has one, below the library's folder."""

    run: Run
    chapters: list[Chapter]
    filed: list[tuple[Finding, str, str]]  # the finding, its library's folder, its file there
    counted: list[tuple[str, str]]  # of each of them the chapter's id, and the folder


def finding_files(runs: Iterable[tuple[Run, Script]]) -> dict[str, str]:
    """The text of each file by its path below the output folder.

    Every text from a backend is escaped. The runs have passed `check_different`.
    """
    files: dict[str, str] = {}
    told: list[FiledRun] = []
    for run, script in runs:
        chapters, filed, names = story(run), [], libraries_by_backend(run)
        counted: list[tuple[str, str]] = []
        to_file = list(filed_findings(chapters))
        with DoneLines(len(to_file), "findings") as lines:
            for chapter, finding in to_file:
                library = safe_name(names[finding.backends[0]])
                what = named(finding.cause) if finding.cause else chapter.id + "-" + finding.what
                path = unused(files, f"{library}/{safe_name(f'{finding.operators[0]}-{what}')}")
                made = script(finding.ids[0])
                text = (
                    cause_file(run, finding.cause, made) if finding.cause else plain_file(run, chapter, finding, made)
                )
                files[path] = text
                filed.append((finding, library, path.rpartition("/")[2]))
                counted.append((chapter.id, library))
                lines.done(path)
        told.append(FiledRun(run, chapters, filed, counted))
    names = {backend: name for one in told for backend, name in libraries_by_backend(one.run).items()}
    for name in dict.fromkeys(names.values()):
        own = [one for one, other in names.items() if other == name]
        files[f"{safe_name(name)}/{INDEX}"] = library_page(name, own, told)
    files[INDEX] = front_page(list(dict.fromkeys(names.values())), told)
    return files


def check_different(runs: Iterable[Run]) -> None:
    """InvalidInput if two runs asked a backend the same operator: one finding would stand twice, with two counts."""
    seen: set[tuple[str, str]] = set()
    for run in runs:
        asked = asked_of(run)
        if both := seen & asked:
            backend, operator = min(both)
            who = f"two of the runs asked {printable(backend, 80)} {operator}"
            raise InvalidInput(f"{who}: name runs of different operators or backends")
        seen |= asked


def asked_of(run: Run) -> set[tuple[str, str]]:
    """Each backend with each operator of which it ran a case."""
    ran = run.results[run.results["verdict"] != "unsupported"]
    pairs = ran[["backend", "operator"]].drop_duplicates().astype(str)
    return set(pairs.itertuples(index=False, name=None))


def libraries_by_backend(run: Run) -> dict[str, str]:
    return {str(one["name"]): library_of(one) for one in run.info["backends"]}


def filed_findings(chapters: list[Chapter]) -> list[tuple[Chapter, Finding]]:
    """What has an id that a script shows: of root causes the calibrated ones first, and in each the worst first."""
    found = []
    for chapter in chapters:
        own = [one for one in chapter.findings if one.ids and chapter.id != "calls"]
        found += [(chapter, one) for one in sorted(own, key=rank)]
    return found


def rank(finding: Finding) -> tuple[Any, ...]:
    return tuple(severity_rank(finding.cause.row)) if finding.cause else ()


def plain_file(run: Run, chapter: Chapter, finding: Finding, script: tuple[str, str]) -> str:
    """A contradiction, or a crash, a hang or another failure: no document is needed to see it."""
    known = {str(one["name"]): str(one["version"]) for one in run.info["backends"]}
    library = libraries_of(run.info)[finding.backends[0]].rpartition(" ")[0]
    specs = {str(one["name"]): str(one.get("spec", "")) for one in run.info["backends"]}
    parts = [
        f"# {md(f'{library}, {operator_names(finding.operators)}: {finding.what}')}",
        "\n".join(facts_of_asking(run, [f"{name} {known[name]}" for name in finding.backends])),
        f"## {chapter.title}",
        md(chapter.text),
        "## What happens",
        "\n\n".join(md(text) for text in (finding.what, finding.shown, *messages(run, finding)) if text),
        "## Reproduce",
        "\n\n".join(reproduced(finding.ids[0], script, *(specs[name] for name in shown_backends(finding)))),
        "## How often",
        f"{md(finding.how_much)}; ids in the run: {md(', '.join(finding.ids))}.",
    ]
    return "\n\n".join(parts) + "\n"


def messages(run: Run, finding: Finding) -> list[str]:
    """The call of a failure's smallest case, and what the library said."""
    rows = [row for row in run.info.get("failures", []) if row["id"] in finding.ids][:1]
    return [text for row in rows for text in (str(row["witness"].get("call", "")), str(row["message"])) if text]


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
        "\n\n".join(reproduced(cause.ids[0], script, spec_of(run, cause))),
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
    yield from facts_of_asking(run, [f"{name} {known[name]}" for name in cause.backends])
    yield f"- Cause: `{named(cause).replace('`', '')}`"
    yield f"- Severity: {severity(cause.row)}, {share_text(cause.row)}"
    yield f"- Public issue: {issue_link(issue_of(cause))}"


def facts_of_asking(run: Run, backends: list[str]) -> Iterator[str]:
    yield f"- Backends: {', '.join(map(md, backends))}"
    yield f"- Found by: Tiebreak, level {md(run.info['level'])}, {md(run.info['created'][:10])}"
    yield f"- Machine: {md(run.info.get('machine', ''))}"


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


def spec_of(run: Run, cause: FoldedCause) -> str:
    return next(str(one.get("spec", "")) for one in run.info["backends"] if one["name"] == cause.row["backend"])


def reproduced(id: str, script: tuple[str, str], *specs: str) -> Iterator[str]:
    text, reason = script
    if text:
        fence = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", text)), 3)
        yield "The script needs the library and NumPy, and ends with 1 while the result is wrong."
        yield f"{fence}python\n{text.rstrip()}\n{fence}"
    else:
        command = repro_code(id, "RUN_DIR", *specs)
        # A record does not choose what code runs, so a backend of one's own is started by hand only.
        if any(":" in spec for spec in specs):
            yield f"{command} prints a script: this page has none, since it starts no backend of your own."
        else:
            yield f"{command} would print a script. None could be made: {md(one_line(reason, 300))}"


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


def library_page(name: str, backends: list[str], told: list[FiledRun]) -> str:
    """A library's findings in the order of the story; root causes are links to their files."""
    links = {id(finding): path for one in told for finding, _, path in one.filed}
    lines = [f"# {md(name)}", "", f"Backends: {md(', '.join(backends))}."]
    for same in zip(*(one.chapters for one in told), strict=True):
        own = [one for chapter in same for one in chapter.findings if set(one.backends) & set(backends)]
        if same[0].id == "silent" or not own:
            continue
        lines += ["", f"## {same[0].title}", ""]
        if own[0].cause is not None:
            own.sort(key=lambda one: severity_rank(one.cause.row) if one.cause else (0, 0))
        for one in own:
            what = f"{md(', '.join(one.operators))}: {md(one.what)}"
            text = f"[{what}]({links[id(one)]})" if id(one) in links else what
            lines.append(f"- {text}: {md(one.how_much)}")
    if not any(line.startswith("## ") for line in lines):
        lines += ["", "Nothing found."]
    return "\n".join(lines) + "\n"


def front_page(names: list[str], told: list[FiledRun]) -> str:
    runs = [one.run for one in told]
    days = sorted({str(run.info["created"])[:10] for run in runs})
    levels = dict.fromkeys(str(run.info["level"]) for run in runs)
    backends = {str(one["name"]) for run in runs for one in run.info["backends"]}
    one = len(runs) == 1
    lines = [
        f"# What {'a run' if one else f'{len(runs):,} runs'} found, by library",
        "",
        f"Made by `tiebreak findings` from the records of {'a run' if one else f'{len(runs):,} runs'} "
        f"({md(' to '.join(dict.fromkeys((days[0], days[-1]))))}, level {md(', '.join(levels))}): "
        f"{plural(len(backends), 'backend')}, {plural(sum(len(run.results) for run in runs), 'case')}. "
        "Not edited by hand.",
        "",
        "Shares and severity are those of the calibrated domain (scales 2^-20 to 2^10, inputs up to 2^16 scales from "
        "zero, nothing subnormal, NaN or infinite), if a cause has elements there.",
        "",
        f"| library | {' | '.join(CHAPTERS[chapter][0].lower() for chapter in COUNTED)} |",
        "| --- " * (1 + len(COUNTED)) + "|",
    ]
    for name in names:
        library = safe_name(name)
        own = Counter(chapter for each in told for chapter, folder in each.counted if folder == library)
        cells = [str(own[chapter]) for chapter in COUNTED]
        lines.append(f"| [{md(name)}]({library}/{INDEX}) | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
