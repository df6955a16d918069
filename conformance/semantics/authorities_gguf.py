"""What documents say of GGUF's Q8_0 and Q4_0, by output. Sentences are ours, facts are at `url`."""

from __future__ import annotations

from dataclasses import replace

from tiebreak.conformance.semantics.block_quantize import ELEMENTS, SCALES
from tiebreak.conformance.semantics.documents import ASKED, Allowed, Authority, ValueNamed
from tiebreak.conformance.semantics.gguf_dequantize import OUTPUT

OF_SCALES = ("input", "amax", "divisor", "scaling", "precision", "round_mode", "output_subnormals", "saturation")
OF_ELEMENTS = ("input", "divisor", "scaling", "precision", "round_mode", "saturation")
WHOLE_SCALES: Allowed = dict.fromkeys(OF_SCALES, (ASKED,))
WHOLE_ELEMENTS: Allowed = dict.fromkeys(OF_ELEMENTS, (ASKED,))

BYTE_SCALES = Authority(
    id="ggml-q8_0",
    title="ggml, ggml-quants.c, quantize_row_q8_0_ref",
    version="llama.cpp 01243c5",
    url="https://github.com/ggml-org/llama.cpp/blob/01243c5/ggml/src/ggml-quants.c",
    says="d is the greatest magnitude / 127 in float32, and is put out as float16, to nearest with ties to even.",
    open="Nothing of finite numbers.",
    allows=(WHOLE_SCALES,),
    output_types=("float16",),
    asked=({"elements": "int8"},),
)
NIBBLE_SCALES = replace(
    BYTE_SCALES,
    id="ggml-q4_0",
    title="ggml, ggml-quants.c, quantize_row_q4_0_ref",
    says="d is the first number of greatest magnitude / -8 in float32, and is put out as float16.",
    asked=({"elements": "uint4"},),
)
BYTE_ELEMENTS = replace(
    BYTE_SCALES,
    says="An element is roundf(x * id) and id is 1 / d, all in float32.",
    allows=(WHOLE_ELEMENTS,),
    output_types=("int8",),
    asked=(),
)
NIBBLE_ELEMENTS = replace(
    NIBBLE_SCALES,
    says="An element is min(15, (int8_t)(x * id + 8.5f)) and id is 1 / d, all in float32.",
    open="Whether a compiler fuses the product with the sum.",
    allows=({**WHOLE_ELEMENTS, "precision": (ASKED, ValueNamed("product-not-rounded"))},),
    output_types=("uint4",),
    asked=(),
)
PYTHON = "https://github.com/ggml-org/llama.cpp/blob/150f157/gguf-py/gguf/quants.py"
PYTHON_BYTE_SCALES = replace(
    BYTE_SCALES,
    id="gguf-py-q8_0",
    title="gguf-py, quants.py, Q8_0",
    version="llama.cpp 150f157",
    url=PYTHON,
    says="d is the greatest magnitude / 127 in float32, then float16; a comment promises the reference's bits.",
)
PYTHON_NIBBLE_SCALES = replace(
    NIBBLE_SCALES,
    id="gguf-py-q4_0",
    title="gguf-py, quants.py, Q4_0",
    version="llama.cpp 150f157",
    url=PYTHON,
)
PYTHON_BYTE_ELEMENTS = replace(
    PYTHON_BYTE_SCALES,
    says="An element is x * (1 / d) of float32, rounded to nearest with ties away from zero.",
    allows=(WHOLE_ELEMENTS,),
    output_types=("int8",),
    asked=(),
)
PYTHON_NIBBLE_ELEMENTS = replace(
    PYTHON_NIBBLE_SCALES,
    says="x * id + 8.5 in float64, cut off in float32 and clipped: a comment says that the reference depends on FMA.",
    open="Nothing of finite numbers.",
    allows=({**WHOLE_ELEMENTS, "precision": (ValueNamed("product-not-rounded"),)},),
    output_types=("uint4",),
    asked=(),
)
OF_GGUF = {
    SCALES: (BYTE_SCALES, NIBBLE_SCALES, PYTHON_BYTE_SCALES, PYTHON_NIBBLE_SCALES),
    ELEMENTS: (BYTE_ELEMENTS, NIBBLE_ELEMENTS, PYTHON_BYTE_ELEMENTS, PYTHON_NIBBLE_ELEMENTS),
}

WHOLE_BLOCKS: Allowed = dict.fromkeys(("offset", "scale", "precision", "position"), (ASKED,))
BYTE_BLOCKS = Authority(
    id="ggml-q8_0",
    title="ggml, ggml-quants.c, dequantize_row_q8_0",
    version="llama.cpp 01243c5",
    url="https://github.com/ggml-org/llama.cpp/blob/01243c5/ggml/src/ggml-quants.c",
    says="A number is its element times its block's scale, which becomes a float32 first.",
    open="Nothing of finite scales.",
    allows=(WHOLE_BLOCKS,),
    input_types=("int8",),
)
NIBBLE_BLOCKS = replace(
    BYTE_BLOCKS,
    id="ggml-q4_0",
    title="ggml, ggml-quants.c, dequantize_row_q4_0",
    says="A number is its element less 8, times its block's scale, which becomes a float32 first.",
    input_types=("uint4",),
)
PYTHON_BYTE_BLOCKS = replace(
    BYTE_BLOCKS, id="gguf-py-q8_0", title="gguf-py, quants.py, Q8_0", version="llama.cpp 150f157", url=PYTHON
)
PYTHON_NIBBLE_BLOCKS = replace(
    NIBBLE_BLOCKS, id="gguf-py-q4_0", title="gguf-py, quants.py, Q4_0", version="llama.cpp 150f157", url=PYTHON
)
OF_GGUF_BLOCKS = {OUTPUT: (BYTE_BLOCKS, NIBBLE_BLOCKS, PYTHON_BYTE_BLOCKS, PYTHON_NIBBLE_BLOCKS)}
