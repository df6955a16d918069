"""`tiebreak submit RUN_DIR`: a run as one file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tiebreak.conformance.cases.plan import Selection, stored_cases
from tiebreak.conformance.submissions.archive import ENVIRONMENT, MANIFEST, sha256_of, write_archive
from tiebreak.conformance.submissions.certificates import certificates_for
from tiebreak.conformance.submissions.manifest import environment_of, manifest_of
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.places import RECORDS
from tiebreak.reports.outputs_file import read_outputs
from tiebreak.reports.records import OFFLINE, OUTPUTS, read_generated, read_run

AGAIN = "run it again with this Tiebreak to submit it"
EXPORT_AGAIN = "export its cases again with this Tiebreak, and verify their outputs with it"
CHOSEN = {"inputs": "--input", "case_ids": "--case", "vectors": "--vectors", "earlier_run": "--from"}


def pack(folder: Path, target: Path, certificates: Sequence[Path] = ()) -> dict[str, Any]:
    """Write a run's submission to `target`; its manifest. The same run gives the same bytes.

    InvalidInput if there is no run, or one that no submission can hold: unexplained, of chosen cases, or by a Tiebreak
    that kept no outputs.
    """
    run = read_run(folder)
    check_submittable(folder, run.info)
    read_outputs(folder / OUTPUTS)  # a damaged file is refused here, not by who gets it
    read_generated(folder)
    members = {name: folder / name for name in RECORDS} | certificates_for(folder, certificates)
    with tempfile.TemporaryDirectory(prefix="tiebreak-submission-") as aside:
        members[ENVIRONMENT] = written(Path(aside) / ENVIRONMENT, environment_of(run.info))
        sizes = {name: (path.stat().st_size, sha256_of(path)) for name, path in members.items()}
        vectors = vectors_named(map(str, run.results["case"].unique()), map(str, run.results["operator"].unique()))
        manifest = manifest_of(run, vectors, sizes)
        write_archive(target, members | {MANIFEST: written(Path(aside) / MANIFEST, manifest)})
    return manifest


def written(path: Path, data: Mapping[str, Any]) -> Path:
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    return path


def check_submittable(folder: Path, info: Mapping[str, Any]) -> None:
    """Raise InvalidInput unless somebody else can plan and judge the run again."""
    if not (folder / OUTPUTS).exists() or not all(name in info for name in ("selection", "made_by", "vectors")):
        again = EXPORT_AGAIN if info.get("level") == OFFLINE else AGAIN
        raise InvalidInput(f"{folder}: does not say what was planned or what backends gave; {again}")
    if not info.get("explained", True):
        raise InvalidInput(f"{folder}: its causes were never looked for; complete it: tiebreak run --resume {folder}")
    problem = chosen_cases(info["selection"])
    if problem:
        raise InvalidInput(f"{folder}: {problem}")


def chosen_cases(selection: Mapping[str, Any]) -> str:
    """Why a selection is none to submit, which has whole operators; empty if it is one."""
    options = [option for name, option in CHOSEN.items() if selection.get(name)]
    return f"made with {' and '.join(options)}; a submission has all cases of a level" if options else ""


def vectors_named(ids: Iterable[str], operators: Iterable[str]) -> list[Case]:
    """Tiebreak's own golden vectors that have these ids."""
    wanted, known = set(ids), [name for name in operators if name in OPERATORS]
    some = Selection(case_ids=tuple(wanted), level="")  # only files that can hold one of them are read
    return [case for case in stored_cases(some, known) if case.id in wanted]
