"""Templates as Jinja compiled them, kept in the user's cache folder: compiling takes a sixth of a second of a report.

A file is named by what it was made from, and begins with a digest of its bytes: whatever is damaged is compiled again.
A cache that can't be read or written costs time only.
"""

from __future__ import annotations

import hashlib
import marshal
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket

from tiebreak.golden.case_cache import cache_folder, write_renamed
from tiebreak.version import __version__

DIGEST = hashlib.sha256().digest_size


class CompiledTemplates(BytecodeCache):
    """The templates of the user's cache folder."""

    def load_bytecode(self, bucket: Bucket) -> None:
        path = place_of(bucket)
        with suppress(OSError, EOFError, ValueError, TypeError):
            data = path.read_bytes() if path else b""
            if hashlib.sha256(data[DIGEST:]).digest() == data[:DIGEST]:
                bucket.code = marshal.loads(data[DIGEST:])

    def dump_bytecode(self, bucket: Bucket) -> None:
        path, code = place_of(bucket), marshal.dumps(bucket.code)
        with suppress(OSError):
            if path:
                path.parent.mkdir(parents=True, exist_ok=True)
                write_renamed(path, hashlib.sha256(code).digest() + code)


def place_of(bucket: Bucket) -> Path | None:
    """Where a template is kept; None for a user without a home folder."""
    folder = cache_folder()
    made_from = (bucket.key, bucket.checksum, settings(bucket.environment), version("jinja2"), sys.version, __version__)
    name = hashlib.sha256(repr(made_from).encode()).hexdigest()[:32]
    return folder.with_name("templates") / name if folder else None


def settings(environment: Environment) -> tuple[object, ...]:
    """What of an environment shows in compiled templates."""
    flags = (environment.autoescape, environment.trim_blocks, environment.lstrip_blocks)
    return (*flags, environment.undefined.__name__, getattr(environment.finalize, "__name__", ""))
