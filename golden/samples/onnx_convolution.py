"""What the golden vectors of QLinearConv and ConvInteger share: shapes of windows, and integers without a pattern."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tiebreak.golden.elements import INTEGER_TYPES

BYTES = ("uint8", "int8")


@dataclass(frozen=True)
class Window:
    """The shapes of x and w with the attributes of a node, and what they show."""

    name: str
    x: tuple[int, ...]
    w: tuple[int, ...]
    flags: tuple[str, ...]
    roles: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)


def padded(name: str, x: tuple[int, ...], w: tuple[int, ...], **attributes: Any) -> Window:
    return Window(f"pads-{name}", x, w, ("Padding",), ("padding", "pads-alone"), attributes)


def same(name: str, x: tuple[int, ...], w: tuple[int, ...], way: str, **attributes: Any) -> Window:
    given = {"auto_pad": f"SAME_{way}", **attributes}
    return Window(f"same-{way.lower()}-{name}", x, w, ("Padding",), ("padding", "same"), given)


def grouped(name: str, x: tuple[int, ...], w: tuple[int, ...], group: int, **attributes: Any) -> Window:
    return Window(f"groups-{name}", x, w, ("Groups",), ("groups",), {"group": group, **attributes})


def stepping(name: str, x: tuple[int, ...], w: tuple[int, ...], *strides: int, **attributes: Any) -> Window:
    return Window(f"strides-{name}", x, w, ("Stride",), ("strides",), {"strides": strides, **attributes})


def dilated(name: str, x: tuple[int, ...], w: tuple[int, ...], *dilations: int, **attributes: Any) -> Window:
    return Window(f"dilations-{name}", x, w, ("Dilation",), ("dilations",), {"dilations": dilations, **attributes})


def plain(name: str, x: tuple[int, ...], w: tuple[int, ...], **attributes: Any) -> Window:
    return Window(f"windows-{name}", x, w, ("Shape",), ("kernel-shape",) if attributes else (), attributes)


LAYOUTS = (
    plain("1d", (1, 1, 7), (1, 1, 3)),
    plain("2d", (1, 1, 5, 4), (1, 1, 3, 2)),
    plain("3d", (1, 1, 3, 3, 2), (2, 1, 2, 2, 2)),
    plain("whole-image", (1, 2, 3, 3), (3, 2, 3, 3)),
    plain("batch", (3, 2, 4), (2, 2, 2)),
    plain("many-channels", (2, 5, 3, 3), (4, 5, 2, 2)),
    plain("named-kernel", (1, 1, 4, 4), (1, 1, 2, 3), kernel_shape=(2, 3)),
    plain("one-pixel-images", (2, 9, 1, 1), (17, 9, 1, 1)),
    padded("1d", (1, 1, 5), (1, 1, 3), pads=(1, 1)),
    padded("2d", (1, 1, 4, 4), (1, 1, 3, 3), pads=(1, 1, 1, 1)),
    padded("begin-alone", (1, 2, 3, 4), (2, 2, 2, 3), pads=(1, 2, 0, 0)),
    padded("end-alone", (1, 2, 3, 4), (2, 2, 2, 3), pads=(0, 0, 1, 2)),
    padded("uneven", (1, 1, 3, 4), (1, 1, 3, 3), pads=(0, 1, 2, 1)),
    padded("wider-than-kernel", (1, 1, 2), (1, 1, 2), pads=(3, 2)),
    padded("3d", (1, 1, 2, 2, 2), (1, 1, 2, 2, 2), pads=(1, 0, 1, 0, 1, 0)),
    padded("with-strides", (1, 1, 5, 5), (1, 1, 3, 3), pads=(1, 1, 1, 1), strides=(2, 2)),
    padded("with-dilations", (1, 1, 5, 5), (1, 1, 3, 2), pads=(2, 1, 2, 1), dilations=(2, 3)),
    Window("valid", (1, 1, 5, 5), (1, 1, 2, 3), ("Shape",), ("valid",), {"auto_pad": "VALID"}),
    *(same("even-kernel", (1, 1, 5, 6), (1, 1, 2, 4), way) for way in ("UPPER", "LOWER")),
    *(same("odd-kernel", (1, 2, 4, 5), (1, 2, 3, 3), way) for way in ("UPPER", "LOWER")),
    *(same("strides", (1, 1, 6, 7), (1, 1, 3, 3), way, strides=(2, 3)) for way in ("UPPER", "LOWER")),
    *(same("dilations", (1, 1, 5, 6), (1, 1, 2, 2), way, dilations=(3, 1)) for way in ("UPPER", "LOWER")),
    stepping("1d", (1, 1, 9), (1, 1, 2), 3),
    stepping("2d", (1, 2, 5, 6), (2, 2, 2, 2), 2, 3),
    stepping("not-to-the-end", (1, 1, 6, 6), (1, 1, 2, 3), 3, 2),
    dilated("1d", (1, 1, 9), (1, 1, 3), 3),
    dilated("2d", (1, 2, 6, 7), (2, 2, 2, 3), 2, 3),
    dilated("with-strides", (1, 1, 8, 7), (1, 1, 2, 2), 3, 2, strides=(2, 3)),
    grouped("two", (1, 4, 3, 3), (6, 2, 2, 2), 2),
    grouped("depthwise", (1, 5, 4, 4), (5, 1, 3, 3), 5),
    grouped("depthwise-of-16", (1, 16, 5, 5), (16, 1, 3, 3), 16, pads=(1, 1, 1, 1)),
    grouped("multiplied", (2, 3, 4), (6, 1, 2), 3),
)  # fmt: skip


def every_code(kind: str) -> list[int]:
    own = INTEGER_TYPES[kind]
    return list(range(own.lowest, own.highest + 1))


def mixed(kind: str, count: int) -> list[int]:
    """Integers of a type without a pattern, both ends among them."""
    own = INTEGER_TYPES[kind]
    numbers = [(n * n * 7919 + n * 104_729 + 12_345) >> 3 for n in range(count)]
    codes = [own.lowest + number % 256 for number in numbers]
    return [own.lowest, own.highest, *codes][:count] if count > 4 else codes
