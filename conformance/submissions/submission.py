"""A submission as it was read: every member fits its schema, nothing is judged yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tiebreak.conformance.cases.plan import LEVELS, Selection
from tiebreak.conformance.running.journal import parse_selection
from tiebreak.conformance.submissions import certificates
from tiebreak.conformance.submissions.archive import CERTIFICATES, ENVIRONMENT, MANIFEST, unpack
from tiebreak.conformance.submissions.manifest import TEXT, an_object, each, read_environment, read_manifest
from tiebreak.conformance.submissions.packing import chosen_cases, vectors_named
from tiebreak.golden.elements import ELEMENT_TYPES
from tiebreak.golden.errors import DamagedFile, InvalidInput, TiebreakError
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.places import RECORDS
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import DOCUMENTS, DOMAINS, VERDICTS
from tiebreak.reports.outputs_file import read_outputs
from tiebreak.reports.records import OFFLINE, OUTPUTS, Run, check_known, read_generated, read_run

MOST_ROWS = 1 << 22  # of a table
LARGEST_TABLE = 2 << 30  # bytes of a table's columns, as it says itself
KIND = {"enum": ["", *ELEMENT_TYPES]}
WHOLE = {"type": "integer"}
GOLDEN_ALONE = ""  # the level of exported golden vectors, without a generated case
SELECTION_SCHEMA = an_object(
    operators={"type": "array", "items": {"enum": [*OPERATORS]}},
    attributes={"type": "object"},
    input_type=KIND,
    output_type=KIND,
    opset=WHOLE,
    inputs={"type": "object"},
    case_ids={"type": "array"},
    vectors={"type": ["string", "null"]},
    earlier_run={"type": ["string", "null"]},
    level={"enum": [*LEVELS, GOLDEN_ALONE]},
    seed=WHOLE,
) | {"additionalProperties": False}
MADE_BY_SCHEMA = an_object(tiebreak=TEXT, python=TEXT, hypothesis=TEXT, sources=TEXT)
INFO_SCHEMA = an_object(
    selection=SELECTION_SCHEMA,
    made_by=MADE_BY_SCHEMA,
    vectors=each(an_object(vectors=WHOLE, sha256={"type": "string"})),
    backends={"type": "array", "items": an_object(claimed={"type": ["array", "null"]}, claims={}, maps={})},
)


@dataclass(frozen=True)
class Submission:
    """`made` are the cases that the run brought itself, `outputs` the codes of each backend and case that ran."""

    manifest: Mapping[str, Any]
    environment: Mapping[str, Any]
    run: Run
    made: Mapping[str, Case]
    outputs: Mapping[tuple[str, str], Array]
    certificates: Mapping[str, Mapping[str, Any]]

    @property
    def info(self) -> dict[str, Any]:
        return self.run.info

    @cached_property
    def selection(self) -> Selection:
        return parse_selection(self.info["selection"])

    @cached_property
    def backends(self) -> dict[str, dict[str, Any]]:
        return {str(one["name"]): one for one in self.info["backends"]}

    @cached_property
    def vectors(self) -> dict[str, Case]:
        """The golden vectors that have rows and that this Tiebreak has, too."""
        ids, operators = (map(str, self.run.results[name].unique()) for name in ("case", "operator"))
        return {case.id: case for case in vectors_named(ids, operators)}


def read_submission(path: Path, folder: Path) -> Submission:
    """Unpack the file into the folder, which is empty, and read it. DamagedFile for whatever is no submission."""
    digests = unpack(path, folder)
    with named_as_in(path, folder):
        manifest = read_manifest(folder / MANIFEST)
        check_members(folder, manifest["members"], digests)
        for name in RECORDS:
            check_size(folder / name)
        run = read_run(folder)
        check_info(folder / RECORDS[0], run.info)
        check_words(folder, run)
        return Submission(
            manifest,
            read_environment(folder / ENVIRONMENT),
            run,
            {case.id: case for case in read_generated(folder)},
            read_outputs(folder / OUTPUTS),
            {name: certificates.read(folder / name) for name in sorted(digests) if name.startswith(CERTIFICATES)},
        )


@contextmanager
def named_as_in(path: Path, folder: Path) -> Iterator[None]:
    """Name members in messages by the archive instead of the folder where they lie for a moment."""
    try:
        yield
    except TiebreakError as error:
        text = str(error).replace(f"{folder}/", "").replace(str(folder), "the run")
        raise type(error)(f"{path}: {text}") from None


def check_members(folder: Path, listed: Mapping[str, Mapping[str, Any]], digests: Mapping[str, str]) -> None:
    """Raise DamagedFile unless the manifest lists exactly the other members, with their sizes and checksums."""
    others = digests.keys() - {MANIFEST}
    for name in sorted(others ^ listed.keys()):
        what = "is not listed" if name in others else "is listed, but not there"
        raise DamagedFile(f"{folder / MANIFEST}: damaged: {name!a:.100} {what}")
    for name in sorted(others):
        if (listed[name]["bytes"], listed[name]["sha256"]) != ((folder / name).stat().st_size, digests[name]):
            raise DamagedFile(f"{folder / name}: damaged: it does not match its SHA-256 in the manifest")


def check_size(path: Path) -> None:
    """Raise DamagedFile for a table that would not fit into memory: its file may be small for its rows."""
    if path.suffix != ".parquet":
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        facts = pq.read_metadata(path)
        size = sum(facts.row_group(number).total_byte_size for number in range(facts.num_row_groups))
    except (OSError, ValueError, pa.ArrowException) as error:
        raise DamagedFile(f"{path}: damaged: no table ({' '.join(str(error).split())[:120]})") from None
    if facts.num_rows > MOST_ROWS or size > LARGEST_TABLE:
        raise DamagedFile(f"{path}: damaged: {facts.num_rows:,} rows of {size >> 20:,} MiB; a table has {MOST_ROWS:,}")


def check_info(path: Path, info: Mapping[str, Any]) -> None:
    """Raise DamagedFile unless run.json says what was planned, by whole operators."""
    import jsonschema

    try:
        jsonschema.validate(info, INFO_SCHEMA)
    except jsonschema.ValidationError as error:
        place = "/".join(map(str, error.absolute_path)) or "the whole"
        raise DamagedFile(f"{path}: damaged: {place}: {error.message[:200]}") from None
    planned = info["selection"]["level"]
    if info["level"] != OFFLINE and (info["level"] != planned or planned == GOLDEN_ALONE):
        raise DamagedFile(f"{path}: damaged: level: {info['level']!r:.40} is not that of its selection, {planned!r}")
    if problem := chosen_cases(info["selection"]):
        raise InvalidInput(f"{path}: {problem}")


def check_words(folder: Path, run: Run) -> None:
    """Raise DamagedFile for a word in the tables that no run writes."""
    allowed = {"operator": set(OPERATORS), "verdict": set(VERDICTS), "document": set(DOCUMENTS)}
    allowed["domain"] = {*DOMAINS, ""}
    for name, frame in zip(RECORDS[1:3], (run.results, run.discrepancies), strict=True):
        for column in [column for column in allowed if column in frame]:
            check_known(f"{folder / name}: damaged run file: it", column, frame, allowed[column])
