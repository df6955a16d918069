"""What QuantizeLinear and DequantizeLinear make of inputs with one axis or none: the documents and runtimes disagree.

No two of them give different numbers: where one gives numbers, another gives an error. A runtime that refuses is
unsupported; numbers are judged where Tiebreak takes the case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tiebreak.golden.operators.model import Answer, Contest

REFERENCE, RUNTIME, OPENVINO = "ONNX's reference evaluator 1.23.2", "ONNX Runtime 1.31.1", "OpenVINO 2026.4.1"
ALL = f"{REFERENCE}, {RUNTIME}, {OPENVINO}"
X = (4, 8, 12)


@dataclass(frozen=True)
class Told:
    """Which document of an operator says what: `own` its description, `rank` the sentence about inputs of rank 1."""

    prefix: str
    letters: str
    own: str
    axis: str
    rank: str
    scale: str
    quantizes: bool
    opset: int = 21

    def contest(
        self, name: str, question: str, clauses: Sequence[str], inputs: tuple[Any, ...], *answers: Answer, **given: int
    ) -> Contest:
        opset = 21 if "block_size" in given else self.opset  # the first with blocks
        node = {"real": "float32", "quantized": "uint8", "opset": opset}
        touched = tuple(f"{self.letters}-{clause}" for clause in clauses)
        return Contest(self.prefix + name, question, touched, node | {"attributes": given}, inputs, answers)

    def gives(self, *scales: float) -> tuple[float, ...]:
        """The results of X, or of as many of its elements as there are scales, with these scales and zero point 0."""
        pairs = zip(X, scales, strict=False)
        return tuple(float(x / scale if self.quantizes else x * scale) for x, scale in pairs)


QUANTIZE = Told(
    "onnx-",
    "ONQ",
    own="ONNX operator schema, QuantizeLinear-21, granularities",
    axis="ONNX operator schema, QuantizeLinear-13 to -28, axis",
    rank="ONNX operator schema, QuantizeLinear-21 to -28, axis",
    scale="y_scale",
    quantizes=True,
)
DEQUANTIZE = Told(
    "onnx-dequantize-",
    "OND",
    own="ONNX operator schema, DequantizeLinear-21, description",
    axis="ONNX operator schema, DequantizeLinear-13 to -28, axis",
    rank="ONNX operator schema, DequantizeLinear-19 alone, axis",
    scale="x_scale",
    quantizes=False,
    opset=19,
)


def rank_one(told: Told) -> tuple[Contest, ...]:
    """The questions about one operator."""
    by_scale = (a_scale_each, one_element, one_element_on_an_axis, no_axis_named, no_axis_at_all)
    return tuple(make(told) for make in (*by_scale, scalar_zero_point, one_block))


def a_scale_each(told: Told) -> Contest:
    return told.contest(
        "rank-1", "May an x of rank 1 have a scale for each element?", ("G2", "A1"),
        (list(X), [1.0, 2.0, 4.0], [0, 0, 0]),
        Answer(f"{told.own}; {ALL}", "a 1-D scale is per axis, whatever x's rank", told.gives(1, 2, 4), judged=True),
        Answer(told.rank, "with rank 1, per-tensor quantization is applied", f"{told.scale} must be a scalar"),
        axis=0,
    )  # fmt: skip


def one_element(told: Told) -> Contest:
    return told.contest(
        "one-element-scale", "May a 1-D x without an axis have a scale of shape [1]?", ("G1", "A1"),
        (list(X), [2.0], [0]),
        Answer(told.own, "per tensor needs a scalar", "an error"),
        Answer(told.axis, "the default, axis 1, is outside the accepted range, -1 to 0", "an error"),
        Answer(
            f"{told.rank}; asked in onnx#6067; {ALL}; ONNX Runtime's QuantizeLinear_With_Zero_Dim1",
            "with rank 1 per-tensor quantization is applied; axis does not matter then, nor does its default",
            told.gives(2, 2, 2),
            judged=True,
        ),
    )  # fmt: skip


def one_element_on_an_axis(told: Told) -> Contest:
    return told.contest(
        "one-element-scale-on-axis-0", "May a 1-D x of several elements have a scale of shape [1] on axis 0?",
        ("G2", "A1"), (list(X), [2.0], [0]),
        Answer(told.own, "a 1-D scale has the length of the axis that is named", "an error", judged=True),
        Answer(told.rank, "with rank 1 per-tensor quantization is applied, whatever axis says", told.gives(2, 2, 2)),
        Answer(ALL, "a scale of one element is for all, also with axis 2 or -2", told.gives(2, 2, 2)),
        axis=0,
    )  # fmt: skip


def no_axis_named(told: Told) -> Contest:
    return told.contest(
        "rank-1-default-axis", "Is a scale for each element of a 1-D x along its only axis, if none is named?",
        ("G2", "A1"), (list(X), [1.0, 2.0, 4.0], [0, 0, 0]),
        Answer(told.axis, "the default, axis 1, is outside the accepted range, -1 to 0", "an error", judged=True),
        Answer(told.rank, "with rank 1 per-tensor quantization is applied: needs a scalar", "an error"),
        Answer(ALL, "axis 1 is out of range; so too with a block_size", "an error"),
        Answer("ONNX 1.23.2, full model check", "the model is valid", "no error"),
        Answer("a reader to whom rank 1 renders the axis unnecessary", "there is but one axis", told.gives(1, 2, 4)),
    )  # fmt: skip


def no_axis_at_all(told: Told) -> Contest:
    shape = "" if told.quantizes else ", to which OpenVINO gives the shape [1]"
    return told.contest(
        "rank-0-one-element-scale", "May an x of rank 0 have a scale of shape [1]?", ("G1", "S1"), (X[0], [2.0], [0]),
        Answer(told.own, "per tensor needs a scalar, and x has no axis", "an error", judged=True),
        Answer(ALL, f"a scale of one element is for all{shape}", told.gives(2)),
    )  # fmt: skip


def scalar_zero_point(told: Told) -> Contest:
    return told.contest(
        "scalar-zero-point", "May the zero point be a scalar beside a scale of shape [1]?", ("G3",),
        (list(X), [2.0], 0),
        Answer(told.own, "the zero point has the shape of the scale", "an error", judged=True),
        Answer(ALL, "one element is one element", told.gives(2, 2, 2)),
    )  # fmt: skip


def one_block(told: Told) -> Contest:
    return told.contest(
        "one-block", "Is one block, as long as a 1-D x, blocked quantization?", ("B1", "G1"),
        (list(X), [2.0], [0]),
        Answer(
            f"{told.own}; {REFERENCE}, {OPENVINO}",
            "the scale has x's shape but for axis, where it has ceil(3 / 3) elements",
            told.gives(2, 2, 2),
            judged=True,
        ),
        Answer(RUNTIME, "a scale of one element is per tensor, for which block_size must be 0", "an error"),
        axis=0, block_size=3,
    )  # fmt: skip
