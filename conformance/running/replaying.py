"""Scripts that ask Tiebreak again, for what no library's own lines can show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

HEAD = """# {title}
{note}import importlib.util
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
folder = tempfile.mkdtemp(prefix="tiebreak-replay-") + "/run"
words = {words!r}
code = subprocess.call([sys.executable, "-m", "tiebreak", *words, "-o", folder], cwd={here!r})
if not os.path.exists(folder + "/run.json"):
    print("No run was made")
    sys.exit(2)
print(f"The run and its report stay in {{folder}}; to print the report again: tiebreak report {{folder}}")
with open(folder + "/run.json", encoding="utf-8") as file:
    info = json.load(file)
"""
# The last line of a script: it exits with 1 while what was found is there, with 0 once it is not, else with 2.
DEVIATES = "sys.exit(code if code in (0, 1) else 2)\n"
FAILS = 'sys.exit(1 if info["failures"] else 0 if code in (0, 1) else 2)\n'


def replay_script(title: str, words: Sequence[str], tail: str, *, note: str = "") -> str:
    """A script that calls `tiebreak` with these words and a new folder; `tail` says its exit code, from `code`.

    `tail` also finds run.json as `info`. The call is made in today's folder, in which a backend may have its files.
    """
    return HEAD.format(title=title, note=note, words=list(words), here=str(Path.cwd())) + tail


def replay_words(specs: Iterable[str], cases: Iterable[str], folder: Path) -> list[str]:
    """The words after `tiebreak` that ask backends for cases of the run in `folder` again, from whatever folder."""
    words = [word for spec in specs for word in ("-b", in_any_folder(spec))]
    words += [word for case in cases for word in ("--case", case)]
    return ["run", *words, "--from", str(folder.absolute())]


def in_any_folder(spec: str) -> str:
    """The spec of a backend; that of a file by its absolute path."""
    place, _, attribute = spec.rpartition(":")
    return f"{Path(place).absolute()}:{attribute}" if place.endswith(".py") else spec
