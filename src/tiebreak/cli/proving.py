"""`tiebreak prove`: that two expressions are equal for all inputs, scales and zero points, or where they are not."""

from __future__ import annotations

import json
import os
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from tiebreak.cli.kinds import LONGEST_WORDS, NAME, OUTPUT, WholeNumber, Words
from tiebreak.cli.options import JSON, parse_pairs, run_folder
from tiebreak.cli.sweeping import progress_bar, refuse_other_parameters
from tiebreak.golden.errors import InvalidInput

EXAMPLE = "Example:  tiebreak prove 'Q(DQ(x, s), s) = x' --float bfloat16"
BLOCKS = "blocks of scales"
LONG = Words(LONGEST_WORDS)
CLAIM = Words(LONGEST_WORDS, "name a claim, such as 'Q(DQ(x, s), s) = x', or a rule of tiebreak prove --list")


@click.command(epilog=EXAMPLE)
@click.argument("claim", type=CLAIM, required=False)
@click.option("--type", "type_", type=NAME, default="uint8", show_default=True, help="The quantized type.")
@click.option(
    "--float",
    "real",
    type=click.Choice(["float32", "float16", "bfloat16"]),
    default="float32",
    show_default=True,
    help="The type of scales and of float steps.",
)
@click.option(
    "--scales",
    "extent",
    type=click.Choice(["normal", "all"]),
    default="normal",
    show_default=True,
    help="Scales with which no number leaves the normal range, or all finite ones.",
)
@click.option(
    "--sign",
    type=click.Choice(["positive", "negative"]),
    default="positive",
    show_default=True,
    help="The sign of the scales.",
)
@click.option(
    "--zero-points",
    type=NAME,
    default="all",
    show_default=True,
    help="all, lowest, highest, even, odd, or numbers with commas between.",
)
@click.option(
    "--let",
    "ranges",
    type=LONG,
    multiple=True,
    callback=parse_pairs,
    metavar="NAME=LOW..HIGH",
    help="An integer's range.",
)
@click.option(
    "--given", type=LONG, default=None, metavar="CONDITION", help="A condition for integers, such as 's <= 31'."
)
@click.option(
    "--most",
    type=WholeNumber(1, 1 << 48),
    default=1 << 36,
    show_default="2^36, some minutes",
    help="How many results may be tried.",
)
@click.option("--list", "as_list", is_flag=True, help="List the rules that have names.")
@run_folder(
    "--check", metavar="FILE", help="Check this certificate with a program that shares no code with the prover."
)
@click.option("--whole", is_flag=True, help="With --check: try every block of scales again, not only some.")
@run_folder(
    "-o", "--output", "path", type=OUTPUT, metavar="FILE", help="The certificate. Default: tiebreak-proof.json."
)
@JSON
@click.pass_context
def prove(
    context: click.Context,
    /,
    claim: str | None,
    type_: str,
    real: str,
    extent: str,
    sign: str,
    zero_points: str,
    ranges: dict[str, str],
    given: str | None,
    most: int,
    as_list: bool,
    check: Path | None,
    whole: bool,
    path: Path | None,
    as_json: bool,
) -> None:
    """Prove LEFT = RIGHT for all inputs, scales and zero points, or find a counterexample.

    A side is a pattern, as in tiebreak pattern; exact(PATTERN); an arithmetic, such as "reciprocal in float32"; or a
    formula of integers. The exit code is 0 for PROVED, 1 for REFUTED and 4 for UNKNOWN.
    """
    if check is not None:
        refuse_other_parameters(context, {"check", "whole", "as_json"}, "--check takes no other choice but --whole")
        sys.exit(run_proof_check(check, whole=whole, as_json=as_json))
    if whole:
        raise InvalidInput("--whole goes with --check")
    if as_list:
        refuse_other_parameters(context, {"as_list", "as_json"}, "--list takes no other choice")
        list_rules(as_json=as_json)
        return
    if claim is None:
        raise InvalidInput(f"name a claim, as in: {EXAMPLE.removeprefix('Example:  ')}")
    from tiebreak.conformance.proving.job import ClaimDomain, exit_code_of, prove_job
    from tiebreak.conformance.proving.rules import RULES
    from tiebreak.golden.places import check_output
    from tiebreak.reports.progress import with_whole
    from tiebreak.reports.proofs import print_proof

    certificate = path or Path("tiebreak-proof.json")
    check_output(certificate)
    rule = RULES.get(claim)
    if rule is None and (near := get_close_matches(claim, RULES, 1)):
        raise InvalidInput(f"no rule {claim!r}; did you mean {near[0]}?")
    if rule is not None:
        refuse_other_parameters(
            context, {"claim", "path", "most", "as_json"}, f"{claim} is a rule with types and scales of its own"
        )
    domain = ClaimDomain(type_, real, sign, zero_points, extent, ranges, given or "", most)
    text, domain = (rule.claim, rule.domain(most)) if rule is not None else (claim, domain)
    with progress_bar("prove", BLOCKS) as progress:
        told = with_whole(progress, "prove", BLOCKS)
        data = prove_job(text, domain, certificate, told, workers=os.cpu_count() or 1)
    if as_json:
        click.echo(json.dumps({**{k: v for k, v in data.items() if k != "steps"}, "certificate": str(certificate)}))
    else:
        print_proof(data, certificate)
    sys.exit(exit_code_of(data["verdict"]))


def list_rules(*, as_json: bool) -> None:
    from tiebreak.conformance.proving.rules import RULES
    from tiebreak.reports.proofs import print_rules

    if as_json:
        click.echo(json.dumps({name: rule.described() for name, rule in RULES.items()}))
    else:
        print_rules(RULES)


def run_proof_check(path: Path, *, whole: bool, as_json: bool) -> int:
    """0 if the certificate holds, 1 if it does not."""
    from tiebreak.conformance.proof_checker import ProofRefused, check
    from tiebreak.conformance.proving.findings import UNKNOWN
    from tiebreak.conformance.proving.proof_file import read_proof
    from tiebreak.golden.exit_codes import EXIT_DISCREPANCIES, EXIT_NOTHING_RAN

    data = read_proof(path)
    if data["verdict"] == UNKNOWN:
        click.echo(f"tiebreak: {path}: its verdict is {UNKNOWN}: there is nothing to check", err=True)
        return EXIT_NOTHING_RAN
    found: dict[str, Any] = {"certificate": str(path), "verdict": data["verdict"], "holds": True, "checked": []}
    try:
        found["checked"] = check(data, whole)
    except ProofRefused as reason:
        found |= {"holds": False, "reason": str(reason)}
    if as_json:
        click.echo(json.dumps(found))
    else:
        from tiebreak.reports.proofs import print_proof_check

        print_proof_check(found)
    return 0 if found["holds"] else EXIT_DISCREPANCIES
