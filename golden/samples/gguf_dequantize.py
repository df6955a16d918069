"""Golden vectors of gguf.Dequantize. Every element of a type stands in each half of a block."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.samples.model import Sample, bits, integers
from tiebreak.golden.vector_inputs.by_witness import witness_kind, witnesses_of

ID = "gguf.Dequantize"
BLOCK = 32
HALF = FLOAT_TYPES["float16"]
SIGN = 1 << (HALF.bits - 1)
ALWAYS = ("product", "block", "types", "one-scale")
ORDINARY = (0x3C00, 0x2E66, 0x3555, 0xB555, 0x5BFF, 0x8C01)  # codes of scales: 1, 1 / 10, 1 / 3, -1 / 3, and others
ENDS = (1, 2, 3, 1023, 1024, HALF.largest_bits, SIGN | 1, SIGN | HALF.largest_bits)
SPECIAL = (HALF.infinity_bits, SIGN | HALF.infinity_bits, HALF.infinity_bits | 512)
SHAPES: tuple[tuple[int, ...], ...] = ((32,), (1, 64), (3, 1, 32), (2, 2, 1, 96), (0, 32), (2, 0))


def samples(quantized: str, real: str) -> Iterator[Sample]:
    for name, codes, flags, roles in (
        ("ordinary-scales", ORDINARY, ("ScaleNotPowerOfTwo", "NegativeScale", "RangeEdge"), ("sign",)),
        ("ends", ENDS, ("Subnormal", "HugeScale", "RangeEdge"), ("sign",)),
        ("zero-scales", (0, SIGN, 0x3C00), ("ZeroScale",), ("sign",)),
        ("special-scales", (*SPECIAL, 0x3C00), ("Infinity", "NaN"), ("special",)),
    ):
        yield every_element(name, quantized, codes, (*flags, "Blocked"), roles)
    yield from separating(quantized)
    for shape in SHAPES:
        yield shaped(quantized, shape, "Empty" if 0 in shape else "Shape")


def separating(quantized: str) -> Iterator[Sample]:
    """Blocks on which two of the plainest arithmetics differ."""
    for number, (scale,), codes in witnesses_of(ID, f"{witness_kind(quantized, 'float32', {})}-scales-y"):
        shape, values = (1, len(codes)), [signed(code, quantized) for code in codes]
        scales = [scale_beside(scale), scale] * (len(codes) // BLOCK // 2)
        yield sample(f"separating-{number}", quantized, shape, scales, values, ("Separating", "Blocked"), ())


def scale_beside(scale: int) -> int:
    """The code of a scale that is not this one, for the blocks before those with this one."""
    return ORDINARY[0] if scale != ORDINARY[0] else ORDINARY[1]


def signed(code: int, quantized: str) -> int:
    """The integer that a code of a type stands for."""
    kind = INTEGER_TYPES[quantized]
    return code - (1 << kind.bits) if code > kind.highest else code


def sample(theme: str, quantized: str, shape: tuple[int, ...], scales: Sequence[int], elements: Sequence[int],
           flags: Sequence[str], roles: Sequence[str]) -> Sample:  # fmt: skip
    node = {"real": "float32", "quantized": quantized}
    more = ("difference",) if quantized == "uint4" else ()
    blocks = (*shape[:-1], shape[-1] // BLOCK)
    tensors = (integers(quantized, elements, shape), bits("float16", scales, blocks))
    return Sample(theme, node, tensors, tuple(flags), (*ALWAYS, *more, *roles))


def every_element(
    name: str, quantized: str, codes: Sequence[int], flags: Sequence[str], roles: Sequence[str]
) -> Sample:
    """For each scale a row with every element of the type, in the first and in the second half of blocks."""
    kind = INTEGER_TYPES[quantized]
    values = list(range(kind.lowest, kind.highest + 1))
    row = [*values, *values[::-1]]
    length = len(row)
    scales = [code for code in codes for _ in range(length // BLOCK)]
    return sample(name, quantized, (len(codes), length), scales, row * len(codes), flags, roles)


def shaped(quantized: str, shape: tuple[int, ...], flag: str) -> Sample:
    """Elements and scales that differ along the array."""
    kind, count = INTEGER_TYPES[quantized], math.prod(shape)
    span = kind.highest - kind.lowest + 1
    blocks = math.prod(shape[:-1]) * shape[-1] // BLOCK
    scales = [0x3000 + 37 * number % 1024 for number in range(blocks)]
    elements = [kind.lowest + number * 29 % span for number in range(count)]
    label = "x".join(map(str, shape))
    return sample(f"{flag.lower()}-{label}", quantized, shape, scales, elements, (flag, "Blocked"), ("whole-blocks",))
