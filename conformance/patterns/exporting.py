"""A pattern as an ONNX file, with scales and zero points that a user names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from tiebreak.adapters.patterns.onnx_graph import onnx_pattern, tensors
from tiebreak.conformance.patterns.operands import constant
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.patterns.graph import Operand, Pattern, ScalePair
from tiebreak.golden.problem import Array
from tiebreak.golden.untrusted_text import printable
from tiebreak.reports.records import write_aside

DEFAULT_SCALE = "0.1"


def pairs_from(pattern: Pattern, texts: Sequence[str]) -> dict[str, ScalePair]:
    """The pairs that texts such as `s1=0.02@128` give; others are 0.1 and 0. InvalidInput."""
    found = {name: pair_from(DEFAULT_SCALE, "0", kind) for name, kind in pattern.pairs.items()}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name not in pattern.pairs:
            known = ", ".join(pattern.pairs)
            raise InvalidInput(
                f"--scale {printable(text, 80)}: write NAME=SCALE or NAME=SCALE@ZERO_POINT; names: {known}"
            )
        scale, at, zero_point = value.partition("@")
        found[name] = pair_from(scale, zero_point if at else "0", pattern.pairs[name])
    return found


def pair_from(scale: str, zero_point: str, kind: str) -> ScalePair:
    ends = INTEGER_TYPES[kind]
    try:
        number, offset = np.float32(scale), int(zero_point)
    except (ValueError, OverflowError):
        number, offset = np.float32(0), 0
    if not (np.isfinite(number) and number > 0) or not ends.lowest <= offset <= ends.highest:
        raise InvalidInput(
            f"{printable(scale, 40)}@{printable(zero_point, 40)}: a scale is positive and finite, "
            f"a zero point of {kind} from {ends.lowest} to {ends.highest}"
        )
    return ScalePair(number, offset, kind)


def export_pattern(pattern: Pattern, pairs: Mapping[str, ScalePair], rows: int, path: Path) -> None:
    """Write the model. InvalidInput if ONNX has no such graph."""
    try:
        model = onnx_pattern(pattern, pairs, tensors(pattern, dict(placeholders(pattern, rows))))
    except Unsupported as reason:
        raise InvalidInput(str(reason)) from None
    write_aside(path, lambda aside: aside.write_bytes(model.SerializeToString()))


def placeholders(pattern: Pattern, rows: int) -> Iterator[tuple[str, Array]]:
    """Operands of the right shapes; constants as a run has them."""
    for operand in pattern.operands:
        yield operand.name, constant(operand) if operand.constant else empty(operand, rows)


def empty(operand: Operand, rows: int) -> Array:
    return np.zeros((rows, operand.width), operand.type)
