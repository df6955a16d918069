"""`tensorflow.QuantizeAndDequantizeV3`: num_bits is an input, and there is no round_mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiebreak.golden.operators import tensorflow_quantize_and_dequantize as other
from tiebreak.golden.operators.model import ALL_REAL_TYPES, Answer, Clause, Contest, Operator, Types
from tiebreak.golden.operators.tensorflow_quantize_and_dequantize_contested import KERNEL, Variant, contests
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.samples import tensorflow_quantize_and_dequantize_v3 as samples

ID = "tensorflow.QuantizeAndDequantizeV3"
DOCUMENT = "TensorFlow 2.21, API documentation of QuantizeAndDequantizeV3"
ALGORITHM = "TensorFlow 2.21, API documentation of QuantizeAndDequantizeV2 (to which V3 refers)"
VARIANT = Variant("TQC", {"range_given": False}, (8.0,), "_V3")
ROUNDING = Clause(
    "TQC-M1",
    "Ties go to the even integer: V3 is V2 but for num_bits and has no round_mode, and V2 without one does so.",
    f"{ALGORITHM}, round_mode",
)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (types.real, types.real, types.real, "int32"), (types.real,)


WIDEST = Contest(
    "TQC-WIDEST",
    "How many bits may signed integers have?",
    ("TQC-U5", "TQC-N1"),
    {"real": "float64"},
    ([0.75], -1.0, 1.0, 62.0),
    (
        Answer("the document", "any number: it names no limit", (0.75,), judged=True),
        Answer(KERNEL, "61 at most; others are an error", "error"),
        Answer("TensorFlow 2.21, XLA", "any number: it does not look", (0.75,)),
    ),
)

OPERATOR = Operator(
    id=ID,
    prefix="TQC",
    formula=other.FORMULA,
    sources=(DOCUMENT, ALGORITHM),
    clauses=(
        Clause(
            "TQC-E1",
            "The values are those of QuantizeAndDequantizeV2 with this number of bits.",
            f"{DOCUMENT}: almost identical to QuantizeAndDequantizeV2, except that num_bits is a tensor",
        ),
        *other.clauses("TQC", DOCUMENT, ALGORITHM, ALGORITHM, (ROUNDING,)),
        Clause(
            "TQC-N1",
            "num_bits is a tensor, an int32: its value can change from call to call.",
            f"{DOCUMENT}: num_bits is a tensor, so its value can change during training",
        ),
        Clause(
            "TQC-U8",
            "The shape of num_bits. One number for the whole input is meant, a scalar.",
            f"{DOCUMENT}: silent",
            unspecified=True,
        ),
    ),
    attributes=other.shared_attributes(range_given=True),
    forms=(("input", "input_min", "input_max", "num_bits"),),
    outputs=("output",),
    family="fake",
    real_types=ALL_REAL_TYPES,
    quantized_types=(),
    signature=signature,
    problems=other.problems_of_width,
    measures=lambda attributes: not attributes["range_given"],
    modes_of=lambda attributes: (EVEN,),
    mode_clause=lambda mode: "TQC-M1",
    steps=other.STEPS,
    letters={"formula": "EQSFR", "rounding": "M", "placement": "X", "signature": "THN"},
    roles=other.roles("TQC") | {"version": "TQC-E1", "num-bits": "TQC-N1", "num-bits-shape": "TQC-U8"},
    files=tuple((real, real) for real in ALL_REAL_TYPES),
    samples=samples.samples,
    contested=(*contests(VARIANT), WIDEST),
)
