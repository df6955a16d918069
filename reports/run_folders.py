"""The run folders in a folder, and when each run was made."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.golden.places import UNFINISHED
from tiebreak.reports.records import DISCREPANCIES, INFO, RESULTS

FILES = (INFO, RESULTS, DISCREPANCIES, UNFINISHED)


def run_folders(folder: Path) -> list[Path]:
    """The subfolders that hold a run, or what is left of one; InvalidInput if there is none."""
    try:
        inside = sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError as error:
        raise InvalidInput(f"{folder}: can't read: {error.strerror or error}") from None
    found = [path for path in inside if any((path / name).exists() for name in FILES)]
    if not found:
        hint = "; it is a run itself: name the folder that holds it" if (folder / "run.json").exists() else ""
        raise InvalidInput(f"{folder}: no run folder in it{hint}")
    return found


def date_of(folder: Path, info: Mapping[str, Any]) -> str:
    """When the run was made, in UTC as ISO 8601. DamagedFile if run.json does not say."""
    try:
        made = datetime.fromisoformat(info["created"])
        return (made if made.tzinfo else made.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="seconds")
    except (KeyError, TypeError, ValueError, OverflowError):
        raise DamagedFile(f'{folder / INFO}: damaged run file: no date in "created"') from None
