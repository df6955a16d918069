"""Element types of ONNX's operators and the operator sets of its linear ones, by their ml_dtypes names."""

from __future__ import annotations

NEWEST_OPSET = 28  # of which the schemas were read: an operator's newest version up to it is the one in force
OPSETS = (10, 13, 19, 21, 23, 24, 25, 28)
REALS = ("float32", "float16", "bfloat16")
BYTES = ("int8", "uint8")
INT4 = ("int4", "uint4")
WORDS = ("int16", "uint16", *INT4)
FLOAT8 = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
ONE_ZERO = ("float8_e4m3fnuz", "float8_e5m2fnuz")
LARGEST_FOR_INFINITY = 24  # the operator set from which on Cast's table saturates an infinity in the types above
FLOAT6 = ("float6_e2m3fn", "float6_e3m2fn")
FLOAT4 = ("float4_e2m1fn",)
INT2 = ("int2", "uint2")
E8M0 = ("float8_e8m0fnu",)
# Those of nodes that are a plain quantization, by their width.
CLASSIC_REALS = ("float16", "bfloat16", "float32")
CLASSIC_OUTPUTS = ("int4", "uint4", "int8", "uint8", "int16", "uint16")
# The operator set from which on a type is on the quantized side.
SINCE = {
    name: opset
    for opset, names in (
        (10, (*BYTES, "int32")),
        (19, FLOAT8),
        (21, WORDS),
        (23, FLOAT4),
        (25, INT2),
        (28, FLOAT6),
    )
    for name in names
}
