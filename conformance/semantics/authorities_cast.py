"""What documents say of casts to small types. Each sentence is ours; each fact is in the text at `url`."""

from __future__ import annotations

from dataclasses import replace

from tiebreak.conformance.semantics.documents import ASKED, Allowed, Authority, SpecialRule
from tiebreak.golden.elements import CARRIERS, FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.onnx_types import E8M0, FLOAT4, FLOAT6, FLOAT8, INT2, INT4

FLOATS = (*FLOAT_TYPES, *FLOAT8, *FLOAT6, *FLOAT4, *E8M0)  # what the tables are about
INTEGERS = tuple(name for name in INTEGER_TYPES if name not in CARRIERS)
BEFORE_ENDS: Allowed = dict.fromkeys(("reading", "precision", "input_subnormals", "exponent", "round_mode"), (ASKED,))
TABLED: Allowed = {**BEFORE_ENDS, **dict.fromkeys(("output_subnormals", "saturation", "zero"), (ASKED,))}

INFINITIES: tuple[str, ...] = ("positive_infinity", "negative_infinity")
TWO_ZEROS, ONE_ZERO = ("float8_e4m3fn", "float8_e5m2"), ("float8_e4m3fnuz", "float8_e5m2fnuz")
TO_NAN = SpecialRule({"nan": ("nan",)})
TO_LARGEST: dict[str, tuple[str, ...]] = dict.fromkeys(INFINITIES, ("largest",))
INFINITIES_TO_NAN: dict[str, tuple[str, ...]] = dict.fromkeys(INFINITIES, ("nan",))
OF_FLOAT8 = (  # up to operator set 23 an infinity became NaN in a type with one zero, saturate or not
    TO_NAN,
    SpecialRule(TO_LARGEST, {"saturate": True}, TWO_ZEROS),
    SpecialRule(TO_LARGEST, {"saturate": True}, ONE_ZERO, range(24, 1 << 16)),
    SpecialRule(INFINITIES_TO_NAN, {"saturate": True}, ONE_ZERO, range(24)),
    SpecialRule(dict.fromkeys(INFINITIES, ("infinity",)), {"saturate": False}, ("float8_e5m2",)),
    SpecialRule(INFINITIES_TO_NAN, {"saturate": False}, ("float8_e4m3fn", *ONE_ZERO)),
)
OF_FLOAT4 = (SpecialRule({"nan": ("highest", "largest"), **TO_LARGEST}),)  # of NaN's sign it says nothing

ONNX_FLOAT8 = Authority(
    id="onnx-float8",
    title="ONNX, Cast to float 8",
    version="operator sets 19 to 28",
    url="https://onnx.ai/onnx/operators/onnx__Cast.html",
    says="A float goes to the nearest value, ties to even. With saturate, what rounds beyond the largest value "
    "becomes it; otherwise NaN, or an infinity in float8_e5m2.",
    open="How an integer is rounded, and the sign of NaN.",
    allows=(TABLED,),
    input_types=FLOATS,
    output_types=FLOAT8,
    specials=OF_FLOAT8,
)
ONNX_POWERS = Authority(
    id="onnx-powers",
    title="ONNX, Cast to float8_e8m0fnu",
    version="operator sets 24 to 28, with the attributes of the third table",
    url="https://onnx.ai/onnx/operators/onnx__Cast.html",
    says="A positive number goes up, or to the nearest power of two, halfway up. Beyond the range it becomes the "
    "nearer end (up, with saturate) or NaN (nearest, without); so does zero.",
    open="What a negative number gives.",
    allows=(TABLED,),
    output_types=E8M0,
    asked=({"round_mode": "up", "saturate": True}, {"round_mode": "nearest", "saturate": False}),
    specials=(
        TO_NAN,
        SpecialRule({"positive_infinity": ("largest",)}, {"saturate": True}),
        SpecialRule({"positive_infinity": ("nan",)}, {"saturate": False}),
    ),
)
ONNX_ROUND_MODE = replace(
    ONNX_POWERS,
    id="onnx-round-mode",
    version="operator sets 24 to 28, whatever the attributes",
    says="As round_mode says, a positive number in the range goes up, down or to the nearest power of two, halfway up.",
    open="Zero, negative numbers and what is beyond the range.",
    allows=({name: values for name, values in BEFORE_ENDS.items() if name != "exponent"},),  # tiny ones are open
    asked=(),
    specials=(),
)
ONNX_FLOAT4 = Authority(
    id="onnx-float4",
    title="ONNX, float stored in 4 bits, Cast",
    version="operator sets 23 to 28",
    url="https://onnx.ai/onnx/technical/float4.html",
    says="A number goes to the nearest value, ties to even; beyond 6 it becomes 6, and -6 below.",
    open="Nothing of finite numbers.",
    allows=(TABLED,),
    output_types=FLOAT4,
    specials=OF_FLOAT4,
)
ONNX_FLOAT6 = replace(
    ONNX_FLOAT4,
    id="onnx-float6",
    title="ONNX, float stored in 6 bits, Cast",
    version="operator set 28",
    url="https://onnx.ai/onnx/technical/float6.html",
    says="A number goes to the nearest value, ties to even; beyond the largest value it becomes that.",
    output_types=FLOAT6,
    specials=(SpecialRule(TO_LARGEST),),
)
ONNX_INT4 = Authority(
    id="onnx-int4",
    title="ONNX, 4-bit integer types, Cast",
    version="operator sets 21 to 28",
    url="https://onnx.ai/onnx/technical/int4.html",
    says="A float goes to the nearest integer, ties to even.",
    open="What a float beyond the range becomes.",
    allows=(BEFORE_ENDS,),
    input_types=FLOATS,
    output_types=INT4,
)
ONNX_INT2 = replace(
    ONNX_INT4,
    id="onnx-int2",
    title="ONNX, 2-bit integer types, Cast",
    version="operator sets 25 to 28",
    url="https://onnx.ai/onnx/technical/int2.html",
    output_types=INT2,
)
ONNX_INTEGERS = Authority(
    id="onnx-integers",
    title="ONNX, Cast from an integer to an integer",
    version="operator sets 21 to 28",
    url="https://onnx.ai/onnx/operators/onnx__Cast.html",
    says="Of what is out of range the higher bits are discarded; what is left is read in two's complement.",
    open="Nothing.",
    allows=(dict.fromkeys(("reading", "precision", "saturation"), (ASKED,)),),
    input_types=INTEGERS,
    output_types=INTEGERS,
)
OPENVINO = Authority(
    id="openvino-convert",
    title="OpenVINO, Convert",
    version="Convert-1",
    url="https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/type/convert-1.html",
    says="Any type is converted to any other; precision may be lost, and a value change if the ranges differ.",
    open="How a number is rounded, and what is beyond the range.",
)
ML_DTYPES = Authority(
    id="ml_dtypes",
    title="ml_dtypes",
    version="README",
    url="https://github.com/jax-ml/ml_dtypes",
    says="It lists each type's bits, and what stands for NaN and infinities.",
    open="How a number is rounded, and what is beyond the range.",
)
PTX_FLOAT8 = Authority(
    id="ptx-float8",
    title="NVIDIA, PTX ISA, cvt.rn.satfinite to e4m3x2 and e5m2x2",
    version="PTX ISA 9.1, cvt, read in copies",
    url="https://docs.nvidia.com/cuda/parallel-thread-execution/index.html"
    "#data-movement-and-conversion-instructions-cvt",
    says="A number goes to the nearest value, ties to even; beyond the largest value it becomes that, with its sign.",
    open="Nothing of finite numbers. There is no form that does not saturate.",
    allows=(TABLED,),
    input_types=("float32", "float16"),
    output_types=("float8_e4m3fn", "float8_e5m2"),
    asked=({"saturate": True},),
    specials=(SpecialRule({"nan": ("nan",), **TO_LARGEST}),),
)
PTX_FLOAT4 = replace(
    PTX_FLOAT8,
    id="ptx-float4",
    title="NVIDIA, PTX ISA, cvt.rn.satfinite to e2m1x2",
    open="Nothing of finite numbers.",
    input_types=("float32",),
    output_types=FLOAT4,
    specials=(SpecialRule({"nan": ("highest", "largest"), **TO_LARGEST}),),
)
OF_CAST = (
    ONNX_FLOAT8,
    ONNX_FLOAT6,
    ONNX_FLOAT4,
    ONNX_POWERS,
    ONNX_ROUND_MODE,
    ONNX_INT4,
    ONNX_INT2,
    ONNX_INTEGERS,
    OPENVINO,
    ML_DTYPES,
    PTX_FLOAT8,
    PTX_FLOAT4,
)
