"""A group of commands whose first command needs no name."""

from __future__ import annotations

from typing import Any

import click


class WithDefault(click.Group):
    """`tiebreak GROUP WORDS` is `tiebreak GROUP DEFAULT WORDS` unless the first word names another command.

    The default is the command that was added first.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands]

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        default = next(iter(self.commands.values()))
        formatter.write_usage(ctx.command_path, " ".join(self.pieces_of(default, ctx)))
        formatter.write_usage(ctx.command_path, "COMMAND …", "       ")

    def pieces_of(self, command: click.Command, ctx: click.Context) -> list[Any]:
        return command.collect_usage_pieces(ctx)
