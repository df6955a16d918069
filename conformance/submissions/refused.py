"""What `tiebreak submit check` raises for a file that can be read but does not say the truth."""

from __future__ import annotations

from tiebreak.golden.errors import TiebreakError
from tiebreak.golden.exit_codes import EXIT_DISCREPANCIES


class Refused(TiebreakError):  # noqa: N818 - says what happened
    """A submission contradicts itself, the golden vectors or the arithmetic; the message says where."""

    exit_code = EXIT_DISCREPANCIES


def require(truth: object, why: str) -> None:
    """Raise Refused, and why, unless something is true."""
    if not truth:
        raise Refused(why)
