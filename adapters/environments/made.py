"""Makes environments, checks them and removes them. One that is not whole has no name that a spec can give."""

from __future__ import annotations

import base64
import csv
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path

import psutil
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from tiebreak.adapters import ngraph_libraries
from tiebreak.adapters.environments import ngraph_wheel, packages
from tiebreak.adapters.environments.named import (
    NAMED,
    RECORD,
    RELEASE,
    Distribution,
    Environment,
    environment_folders,
    environments_folder,
    folder_of,
    interpreter_in,
    read_environment,
    record_of,
    site_packages_in,
)
from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.adapters.outcome import NOT_DETERMINISTIC
from tiebreak.adapters.process import command_in
from tiebreak.adapters.registry import library_of, requirements_of, with_release
from tiebreak.golden.builder import all_files, file_name
from tiebreak.golden.errors import InvalidInput, MachineryFailed
from tiebreak.golden.untrusted_text import printable
from tiebreak.golden.vector_index import NODES_EACH, plainest_cases
from tiebreak.golden.vectorfile import VECTORS

ASIDE = ".making-"
# Releases from before NumPy 2 seldom say that they need an older one, and some Pythons have no ml_dtypes.
ATTEMPTS = (("ml-dtypes",), ("ml-dtypes", "numpy<2"), ("numpy<2",))
TOGETHER = ("iree-base-runtime",)  # released with the library, under the same version
PINNED = ("torch",)  # what a library was built against
TRIED = 40  # golden vectors that show whether a release answers twice in one way
NEAREST = 5  # releases named where one is unknown
HEAD = 1024  # bytes of a program in which its interpreter is named
SPACE = 4  # times the size of the wheels that an environment takes, at most

Tell = Callable[[str], None]


def install(backend: str, version: str, python: str, tell: Tell) -> Environment:
    """Make the environment with a release of a backend's library, the newest one if `version` is empty.

    `tell` gets lines to show: what is downloaded and its size come before the download. Raises InvalidInput for an
    unknown release, MachineryFailed if it can't be installed or does not load; nothing is left then.
    """
    library = library_of(backend)
    if version and not RELEASE.fullmatch(version):
        raise InvalidInput(f"{printable(version, 60)!r} is not a release, such as 1.20.1")
    if version and folder_of(library, version).exists():
        found = read_environment(folder_of(library, version))
        tell(f"{found.name} is installed: Python {found.python}")
        return found
    remove_left_over()
    aside = environments_folder() / f"{ASIDE}{os.getpid()}-{library}"
    try:
        aside.parent.mkdir(parents=True, exist_ok=True)
        packages.make_interpreter(aside, python)
        folder = folder_of(library, fill(backend, library, version, aside, tell))
        if not folder.exists():  # it is there if none was named and the newest is, or if it was made meanwhile
            name_programs_in(aside, folder)
            aside.rename(folder)
    except OSError as error:
        raise MachineryFailed(f"{library} can't be installed in {aside.parent}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    found = read_environment(folder)
    tell(f"{found.name} is installed: {found.summary()}")
    return found


def name_programs_in(aside: Path, folder: Path) -> None:
    """Let the library's programs, such as iree-compile, begin with the interpreter where it will be."""
    for program in (aside / "bin").glob("*"):
        if program.is_file() and not program.is_symlink():
            content = program.read_bytes()
            head, rest = content[:HEAD], content[HEAD:]
            if content.startswith(b"#!") and bytes(aside) in head:
                program.write_bytes(head.replace(bytes(aside), bytes(folder)) + rest)


def fill(backend: str, library: str, version: str, aside: Path, tell: Tell) -> str:
    """Install a release into an empty environment and write the record; which release it is."""
    interpreter = interpreter_in(aside)
    python = packages.version_of(interpreter)
    wanted, version = requirements(library, version, python)
    failure: MachineryFailed | None = None
    for more, steady in (*((more, True) for more in ATTEMPTS), (ATTEMPTS[0], False)):
        if not steady and not isinstance(failure, Unsteady):
            break
        try:
            distributions = packages.needed(interpreter, [*wanted, *more])
            unpacked = [ngraph_wheel.distribution()] if library == "ngraph" else []
            tell_sizes(f"{library}@{version}", [*distributions, *unpacked], aside, tell)
            tool = packages.install_all(aside, distributions)
            if unpacked:
                ngraph_wheel.install_into(site_packages_in(aside, python))
            check_runs(backend, aside, steady=steady)
        except MachineryFailed as error:
            failure = failure or error
            empty(aside)
            continue
        (aside / "pinned.txt").unlink()
        packages.remove_own_pip(interpreter)
        made = Environment(library, version, python, tool, (*distributions, *unpacked), aside)
        (aside / RECORD).write_text(record_of(made))
        return version
    assert failure is not None
    raise failure


def requirements(library: str, version: str, python: str) -> tuple[list[str], str]:
    """What pip is to install for a release, and which release that is; nGraph's libraries are unpacked, not installed.

    Raises InvalidInput for an unknown release.
    """
    if library == "ngraph":
        ngraph_wheel.check_release(version)
        return ["numpy"], ngraph_libraries.VERSION
    first, *others = requirements_of(library)
    if version:
        check_release(first.name, version, python)
    else:
        version = newest(first.name, python)
    extras = f"[{','.join(sorted(first.extras))}]" if first.extras else ""
    return [f"{first.name}{extras}=={version}", *(beside(one, version) for one in others)], version


def beside(requirement: Requirement, version: str) -> str:
    """What pip is told of a further package of a library whose release is this version."""
    if requirement.name in TOGETHER:
        return f"{requirement.name}=={version}"
    return f"{requirement.name}{requirement.specifier if requirement.name in PINNED else ''}"


def newest(distribution: str, python: str) -> str:
    found = packages.releases(distribution, python)
    if not found:
        raise MachineryFailed(f"{distribution} has no release for Python {python} here")
    return found[0]


def check_release(distribution: str, version: str, python: str) -> None:
    """Raise InvalidInput with the nearest releases unless this one installs here."""
    known = packages.releases(distribution, python)
    if not known or version in known:
        return  # pip says what is wrong
    here = f"Python {python} on this machine"
    if elsewhere := wheels_elsewhere(distribution, version):
        raise InvalidInput(f"{distribution} {version} has no wheel for {here}; it has them for {elsewhere}")
    near = ", ".join(nearest(version, known))
    raise InvalidInput(f"{distribution} has no release {version} for {here}; nearest: {near}")


def wheels_elsewhere(distribution: str, version: str) -> str:
    """The interpreters and platforms of a release's wheels, in short; empty if the index does not tell."""
    found: set[str] = set()
    for name in packages.sizes(distribution):
        with suppress(ValueError):
            _, release, _, tags = parse_wheel_filename(name)
            if release == Version(version):
                found |= {f"{tag.interpreter} {tag.platform.partition('_')[0]}" for tag in tags}
    return ", ".join(sorted(found)[:12])


def nearest(version: str, known: list[str]) -> list[str]:
    """The releases nearest to one, in the order of releases."""
    try:
        wanted = Version(version)
    except InvalidVersion:
        return known[:NEAREST]
    below = [one for one in known if Version(one) < wanted][: NEAREST // 2 + 1]
    above = [one for one in known if Version(one) > wanted][-(NEAREST - len(below)) :]
    return sorted([*below, *above], key=Version)


def tell_sizes(name: str, distributions: list[Distribution], aside: Path, tell: Tell) -> None:
    """Say what will be downloaded. MachineryFailed if the disk has no room for it."""
    known = [one.size for one in distributions if one.size is not None]
    unknown = len(distributions) - len(known)
    more = f" and {unknown} of unknown size" if unknown else ""
    tell(f"{name}: {len(distributions)} packages, {megabytes(sum(known))}{more} to download")
    for one in sorted(distributions, key=lambda one: -(one.size or 0)):
        tell(f"  {one.name} {one.version}: {megabytes(one.size) if one.size is not None else 'size unknown'}")
    free = shutil.disk_usage(aside).free
    if free < SPACE * sum(known):
        need = megabytes(SPACE * sum(known))
        raise MachineryFailed(f"{name} may need {need} of disk space and {aside.parent} has {megabytes(free)}")


def megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


class Unsteady(MachineryFailed):
    """A release answers twice in two ways: it may be built for another NumPy, whose arrays it can't read."""


def check_runs(backend: str, aside: Path, *, steady: bool) -> None:
    """Run golden vectors in the new environment. MachineryFailed, with the backend's reason, if none runs.

    Unsteady if one of them has another answer in a second call, unless the environment need not be `steady`.
    """
    said, ran = "it says nothing", 0
    with closing(IsolatedBackend(backend, command=tuple(command_in(interpreter_in(aside), backend)))) as isolated:
        isolated.start()
        for file in all_files():
            if isolated.operators is not None and file[0] not in isolated.operators:
                continue
            for outcome in isolated.run_batch(plainest_cases(VECTORS / file_name(*file), NODES_EACH)):
                if steady and outcome.fault == NOT_DETERMINISTIC:
                    raise Unsteady(f"{backend} is not steady there: {printable(outcome.message, 300)}")
                ran += outcome.status == "ok"
                said = outcome.message
            if ran >= (TRIED if steady else 1):
                return
    if not ran:
        raise MachineryFailed(f"{backend} runs nothing there: {printable(said, 300)}")


def empty(aside: Path) -> None:
    """Remove all packages of an environment."""
    for folder in aside.glob("lib*/python*/site-packages"):
        shutil.rmtree(folder)
        folder.mkdir()


def remove_left_over() -> None:
    """Remove what installations left that were killed."""
    for folder in environments_folder().glob(f"{ASIDE}*"):
        with suppress(ValueError):
            if not psutil.pid_exists(int(folder.name.removeprefix(ASIDE).partition("-")[0])):
                shutil.rmtree(folder, ignore_errors=True)


def uninstall(name: str) -> bool:
    """Remove the environment NAME@VERSION, whole or damaged; False if there is none. InvalidInput for another name."""
    name = with_release(name)
    if not NAMED.fullmatch(name):
        there = ", ".join(one.name for one in environment_folders()) or "none"
        raise InvalidInput(f"{printable(name, 80)!r} is no environment, such as onnxruntime@1.20.1; installed: {there}")
    folder = next((one for one in environment_folders() if one.name == name), None)
    if folder is None:
        return False
    gone = folder.with_name(f"{ASIDE}{os.getpid()}-gone")
    try:
        folder.rename(gone)  # at once, so that nobody starts in half of it
        shutil.rmtree(gone)
    except OSError as error:
        raise MachineryFailed(f"{name} could not be removed: {error.strerror or error}") from None
    return True


def size_on_disk(environment: Environment) -> int:
    """The bytes of all files of an environment."""
    files = (path for path in environment.folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files)


def problems_of(environment: Environment) -> Iterator[str]:
    """What differs from the record: versions, missing packages, changed files."""
    from importlib.metadata import distributions

    there = {canonicalize_name(one.name): one for one in distributions(path=[str(environment.site_packages)])}
    for one in environment.distributions:
        found = there.pop(canonicalize_name(one.name), None)
        if found is None:
            yield f"{one.name} {one.version} is missing"
        elif found.version != one.version:
            yield f"{one.name} is {found.version}, not {one.version}"
        else:
            yield from changed_files(environment, one.name, found.read_text("RECORD") or "")
    for name in sorted(there):
        yield f"{name} {there[name].version} was added"


def changed_files(environment: Environment, name: str, record: str) -> Iterator[str]:
    """The files of a package that are not as its wheel says, by the RECORD of PEP 376."""
    for path, digest, _ in csv.reader(record.splitlines()):
        algorithm, _, wanted = digest.partition("=")
        if algorithm != "sha256" or path.startswith("..") or path.endswith(".pyc"):  # made on the spot
            continue
        try:
            content = (environment.site_packages / path).read_bytes()
        except OSError:
            yield f"{name}: {path} is missing"
            continue
        if base64.urlsafe_b64encode(sha256(content).digest()).rstrip(b"=").decode() != wanted:
            yield f"{name}: {path} was changed"
