"""Writes what IREE's tools take: a module in MLIR, tensors as raw bytes, and a file of flags that compares them.

iree-compile module.mlir --iree-input-type=… --iree-hal-target-backends=llvm-cpu -o module.vmfb
iree-run-module --flagfile=flags.txt
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tiebreak.adapters.iree import DIALECTS
from tiebreak.adapters.onnx_models import CLAIMS, MAPS, PAIR_CLAIMS, OnnxNode, check_inputs, onnx_node, places_of
from tiebreak.conformance.offline.exported import CaseToExport, Files, check_plain
from tiebreak.conformance.offline.mlir_text import element_type
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.problem import Array

KNOWN = frozenset((*CLAIMS, *MAPS, *PAIR_CLAIMS))
ONNX_MODULE = """module {{
  func.func @graph({arguments}) -> {result} attributes {{torch.onnx_meta.ir_version = 10 : si64, \
torch.onnx_meta.opset_version = {opset} : si64}} {{
    %none = torch.constant.none
    %found = torch.operator "onnx.{name}"({operands}){attributes} : ({types}) -> {result}
    return %found : {result}
  }}
}}
"""
PREFIX = "torch.onnx"  # of attributes
RUN = "--module=module.vmfb\n--device=local-sync\n--function=graph\n"


def iree_files(number: int, one: CaseToExport) -> Files:
    """cases/NNNNNN/ with module.mlir, compile.txt, flags.txt and the tensors; Unsupported if IREE has no such text."""
    check_plain(one)
    case, place = one.case, f"cases/{number:06d}"
    small = [t.element for t in (*case.node.inputs, *case.node.outputs) if is_small(t.element)]
    if small:
        raise Unsupported(f"a tensor of {small[0]} has no bytes of its own")
    if case.size == 0:
        raise Unsupported("the runtime takes no tensor without elements")
    if case.node.operator in DIALECTS:
        dialect, operation = DIALECTS[case.node.operator]
        operation.refuse(case.node)
        text, inputs = operation.module_of(case.node, case.inputs), operation.free_inputs(case.node, case.inputs)
    else:
        dialect, text, inputs = "onnx", onnx_module(one), list(case.inputs)
    outputs = [output.array("exact") for output in one.outputs]
    tensors = {f"input_{k}.bin": array for k, array in enumerate(inputs)}
    expected = {f"output_{k}.bin": array for k, array in enumerate(outputs)}
    compiled = f"--iree-input-type={dialect}\n--iree-hal-target-backends=llvm-cpu\n--iree-llvmcpu-target-cpu=host\n"
    flags = RUN + "".join((*flags_of("input", tensors), *flags_of("expected_output", expected)))
    files = {"module.mlir": text.encode(), "compile.txt": compiled.encode(), "flags.txt": flags.encode()}
    files |= {name: raw(array) for name, array in {**tensors, **expected}.items()}
    return {f"{place}/{name}": content for name, content in files.items()}


def is_small(name: str) -> bool:
    return name in INTEGER_TYPES and INTEGER_TYPES[name].bits < 8


def flags_of(flag: str, tensors: dict[str, Array]) -> Iterator[str]:
    for name, array in tensors.items():
        sizes = "".join(f"{size}x" for size in array.shape)
        yield f"--{flag}={sizes}{element_type(array.dtype.name)}=@{name}\n"


def raw(array: Array) -> bytes:
    """The elements' bytes, little-endian, row-major."""
    found = np.ascontiguousarray(array)
    return found.tobytes() if found.dtype.isbuiltin != 1 else found.astype(found.dtype.newbyteorder("<")).tobytes()


def onnx_module(one: CaseToExport) -> str:
    """The text that IREE's importer makes of an ONNX model of one node; Unsupported for what ONNX lacks."""
    node, inputs = one.case.node, one.case.inputs
    if node.operator not in KNOWN:
        raise Unsupported(f"IREE's compiler has no text for {node.operator}")
    check_inputs(node, inputs)
    written = onnx_node(node)
    if len(one.outputs) > 1 or written.domain or "" in places_of(written):
        raise Unsupported("only nodes of ONNX's own operators with one output and no input left off have a text here")
    types = [torch_tensor(name, array.shape) for name, array in zip(written.inputs, inputs, strict=True)]
    outputs: tuple[Any, ...] = one.outputs
    result = torch_tensor(written.output, outputs[0].shape)
    return ONNX_MODULE.format(
        arguments=", ".join(f"%arg{k}: {kind}" for k, kind in enumerate(types)),
        operands=", ".join(f"%arg{k}" for k in range(len(types))),
        attributes=attributes_of(written),
        types=", ".join(types),
        result=result,
        opset=written.opset,
        name=written.operator,
    )


def torch_tensor(name: str, shape: Sequence[int]) -> str:
    kind = INTEGER_TYPES.get(name)
    sign = "" if kind is None else "si" if kind.signed else "ui"
    return f"!torch.vtensor<[{','.join(map(str, shape))}],{element_type(name, sign)}>"


def attributes_of(written: OnnxNode) -> str:
    """The node's attributes in torch-mlir's form; Unsupported for others than integers and lists of them."""
    parts = [f"{PREFIX}.{name} = {attribute(name, value)}" for name, value in written.attributes.items()]
    return f" {{{', '.join(parts)}}}" if parts else ""


def attribute(name: str, value: object) -> str:
    if isinstance(value, int):
        return f"{value} : si64"
    if isinstance(value, list | tuple) and all(isinstance(one, int) for one in value):
        return f"[{', '.join(f'{one} : si64' for one in value)}]"
    raise Unsupported(f"the attribute {name} is no integer")
