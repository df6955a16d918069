"""A cause's id stands for one arithmetic: the small backend that names it and the audit's facet give equal results."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest

from tiebreak.conformance.audit.operators import arithmetic_of
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.semantics.facet_causes import key_of
from tiebreak.conformance.semantics.model import ANYTHING, codes
from tiebreak.conformance.semantics.precisions import OF_TYPE
from tiebreak.golden.make_node import make_node

NODES = {
    "onnx.QuantizeLinear": [make_node("onnx.QuantizeLinear")],
    "openvino.FakeQuantize": [make_node("openvino.FakeQuantize", attributes={"levels": n}) for n in (256, 16)],
    "tensorflow.QuantizeV2": [
        make_node("tensorflow.QuantizeV2", quantized=quantized, attributes={"mode": mode})
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED")
        for quantized in ("uint8", "int8")
    ],
    "onnx.Cast": [
        make_node("onnx.Cast", real=real, quantized=quantized, attributes=attributes)
        for real, quantized, attributes in (
            ("float32", "float8_e4m3fn", {}),
            ("float32", "float8_e4m3fn", {"saturate": False}),
            ("float64", "float8_e5m2", {"saturate": False}),
            ("float16", "float8_e5m2", {}),
            ("float32", "float4_e2m1fn", {}),
            ("float32", "int4", {}),
            ("float32", "float8_e8m0fnu", {}),
            ("float32", "float8_e8m0fnu", {"saturate": False, "round_mode": "nearest"}),
            ("float8_e4m3fn", "float32", {}),
            ("float8_e8m0fnu", "float16", {}),
        )
    ],
}
PROBES = 40


def facet_ids(arithmetic: Any) -> Iterator[tuple[str, str, Any]]:
    """Each cause's id that one value of one facet stands for: the id, the facet and the value."""
    for facet, plain in zip(arithmetic.candidates.facets, arithmetic.documented, strict=True):
        for value in facet.values:
            if value is not plain:
                yield key_of(value, plain.id), facet.name, value


def small_backends(operator: str, id_: str) -> list[Any]:
    return [run for cause, run in TESTED[operator].mistakes or () if cause.id == id_]


def semantics_of(arithmetic: Any, node: Any, name: str, value: Any) -> Any:
    """The document's semantics with one other value; in the type of x where that is no exact arithmetic."""
    names, plain = arithmetic.candidates.names, tuple(arithmetic.documented)
    own_type = {"precision": OF_TYPE.get(node.input_type)}
    both = (dict(zip(names, plain, strict=True)) | also | {name: value} for also in ({}, own_type))
    return next(
        (one for one in (tuple(each[n] for n in names) for each in both) if one in arithmetic.candidates.places), None
    )


def shared() -> Iterator[tuple[str, str, Any, Any]]:
    """What a facet and small backends have: operator, id, node and semantics."""
    for operator, nodes in NODES.items():
        for node in nodes:
            arithmetic = arithmetic_of(node)
            for id_, name, value in facet_ids(arithmetic):
                semantics = semantics_of(arithmetic, node, name, value)
                if semantics is not None and small_backends(operator, id_):
                    yield operator, id_, node, semantics


SHARED = list(shared())


@pytest.mark.parametrize(
    ("operator", "id_", "node", "semantics"), SHARED, ids=[f"{one[0]} {one[1]} {n}" for n, one in enumerate(SHARED)]
)
def test_a_small_backend_and_the_facet_of_its_id_give_equal_results(
    operator: str, id_: str, node: Any, semantics: Any
) -> None:
    arithmetic = arithmetic_of(node)
    for probe in islice(arithmetic.first_probes(), PROBES):
        (wanted,) = arithmetic.predict(probe, [semantics])
        found = [answer for run in small_backends(operator, id_) if (answer := answered(run, node, probe))]
        known = wanted != ANYTHING
        assert all((codes(one[0])[known] == wanted[known]).all() for one in found), probe


def test_most_of_what_is_shared_is_compared() -> None:
    """A small backend may be meant for another mode, and does not apply then."""
    compared = {
        (operator, id_)
        for operator, id_, node, _ in SHARED
        for probe in islice(arithmetic_of(node).first_probes(), 4)
        if any(answered(run, node, probe) for run in small_backends(operator, id_))
    }
    assert compared == {(operator, id_) for operator, id_, _, _ in SHARED}
    assert len(compared) > 25 and len({operator for operator, _ in compared}) == 4


def answered(run: Any, node: Any, probe: Any) -> Any:
    """What a small backend answers; None where it does not apply."""
    try:
        with np.errstate(all="ignore"):
            return run(node, *probe.case(node, 0).inputs)
    except (ValueError, TypeError, NotImplementedError):
        return None
