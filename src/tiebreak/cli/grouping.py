"""A group of commands whose first command needs no name."""

from __future__ import annotations

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

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Those of the default; the others stand below, as commands."""
        return next(iter(self.commands.values())).collect_usage_pieces(ctx)
