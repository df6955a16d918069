"""int48, an element type that no array has: int64 holds it, and nodes, files and headers say what it is."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tiebreak.adapters.external import node_header
from tiebreak.adapters.program import dtype_named
from tiebreak.conformance.cases.plan import parse_typed_tensor
from tiebreak.golden.case_file import pack, unpack
from tiebreak.golden.elements import CARRIERS, ELEMENT_TYPES, INTEGER_TYPES, numpy_dtype
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node, node_from_key
from tiebreak.golden.nodes import Case, Node, with_constants
from tiebreak.golden.problem import Array, array_of, codes_of, kind_of
from tiebreak.golden.problems import problems_of
from tiebreak.reports.records import parse_case, stored_case

OPERATOR = "tosa.RESCALE"
END = 1 << 47


def node_of(target: str = "int32", *, scale32: bool = False) -> Node:
    attributes = {"scale32": scale32, "rounding_mode": "SINGLE_ROUND", "per_channel": False}
    return make_node(OPERATOR, real="int48", quantized=target, attributes=attributes)


def case_of(values: list[int], multiplier: int = 1 << 14, shift: int = 32, target: str = "int32") -> Case:
    given = (values, [multiplier], [shift], [0], [0])
    node = node_of(target)
    inputs = tuple(np.array(one).astype(kind.dtype) for one, kind in zip(given, node.inputs, strict=True))
    return Case("int48", node, inputs)


def test_int64_holds_int48_alone() -> None:
    assert numpy_dtype("int48") == np.int64 and kind_of(np.zeros(1, np.int64)) is INTEGER_TYPES["int48"]
    assert (INTEGER_TYPES["int48"].lowest, INTEGER_TYPES["int48"].highest) == (-END, END - 1)
    assert len({*CARRIERS.values()}) == len(CARRIERS) and not {*CARRIERS.values()} & {*ELEMENT_TYPES}
    array = array_of("int48", (2,), [-END, END - 1])
    assert codes_of(array).tolist() == [-END, END - 1]
    with pytest.raises(ValueError, match="outside int48"):
        array_of("int48", (1,), [END])


def test_a_node_says_int48_and_comes_back_from_its_key() -> None:
    node = with_constants(node_of(), {"input_zp": np.zeros(1, np.int64)})
    assert node.input_type == "int48" and node.inputs[0].dtype == np.int64 and '"int48"' in node.key
    again = node_from_key(node.key)
    assert again == node and again.inputs[3].element == "int48" and again.baked[0].type == "int48"


def test_an_element_beyond_48_bits_is_no_input() -> None:
    assert problems_of(case_of([END - 1, -END]))[0].kinds[0] is INTEGER_TYPES["int48"]
    for value in (END, -END - 1):
        with pytest.raises(InvalidInput, match="input has a value outside int48"):
            problems_of(case_of([value]))
    with pytest.raises(InvalidInput, match="multipliers of 16 bits alone"):
        node_of(scale32=True)
    with pytest.raises(InvalidInput, match="'int48' is not one of"):
        make_node(OPERATOR, real="int8", quantized="int48", attributes={**node_of().attributes})


def test_files_of_cases_and_records_keep_it() -> None:
    case = case_of([END - 1, -END, 5])
    (again,) = unpack(pack([case], {"made": "here"}), {"made": "here"})
    stored = parse_case(stored_case(case))
    for found in (again, stored):
        assert found.node == case.node and same(found.inputs, case.inputs)
    assert json.loads(stored_case(case)["inputs"])[0]["type"] == "int48"


def same(one: tuple[Array, ...], other: tuple[Array, ...]) -> bool:
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_a_program_is_told_int48_and_gets_int64() -> None:
    header = node_header(node_of())
    assert [one["dtype"] for one in header["inputs"]] == ["int48", "int16", "int8", "int48", "int32"]
    assert dtype_named("int48") == np.int64


def test_a_typed_number_is_read_in_48_bits() -> None:
    kind = node_of().inputs[0]
    assert parse_typed_tensor(kind, str(END - 1)).tolist() == END - 1
    with pytest.raises(InvalidInput, match="outside int48's"):
        parse_typed_tensor(kind, str(END))
