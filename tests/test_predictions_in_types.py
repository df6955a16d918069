"""What known mistakes predict lies in the output's type: a cast makes no code of a number that stands for nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path

import numpy as np
import pytest
from causes_of_records import causes_of

from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.model import Mistake
from tiebreak.conformance.operators.quantize_mistakes import HYPOTHESES
from tiebreak.conformance.operators.quantize_pairs import pairs_of
from tiebreak.conformance.operators.quantize_prediction import predicted
from tiebreak.golden.builder import all_files, file_name
from tiebreak.golden.elements import CARRIERS, INTEGER_TYPES, IntegerType, numpy_dtype
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import UNDEFINED, Array
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

QUANTIZED = [kind for kind in INTEGER_TYPES.values() if kind.name not in CARRIERS]
VARIED = 6  # codes of a vector that no constant can be
TO_INTEGERS = defaultdict[str, list[Path]](list)  # the files of operators with mistakes and such an output
for operator, input_type, output_type in all_files():
    if TESTED[operator].mistakes and output_type in INTEGER_TYPES:
        TO_INTEGERS[operator].append(VECTORS / file_name(operator, input_type, output_type))


def varied_vectors(paths: Sequence[Path]) -> dict[str, list[Case]]:
    """By output type some vectors with many specified codes."""
    found = defaultdict[str, list[Case]](list)
    for case in chain.from_iterable(islice(filter(is_varied, indexed_cases(path)), 3) for path in paths):
        found[case.node.output_type].append(case)
    return found


def is_varied(case: Case) -> bool:
    assert case.expected is not None
    return bool((case.expected.exact_state != UNDEFINED).all()) and np.unique(case.expected.exact).size >= VARIED


def first_output(run: Mistake, case: Case) -> Array | None:
    try:
        with np.errstate(all="ignore"):
            return run(case.node, *(array.copy() for array in case.inputs))[0]
    except OverflowError:
        raise  # a prediction leaves its type
    except (ArithmeticError, ValueError, TypeError, IndexError, NotImplementedError):
        return None


@pytest.mark.parametrize("operator", TO_INTEGERS)
def test_no_mistake_gives_one_end_of_the_type_whatever_the_input(operator: str) -> None:
    """An unsigned type's 0 apart, which a zero point that is subtracted may leave."""
    constant = []
    for kind, cases in varied_vectors(TO_INTEGERS[operator]).items():
        ends = {INTEGER_TYPES[kind].lowest, INTEGER_TYPES[kind].highest} - {0}
        for cause, run in TESTED[operator].mistakes or ():
            outputs = [found for case in cases if (found := first_output(run, case)) is not None]
            codes = {int(code) for found in outputs for code in np.unique(found.astype(np.int64))}
            if len(codes) == 1 and codes <= ends:
                constant.append((cause.id, kind))
    assert constant == []


@pytest.mark.parametrize("kind", QUANTIZED, ids=lambda kind: kind.name)
def test_no_mistake_of_a_quantizer_leaves_the_type(kind: IntegerType) -> None:
    x = np.float32([*np.linspace(-5, 5, 41), -1e30, 1e30, -np.inf, np.inf, np.nan])
    scale, zero_point = np.full(x.shape, 0.75, np.float32), np.full(x.shape, 1)
    own = QuantizationOperands(x, scale, zero_point, kind.lowest, kind.highest, EVEN)
    made = 0
    with np.errstate(all="ignore"):
        for _, predict in (*HYPOTHESES, *pairs_of(EVEN)):
            with suppress(NotImplementedError):
                made += predicted(predict, own, numpy_dtype(kind.name)).size
    assert made > 1000 * x.size


def test_a_code_that_the_type_lacks_is_no_prediction() -> None:
    own = QuantizationOperands(np.float32([1]), np.float32([1]), np.array([0]), -(2**15), 2**15 - 1, EVEN)
    with pytest.raises(OverflowError, match="leaves int16"):
        predicted(lambda o: np.array([o.lowest - 1]), own, np.dtype(np.int16))


def test_a_float32_beyond_int32_is_its_highest_value() -> None:
    """float32 has 2^31 for 2^31 - 1, which a cast may make the lowest value."""
    by_id = {cause.id: run for cause, run in TESTED["tensorflow.QuantizeV2"].mistakes or ()}
    node = make_node("tensorflow.QuantizeV2", real="float32", quantized="int32", attributes={"mode": "MIN_FIRST"})
    for id_ in ("one-division + rounds-once-to-even", "products-rounded-once-to-even + flushes"):
        codes, *_ = by_id[id_](node, np.float32([0, 6]), np.float32(0), np.float32(6))
        assert codes.tolist() == [-(2**31), 2**31 - 1], id_


def test_a_backend_that_always_gives_the_highest_value_has_no_symmetric_range() -> None:
    """Blocks to int16, to which a factor of the symmetric range makes no difference that would tell."""
    node = make_node("onnx.QuantizeLinear", real="float32", quantized="int16", attributes={"axis": 1, "block_size": 4})
    x = np.linspace(-3, 3, 64, dtype=np.float32).reshape(4, 16)
    scales, zero_points = np.linspace(0.1, 0.9, 16, dtype=np.float32).reshape(4, 4), np.zeros((4, 4), np.int16)
    always = np.full(x.shape, 2**15 - 1, np.int16)
    counts = causes_of(lambda *_: (always,), [Case("blocks", node, (x, scales, zero_points))])
    assert sum(counts.values()) == 64
    assert [text for text in counts if "symmetric" in text] == []  # two mistakes at once do give it
