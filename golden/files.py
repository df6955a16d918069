"""Reading files from elsewhere."""

from __future__ import annotations

from pathlib import Path

from tiebreak.golden.errors import DamagedFile, InvalidInput


def bounded_text(path: Path, largest: int, what: str) -> str:
    """The text of a file of at most `largest` bytes that is to be `what`, such as "a plan".

    InvalidInput if it can't be read, DamagedFile if it is larger or not UTF-8.
    """
    try:
        with path.open("rb") as file:
            content = file.read(largest + 1)
        if len(content) > largest:
            raise DamagedFile(f"{path}: damaged: larger than {largest >> 20} MiB, not {what}")
        return content.decode()
    except OSError as error:
        raise InvalidInput(f"{path}: can't read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise DamagedFile(f"{path}: damaged: not UTF-8 ({error})") from None
