"""Types of command-line values. Values that no command can use are refused here, with the option's name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.places import check_output, check_output_folder

LONGEST_PATH = 4095  # bytes, of a path; LONGEST_NAME is of one name in it: the limits of file systems
LONGEST_NAME = 255
LONGEST_WORDS = 1 << 17  # bytes of a value or a command; no system takes longer ones
LONGEST_ID = 1000


class Words(click.ParamType):  # type: ignore[type-arg] # of newer releases only
    """Text of one to `longest` bytes of UTF-8; `wanted` says what kind of text."""

    name = "text"

    def __init__(self, longest: int = LONGEST_NAME, wanted: str = "name one, or leave it off") -> None:
        self.longest, self.wanted = longest, wanted

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        problem = text_problem(value, self.longest, self.wanted)
        return self.fail(problem, param, ctx) if problem else value


class WholeNumber(click.IntRange):
    """A whole number within a range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(int(value), param, ctx)
        except (TypeError, ValueError, OverflowError):
            return self.fail(f"{short(str(value))} is no whole number from {self.min} to {self.max}", param, ctx)


class AnyPath(click.ParamType):  # type: ignore[type-arg] # of newer releases only
    """A path that a file system can have."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        problem = text_problem(os.fspath(value), LONGEST_PATH) or path_problem(os.fspath(value))
        if problem:
            self.fail(problem, param, ctx)
        path = Path(value)
        try:
            self.check(path)
        except InvalidInput as error:
            self.fail(str(error), param, ctx)
        except OSError as error:
            self.fail(f"{path}: {error.strerror or error}", param, ctx)
        return path

    def check(self, path: Path) -> None:
        path.exists()


class OutputFile(AnyPath):
    """A path for an output file: no run's record, no folder, no device."""

    def check(self, path: Path) -> None:
        if str(path) == "-":
            raise InvalidInput("- is no file: standard output takes tables and JSON only")
        check_output(path)


class OutputFolder(AnyPath):
    """An output folder that exists or can be made."""

    def check(self, path: Path) -> None:
        check_output_folder(path)


class Opset(click.ParamType):  # type: ignore[type-arg] # of newer releases only
    """A version of ONNX's operator set, from the first one that has one of the operators on."""

    name = "opset"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from tiebreak.golden.onnx_types import NEWEST_OPSET
        from tiebreak.golden.operators import OPERATORS

        first = min(version for spec in OPERATORS.values() for version in spec.opsets)
        digits = str(value).strip()
        if digits.isascii() and digits.isdecimal() and len(digits) < 9 and first <= int(digits) <= NEWEST_OPSET:
            return int(digits)
        return self.fail(f"{short(digits)} is no opset; there are {first} to {NEWEST_OPSET}", param, ctx)


def text_problem(text: str, longest: int, wanted: str = "name one, or leave it off") -> str:
    """Why no command can use a text; empty if it is fine."""
    if not text.strip():
        return f"it is empty: {wanted}"
    if "\0" in text:
        return f"{short(text)} has a NUL character in it"
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return f"{short(text)} is not UTF-8"
    return f"{short(text)} has {size:,} bytes; at most {longest:,} are allowed" if size > longest else ""


def path_problem(path: str) -> str:
    """Why no file system can hold the path; empty if it is fine."""
    name = max(path.split(os.sep), key=lambda name: len(name.encode()))
    size = len(name.encode())
    return f"{short(name)} has {size:,} bytes; a file's name has at most {LONGEST_NAME}" if size > LONGEST_NAME else ""


def short(text: str) -> str:
    """The beginning of a text in quotes, in ASCII."""
    return ascii(text) if len(text) <= 60 else f"{text[:60]!a} …"


NAME, ID, WORDS = Words(), Words(LONGEST_ID), Words(LONGEST_WORDS)
PATH, OUTPUT, OUTPUT_FOLDER, OPSET = AnyPath(), OutputFile(), OutputFolder(), Opset()
