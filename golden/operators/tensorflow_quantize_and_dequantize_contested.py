"""What is contested about QuantizeAndDequantizeV2, V3 and V4: they share TensorFlow's kernel and most of a document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tiebreak.golden.operators.model import Answer, Contest

KERNEL = "TensorFlow 2.21, CPU kernel"


@dataclass(frozen=True)
class Variant:
    """A version of the operator: how it says that a range is measured, the inputs after a range, its tests' suffix."""

    prefix: str
    measured: Mapping[str, Any]
    more: tuple[float, ...] = ()
    tests: str = ""

    def contest(
        self,
        name: str,
        question: str,
        touched: str,
        attributes: dict[str, Any],
        inputs: tuple[Any, ...],
        *answers: Answer,
        real: str = "",
    ) -> Contest:
        clauses = tuple(f"{self.prefix}-{clause}" for clause in touched.split())
        node = {**({"real": real} if real else {}), **({"attributes": attributes} if attributes else {})}
        return Contest(f"{self.prefix}-{name}", question, clauses, node, (*inputs, *self.more), answers)


GIVEN = {"range_given": True}


def contests(version: Variant, *slices: Contest) -> tuple[Contest, ...]:
    """The questions that all versions leave open; `slices` are those about ranges of slices."""
    contest, measured, test = version.contest, dict(version.measured), version.tests
    return (
        contest(
            "DIVIDE",
            "Is the integer divided by scale_factor or multiplied by its inverse?",
            "F3",
            GIVEN,
            ([0.1], -1.0, 1.0),
            Answer("the document", "divided", (0.10236220806837082,), judged=True),
            Answer(KERNEL, "multiplied by the quotient of range and integer, rounded", (0.10236220061779022,)),
        ),
        contest(
            "UPDATED-MINIMUM",
            "To what is input_min updated if input_max determines scale_factor?",
            "S2",
            GIVEN,
            ([-11.0], -10.0, 10.0),
            Answer("the document's algorithm", "-128 / 12.7", (-10.078740119934082,), judged=True),
            Answer(
                "the document's second example", "128.0 / 12.7, a positive number, and calls it -10.07874", "10.07874"
            ),
            Answer(f"{KERNEL} and its unit tests", "-128 / 12.7", (-10.078740119934082,)),
        ),
        contest(
            "SYMMETRIC",
            "Does a measured range grow symmetric about 0?",
            "S1 S2",
            measured,
            ([-0.5, -1.0, 0.8], 0.0, 0.0),
            Answer("the document", "no: -128 / -1.0 = 128 is the largest factor", (-0.5, -1.0, 0.796875), judged=True),
            Answer(
                f"TensorFlow's unit test Convert_1D_tensor_with_int8{test} of early releases",
                "yes: [-1, 1] and 127",
                (-0.4960629940032959, -1.0, 0.8031495809555054),
            ),
            Answer(f"{KERNEL} and today's unit test", "no", (-0.5, -1.0, 0.796875)),
        ),
        contest(
            "ZERO-RANGE",
            "What does an input of zeros give, or a range of 0 alone?",
            "U2",
            measured,
            ([0.0, 0.0], 0.0, 0.0),
            Answer("the document", "nothing: no factor is the largest", "unspecified", judged=True),
            Answer(f"{KERNEL}; unit test Convert_tensor_with_all_0{test}", "zeros", (0.0, 0.0)),
        ),
        *slices,
        contest(
            "MEASURED-CLAMP",
            "Are values below 0 clamped if the integers are unsigned and the range is measured?",
            "F1 S3 R2",
            measured | {"signed_input": False},
            ([-1.0, 1.0], 0.0, 0.0),
            Answer("the document", "yes: input_min is 0, and every value is clamped", (0.0, 1.0), judged=True),
            Answer(KERNEL, "no: a measured range is not clamped to, and the result leaves the integers", (-1.0, 1.0)),
        ),
        contest(
            "UNSIGNED-BELOW-ZERO",
            "What does an unsigned range give whose input_max is not above 0?",
            "S3 U2",
            {"signed_input": False} | GIVEN,
            ([-1.0], -4.0, -2.0),
            Answer("the document", "nothing", "unspecified", judged=True),
            Answer(KERNEL, "zeros", (0.0,)),
        ),
        contest(
            "REVERSED-RANGE",
            "Is input_min > input_max an error?",
            "U3",
            GIVEN,
            ([0.5], 1.0, 0.0),
            Answer("the document", "nothing", "unspecified", judged=True),
            Answer(f"{KERNEL}; unit test Invalid_range_given{test}", "an error", "error"),
        ),
        contest(
            "HALF",
            "Are float16 and bfloat16 inputs allowed?",
            "T1",
            GIVEN,
            ([1.0], -2.0, 1.0),
            Answer("the document", "yes", (1.0,), judged=True),
            Answer(KERNEL, "no kernel is registered for them", "error"),
            real="float16",
        ),
    )


def range_for_each_slice(version: Variant) -> Contest:
    contest = version.contest
    return contest(
        "AXIS-AND-RANGE",
        "May a range be given for each slice?",
        "X1 R1 U7",
        {"axis": 0} | GIVEN,
        ([1.0, 2.0], [-1.0, -2.0], [1.0, 2.0]),
        Answer("the document", "yes", (1.0, 2.0), judged=True),
        Answer(KERNEL, "no: one check wants a scalar, another one value for each slice", "error"),
    )
