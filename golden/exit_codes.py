"""What a command ends with: the contract's table, the same for every command."""

from __future__ import annotations

EXIT_CONFORMS = 0
EXIT_DISCREPANCIES = 1
EXIT_USAGE = 2
EXIT_FAILED = 3
EXIT_NOTHING_RAN = 4


def exit_code(*, discrepancies: bool, failures: bool, ran: bool) -> int:
    """The exit code of what was found. A proven discrepancy outranks a failure, whatever backend failed."""
    if discrepancies:
        return EXIT_DISCREPANCIES
    if failures:
        return EXIT_FAILED
    return EXIT_CONFORMS if ran else EXIT_NOTHING_RAN
