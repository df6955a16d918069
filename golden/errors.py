"""The exceptions that carry a message for the person who typed, and the exit code that belongs to each."""

from __future__ import annotations

from tiebreak.golden.exit_codes import EXIT_DISCREPANCIES, EXIT_FAILED, EXIT_USAGE


class TiebreakError(Exception):
    """A failure with a one-line explanation; `exit_code` is what the command line ends with."""

    exit_code = EXIT_FAILED


class InvalidInput(TiebreakError):  # noqa: N818
    """Something that the user gave is wrong: a name, an attribute, a shape, a file."""

    exit_code = EXIT_USAGE


class DamagedFile(InvalidInput):
    """A vector or run file that cannot be trusted; the message begins with its name."""


class MachineryFailed(TiebreakError):  # noqa: N818
    """Tiebreak's own parts disagree or a backend could not be started."""


class NotMonotone(TiebreakError):  # noqa: N818 - says what is the matter
    """A greater input has a smaller result, so that one of the two is wrong and thresholds can't stand for the rest."""

    exit_code = EXIT_DISCREPANCIES


class NoDevice(MachineryFailed):
    """A backend's library is there, but not the device that it is to run on."""


class Unsupported(Exception):  # noqa: N818 - the public name in the backend protocol
    """Raised by a backend's compile() or run() for what it cannot do; its text is shown as the reason."""


class MissingType(Unsupported):
    """An element type that this process can't hold: ml_dtypes is too old or not there, as in some environments."""
