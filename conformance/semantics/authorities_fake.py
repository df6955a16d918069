"""What documents say of FakeQuantize. Each sentence is ours; each fact is in the text at `url`."""

from __future__ import annotations

from tiebreak.conformance.semantics.documents import OWN, STEPS, Allowed, Authority, ValueNamed
from tiebreak.conformance.semantics.precisions import EXACT
from tiebreak.conformance.semantics.round_modes import FLOOR, MODES
from tiebreak.golden.rounding import EVEN


def named(*ids: str) -> tuple[ValueNamed, ...]:
    return tuple(map(ValueNamed, ids))


MODES_OF_LEVELS = (EVEN, "ROUND_NEAREST_TOWARD_INFINITY", "ROUND_NEAREST_TOWARD_ZERO")  # levels are not negative
TIES = (*(MODES[name] for name in MODES_OF_LEVELS), FLOOR)
AS_GIVEN, IN_TURN = named("as-given"), named("divide-multiply")
PLAIN: Allowed = {"range": AS_GIVEN, "round_mode": TIES, "subnormals": named("kept"), "output_limits": AS_GIVEN}
IN_ORDER: Allowed = {**PLAIN, "ends": named("selected"), "position": IN_TURN, "result": IN_TURN, "precision": STEPS}
IN_ADVANCE: Allowed = {"position": named("factor-and-shift", "fused"), "result": named("step", "fused")}

OPENVINO = Authority(
    id="openvino",
    title="OpenVINO, FakeQuantize",
    version="FakeQuantize-1",
    url="https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/quantization/"
    "fake-quantize-1.html",
    says="round((x - input_low) / (input_high - input_low) * (levels - 1)) / (levels - 1) * (output_high - output_low) "
    "+ output_low; x beyond the limits gives output_low or output_high itself.",
    open="Which way round takes ties, and the precision of the steps.",
    allows=(IN_ORDER,),
)
DECOMPOSITION = Authority(
    id="openvino-decomposition",
    title="OpenVINO, FakeQuantizeDecomposition",
    version="C++ API reference of 2025",
    url="https://docs.openvino.ai/2025/api/c_cpp_api/classov_1_1pass_1_1_fake_quantize_decomposition.html",
    says="The brackets are expanded: x times a factor less input_low times the factor is rounded, then multiplied by "
    "(output_high - output_low) / (levels - 1); output_low is added.",
    open="Which way round takes ties, the precision of the steps, and whether a product and its sum are rounded once.",
    allows=(
        {**IN_ORDER, "precision": (EXACT,)},
        {**PLAIN, **IN_ADVANCE, "precision": (OWN,)},
    ),
)
OF_FAKE_QUANTIZE = (OPENVINO, DECOMPOSITION)
