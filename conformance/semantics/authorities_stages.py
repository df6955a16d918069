"""What documents say of operators whose outputs come in stages, by output. Sentences are ours, facts are at `url`.

OCP's site gives its text to browsers alone: it was read in quotations of its sections 5 and 6.3. cuBLAS and PTX were
read in copies, the paper's appendix in a quotation.
"""

from __future__ import annotations

from dataclasses import replace

from tiebreak.conformance.semantics.block_quantize import ELEMENTS, SCALES
from tiebreak.conformance.semantics.documents import ASKED, STEPS, Allowed, Authority, SpecialRule, ValueNamed
from tiebreak.conformance.semantics.dynamic_quantize import POINT, SCALE
from tiebreak.conformance.semantics.dynamic_scale import RANGES, SCALINGS, SUBNORMALS
from tiebreak.conformance.semantics.dynamic_scale import STEPS as NUMBERS_OF_STEPS
from tiebreak.conformance.semantics.dynamic_zero_point import ENDS, SOURCES
from tiebreak.conformance.semantics.precisions import FLOAT32, FLOAT64
from tiebreak.conformance.semantics.quantize_facets import AFTER
from tiebreak.conformance.semantics.quantize_saturation import SATURATE
from tiebreak.conformance.semantics.quantize_scaling import DIVIDE
from tiebreak.conformance.semantics.round_modes import MODES
from tiebreak.golden.onnx_types import FLOAT4
from tiebreak.golden.operators.nvidia_nvfp4_quantize import GLOBAL, SCALE_TYPE
from tiebreak.golden.operators.ocp_mx_quantize import FLOATS
from tiebreak.golden.operators.ocp_mx_quantize import MODES as SCALING_MODES
from tiebreak.golden.rounding import EVEN

# onnx.DynamicQuantizeLinear

TEXT = "https://onnx.ai/onnx/operators/onnx__DynamicQuantizeLinear.html"
EITHER = (FLOAT32, FLOAT64)
SCALE_OF_RANGE: Allowed = {
    "precision": EITHER,
    "range": (RANGES[0],),
    "scaling": (SCALINGS[0],),
    "steps": (NUMBERS_OF_STEPS[0],),
    "subnormals": (SUBNORMALS[0],),
}
POINT_OF_SCALE: Allowed = {
    "precision": EITHER,
    "source": (SOURCES[0],),
    "round_mode": (MODES[EVEN],),
    "saturation": (ENDS[0],),
}
QUOTIENT: Allowed = {
    "precision": STEPS,
    "scaling": (DIVIDE,),
    "zero_point": (AFTER,),
    "round_mode": (MODES[EVEN],),
    "saturation": (SATURATE,),
}
IN_FLOAT32: Allowed = {"precision": (FLOAT32,)}

ONNX_SCALE = Authority(
    id="onnx-dynamic",
    title="ONNX, DynamicQuantizeLinear",
    version="operator set 11",
    url=TEXT,
    says="y_scale is the width of the range of x, which is extended to include 0, divided by 255.",
    open="The precision of the steps, and what a range of width 0 gives.",
    allows=(SCALE_OF_RANGE,),
)
ONNX_POINT = replace(
    ONNX_SCALE,
    says="y_zero_point is -min(x) / y_scale, saturated to 0 and 255, then rounded to nearest, ties to even.",
    open="The precision of the division.",
    allows=(POINT_OF_SCALE,),
)
ONNX_RESULT = replace(
    ONNX_SCALE,
    says="x / y_scale goes to the nearest integer, ties to even; y_zero_point is added; the sum saturates to uint8.",
    open="The precision of the division.",
    allows=(QUOTIENT,),
)
BODY = "function body"
BODY_SCALE = replace(
    ONNX_SCALE,
    id="onnx-dynamic-body",
    version=f"operator set 11, {BODY}",
    says="Sub, then Div by 255, of float32; the ends of the range are the reduced ones and 0.",
    open="Nothing of finite numbers.",
    allows=({**SCALE_OF_RANGE, **IN_FLOAT32},),
    specials=(SpecialRule({"zero_range": ("zero",)}),),
)
BODY_POINT = replace(
    BODY_SCALE,
    says="Div of min by the scale, Sub from 0, Clip to 0 and 255, Round, Cast to uint8.",
    allows=({**POINT_OF_SCALE, **IN_FLOAT32},),
    specials=(),
)
BODY_RESULT = replace(
    BODY_SCALE,
    says="QuantizeLinear with that scale and zero point.",
    open="The precision of the division, as QuantizeLinear leaves it before operator set 23.",
    allows=(QUOTIENT,),
    specials=(),
)
REFERENCE_SCALE = replace(
    BODY_SCALE,
    id="onnx-dynamic-reference",
    title="ONNX, the reference evaluator's DynamicQuantizeLinear",
    version="onnx 1.23.2",
    url="https://github.com/onnx/onnx/blob/724d46d/onnx/reference/ops/op_dynamic_quantize_linear.py",
    says="max - min, or 1 if both are equal, divided by 255, of float32.",
    specials=(SpecialRule({"zero_range": ("step",)}),),
)
REFERENCE_POINT = replace(
    REFERENCE_SCALE,
    says="0 - min / y_scale of float32 is limited to 0 and 255, then rounded to nearest, ties to even.",
    allows=BODY_POINT.allows,
    specials=(),
)
REFERENCE_RESULT = replace(
    REFERENCE_POINT,
    says="x / y_scale of float32 is rounded to nearest, ties to even; the zero point is added; the sum is clipped.",
    allows=({**QUOTIENT, "precision": (FLOAT32,)},),
)
OF_DYNAMIC = {
    SCALE: (ONNX_SCALE, BODY_SCALE, REFERENCE_SCALE),
    POINT: (ONNX_POINT, BODY_POINT, REFERENCE_POINT),
    "y": (ONNX_RESULT, BODY_RESULT, REFERENCE_RESULT),
}

# ocp.MXQuantize

OCP_URL = "https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf"
CUBLAS_URL = "https://docs.nvidia.com/cuda/cublas/index.html#d-block-quantization"
PTX_URL = (
    "https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#data-movement-and-conversion-instructions-cvt"
)
RULE: Allowed = {"exponent": (ASKED,)}
TO_EVEN: Allowed = {"precision": (ASKED,), "round_mode": (ASKED,)}
CLAMPED: Allowed = {**TO_EVEN, "saturation": (ASKED,)}
BY_INSTRUCTION: Allowed = {**CLAMPED, "output_subnormals": (ASKED,), "zero": (ASKED,)}

DIVIDED = SpecialRule({"least_divisor": ("2^-127",)})

OCP_SCALES = Authority(
    id="ocp-mx",
    title="OCP, Microscaling Formats",
    version="MX 1.0, 6.3, step 1, read in quotations",
    url=OCP_URL,
    says="The scale is the largest power of two not above the greatest magnitude, over the type's largest one.",
    open="The scale of a block of zeros and other ways to a scale, which it lets be.",
    allows=(RULE,),
    asked=({"scaling_mode": "floor"},),
)
OCP_ELEMENTS = replace(
    OCP_SCALES,
    version="MX 1.0, 6.3, step 2, read in quotations",
    says="An element is x / scale in its type, to nearest with ties to even.",
    open="What is beyond the largest value, which it should become; subnormal elements and the sign of zero.",
    allows=(TO_EVEN,),
    output_types=FLOATS,
    asked=(),
    specials=(DIVIDED,),
)
OCP_INTEGERS = replace(
    OCP_ELEMENTS,
    id="ocp-mx-int8",
    specials=(),
    says="An element is x / scale in units of 2^-6, to nearest with ties to even.",
    open="Which of -128 and -127 ends the range below, and so what is beyond it.",
    allows=(TO_EVEN,),
    output_types=("int8",),
)
TORCHAO_SCALES = Authority(
    id="torchao-mx",
    title="torchao, ScaleCalculationMode",
    version="docstring of 0.18",
    url="https://github.com/pytorch/ao/blob/v0.18.0/torchao/prototype/mx_formats/config.py",
    says="FLOOR, CEIL, EVEN and RCEIL name the way from the greatest magnitude to the exponent of the scale.",
    open="The scale of a block of zeros.",
    allows=(RULE,),
    asked=tuple({"scaling_mode": mode} for mode in SCALING_MODES),
)
CUBLAS_SCALES = Authority(
    id="cublas-mx",
    title="NVIDIA, cuBLAS, 1D block quantization",
    version="cuBLAS 13, FP8 with UE8M0 scales, read in copies",
    url=CUBLAS_URL,
    says="The greatest magnitude over the largest element, a float32, goes up to a power of two; 2^-127 is the least.",
    open="Nothing of finite numbers.",
    allows=(RULE,),
    asked=({"scaling_mode": "rceil"},),
    specials=(SpecialRule({"zero_block": ("least",), "below_least": ("clamped",)}),),
)
CUBLAS_ELEMENTS = replace(
    CUBLAS_SCALES,
    says="An element is x times 1 / scale, to nearest with ties to even unless noted otherwise.",
    open="What is beyond the largest element, subnormal elements and the sign of zero.",
    allows=(TO_EVEN,),
    output_types=FLOATS,
    asked=(),
    specials=(DIVIDED,),
)
PTX_ELEMENTS = Authority(
    id="ptx-mx",
    title="NVIDIA, PTX ISA, cvt.rn.satfinite to types of 4, 6 and 8 bits",
    version="PTX ISA 9.1, cvt, read in copies",
    url=PTX_URL,
    says="A number goes to the nearest value, ties to even; beyond the largest value it becomes that, with its sign.",
    open="Nothing of finite numbers.",
    allows=(BY_INSTRUCTION,),
    input_types=("float32",),
    output_types=FLOATS,
)
OF_BLOCKS = {
    SCALES: (OCP_SCALES, TORCHAO_SCALES, CUBLAS_SCALES),
    ELEMENTS: (OCP_ELEMENTS, OCP_INTEGERS, CUBLAS_ELEMENTS, PTX_ELEMENTS),
}

# nvidia.NVFP4Quantize, without global_amax and with it

ALONE, WITH_TENSOR = ({GLOBAL: False},), ({GLOBAL: True},)
TIMES_RECIPROCAL: Allowed = {"scaling": (ASKED, ValueNamed("divide"))}  # each step rounded, or none: x / scale
OF_TENSOR: Allowed = {"factor": (ASKED,), "scaling": (ASKED, ValueNamed("exact"))}

CUBLAS_SMALL_SCALES = replace(
    CUBLAS_ELEMENTS,
    id="cublas-nvfp4",
    version="cuBLAS 13, FP4 with UE4M3 scales, read in copies",
    says="A scale is the greatest magnitude / 6 in E4M3, to nearest with ties to even unless noted otherwise.",
    open="A scale beyond 448, and subnormal scales.",
    output_types=(SCALE_TYPE,),
    asked=ALONE,
    specials=(),
)
PAPER_SCALES = Authority(
    id="nvfp4-paper",
    title="NVIDIA, Pretraining Large Language Models with NVFP4",
    version="arXiv 2509.25149, appendix B, equations 2 and 3, read in a quotation",
    url="https://arxiv.org/abs/2509.25149",
    says="A scale is the greatest magnitude / 6 in E4M3, to nearest with ties to even.",
    open="A scale beyond 448, subnormal scales, and how elements are rounded.",
    allows=(TO_EVEN,),
    output_types=(SCALE_TYPE,),
    asked=ALONE,
)
PAPER_SCALES_OF_TENSOR = replace(
    PAPER_SCALES,
    id="nvfp4-paper-tensor",
    version="arXiv 2509.25149, appendix B, equations 1 to 3, read in a quotation",
    says="A scale is (greatest magnitude / 6) * (6 * 448 / global_amax) in E4M3, to nearest with ties to even.",
    allows=({**TO_EVEN, **OF_TENSOR},),
    asked=WITH_TENSOR,
)
PAPER_ELEMENTS_OF_TENSOR = replace(
    PAPER_SCALES_OF_TENSOR,
    version="arXiv 2509.25149, appendix B, equations 1, 3 and 4, read in a quotation",
    says="An element is x * (1 / (scale * s_dec)) in E2M1; s_dec is 1 / (6 * 448 / global_amax).",
    open="How it is rounded, what is beyond 6, subnormal elements and the sign of zero.",
    allows=({"precision": (ASKED,), **OF_TENSOR},),
    output_types=FLOAT4,
)
PTX_SMALL_SCALES = replace(
    PTX_ELEMENTS,
    id="ptx-nvfp4",
    title="NVIDIA, PTX ISA, cvt.rn.satfinite to e4m3x2",
    allows=({name: values for name, values in BY_INSTRUCTION.items() if name != "zero"},),
    output_types=(SCALE_TYPE,),
)
CUDNN_SCALES = Authority(
    id="cudnn-nvfp4",
    title="NVIDIA, cuDNN, Block Scale Quantize",
    version="cuDNN documentation of 2025",
    url="https://docs.nvidia.com/deeplearning/cudnn/frontend/latest/operations/BlockScaling.html",
    says="A scale is the greatest magnitude over the largest element, rounded up.",
    open="A scale beyond 448, and subnormal scales.",
    allows=({"precision": (ASKED,), "round_mode": (ValueNamed("ROUND_UP"), ValueNamed("ROUND_TOWARD_INFINITY"))},),
    output_types=(SCALE_TYPE,),
    asked=ALONE,
)
CUBLAS_SMALL_ELEMENTS = replace(
    CUBLAS_ELEMENTS,
    id="cublas-nvfp4",
    version=CUBLAS_SMALL_SCALES.version,
    allows=({**TO_EVEN, **TIMES_RECIPROCAL},),
    output_types=FLOAT4,
    asked=ALONE,
    specials=(),
)
CUDNN_ELEMENTS = replace(
    CUDNN_SCALES,
    says="An element is x / scale, rounded to nearest with ties to even.",
    open="What is beyond 6, subnormal elements and the sign of zero.",
    allows=({**TO_EVEN, "scaling": (ValueNamed("divide"),)},),
    output_types=FLOAT4,
)
PTX_SMALL_ELEMENTS = replace(
    PTX_ELEMENTS, id="ptx-nvfp4", title="NVIDIA, PTX ISA, cvt.rn.satfinite to e2m1x2", output_types=FLOAT4
)
OF_SMALL_BLOCKS = {
    SCALES: (CUBLAS_SMALL_SCALES, PAPER_SCALES, PAPER_SCALES_OF_TENSOR, PTX_SMALL_SCALES, CUDNN_SCALES),
    ELEMENTS: (CUBLAS_SMALL_ELEMENTS, PAPER_ELEMENTS_OF_TENSOR, PTX_SMALL_ELEMENTS, CUDNN_ELEMENTS),
}
