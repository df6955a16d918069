"""`tiebreak authorities`: which documents a backend's arithmetic meets."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

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
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.exit_codes import EXIT_NOTHING_RAN
from tiebreak.golden.messages import gist


@click.command(epilog="Example:  tiebreak authorities onnxruntime --type int8")
@click.argument("backend", type=WORDS)
@click.option("--operator", type=NAME, help="The operator's id. Default: the first with documents that it takes.")
@attributes_option
@node_types
@given_input
@run_folder("--run", "run_dir", metavar="RUN_DIR", help="Ask nothing: read the answers from this run's records.")
@run_folder("--page", type=OUTPUT, metavar="FILE", help="Also write it as a Markdown page.")
@limit_options(10.0, 0.1, "one call")
@JSON
def authorities(
    backend: str,
    operator: str | None,
    attributes: dict[str, str],
    output_type: str | None,
    input_type: str | None,
    opset: int | None,
    given: str | None,
    run_dir: Path | None,
    page: Path | None,
    time_limit: float,
    memory_limit: int,
    as_json: bool,
) -> None:
    """Which documents a backend meets, with an input against each of the others.

    ONNX, nGraph, StableHLO, TensorFlow Lite, PyTorch, OpenVINO, WebNN, PaddlePaddle and TensorFlow. It audits the
    backend; no run is needed. A document that contradicts it is no failure: the exit code is 0.
    """
    values = {name: json_or_text(text) for name, text in attributes.items()}
    types = {"input_type": input_type or "", "output_type": output_type or ""}
    asked = {"operator": operator or "", "attributes": values, **types, "opset": opset or 0, "given": given or ""}
    try:
        data = found_data(backend, asked, run_dir, time_limit, memory_limit)
    except Unsupported as reason:
        click.echo(f"tiebreak: {backend} does not take the node: {gist(str(reason))[:500]}", err=True)
        sys.exit(EXIT_NOTHING_RAN)
    if page is not None:
        write_page(page, data)
    if as_json:
        click.echo(json.dumps(data))
    elif page is None:
        from tiebreak.reports.authorities import print_authorities

        print_authorities(data)
    else:
        click.echo(str(page))


def found_data(
    backend: str, asked: dict[str, Any], run_dir: Path | None, time_limit: float, memory_limit: int
) -> dict[str, Any]:
    from tiebreak.conformance.audit.authorities_job import authorities_job, recorded_authorities

    if run_dir is not None:
        return recorded_authorities(run_dir, backend, asked)
    return authorities_job(backend, asked, time_limit=time_limit, memory_limit=memory_limit)


def write_page(page: Path, data: dict[str, Any]) -> None:
    from tiebreak.conformance.audit.authorities_job import documents_apart_of
    from tiebreak.reports.authorities_page import authorities_page
    from tiebreak.reports.records import write_aside

    stages = data.get("stages", ())
    text = authorities_page([([one], one["apart"]) for one in stages] or [([data], documents_apart_of(data))])
    write_aside(page, lambda aside: aside.write_text(text, encoding="utf-8"))
