"""Runs the script of every page that `tiebreak findings` wrote, each in a process of its own.

    python -m benchmarks.finding_scripts FOLDER [--at-once N]

FOLDER is what `tiebreak findings RUN -o FOLDER` made. A script exits with 1 while its finding is there. Exits with 1 if
any script does otherwise, or raises, and if a page has none.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SECONDS = 600  # for one script


def ended(page: Path) -> str:
    """How a page's script ended: its exit code, and whether it raised."""
    lines = page.read_text(encoding="utf-8").partition("```python\n")[2].partition("\n```")[0]
    if not lines:
        return "no script"
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        script.write_text(lines, encoding="utf-8")
        command = [sys.executable, str(script)]
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False, errors="replace"
            )
        except subprocess.TimeoutExpired:
            return f"no end within {SECONDS} s"
    raised = "Traceback (most recent call last)" in done.stderr
    return f"{done.returncode}{' with a traceback' if raised else ''}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--at-once", type=int, default=2, metavar="N", help="processes")
    given = parser.parse_args()
    pages = sorted(page for page in given.folder.rglob("*.md") if page.name != "README.md")
    with ThreadPoolExecutor(given.at_once) as pool:
        found = dict(zip(pages, pool.map(ended, pages), strict=True))
    for how, count in Counter(found.values()).most_common():
        print(f"{count} of {len(pages)}: {how}")
    for page, how in found.items():
        if how != "1":
            print(f"{page}: {how}")
    return int(set(found.values()) != {"1"})


if __name__ == "__main__":
    sys.exit(main())
