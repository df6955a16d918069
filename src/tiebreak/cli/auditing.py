"""`tiebreak audit`: which arithmetic a backend really does."""

from __future__ import annotations

import json
import sys

import click

from tiebreak.cli.options import JSON, json_or_text, limits, parse_pairs
from tiebreak.golden.elements import ELEMENT_TYPES
from tiebreak.golden.errors import EXIT_DISCREPANCIES, EXIT_NOTHING_RAN, Unsupported

KIND = click.Choice([*ELEMENT_TYPES])


@click.command(epilog="Example:  tiebreak audit onnxruntime --operator onnx.QuantizeLinear --type int8")
@click.argument("backend")
@click.option("--operator", required=True, help="The operator's id.")
@click.option(
    "--attr", "attributes", multiple=True, callback=parse_pairs, metavar="NAME=VALUE", help="An attribute's value."
)
@click.option("--type", "output_type", type=KIND, metavar="TYPE", help="The output's element type. Default: uint8.")
@click.option("--input-type", type=KIND, metavar="TYPE", help="The first input's element type. Default: float32.")
@click.option("--opset", type=int, default=0, metavar="N", help="Of an ONNX node, the version of the operator set.")
@limits(10.0, 0.1, "one call")
@JSON
def audit(
    backend: str,
    operator: str,
    attributes: dict[str, str],
    output_type: str | None,
    input_type: str | None,
    opset: int,
    time_limit: float,
    memory_limit: int,
    as_json: bool,
) -> None:
    """Infer what a backend's node computes, with an input that refutes each alternative.

    Exits with 1 if no known semantics fits everything that it answers.
    """
    from tiebreak.conformance.audit.job import audit_job
    from tiebreak.conformance.audit.operators import audited_node
    from tiebreak.reports.audit import print_audit

    values = {name: json_or_text(text) for name, text in attributes.items()}
    node = audited_node(operator, values, input_type or "", output_type or "", opset)
    try:
        data = audit_job(backend, node, time_limit=time_limit, memory_limit=memory_limit)
    except Unsupported as reason:
        click.echo(f"tiebreak: {backend} does not take the node: {' '.join(str(reason).split())[:500]}", err=True)
        sys.exit(EXIT_NOTHING_RAN)
    if as_json:
        click.echo(json.dumps(data))
    else:
        print_audit(data)
    sys.exit(0 if data["consistent"] else EXIT_DISCREPANCIES)
