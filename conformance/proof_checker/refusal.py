"""What the checker says of a certificate that does not hold, and how it reads one that anybody may have written."""

from __future__ import annotations

import re
from typing import Any

NUMBER, INTEGER = re.compile(r"-?(\d+(\.\d+)?(e[-+]?\d+)?|inf)"), re.compile(r"-?\d{1,40}")
LONGEST, LARGEST = 4000, 1 << 80


class ProofRefused(Exception):  # noqa: N818 - a finding
    """The certificate does not show what it says; the text says why, in a line of printable ASCII."""

    def __init__(self, why: str) -> None:
        line = "".join(one if " " <= one <= "~" else "?" for one in why)
        super().__init__(line if len(line) <= 300 else f"{line[:150]} ... {line[-145:]}")


class ProofUndecided(ProofRefused):
    """Whether the certificate holds can't be said here, or it has nothing to say."""


def require(truth: object, why: str) -> None:
    """ProofRefused, and why, unless something is true."""
    if not truth:
        raise ProofRefused(why)


def is_of(value: Any, kind: Any) -> bool:
    return isinstance(value, kind)


def check_form(value: Any, form: Any, place: str = "the certificate") -> None:
    """ProofRefused unless JSON has a form.

    A form is a type, a set of words, a pattern of text, a list of the form of all items, or a tuple of those of each. A
    dict has a form for each name, or one for all names behind the key str.
    """
    kinds = {dict: dict, list: list, tuple: list, set: str, re.Pattern: str}
    kind: Any = kinds.get(type(form), form)
    fits: Any = is_of(value, kind) and is_of(value, bool) == (form is bool)
    fits = fits and (not is_of(value, str) or len(value) <= LONGEST)
    require(fits and (not is_of(value, int) or abs(value) < LARGEST), f"{place} has another form")
    if isinstance(form, dict):
        for name in value if str in form else form:
            require(name in value, f"{place} lacks {name}")
            check_form(value[name], form[str if str in form else name], f"{str(name)[:40]!r} of {place}"[:200])
    elif isinstance(form, list | tuple):
        require(isinstance(form, list) or len(value) == len(form), f"{place} has another form")
        for number, inner in enumerate(form * len(value) if isinstance(form, list) else form):
            check_form(value[number], inner, f"'{number}' of {place}"[:200])
    elif isinstance(form, set):
        require(value in form, f"{place} is {value[:80]}; this checker knows {', '.join(sorted(form))}")
    elif isinstance(form, re.Pattern):
        require(form.fullmatch(value), f"{place} is no number: {value[:80]}")
