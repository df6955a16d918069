"""The mistakes that are values of facets: a run's naming and an audit have one arithmetic and one id for each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tiebreak.conformance.audit.operators import arithmetic_of
from tiebreak.conformance.audit.sentences import cause_of
from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.quantize_by_facets import by_facets
from tiebreak.conformance.operators.quantize_mistakes import HYPOTHESES
from tiebreak.conformance.semantics.model import Arithmetic, Probe, Semantics, codes, ids_of
from tiebreak.conformance.semantics.quantize_facets import FACETS, Combination, UpToRounding
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN

NAMED_OTHERWISE = {"divides-in:float64": "divides-in-float64"}  # recorded runs have this id
ONLY_AUDITED = {"casts-to-int64", "casts-to-int64-then-wider-sum"}
NODES = [("float32", "int8"), ("float16", "uint8"), ("bfloat16", "int16"), ("float32", "uint32"), ("float64", "int8")]


def node_of(real: str, quantized: str) -> Node:
    attributes = {"axes": (), "round_mode": EVEN}
    return make_node("ngraph.Quantize", real=real, quantized=quantized, attributes=attributes)


def near(arithmetic: Arithmetic) -> Iterator[Combination]:
    """The candidates that differ from the document in one facet or two and have no exact quotient."""
    distances = arithmetic.candidates.distances(arithmetic.documented)
    for one, distance in zip(arithmetic.candidates.all, distances, strict=True):
        found = Combination._make(one)
        if 0 < distance <= 2 and not found.precision.is_exact:
            yield found


def operands_of(probe: Probe, node: Node) -> QuantizationOperands:
    scale, zero_point = (np.broadcast_to(other, probe.x.shape) for other in probe.others)
    ends = node.quantized.lowest, node.quantized.highest
    return QuantizationOperands(probe.x, scale, zero_point.astype(np.int64), *ends, node.round_mode)


def has_quotients(semantics: Combination, own: QuantizationOperands, node: Node) -> Array:
    """The elements whose argument of round is a finite number."""
    facets = UpToRounding._make(semantics[:4])
    added, _ = facets.before_and_after(own.zero_point, node.quantized)
    return np.isfinite(facets.argument(own.x, own.scale, added, node.quantized))


def unlike(arithmetic: Arithmetic, semantics: Semantics) -> dict[str, object]:
    three = zip(FACETS, semantics, arithmetic.documented, strict=True)
    return {facet.name: value for facet, value, plain in three if value is not plain}


@pytest.mark.parametrize(("real", "quantized"), NODES)
def test_naming_predicts_what_the_audit_predicts(real: str, quantized: str) -> None:
    node = node_of(real, quantized)
    arithmetic = arithmetic_of(node)
    arithmetic.assume()
    probes, semantics = list(arithmetic.first_probes())[::9], list(near(arithmetic))
    assert len(semantics) > 100
    for probe in probes:
        with np.errstate(all="ignore"):
            own = operands_of(probe, node)
            audited = [predicted.copy() for predicted in arithmetic.predict(probe, semantics)]
            for one, predicted in zip(semantics, audited, strict=True):
                found = by_facets(**unlike(arithmetic, one))(own)  # type: ignore[arg-type]
                finite = has_quotients(one, own, node)  # others have codes of their own in an audit
                assert np.array_equal(found[finite], predicted[finite]), ids_of(one)


def test_one_value_of_a_facet_has_one_id() -> None:
    """Of what a run's table names at all."""
    arithmetic, table = arithmetic_of(node_of("float32", "int8")), {cause.id for cause, _ in HYPOTHESES}
    ids = {cause_of(arithmetic, one).id for one in near(arithmetic) if len(unlike(arithmetic, one)) == 1}
    rest = {NAMED_OTHERWISE.get(one, one) for one in ids} - table
    assert {one for one in rest if not one.startswith(("ties:", "rounds:"))} == ONLY_AUDITED


@pytest.mark.parametrize("real", ["float32", "float16", "bfloat16"])
def test_a_fake_quantize_without_subnormal_steps_is_the_audits(real: str) -> None:
    node = make_node("openvino.FakeQuantize", real=real, attributes={"levels": 256})
    arithmetic = arithmetic_of(node)
    mistakes = {cause.id: run for cause, run in TESTED["openvino.FakeQuantize"].mistakes or ()}
    wanted = {"subnormals": "steps-flushed", "round_mode": EVEN}
    pairs = zip(arithmetic.facets, arithmetic.documented, strict=True)
    semantics = tuple(facet.by_id[wanted.get(facet.name, value.id)] for facet, value in pairs)
    told = 0
    for probe in list(arithmetic.first_probes())[-20:]:
        with np.errstate(all="ignore"):
            (found,) = mistakes["flushes-every-step"](node, probe.x, *probe.others)
            (other,) = mistakes["flushes"](node, probe.x, *probe.others)
        (predicted,) = arithmetic.predict(probe, [semantics])
        assert np.array_equal(codes(found), predicted)
        told += int(np.count_nonzero(codes(found) != codes(other)))
    assert told > 10
