"""Every instruction set's loops, forced one after the other, against the oracle and against each other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from tiebreak.golden import _kernel, kernel, oracle
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, IntegerType, numpy_dtype
from tiebreak.golden.problem import Array, Quantization
from tiebreak.golden.rounding import ROUND_MODES

RESULTS = ("int4", "uint8", "int16", "int32", "uint32")
# Lengths that are not multiples of any vector, and rows longer than a block of the loops.
LAYOUTS: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "per tensor": ((1, 2, 77), ()),
    "rows": ((2, 3, 35), (1,)),
    "columns": ((3, 37), (1,)),
    "two axes": ((3, 2, 19), (0, 2)),
}


@pytest.fixture(params=_kernel.available_paths())
def path(request: pytest.FixtureRequest) -> Iterator[str]:
    before = _kernel.chosen_path()
    _kernel.choose_path(request.param)
    yield request.param
    _kernel.choose_path(before)


def scales(real: str, count: int, random: np.random.Generator) -> Array:
    """Bit patterns: ordinary ones first, then any, the smallest and the largest too, and negative ones."""
    kind = FLOAT_TYPES[real]
    ordinary = np.array([0.1, 1.0, -0.3, 3.0, 0.007]).astype(numpy_dtype(real)).view(f"uint{kind.bits}")
    anything = random.integers(1, kind.infinity_bits, count, np.uint64)
    found = np.concatenate([ordinary[: count // 2], anything]).astype(f"uint{kind.bits}")[:count]
    return found if count < 4 else np.concatenate([found[:-2], [1, kind.infinity_bits - 1]]).astype(found.dtype)


def inputs(scale: Array, real: str, most: int, random: np.random.Generator) -> Array:
    """Within two units of halves of the scale, out of range too; some of any bits at all, some not finite."""
    kind, dtype = FLOAT_TYPES[real], numpy_dtype(real)
    halves = random.integers(-2 * most - 5, 2 * most + 5, scale.shape).astype(np.float64)
    small = random.integers(-9, 9, scale.shape)
    halves = np.where(random.random(scale.shape) < 0.5, small, halves)
    with np.errstate(all="ignore"):
        near = (halves * scale.view(dtype).astype(np.float64) / 2).astype(dtype).view(scale.dtype)
    near = near + random.integers(-2, 3, scale.shape).astype(scale.dtype)
    anything = random.integers(0, 1 << kind.bits, scale.shape, np.uint64, endpoint=False).astype(scale.dtype)
    return np.where(random.random(scale.shape) < 0.15, anything, near).astype(scale.dtype)


@cache
def problems(real: str, result: str, layout: str) -> tuple[Quantization, ...]:
    """One for each mode, on the same operands."""
    random = np.random.default_rng(len(real) * 100 + len(result) * 10 + len(layout))
    kind, target = FLOAT_TYPES[real], INTEGER_TYPES[result]
    shape, axes = LAYOUTS[layout]
    sizes = tuple(shape[axis] for axis in axes)
    scale = scales(real, max(1, int(np.prod(sizes))), random).reshape(sizes)
    zero_point = random.integers(target.lowest, target.highest, scale.shape, np.int64, endpoint=True)
    spread = np.broadcast_to(kernel.spread(scale, axes, shape), int(np.prod(shape))).reshape(shape)
    x = inputs(np.ascontiguousarray(spread), real, target.highest, random)
    return tuple(Quantization(kind, target, mode, axes, x, scale, zero_point) for mode in ROUND_MODES)


@cache
def truth(real: str, result: str, layout: str, number: int, working: bool) -> tuple[Array, Array]:
    return oracle.solve(problems(real, result, layout)[number], working=working)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("real", list(FLOAT_TYPES))
def test_every_path_gives_the_oracles_results(path: str, real: str, result: str, layout: str) -> None:
    for number, problem in enumerate(problems(real, result, layout)):
        for working in (False, True):
            wanted = truth(real, result, layout, number, working)
            got = kernel.solve(problem, working=working)
            assert np.array_equal(wanted[1], got[1]), (problem.mode, working)
            assert np.array_equal(wanted[0], got[0]), (problem.mode, working)


@pytest.mark.parametrize("width", ["int8", "int16", "int32"])
@pytest.mark.parametrize("mode", range(len(ROUND_MODES)))
def test_every_path_gives_the_same_bits_on_millions(path: str, mode: int, width: str) -> None:
    """Blocks with and without ties, subnormals, and any bits; the baseline is what the others are held to."""
    random = np.random.default_rng(mode)
    limits = np.iinfo(width)
    for scale in (0.1, 0.25, 3.0, 1e-38, 1e-33, 7e34):
        steps = random.integers(-400, 400, 1 << 18) * np.float64(scale) / 4
        x = np.concatenate([steps.astype(np.float32), random.random(1 << 18, np.float32) * np.float32(80 * scale)])
        bits = np.concatenate([x.view(np.uint32), random.integers(0, 1 << 32, 1 << 18, np.uint32)])
        zero_point = np.array([random.integers(-3, 3)], np.int64)
        for working in (False, True):
            parameters = _kernel.Parameters(
                np.array([np.float32(scale)], np.float64), zero_point, False, mode, working, limits.min, limits.max
            )
            found = []
            for number in (0, _kernel.PATHS.index(path)):
                out = np.empty(bits.size, width)
                _kernel.round_quotients(bits, 2, parameters, out, np.zeros(1, np.int64), False, number)
                found.append(out)
            assert np.array_equal(*found), (scale, working)


def test_a_path_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="baseline"):
        _kernel.choose_path("avx1024")


def test_baseline_is_always_there() -> None:
    assert "baseline" in _kernel.available_paths()
    assert _kernel.chosen_path() == _kernel.available_paths()[-1]


def test_wrong_arguments_are_refused_before_any_memory_is_touched() -> None:
    one, zero, start = np.ones(1), np.zeros(1, np.int64), np.zeros(1, np.int64)
    good = _kernel.Parameters(one, zero, False, 4, False, -128, 127)
    x, out = np.zeros(8, np.uint32), np.zeros(8, np.int8)
    for arguments in (
        (x.astype(np.uint8), 2, good, out, start, False),
        (x, 3, good, out, start, False),
        (x, -5, good, out, start, False),
        (x, 2, good, out[:4], start, False),
        (x, 2, good, out.astype(np.int64), start, False),
        (x, 2, good, out, start + 1, False),
        (x, 2, good, out, start, True),
        (x, 2, good, out, start, False, 7),
    ):
        with pytest.raises(ValueError, match=r"x|results|row"):
            _kernel.round_quotients(*arguments)  # type: ignore[arg-type]
    for chosen in ((one, np.zeros(2, np.int64), 4), (one, zero, 9), (one, zero, -1)):
        with pytest.raises(ValueError, match="parameters"):
            _kernel.Parameters(chosen[0], chosen[1], False, chosen[2], False, -128, 127)


@pytest.mark.parametrize("width", ["int8", "uint16", "int32"])
def test_consecutive_patterns_that_never_see_memory_give_the_same(path: str, width: str) -> None:
    """Every mode, about ties, over the range's ends, at zero and among NaNs; one wrong result is found in its piece."""
    limits, start = np.iinfo(width), np.zeros(1, np.int64)
    size = 3 * _kernel.PIECE + 1000
    for mode, scale in itertools.product(range(len(ROUND_MODES)), (0.25, 0.1, 3e-39)):
        exact, working = (
            _kernel.Parameters(
                np.array([np.float32(scale)], np.float64), start + 3, False, mode, form, limits.min, limits.max
            )
            for form in (False, True)
        )
        for first in (0, 0x3DFFC000, 0x417FC000, 0xC2FFC000, 0x7F7FC000, 0xFFFF8000 - 4 * _kernel.PIECE):
            x = np.arange(first, first + size, dtype=np.uint64).astype(np.uint32)
            out, other = np.empty((2, size), width)
            _kernel.round_quotients(x, 2, exact, out, start, False, 0)
            _kernel.round_quotients(x, 2, working, other, start, False, 0)
            arguments = out.itemsize, 2, exact, working
            assert _kernel.deviating_pieces(first, out.view(np.uint8), *arguments) == ([], 0)
            differ = np.flatnonzero(out != other)
            assert _kernel.deviating_pieces(first, other.view(np.uint8), *arguments) == ([], differ.size)
            other[2 * _kernel.PIECE + 5] ^= 96
            apart = np.count_nonzero(differ // _kernel.PIECE != 2)
            assert _kernel.deviating_pieces(first, other.view(np.uint8), *arguments) == ([2], apart)


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_one_element_that_differs_is_seen_wherever_it_is(path: str, width: int) -> None:
    word = np.arange(3, 3 + width, dtype=np.uint8)
    for count in (1, 2, 7, 1024, 8 * 1024 + 5):
        values = np.tile(word, count)
        assert _kernel.repeated(values, width) == word.tobytes()
        for place in {0, width - 1, values.size // 2, values.size - 8, values.size - 1} & set(range(values.size)):
            values[place] ^= 128
            assert _kernel.repeated(values, width) == (values.tobytes() if count == 1 else b"")
            values[place] ^= 128
    for wrong, size in ((3, 6), (0, 8), (width, 0), (2, 3)):
        with pytest.raises(ValueError, match="no such elements"):
            _kernel.repeated(np.zeros(size, np.uint8), wrong)


def test_scales_of_every_make_next_to_ties(path: str) -> None:
    """Scales for which rounding alone settles ties, powers of two, and others: halves of them and their neighbours."""
    random = np.random.default_rng(7)
    made = [0.125, 64.0, 0.375, 2.0**-140, 3 * 2.0**-149, -0.75, *(1 + random.random(12)), *(-random.random(3))]
    steps = np.repeat(np.arange(-9, 10), 5) * 0.5
    for scale in np.array(made, np.float32):
        near = (steps * np.float64(scale)).astype(np.float32).view(np.uint32)
        x = near + np.tile(np.arange(-2, 3), steps.size // 5).astype(np.uint32)
        x = np.where(np.isfinite(x.view(np.float32)), x, 0).astype(np.uint32)
        for result, mode in itertools.product(("int8", "int16", "int32"), ROUND_MODES):
            scales, zero = np.array([scale]).view(np.uint32), np.array([1], np.int64)
            problem = Quantization(
                FLOAT_TYPES["float32"], INTEGER_TYPES[result], mode, (), x, scales.reshape(()), zero.reshape(())
            )
            wanted = oracle.solve(problem, working=False)
            assert np.array_equal(wanted[0], kernel.solve(problem, working=False)[0]), (scale, result, mode)


@pytest.mark.parametrize("width", ["int8", "uint8", "int16", "int32"])
@pytest.mark.parametrize("kind", [0, 1, 2])
def test_nine_modes_from_one_quotient_count_as_nine_runs_do(path: str, kind: int, width: str) -> None:
    """Right results, the same throughout, and some wrong ones; about zero, about a tie and over the range's end."""
    random, limits, start = np.random.default_rng(kind), np.iinfo(width), np.zeros(1, np.int64)
    size, word = 9000, np.uint32 if kind == 2 else np.uint16
    firsts = (0, 0x3DFFC000, 0x417FC000, 0xC2FFC000) if kind == 2 else (0, 0x2E00, 0x4300, 0x8000, 0xC000)
    for scale, first in itertools.product((0.25, 0.1015625, 24.0), firsts):
        x = np.arange(first, first + size, dtype=np.uint64).astype(word)
        forms = [
            parameters_of(scale, mode, working, limits) for working in (False, True) for mode in range(len(ROUND_MODES))
        ]
        truths = []
        for parameters in forms:
            truths.append(np.empty(size, width))
            _kernel.round_quotients(x, kind, parameters, truths[-1], start, False)
        wrong = np.where(random.random(size) < 0.01, truths[8] ^ 1, truths[8])
        for got in (truths[4], np.full(size, truths[0][0], width), wrong.astype(width)):
            wanted = [np.count_nonzero((got != truths[m]) & (got != truths[m + 9])) for m in range(9)]
            exact, working = (parameters_of(scale, 8, form, limits, 2, width == "int32") for form in (False, True))
            found = np.zeros(9, np.int64)
            codes = got.view(np.uint8), got.itemsize, kind
            _kernel.count_modes(first, *codes, exact, working, 3, int(limits.min), int(limits.max), False, found)
            assert found.tolist() == wanted, (scale, hex(first))


def parameters_of(
    scale: float, mode: int, working: bool, limits: np.iinfo[Any], beyond: int = 0, wide: bool = False
) -> _kernel.Parameters:
    """One scale and a zero point of 3, in a type's range widened at both ends."""
    ends = int(limits.min) - beyond, int(limits.max) + beyond
    return _kernel.Parameters(np.array([scale]), np.array([3], np.int64), wide, mode, working, *ends)


@pytest.mark.few(3)
@pytest.mark.parametrize("real", ["float16", "float32", "float64"])
def test_integers_of_fifty_bits(path: str, real: str) -> None:
    """Audits round to a type of 52 bits; quotients are right below 2^50, where neither sum is split."""
    random, kind = np.random.default_rng(11), FLOAT_TYPES[real]
    target, dtype = IntegerType("wide", 52, True), numpy_dtype(real)
    for scale in np.array([0.125, 0.1, 3.0, 0.0007], dtype):
        limit = min(2.0**49.99 * float(scale), float(np.finfo(dtype).max))
        with np.errstate(all="ignore"):
            large = limit * 2.0 ** random.integers(-40, 1, 300) * random.uniform(-1, 1, 300)
            halves = (random.integers(-(2**40), 2**40, 300) * float(scale) / 2).clip(-limit, limit)
            x = np.concatenate([large, halves]).astype(dtype).view(f"uint{kind.bits}")
        zero, bits = np.zeros((), np.int64), np.asarray(scale).view(f"uint{kind.bits}")
        for mode, working in itertools.product(ROUND_MODES, (False, True)):
            problem = Quantization(kind, target, mode, (), x, bits, zero)
            wanted, got = oracle.solve(problem, working=working), kernel.solve(problem, working=working)
            assert np.array_equal(wanted[0], got[0]), (float(scale), mode, working)


@pytest.mark.parametrize("width", ["int8", "int16", "int32"])
def test_strips_and_tiles_of_columns_give_what_each_column_gives(path: str, width: str) -> None:
    """More columns than a strip has and more rows than a tile; powers of two, subnormal ones too, and other scales."""
    random, limits, rows, columns = np.random.default_rng(5), np.iinfo(width), 35, 1100
    powers, others = 2.0 ** random.integers(-149, 20, columns), random.uniform(-3, 3, columns)
    for scales in (powers, others.astype(np.float32).astype(np.float64)):
        x = (random.integers(-300, 300, (rows, columns)) * scales / 2).astype(np.float32).view(np.uint32)
        zero_point = random.integers(0, 9, columns)
        for mode in range(len(ROUND_MODES)):
            arguments = False, mode, False, limits.min, limits.max
            together, alone = np.empty(x.shape, width), np.empty(x.T.shape, width)
            parameters = _kernel.Parameters(scales, zero_point, *arguments)
            _kernel.round_quotients(x.reshape(-1), 2, parameters, together.reshape(-1), np.zeros(rows, np.int64), True)
            start = np.zeros(1, np.int64)
            for j in range(columns):
                parameters = _kernel.Parameters(scales[j : j + 1], zero_point[j : j + 1], *arguments)
                _kernel.round_quotients(np.ascontiguousarray(x[:, j]), 2, parameters, alone[j], start, False, 0)
            assert np.array_equal(together, alone.T), mode
