"""Parses and checks a worker's replies; the backend shares the worker's process and may have corrupted them."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any, NoReturn

from tiebreak.adapters.arena import Arena
from tiebreak.adapters.claims import parsed_claims
from tiebreak.adapters.environments.named import split_release
from tiebreak.adapters.frames import BrokenFrame
from tiebreak.adapters.outcome import Outcome
from tiebreak.adapters.process import TooMuchMemory, WorkerProcess
from tiebreak.adapters.registry import install_command
from tiebreak.golden.errors import InvalidInput, MachineryFailed, NoDevice
from tiebreak.golden.untrusted_text import safe_text

START_LIMIT = 120.0  # seconds to import a library and build the backend
STATUSES = ("ok", "unsupported", "error")


def hello_of(worker: WorkerProcess, spec: str) -> dict[str, Any]:
    """What a new worker says about its backend. If this raises, the worker has been ended.

    Raises InvalidInput for a wrong spec, MachineryFailed if the backend can't be started.
    """
    try:
        hello = parse_hello(worker.read_line(time.monotonic() + START_LIMIT))
    except TimeoutError:
        worker.kill()
        worker.close()
        raise MachineryFailed(f"backend {spec!r} did not start within {START_LIMIT:g} s") from None
    except (EOFError, BrokenFrame, TooMuchMemory) as error:
        ended = worker.end()
        raise MachineryFailed(f"backend {spec!r} did not start: {str(error) or ended}") from None
    if hello["status"] != "ready":
        worker.finish()
        raise_for(spec, hello)
    return hello | {"name": spec} if split_release(spec)[1] else hello


def parse_hello(hello: Mapping[str, Any]) -> dict[str, Any]:
    """The worker's first line, checked. BrokenFrame for anything else."""
    try:
        if hello["status"] != "ready":
            return {"status": "failed", "kind": str(hello["kind"]), "message": safe_text(hello["message"], 2000)}
        claims = parsed_claims(hello)
        name, version = (safe_text(hello[key], 200) for key in ("name", "version"))
        built_in = [safe_text(name, 200) for name in hello["always_constant"]]
        return {
            "status": "ready",
            "name": name,
            "version": version,
            "always_constant": built_in,
            **claims.header(),
        }
    except (KeyError, TypeError, InvalidInput) as error:
        raise BrokenFrame(f"not a worker's first line: {error}") from None


def parse_reply(arena: Arena, reply: Mapping[str, Any], number: int) -> Outcome:
    """The outcome in a worker's line, checked. BrokenFrame for anything else."""
    try:
        if reply["case"] != number or reply["status"] not in STATUSES:
            raise BrokenFrame("a reply to another case")
        outputs, seconds = arena.get(reply["outputs"]), duration(reply.get("seconds", 0.0))
        text, fault = safe_text(reply.get("message", ""), 2000), str(reply.get("fault", ""))
        return Outcome(reply["status"], outputs, text, seconds, fault, bool(reply.get("refused", False)))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BrokenFrame(f"not a reply: {error}") from None


def duration(seconds: Any) -> float:
    """Seconds measured in the worker; 0 if they are impossible, since a backend may tamper with clocks."""
    found = float(seconds)
    return found if math.isfinite(found) and found >= 0 else 0.0


def raise_for(spec: str, hello: Mapping[str, Any]) -> NoReturn:
    """Raise the exception for a backend that did not load."""
    message = str(hello["message"])
    if hello["kind"] == "usage":
        raise InvalidInput(f"backend {spec!r}: {message}" if message.startswith(("its ", "it ")) else message)
    if hello["kind"] == "no-device":
        raise NoDevice(f"backend {spec!r} can't run here: {message}")
    if split_release(spec)[1]:
        raise MachineryFailed(f"backend {spec!r} failed to load: {message}; see tiebreak backends verify")
    if hello["kind"] == "not-installed" and ":" not in spec:
        raise MachineryFailed(f"backend {spec!r} is not installed ({message}): {install_command(spec)}")
    raise MachineryFailed(f"backend {spec!r} failed to load: {message}")
