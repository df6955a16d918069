"""The directory form of ONNX backend tests: model.onnx with test_data_set_0/input_k.pb and output_k.pb."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tiebreak.adapters.onnx_models import check_inputs, linear_model, linear_node
from tiebreak.conformance.offline.exported import Exported
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.problem import Array


def write(folder: Path, number: int, one: Exported) -> bool:
    """cases/test_tiebreak_NNNNNN/. False for what the form can't say.

    That is a node that ONNX has not, and a case with an element that is unspecified, or whose exact and
    working-precision results differ: the form has room for one result, and any runner will compare with it.
    """
    if not one.is_plain:
        return False
    try:
        check_inputs(one.case.node, one.case.inputs)
        linear = linear_node(one.case.node)
        model = linear_model(linear, shapes=[array.shape for array in one.case.inputs])
        names = [value.name for value in model.graph.input]
        inputs = [proto(array, name) for name, array in zip(names, one.case.inputs, strict=True)]
        outputs = [proto(output.array("exact"), "y") for output in one.outputs]
    except Unsupported:
        return False
    except ModuleNotFoundError:
        raise InvalidInput("the layout onnx needs onnx: pip install 'tiebreak[onnx]'") from None
    place = folder / "cases" / f"test_tiebreak_{number:06d}"
    data = place / "test_data_set_0"
    data.mkdir(parents=True)
    (place / "model.onnx").write_bytes(model.SerializeToString())
    for kind, tensors in (("input", inputs), ("output", outputs)):
        for k, tensor in enumerate(tensors):
            (data / f"{kind}_{k}.pb").write_bytes(tensor.SerializeToString())
    return True


def proto(array: Array, name: str) -> Any:
    """An onnx.TensorProto; Unsupported if this onnx can't hold the type."""
    from onnx import numpy_helper

    try:
        return numpy_helper.from_array(array, name)
    except (KeyError, TypeError, ValueError, NotImplementedError) as error:
        raise Unsupported(f"onnx can't hold {array.dtype.name}: {error}") from None
