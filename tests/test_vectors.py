"""The golden vectors hold what they promise, and damage is named."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiebreak.conformance.judging.chunk import Chunk
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.golden import builder
from tiebreak.golden.builder import (
    all_files,
    build_file,
    build_vectors,
    check_vectors,
    document_of,
    file_name,
    vector_groups,
)
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, INTEGER_TYPES, decode, encode, neighbour
from tiebreak.golden.errors import DamagedFile, InvalidInput, MachineryFailed
from tiebreak.golden.flags import FLAGS
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.operators.model import ALL_QUANTIZED_TYPES
from tiebreak.golden.problem import UNDEFINED, codes_of
from tiebreak.golden.problems import quantization_of
from tiebreak.golden.rounding import ROUND_MODES
from tiebreak.golden.samples.model import Sample, reals, scalar
from tiebreak.golden.vector_digests import digest, sealed
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vector_layout import dump
from tiebreak.golden.vector_results import solved_parts
from tiebreak.golden.vectorfile import SCHEMAS, VECTORS, read_cases, read_document, vector_paths

HALF = Fraction(1, 2)
TYPES = [(real, quantized) for real in FLOAT_TYPES for quantized in ALL_QUANTIZED_TYPES]


# MIN_COMBINED, the one mode that the document allows bfloat16, names qint8 only among the signed types.
ALL_OPEN = [("tensorflow.Dequantize", "int16", "bfloat16"), ("tensorflow.Dequantize", "int32", "bfloat16")]


def load(operator: str, real: str, quantized: str) -> list[Case]:
    return indexed_cases(VECTORS / file_name(operator, real, quantized))


def test_there_is_a_file_for_every_operator_and_pair_of_types() -> None:
    assert {path.name for path in vector_paths()} == {file_name(*file) for file in all_files()}
    by_operator = Counter(operator for operator, _, _ in all_files())
    assert by_operator["ngraph.Quantize"] == by_operator["ngraph.Dequantize"] == 4 * 8
    assert set(by_operator) == set(OPERATORS)


@pytest.mark.parametrize("file", list(all_files()), ids=lambda file: file_name(*file))
def test_kernel_agrees_with_every_vector(file: tuple[str, str, str]) -> None:
    """By the same comparison that every run makes; an element may be unspecified only where both say so."""
    compared = 0
    for case in load(*file):
        truths, stored = truths_of(case), case.expected
        assert stored is not None
        assert np.array_equal(truths.judged_by.exact_specified, stored.exact_state != UNDEFINED), case.id
        compared += int(np.count_nonzero(stored.exact_state != UNDEFINED))
    assert compared > 100 or file in ALL_OPEN or has_every_input(file)


def has_every_input(file: tuple[str, str, str]) -> bool:
    """Whether no other input is left: every code of the input's type stands in an operator's only input."""
    codes = {int(code) for case in load(*file) for code in codes_of(case.inputs[0]).reshape(-1)}
    return len(codes) == 1 << ELEMENT_TYPES[file[1]].bits and all(len(case.inputs) == 1 for case in load(*file))


@pytest.mark.parametrize(("real", "quantized"), [(r, q) for r, q in TYPES if INTEGER_TYPES[q].bits <= 8])
def test_every_tie_in_range_and_both_its_neighbours_are_there_for_small_types(real: str, quantized: str) -> None:
    """Wherever the input type holds the tie at all."""
    kind, width = INTEGER_TYPES[quantized], FLOAT_TYPES[real]
    inputs: dict[str, set[int]] = {mode: set() for mode in ROUND_MODES}
    for case in load("ngraph.Quantize", real, quantized):
        problem = quantization_of(case)
        if problem.axes == () and problem.scale.size and decode(int(problem.scale[()]), width) == 1:
            zero_point = int(problem.zero_point[()])
            shift = 0 if kind.signed else 1 << (kind.bits - 1)
            if zero_point in (0, shift):
                inputs[problem.mode].update(int(bits) for bits in problem.x.reshape(-1))
    ties = [k + HALF for k in range(kind.lowest - (0 if kind.signed else 1 << (kind.bits - 1)), kind.highest)]
    held = [tie for tie in ties if decode(encode(tie, width), width) == tie]
    assert len(held) > (14 if kind.bits == 4 else 120)
    for mode, present in inputs.items():
        for tie in held:
            if kind.signed or kind.lowest <= tie < kind.highest:
                bits = encode(tie, width)
                assert {neighbour(bits, width, step) for step in (-1, 0, 1)} <= present or not in_reach(tie, kind), (
                    mode,
                    tie,
                )


def in_reach(tie: Fraction, kind: Any) -> bool:
    """Ties whose neighbours are stored: those reachable with the middle zero point."""
    middle = 0 if kind.signed else 1 << (kind.bits - 1)
    return bool(kind.lowest - middle <= tie < kind.highest - middle)


@pytest.mark.parametrize(("real", "quantized"), TYPES)
def test_every_mode_and_type_has_every_kind_of_trap(real: str, quantized: str) -> None:
    wanted = {
        "Tie", "NearTie", "AddHalf", "RangeEdge", "Saturates", "ZeroPointParity", "ScaleNotPowerOfTwo", "Subnormal",
        "Overflow", "Infinity", "NaN", "NegativeZero", "Lane", "PerAxis", "MultiAxis", "NegativeScale", "ClampOrder",
        "Tiny", "OlderForm", "ZeroScale", "Reciprocal", "PrecisionSensitive", "LargeOdd",
    }  # fmt: skip
    found: dict[str, Counter[str]] = {mode: Counter() for mode in ROUND_MODES}
    for case in load("ngraph.Quantize", real, quantized):
        found[case.node.round_mode].update(case.flags)
    for mode, flags in found.items():
        assert not wanted - set(flags), mode


def test_lanes_are_longer_than_any_simd_width_with_a_tie_in_each() -> None:
    case = next(
        c for c in load("onnx.QuantizeLinear", "float32", "uint8") if c.id.endswith("/lanes/ROUND_NEAREST_TOWARD_EVEN")
    )
    assert case.size > 4 * 64
    assert case.size % 64 == 63
    assert np.all(np.mod(case.inputs[0].astype(np.float64), 1) == 0.5)


def test_0_49999997_and_its_like_are_there() -> None:
    case = next(c for c in load("ngraph.Quantize", "float32", "int8") if "/add-half/" in c.id)
    assert np.float32(0.49999997) in case.inputs[0]
    assert np.float32(-0.49999997) in case.inputs[0]


def test_ids_are_unique_flags_explained_every_clause_cited_and_heads_are_the_operators() -> None:
    ids: Counter[str] = Counter()
    cited: set[str] = set()
    for path in vector_paths():
        document = read_document(path, trusted=True)
        built = document_of(OPERATORS[document["operator"]], document["groups"])
        assert {key: document[key] for key in built} == built, path.name
        vectors = [vector for group in document["groups"] for vector in group["vectors"]]
        ids.update(vector["id"] for vector in vectors)
        cited |= {clause for vector in vectors for clause in vector["clauses"]}
        used = {flag for vector in vectors for flag in vector["flags"]}
        assert used == set(document["flags"]) <= set(FLAGS), path.name
    assert ids.most_common(1)[0][1] == 1
    known = {clause.id for spec in OPERATORS.values() for clause in spec.clauses}
    assert cited == known, f"clauses that no vector checks, or unknown ones: {sorted(cited ^ known)}"


def test_builder_makes_the_same_bytes_again() -> None:
    """One file here, a sixteenth of them in CI, all of them in the slow test below."""
    operator, real, quantized = "onnx.QuantizeLinear", "bfloat16", "uint4"
    text = (VECTORS / file_name(operator, real, quantized)).read_text(encoding="utf-8")
    assert build_file(operator, real, quantized) == text == build_file(operator, real, quantized)


@pytest.mark.slow
def test_builder_makes_the_same_bytes_of_every_file_again() -> None:
    checked = dict(check_vectors())
    assert set(checked) == {file_name(*file) for file in all_files()}
    assert not {name: problem for name, problem in checked.items() if problem}


@pytest.mark.slow
def test_one_operators_files_are_built_and_checked_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    operator = "tensorflow.FakeQuantWithMinMaxVarsPerChannel"
    (path,) = build_vectors(tmp_path, [operator])
    assert path.read_bytes() == (VECTORS / path.name).read_bytes()
    (tmp_path / file_name("ngraph.Dequantize", "int8", "float32")).write_text("no vectors")
    built = {(operator,): (path.name, path.read_text(encoding="utf-8"))}
    monkeypatch.setattr(builder, "build_all", lambda operators: iter([built[tuple(operators)]]))
    assert list(check_vectors(tmp_path, [operator])) == [(path.name, "")]
    with pytest.raises(InvalidInput, match=r"unknown operator 'mine\.Op'"):
        next(all_files(["mine.Op"]))


def sample(theme: str, *flags: str) -> Sample:
    node = {"real": "float32", "quantized": "int8"}
    return Sample(theme, node, (reals("float32", [0.5, 300]), scalar("float32", 1), scalar("int8", 3)), flags)


def test_a_sample_becomes_a_vector_with_the_oracles_results() -> None:
    spec = OPERATORS["onnx.QuantizeLinear"]
    (group,) = vector_groups(spec, "mine", solved_parts(spec, sample("half", "Tie")))
    (vector,) = group["vectors"]
    assert (vector["id"], vector["expected"], vector["flags"]) == ("mine/half", "3 127", ["Tie"])
    assert group["types"] == {"real": "float32", "quantized": "int8"}


def test_a_role_that_the_operator_has_not_is_named() -> None:
    spec = OPERATORS["onnx.QuantizeLinear"]
    with pytest.raises(ValueError, match=r"half: onnx.QuantizeLinear has no such roles: quotent"):
        vector_groups(spec, "mine", solved_parts(spec, replace(sample("half"), roles=("quotent",))))


def test_flags_of_a_sample_with_a_mode_are_those_that_its_values_show() -> None:
    spec = OPERATORS["onnx.QuantizeLinear"]
    made = replace(sample("half", "NearTie", "Lane"), mode="ROUND_NEAREST_TOWARD_EVEN")
    ((vector,),) = (group["vectors"] for group in vector_groups(spec, "mine", solved_parts(spec, made)))
    assert vector["flags"] == ["Tie", "Saturates", "Lane"]
    assert vector["id"] == "mine/half/ROUND_NEAREST_TOWARD_EVEN" and vector["clauses"] == ["ONQ-R1"]


def test_independent_elements_that_the_document_leaves_open_stand_apart() -> None:
    spec = OPERATORS["ngraph.Quantize"]
    whole = replace(sample("half"), mode="ROUND_UP", independent=True)
    groups = vector_groups(spec, "mine", solved_parts(spec, whole))
    assert [(g["theme"], g["inputs"][0]["decimal"]) for g in groups] == [("half", "0.5"), ("half-open", "300.0")]
    assert [g["vectors"][0]["expected"] for g in groups] == ["4", "?"]
    (together,) = vector_groups(spec, "mine", solved_parts(spec, replace(whole, independent=False)))
    assert together["vectors"][0]["expected"] == "4 ?"


def test_samples_of_one_name_and_unknown_flags_are_refused() -> None:
    spec = OPERATORS["onnx.QuantizeLinear"]
    (solved,) = solved_parts(spec, sample("half"))
    with pytest.raises(ValueError, match="two samples are named mine/half"):
        vector_groups(spec, "mine", [solved, solved])
    with pytest.raises(ValueError, match="half: no such flags: Nothing"):
        vector_groups(spec, "mine", solved_parts(spec, sample("half", "Nothing")))


def damaged(tmp_path: Path, change: Any, *, redigest: bool = True) -> Path:
    document = json.loads((VECTORS / "onnx.QuantizeLinear-float32-int4.json").read_text(encoding="utf-8"))
    change(document)
    path = tmp_path / "mine.json"
    if redigest and "groups" in document:
        document = sealed(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def first_vector(document: dict[str, Any]) -> dict[str, Any]:
    vector: dict[str, Any] = some_group(document)["vectors"][0]
    return vector


def some_group(document: dict[str, Any]) -> dict[str, Any]:
    group: dict[str, Any] = next(g for g in document["groups"] if g["theme"].startswith("ties-"))
    return group


CHANGES = {
    "an extra key": lambda d: d.update(extra=1),
    "another format": lambda d: d.update(format="other"),
    "unknown operator": lambda d: d.update(operator="onnx.Nothing"),
    "too few results": lambda d: first_vector(d).update(expected="1 2"),
    "text for results": lambda d: first_vector(d).update(expected="one"),
    "unknown attribute": lambda d: first_vector(d).update(attributes={"colour": 3}),
    "bits of the wrong width": lambda d: some_group(d)["inputs"][0].update(bits="3f80"),
    "a shape that does not fit": lambda d: some_group(d)["inputs"][0].update(shape=[1]),
    "a huge shape": lambda d: some_group(d)["inputs"][0].update(shape=[16777216] * 16),
    "a scale of the wrong shape": lambda d: some_group(d)["inputs"][1].update(shape=[1]),
    "a zero point out of range": lambda d: some_group(d)["inputs"][2].update(values="99"),
    "no groups": lambda d: d.pop("groups"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_damaged_file_is_named(tmp_path: Path, what: str) -> None:
    path = damaged(tmp_path, CHANGES[what])
    with pytest.raises(DamagedFile, match=r"mine\.json: damaged vector file"):
        read_cases(path)


UNNOTICED = {
    "a result": (lambda d: first_vector(d).update(expected="7 " * 15 + "7"), r"/ties-.* does not match its check"),
    "an input": (lambda d: some_group(d)["inputs"][1].update(bits="40000000"), r"/ties-.* does not match its check"),
    "a theme": (lambda d: some_group(d).update(theme="other"), r"/ties-.* does not match its check"),
    "the operator": (lambda d: d.update(operator="onnx.DequantizeLinear"), "does not match its sha256"),
    "a vector left out": (lambda d: d["groups"].pop(5), "does not match its sha256"),
    "two vectors exchanged": (lambda d: d["groups"].insert(5, d["groups"].pop(6)), "does not match its sha256"),
    "no check": (lambda d: first_vector(d).pop("check"), "check"),
    "no digest": (lambda d: d.pop("sha256"), "sha256"),
}


@pytest.mark.parametrize("what", UNNOTICED)
@pytest.mark.parametrize("trusted", [True, False])
def test_what_is_changed_without_its_digest_is_noticed(tmp_path: Path, what: str, trusted: bool) -> None:
    change, message = UNNOTICED[what]
    path = damaged(tmp_path, change, redigest=False)
    with pytest.raises(DamagedFile, match=rf"mine\.json: damaged vector file: .*{message}"):
        read_cases(path, trusted=trusted)


def changed_lines(name: str, change: Any) -> list[tuple[str, str]]:
    """Lines before and after of a file whose document is changed and written again."""
    text = (VECTORS / name).read_text(encoding="utf-8")
    document = json.loads(text)
    assert dump(document) == text
    change(document)
    lines = zip(text.splitlines(), dump(document).splitlines(), strict=True)
    return [(before, after) for before, after in lines if before != after]


def test_a_change_of_one_vector_is_a_diff_of_one_line() -> None:
    """Whatever changes: of a vector with inputs of its own any field, of one that shares them its results."""

    def move(document: dict[str, Any]) -> None:
        group = some_group(document)
        group["inputs"][1].update(bits="40000000", decimal="2.0")
        group["vectors"][0].update(expected="7", flags=["Tie"], clauses=["ONQ-R1"])

    def round_otherwise(document: dict[str, Any]) -> None:
        some_group(document)["vectors"][3]["expected"] = "7"

    ((_, after),) = changed_lines("onnx.QuantizeLinear-float32-int4.json", move)
    assert json.loads(after.rstrip(","))["inputs"][1]["decimal"] == "2.0"
    ((before, after),) = changed_lines("ngraph.Quantize-float32-int4.json", round_otherwise)
    assert json.loads(after.rstrip(","))["expected"] == "7" != json.loads(before.rstrip(","))["expected"]


def test_a_vector_is_a_line_and_so_are_inputs_that_several_share() -> None:
    for name in ("ngraph.Quantize-float32-int4.json", "tensorflow.QuantizeV2-float32-int8.json"):
        text = (VECTORS / name).read_text(encoding="utf-8")
        groups, lines = json.loads(text)["groups"], [line.strip().rstrip(",") for line in text.splitlines()]
        for group in groups:
            alone = len(group["vectors"]) == 1
            for whole in [group] if alone else [*group["inputs"], *group["vectors"]]:
                assert lines.count(json.dumps(whole, ensure_ascii=False)) >= 1


OLD = Path(__file__).parent / "vectors_of_version_1"


@pytest.mark.parametrize("path", sorted(OLD.glob("*.json")), ids=lambda path: path.stem)
def test_a_file_of_version_1_still_gives_the_same_cases(path: Path) -> None:
    now = {case.id: case for case in read_cases(VECTORS / path.name)}
    cases = read_cases(path)
    assert json.loads(path.read_text(encoding="utf-8"))["version"] == 1 and len(cases) >= 3
    for case in cases:
        assert told(case) == told(now[case.id])


def told(case: Case) -> Any:
    """Everything about a case, to compare."""
    assert case.expected is not None
    arrays = [*map(codes_of, case.inputs), *vars(case.expected).values()]
    types = [array.dtype.name for array in case.inputs]
    return case.node.key, case.flags, case.clauses, types, [(array.shape, array.tolist()) for array in arrays]


def test_damage_of_a_file_of_version_1_is_noticed(tmp_path: Path) -> None:
    document = json.loads((OLD / "tensorflow.QuantizeV2-float32-int8.json").read_text(encoding="utf-8"))
    path = tmp_path / "mine.json"
    document["groups"][0]["vectors"][0]["flags"] = []
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(DamagedFile, match="does not match its sha256"):
        read_cases(path)
    document["groups"][0]["vectors"][0]["check"] = "0" * 16  # of version 2
    document["sha256"] = digest(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(DamagedFile, match="'check' was unexpected"):
        read_cases(path)


@pytest.mark.parametrize("version", [3, 0, None, "2", [2]])
def test_a_file_of_another_version_is_refused_with_those_that_are_read(tmp_path: Path, version: Any) -> None:
    path = damaged(tmp_path, lambda d: d.update(version=version))
    for trusted in (True, False):
        with pytest.raises(DamagedFile, match=r'mine\.json: "version" is .*, this Tiebreak reads 1 and 2$'):
            read_cases(path, trusted=trusted)


def test_the_schema_lies_beside_files_of_ones_own_and_is_none(tmp_path: Path) -> None:
    for schema in SCHEMAS.values():
        (tmp_path / schema.name).write_bytes(schema.read_bytes())
    with pytest.raises(InvalidInput, match="no vector files"):
        vector_paths(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000, '{"format": "tiebreak-vectors"}', "\x00"])
def test_text_that_is_no_vector_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DamagedFile, match=r"mine\.json"):
        read_cases(path)


def test_missing_file_and_empty_folder_are_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"nowhere\.json"):
        read_cases(tmp_path / "nowhere.json")
    with pytest.raises(InvalidInput, match="no vector files"):
        vector_paths(tmp_path)


@pytest.mark.slow
def test_a_file_of_each_operator_fits_the_schema() -> None:
    largest_first = sorted(vector_paths(), key=lambda path: -path.stat().st_size)
    smallest = {path.name.partition("-")[0]: path for path in largest_first}
    assert len(smallest) == len(OPERATORS)
    for path in smallest.values():
        assert read_document(path)["version"] == 2


@pytest.mark.slow
def test_all_files_fit_the_schema() -> None:
    for path in vector_paths():
        assert read_document(path)["version"] == 2


def test_a_vector_that_the_kernel_contradicts_ends_the_work() -> None:
    """Whether it is solved alone or with others."""
    case = next(case for case in load("onnx.QuantizeLinear", "float32", "uint8") if "/ties-zp0" in case.id)
    assert case.expected is not None
    wrong = replace(case, expected=replace(case.expected, exact=case.expected.exact ^ 1))
    assert truths_of(case).judged_by.specified.all()
    for solve in (truths_of, lambda one: Chunk([case, one]).judged_by):
        with pytest.raises(MachineryFailed, match=rf"{re.escape(case.id)}: the kernel and the golden vector disagree"):
            solve(wrong)


def test_vectors_that_share_inputs_are_posed_with_their_own_rounding_mode() -> None:
    modes = set()
    for case in read_cases(VECTORS / file_name("ngraph.Quantize", "float32", "uint8"))[:40]:
        (problem,) = truths_of(case).problems
        assert problem.mode == case.node.round_mode
        modes.add(case.node.round_mode)
    assert len(modes) == 9
