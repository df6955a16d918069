"""What documents and libraries say differently of block quantization, with witnesses."""

from __future__ import annotations

from typing import Any

from tiebreak.golden.operators.model import Answer, Contest

OCP = "OCP Microscaling Formats (MX) Specification 1.0"
TORCHAO = "torchao 0.18.0, ScaleCalculationMode"
CUBLAS = "cuBLAS 13 documentation, 1D block quantization"
PTX = "PTX ISA 9.1, cvt"
MLX = "MLX 0.32.4 on the CPU, as observed"
TORCHAO_SEEN = "torchao 0.18.0, as observed"


def node(to: str, mode: str = "floor") -> dict[str, Any]:
    return {"real": "float32", "quantized": to, "attributes": {"scaling_mode": mode}}


CONTESTED = (
    Contest(
        "mx-scale",
        "Which power of two is the scale of a block whose greatest magnitude is beyond the largest element?",
        ("OMQ-F1", "OMQ-F5", "OMQ-F6", "OMQ-F7", "OMQ-U6"),
        node("float4_e2m1fn"),
        ([6.25, 4.0, 1.0],),
        (
            Answer(f"{OCP}, 6.3", "floor: 1; 6.25 rounds to 6", (6.0, 4.0, 1.0), judged=True),
            Answer(f"{TORCHAO}, EVEN", "6.25 rounds to 6: 1, too", (6.0, 4.0, 1.0), judged=True),
            Answer(f"{TORCHAO}, CEIL", "2, so that nothing is beyond", (3.0, 2.0, 0.5)),
            Answer(f"{CUBLAS}; MLX 0.32.4, as observed", "6.25 / 6 is beyond 1: 2", (3.0, 2.0, 0.5)),
        ),
    ),
    Contest(
        "mx-element-ties",
        "Where does a number go that lies halfway between two elements?",
        ("OMQ-R1",),
        node("float4_e2m1fn", "rceil"),
        ([4.0, 0.75, 1.25, 1.75, 3.5],),
        (
            Answer(f"{OCP}, 6.3; {PTX}, .rn; {CUBLAS}", "to the even one", (4.0, 1.0, 1.0, 2.0, 4.0), judged=True),
            Answer(MLX, "toward zero in mxfp4; to the even one in mxfp8", (4.0, 0.5, 1.0, 1.5, 3.0)),
        ),
    ),
    Contest(
        "mx-carry",
        "Does the scale grow where the greatest magnitude is one ulp beyond the largest element times a power of two?",
        ("OMQ-F7",),
        node("float8_e4m3fn", "rceil"),
        ([458752.03125, 1024.0],),
        (
            Answer(f"{CUBLAS}, FP8 with UE8M0 scales", "the mantissa is not 0: it grows", (224.0, 0.5), judged=True),
            Answer(TORCHAO_SEEN, "ceil of a log2 that is rounded to 10: it does not", (448.0, 1.0)),
        ),
    ),
    Contest(
        "mx-least-scale",
        "What are the elements of a block whose scale is the least one, 2^-127?",
        ("OMQ-F2", "OMQ-U2"),
        node("float8_e4m3fn"),
        ([1.5 * 2.0**-119],),
        (
            Answer(f"{OCP}, 6.3, step 2", "x / 2^-127", (384.0,), judged=True),
            Answer(TORCHAO_SEEN, "x / 2^-126 with floor, ceil and even; x itself, so 0, with rceil", (192.0,)),
        ),
    ),
    Contest(
        "mx-below-least-scale",
        "What is the scale of a block for which it would be below 2^-127?",
        ("OMQ-U2", "OMQ-C2"),
        node("float8_e4m3fn"),
        ([2.0**-130, 2.0**-131],),
        (
            Answer(f"{OCP}, 6.3", "silent", "unspecified"),
            Answer(f"{CUBLAS}, FP8 with UE8M0 scales", "2^-127", (0.125, 0.0625)),
            Answer(MLX, "the exponent wraps around: 2^118", (256.0, 128.0)),
            Answer(TORCHAO_SEEN, "2^-127, but x is divided by 2^-126", (0.0625, 0.03125)),
        ),
    ),
    Contest(
        "mx-zeros",
        "What is the scale of a block of zeros?",
        ("OMQ-U3", "OMQ-C2"),
        node("float8_e4m3fn"),
        ([0.0, 0.0],),
        (
            Answer(f"{OCP}, 6.3", "silent: no power of two is below 0", (0.0, 0.0), judged=True),
            Answer(f"{CUBLAS}; {TORCHAO_SEEN}", "2^-127", (0.0, 0.0)),
            Answer(MLX, "1", (0.0, 0.0)),
        ),
    ),
    Contest(
        "mx-nan",
        "What does a block give that has NaN in it?",
        ("OMQ-U1",),
        node("float8_e4m3fn"),
        ([float("nan"), 1.0],),
        (
            Answer(OCP, "NaN as a scale makes every number NaN; 6.3 does not say when it is", "unspecified"),
            Answer(
                f"{PTX}, .satfinite", "NaN becomes NaN in E4M3 and E5M2, the largest in smaller types", "unspecified"
            ),
            Answer(TORCHAO_SEEN, "the scale is NaN; with rceil every element is, too", (float("nan"), 0.0)),
            Answer(MLX, "the scale is 2, and elements are what they happen to be", "448 and -448"),
        ),
    ),
    Contest(
        "mx-infinity",
        "What does a block give that has an infinity in it?",
        ("OMQ-U1",),
        node("float8_e4m3fn"),
        ([float("inf"), 1.0],),
        (
            Answer(f"{OCP}, 6.3", "silent: only normal numbers are clamped", "unspecified"),
            Answer(TORCHAO_SEEN, "the scale is 2^120, with rceil 2^127; others become 0", (448.0, 0.0)),
            Answer(f"{MLX}, by rceil", "the scale is 2, and every element the largest", (448.0, 448.0)),
        ),
    ),
    Contest(
        "mx-int8-lowest",
        "Is -128 an element of MXINT8?",
        ("OMQ-U5", "OMQ-U6"),
        node("int8"),
        ([-1.9999, 1.9999],),
        (
            Answer(f"{OCP}, 5.3.4", "it may be left unused, for symmetry", "unspecified"),
            Answer("microsoft/microxcaling, formats.py", "the greatest magnitude is 1 63/64", (-127.0, 127.0)),
        ),
    ),
)
