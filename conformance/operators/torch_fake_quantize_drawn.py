"""What is drawn for torch.fake_quantize_per_tensor_affine and …_per_channel_affine: domains, nodes and inputs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.operators.torch_quantize_drawn import REAL, SPECIALS, finite_codes
from tiebreak.golden.elements import decode, encode, neighbour

Domain = tuple[int, int]
DOMAINS: tuple[Domain, ...] = (
    (0, 255),
    (-128, 127),
    (-127, 127),
    (0, 15),
    (-8, 7),
    (0, 1),
    (-32768, 32767),
    (0, 65535),
)


def domains() -> st.SearchStrategy[Domain]:
    """Usual ones, and any with at least one level."""
    word = st.integers(-(1 << 31), (1 << 31) - 1)
    small = st.tuples(st.integers(-300, 300), st.integers(0, 600)).map(lambda pair: (pair[0], pair[0] + pair[1]))
    wide = st.tuples(word, word).map(lambda pair: (min(pair), max(pair)))
    return st.one_of(st.sampled_from(DOMAINS), small, wide)


def node(domain: Domain, **more: Any) -> dict[str, Any]:
    return {"real": "float32", "attributes": {"quant_min": domain[0], "quant_max": domain[1], **more}}


def inputs(domain: Domain, scale: int, zero_point: float, specials: bool) -> st.SearchStrategy[int]:
    """Bits of inputs whose quotients are on or beside multiples of a half, at the domain's ends or anywhere."""
    step = decode(scale, REAL)
    anything = st.one_of(finite_codes(), *([st.sampled_from(SPECIALS)] if specials else []))
    if not isinstance(step, Fraction) or not step:
        return anything
    ends = [2 * (end - int(zero_point)) for end in domain]
    near_ends = st.tuples(st.sampled_from(ends), st.integers(-6, 6)).map(sum)
    codes = st.one_of(st.integers(-600, 600), near_ends).map(lambda twice: encode(step * twice / 2, REAL))
    near = codes.filter(lambda code: code & 0x7FFFFFFF < REAL.infinity_bits)
    beside = st.tuples(near, st.integers(-2, 2)).map(lambda pair: neighbour(pair[0], REAL, pair[1]))
    return st.one_of(beside, beside, anything)
