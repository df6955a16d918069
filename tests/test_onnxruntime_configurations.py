"""ONNX Runtime with and without optimisation, pairs fused and not, parameters as initializers: what really ran."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from tiebreak.adapters.protocol import Run
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node, with_constants
from tiebreak.golden.problem import Array

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from tiebreak.adapters.onnx_models import OnnxNode, as_old_as, onnx_model, onnx_node
from tiebreak.adapters.onnxruntime import OnnxRuntime, basic_optimisation, extended_optimisation, without_optimisation
from tiebreak.adapters.onnxruntime_qdq import CHAINS, TYPES, QdqPairs, check_pair, fused, pair_model, unfused

QUANTIZE, DEQUANTIZE = "onnx.QuantizeLinear", "onnx.DequantizeLinear"
CONFIGURATIONS = (OnnxRuntime, without_optimisation, basic_optimisation, extended_optimisation, fused, unfused)
LARGEST, TINY = float(np.finfo(np.float32).max), float(np.finfo(np.float32).tiny)


def arrays(node: Node, *values: Any) -> tuple[Array, ...]:
    return tuple(np.asarray(v).astype(kind.dtype) for v, kind in zip(values, node.inputs, strict=True))


def executed(backend: OnnxRuntime | QdqPairs) -> set[str]:
    """The operators that a profile shows."""
    return {part.split()[-3] for part in backend.attest()["ran"].replace(";", ",").split(",")}


@pytest.mark.parametrize("make", CONFIGURATIONS)
def test_every_configuration_gives_the_operators_result(make: Any) -> None:
    backend = make()
    for quantized in TYPES:
        node = make_node(QUANTIZE, quantized=quantized)
        y = backend.compile(node)(*arrays(node, [[-1.25, 0.25, 0.75, 1.25]], 0.5, 3))[0]
        assert (y.tolist(), y.dtype) == ([[1, 3, 5, 5]], numpy_dtype(quantized))
        node = make_node(DEQUANTIZE, quantized=quantized)
        x = backend.compile(node)(*arrays(node, [[0, 3, 127]], 0.5, 3))[0]
        assert (x.tolist(), x.dtype) == ([[-1.5, 0, 62]], np.float32)


@pytest.mark.parametrize(
    ("make", "level"),
    [(OnnxRuntime, ""), (basic_optimisation, "ENABLE_BASIC"), (extended_optimisation, "ENABLE_EXTENDED")],
)
def test_the_level_is_the_sessions_the_records_and_the_scripts(make: Any, level: str) -> None:
    backend, node = make(), make_node(QUANTIZE)
    backend.compile(node)
    assert backend.attest()["graph optimisation"].startswith(f"ORT_{level}" if level else "as shipped")
    lines = backend.reproducer(node, arrays(node, [1.0], 1, 0))
    assert (f"GraphOptimizationLevel.ORT_{level}\n" in lines) == bool(level)


@pytest.mark.parametrize("quantized", TYPES)
def test_pairs_are_fused_in_one_and_not_in_the_other(quantized: str) -> None:
    for operator in (QUANTIZE, DEQUANTIZE):
        node = make_node(operator, quantized=quantized)
        alone, chain = fused(), unfused()
        alone.compile(node)
        chain.compile(node)
        assert executed(alone) == {operator.partition(".")[2], "Flatten"}
        assert executed(chain) == {"QuantizeLinear", "DequantizeLinear", "Flatten"}


def test_a_pair_that_is_not_fused_is_refused() -> None:
    """The same session settings with the other's expectation: the optimised model decides, not our wish."""
    backend = fused()
    backend.sessions = unfused().sessions
    with pytest.raises(Unsupported, match="QuantizeLinear > DequantizeLinear > Flatten > QuantizeLinear of"):
        backend.compile(make_node(QUANTIZE))


@pytest.mark.parametrize("make", [fused, unfused])
@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (([1.0], TINY / 2, 0), "subnormal"),
        (([1.0], 0, 0), "subnormal"),
        (([1.0], LARGEST / 250, 0), "overflow"),
        (([1.0], np.inf, 0), "overflow"),
        (([1.0], np.nan, 0), "overflow"),
        (([[1.0, 2]], [1, 2], [0, 0]), "one scale"),
    ],
)
def test_inputs_that_a_pair_may_change_are_refused(make: Any, values: Sequence[Any], reason: str) -> None:
    node = make_node(QUANTIZE, quantized="uint8")
    run = make().compile(node)
    with pytest.raises(Unsupported, match=reason):
        run(*arrays(node, *values))


@pytest.mark.parametrize(
    "node",
    [
        make_node(QUANTIZE, real="float16"),
        make_node(QUANTIZE, quantized="int4"),
        make_node(QUANTIZE, zero_point=False),
        make_node(QUANTIZE, attributes={"block_size": 2}),
        make_node(QUANTIZE, attributes={"precision": "float16"}, opset=23),
        make_node(DEQUANTIZE, quantized="int32"),
        with_constants(make_node(QUANTIZE), {"x": np.ones(1, np.float32)}),
    ],
    ids=str,
)
def test_nodes_that_a_pair_is_not(node: Node) -> None:
    with pytest.raises(Unsupported):
        fused().compile(node)


@pytest.mark.parametrize("quantized", TYPES)
def test_the_bound_holds_in_float32(quantized: str) -> None:
    """Every q of the type, at zero points and scales at the ends of what is taken and at random between."""
    linear = onnx_node(make_node(QUANTIZE, quantized=quantized))
    kind = np.iinfo(quantized)
    q = np.arange(kind.min, kind.max + 1)
    scales = np.exp2(np.random.default_rng(0).uniform(-126, 110, 40))
    for z in (kind.min, 0, 1, kind.max):
        farthest = max(kind.max - z, z - kind.min)
        for s in np.array([TINY, LARGEST / 2**17, *scales, *-scales], np.float32):
            check_pair(linear, np.asarray(s), np.asarray(z, quantized))
            assert np.array_equal(np.rint((q - z).astype(np.float32) * s / s) + z, q)
        with pytest.raises(Unsupported):
            check_pair(linear, np.asarray(np.float32(LARGEST / farthest * 1.001)), np.asarray(z, quantized))


def test_no_optimisation_leaves_what_the_other_folds_away() -> None:
    node = make_node(QUANTIZE)
    constants = dict(zip(("x", "y_scale", "y_zero_point"), arrays(node, [1.0, 2.0], 0.5, 1), strict=True))
    model = onnx_model(onnx_node(node), constants=constants)
    ran = {make: make().sessions.profiled(model, {}, "uint8", (2,)) for make in (OnnxRuntime, without_optimisation)}
    assert ran == {OnnxRuntime: "", without_optimisation: "QuantizeLinear on CPUExecutionProvider"}
    assert without_optimisation().attest()["graph optimisation"] == "ORT_DISABLE_ALL"


@pytest.mark.parametrize("quantized", ["uint8", "int4", "float8_e5m2"])
@pytest.mark.parametrize("make", [OnnxRuntime, without_optimisation])
def test_constants_are_built_in(make: Any, quantized: str) -> None:
    """What run() is given for them no longer matters."""
    node = make_node(QUANTIZE, quantized=quantized)
    x, scale, zero_point = arrays(node, [1.0, 2.0], 0.5, 0)
    run: Run = make().compile(with_constants(node, {"y_scale": scale, "y_zero_point": zero_point}))
    assert run(x, scale, zero_point)[0].astype(float).tolist() == [2, 4]
    assert run(x, scale * 2, zero_point)[0].astype(float).tolist() == [2, 4]


def test_pairs_hold_their_parameters_as_initializers() -> None:
    node = make_node(QUANTIZE)
    _, scale, zero_point = arrays(node, [1.0], 0.5, 3)
    graph = pair_model(onnx_node(node), {"y_scale": scale, "y_zero_point": zero_point}).graph
    assert [value.name for value in graph.input] == ["x"]
    assert [tensor.name for tensor in graph.initializer] == ["y_scale", "y_zero_point"]
    assert tuple(node.op_type for node in graph.node) == CHAINS["QuantizeLinear"]


@pytest.mark.parametrize("make", CONFIGURATIONS)
def test_attestation_depends_on_the_compiled_nodes_only(make: Any) -> None:
    """Not on their order, nor on what ran."""
    nodes = [make_node(QUANTIZE, opset=opset) for opset in (25, 13)] + [make_node(DEQUANTIZE, quantized="int8")]
    told, again = make(), make()
    for node in nodes:
        told.compile(node)(*arrays(node, [1], 1, 0))
    for node in reversed(nodes):
        again.compile(node)
    assert told.attest() == again.attest()
    assert told.attest()["opset"] == "13, 21, 25"


def test_an_older_operator_set_is_taken_only_if_its_text_says_the_same_of_the_node() -> None:
    def versions(**node: object) -> list[int]:
        return [linear.opset for linear in as_old_as(onnx_node(make_node("onnx.QuantizeLinear", **node)))]  # type: ignore[arg-type]

    assert versions() == [21, 19, 13, 10]
    assert versions(attributes={"axis": 0}) == [21, 19, 13]
    assert versions(real="float16") == [21, 19]
    assert versions(quantized="int4") == [21]
    assert versions(opset=13) == [13, 10]
    assert versions(attributes={"block_size": 2}, opset=25) == [25, 24, 23, 21]
    assert versions(real="float16", scale="float32", opset=23) == [23]


def test_a_release_that_does_not_know_the_operator_set_runs_an_earlier_one() -> None:
    def model_for(newest: int, linear: OnnxNode) -> Any:
        model = onnx_model(linear)
        model.ir_version = 99 if linear.opset > newest else model.ir_version
        return model

    sessions, linear = OnnxRuntime().sessions, onnx_node(make_node(QUANTIZE))
    for newest in (21, 19, 13):
        found, session = sessions.open_known(linear, partial(model_for, newest))
        assert found.opset == newest
        assert session.get_outputs()[0].name == "y"
    with pytest.raises(Unsupported, match="Unsupported model IR version: 99"):
        sessions.open_known(linear, partial(model_for, 0))
