"""The text of an emulator's file: a header of evidence, the function, and what makes the file run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tiebreak.conformance.emulators.c_source import InC, is_short
from tiebreak.conformance.emulators.python_source import (
    TORCH,
    InNumPy,
    InTorch,
    byte_for,
    dtype_in_numpy,
    is_of_ml_dtypes,
)
from tiebreak.conformance.emulators.steps import NAMES, Computed
from tiebreak.conformance.emulators.writing import Writer
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, SMALL_FLOAT_TYPES
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node

TORCH_INTEGERS = ("int8", "uint8", "int16", "int32")


@dataclass(frozen=True)
class Emulated:
    """What a file emulates: a node, the steps to its result, the function's name, and who is emulated.

    `inputs` are names for the node's inputs; `held` the one value that was audited of each that the function does not
    take, by its name. `also` are the inputs that stand for the node's outputs after the first, which an audit does not
    ask for. `spread` are inputs beside the first that may have many elements. `note` is a line for the file's header.
    `of_node` are names for the node's inputs where the function takes others, which the lines of `unpacked` make.
    """

    node: Node
    result: Computed
    function: str
    backend: str
    version: str
    inputs: tuple[str, ...] = NAMES
    held: Mapping[str, int] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    spread: tuple[str, ...] = ()
    note: str = ""
    of_node: tuple[str, ...] = ()
    unpacked: tuple[str, ...] = ()

    @property
    def types(self) -> tuple[str, ...]:
        """The element types of the function's inputs and its result."""
        return (*self.taken([tensor.element for tensor in self.node.inputs]), self.node.output_type)

    @property
    def names(self) -> tuple[str, ...]:
        """The function's inputs."""
        return self.taken(self.inputs)

    def taken(self, of_inputs: Sequence[Any]) -> tuple[Any, ...]:
        """The elements that belong to the function's inputs, of a sequence with one for each of the node's inputs."""
        return tuple(
            one for name, one, _ in zip(self.inputs, of_inputs, self.node.inputs, strict=False) if name not in self.held
        )

    @property
    def goal(self) -> str:
        """The element type of the result."""
        return self.node.output_type

    @property
    def said(self) -> str:
        """The function's docstring."""
        first, *others = self.names
        listed = f"{', '.join(others[:-1])} and {others[-1]}" if others else ""
        parameters = f"; {listed} are one number, or one for each {first}" if others else ""
        return f"{self.types[0]} to {self.goal}{parameters}."


def numpy_file(one: Emulated, header: Sequence[str]) -> str:
    language, types = InNumPy(), [dtype_in_numpy(kind) for kind in one.types]
    writer, last, gathered = written(one, language)
    modules = "import numpy as np\n" if not needs_ml_dtypes(one, writer) else "import ml_dtypes\nimport numpy as np\n"
    last_casts = dict.fromkeys((byte_for(one.goal), one.goal))  # integers of ml_dtypes are made of bytes
    narrow = "".join(f".astype({dtype_in_numpy(kind)})" for kind in last_casts)
    parameters = zip(one.names, types[:-1], strict=True)
    return "\n".join(
        [
            *comment_lines(header),
            f"{modules}{gathered}\n",
            f"def {one.function}({', '.join(one.names)}):",
            f'    """{one.said}"""',
            *(f"    {name} = np.asarray({name}, {dtype})" for name, dtype in parameters),
            '    with np.errstate(all="ignore"):',
            *(f"        {line}" for line in writer.lines),
            f"        return np.asarray({last}){narrow}\n\n",
            backend_class(one),
        ]
    )


def written(one: Emulated, language: InNumPy | InTorch) -> tuple[Writer, str, str]:
    """The writer with its lines, the name of the result, and the constants and helpers before the function."""
    writer = Writer(language, one.names)
    last = writer.text(one.result)
    constants = [f"{name} = {language.number(step.value, step.type)}" for name, step in writer.constants.items()]
    needed = [text for name, text in language.helpers.items() if any(f"{name}(" in line for line in writer.lines)]
    text = "".join(f"\n{line}" for line in constants) + ("\n" if constants else "")
    return writer, last, text + "".join(f"\n{helper}" for helper in needed)


def needs_ml_dtypes(one: Emulated, writer: Writer) -> bool:
    return any(map(is_of_ml_dtypes, one.types)) or any("ml_dtypes." in line for line in writer.lines)


def backend_class(one: Emulated) -> str:
    node, name, command = one.node, f"emulator of {one.backend}", "audit" if one.unpacked else "sweep"
    kinds = tuple(tensor.element for tensor in (*node.inputs, *node.outputs))
    given = ", ".join((one.of_node or one.inputs)[: len(node.inputs)])
    outputs = ", ".join((f"{one.function}({', '.join(one.names)})", *one.also)) + "," * (not one.also)
    return f'''try:
    from tiebreak import Unsupported
except ImportError:  # the function needs no Tiebreak
    Unsupported = NotImplementedError


class Emulator:
    """A backend for Tiebreak: tiebreak {command} THIS_FILE:Emulator --operator {one.node.operator} ..."""

    name, version = {name!a}, {one.version!a}
    operators = frozenset({{{one.node.operator!r}}})

    def compile(self, node):
        types = tuple(tensor.dtype.name for tensor in (*node.inputs, *node.outputs))
        if types != {kinds!r} or dict(node.attributes) != {dict(one.node.attributes)!r}:
            raise Unsupported(f"made for other types or attributes than {{types}}, {{dict(node.attributes)}}")

        def run({given}):
{refusals(one)}            return ({outputs})

        return run
'''


def refusals(one: Emulated) -> str:
    """What the function knows nothing of: several parameters, which have an axis, and other values of what is held.

    Of a node whose inputs hold the function's, the lines that take them out.
    """
    if one.unpacked:
        return indented(one.unpacked)
    lines = []
    if parameters := [name for name in one.names[1:] if name not in one.spread]:
        lines += [f"if {' or '.join(f'{name}.size != 1' for name in parameters)}:"]
        lines += [f'    raise Unsupported("made for one {" and one ".join(parameters)}")']
    for name in one.inputs[: len(one.node.inputs)]:
        if name in one.held:
            value = one.held[name]
            lines += [f"if ({name} != {value}).any():", f'    raise Unsupported("made for {name} {value}")']
    return indented(lines)


def indented(lines: Sequence[str]) -> str:
    return "".join(f"            {line}\n" for line in lines)


def torch_file(one: Emulated, header: Sequence[str]) -> str:
    writer, last, gathered = written(one, InTorch())
    held = [held_by_torch(kind) for kind in one.types]
    parameters = zip(one.names, held[:-1], strict=True)
    return "\n".join(
        [
            *comment_lines(header),
            f"import torch\n{gathered}\n",
            f"def {one.function}({', '.join(one.names)}):",
            f'    """{one.said}"""',
            *(f"    {name} = torch.as_tensor({name}, dtype=torch.{dtype})" for name, dtype in parameters),
            *(f"    {line}" for line in writer.lines),
            f"    return {last}.to({TORCH}.{held[-1]})\n",
        ]
    )


def held_by_torch(type: str) -> str:
    """PyTorch's type for numbers of a type; int64 holds the integers that it has no type for."""
    if type in SMALL_FLOAT_TYPES and SMALL_FLOAT_TYPES[type].bits < 8:
        raise Unsupported(f"PyTorch computes with no {type}")
    return type if is_float(type) or type in TORCH_INTEGERS else "int64"


def comment_lines(header: Sequence[str]) -> list[str]:
    return [f"# {line}".rstrip() for line in header]


def c_file(one: Emulated, header: Sequence[str]) -> str:
    language = InC()
    writer = Writer(language, one.names)
    last = writer.text(one.result)
    constants = [
        f"#define {name} ({language.number(step.value, step.type)})" for name, step in writer.constants.items()
    ]
    kinds = [c_type(kind) for kind in one.types]
    result = last if is_float(one.goal) else f"({kinds[-1]}){last}"
    parameters = dict(zip(one.names, kinds, strict=False))
    return "\n".join(
        [
            "/*",
            *(f" * {line}".rstrip() for line in header),
            " *",
            " * cc -std=c99 -O2 -ffp-contract=off -o emulator THIS_FILE -lm",
            f" * {example_of(one.names)}",
            *in_floats(one),
            " */",
            PREAMBLE,
            *constants,
            "",
            language.helpers(),
            f"{kinds[-1]} {one.function}({', '.join(f'{kind} {name}' for name, kind in parameters.items())}) {{",
            *(f"  {line}" for line in writer.lines),
            f"  return {result};",
            "}",
            main_of(one, kinds),
        ]
    )


def in_floats(one: Emulated) -> list[str]:
    """What types that C lacks are there."""
    few = next((kind for kind in one.types if kind in SMALL_FLOAT_TYPES), "")
    short = [" * A number of 16 bits is a float here that such a type holds."] if any(map(is_short, one.types)) else []
    return [*short, *([f" * A number of {few} is a float here that such a type holds."] if few else [])]


def main_of(one: Emulated, kinds: Sequence[str]) -> str:
    """The main function, which reads lines of doubles."""
    return MAIN.format(
        names=", ".join(one.names),
        read=" ".join(["%lf"] * len(one.names)),
        places=", ".join(f"&{name}" for name in one.names),
        count=len(one.names),
        checks="".join(CHECK.format(name=name, **ends) for name, ends in integer_ends(one).items()),
        call=f"{one.function}({', '.join(f'({kind}){name}' for name, kind in zip(one.names, kinds, strict=False))})",
    )


def integer_ends(one: Emulated) -> dict[str, dict[str, Any]]:
    """The type and the ends of each input that is an integer, by name."""
    kinds = {name: INTEGER_TYPES[kind] for name, kind in zip(one.names, one.types, strict=False) if not is_float(kind)}
    return {name: {"kind": kind.name, "low": kind.lowest, "high": kind.highest} for name, kind in kinds.items()}


def example_of(names: Sequence[str]) -> str:
    """How to call the program."""
    if len(names) == 1:
        return "echo 0.25 | ./emulator     (an x a line; its result)"
    return (
        f"./emulator < FILE     (a line of FILE has an element's {', '.join(names[:-1])} and {names[-1]}; its result)"
    )


PREAMBLE = """\
#include <float.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <tgmath.h>

#if FLT_EVAL_METHOD != 0 || defined(__FAST_MATH__)
#error "each step must be rounded to its own type: no -ffast-math, and no x87"
#endif
#if defined(__clang__) || !defined(__GNUC__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif
"""
MAIN = """
#ifndef WITHOUT_MAIN
int main(void) {{
  char line[1024];
  long number = 0;
  while (fgets(line, sizeof line, stdin)) {{
    double {names};
    int end = 0;
    number++;
    if (sscanf(line, "{read} %n", {places}, &end) != {count} || line[end]) {{
      fprintf(stderr, "line %ld is not {count} numbers\\n", number);
      return 2;
    }}
{checks}    printf("%.17g\\n", (double){call});
  }}
  return 0;
}}
#endif
"""
CHECK = """\
    if (!({name} >= {low} && {name} <= {high} && {name} == floor({name}))) {{
      fprintf(stderr, "line %ld: {name} is no {kind}\\n", number);
      return 2;
    }}
"""


def is_float(type: str) -> bool:
    return type in FLOAT_TYPES or type in SMALL_FLOAT_TYPES


def c_type(type: str) -> str:
    if is_float(type):
        return "double" if type == "float64" else "float"
    return f"{byte_for(type)}_t"
