"""Reads files that may come from elsewhere, within limits."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from tiebreak.golden.errors import DamagedFile, InvalidInput

# Paths of process substitution and standard input, and the usual name for an empty file.
HANDED_OVER = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/", os.devnull)


def bounded_text(path: Path, largest: int, what: str) -> str:
    """The text of a file of at most `largest` bytes; messages call it `what`, such as "a plan".

    Raises InvalidInput if it can't be read, DamagedFile if it is larger or not UTF-8.
    """
    try:
        check_plain(path)
        with path.open("rb") as file:
            content = file.read(largest + 1)
        if len(content) > largest:
            raise DamagedFile(f"{path}: damaged: larger than {largest >> 20} MiB, not {what}")
        return content.decode()
    except OSError as error:
        raise InvalidInput(f"{path}: can't read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise DamagedFile(f"{path}: damaged: not UTF-8 ({error})") from None


def checked_json(path: Path, schema: Mapping[str, Any], largest: int, what: str) -> dict[str, Any]:
    """The object of a JSON file that fits a schema. Raises as `bounded_text`; DamagedFile for anything else."""
    import jsonschema

    try:
        data: dict[str, Any] = json.loads(bounded_text(path, largest, what))
        jsonschema.validate(data, schema)
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"{path}: damaged: not JSON ({error})") from None
    except jsonschema.ValidationError as error:
        place = "/".join(map(str, error.absolute_path)) or "the whole"
        raise DamagedFile(f"{path}: damaged: {place}: {error.message[:200]}") from None
    return data


def check_format(path: Path, data: object, name: str, what: str, versions: Collection[int] = (1,)) -> dict[str, Any]:
    """The object if it is of this format and one of these versions. DamagedFile if not; `what` is as "run file"."""
    if not isinstance(data, dict) or data.get("format") != name:
        raise DamagedFile(f'{path}: damaged {what}: "format" is not "{name}"')
    version = data.get("version")
    if version not in tuple(versions):
        known = " and ".join(map(str, versions))
        raise DamagedFile(f'{path}: "version" is {version!r:.40}, this Tiebreak reads {known}')
    return data


def check_plain(path: Path) -> None:
    """Raise InvalidInput for a pipe or a device, where reading might never end. Folders and missing files pass."""
    if path.exists() and not path.is_file() and not path.is_dir() and not str(path).startswith(HANDED_OVER):
        raise InvalidInput(f"{path}: is no plain file")


def toml_entries(path: Path, key: str, largest: int, what: str) -> list[Any]:
    """The `[[key]]` entries of a TOML file. InvalidInput if it is not TOML or has anything else."""
    try:
        data = tomllib.loads(bounded_text(path, largest, what))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path}: not TOML: {' '.join(str(error).split())[:200]}") from None
    others = [name for name in data if name != key]
    if others:
        raise InvalidInput(f"{path}: unknown key {others[0]!r:.80}; {what} has [[{key}]] entries only")
    entries = data.get(key, [])
    if not isinstance(entries, list):
        raise InvalidInput(f"{path}: {key!r} is to be [[{key}]] entries")
    return entries
