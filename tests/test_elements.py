"""Element types against NumPy and ml_dtypes, which decode the same bits by other means."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.golden.elements import (
    CARRIERS,
    ELEMENT_TYPES,
    FLOAT_TYPES,
    INTEGER_TYPES,
    SMALL_FLOAT_TYPES,
    decimal,
    decode,
    encode,
    neighbour,
    numpy_dtype,
    parse_real,
    ulp,
)
from tiebreak.golden.problem import array_of, code_range, codes_of


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_decode_every_16_bit_pattern(name: str) -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    with np.errstate(invalid="ignore"):
        values = bits.view(numpy_dtype(name)).astype(np.float64)
    for pattern, value in zip(bits.tolist(), values.tolist(), strict=True):
        got = decode(pattern, FLOAT_TYPES[name])
        assert math.isnan(got) if math.isnan(value) else got == value


@pytest.mark.parametrize("name", list(FLOAT_TYPES))
@given(data=st.data())
def test_encode_rounds_like_numpy(name: str, data: st.DataObject) -> None:
    value = data.draw(st.floats(allow_nan=False, allow_infinity=False))
    with np.errstate(over="ignore"):
        wanted = np.array(value).astype(numpy_dtype(name)).view(f"uint{FLOAT_TYPES[name].bits}")
    real = FLOAT_TYPES[name]
    got = encode(Fraction(value), real)
    assert got == int(wanted) & ~(1 << (real.bits - 1)) | (got & 1 << (real.bits - 1))
    assert decode(got, real) == decode(int(wanted), real)


@pytest.mark.parametrize("name", list(FLOAT_TYPES))
@given(data=st.data())
def test_bits_survive_decoding_encoding_and_decimals(name: str, data: st.DataObject) -> None:
    real = FLOAT_TYPES[name]
    bits = data.draw(st.integers(0, (1 << real.bits) - 1))
    value = decode(bits, real)
    if isinstance(value, Fraction):
        assert parse_real(decimal(bits, real), real) == bits
        assert encode(value, real) & ~(1 << (real.bits - 1)) == bits & ~(1 << (real.bits - 1))
    assert parse_real(hex(bits), real) == bits


@pytest.mark.parametrize("name", list(FLOAT_TYPES))
def test_neighbours_are_nextafter_through_zero(name: str) -> None:
    real, dtype = FLOAT_TYPES[name], numpy_dtype(name)
    start = encode(Fraction(0), real)
    values = [np.array(neighbour(start, real, n), f"uint{real.bits}").view(dtype) for n in range(-3, 4)]
    for low, high in pairwise(values):
        assert np.nextafter(low, np.array(1, dtype)) == high
    assert neighbour(real.infinity_bits, real, 5) == real.infinity_bits


def test_ulp_of_a_few_float32() -> None:
    real = FLOAT_TYPES["float32"]
    assert ulp(Fraction(1), real) == Fraction(1, 2**23)
    assert ulp(Fraction(0), real) == Fraction(1, 2**149)
    assert ulp(Fraction(-(2**24)), real) == 2


def test_integer_ranges_are_ml_dtypes_and_numpys() -> None:
    for name, kind in INTEGER_TYPES.items():
        if name in CARRIERS:
            continue
        info = ml_dtypes.iinfo(numpy_dtype(name))
        assert (kind.lowest, kind.highest) == (int(info.min), int(info.max))


@pytest.mark.parametrize("text", ["", "one", "0x", "0x1ffffffff", "1e99999999", "1/0", "--1", "0xzz", "1" * 3000])
def test_typed_nonsense_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="is not a number"):
        parse_real(text, FLOAT_TYPES["float32"])


def test_typed_specials() -> None:
    real = FLOAT_TYPES["float32"]
    assert parse_real("-0", real) == 0x80000000
    assert parse_real("-inf", real) == 0xFF800000
    assert parse_real("nan", real) == 0x7FC00000
    assert parse_real("1e400", real) == 0x7F800000


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_an_array_of_codes_has_these_codes_and_no_others_of_its_type(name: str) -> None:
    low, high = code_range(ELEMENT_TYPES[name])
    made = array_of(name, (2, 1), [low, high])
    assert (
        made.dtype.name == CARRIERS.get(name, name)
        and made.shape == (2, 1)
        and codes_of(made).reshape(-1).tolist() == [low, high]
    )
    for code in (low - 1, high + 1):
        with pytest.raises(ValueError, match=f"x has a value outside {name}"):
            array_of(name, (), [code], "x")
    with pytest.raises(ValueError, match="reshape"):
        array_of(name, (3,), [low, high])


def test_decimals_are_the_values_themselves_in_every_type() -> None:
    """The shortest decimal that reads back as 448 in float8_e4m3fn would be 450."""
    for real in (*SMALL_FLOAT_TYPES.values(), FLOAT_TYPES["float16"], FLOAT_TYPES["bfloat16"]):
        for bits in range(1 << real.bits):
            value = decode(bits, real)
            if isinstance(value, Fraction) and value.denominator <= 1 << 14 and abs(value) < 1 << 17:
                assert Fraction(decimal(bits, real)) == value
    assert decimal(0x7E, SMALL_FLOAT_TYPES["float8_e4m3fn"]) == "448.0"
    assert decimal(0x4C000001, FLOAT_TYPES["float32"]) == "33554436.0"
