"""What documents and libraries say differently of NVFP4, with witnesses."""

from __future__ import annotations

from typing import Any

from tiebreak.golden.operators.model import Answer, Contest

CUBLAS = "cuBLAS 13 documentation"
PAPER = "NVIDIA, Pretraining Large Language Models with NVFP4 (arXiv 2509.25149), appendix B"
PTX = "PTX ISA 9.1, cvt"
CUDNN = "cuDNN documentation, Block Scale Quantize"
MLX = "MLX 0.32.4 on the CPU, as observed"
TORCHAO = "torchao 0.18.0, nvfp4_quantize, as observed"
NODE: dict[str, Any] = {"real": "float32", "quantized": "float4_e2m1fn", "zero_point": False}
LEAST = 2.0**-9  # of E4M3

CONTESTED = (
    Contest(
        "nvfp4-scale-rounding",
        "Is a block's scale rounded to the nearest E4M3, or up?",
        ("NVQ-F2", "NVQ-R1"),
        NODE,
        ([6.1875, 2.75],),
        (
            Answer(f"{CUBLAS}, 3.1.4.4.1; {PAPER}", "to nearest: 1.03125 becomes 1", (6.0, 3.0), judged=True),
            Answer(CUDNN, "quantize_round_up: 1.125", (6.0, 2.0)),
        ),
    ),
    Contest(
        "nvfp4-least-scale",
        "What is the scale of a block whose greatest magnitude / 6 is below 2^-6, the least normal E4M3?",
        ("NVQ-F2",),
        NODE,
        ([6 * LEAST, 1.5 * LEAST],),
        (
            Answer(f"{CUBLAS}, 3.1.4.4.1; {MLX}", "the nearest E4M3, subnormal: 2^-9", (6.0, 1.5), judged=True),
            Answer(TORCHAO, "2^-6: no scale is smaller", (1.0, 0.0)),
        ),
    ),
    Contest(
        "nvfp4-zeros",
        "What is the scale of a block of zeros?",
        ("NVQ-F1", "NVQ-U2"),
        NODE,
        ([0.0, 0.0],),
        (
            Answer(f"{CUBLAS}, 3.1.4.4.1", "0 / 6 is 0; the elements would be 0 * (1 / 0)", "no number", judged=True),
            Answer(MLX, "0", (0.0, 0.0)),
            Answer(TORCHAO, "2^-6", (0.0, 0.0)),
        ),
    ),
    Contest(
        "nvfp4-element-ties",
        "Where does a number go that lies halfway between two elements?",
        ("NVQ-R2",),
        NODE,
        ([6.0, 0.75, 1.25, 1.75, 3.5],),
        (
            Answer(f"{CUBLAS}, 3.1.4.4.1; {TORCHAO}", "to the even one", (6.0, 1.0, 1.0, 2.0, 4.0), judged=True),
            Answer(MLX, "toward zero", (6.0, 0.5, 1.0, 1.5, 3.0)),
        ),
    ),
    Contest(
        "nvfp4-far-beyond",
        "What is an element that is far beyond 6, since its block's scale has ended at 448?",
        ("NVQ-C1", "NVQ-C2"),
        NODE,
        ([2.0**38, -(2.0**38)],),
        (
            Answer(f"{PTX}, .satfinite; {TORCHAO}", "6, with its sign", (6.0, -6.0), judged=True),
            Answer(MLX, "0: in float32 every element is as far from it", (0.0, 0.0)),
        ),
    ),
    Contest(
        "nvfp4-nan",
        "What does a block give that has NaN in it?",
        ("NVQ-U1",),
        NODE,
        ([float("nan"), 1.0],),
        (
            Answer(f"{PTX}, .satfinite", "a NaN becomes 6 in E2M1 and NaN in E4M3; cuBLAS is silent", "unspecified"),
            Answer(TORCHAO, "the scale is NaN, every element 2", (2.0, 2.0)),
            Answer(MLX, "the scale is 448, every element 0", (0.0, 0.0)),
        ),
    ),
    Contest(
        "nvfp4-infinity",
        "What does a block give that has an infinity in it?",
        ("NVQ-U1",),
        NODE,
        ([float("inf"), 1.0],),
        (
            Answer(f"{CUBLAS}, 3.1.4.4.1", "silent", "unspecified"),
            Answer(TORCHAO, "the scale is 448, the infinity 6", (6.0, 0.0)),
            Answer(MLX, "the scale is 448, every element 0", (0.0, 0.0)),
        ),
    ),
)
