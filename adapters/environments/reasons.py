"""Why pip or uv failed, in one line."""

from __future__ import annotations

import sys

from tiebreak.golden.untrusted_text import printable

NO_NETWORK = ("NewConnectionError", "NameResolutionError", "ConnectTimeoutError", "ReadTimeoutError", "ProxyError")


def reason(stderr: str) -> str:
    """The reason for pip's or uv's failure, in one line."""
    if any(name in stderr for name in NO_NETWORK):
        return "no network: pip could not reach the package index"
    if "No module named pip" in stderr:
        return f"this Python has no pip; try {sys.executable} -m ensurepip"
    if "No space left on device" in stderr:
        return "no space left on the disk"
    errors = [line for line in stderr.splitlines() if line.startswith(("ERROR: ", "error: "))] or stderr.splitlines()
    words = errors[0].partition(": ")[2] or errors[0] if errors else "it says nothing"
    return printable(" ".join(words.split()), 300)
