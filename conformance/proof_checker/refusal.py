"""What the checker says of a certificate that does not hold, and how it reads one that anybody may have written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ProofRefused(Exception):  # noqa: N818 - a finding
    """The certificate does not show what it says; the text says why, in a sentence."""


def shortened(text: object) -> str:
    """Untrusted text for a message: one short line of printable ASCII."""
    return ascii(str(text)[:80])


def text_in(data: Mapping[str, Any], name: str) -> str:
    return str(of_type(data, name, str))


def whole_in(data: Mapping[str, Any], name: str) -> int:
    found: int = of_type(data, name, int)
    if isinstance(found, bool) or abs(found) >= 1 << 80:
        raise ProofRefused(f"{name} is no integer of at most 80 bits")
    return found


def wholes_in(data: Mapping[str, Any], name: str) -> list[int]:
    found: list[int] = of_type(data, name, list)
    if any(not isinstance(one, int) or isinstance(one, bool) or abs(one) >= 1 << 80 for one in found):
        raise ProofRefused(f"{name} holds something that is no integer")
    return found


def mapping_in(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = of_type(data, name, dict)
    return found


def mappings_in(data: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = of_type(data, name, list)
    if any(not isinstance(one, dict) for one in found):
        raise ProofRefused(f"{name} holds something that is no object")
    return found


def chosen_in(data: Mapping[str, Any], name: str, allowed: tuple[str, ...]) -> str:
    found = text_in(data, name)
    if found not in allowed:
        raise ProofRefused(f"{name} is {shortened(found)}; this checker knows {', '.join(allowed)}")
    return found


def of_type(data: Mapping[str, Any], name: str, kind: type) -> Any:
    if not isinstance(data, dict) or not isinstance(data.get(name), kind):
        raise ProofRefused(f"the certificate lacks {name}, or it has another form")
    return data[name]
