"""The two truths against the documents' own examples and against each other."""

from __future__ import annotations

import ast
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.conformance.cases.generators import cases
from tiebreak.golden import kernel, oracle
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, decode, encode
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import OUT_OF_RANGE, UNDEFINED, Quantization
from tiebreak.golden.problems import problems_of
from tiebreak.golden.rounding import ROUND_MODES

# (2.5, -3.5) as the nGraph document gives them for the nearest modes, and by its words for the others.
DOCUMENTED = {
    "ROUND_NEAREST_TOWARD_INFINITY": (3, -4),
    "ROUND_NEAREST_TOWARD_ZERO": (2, -3),
    "ROUND_NEAREST_UPWARD": (3, -3),
    "ROUND_NEAREST_DOWNWARD": (2, -4),
    "ROUND_NEAREST_TOWARD_EVEN": (2, -4),
    "ROUND_TOWARD_INFINITY": (3, -4),
    "ROUND_TOWARD_ZERO": (2, -3),
    "ROUND_UP": (3, -3),
    "ROUND_DOWN": (2, -4),
}


@pytest.mark.parametrize("mode", list(ROUND_MODES))
def test_documented_examples(mode: str) -> None:
    assert tuple(map(ROUND_MODES[mode], (Fraction(5, 2), Fraction(-7, 2)))) == DOCUMENTED[mode]
    got, _ = kernel.quantize(problem([2.5, -3.5], 1.0, 0, mode, quantized="int8"), working=False)
    assert tuple(got.tolist()) == DOCUMENTED[mode]


def problem(
    x: list[float], scale: float, zero_point: int, mode: str, *, real: str = "float32", quantized: str = "uint8"
) -> Quantization:
    kind = FLOAT_TYPES[real]
    bits = np.array([encode(Fraction(v), kind) for v in x], f"uint{kind.bits}")
    divisor = np.array(encode(Fraction(scale), kind), f"uint{kind.bits}")
    return Quantization(kind, INTEGER_TYPES[quantized], mode, (), bits, divisor, np.array(zero_point, np.int64))


def assert_same(q: Quantization, mode: str | None = None) -> None:
    for working in (False, True):
        wanted, got = (truth.solve(q, working=working, mode=mode) for truth in (oracle, kernel))
        assert np.array_equal(wanted[0], got[0]), (working, mode)
        assert np.array_equal(wanted[1], got[1]), (working, mode)


@settings(max_examples=600, deadline=None)
@given(cases())
def test_oracle_and_kernel_agree_on_generated_cases_in_every_mode(case: Case) -> None:
    for mode in ROUND_MODES if case.node.modes else ("",):
        for problem in problems_of(case):
            for working in (False, True):
                wanted, got = (truth.solve(problem, working=working, mode=mode) for truth in (oracle, kernel))
                assert np.array_equal(wanted[0], got[0]), (problem.output, working, mode)
                assert np.array_equal(wanted[1], got[1]), (problem.output, working, mode)


@pytest.mark.parametrize("real", list(FLOAT_TYPES))
@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_oracle_and_kernel_agree_beside_every_boundary(real: str, data: st.DataObject) -> None:
    """Any scale at all, subnormal and huge ones too, and inputs within two units of a multiple of its half."""
    kind = FLOAT_TYPES[real]
    scale = data.draw(st.integers(1, kind.infinity_bits - 1))
    halves = data.draw(
        st.lists(st.one_of(st.integers(-20, 20), st.integers(-(1 << 33), 1 << 33)), min_size=1, max_size=8)
    )
    steps = data.draw(st.integers(-2, 2))
    exact = decode(scale, kind)
    assert isinstance(exact, Fraction)
    bits = [max(0, encode(abs(h) * exact / 2, kind) + steps) | (h < 0) << (kind.bits - 1) for h in halves]
    q = Quantization(
        kind,
        INTEGER_TYPES[data.draw(st.sampled_from(["int4", "uint8", "int16", "int32", "uint32"]))],
        data.draw(st.sampled_from(list(ROUND_MODES))),
        (),
        np.array(bits, f"uint{kind.bits}"),
        np.array(scale, f"uint{kind.bits}"),
        np.array(0, np.int64),
    )
    assert_same(q)


def test_float64_quotient_just_above_minus_a_half() -> None:
    """q - floor(q) is inexact there: the kernel once took it for a tie."""
    q = problem([-0.49999999999999994], 1.0, 3, "ROUND_NEAREST_TOWARD_INFINITY", real="float64")
    assert kernel.quantize(q, working=False)[0].tolist() == [3]
    assert_same(q)


def test_division_in_double_is_not_enough_for_32_bits() -> None:
    """A float32 quotient so near a tie of 30 bits that double division lands on it."""
    divisor = 8388619
    m = pow(divisor, -1, 1 << 31)
    x = float((m * divisor - 1 >> 31) << 30)
    q = problem([x], float(divisor), 0, "ROUND_NEAREST_TOWARD_EVEN", quantized="int32")
    assert x / divisor % 1 == 0.5
    exact = Fraction(x) / divisor
    assert exact % 1 != Fraction(1, 2)
    assert kernel.quantize(q, working=False)[0].tolist() == [round(exact)]
    assert round(x / divisor) != round(exact)
    assert_same(q)


def test_states() -> None:
    mode = "ROUND_NEAREST_TOWARD_EVEN"
    values, state = oracle.solve(problem([300.0, -300.0, 255.4], 1.0, 0, mode), working=False)
    assert values.tolist() == [255, 0, 255]
    assert state.tolist() == [OUT_OF_RANGE, OUT_OF_RANGE, 0]
    zero_scale = problem([1.0, 0.0], 0.0, 7, mode)
    assert oracle.solve(zero_scale, working=True)[1].tolist() == [UNDEFINED, UNDEFINED]
    assert_same(zero_scale)


def test_kernel_refuses_to_work_where_subnormals_are_flushed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel._kernel, "subnormals_flushed", lambda: True)
    with pytest.raises(MachineryFailed, match="flushed to zero"):
        kernel.quantize(problem([1.0], 1.0, 0, "ROUND_UP"), working=True)


def test_both_truths_number_the_modes_alike() -> None:
    """C counts mismatches by mode number, and a sweep's certificate names the counts by the oracle's table."""
    assert tuple(ROUND_MODES) == kernel.MODES


def test_neither_truth_imports_the_other() -> None:
    """Also a contract of import-linter; here so that it fails in pytest too."""
    for module, other in ((oracle, "kernel"), (kernel, "oracle")):
        assert module.__file__ is not None
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        imported = {
            name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in [getattr(node, "module", "") or "", *(alias.name for alias in node.names)]
        }
        assert not any(other in name for name in imported), imported


def test_no_kernel_source_names_the_oracle_or_fractions() -> None:
    """Cython sources, which import-linter does not read."""
    folder = Path(__file__).parent.parent / "golden"
    sources = [folder / "_kernel.pyx", *(folder / "kernels").glob("*.p*")]
    assert len(sources) > 12
    for source in sources:
        imports = [line for line in source.read_text(encoding="utf-8").splitlines() if "import" in line.split()]
        for word in ("arithmetic", "operators", "oracle", "fractions", "rounding"):
            assert not any(word in line for line in imports), (source.name, word)
