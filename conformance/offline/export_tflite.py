"""Writes .tflite models of one operator, each with an archive of the input and of what must come out."""

from __future__ import annotations

from tiebreak.adapters.litert_model import CARRIERS, refuse_node, tflite_model
from tiebreak.adapters.litert_requantize import model_shape
from tiebreak.conformance.offline.export_plain import as_numpy_array, npz_bytes
from tiebreak.conformance.offline.exported import CaseToExport, Files, check_plain
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.problem import Array


def tflite_files(number: int, one: CaseToExport) -> Files:
    """cases/NNNNNN/model.tflite and tensors.npz with input_0 and output_0; Unsupported if no model says the case.

    Scale, zero point and limits are constants of the model. Both tensors have the model's shapes and types.
    """
    check_plain(one)
    case, place = one.case, f"cases/{number:06d}"
    refuse_node(case.node)
    if case.node.attributes.get("axis", 0) < 0:
        raise Unsupported("a quantized_dimension is counted from the front")
    if case.size == 0:
        raise Unsupported("the runtime takes no tensor without elements")
    try:
        model = tflite_model(case.node, case.inputs[0].shape, case.inputs[1:])
    except ModuleNotFoundError:
        raise InvalidInput("the layout tflite needs LiteRT: pip install 'tiebreak[litert]'") from None
    shape = model_shape(case.node, case.inputs[0].shape)
    tensors = {"input_0": held(case.inputs[0]), "output_0": held(one.outputs[0].array("exact"))}
    archive = npz_bytes({name: array.reshape(shape) for name, array in tensors.items()})
    return {f"{place}/model.tflite": model, f"{place}/tensors.npz": archive}


def held(array: Array) -> Array:
    """The array as the interpreter's API holds it: small integers in bytes, floats that NumPy lacks as bits."""
    return as_numpy_array(array.astype(CARRIERS.get(array.dtype.name, array.dtype), copy=False))
