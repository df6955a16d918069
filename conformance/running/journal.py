"""The outcomes of an unfinished run, so that a killed run can be resumed where it stopped.

In the run folder, `unfinished/` holds plan.json, which says what is run, and a file of frames for each backend. The
first frame describes the backend; then each case has a frame with its outcome. Each frame follows a line with its
checksum and length; whatever follows the last good frame is dropped.
A living run holds a lock in the folder. The system releases it however the run ends, so two runs never share a folder.
The folder is removed once the run's records are written.
"""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import io
import json
import os
import shlex
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from tiebreak.adapters import frames
from tiebreak.adapters.answering import as_header
from tiebreak.adapters.outcome import Outcome
from tiebreak.adapters.settings import differing_settings, settings_of
from tiebreak.conformance.cases.plan import Selection
from tiebreak.golden.errors import DamagedFile, InvalidInput, TiebreakError
from tiebreak.golden.exit_codes import EXIT_FAILED
from tiebreak.golden.files import bounded_text
from tiebreak.golden.nodes import Case
from tiebreak.golden.places import RECORDS, UNFINISHED
from tiebreak.golden.untrusted_text import one_line
from tiebreak.reports.records import replace_file
from tiebreak.version import __version__

FOLDER = UNFINISHED
LOCK = "lock"
LONGEST_SAID = 400  # characters about settings
LARGEST_PLAN = 1 << 24  # bytes of plan.json
KINDS_OF_FACTS = {"time_limit": float, "memory_limit": int, "in_process": bool, "judge_foreign": bool, "strict": bool}
FORMAT = {"format": "tiebreak-unfinished", "version": 1}


class JournalFailed(TiebreakError):  # noqa: N818 - says what happened
    """The run's own folder can't be written to; no backend is at fault."""

    exit_code = EXIT_FAILED


class Journal:
    """One backend's file: `outcomes` by case id as read from it, and `add` for new ones."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.backend: dict[str, Any] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.added: list[tuple[str, Outcome]] = []  # as read: a later outcome of a case holds
        self.refusals: dict[str, Outcome] = {}  # by node, as added now
        if path.exists():
            self.read()

    def read(self) -> None:
        """Read every whole frame and cut the file off after the last one."""
        data = io.BytesIO(self.path.read_bytes())
        whole = 0
        while (body := next_body(data)) is not None:
            stream = io.BytesIO(body)
            header, outputs = frames.decode_frame(stream.readline, stream.read)
            whole = data.tell()
            if not self.backend:
                self.backend = header
                continue
            try:
                case_id = str(header.pop("case"))
                self.added.append((case_id, Outcome(outputs=tuple(outputs), **header)))
            except (KeyError, TypeError) as error:
                raise DamagedFile(f"{self.path}: damaged: not an outcome: {error}") from None
        self.outcomes = dict(self.added)
        with self.path.open("r+b") as file:
            file.truncate(whole)

    def begin(self, backend: Mapping[str, Any]) -> None:
        """Write or check the backend's facts; InvalidInput if they changed since the run began."""
        if not self.backend:
            self.backend = dict(backend)
            self.write(frames.encode_frame(backend))
        for name, now in backend.items():
            if self.backend.get(name) != now:
                raise InvalidInput(
                    f"{backend['spec']}: its {name} was {self.backend.get(name)!r} when the run began and is {now!r} "
                    "now: start a new run"
                )

    def add(self, case: Case, outcome: Outcome) -> None:
        """Keep the case's outcome; a later outcome of the same case replaces it."""
        if outcome.refused and self.refusals.get(case.node.key) == outcome:
            return  # it follows from the first refusal, when the run goes on as well
        self.write(frames.encode_frame({"case": case.id, **as_header(outcome)}, outcome.outputs))
        if outcome.refused:
            self.refusals[case.node.key] = outcome

    def write(self, body: bytes) -> None:
        try:
            with self.path.open("ab") as file:
                file.write(b"%08x %d\n" % (zlib.crc32(body), len(body)) + body)
        except OSError as error:
            raise JournalFailed(f"{self.path}: can't write: {error.strerror or error}") from None


def next_body(data: BinaryIO) -> bytes | None:
    """The next frame's bytes; None at the end of the file or before a damaged frame."""
    try:
        checksum, length = data.readline(40).split()
        body = data.read(int(length))
        return body if zlib.crc32(body) == int(checksum, 16) and len(body) == int(length) else None
    except ValueError:
        return None


@contextmanager
def run_lock(folder: Path) -> Iterator[None]:
    """Hold the run folder's lock. InvalidInput if a living run holds it or the folder can't be written to."""
    unfinished = folder / FOLDER
    try:
        fresh = not (unfinished / LOCK).exists()
        descriptor = open_locked(unfinished / LOCK)
    except OSError as error:
        with suppress(OSError):
            unfinished.rmdir()
        raise InvalidInput(f"{unfinished}: can't write there: {error.strerror or error}") from None
    try:
        yield
    finally:
        with suppress(OSError):  # a folder that is not empty stays
            if is_still_at(descriptor, unfinished / LOCK):
                if fresh or [path.name for path in unfinished.iterdir()] == [LOCK]:
                    (unfinished / LOCK).unlink()
                unfinished.rmdir()
        os.close(descriptor)


def open_locked(path: Path) -> int:
    """The descriptor of the lock file, locked by us alone. InvalidInput if another run holds it."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        if not try_lock(descriptor):
            os.close(descriptor)
            folder = path.parent.parent
            raise InvalidInput(f"{folder}: another run is going on there: wait for its end, or name another folder")
        if is_still_at(descriptor, path):
            return descriptor
        os.close(descriptor)  # the run that held it ended meanwhile and removed the file


def try_lock(descriptor: int) -> bool:
    """Lock the file; False if somebody else has. A file system without locks counts as unlocked."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def is_still_at(descriptor: int, path: Path) -> bool:
    """Whether the open file is still the one at the path."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def check_not_locked(folder: Path) -> None:
    """InvalidInput if a living run holds the folder's lock."""
    if (folder / FOLDER / LOCK).exists():
        with run_lock(folder):
            pass


def check_discardable(folder: Path) -> None:
    """InvalidInput if the folder has an unfinished run with outcomes, which a new run there would lose."""
    if has_outcomes(folder):
        command = f"tiebreak run --resume {shlex.quote(str(folder))}"
        raise InvalidInput(f"{folder}: has an unfinished run; to go on with it: {command}; to begin anew add --discard")


def holds_finished(folder: Path) -> bool:
    """Whether the folder has the records of a run, which are written at its end."""
    return (folder / RECORDS[0]).exists()


def check_unnamed(folder: Path, other: str, is_finished: Callable[[Path], bool] = holds_finished) -> None:
    """InvalidInput if a folder that nobody named has a finished run, which a new run there would replace.

    `other` says how to name another folder.
    """
    if is_finished(folder):
        raise InvalidInput(f"{folder}: has a finished run, which stays; {other}; to replace it add --discard")


def has_outcomes(folder: Path) -> bool:
    """Whether an unfinished run in the folder has the outcome of any case."""
    for path in (folder / FOLDER).glob("*.frames"):
        with suppress(OSError), path.open("rb") as file:
            if next_body(file) is not None and next_body(file) is not None:
                return True
    return False


def digest_of_cases(cases: Sequence[Case]) -> str:
    """A checksum of the cases: ids, nodes and input bits, in order."""
    parts, bits = [], dict[int, bytes]()  # inputs that several cases share are digested once
    for case in cases:
        known = bits.get(id(case.inputs))
        if known is None:
            content = b"".join(array.tobytes() for array in case.inputs)
            known = bits[id(case.inputs)] = hashlib.sha256(content).digest()
        parts.append(f"{case.id}\0{case.node.key}\0".encode() + known)
    return hashlib.sha256(b"".join(parts)).hexdigest()


def begin_run(folder: Path, selection: Selection, specs: Sequence[str], facts: Mapping[str, Any], digest: str) -> Path:
    """Create the journal of a new run in a locked folder, removing an earlier one; return the journal's folder."""
    unfinished = folder / FOLDER
    try:
        unfinished.mkdir(parents=True, exist_ok=True)
        for path in unfinished.iterdir():
            if path.name != LOCK:
                path.unlink()
    except OSError as error:
        raise InvalidInput(f"{unfinished}: can't empty that folder: {error.strerror or error}") from None
    plan = {**FORMAT, "tiebreak": __version__, "selection": selection_row(selection), "backends": list(specs)}
    text = json.dumps(plan | {"facts": dict(facts), "cases": digest}, indent=1)
    replace_file(unfinished / "plan.json", lambda path: path.write_text(text, encoding="utf-8"))
    return unfinished


def note_later_cases(folder: Path, cases: Sequence[Case]) -> None:
    """Add the digest of the cases that came later to an unfinished run's plan; InvalidInput if it has another.

    The plan is not written again for nothing: the first backend writes its journal meanwhile.
    """
    path, digest = folder / FOLDER / "plan.json", digest_of_cases(cases)
    plan = json.loads(bounded_text(path, LARGEST_PLAN, "a run's plan"))
    if plan.get("later", digest) != digest:
        raise InvalidInput(other_cases(folder))
    if not cases or "later" in plan:
        return
    text = json.dumps(plan | {"later": digest}, indent=1)
    replace_file(path, lambda aside: aside.write_text(text, encoding="utf-8"))


def other_cases(folder: Path) -> str:
    return f"--resume {folder}: the cases are not those with which it was begun: start a new run"


def read_unfinished(folder: Path) -> tuple[Selection, list[str], dict[str, Any], str]:
    """Selection, backends, facts and digest of an unfinished run. InvalidInput if there is none."""
    path = folder / FOLDER / "plan.json"
    try:
        plan = json.loads(bounded_text(path, LARGEST_PLAN, "a run's plan"))
    except DamagedFile:
        raise
    except InvalidInput:
        finished = "the run there is finished" if (folder / "run.json").exists() else "no run there"
        raise InvalidInput(f"--resume {folder}: nothing to go on with: {finished}") from None
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"{path}: damaged: not JSON ({error})") from None
    try:
        if {name: plan[name] for name in FORMAT} != FORMAT or plan["tiebreak"] != __version__:
            raise InvalidInput(f"--resume {folder}: another version of Tiebreak began it: start a new run")
        facts = {name: kind(plan["facts"][name]) for name, kind in KINDS_OF_FACTS.items()}
        check_settings(f"--resume {folder}", plan["facts"].get("settings"))
        chosen = parse_selection(plan["selection"]), list(plan["backends"]), {**plan["facts"], **facts}
        return *chosen, str(plan["cases"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DamagedFile(f"{path}: damaged: {error}") from None


def check_settings(what: str, began: object) -> None:
    """InvalidInput if `what` was begun where libraries read other variables; one that recorded none goes on."""
    if differing := differing_settings(began, settings_of(os.environ)):
        from tiebreak.reports.comparison import setting_lines  # its tables load slowly

        named = one_line("; ".join(setting_lines(differing)), LONGEST_SAID)
        raise InvalidInput(f"{what}: {named}: set it as it was, or start anew")


def selection_row(selection: Selection) -> dict[str, Any]:
    """A selection as JSON data, which `parse_selection` reads."""
    return {
        name: str(value.absolute()) if isinstance(value, Path) else dict(value) if isinstance(value, Mapping) else value
        for name, value in ((field.name, getattr(selection, field.name)) for field in dataclasses.fields(selection))
    }


def parse_selection(data: Mapping[str, Any]) -> Selection:
    """A selection read from JSON, where tuples became lists and paths text."""
    as_is: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
    for name in ("vectors", "earlier_run"):
        as_is[name] = Path(as_is[name]) if as_is[name] else None
    return Selection(**as_is)


def end_run(folder: Path) -> None:
    shutil.rmtree(folder / FOLDER, ignore_errors=True)
