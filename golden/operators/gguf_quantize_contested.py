"""What ggml and the libraries that follow it do differently in Q8_0 and Q4_0, with witnesses."""

from __future__ import annotations

from typing import Any

from tiebreak.golden.operators.model import Answer, Contest

GGML = "ggml in llama.cpp at 01243c5"
Q8_0 = f"{GGML}, ggml-quants.c, quantize_row_q8_0_ref"
Q4_0 = f"{GGML}, ggml-quants.c, quantize_row_q4_0_ref"
PYTHON = "gguf 0.19.0, as observed"
PYTHON_AT_COMMIT = "gguf-py in llama.cpp at 150f157, quants.py, Q4_0"
OBSERVED = "ggml 0.13.1 of pywhispercpp 1.5.1, as observed"
CPU = "ggml-cpu's quantize_row_q8_0 with AVX2, of the same wheel, as observed"
EIGHT: dict[str, Any] = {"real": "float32", "quantized": "int8"}
FOUR: dict[str, Any] = {"real": "float32", "quantized": "uint4"}
REST, EIGHTS = [0.0] * 29, [8.0] * 29  # of a block of 32, after three numbers

CONTESTED = (
    Contest(
        "gguf-element-ties",
        "Where does a product go in Q8_0 that lies halfway between two integers?",
        ("GGQ-R1",),
        EIGHT,
        ([127.0, 0.5, -2.5, *REST],),
        (
            Answer(f"{Q8_0}; {PYTHON}", "away from zero", (127.0, 1.0, -3.0, *REST), judged=True),
            Answer(
                CPU,
                "to the even one: this kernel is for the inputs of a matrix product",
                (127.0, 0.0, -2.0, *REST),
            ),
        ),
    ),
    Contest(
        "gguf-fused",
        "Is the product in Q4_0 rounded before 8.5 is added?",
        ("GGQ-F3", "GGQ-F5"),
        FOUR,
        ([7.0, 3.9375, 1.0, *REST],),
        (
            Answer(
                f"{Q4_0}; {OBSERVED}; {PYTHON}",
                "yes: it is a statement of its own, and ISO C contracts none with the next",
                (0.0, 4.0, 7.0, *EIGHTS),
                judged=True,
            ),
            Answer(
                PYTHON_AT_COMMIT,
                "no: a comment says that the reference depends on FMA, and float64 stands in for it. Real arithmetic "
                "gives the same here, so this is accepted, too",
                (0.0, 4.0, 7.0, *EIGHTS),
                judged=True,
            ),
        ),
    ),
    Contest(
        "gguf-zeros",
        "What is the scale of a block in Q4_0 that has only zeros, the first of them negative?",
        ("GGQ-F4", "GGQ-U4"),
        FOUR,
        ([-0.0, 0.0, 0.0, *REST],),
        (
            Answer(f"{Q4_0}; {OBSERVED}", "-0: no zero replaces the initial one", (8.0,) * 32, judged=True),
            Answer(PYTHON, "+0: it is -0 divided by -8", (8.0,) * 32),
        ),
    ),
    Contest(
        "gguf-least-steps",
        "What are the elements of a block in Q8_0 whose scale is so small that its reciprocal is beyond float32?",
        ("GGQ-U3",),
        EIGHT,
        ([1e-40, 5e-41, 0.0, *REST],),
        (
            Answer(Q8_0, "an infinity becomes int8, which C does not define", "unspecified"),
            Answer(f"{OBSERVED}; {PYTHON}", "0", "0"),
            Answer(CPU, "-128, for the zeros of the block, too", "-128"),
        ),
    ),
    Contest(
        "gguf-nan",
        "What does a block give that has NaN in it?",
        ("GGQ-U1",),
        EIGHT,
        ([float("nan"), 1.0, 2.0, *REST],),
        (
            Answer(Q8_0, "no comparison with NaN is true; its conversion to int8 is undefined in C", "unspecified"),
            Answer(OBSERVED, "NaN becomes 0; the scale is that of the numbers behind it", (0.0, 64.0, 127.0)),
            Answer(CPU, "NaN becomes -128", (-128.0, 64.0, 127.0)),
            Answer(PYTHON, "the scale is NaN, and the elements are 0", (0.0,) * 32),
        ),
    ),
)
