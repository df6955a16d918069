"""`tensorflow.QuantizeAndDequantizeV2`, whose document has the steps to which the later versions refer."""

from __future__ import annotations

from tiebreak.golden.operators import tensorflow_quantize_and_dequantize as later
from tiebreak.golden.operators.model import ALL_REAL_TYPES, Operator
from tiebreak.golden.operators.tensorflow_quantize_and_dequantize_contested import (
    Variant,
    contests,
    range_for_each_slice,
)
from tiebreak.golden.samples import tensorflow_quantize_and_dequantize_v2 as samples

ID = "tensorflow.QuantizeAndDequantizeV2"
DOCUMENT = "TensorFlow 2.21, API documentation of QuantizeAndDequantizeV2"
VARIANT = Variant("TQB", {})

OPERATOR = Operator(
    id=ID,
    prefix="TQB",
    formula=later.FORMULA,
    sources=(DOCUMENT,),
    clauses=later.clauses("TQB", DOCUMENT, DOCUMENT, DOCUMENT, later.rounding_clauses("TQB", DOCUMENT)),
    attributes=later.attributes(),
    forms=(("input", "input_min", "input_max"),),
    outputs=("output",),
    family="fake",
    real_types=ALL_REAL_TYPES,
    quantized_types=(),
    signature=later.signature,
    problems=later.problems,
    measures=lambda attributes: not attributes["range_given"],
    modes_of=later.modes_of,
    mode_clause=later.mode_clause_of("TQB"),
    steps=later.STEPS,
    letters={"formula": "QSFR", "rounding": "M", "placement": "X", "signature": "TH"},
    roles=later.roles("TQB") | {"half-up": "TQB-M2"},
    files=tuple((real, real) for real in ALL_REAL_TYPES),
    samples=samples.samples,
    contested=contests(VARIANT, range_for_each_slice(VARIANT)),
)
