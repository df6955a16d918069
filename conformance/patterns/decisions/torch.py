"""PyTorch's decisions: those of oneDNN's and QNNPACK's operators."""

from __future__ import annotations

import operator

from tiebreak.conformance.patterns.decisions.kinds import (
    around,
    both,
    input_of,
    input_ratio,
    weighted,
    zero,
    zero_points,
)
from tiebreak.conformance.patterns.decisions.model import RewriteDecision, RewriteSource
from tiebreak.conformance.patterns.decisions.places import DecisionPlace
from tiebreak.golden.patterns.graph import Pattern

FOLDER = "aten/src/ATen/native/quantized/cpu"
QNNPACK = RewriteSource("torch", f"{FOLDER}/qnnpack/src/add.c", "pytorch_qnnp_create_add_nc_q8")
SYMMETRIC = "the weights' zero point is 0"


def signed(pattern: Pattern, place: DecisionPlace) -> bool:
    """Whether the weights are int8, as torch needs them."""
    return weighted(pattern, place) and pattern.pairs[place.inputs[1]] == "int8"


DECISIONS: tuple[RewriteDecision, ...] = (
    zero_points(
        RewriteSource("torch", f"{FOLDER}/qlinear_prepack.cpp", "PackedLinearWeightsOnednn::prepack"),
        f"oneDNN runs if {SYMMETRIC}",
        both(around("MatMul", "Gemm"), signed),
        input_of(1),
        zero,
    ),
    zero_points(
        RewriteSource("torch", f"{FOLDER}/OnednnUtils.h", "should_use_onednn_quant"),
        f"x86 takes oneDNN, not FBGEMM, if {SYMMETRIC}",
        both(around("Conv"), signed),
        input_of(1),
        zero,
    ),
    *(
        input_ratio(
            QNNPACK,
            f"scale {number + 1} by the output's is {words}",
            around("Add", types=("uint8",)),
            number,
            compare,
            limit,
        )
        for number in range(2)
        for words, compare, limit in (
            ("at least 2^-14", operator.ge, 2.0**-14),
            ("below 2^8", operator.lt, 2.0**8),
        )
    ),
)
