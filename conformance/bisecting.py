"""`tiebreak bisect`: the first release of a library at which the answer to a case changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from tiebreak.adapters.environments import packages
from tiebreak.adapters.environments.made import install, nearest, uninstall
from tiebreak.adapters.environments.named import folder_of
from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.adapters.outcome import UNASKED, Outcome
from tiebreak.adapters.registry import check_spec, library_of, requirements_of
from tiebreak.adapters.reproducer import answer_script
from tiebreak.conformance.audit.job import audit_job
from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.golden.errors import InvalidInput, MachineryFailed, TiebreakError, Unsupported
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.places import check_earlier, write_text_aside
from tiebreak.golden.untrusted_text import one_line

Tell = Callable[[str], None]
TIME_LIMIT = 60.0  # seconds for a case
FOUND = "bisect.json"
SHOWN = 16  # elements of an output


@dataclass(frozen=True)
class ReleaseAnswer:
    """What one release does with the case: the outcome's status, the bits of its outputs, and both in words.

    `version` is what the library itself says: it may name a build, as 2.13.0+cpu does.
    """

    release: str
    status: str
    bits: tuple[tuple[str, tuple[int, ...], bytes], ...]  # type, shape and bytes of each output
    shown: str
    version: str = ""

    @property
    def build(self) -> str:
        """The build that the version names; empty if it names none."""
        return self.version.partition("+")[2]

    def same(self, other: ReleaseAnswer) -> bool:
        return (self.status, self.bits) == (other.status, other.bits)


@dataclass
class Bisection:
    """A search between two releases whose answers differ. Environments that it makes and needs no more are removed."""

    backend: str
    case: Case
    tell: Tell
    python: str = ""

    def __post_init__(self) -> None:
        self.library = library_of(self.backend)
        self.made: set[str] = set()

    def answer(self, release: str) -> ReleaseAnswer:
        """The answer of a release, which is installed if it is not there. MachineryFailed if it can't be."""
        if not folder_of(self.library, release).exists():
            install(self.backend, release, self.python, lambda line: None)
            self.made.add(release)
        with closing(IsolatedBackend(f"{self.backend}@{release}", TIME_LIMIT)) as backend:
            backend.start()
            found = replace(answer_of(release, backend.run(self.case)), version=backend.version)
        self.tell(f"{self.backend} {release}: {found.shown}")
        return found

    def between(
        self, before: ReleaseAnswer, after: ReleaseAnswer, releases: Sequence[str]
    ) -> tuple[ReleaseAnswer, ReleaseAnswer, list[str]]:
        """The last release that answers as `before`, the next one, and those between them that have no answer here."""
        left, skipped = list(releases), list[str]()
        while left:
            middle = left[len(left) // 2]
            try:
                found = self.answer(middle)
            except TiebreakError as reason:
                self.tell(f"{self.backend} {middle}: left out: {one_line(reason, 200)}")
                skipped.append(middle)
                left.remove(middle)
                continue
            at = left.index(middle)
            gone, left = (before, left[at + 1 :]) if found.same(before) else (after, left[:at])
            before, after = (found, after) if found.same(before) else (before, found)
            self.remove(gone.release)
        ends = Version(before.release), Version(after.release)
        return before, after, [one for one in skipped if min(ends) < Version(one) < max(ends)]

    def remove(self, release: str) -> None:
        """Remove the environment of a release that this search made."""
        if release in self.made:
            self.made.remove(release)
            uninstall(f"{self.library}@{release}")


def answer_of(release: str, outcome: Outcome) -> ReleaseAnswer:
    """What a release does with the case. MachineryFailed if the library was not asked: then it has no answer."""
    if outcome.fault in UNASKED:
        raise MachineryFailed(f"{release}: not asked: {one_line(outcome.message, 160)}")
    if outcome.status != "ok":
        return ReleaseAnswer(release, outcome.status, (), f"{outcome.status}: {one_line(outcome.message, 160)}")
    bits = tuple((array.dtype.name, array.shape, array.tobytes()) for array in outcome.outputs)
    shown = []
    for array in outcome.outputs:
        values = ", ".join(map(str, array.reshape(-1)[:SHOWN].tolist()))
        shown.append(f"[{values}{', …' if array.size > SHOWN else ''}] {array.dtype.name}")
    return ReleaseAnswer(release, "ok", bits, "; ".join(shown))


def bisect_job(
    backend: str, selection: Selection, good: str, bad: str, folder: Path, tell: Tell, *, python: str = ""
) -> dict[str, Any]:
    """Find where the answer to the selection's one case changes between two releases; write both scripts and a record.

    `tell` gets a line for each release that was asked. The order of the releases does not matter. InvalidInput if the
    selection is not one case, if a release is unknown, or if both give the same answer.
    """
    library = library_of(backend)
    case = one_case(selection)
    check_earlier(folder, "bisection", lambda place: (place / FOUND).exists())
    here = packages.version_of(Path(packages.base_interpreter(python)))
    known = sorted_releases(packages.releases(requirements_of(library)[0].name, here))
    for release in (good, bad):
        check_spec(f"{backend}@{release}")
        if release not in known and not folder_of(library, release).exists():
            near = ", ".join(nearest(release, known[::-1])) if known else "none is known"
            raise InvalidInput(f"{library} has no release {release!r} that installs here; nearest: {near}")
    if not sorted_releases([good]) or not sorted_releases([bad]):
        raise InvalidInput(f"{good} and {bad}: releases that are no versions of PEP 440 have no order")
    low, high = sorted((good, bad), key=Version)
    inner = [one for one in known if Version(low) < Version(one) < Version(high)]
    search, kept = Bisection(backend, case, tell, python), set[str]()
    try:
        before, after = search.answer(good), search.answer(bad)
        if before.same(after):
            same = f"{good} and {bad} give the same answer, {before.shown}"
            raise InvalidInput(f"{backend} {same}: there is no change between")
        inner = inner if (good, bad) == (low, high) else inner[::-1]
        before, after, skipped = search.between(before, after, inner)
        kept = {before.release, after.release}
    finally:
        for release in search.made - kept:
            search.remove(release)
    folder.mkdir(parents=True, exist_ok=True)
    sides = {name: side(search, answer, folder) for name, answer in (("before", before), ("after", after))}
    found = {
        "backend": backend,
        "case": case.id,
        "operator": case.node.operator,
        "node": json.loads(case.node.key),
        "good": good,
        "bad": bad,
        **sides,
        "not_installable": skipped,
        "other_build": before.build != after.build,
    }
    write_text_aside(folder / FOUND, json.dumps(found, indent=1) + "\n")
    return found


def one_case(selection: Selection) -> Case:
    if not selection.inputs and len(selection.case_ids) != 1:
        raise InvalidInput("name one case: --case ID, or --operator and every --input")
    (case,) = plan(selection)
    return case


def sorted_releases(releases: Sequence[str]) -> list[str]:
    """Releases in order, the oldest first; what is no version of PEP 440 is left out."""
    found = []
    for one in releases:
        try:
            found.append((Version(one), one))
        except InvalidVersion:
            continue
    return [one for _, one in sorted(found)]


def side(search: Bisection, answer: ReleaseAnswer, folder: Path) -> dict[str, Any]:
    """One side of the change: the release, its answer, the arithmetic that the audit finds, and its script."""
    spec, case = f"{search.backend}@{answer.release}", search.case
    found: dict[str, Any] = {"release": answer.release, "version": answer.version}
    found |= {"status": answer.status, "answer": answer.shown}
    found["outputs"] = [{"type": kind, "shape": list(shape), "bits": bits.hex()} for kind, shape, bits in answer.bits]
    found["arithmetic"] = arithmetic_of_release(spec, case.node)
    try:
        with closing(IsolatedBackend(spec, TIME_LIMIT)) as backend:
            lines = backend.reproducer(case.node.key, case.inputs)
    except (Unsupported, MachineryFailed) as reason:
        return found | {"script": "", "no_script": str(reason)}
    requirement = f"{requirements_of(search.library)[0].name}=={answer.release}"
    path = folder / f"{search.backend}-{answer.release}.py"
    write_text_aside(path, answer_script(f"{spec}, {case.node.operator}", requirement, case.node, case.inputs, lines))
    return found | {"script": str(path)}


def arithmetic_of_release(spec: str, node: Node) -> dict[str, Any]:
    """What the audit says of a release's arithmetic, or why it says nothing."""
    try:
        found = audit_job(spec, node)
    except (TiebreakError, Unsupported) as reason:
        return {"problem": one_line(reason, 300)}
    return {key: found[key] for key in ("semantics", "sentences", "inputs_tried")}
