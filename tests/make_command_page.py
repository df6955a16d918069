"""Writes docs/commands.md from the commands' own --help: python tests/make_command_page.py."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import click

from tiebreak.cli import main

PAGE = Path(__file__).parent.parent / "docs" / "commands.md"
HEAD = """# Commands

What each command's `--help` says. [Exit codes](exit-codes.md) are the same in every command. An option with "repeat
for more" may be given several times; any other option once. Every command also has `--help`, or `-h`.
"""
KEPT = "\b\n"  # click's mark of a paragraph whose lines stay


def command_page() -> str:
    return "\n".join([HEAD, *(line for name, command in commands() for line in section(name, command))])


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command with the words that call it; a group's commands after the group."""
    for name, command in sorted(main.commands.items()):
        yield f"tiebreak {name}", command
        if isinstance(command, click.Group):
            for below, subcommand in sorted(command.commands.items()):
                yield f"tiebreak {name} {below}", subcommand


def section(name: str, command: click.Command) -> list[str]:
    context = click.Context(command, info_name=name)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    said = "\n\n".join(map(paragraph, inspect.cleandoc(command.help or "").split("\n\n")))
    example = (command.epilog or "").replace("\b\n", "").partition("Example:")[2].strip()
    lines = [f"## {name}", "", f"`{usage}`", "", said, ""]
    options = [param for param in command.params if isinstance(param, click.Option)]
    rows = [record for param in options if (record := param.get_help_record(context))]
    if rows:
        lines += ["| option | meaning |", "| --- | --- |", *(f"| `{cell(o)}` | {cell(text)} |" for o, text in rows), ""]
    return [*lines, *(["```sh", example, "```", ""] if example else [])]


def paragraph(text: str) -> str:
    """As it is; a code block where --help keeps the lines."""
    return f"```text\n{text.removeprefix(KEPT)}\n```" if text.startswith(KEPT) else text


def cell(text: str) -> str:
    return text.replace("  [", " [").replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(command_page(), encoding="utf-8")
