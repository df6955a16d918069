"""Scripts that ask Tiebreak again, for what no library's own lines can show."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tiebreak.golden.errors import InvalidInput

TIMES = 8  # runs, where chance may tell whether a process answers otherwise
HEAD = """# {title}
# Exits with 1 while that is so, with 0 once it is not, with 2 if it can't be asked.
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

if importlib.util.find_spec("tiebreak") is None:
    print("Tiebreak is not installed in this Python")
    sys.exit(2)
if not os.path.isdir({here!r}):
    print("there is no folder", {here!r})
    sys.exit(2)
words = {words!r}
for _ in range({times}):
    folder = tempfile.mkdtemp(prefix="tiebreak-replay-") + "/run"
    code = subprocess.call([sys.executable, "-m", "tiebreak", *words, "-o", folder], cwd={here!r})
    if not os.path.exists(folder + "/run.json"):
        print("No run was made")
        sys.exit(2)
    print(f"The run and its report stay in {{folder}}; to print the report again: tiebreak report {{folder}}")
    with open(folder + "/run.json", encoding="utf-8") as file:
        info = json.load(file)
    if {there}:
        sys.exit(1)
sys.exit(0 if {gone} else 2)
"""


@dataclass(frozen=True)
class Seen:
    """Expressions for whether what was found is there, or else gone, by the exit `code` and the `info` of run.json."""

    there: str
    gone: str = "code in (0, 1)"


DEVIATES = Seen('info["clusters"]')  # of any document
FAILS = Seen('info["failures"]')


class NoScript(InvalidInput):
    """A backend writes no scripts; `words` after `tiebreak` replay the case, and `seen` tells what that shows.

    `text` ends with what the command does.
    """

    def __init__(self, text: str, words: Sequence[str], seen: Seen, *, times: int = 1) -> None:
        super().__init__(f"{text}: {shlex.join(['tiebreak', *words])}")
        self.words, self.seen, self.times = words, seen, times


def replay_script(title: str, words: Sequence[str], seen: Seen, *, times: int = 1) -> str:
    """A script that calls `tiebreak` with these words and a new folder, up to so many times.

    The calls are made in today's folder, in which a backend may have its files.
    """
    here = str(Path.cwd())
    return HEAD.format(title=title, words=list(words), here=here, times=times, there=seen.there, gone=seen.gone)


def replay_words(specs: Iterable[str], cases: Iterable[str], folder: Path) -> list[str]:
    """The words after `tiebreak` that ask backends for cases of the run in `folder` again, from whatever folder."""
    words = [word for spec in specs for word in ("-b", in_any_folder(spec))]
    words += [word for case in cases for word in ("--case", case)]
    return ["run", *words, "--from", str(folder.absolute())]


def in_any_folder(spec: str) -> str:
    """The spec of a backend; that of a file by its absolute path."""
    place, _, attribute = spec.rpartition(":")
    return f"{Path(place).absolute()}:{attribute}" if place.endswith(".py") else spec
