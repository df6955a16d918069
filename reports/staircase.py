"""The rounding staircase around one discrepancy, as inline SVG: the expected and the actual point."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.formulas.ngraph_quantize import quotient
from tiebreak.golden.rounding import HALF, ROUND_MODES, is_nearest

WIDTH, HEIGHT, MARGIN = 420, 220, 36
LARGEST = 10**6  # beyond it the labels would not fit
REACH = 2  # integers shown on either side


def staircase(row: dict[str, Any]) -> str:
    """SVG for a discrepancy row. Empty unless the result is a rounded quotient: finite, not huge, not saturated."""
    if row["round_mode"] not in ROUND_MODES or math.isnan(row["boundary_ulp"]) or row["input_type"] not in FLOAT_TYPES:
        return ""
    real = FLOAT_TYPES[row["input_type"]]
    q = quotient(int(row["input_bits"]), int(row["scale_bits"]), real, working=False)
    expected, got = int(row["expected"]) - row["zero_point"], int(row["got"]) - row["zero_point"]
    if not isinstance(q, Fraction) or abs(q) > LARGEST or ROUND_MODES[row["round_mode"]](q) != expected:
        return ""
    return staircase_svg(q, row["round_mode"], expected, got)


def staircase_svg(q: Fraction, mode: str, expected: int, got: int) -> str:
    """The SVG around quotient q: steps, the expected point (ring) and the actual point (cross)."""
    middle = round(q - HALF) if is_nearest(mode) else math.floor(q)
    lowest, highest = middle - REACH + 1, middle + REACH

    def at(value: Fraction | float, result: float) -> tuple[float, float]:
        across = MARGIN + (float(value) - lowest + 0.5) / (highest - lowest + 1) * (WIDTH - 2 * MARGIN)
        down = HEIGHT - MARGIN - (result - lowest) / (highest - lowest) * (HEIGHT - 2 * MARGIN)
        return across, down

    parts = [axis_lines(lowest, highest, at), step_lines(mode, lowest, highest, at)]
    x, y = at(q, min(max(expected, lowest), highest))
    parts.append(f'<circle class="want" cx="{x:.1f}" cy="{y:.1f}" r="6"/>')
    x, y = at(q, min(max(got, lowest), highest))
    parts.append(f'<path class="got" d="M{x - 5:.1f} {y - 5:.1f}l10 10m0 -10l-10 10"/>')
    beyond = "" if lowest <= got <= highest else f" (off the picture: {got})"
    text = f"expected {expected}, got {got}{beyond}, before the zero point; quotient {float(q):.9g}"
    label = f'<text class="label" x="{MARGIN}" y="14">○ expected  × got{beyond}</text>'
    return (
        f'<svg class="staircase" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><title>Near this result</title>'
        f"<desc>{text}</desc>{''.join(parts)}{label}</svg>"
    )


def axis_lines(lowest: int, highest: int, at: Any) -> str:
    """Axes with integer labels: the quotient is horizontal, the rounded quotient vertical."""
    lines, parts = "", []
    for n in range(lowest, highest + 1):
        (x, _), (_, y) = at(n, lowest), at(lowest, n)
        lines += f"M{MARGIN} {y:.1f}H{WIDTH - MARGIN}"
        parts.append(f'<text x="{MARGIN - 6}" y="{y + 4:.1f}" text-anchor="end">{n}</text>')
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - MARGIN + 20}" text-anchor="middle">{n}</text>')
    axis = f'<text x="{WIDTH / 2}" y="{HEIGHT - 2}" text-anchor="middle">input / scale</text>'
    return f'<path class="grid" d="{lines}"/>' + "".join(parts) + axis


def step_lines(mode: str, lowest: int, highest: int, at: Any) -> str:
    """The mode's steps, computed from its definition at every 1/16, which includes the boundaries."""
    round_to = ROUND_MODES[mode]
    fine = [Fraction(n, 16) for n in range(16 * lowest - 7, 16 * highest + 8)]
    lines, ends = "", []
    for n in range(lowest, highest + 1):
        on = [q for q in fine if round_to(q) == n]
        if not on:
            continue
        (x1, y), (x2, _) = at(step_end(on[0], -1), n), at(step_end(on[-1], 1), n)
        lines += f"M{x1:.1f} {y:.1f}H{x2:.1f}"
        for end in (on[0], on[-1]):
            if (2 * end).denominator == 1 and end != n:
                x, y = at(end, n)
                ends.append(f'<circle class="end" cx="{x:.1f}" cy="{y:.1f}" r="3"/>')
    return f'<path class="step" d="{lines}"/>' + "".join(ends)


def step_end(q: Fraction, direction: int) -> Fraction:
    """The end of a step, moved to the boundary that the step reaches without including it."""
    return q if (2 * q).denominator == 1 else q + Fraction(direction, 16)
