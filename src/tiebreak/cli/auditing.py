"""`tiebreak audit`: infers which arithmetic a backend performs."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiebreak.cli.kinds import NAME, OUTPUT, WORDS
from tiebreak.cli.options import (
    JSON,
    attributes_option,
    given_input,
    json_or_text,
    limit_options,
    node_types,
    run_folder,
)
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.exit_codes import EXIT_DISCREPANCIES, EXIT_NOTHING_RAN
from tiebreak.golden.messages import gist

if TYPE_CHECKING:
    from tiebreak.conformance.audit.answer import AuditAnswer
    from tiebreak.golden.nodes import Node

TARGETS = ("numpy", "torch", "c", "onnx")


@click.command(epilog="Example:  tiebreak audit onnxruntime --operator onnx.QuantizeLinear --type int8")
@click.argument("backend", type=WORDS, required=False)
@click.option("--operator", type=NAME, required=True, help="The operator's id.")
@click.option("--matrix", is_flag=True, help="Instead: an input that tells each two of the plainest semantics apart.")
@run_folder("--page", type=OUTPUT, metavar="FILE", help="With --matrix: write it as a Markdown page.")
@attributes_option
@node_types
@given_input
@run_folder("--versus", "earlier_run", metavar="RUN_DIR", help="Also say what changed since this run.")
@click.option(
    "--exhaustive",
    is_flag=True,
    help="Compare what can't be told apart for every input there is, if seconds are not enough; it takes minutes.",
)
@click.option(
    "--emulator",
    "target",
    type=click.Choice(TARGETS),
    help="Also write a file that computes the same, in this language; see docs.",
)
@run_folder(
    "-o",
    "--output",
    type=OUTPUT,
    metavar="FILE",
    help="The emulator. Default: tiebreak_emulator.py, tiebreak_emulator.c, tiebreak_emulator.onnx.",
)
@limit_options(10.0, 0.1, "one call")
@JSON
def audit(
    backend: str | None,
    operator: str,
    matrix: bool,
    page: Path | None,
    attributes: dict[str, str],
    output_type: str | None,
    input_type: str | None,
    opset: int | None,
    given: str | None,
    earlier_run: Path | None,
    exhaustive: bool,
    target: str | None,
    output: Path | None,
    time_limit: float,
    memory_limit: int,
    as_json: bool,
) -> None:
    """Infer what a backend's node computes, with an input that refutes each alternative.

    Exits with 1 if no known semantics fits everything that it answers, or if an emulator gives anything else.
    """
    from tiebreak.conformance.audit.job import audit_job
    from tiebreak.conformance.audit.operators import STAGED, audited_node

    values = {name: json_or_text(text) for name, text in attributes.items()}
    node = audited_node(operator, values, input_type or "", output_type or "", opset or 0, given or "")
    if operator in STAGED and (matrix or exhaustive or earlier_run is not None):
        raise InvalidInput(f"{operator} is audited in stages: without --matrix, --versus and --exhaustive")
    if output is not None and target is None:
        raise InvalidInput("-o names the file of an emulator: say which with --emulator")
    if target is not None:
        check_emulator(node, target, matrix=matrix)
    if matrix and (exhaustive or earlier_run is not None):
        raise InvalidInput("--matrix is about no backend: it takes no --exhaustive and no --versus")
    if matrix:
        return separation_matrix(node, page, backend, as_json=as_json)
    if backend is None or page is not None:
        raise InvalidInput("name a backend to audit, or --matrix (with --page FILE or not) for none")
    answers: list[AuditAnswer] = []
    try:
        data = audit_job(
            backend,
            node,
            time_limit=time_limit,
            memory_limit=memory_limit,
            earlier_run=earlier_run,
            exhaustive=print_setting if exhaustive else None,
            found_answer=answers.append,
        )
    except Unsupported as reason:
        click.echo(f"tiebreak: {backend} does not take the node: {gist(str(reason))[:500]}", err=True)
        sys.exit(EXIT_NOTHING_RAN)
    stages = data.get("stages", [data])
    if target is not None:
        data["emulator"] = with_emulator(node, answers, data, target, output)
    if as_json:
        click.echo(json.dumps(data))
    else:
        from tiebreak.reports.audit import print_audit, print_stages

        (print_stages if "stages" in data else print_audit)(data)
    told = all(one["consistent"] and not one["path_dependent"] for one in stages)
    sys.exit(data.get("emulator", {}).get("exit", 0) if told else EXIT_DISCREPANCIES)


def check_emulator(node: Node, target: str, *, matrix: bool) -> None:
    from tiebreak.conformance.emulators.job import check_emulated

    if matrix:
        raise InvalidInput("--matrix is about no backend: it takes no --emulator")
    check_emulated(node, target)


def with_emulator(
    node: Node, answers: Sequence[AuditAnswer], data: Mapping[str, Any], target: str, output: Path | None
) -> dict[str, Any]:
    from tiebreak.conformance.emulators.job import DEFAULTS, emulator_data, staged_emulator_data

    command, path = " ".join(["tiebreak", *map(shlex.quote, sys.argv[1:])]), output or DEFAULTS[target]
    if "stages" in data:
        return staged_emulator_data(node, answers, data, target, path, command)
    return emulator_data(answers[0], data, target, path, command)


def print_setting(number: int, of: int) -> None:
    click.echo(f"comparing what is left for every input, setting {number} of {of}", err=True)


def separation_matrix(node: Node, page: Path | None, backend: str | None, *, as_json: bool) -> None:
    from tiebreak.conformance.audit.matrix import matrix_data
    from tiebreak.conformance.audit.operators import arithmetic_of
    from tiebreak.reports.matrix import matrix_markdown, print_matrix
    from tiebreak.reports.records import write_aside

    if backend is not None:
        raise InvalidInput(f"--matrix is about an operator's semantics: it takes no backend, as {backend!r} is")
    data = matrix_data(arithmetic_of(node))
    if page is not None:
        write_aside(page, lambda aside: aside.write_text(matrix_markdown(data), encoding="utf-8"))
    if as_json:
        click.echo(json.dumps(data))
    elif page is None:
        print_matrix(data)
    else:
        click.echo(str(page))
