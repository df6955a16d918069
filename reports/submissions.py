"""What `tiebreak submit check` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from tiebreak.golden.untrusted_text import one_line

LONGEST = 400


def print_checked(found: Mapping[str, Any]) -> None:
    """Whose run it is, then a line for each thing that was checked."""
    backends = ", ".join(f"{one['name']} {one['version']}" for one in found["backends"])
    said = f"{backends}; level {found['level']}, Tiebreak {found['tiebreak']}, {found['created']}"
    click.echo(one_line(f"{found['file']}: {said}", LONGEST))
    width = max(map(len, found["checked"]))
    for name, text in found["checked"].items():
        click.echo(f"  {name:{width}}  {one_line(text, LONGEST)}")
    for name, one in found["certificates"].items():
        click.echo(one_line(f"{name}: {one['format']}, looked at for {one['seconds']} s", LONGEST))
        for text in one["checked"]:
            click.echo(f"  {'':{width}}  {one_line(text, LONGEST)}")
    click.echo("nothing in it contradicts itself, the golden vectors or the arithmetic")
