"""Writes the directories of ONNX backend tests: model.onnx with test_data_set_0/input_k.pb and output_k.pb."""

from __future__ import annotations

from typing import Any

from tiebreak.adapters.onnx_models import (
    CLAIMS,
    MAPS,
    MICROSOFT_CLAIMS,
    NBITS_CLAIMS,
    check_inputs,
    onnx_model,
    onnx_node,
)
from tiebreak.conformance.offline.exported import CaseToExport, Files, check_plain
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.problem import Array

KNOWN = frozenset((*CLAIMS, *MAPS, *MICROSOFT_CLAIMS, *NBITS_CLAIMS))


def onnx_files(number: int, one: CaseToExport) -> Files:
    """The files of cases/test_tiebreak_NNNNNN/; Unsupported if the layout can't express the case.

    The layout has room for one result, which every runner compares with. So it can't express an unspecified element,
    one whose exact and working-precision results differ, or a node that ONNX does not have.
    """
    check_plain(one)
    if one.case.node.operator not in KNOWN:
        raise Unsupported(f"ONNX has no {one.case.node.operator}")
    try:
        check_inputs(one.case.node, one.case.inputs)
        model = onnx_model(onnx_node(one.case.node), shapes=[array.shape for array in one.case.inputs])
        names = [value.name for value in model.graph.input]
        inputs = [tensor_proto(array, name) for name, array in zip(names, one.case.inputs, strict=True)]
        outputs = [tensor_proto(output.array("exact"), "y") for output in one.outputs]
    except ModuleNotFoundError:
        raise InvalidInput("the layout onnx needs onnx: pip install 'tiebreak[onnx]'") from None
    place = f"cases/test_tiebreak_{number:06d}"
    files = {f"{place}/model.onnx": model.SerializeToString()}
    for kind, tensors in (("input", inputs), ("output", outputs)):
        for k, tensor in enumerate(tensors):
            files[f"{place}/test_data_set_0/{kind}_{k}.pb"] = tensor.SerializeToString()
    return files


def tensor_proto(array: Array, name: str) -> Any:
    """An onnx.TensorProto; Unsupported if this onnx can't hold the type."""
    from onnx import numpy_helper

    try:
        return numpy_helper.from_array(array, name)
    except (KeyError, TypeError, ValueError, NotImplementedError) as error:
        raise Unsupported(f"onnx can't hold {array.dtype.name}: {error}") from None
