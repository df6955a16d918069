"""Shortens messages of runtimes for people: without places in the runtime's source and without stack frames.

Records keep messages whole. Shortened ones are shown where room is short, and stand for a dead process's last output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

PLACE = r"(?:[\w.+@~-]*/)*[\w.+-]+\.(?:cc|cpp|cxx|cu|c|hpp|hh|h|inl|rs|go|py)(?::\d+){1,2}"  # src/core/node.cpp:123
LONGEST_NAME = 200  # of a C++ function with its return type
LEFT_OUT = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"\{\{function_node [^{}]*\}\}\s*", ""),
        (rf"\bException from {PLACE}:\s*", ""),
        (rf"\bfailed at {PLACE}:?", "failed:"),
        (rf"\bpanicked at {PLACE}:?", "panicked:"),
        (rf"\b[IWEF]\d{{4}} [\d:.]+ +\d+ {PLACE}\] ", ""),  # the prefix of Abseil's log
        (rf"\d{{4}}-\d\d-\d\d [\d:.]+: [IWEF] {PLACE}\] ", ""),
    )
)
AT_PLACE = re.compile(rf"(?<![\w/])(?<!\(at ){PLACE}:? ")  # but not the place of a backend's own exception
NOTABLE = re.compile(
    r"panicked at|assert|check failed|must be|terminate called|what\(\):|fatal|abort|error|exception|"
    r"corrupted|double free|out of memory|bad_alloc|overflow|sanitizer|^\W*F\d{4} |: F ",
    re.IGNORECASE,
)
FRAME = re.compile(
    r"^\s*(?:@ +0x|#\d+ |\d+: +\S|at /|File \"|frame #|\*\*\* |Current thread 0x|Thread 0x|stack backtrace|"
    r"note: run with|INFO: |Extension modules:|WARNING: All log|[IW]\d{4} |\S*\(\+0x)"
)


def instead_of(name: str, known: Iterable[str], command: str) -> str:
    """What an unknown name may stand for, and the command that lists all.

    Those that are the same behind their last dot, or the nearest.
    """
    every = list(known)
    same = [one for one in every if one.rpartition(".")[2].lower() == name.rpartition(".")[2].lower()]
    near = same or get_close_matches(name, every, 3, 0.6)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    return f"{meant}`{command}` lists all"


def gist(message: str) -> str:
    """A message in one line, without places in the runtime's source and names of its functions."""
    found = " ".join(message.split())
    for pattern, instead in LEFT_OUT:
        found = pattern.sub(instead, found)
    return without_places(found) or " ".join(message.split())


def without_numbers(message: str) -> str:
    """The gist without addresses, times and sizes: equal for messages of one kind."""
    return re.sub(r"0x[0-9a-fA-F]+|[0-9]+", "…", gist(message))


def without_places(text: str) -> str:
    """Without "src/core/node.cpp:123 " and a function's signature behind it."""
    first, *others = AT_PLACE.split(text)
    return first + "".join(map(without_signature, others))


def without_signature(text: str) -> str:
    """Without "Status ns::Node::run(int, const T&) const [with T = float] " at its beginning."""
    name, parenthesis, _ = text.partition("(")
    if not parenthesis or "::" not in name or len(name) > LONGEST_NAME or re.search(r"[.;'\"]|: ", name):
        return text
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == ")" and not depth:
            return re.sub(r"^(?: const)?(?: \[with [^\]]*\])? ?", "", text[at + 1 :])
    return text


def last_words(text: str, longest: int) -> str:
    """What a process wrote before it died, on one line of at most `longest` characters, without stack frames.

    If that is too long: the panic or assertion with the line after it, and the end.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip() and not FRAME.match(line)]
    whole = " ".join(" ".join(lines).split())
    if len(whole) <= longest:
        return whole
    first = next((at for at, line in enumerate(lines) if NOTABLE.search(line)), None)
    if first is None:
        return whole[-longest:]
    whole = " ".join(" ".join(lines[first:]).split())
    head = " ".join(" ".join(lines[first : first + 2]).split())[: longest * 2 // 3]
    if len(whole) <= longest:
        return whole
    return f"{head} … {whole[len(head) - longest + 3 :]}"
