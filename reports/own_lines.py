"""Lines of the user's own files that a finding is about. Files are parsed, never imported.

A line is wanted for people and for code hosts, so a file outside the repository has none.
"""

from __future__ import annotations

import ast
import re
import tomllib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

LARGEST = 1 << 20  # bytes of a file
ENTRY = re.compile(r"^[ \t]*\[\[[ \t]*waiver[ \t]*\]\]", re.MULTILINE)
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class OwnLine:
    """A line, from 1, of a file in the repository; `file` is relative to the repository, with forward slashes."""

    file: str
    line: int


def line_of_backend(spec: str) -> OwnLine | None:
    """Where a backend named as path/to/file.py:attribute is defined; line 1 if the file does not show it.

    Of a class, or of a function that makes the backend, it is the line of its `run`, else of its `compile`. None for
    any other spec.
    """
    place, _, attribute = spec.rpartition(":")
    path = Path(place)
    if path.suffix != ".py" or not (file := file_in_repository(path)):
        return None
    return OwnLine(file, line_of_attribute(bounded_bytes(path), attribute))


def line_of_waiver(path: Path, number: int) -> OwnLine | None:
    """Where the waiver with this number, from 1, begins in its file; line 1 if the file is no list of [[waiver]]."""
    file = file_in_repository(path)
    return OwnLine(file, line_of_entry(bounded_bytes(path), number)) if file else None


def file_in_repository(path: Path) -> str:
    """The path of a plain file from the repository's root, with links followed; empty if it is not in there."""
    try:
        found, root = path.resolve(), repository_root(Path.cwd().resolve())
        name = found.relative_to(root).as_posix()
        name.encode()
        return name if found.is_file() else ""
    except (OSError, ValueError, RuntimeError):  # elsewhere, no such path, no UTF-8, a NUL in it, a loop of links
        return ""


def repository_root(folder: Path) -> Path:
    """The folder or the parent that Git works in; the folder itself outside of any."""
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)


def bounded_bytes(path: Path) -> bytes:
    """The file's content; empty if it can't be read or is larger than LARGEST."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError:
        return b""
    return content if len(content) <= LARGEST else b""


def line_of_attribute(source: bytes, attribute: str) -> int:
    """The line in a module's source of what `attribute` is; 1 if it is not found."""
    try:
        with warnings.catch_warnings(action="ignore"):
            body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 1
    bound = last_binding(body, attribute)
    if bound is None:
        return 1
    if isinstance(bound, ast.Assign | ast.AnnAssign):
        named = class_of_value(bound.value, body)
        return deciding_line(named) if named else bound.lineno
    return deciding_line(bound) if isinstance(bound, Definition) else bound.lineno


def last_binding(body: Sequence[ast.stmt], name: str) -> ast.stmt | None:
    """The last statement of a module that defines, assigns or imports the name."""
    return next((one for one in reversed(list(top_statements(body))) if name in names_bound(one)), None)


def top_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The module's statements, with those in its `if`, `try` and `with`."""
    for one in body:
        yield one
        if isinstance(one, ast.If | ast.Try | ast.With):
            parts = [getattr(one, name, []) for name in ("body", "orelse", "finalbody")]
            handled = [handler.body for handler in getattr(one, "handlers", [])]
            for part in (*parts, *handled):
                yield from top_statements(part)


def names_bound(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            return [statement.name]
        case ast.Assign():
            return [one.id for target in statement.targets for one in ast.walk(target) if isinstance(one, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Import() | ast.ImportFrom():
            return [alias.asname or alias.name for alias in statement.names]
        case _:
            return []


def class_of_value(value: ast.expr | None, body: Sequence[ast.stmt]) -> ast.ClassDef | None:
    """The module's own class that a value is, or is made of by a call."""
    named = value.func if isinstance(value, ast.Call) else value
    found = last_binding(body, named.id) if isinstance(named, ast.Name) else None
    return found if isinstance(found, ast.ClassDef) else None


def deciding_line(definition: Definition) -> int:
    """The line of the outermost `run` in a definition, else of its `compile`, else of the definition."""
    functions = [one for one in ast.walk(definition) if isinstance(one, FUNCTIONS)]
    found = [next((one for one in functions if one.name == name), None) for name in ("run", "compile")]
    return next((one.lineno for one in found if one), definition.lineno)


def line_of_entry(source: bytes, number: int) -> int:
    """The line where the [[waiver]] with this number begins; 1 if the headings are not the entries."""
    try:
        text = source.decode()
        entries = tomllib.loads(text).get("waiver", [])
    except (ValueError, RecursionError):
        return 1
    starts = [text.count("\n", 0, found.start()) + 1 for found in ENTRY.finditer(text)]
    headed = isinstance(entries, list) and len(starts) == len(entries)  # a string may hold a line like a heading
    return starts[number - 1] if headed and 0 < number <= len(starts) else 1
