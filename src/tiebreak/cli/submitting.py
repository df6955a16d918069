"""`tiebreak submit`: a run as one file, and the check of such a file."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tiebreak.cli.grouping import WithDefault
from tiebreak.cli.kinds import OUTPUT, PATH, WholeNumber
from tiebreak.cli.options import JSON, SEED, run_folder


@click.group(cls=WithDefault, epilog="Example:  tiebreak submit tiebreak-run -o my-npu.tiebreak")
def submit() -> None:
    """Pack a run into one file that somebody else can check: RUN_DIR is enough, as for `pack`."""


@submit.command(epilog="Example:  tiebreak submit tiebreak-run -o my-npu.tiebreak --certificate sweep.json")
@click.argument("run_dir", type=PATH)
@run_folder("-o", "--output", type=OUTPUT, required=True, metavar="FILE", help="The file to write.")
@run_folder(
    "--certificate",
    "certificates",
    multiple=True,
    metavar="FILE",
    help="A sweep's or a proof's certificate to put in; repeat for more. Those in RUN_DIR go in by themselves.",
)
@JSON
def pack(run_dir: Path, output: Path, certificates: tuple[Path, ...], as_json: bool) -> None:
    """Write a run as one file: its records, outputs, environment and certificates, with a digest of each.

    The same run gives the same bytes. The run must have all cases of a level; see `tiebreak submit check`.
    """
    from tiebreak.conformance.submissions.packing import pack as packed

    manifest = packed(run_dir, output, certificates)
    if as_json:
        click.echo(json.dumps({"file": str(output), "members": manifest["members"]}))
    else:
        click.echo(f"{output}: {len(manifest['members'])} members; check it with: tiebreak submit check {output}")


@submit.command(epilog="Example:  tiebreak submit check my-npu.tiebreak")
@click.argument("file", type=PATH)
@click.option(
    "--sample",
    type=WholeNumber(0, 1 << 30),
    default=200,
    show_default=True,
    metavar="N",
    help="How many of the cases that ran are judged again.",
)
@click.option("--seed", type=SEED, help="Chooses which. Default: a random one, which is printed.")
@JSON
def check(file: Path, sample: int, seed: int | None, as_json: bool) -> None:
    """Verify a submission: schemas, checksums, golden vectors, no case missing, counts; judge some cases again.

    Certificates in it are checked for some seconds each.

    Ends with 1 if it does not say the truth, with 2 if it is no submission or damaged. It can't know whether the
    outputs are really the backend's: only running that backend tells.
    """
    from tiebreak.conformance.submissions.checking import check as checked
    from tiebreak.reports.submissions import print_checked

    found = checked(file, sample=sample, seed=seed)
    if as_json:
        click.echo(json.dumps(found))
    else:
        print_checked(found)
