"""`tiebreak new-backend NAME`: writes a commented starting file for each way to provide a backend."""

from __future__ import annotations

import keyword
import re
import shlex
import sys
from collections.abc import Mapping
from importlib.metadata import packages_distributions
from importlib.resources import files
from pathlib import Path

from tiebreak.golden.errors import InvalidInput

# For each way: the files to write and their templates. "my_backend" and its variants stand for the name.
WAYS: Mapping[str, Mapping[str, str]] = {
    "python": {"my_backend.py": "python.py.txt"},
    "program": {"my_backend_program.py": "program.py.txt", "tiebreak_program.py": ""},
    "c": {"my_backend.c": "program.c.txt"},
    "offline": {"my_backend_offline.py": "offline.py.txt"},
}
LONGEST_NAME = 60


def new_backend(name: str, way: str, folder: Path) -> list[Path]:
    """Write the files of one way ("python", "program", "c", "offline") into a folder; their paths, main file first.

    Raises InvalidInput for a name that makes no file and class name, an unknown way, or a file that exists already.
    """
    check_name(name)
    if way not in WAYS:
        raise InvalidInput(f"unknown way {way!r}; known: {', '.join(WAYS)}")
    contents = {folder / with_name(file, name): file_text(template, name) for file, template in WAYS[way].items()}
    for path, text in contents.items():
        if path.exists() and not is_same_helper(path, text):
            raise InvalidInput(f"{path} exists already; nothing was written")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in contents.items():
            if not path.exists():
                write_new(path, text)
    except OSError as error:
        raise InvalidInput(f"{folder}: can't write there: {error.strerror or error}") from None
    return list(contents)


def commands(name: str, way: str, folder: Path = Path()) -> list[str]:
    """The commands that run the backend, from the top of its file. The first one changes to its folder, if needed."""
    text = file_text(next(iter(WAYS[way].values())), name)
    there = [] if is_here(folder) else [f"cd {shlex.quote(str(folder))}"]
    return there + re.findall(r"^ {4,5}((?:cc|python3|tiebreak) .*)$", text, re.MULTILINE)


def is_here(folder: Path) -> bool:
    return folder.resolve() == Path.cwd()


def check_name(name: str) -> None:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) or len(name) > LONGEST_NAME:
        raise InvalidInput(
            f"{name[:80]!r} is no name for a backend: a letter, then letters, digits, - and _, at most {LONGEST_NAME}"
        )
    module, class_name = with_name("my_backend", name), with_name("MyBackend", name)
    if keyword.iskeyword(module) or keyword.iskeyword(class_name) or class_name == "Unsupported":
        raise InvalidInput(f"{name!r} is a word that the files use in another sense")
    taken = sys.stdlib_module_names | packages_distributions().keys() | {"tiebreak", "tiebreak_program"}
    if module in taken:
        raise InvalidInput(f"{name!r} is the name of a Python module, which {module}.py would hide")


def with_name(text: str, name: str) -> str:
    """A text with the name in place of my-backend, my_backend and MyBackend, each in its own spelling."""
    words = [word for word in re.split("[-_]+", name) if word]
    forms = {
        "my-backend": name,
        "my_backend": name.replace("-", "_").lower(),
        "MyBackend": "".join(word[0].upper() + word[1:] for word in words),
    }
    return re.sub("my-backend|my_backend|MyBackend", lambda found: forms[found.group()], text)


def file_text(template: str, name: str) -> str:
    """A template's text with the name filled in; "" stands for the helper for programs in Python, unchanged."""
    if not template:
        return (files("tiebreak.adapters") / "program.py").read_text(encoding="utf-8")
    return with_name((files("tiebreak.templates") / template).read_text(encoding="utf-8"), name)


def is_same_helper(path: Path, text: str) -> bool:
    """Whether the file is the unchanged helper, which several backends may share."""
    return path.name == "tiebreak_program.py" and path.is_file() and path.read_bytes() == text.encode()


def write_new(path: Path, text: str) -> None:
    """Write a new file; an existing one is never overwritten, even if it appeared meanwhile."""
    with path.open("x", encoding="utf-8", newline="\n") as stream:
        stream.write(text)
