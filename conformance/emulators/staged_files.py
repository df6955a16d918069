"""The text of an emulator's file for an operator of several stages: a function for each output, and one of them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tiebreak.conformance.emulators.c_source import InC
from tiebreak.conformance.emulators.composed import Composed
from tiebreak.conformance.emulators.files import (
    PREAMBLE,
    Emulated,
    Function,
    c_type,
    class_of,
    comment_lines,
    function_in_c,
    function_in_numpy,
    function_in_torch,
    in_floats,
    modules_of,
)
from tiebreak.conformance.emulators.python_source import TORCH, dtype_in_numpy
from tiebreak.golden.nodes import Node


def with_own_constants(found: Function) -> list[str]:
    """The function's lines; its constants, whose names another one may have, stand in its body."""
    first, said, *others = found.lines
    return [first, said, *(f"    {line}" for line in found.constants), *others, "\n"]


def helpers_of(functions: Sequence[Function]) -> str:
    every = {name: text for one in functions for name, text in one.helpers.items()}
    return "".join(f"\n{text}" for text in every.values())


def numpy_stages(outputs: Sequence[Emulated], node: Node, composed: Composed, header: Sequence[str]) -> str:
    functions = [function_in_numpy(one) for one in outputs]
    called = f"{composed.function}({', '.join(composed.inputs)})"
    returned = called if len(node.outputs) > 1 else f"({called},)"
    facts = (node, outputs[0].backend, outputs[0].version, "audit", composed.inputs)
    return "\n".join(
        [
            *comment_lines(header),
            f"{modules_of(*functions)}{helpers_of(functions)}\n",
            *(line for one in functions for line in with_own_constants(one)),
            f"{composed.texts['numpy'].replace('DTYPE', dtype_in_numpy(node.input_type))}\n",
            class_of(*facts, f"            return {returned}"),
        ]
    )


def torch_stages(outputs: Sequence[Emulated], node: Node, composed: Composed, header: Sequence[str]) -> str:
    functions = [function_in_torch(one) for one in outputs]
    return "\n".join(
        [
            *comment_lines(header),
            f"import torch\n{helpers_of(functions)}\n",
            *(line for one in functions for line in with_own_constants(one)),
            composed.texts["torch"].replace("DTYPE", f"{TORCH}.{node.input_type}"),
        ]
    )


def c_stages(outputs: Sequence[Emulated], node: Node, composed: Composed, header: Sequence[str]) -> str:
    language = InC()
    functions = [function_in_c(one, language) for one in outputs]
    notes = dict.fromkeys(line for one in outputs for line in in_floats(one))
    return "\n".join(
        [
            "/*",
            *(f" * {line}".rstrip() for line in header),
            " *",
            " * cc -std=c99 -O2 -ffp-contract=off -c THIS_FILE",
            *notes,
            " */",
            PREAMBLE,
            language.helpers(),
            *("\n".join([*constants_in_c(one), *one.lines, ""]) for one in functions),
            composed.texts["c"].replace("ELEMENT", c_type(node.input_type)).replace("OUTPUT", c_type(node.output_type)),
        ]
    )


def constants_in_c(found: Function) -> list[str]:
    return [line for text in found.constants for line in (f"#undef {text.split()[1]}", text)]


STAGED_FILES: Mapping[str, Callable[[Sequence[Emulated], Node, Composed, Sequence[str]], str]] = {
    "numpy": numpy_stages,
    "torch": torch_stages,
    "c": c_stages,
}
