"""Plots of discrepancies as inline SVG: where their inputs lie, and how far off their results are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from tiebreak.golden.elements import FLOAT_TYPES

DISTANCE = ("result_type", "distance", "expected", "got")  # the columns that distance_plot needs
WIDTH, HEIGHT, FOOT, HEAD = 420, 150, 34, 24
MOST_BARS = 64
FARTHEST = 12  # distances beyond 2^12 units share the last bar


def exponent_plot(members: pd.DataFrame, judged: Mapping[int, int]) -> str:
    """SVG of the share of elements that deviate, by the input's exponent; empty if fewer than two exponents occur.

    `members` are rows of discrepancies. `judged` counts the judged elements by the exponent of their first operand;
    without it, as in older runs, the bars are counts instead of shares.
    """
    values = members["input"].to_numpy("float64")
    usable = values[np.isfinite(values) & (values != 0)]
    if not len(usable):
        return ""
    exponents = np.frexp(np.abs(usable))[1] - 1
    lowest, highest = int(exponents.min()), int(exponents.max())
    if lowest == highest:
        return ""
    wide = max(1, -(-(highest - lowest + 1) // MOST_BARS))
    counts = np.bincount((exponents - lowest) // wide, minlength=(highest - lowest) // wide + 1)
    tried = [sum(judged.get(lowest + wide * bar + i, 0) for i in range(wide)) for bar in range(len(counts))]
    known = all(count <= of for count, of in zip(counts, tried, strict=True))
    heights = (
        [100 * int(n) / of if of else 0.0 for n, of in zip(counts, tried, strict=True)] if known else counts.tolist()
    )
    first = lowest + wide * int(np.argmax(heights))
    most = power_label(first) if wide == 1 else f"{power_label(first)} to {power_label(first + wide - 1)}"
    detail = f"inputs from {power_label(lowest)} to {power_label(highest)}, most at {most}"
    head = f"{max(heights):,} in the tallest bar{others_of(values)}"
    text = f"{len(usable):,} deviating elements by the exponent of their input"
    if known:
        head = f"{max(heights):.3g} % in the tallest bar, {len(usable):,} of {sum(tried):,} judged{others_of(values)}"
        text = "share that deviates, by the exponent of the input"
    labels: list[tuple[float, str]] = [
        (0, power_label(lowest)),
        (len(heights) - 1, power_label(lowest + wide * (len(heights) - 1))),
    ]
    return bar_chart(detail, text, heights, labels[: len(heights)], "exponents", head)


def others_of(values: np.ndarray) -> str:
    """The inputs that have no exponent (zero, infinite, NaN), counted in words."""
    counts = {"zero": (values == 0).sum(), "infinite": np.isinf(values).sum(), "NaN": np.isnan(values).sum()}
    return "".join(f"; {count:,} {name}" for name, count in counts.items() if count)


def power_label(exponent: int) -> str:
    return f"2^{exponent}"


def distance_plot(members: pd.DataFrame) -> str:
    """SVG of the real results by signed distance in ulp, in bars of doubling width; empty if there are none."""
    real = members["result_type"].isin(FLOAT_TYPES).to_numpy()
    if not real.any():
        return ""
    off, numbers = members["distance"].to_numpy(), members["expected"].notna() & members["got"].notna()
    known = off[real & numbers.to_numpy() & (off != 0)]
    if not len(known):
        return ""
    counts: Counter[int] = Counter()
    for distance, count in zip(*np.unique(known, return_counts=True), strict=True):
        counts[signed_bar(int(distance))] += int(count)
    reach = max(abs(bar) for bar in counts)
    spots = [*range(-reach, 0), *range(1, reach + 1)]
    near = sum(count for bar, count in counts.items() if abs(bar) == 1)
    nan = f"; {real.sum() - len(known):,} a NaN" if real.sum() > len(known) else ""
    text = f"{len(known):,} real results by their distance in ulp"
    labels: list[tuple[float, str]] = [(i, bar_label(bar)) for i, bar in enumerate(spots) if abs(bar) == reach]
    labels += [(reach - 0.5, "±1")] if reach > 1 else []
    detail = f"{near:,} of {len(known):,} are 1 ulp away, the farthest bar is {bar_label(reach)} ulp"
    heights = [counts.get(bar, 0) for bar in spots]
    return bar_chart(detail, text, heights, labels, "distances", f"{max(heights):,} in the tallest bar{nan}")


def signed_bar(distance: int) -> int:
    """The signed number of the bar for a distance: 1 for 1 ulp, 2 for 2, 3 for 3 and 4, 4 for 5 to 8, and so on."""
    bar = min((abs(distance) - 1).bit_length(), FARTHEST) + 1
    return bar if distance > 0 else -bar


def bar_label(bar: int) -> str:
    sign, size = ("−" if bar < 0 else "+"), abs(bar) - 1
    return f"{sign}{1 << size:,}" if size < FARTHEST else f"{sign}more"


def bar_chart(
    detail: str, text: str, heights: Sequence[float], labels: Sequence[tuple[float, str]], kind: str, head: str
) -> str:
    """SVG of a bar chart. Bars that are not 0 are at least 2 units tall.

    `labels` are (bar, text). `head` says how tall the tallest bar is, and what has no bar.
    """
    step, tallest = WIDTH / len(heights), max(heights)
    base, thick = HEIGHT - FOOT, min(step * 0.8, 26)

    def middle(bar: float) -> float:
        return step * (bar + 0.5)

    path = "".join(
        f"M{middle(bar):.0f} {base}V{base - max(2, height / tallest * (base - HEAD)):.0f}"
        for bar, height in enumerate(heights)
        if height
    )
    under = "".join(
        f'<text x="{min(max(middle(bar), 28), WIDTH - 28):.0f}" y="{base + 14}" text-anchor="middle">{name}</text>'
        for bar, name in labels
    )
    return (
        f'<svg class="bars {kind}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><title>{text}</title><desc>{detail}</desc>'
        f'<text x="0" y="12">{head}</text>'
        f'<path stroke-width="{thick:.1f}" d="{path}"/>'
        f'<path class="grid" d="M0 {base}h{WIDTH}"/>{under}'
        f'<text class="label" x="{WIDTH // 2}" y="{HEIGHT - 4}" text-anchor="middle">{text}</text></svg>'
    )
