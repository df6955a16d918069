"""`tiebreak sweep --plan`: many sweeps, each with its certificate, and a summary of all of them.

A sweep that fails does not stop the others. A sweep whose certificate is already in the folder is not run again.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from tiebreak.adapters.registry import check_spec
from tiebreak.conformance.dask.scheduler import Cluster
from tiebreak.conformance.running.journal import JournalFailed
from tiebreak.conformance.sweep.certificate import read_certificate
from tiebreak.conformance.sweep.job import sweep_job
from tiebreak.conformance.sweep.log import sweep_log_path
from tiebreak.conformance.sweep.plan_file import Sweep, specs_of
from tiebreak.conformance.sweep.session import Progress, SweepLimits
from tiebreak.golden.errors import MachineryFailed, TiebreakError, Unsupported
from tiebreak.golden.exit_codes import exit_code
from tiebreak.golden.messages import gist
from tiebreak.golden.places import check_replaceable
from tiebreak.golden.verdicts import FOREIGN, OWN
from tiebreak.reports.campaign import campaign_markdown
from tiebreak.reports.records import write_text
from tiebreak.version import __version__

FORMAT = {"format": "tiebreak-campaign", "version": 1}
SUMMARY = "campaign.json"
Row = dict[str, Any]


@dataclass
class Campaign:
    """The sweeps of a plan into a folder, on this machine or on a cluster."""

    plan: Path
    folder: Path
    how: SweepLimits
    sweeps: Sequence[Sweep]
    resume: bool
    cluster: Cluster | None
    progress: Progress
    judge_foreign: bool = False
    rows: dict[str, Row] = field(default_factory=dict)  # by the certificate's name
    inputs: dict[str, int] = field(default_factory=dict)  # done, by the certificate's name
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self) -> None:
        """Run every sweep. On a Dask cluster, sweeps too small to occupy all of it run side by side."""
        size = self.cluster.size() if self.cluster else 1
        small = [sweep for sweep in self.sweeps if self.cluster and sweep.space.blocks < size]
        pool = ThreadPoolExecutor(size)
        try:
            for _ in pool.map(self.one, small):
                pass
        finally:
            pool.shutdown(cancel_futures=True)
        for sweep in self.sweeps:
            if sweep not in small:
                self.one(sweep)

    def one(self, sweep: Sweep) -> None:
        """Run one sweep, add its row and write the summary files anew."""
        path = self.folder / sweep.file
        try:
            kept = certificate_there(path, sweep)
            data = kept or self.swept(sweep, path)
            row = {"status": "kept" if kept else "done", **result_of(data)}
        except Unsupported as reason:
            row = {"status": "unsupported", "message": gist(str(reason))[:500]}
        except JournalFailed:  # the other sweeps could not write to the folder either
            raise
        except TiebreakError as error:
            row = {"status": "failed", "message": gist(str(error))[:500]}
        with self.lock:
            self.rows[sweep.file] = row
            self.write()
        self.count(sweep, sweep.space.inputs, 0)

    def swept(self, sweep: Sweep, path: Path) -> dict[str, Any]:
        how = replace(self.how, all_modes=sweep.all_modes)
        options: dict[str, Any] = {
            "resume": self.resume and sweep_log_path(path).exists(),
            "progress": partial(self.count, sweep),
        }
        if self.cluster is None:
            return sweep_job(sweep.spec, sweep.space, path, how, **options)
        from tiebreak.conformance.dask.sweeps import sweep_on

        return sweep_on(self.cluster, sweep.spec, sweep.space, path, how, **options)

    def count(self, sweep: Sweep, done: int, of: int) -> None:
        """Report the progress of all sweeps together."""
        with self.lock:
            self.inputs[sweep.file] = done
            self.progress(sum(self.inputs.values()), sum(each.space.inputs for each in self.sweeps))

    def described(self) -> dict[str, Any]:
        rows = [sweep_row(sweep) | self.rows.get(sweep.file, {"status": "waiting"}) for sweep in self.sweeps]
        return {
            **FORMAT,
            "tiebreak": __version__,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "plan": str(self.plan),
            "sweeps": rows,
            "exit": exit_code_of_campaign(rows, judge_foreign=self.judge_foreign),
        }

    def write(self) -> None:
        data = self.described()
        texts = {SUMMARY: json.dumps(data, indent=1) + "\n", "campaign.md": campaign_markdown(data)}
        for name, text in texts.items():
            write_text(self.folder / name, text)


def campaign_job(
    plan: Path,
    sweeps: Sequence[Sweep],
    folder: Path,
    how: SweepLimits,
    *,
    resume: bool = False,
    cluster: Cluster | None = None,
    progress: Progress = lambda done, of: None,
    judge_foreign: bool = False,
) -> dict[str, Any]:
    """Run the sweeps of a plan and return the content of campaign.json.

    Raises InvalidInput for a wrong backend or folder, before any sweep starts.
    """
    if cluster is None:  # a worker on another machine has its own files
        for spec in specs_of(sweeps):
            check_spec(spec)
    check_replaceable(folder, "sweeps", lambda place: (place / SUMMARY).exists())
    campaign = Campaign(plan, folder, how, sweeps, resume, cluster, progress, judge_foreign)
    campaign.write()
    campaign.run()
    return campaign.described()


def certificate_there(path: Path, sweep: Sweep) -> dict[str, Any] | None:
    """The finished certificate of this sweep, or None. MachineryFailed if another sweep's certificate is there."""
    if not path.exists():
        return None
    data, _ = read_certificate(path)
    same = data["backend"]["spec"] == sweep.spec and data["space"] == sweep.space.described()
    if not same or bool(data["modes"]) != sweep.all_modes:
        raise MachineryFailed(f"{path}: is of another sweep; move it away")
    return None if data["faults"] else data


def sweep_row(sweep: Sweep) -> Row:
    """The columns of campaign.json that describe a sweep: certificate, backend, node and inputs."""
    node = sweep.space.node
    return {
        "certificate": sweep.file,
        "backend": sweep.spec,
        "operator": node.operator,
        "input_type": node.input_type,
        "output_type": node.output_type,
        "opset": node.opset,
        "attributes": dict(sweep.attributes),
        "inputs": dict(sweep.inputs),
        "every_scale": sweep.space.every_scale,
    }


def result_of(data: Mapping[str, Any]) -> Row:
    """The part of a certificate that the summary repeats."""
    return {
        "name": data["backend"]["name"],
        "version": data["backend"]["version"],
        "document": data["backend"].get("document", OWN),
        "tried": data["inputs"],
        "counts": data["counts"],
        "mismatches": data["counts"]["deviates"],
        "modes": data["modes"],
        "faults": len(data["faults"]),
        "seconds": data["seconds"],
        "message": next(iter(data["faults"].values()), "")[:500],
    }


def exit_code_of_campaign(rows: Sequence[Row], *, judge_foreign: bool) -> int:
    """One exit code for all sweeps of a plan."""
    own = [row for row in rows if judge_foreign or row.get("document") != FOREIGN]
    return exit_code(
        discrepancies=any(row.get("mismatches") for row in own),
        failures=any(row["status"] in ("failed", "waiting") or row.get("faults") for row in rows),
        ran=any(row["status"] in ("done", "kept") for row in rows),
    )
