"""The matrix backend x operator: one short cell for all cases of both."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tiebreak.golden.operator_names import short_name
from tiebreak.golden.verdicts import FAILED, HAZARD
from tiebreak.reports.libraries import equal_configurations, folded_name

Counts = Mapping[str, int]  # verdict to number of cases
Cells = Mapping[tuple[str, str], Counts]  # by backend and operator
Rows = Mapping[str, str]  # a row's label to the backend whose cells it has

MARKS = "✗ deviate ⇄ hazard ≋ other order ≈ as written ✓ exact ? unspecified ∅ unsupported ! failed"


def compact(number: int) -> str:
    """A number of cases in at most four characters below ten millions."""
    if number < 10_000:
        return str(number)
    return f"{number // 1000}k" if number < 1_000_000 else f"{number // 1_000_000}M"


def mark_of(found: Counts) -> tuple[str, int, str]:
    """The worst that is true of the cases: its mark, the number of such cases, and a colour."""
    failed = sum(found.get(verdict, 0) for verdict in FAILED)
    conform = found.get("exact", 0) + found.get("working-precision", 0)
    if found.get("deviates"):
        return "✗", found["deviates"], "red"
    if failed:
        return "!", failed, "magenta"
    if found.get(HAZARD):
        return "⇄", found[HAZARD], "cyan"
    if found.get("other-order"):
        return "≋", found["other-order"], "cyan"
    if conform:
        return ("≈", conform, "cyan") if found.get("working-precision") else ("✓", conform, "green")
    if found.get("unspecified"):
        return "?", found["unspecified"], "yellow"
    return ("∅", 0, "dim") if found.get("unsupported") else ("", 0, "dim")


def plain_cell(found: Counts) -> str:
    """The mark and the number of cases that it stands for; a failure beside deviations is a mark at the end."""
    mark, number, _ = mark_of(found)
    beside = "!" if mark and mark in "✗⇄" and any(found.get(verdict) for verdict in FAILED) else ""
    return f"{mark} {compact(number)}{beside}" if number else mark


def initials(operator: str) -> str:
    """FakeQuantWithMinMaxVars as FQV, QuantizeV2 as QV2, RESCALE as RSCL."""
    name = short_name(operator)
    if name.isupper():
        return re.sub("[AEIOU]", "", name)
    words = re.findall(r"[A-Z][a-z]*[0-9]*|[a-z]+", name)
    words = [word for word in words if word not in ("With", "And", "Per", "Min", "Max")]
    return "".join(word[0] + re.sub("[^0-9]", "", word) for word in words) or operator


def folded_rows(info: Mapping[str, Any], cells: Cells) -> Rows:
    """The rows of a finished run: configurations of one library that gave equal bits share one, which says so."""
    return {folded_label(group): group[0] for group in folded_groups(info, cells)}


def folded_groups(info: Mapping[str, Any], cells: Cells) -> list[list[str]]:
    """The backends that ran, those of one library that gave equal bits together."""
    ran = {backend for backend, _ in cells}
    by_backend = {name: {op: dict(found) for (b, op), found in cells.items() if b == name} for name in ran}
    groups = [[name for name in group if name in ran] for group in equal_configurations(info, by_backend)]
    return [group for group in groups if group]


def folded_label(group: Sequence[str]) -> str:
    return folded_name(group) + (" (equal bits)" if group[1:] else "")
