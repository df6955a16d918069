"""What the checker says of a certificate that does not hold, and how it reads one that anybody may have written."""

from __future__ import annotations

from typing import Any

LONGEST, LARGEST = 4000, 1 << 80


class ProofRefused(Exception):  # noqa: N818 - a finding
    """The certificate does not show what it says; the text says why, in a sentence."""


def shortened(text: object) -> str:
    """Untrusted text for a message: one short line of printable ASCII."""
    return ascii(str(text)[:80])


def check_form(value: Any, form: Any, place: str = "the certificate") -> None:
    """ProofRefused unless JSON has a form.

    A form is a type, a set of words, a list of the form of all items, or a tuple of those of each. A dict has a form
    for each name, or one for all names behind the key str.
    """
    if isinstance(form, dict | list | tuple):
        kind = dict if isinstance(form, dict) else list
        if not isinstance(value, kind) or (isinstance(form, tuple) and len(value) != len(form)):
            raise ProofRefused(f"{place} has another form")
        if isinstance(form, dict):
            parts = [(name, form[str]) for name in value] if str in form else list(form.items())
        else:
            parts = list(enumerate(form if isinstance(form, tuple) else form * len(value)))
        for name, inner in parts:
            if isinstance(value, dict) and name not in value:
                raise ProofRefused(f"{place} lacks {name}")
            check_form(value[name], inner, f"{str(name)[:40]!a} of {place}"[:200])
    elif isinstance(form, set):
        if not isinstance(value, str) or value not in form:
            raise ProofRefused(f"{place} is {shortened(value)}; this checker knows {', '.join(sorted(form))}")
    elif not isinstance(value, form) or isinstance(value, bool) != (form is bool) or is_too_long(value):
        raise ProofRefused(f"{place} has another form")


def is_too_long(value: object) -> bool:
    return (isinstance(value, str) and len(value) > LONGEST) or (isinstance(value, int) and abs(value) >= LARGEST)
