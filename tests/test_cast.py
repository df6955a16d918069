"""A wrong cast gets its cause and no other; what the record draws respects what is wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import wrong_onnx_cast as casts
from causes_of_records import causes_of
from hypothesis import given, settings

from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.audit.recorded_elements import recorded_case
from tiebreak.conformance.cases.generators import cases, generate_cases
from tiebreak.conformance.causes.settling import settle_causes
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.running.explaining import all_deviating, evidence_of, explained_cases
from tiebreak.conformance.running.recorded_tables import first_clause
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden.builder import file_name
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import UNEXPLAINED

OPERATOR = casts.OPERATOR
Run = Callable[..., tuple[casts.Array, ...]]
BOXES = {box.name.removeprefix("onnx-cast-"): box.run for box in casts.WRONG}
# The wrong backend, the types, and the cause of all that it gets wrong.
NAMED = (
    ("ties-away", ("float32", "float8_e4m3fn"), "ties-away-to-type"),
    ("ties-away", ("float32", "float4_e2m1fn"), "ties-away-to-type:in float4_e2m1fn"),
    ("ties-away", ("float16", "float6_e3m2fn"), "ties-away-to-type:in a float 6"),
    ("ties-away", ("float32", "int4"), "ties:NEAREST_TOWARD_INFINITY"),
    ("ties-up", ("float16", "float8_e4m3fn"), "ties-up-to-type"),
    ("ties-down", ("float32", "float8_e5m2"), "ties-down-to-type"),
    ("ties-toward-zero", ("float32", "float8_e5m2"), "ties-toward-zero-to-type"),
    ("ties-to-odd", ("float32", "float8_e4m3fn"), "ties-odd-to-type"),
    ("truncates", ("float32", "float8_e4m3fn"), "cuts-off"),
    ("truncates", ("float32", "int4"), "rounds:TOWARD_ZERO"),
    ("rounds-away", ("float32", "float8_e5m2"), "away-to-type"),
    ("floor", ("float16", "float8_e4m3fn"), "down-to-type"),
    ("ceil", ("float32", "float4_e2m1fn"), "up-to-type:in float4_e2m1fn"),
    ("through-float32", ("float64", "float8_e4m3fn"), "x-in:float32"),
    ("through-float32", ("float64", "int4"), "x-in-before-integer:float32"),
    ("through-float16", ("float32", "float8_e5m2"), "x-in:float16"),
    ("through-float16", ("float32", "float4_e2m1fn"), "x-in-before-float4:float16"),
    ("through-bfloat16", ("float32", "float8_e4m3fnuz"), "x-in:bfloat16"),
    ("always-saturates", ("float32", "float8_e4m3fn"), "always-saturates"),
    ("never-saturates", ("float32", "float8_e5m2"), "never-saturates"),
    ("infinity-stays", ("float32", "float8_e5m2"), "infinity-stays"),
    ("infinity-as-from-24", ("float32", "float8_e4m3fnuz"), "infinity-to-largest:as from operator set 24 on"),
    ("ends-at-half", ("float32", "float8_e5m2"), "ends-at:half the highest value"),
    ("ends-at-240", ("float32", "float8_e4m3fn"), "ends-at:240"),
    ("flushes-outputs", ("float32", "float8_e4m3fn"), "flushes-outputs"),
    ("flushes-outputs", ("float32", "float6_e2m3fn"), "flushes-outputs:in a float 6"),
    ("float6-infinity-to-zero", ("float16", "float6_e3m2fn"), "infinity-to-zero:in a float 6"),
    ("flushes-before-rounding", ("float16", "float8_e4m3fn"), "flushes-outputs:before rounding"),
    ("flushes-halves-before-rounding", ("float32", "float8_e4m3fn"), "x-in:float16 + flushes-outputs:before rounding"),
    ("subnormal-halves-as-normal", ("float16", "float8_e5m2fnuz"), "subnormal-bits-as-normal"),
    ("of-halves-as-normal", ("float32", "float8_e5m2fnuz"), "x-in:float16 + subnormal-bits-as-normal"),
    ("reads-halves-as-zero", ("float8_e5m2fnuz", "float32"), "input-flushed:what is subnormal in float16"),
    ("flushes-inputs", ("float16", "float8_e5m2"), "flushes-inputs"),
    ("flushes-float32", ("float32", casts.E8M0), "flushes-inputs:in float8_e8m0fnu"),
    ("negative-zero-lost", ("float32", "float8_e4m3fn"), "minus-zero-lost"),
    ("nan-to-zero", ("float32", "float8_e4m3fn"), "nan-to-zero"),
    ("nan-to-minus-zero", ("float32", "float4_e2m1fn"), "nan-to-zero:the negative one, in float4_e2m1fn"),
    ("power-up-is-down", ("float32", casts.E8M0), "power-rounds:down where round_mode is up"),
    ("power-down-is-up", ("bfloat16", casts.E8M0), "power-rounds:up where round_mode is down"),
    ("power-halfway-down", ("float32", casts.E8M0),
     "power-rounds:to nearest, halfway down, where round_mode is nearest"),
    ("power-mode-ignored", ("float32", casts.E8M0), "power-mode-ignored:to nearest, halfway to an even code"),
    ("power-one-more", ("float32", casts.E8M0), "power-one-more"),
    ("power-one-less", ("float32", casts.E8M0), "power-one-less"),
    ("power-of-field", ("float32", casts.E8M0), "power-of-field:within the range"),
    ("power-never-saturates", ("float32", casts.E8M0), "power-beyond-to-nan"),
    ("power-always-saturates", ("float32", casts.E8M0), "power-always-saturates"),
    ("power-nan-largest", ("float32", casts.E8M0), "power-nan-to-largest"),
    ("saturates-integers", ("int8", "int4"), "integers-saturate"),
    ("upper-bits", ("int32", "int2"), "higher-bits-kept"),
    ("signed-as-unsigned", ("int4", "float32"), "input-as-unsigned"),
    ("nibbles-swapped", ("int8", "uint4"), "nibbles-swapped:of the output"),
    ("fnuz-as-fn", ("float8_e4m3fnuz", "float32"), "sibling-float8"),
    ("bits-as-integers", ("float8_e5m2", "float16"), "float-bits-as-integers"),
    ("least-power-as-zero", (casts.E8M0, "float32"), "flushes-outputs:of 16 bits and more"),
    ("power-doubled", (casts.E8M0, "float32"), "power-read-doubled"),
    ("power-nan-as-infinity", (casts.E8M0, "float32"), "power-nan-to-infinity"),
    ("wide-infinity-as-largest", ("float8_e5m2", "float32"), "input-infinity-to-largest"),
)  # fmt: skip


def named(run: Run, types: tuple[str, str], **attributes: Any) -> Counter[str]:
    """The causes given to a backend that runs the vectors of a pair of types, with how many elements each has.

    With attributes only those whose nodes have them.
    """
    cases = indexed_cases(VECTORS / file_name(OPERATOR, *types))
    return causes_of(run, (case for case in cases if attributes.items() <= dict(case.node.attributes).items()))


@pytest.mark.few(6)
@pytest.mark.parametrize(("box", "types", "key"), NAMED, ids=[f"{box}-{types[1]}" for box, types, _ in NAMED])
def test_a_wrong_cast_gets_its_cause_and_no_other(box: str, types: tuple[str, str], key: str) -> None:
    counts = named(BOXES[box], types)
    assert set(counts) == {sentence_of(key)}, counts


def upper_bits(node: Any, x: casts.Array) -> tuple[casts.Array, ...]:
    """As tinygrad casts NaN: the upper byte of float16's 0x7c01 is that of infinity."""
    right = casts.C.run(node, x)[0]
    return (np.where(np.isnan(x), (x.view(np.uint16) >> 8).astype(np.uint8), right.view(np.uint8)).view(right.dtype),)


def test_a_nan_that_loses_its_lower_bits_is_an_infinity() -> None:
    counts = named(upper_bits, ("float16", "float8_e5m2"))
    assert set(counts) == {sentence_of("nan-to-infinity:where its upper bits are those of infinity")}, counts


def ties_away_and_wraps(node: Any, x: casts.Array) -> tuple[casts.Array, ...]:
    """As ONNX Runtime casts to few bits: -8.5 becomes -9, whose low four bits are 7."""
    low, high = casts.RANGES[node.output_type]
    values = np.nan_to_num(x.astype(np.float64), posinf=0, neginf=0)
    whole = np.trunc(values + np.copysign(0.5, values)).astype(object)  # Python's integers
    kept = (whole - low) % (high - low + 1) + low
    return (kept.astype(np.int64).astype(node.outputs[0].dtype),)


def test_what_is_wrong_at_ties_and_beyond_the_range_is_one_cause() -> None:
    counts = named(ties_away_and_wraps, ("float32", "uint4"))
    assert set(counts) == {sentence_of("ties-away-and-wraps")}, counts


def half_added_in_float32(node: Any, x: casts.Array) -> tuple[casts.Array, ...]:
    """As OpenVINO casts to few bits: the number below a half becomes 1."""
    low, high = casts.RANGES[node.output_type]
    single = np.nan_to_num(x.astype(np.float32), posinf=0, neginf=0)
    whole = (np.sign(single) * np.floor(np.abs(single) + np.float32(0.5))).astype(object)
    return (((whole - low) % (high - low + 1) + low).astype(np.int64).astype(node.outputs[0].dtype),)


def test_a_half_added_in_float32_is_told_from_ties_away() -> None:
    counts = named(half_added_in_float32, ("float64", "int4"))
    assert set(counts) == {sentence_of("half-added-in-float32-and-wraps")}, counts


def by_ml_dtypes(node: Any, x: casts.Array) -> tuple[casts.Array, ...]:
    return (x.astype(node.outputs[0].dtype),)


def test_zero_for_nan_has_the_other_sign_in_ml_dtypes() -> None:
    counts = named(by_ml_dtypes, ("float32", casts.FLOAT4))
    assert set(counts) == {sentence_of("nan-to-zero:of the other sign, in float4_e2m1fn")}, counts


def test_powers_by_ml_dtypes_are_exponent_fields() -> None:
    counts = named(by_ml_dtypes, ("float32", casts.E8M0), round_mode="nearest", saturate=False)
    assert set(counts) == {sentence_of("power-of-field:but zero is NaN")}, counts


def all_but_nearest_ignored(node: Any, x: casts.Array) -> tuple[casts.Array, ...]:
    """Halfway to an even code in the modes up and down alone."""
    is_right = node.attributes.get("round_mode") == "nearest"
    return casts.C.run(node, x) if is_right else BOXES["power-mode-ignored"](node, x)


def test_a_mode_that_is_right_says_that_modes_are_not_ignored() -> None:
    counts = named(all_but_nearest_ignored, ("float32", casts.E8M0))
    modes = ("where round_mode is up", "where round_mode is down")
    assert len(counts) > 1 and all(text.endswith(modes) for text in counts), counts


def test_a_cause_of_several_modes_breaks_the_clause_of_each_nodes_own() -> None:
    records = BackendRecords({"name": "it", "version": "1", "spec": "it"})
    for case in indexed_cases(VECTORS / file_name(OPERATOR, "float32", casts.E8M0)):
        with np.errstate(all="ignore"):
            record(records, case, Outcome("ok", BOXES["power-mode-ignored"](case.node, *case.inputs)))
    evidence = evidence_of(records, all_deviating(records), explained_cases([records]))
    _, _, clauses = settle_causes(evidence)
    modes = [records.cases[case].node.value("round_mode") for case in evidence.deviating.case.tolist()]
    assert set(zip(modes, clauses, strict=True)) == {("up", "ONC-R4"), ("down", "ONC-R5"), ("nearest", "ONC-R6")}


def test_an_unexplained_element_breaks_the_rounding_to_its_own_type() -> None:
    def first(target: str, **attributes: Any) -> str:
        return first_clause(make_node(OPERATOR, real="float32", quantized=target, attributes=attributes))

    targets = ("float8_e5m2", casts.FLOAT4, "int4", casts.E8M0)
    assert [first(target) for target in targets] == ["ONC-R1", "ONC-R2", "ONC-R3", "ONC-R4"]
    assert first(casts.E8M0, round_mode="down") == "ONC-R5"


FIELDS = {"float8_e4m3fn": (4, 3), "float8_e5m2": (5, 2), "float8_e5m2fnuz": (5, 2), casts.E8M0: (8, 0)}


def moved_from_float32(word: int, exponent: int, significand: int) -> int:
    """As TVM casts to a type with fields of these sizes: what leaves a field is lost or lands in the next."""
    lost, less = 23 - significand, 128 - (1 << (exponent - 1))
    word = (word + (word >> lost & 1) + (1 << (lost - 1)) - 1) % 2**32
    if less == 0:
        return word >> lost & 0xFF
    place, sign = word >> 23 & 0xFF, word >> 31 << (exponent + significand)
    moved = sign | (place - less) << significand & 0xFF | word >> lost & ((1 << significand) - 1)
    return moved if place >= less else 0


def moved_to_float32(code: int, exponent: int, significand: int) -> int:
    sign, more = code >> (exponent + significand), 128 - (1 << (exponent - 1))
    return sign << 31 | ((code & ((1 << (exponent + significand)) - 1)) << (23 - significand)) + (more << 23)


def as_tvm(node: Any, x: casts.Array) -> tuple[casts.Array, ...]:
    small = node.output_type if node.input_type == "float32" else node.input_type
    move = moved_from_float32 if node.input_type == "float32" else moved_to_float32
    words = np.ascontiguousarray(x).view(f"uint{8 * x.itemsize}").reshape(-1).tolist()
    dtype = node.outputs[0].dtype
    found = np.array([move(word, *FIELDS[small]) for word in words], f"uint{8 * dtype.itemsize}")
    return (found.view(dtype).reshape(x.shape),)


@pytest.mark.parametrize(
    ("types", "ending"),
    [
        (("float32", "float8_e4m3fn"), ""),
        (("float32", "float8_e5m2fnuz"), ""),
        (("float32", casts.E8M0), ":in float8_e8m0fnu"),
        (("float8_e4m3fn", "float32"), ":to 16 bits and more"),
        (("float8_e5m2", "float32"), ":to 16 bits and more"),
    ],
)
def test_bits_moved_without_regard_for_ends_are_one_cause(types: tuple[str, str], ending: str) -> None:
    counts = named(as_tvm, types)
    assert set(counts) == {sentence_of(f"bits-moved-through-float32{ending}")}, counts


# Of a type the bits of exponent and significand, and the bias.
SIZES = {
    "float32": (8, 23, 127),
    "bfloat16": (8, 7, 127),
    "float8_e4m3fn": (4, 3, 7),
    "float8_e5m2": (5, 2, 15),
    "float8_e5m2fnuz": (5, 2, 16),
}


def moved_field_by_field(word: int, given: tuple[int, int, int], wanted: tuple[int, int, int]) -> int:
    """As Triton's interpreter casts: the word of another type."""
    (bits, length, bias), (wanted_bits, wanted_length, wanted_bias) = given, wanted
    field, part = word >> length & ((1 << bits) - 1), word & ((1 << length) - 1)
    exponent, lost, zero = field, length - wanted_length, field == part == 0
    if field == 0 and part:
        while part < 1 << length:
            part, exponent = part << 1, exponent - 1
        part, exponent = part - (1 << length), exponent + 1
    place = 0 if zero else min(max(exponent - bias + wanted_bias, 0), (1 << wanted_bits) - 1)
    part = (part >> lost) + (part >> (lost - 1) & 1) if lost > 0 else part << -lost
    if place == 0 and field:
        more = 1 - wanted_bias - field + bias
        part = part >> more | (1 << wanted_length >> more)
    return word >> (bits + length) << (wanted_bits + wanted_length) | place << wanted_length | part


def as_interpreted_by_triton(node: Any, x: casts.Array) -> tuple[casts.Array, ...]:
    sizes, dtype = (SIZES[node.input_type], SIZES[node.output_type]), node.outputs[0].dtype
    words = np.ascontiguousarray(x).view(f"uint{8 * x.itemsize}").reshape(-1).tolist()
    found = np.array([moved_field_by_field(word, *sizes) for word in words], f"uint{8 * dtype.itemsize}")
    if "fnuz" in node.output_type:
        found[found == 0x80] = 0
    return (found.view(dtype).reshape(x.shape),)


@pytest.mark.parametrize(
    ("types", "cause"),
    [
        (("float32", "float8_e4m3fn"), "fields-moved"),
        (("float32", "float8_e5m2fnuz"), "fields-moved"),
        (("bfloat16", "float8_e5m2"), "fields-moved"),
        (("float8_e4m3fn", "float32"), "nan-code-as-number"),  # all that there is to see
        (("float8_e5m2", "bfloat16"), "nan-code-as-number"),
    ],
)
def test_fields_moved_one_by_one_are_one_cause(types: tuple[str, str], cause: str) -> None:
    counts = named(as_interpreted_by_triton, types)
    assert set(counts) == {sentence_of(cause)}, counts


def with_minus_zero(node: Any, x: casts.Array) -> tuple[casts.Array, ...]:
    """A negative number that becomes zero keeps its sign, whose code is NaN."""
    (found,) = casts.C.run(node, x)
    words = np.where(np.signbit(x) & (found.astype(np.float64) == 0), np.uint8(0x80), found.view(np.uint8))
    return (words.astype(np.uint8).view(found.dtype),)


def test_the_code_of_minus_zero_where_it_is_nan_is_a_cause() -> None:
    assert set(named(with_minus_zero, ("float32", "float8_e4m3fnuz"))) == {sentence_of("minus-zero-to-nan")}


def test_a_case_of_one_input_is_what_an_audit_looks_at() -> None:
    (case, *_) = indexed_cases(VECTORS / file_name(OPERATOR, "float32", "int4"))
    found = recorded_case(case, np.zeros(case.size), [(2, 5)])
    assert found is not None and found.probe.others == () and found.numbers.tolist()[:4] == [-1, -1, 5, -1]
    assert np.array_equal(found.probe.x, case.inputs[0].reshape(-1), equal_nan=True)
    (of_integers, *_) = indexed_cases(VECTORS / file_name(OPERATOR, "int8", "int4"))
    whole = recorded_case(of_integers, np.zeros(of_integers.size), [])
    assert whole is not None and np.array_equal(whole.probe.x, of_integers.inputs[0].reshape(-1))


def mixed(node: Any, x: casts.Array) -> tuple[casts.Array, ...]:
    """Right but in one number of seven, which is anything."""
    (right,) = casts.C.run(node, x)
    codes = right.reshape(-1).view(np.uint8).copy()
    codes[::7] ^= 5
    return (codes.view(right.dtype).reshape(x.shape),)


def test_what_no_arithmetic_does_stays_unexplained() -> None:
    counts = named(mixed, ("float32", "float8_e4m3fn"))
    assert counts[UNEXPLAINED] == sum(counts.values()) > 0, counts


def results(run: Run, given: Sequence[Case]) -> list[bytes]:
    """The bytes of all results; empty where a mistake does not apply."""
    found = []
    for case in given:
        try:
            with np.errstate(all="ignore"):
                found.append(run(case.node, *case.inputs)[0].tobytes())
        except (ValueError, NotImplementedError):
            found.append(b"")
    return found


@pytest.mark.slow
def test_mistakes_break_parts_of_the_document_and_differ_from_one_another() -> None:
    mistakes = TESTED[OPERATOR].mistakes or ()
    assert {cause.role for cause, _ in mistakes} <= set(OPERATORS[OPERATOR].roles)
    given = [
        case for types in OPERATORS[OPERATOR].files for case in indexed_cases(VECTORS / file_name(OPERATOR, *types))
    ]
    found = Counter(tuple(results(run, given)) for _, run in mistakes)
    assert len(found) > 100
    assert max(found.values()) == 1


@settings(max_examples=60, deadline=None)
@given(cases(operator=OPERATOR, real="float64", quantized="float8_e8m0fnu", rank=2))
def test_types_and_rank_are_kept(case: Case) -> None:
    assert (case.node.input_type, case.node.output_type, case.inputs[0].ndim) == ("float64", "float8_e8m0fnu", 2)


@settings(max_examples=200, deadline=None)
@given(cases(operator=OPERATOR, specials=False))
def test_no_specials_are_drawn_unless_wanted(case: Case) -> None:
    assert np.isfinite(case.inputs[0].astype(np.float64)).all()


@pytest.mark.slow
def test_a_few_hundred_cases_show_what_clauses_are_about() -> None:
    made = [case for seed in (4, 5) for case in generate_cases(OPERATOR, 400, seed)]
    shown = {clause for case in made for clause in case.clauses}
    assert shown >= {clause.id for clause in OPERATORS[OPERATOR].clauses} - {"ONC-F2"}
