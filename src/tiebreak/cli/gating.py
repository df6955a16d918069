"""Commands that compare runs: compare and gate."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiebreak.cli.kinds import OUTPUT, PATH
from tiebreak.cli.options import (
    ANY_CHANGE,
    DISCARD,
    JSON,
    JUDGE_FOREIGN,
    LEVELS,
    MUST_RUN,
    STRICT,
    backends_option,
    check_apart,
    level_option,
    limit_options,
    run_folder,
    selection_keywords,
    selection_options,
    typed_parameters,
)
from tiebreak.cli.running import SELECTING
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.exit_codes import EXIT_CONFORMS

OWN_FOLDER = Path("tiebreak-gate")

if TYPE_CHECKING:
    from tiebreak.reports.records import Run


@click.command(epilog="Example:  tiebreak compare run-of-1.22 run-of-1.23 --html changes.html")
@click.argument("run_a", type=PATH)
@click.argument("run_b", type=PATH)
@run_folder("--html", type=OUTPUT, metavar="FILE", help="Write a page, too.")
@ANY_CHANGE
@MUST_RUN
@JUDGE_FOREIGN
@JSON
def compare(run_a: Path, run_b: Path, html: Path | None, as_json: bool, **how: bool) -> None:
    """Root causes that are new, gone, changed or unchanged in RUN_B, and cases with another verdict.

    A backend is the same in both if it is one configuration of one library, in whatever release. Ends with 1 if results
    are new, 3 if only failures are, 4 if no case ran in both.
    """
    from tiebreak.conformance.gate.compare import checked_run
    from tiebreak.conformance.gate.compare import compare as compared
    from tiebreak.reports.comparison import print_comparison
    from tiebreak.reports.comparison_page import write_page

    runs = [checked_run(folder) for folder in (run_a, run_b)]
    folders, created = [str(run_a), str(run_b)], [str(run.info.get("created", "")) for run in runs]
    if how["any_change"]:
        check_digests({run_a: runs[0], run_b: runs[1]})
    found: dict[str, Any] = {"folders": folders, "created": created} | compared(runs[0], runs[1], **how)
    add_examples(found, run_a, run_b)
    if html is not None:
        write_page(html, found)
    if as_json:
        click.echo(json.dumps(found))
    else:
        print_comparison(found)
    sys.exit(found["exit"])


def check_digests(runs: dict[Path, Run]) -> None:
    """Raise InvalidInput if one of the runs, by folder, can't tell whether a result changed."""
    from tiebreak.conformance.gate.changed_results import check_digests as check

    for folder, run in runs.items():
        check(folder, run.results)


def add_examples(found: dict[str, Any], before: Path, after: Path) -> None:
    """Give each backend's changed results an example, from the outputs that both folders keep."""
    from tiebreak.conformance.gate.changed_results import with_examples

    found["changed"] = found["changed"] and [*with_examples(found["changed"], before, after, found["counterparts"])]


@click.command(epilog="Example:  tiebreak gate tiebreak-run --baseline baseline --waivers waivers.toml")
@click.argument("run_dir", type=PATH, required=False)
@run_folder("--baseline", metavar="RUN_DIR", help="A run whose discrepancies are known. Without one, all are new.")
@run_folder("--waivers", metavar="FILE", help="A TOML file of known discrepancies, with reasons and last days.")
@backends_option("Runs first, into RUN_DIR (default: tiebreak-gate). Without it RUN_DIR is judged as it is.")
@selection_options
@level_option("the baseline's, else quick")
@limit_options(10.0, 0.1, "one case")
@DISCARD
@run_folder("--junit", type=OUTPUT, metavar="FILE", help="Write JUnit XML, too.")
@run_folder("--sarif", type=OUTPUT, metavar="FILE", help="Write SARIF, too: what fails, at the lines of a backend.")
@click.option("--update", is_flag=True, help="Make the run the baseline if nothing new failed.")
@click.option("--accept", is_flag=True, help="With --update: also if something did.")
@ANY_CHANGE
@MUST_RUN
@JUDGE_FOREIGN
@STRICT
@JSON
@click.pass_context
def gate(context: click.Context, /, as_json: bool, **chosen: Any) -> None:
    """Exit code for CI: 0 if RUN_DIR has nothing that is neither in the baseline nor waived.

    The baseline knows a backend by its library and configuration, in whatever release. 1 for new discrepancies, or a
    waiver whose discrepancies are gone; 3 for new crashes, timeouts and errors, which can't be waived; 4 if nothing
    ran. In a job of GitHub Actions it also writes the summary and annotations.
    """
    run_dir, baseline, waivers = judged_folder(context), chosen["baseline"], chosen["waivers"]
    update, accept = chosen["update"], chosen["accept"]
    if accept and not update:
        raise InvalidInput("--accept goes with --update")
    if update and baseline is None:
        raise InvalidInput("--update needs --baseline: the run folder to replace")
    for name in ("any_change", "must_run"):
        if chosen[name] and baseline is None:
            raise InvalidInput(f"--{name.replace('_', '-')} needs --baseline: the run to compare with")
    check_apart(waivers=waivers, junit=chosen["junit"], sarif=chosen["sarif"])
    if chosen["backends"]:
        run_first(run_dir, chosen, silent=as_json)
    fresh = update and accept
    how = {name: chosen[name] for name in ("judge_foreign", "any_change", "must_run", "strict")}
    found = gate_findings(run_dir, baseline, waivers, fresh=fresh, **how)
    if update and baseline is not None:
        found |= update_if_allowed(found, run_dir, baseline, accept=accept)
    write_findings(found, chosen["junit"], chosen["sarif"])
    if as_json:
        click.echo(json.dumps(found))
    else:
        print_findings(found)
    sys.exit(found["exit"])


def judged_folder(context: click.Context) -> Path:
    """The run folder. InvalidInput for none, and for a choice of cases without a backend to run them."""
    chosen = context.params
    if chosen["backends"]:
        return chosen["run_dir"] or OWN_FOLDER
    typed = typed_parameters(context) & {*SELECTING, "level", "time_limit", "memory_limit", "discard"}
    flags = sorted(max(param.opts, key=len) for param in context.command.params if param.name in typed)
    if flags:
        raise InvalidInput(f"{', '.join(flags)}: goes with -b, since a run that exists is judged as it is")
    if chosen["run_dir"] is None:
        raise InvalidInput("name the folder of a run, or a backend to run first: -b BACKEND")
    return Path(chosen["run_dir"])


def run_first(run_dir: Path, chosen: dict[str, Any], *, silent: bool) -> None:
    """Run the backends into the folder that is judged then; the run's own exit code is the gate's to replace."""
    from tiebreak.conformance.cases.plan import Selection
    from tiebreak.conformance.main_job import RunLimits, main_job
    from tiebreak.conformance.running.journal import check_unnamed

    baseline = chosen["baseline"]
    if baseline is not None and baseline.resolve() == run_dir.resolve():
        raise InvalidInput(f"{baseline}: the run would replace the baseline that it is judged by; name another RUN_DIR")
    if not (chosen["run_dir"] or chosen["discard"]):
        check_unnamed(run_dir, "to run elsewhere name RUN_DIR")
    # A mistake is told before anything runs.
    known = baseline_run(baseline, fresh=chosen["update"] and chosen["accept"])
    if chosen["any_change"] and known is not None and baseline is not None:
        check_digests({baseline: known})
    level = chosen["level"] or usual_level_of_gate(known)
    selection = Selection(level=level, **selection_keywords({name: chosen[name] for name in SELECTING}))
    limits = RunLimits(chosen["time_limit"], chosen["memory_limit"])
    how: dict[str, Any] = {name: chosen[name] for name in ("discard", "judge_foreign", "strict")}
    main_job(chosen["backends"], selection, run_dir, limits, show="nothing" if silent else "judged", **how)


def usual_level_of_gate(baseline: Run | None) -> str:
    """The baseline's level, whose cases the gate compares; quick without one, and for outputs of a device elsewhere."""
    level = str(baseline.info["level"]) if baseline is not None else ""
    return level if level in LEVELS else "quick"


def write_findings(found: dict[str, Any], junit: Path | None, sarif: Path | None) -> None:
    """The files that were asked for, and GitHub's summary."""
    from tiebreak.reports.gate import append_gate_summary, write_gate_junit
    from tiebreak.reports.sarif import write_gate_sarif

    if junit is not None:
        write_gate_junit(junit, found)
    if sarif is not None:
        write_gate_sarif(sarif, found)
    append_gate_summary(found)


def print_findings(found: dict[str, Any]) -> None:
    from tiebreak.reports.annotations import annotation_lines
    from tiebreak.reports.gate import print_gate

    print_gate(found)
    for line in [found.get("update", ""), *annotation_lines(found)]:
        if line:
            click.echo(line)


def gate_findings(
    run_dir: Path, baseline: Path | None, waivers: Path | None, *, fresh: bool, **how: bool
) -> dict[str, Any]:
    """The gate's findings with the folders. InvalidInput for a missing baseline, unless this run creates it."""
    from datetime import UTC, datetime

    from tiebreak.adapters.registry import registered
    from tiebreak.conformance.gate.compare import checked_run, versions_of
    from tiebreak.conformance.gate.gate import gate as judged
    from tiebreak.conformance.gate.waivers import read_waivers

    run = checked_run(run_dir)
    base = baseline_run(baseline, fresh=fresh)
    names = [*versions_of(run), *(versions_of(base) if base else ()), *registered()]
    entries = read_waivers(waivers, names) if waivers is not None else []
    found = judged(run, base, entries, datetime.now(UTC).date(), **how)
    if base is not None and baseline is not None:
        if how["any_change"]:
            check_digests({baseline: base, run_dir: run})
        add_examples(found, baseline, run_dir)
    files = {"baseline": baseline, "waiver_file": waivers}
    return {"run": str(run_dir)} | {name: str(path) if path else None for name, path in files.items()} | found


def baseline_run(baseline: Path | None, *, fresh: bool) -> Run | None:
    from tiebreak.conformance.gate.compare import checked_run

    if baseline is None or (fresh and not baseline.exists()):
        return None
    if not baseline.exists():
        raise InvalidInput(f"{baseline}: no baseline here; to make the run the first one: --update --accept")
    return checked_run(baseline)


def update_if_allowed(found: dict[str, Any], run_dir: Path, baseline: Path, *, accept: bool) -> dict[str, Any]:
    """Update the baseline if allowed. Returns the message, whether it was updated, and then the new exit code."""
    from tiebreak.conformance.gate.gate import STALE, may_update, update_baseline

    if not may_update(found, accept=accept):
        reason = "nothing ran" if not found["counts"]["ran"] else "something new failed (--accept accepts it)"
        return {"update": f"{baseline} stays as it was: {reason}", "updated": False}
    update_baseline(run_dir, baseline)
    stale = any(row["status"] == STALE for row in found["waivers"])
    code = found["exit"] if stale else EXIT_CONFORMS
    return {"update": f"the baseline {baseline} is now a copy of {run_dir}", "updated": True, "exit": code}
