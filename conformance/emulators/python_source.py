"""How NumPy and PyTorch spell the steps of an arithmetic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from tiebreak.conformance.emulators.steps import DOUBLE, LONG, Computed
from tiebreak.conformance.emulators.writing import INFIX, formats_of, power_of_two
from tiebreak.golden.elements import INTEGER_TYPES, SMALL_FLOAT_TYPES
from tiebreak.golden.errors import Unsupported

LOGIC = {
    "and": "{} & {}",
    "or": "{} | {}",
    "not": "~{}",
    "odd_sum": "odd_sum({}, {})",
    "flushed": "flushed({}, {})",
} | {op: f"{op}({{}})" for op in ("power_of_two", "exponent", "two_to")}
NAMES = {
    **{name: name for name in ("rint", "ceil", "floor", "abs", "copysign", "minimum", "maximum", "where")},
    **{"truncate": "trunc", "is_nan": "isnan", "is_finite": "isfinite", "remainder": "fmod"},
    **{"clamp": "clip", "modulus": "mod", "has_sign": "signbit", "floor_divide": "floor_divide"},
}
TORCH = "torch"
ODD_SUM = '''
def odd_sum(a, b):
    """a + b in float64, rounded to odd: rounding it again, to fewer digits, does no harm."""
    total = a + b
    back = total - a
    error = (a - (total - back)) + (b - back)
'''
FLUSHED = '''
def flushed(v, normal):
    """Numbers below the smallest normal one count as 0."""
'''
POWER_OF_TWO = '''
def power_of_two(size):
    """The largest power of two that is no larger than a normal number."""
'''

EXPONENT = '''
def exponent(power):
    """The exponent of a power of two."""
'''
TWO_TO = '''
def two_to(exponent):
    """A power of two."""
'''


class InNumPy:
    """Numbers of 16 bits have their own types, whose operations round once."""

    formats = INFIX | LOGIC | formats_of(NAMES, "np.{}({})")
    helpers: Mapping[str, str] = {
        "odd_sum": f"""{ODD_SUM}    other = np.nextafter(total, np.where(error > 0, np.inf, -np.inf))
    is_odd = np.asarray(total).view(np.int64) & 1 == 1
    return np.where((error == 0) | ~np.isfinite(total) | is_odd, total, other)
""",
        "flushed": f"""{FLUSHED}    return np.where(np.abs(v) < normal, v * 0, v).astype(v.dtype)
""",
        "power_of_two": f"""{POWER_OF_TWO}    return size / (2 * np.frexp(size)[0])
""",
        "exponent": f"""{EXPONENT}    return np.frexp(power)[1] - 1.0
""",
        "two_to": f"""{TWO_TO}    return np.ldexp(1.0, exponent.astype(np.int64))
""",
    }

    def number(self, value: float, type: str) -> str:
        text = str(int(value)) if type == LONG else python_number(value, "np")
        return text if type == DOUBLE else f"{dtype_in_numpy(type)}({text})"

    def cast(self, of: Computed, type: str, text: str) -> str:
        return f"{text}.astype({dtype_in_numpy(type)})"

    def call(self, one: Computed, texts: Sequence[str]) -> str:
        text = self.formats[one.op].format(*texts)
        if one.op == "clamp" and is_of_ml_dtypes(one.type):
            return f"{text}.astype({dtype_in_numpy(one.type)})"  # NumPy clips to float32
        return text

    def line(self, one: Computed, text: str) -> str:
        return f"{one.name} = {text}"

    def note(self, text: str) -> str:
        return f"# {text}"


class InTorch(InNumPy):
    """Plain numbers take the type of the tensors beside them."""

    formats = (
        INFIX | LOGIC | formats_of(NAMES | {"rint": "round", "clamp": "clamp", "modulus": "remainder"}, "torch.{}({})")
    )
    helpers: Mapping[str, str] = {
        "odd_sum": f"""{ODD_SUM}    there = torch.full_like(total, torch.inf)
    other = torch.nextafter(total, torch.where(error > 0, there, -there))
    is_odd = total.contiguous().view(torch.int64) & 1 == 1
    return torch.where((error == 0) | ~torch.isfinite(total) | is_odd, total, other)
""",
        "flushed": f"""{FLUSHED}    return torch.where(torch.abs(v) < normal, v * 0, v)
""",
        "power_of_two": f"""{POWER_OF_TWO}    return size / (2 * torch.frexp(size).mantissa)
""",
        "exponent": f"""{EXPONENT}    return torch.frexp(power).exponent.to(torch.float64) - 1
""",
        "two_to": f"""{TWO_TO}    return torch.ldexp(torch.ones_like(exponent), exponent.to(torch.int64))
""",
    }

    def number(self, value: float, type: str) -> str:
        return str(int(value)) if type == LONG else python_number(value, TORCH)

    def cast(self, of: Computed, type: str, text: str) -> str:
        if of.type == DOUBLE and type == "float16":
            raise Unsupported("PyTorch rounds a float64 to float32 before it rounds it to float16")
        return f"{text}.to({TORCH}.{type})"

    def call(self, one: Computed, texts: Sequence[str]) -> str:
        """Functions that take tensors alone are put in other words where an operand is a plain number."""
        plain = [is_plain(operand) for operand in one.operands]
        if one.op in ("minimum", "maximum") and any(plain):
            tensor, number = texts if plain[1] else reversed(texts)
            return f"torch.clamp({tensor}, {'max' if one.op == 'minimum' else 'min'}={number})"
        if one.op == "divide" and plain[0]:  # of a plain number PyTorch makes a product with a reciprocal
            return f"torch.full_like({texts[1]}, {texts[0]}) / {texts[1]}"
        if one.op == "copysign" and plain[0]:
            return f"torch.copysign(torch.full_like({texts[1]}, {texts[0]}), {texts[1]})"
        if one.op == "where" and all(plain[1:]):
            return f"torch.where({texts[0]}, torch.tensor({texts[1]}, dtype=torch.{one.type}), {texts[2]})"
        return self.formats[one.op].format(*texts)


def is_plain(one: Computed) -> bool:
    """Whether a step is made of constants alone."""
    return one.op == "constant" or (one.op != "input" and all(map(is_plain, one.operands)))


def is_of_ml_dtypes(type: str) -> bool:
    return type == "bfloat16" or type in SMALL_FLOAT_TYPES or type != byte_for(type)


def byte_for(type: str) -> str:
    """The type of 8 bits for an integer of fewer; other types stay."""
    kind = INTEGER_TYPES.get(type)
    return type if kind is None or kind.bits >= 8 else "int8" if kind.lowest else "uint8"


def dtype_in_numpy(type: str) -> str:
    return f"ml_dtypes.{type}" if is_of_ml_dtypes(type) else f"np.{type}"


def python_number(value: float, module: str) -> str:
    sign = "-" if value < 0 else ""
    if not math.isfinite(value):
        return f"{sign}{module}.{'nan' if math.isnan(value) else 'inf'}"
    power = power_of_two(value)
    return repr(value) if power is None else f"{sign}2.0**{power}"
