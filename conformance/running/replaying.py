"""Scripts that ask Tiebreak again, for what no library's own lines can show."""

from __future__ import annotations

from collections.abc import Sequence

HEAD = """# {title}
{note}import importlib.util
{imports}import subprocess
import sys
import tempfile

if importlib.util.find_spec("tiebreak") is None:
    print("Tiebreak is not installed in this Python")
    sys.exit(2)
folder = tempfile.mkdtemp(prefix="tiebreak-replay-") + "/run"
code = subprocess.call([sys.executable, "-m", "tiebreak", *{words!r}, "-o", folder])
print(f"The run and its report stay in {{folder}}; to print the report again: tiebreak report {{folder}}")
"""


def replay_script(title: str, words: Sequence[str], tail: str, *, note: str = "", imports: str = "") -> str:
    """A script that calls `tiebreak` with these words and a new folder; `tail` says its exit code, from `code`."""
    return HEAD.format(title=title, note=note, imports=imports, words=list(words)) + tail
