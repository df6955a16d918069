"""What documents say of FakeQuantize. Each sentence is ours; each fact is in the text at `url`."""

from __future__ import annotations

from tiebreak.conformance.semantics.documents import OWN, STEPS, Allowed, Authority
from tiebreak.conformance.semantics.fake_quantize import SPEC
from tiebreak.conformance.semantics.places import FLOOR
from tiebreak.golden.rounding import EVEN

TIES = (EVEN, "ROUND_NEAREST_TOWARD_INFINITY", "ROUND_NEAREST_TOWARD_ZERO", FLOOR)  # of levels, which are not negative
PLAIN: Allowed = {"range": ("as given",), "round_mode": TIES, "subnormals": ("kept",), "output_limits": ("as given",)}
IN_ORDER: Allowed = {**PLAIN, "ends": ("selected",), "position": (SPEC,), "result": (SPEC,), "precision": STEPS}

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
        {**IN_ORDER, "precision": ("exact",)},
        {**PLAIN, "precision": (OWN,), "position": ("factor and shift", "fused"), "result": ("step", "fused")},
    ),
)
OF_FAKE_QUANTIZE = (OPENVINO, DECOMPOSITION)
