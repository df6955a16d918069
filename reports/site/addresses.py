"""Where things are in the site: names of files that are safe, readable, and the same in every build."""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

CLEAN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,59}(?<!\.)")
LONGEST = 40  # characters of a part of a name
DIGITS = 10  # of a digest


class CauseKey(NamedTuple):
    """What a root cause is known by in every run; `name` is its id, or in older runs its sentence."""

    library: str
    operator: str
    name: str


def file_name(text: str) -> str:
    """The text itself where a file can be called so; else what is readable of it, with a digest of all of it."""
    return text if CLEAN.fullmatch(text) else f"{readable(text)}-{digest(text)}"


def readable(text: str) -> str:
    """Letters, digits and dots of a text, with hyphens between, cut."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text)[:LONGEST].strip("-.") or "x"


def digest(*parts: str) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).hexdigest()[:DIGITS]


def cause_file(key: CauseKey) -> str:
    """The name of a cause's page: readable parts, and a digest that tells causes apart which read alike."""
    return "-".join([*map(readable, key), digest(*key)])


def cause_page(key: CauseKey) -> str:
    return f"causes/{cause_file(key)}.html"


def library_page(library: str) -> str:
    return f"libraries/{file_name(library)}.html"


def run_page(run: str) -> str:
    return f"runs/{file_name(run)}/report.html"


def badge_file(backend: str, operator: str) -> str:
    """The name of a badge without its ending."""
    return f"badges/{file_name(backend)}/{file_name(operator)}"
