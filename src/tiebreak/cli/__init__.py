"""The command line. Commands import what they need when they run, so that --help is quick."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from tiebreak.cli import (
    auditing,
    authorities,
    backends,
    bisecting,
    gating,
    histories,
    patterns,
    proving,
    reading,
    running,
    site,
    streams,
    submitting,
    sweeping,
    tables,
    vectors,
)
from tiebreak.golden.errors import InvalidInput, TiebreakError
from tiebreak.golden.exit_codes import EXIT_FAILED, EXIT_USAGE
from tiebreak.golden.untrusted_text import one_line
from tiebreak.version import __version__

EXIT_CODES = """\b
Exit codes, the same in every command:
  0  conforms, or only known discrepancies
  1  new discrepancies, or a waiver that no longer matches
  2  wrong usage or bad input
  3  a backend or the machinery failed, or standard output is full or closed
  4  nothing ran"""


LONGEST_LINE, LONGEST_WORD = 2000, 400  # characters of an error
POSIX_MODULES = ("fcntl", "resource")  # of the standard library: locks of files, limits of processes


class OneLineErrors(click.Group):
    """Reports each error as one line on standard error and ends with its exit code."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        if sys.stdout is not sys.__stdout__:  # called by a test or another program
            return super().main(*args, **kwargs)
        streams.open_all()
        output = streams.keep_output()
        try:
            super().main(*args, **kwargs)
        except SystemExit as ended:
            problem = streams.lost_output(output)
            if problem:
                fail(problem, ended.code if isinstance(ended.code, int) and ended.code else EXIT_FAILED)
            raise

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        try:
            return super().make_context(*args, **kwargs)
        except click.exceptions.NoArgsIsHelpError as asked:
            show_help(asked)
        except click.UsageError as error:
            fail(usage_text(error), EXIT_USAGE)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            check_here()
            return super().invoke(ctx)
        except click.exceptions.NoArgsIsHelpError as asked:
            show_help(asked)
        except click.UsageError as error:
            fail(usage_text(error), EXIT_USAGE)
        except TiebreakError as error:
            fail(str(error), error.exit_code)
        except KeyboardInterrupt:
            fail("interrupted; nothing was written", EXIT_FAILED)
        except (click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if "TIEBREAK_DEBUG" in os.environ:
                raise
            if isinstance(error, ModuleNotFoundError) and error.name in POSIX_MODULES:
                needs = f"needs Linux or macOS (Python's {error.name}); on Windows, use WSL"
                fail(f"{ctx.invoked_subcommand} {needs}", EXIT_FAILED)
            if isinstance(error, OSError) and error.filename is not None:  # the system refuses access to a path
                fail(f"{error.filename!s}: {error.strerror or error}", EXIT_USAGE)
            kind = type(error).__name__
            fail(f"internal error: {kind}: {error}; TIEBREAK_DEBUG=1 shows where; please report it", EXIT_FAILED)


def check_here() -> None:
    """Raise InvalidInput if the current folder was removed: then no relative path works."""
    try:
        Path.cwd()
    except OSError:
        raise InvalidInput("the current folder is gone: go to another one, then type it again") from None


def usage_text(error: click.UsageError) -> str:
    """What was wrong; of words that a command has no place for, what it takes."""
    text = error.format_message()
    if error.ctx is None or not text.startswith("Got unexpected extra argument"):
        return text
    return f"{text}. {error.ctx.command.get_usage(error.ctx)}"


def show_help(asked: click.exceptions.NoArgsIsHelpError) -> NoReturn:
    """A group of commands without one: its help, on standard error."""
    asked.show()
    sys.exit(EXIT_USAGE)


def fail(message: str, code: int) -> NoReturn:
    words = (word if len(word) <= LONGEST_WORD else f"{word[: LONGEST_WORD // 4]}…" for word in message.split())
    streams.tell(f"tiebreak: {one_line(' '.join(words), LONGEST_LINE)}")
    sys.exit(code)


@click.group(cls=OneLineErrors, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tiebreak")
def main() -> None:
    """Conformance suite and differential verifier for tensor quantization operators.

    \b
    Start with:  tiebreak run -o RUN_DIR
    """


for command in (
    running.run,
    sweeping.sweep,
    auditing.audit,
    authorities.authorities,
    reading.report,
    backends.backends,
    bisecting.bisect,
    patterns.pattern,
    proving.prove,
    backends.new_backend,
    backends.doctor,
    reading.operators,
    reading.coverage,
    reading.verify,
    reading.repro,
    reading.findings,
    vectors.vectors,
    tables.tables,
    gating.compare,
    gating.gate,
    histories.history,
    submitting.submit,
    site.site,
):
    main.add_command(command)
