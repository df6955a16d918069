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
        number = f"{'are' if len(others) > 1 else 'is'} one number, or one for each {first}"
        parameters = f"; {listed(others)} {number}" if others else ""
        return f"{self.types[0]} to {self.goal}{parameters}."


def listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


@dataclass(frozen=True)
class Function:
    """A function's lines, and what stands before it: constants with names, and helpers by their own name."""

    lines: Sequence[str]
    constants: Sequence[str]
    helpers: Mapping[str, str]
    of_ml_dtypes: bool = False

    @property
    def before(self) -> str:
        text = "".join(f"\n{line}" for line in self.constants) + ("\n" if self.constants else "")
        return text + "".join(f"\n{helper}" for helper in self.helpers.values())


def numpy_file(one: Emulated, header: Sequence[str]) -> str:
    found = function_in_numpy(one)
    modules = f"{modules_of(found)}{found.before}\n"
    return "\n".join([*comment_lines(header), modules, *found.lines, "\n", backend_class(one)])


def modules_of(*functions: Function) -> str:
    few = any(one.of_ml_dtypes for one in functions)
    return "import ml_dtypes\nimport numpy as np\n" if few else "import numpy as np\n"


def function_in_numpy(one: Emulated) -> Function:
    types = [dtype_in_numpy(kind) for kind in one.types]
    writer, last, constants, helpers = written(one, InNumPy())
    last_casts = dict.fromkeys((byte_for(one.goal), one.goal))  # integers of ml_dtypes are made of bytes
    narrow = "".join(f".astype({dtype_in_numpy(kind)})" for kind in last_casts)
    lines = [
        f"def {one.function}({', '.join(one.names)}):",
        f'    """{one.said}"""',
        *(f"    {name} = np.asarray({name}, {dtype})" for name, dtype in zip(one.names, types[:-1], strict=True)),
        '    with np.errstate(all="ignore"):',
        *(f"        {line}" for line in writer.lines),
        f"        return np.asarray({last}){narrow}",
    ]
    return Function(lines, constants, helpers, needs_ml_dtypes(one, writer))


def written(one: Emulated, language: InNumPy | InTorch) -> tuple[Writer, str, list[str], dict[str, str]]:
    """The writer with its lines, the name of the result, the constants, and the helpers by name."""
    writer = Writer(language, one.names)
    last = writer.text(one.result)
    constants = [f"{name} = {language.number(step.value, step.type)}" for name, step in writer.constants.items()]
    needed = {name: text for name, text in language.helpers.items() if any(f"{name}(" in line for line in writer.lines)}
    return writer, last, constants, needed


def needs_ml_dtypes(one: Emulated, writer: Writer) -> bool:
    return any(map(is_of_ml_dtypes, one.types)) or any("ml_dtypes." in line for line in writer.lines)


def backend_class(one: Emulated) -> str:
    given = (one.of_node or one.inputs)[: len(one.node.inputs)]
    outputs = ", ".join((f"{one.function}({', '.join(one.names)})", *one.also)) + "," * (not one.also)
    command = "audit" if one.unpacked else "sweep"
    return class_of(
        one.node, one.backend, one.version, command, given, f"{refusals(one)}            return ({outputs})"
    )


def class_of(node: Node, backend: str, version: str, command: str, given: Sequence[str], body: str) -> str:
    """A backend of this node alone: `body` are the lines of its run, which takes what is `given`."""
    name, kinds = f"emulator of {backend}", tuple(tensor.element for tensor in (*node.inputs, *node.outputs))
    return f'''try:
    from tiebreak import Unsupported
except ImportError:  # the function needs no Tiebreak
    Unsupported = NotImplementedError


class Emulator:
    """A backend for Tiebreak: tiebreak {command} THIS_FILE:Emulator --operator {node.operator} ..."""

    name, version = {name!a}, {version!a}
    operators = frozenset({{{node.operator!r}}})

    def compile(self, node):
        types = tuple(tensor.dtype.name for tensor in (*node.inputs, *node.outputs))
        if types != {kinds!r} or dict(node.attributes) != {dict(node.attributes)!r}:
            raise Unsupported(f"made for other types or attributes than {{types}}, {{dict(node.attributes)}}")

        def run({", ".join(given)}):
{body}

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
    found = function_in_torch(one)
    return "\n".join([*comment_lines(header), f"import torch\n{found.before}\n", *found.lines, ""])


def function_in_torch(one: Emulated) -> Function:
    writer, last, constants, helpers = written(one, InTorch())
    held = [held_by_torch(kind) for kind in one.types]
    lines = [
        f"def {one.function}({', '.join(one.names)}):",
        f'    """{one.said}"""',
        *(
            f"    {name} = torch.as_tensor({name}, dtype=torch.{dtype})"
            for name, dtype in zip(one.names, held[:-1], strict=True)
        ),
        *(f"    {line}" for line in writer.lines),
        f"    return {last}.to({TORCH}.{held[-1]})",
    ]
    return Function(lines, constants, helpers)


def held_by_torch(type: str) -> str:
    """PyTorch's type for numbers of a type; int64 holds the integers that it has no type for."""
    if type in SMALL_FLOAT_TYPES and SMALL_FLOAT_TYPES[type].bits < 8:
        raise Unsupported(f"PyTorch computes with no {type}")
    return type if is_float(type) or type in TORCH_INTEGERS else "int64"


def comment_lines(header: Sequence[str]) -> list[str]:
    return [f"# {line}".rstrip() for line in header]


def c_file(one: Emulated, header: Sequence[str]) -> str:
    language = InC()
    found = function_in_c(one, language)
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
            *found.constants,
            "",
            language.helpers(),
            *found.lines,
            main_of(one),
        ]
    )


def function_in_c(one: Emulated, language: InC) -> Function:
    """The language has its helpers."""
    writer = Writer(language, one.names)
    last = writer.text(one.result)
    constants = [
        f"#define {name} ({language.number(step.value, step.type)})" for name, step in writer.constants.items()
    ]
    kinds = [c_type(kind) for kind in one.types]
    result = last if is_float(one.goal) else f"({kinds[-1]}){last}"
    parameters = ", ".join(f"{kind} {name}" for name, kind in zip(one.names, kinds, strict=False))
    lines = [
        f"{kinds[-1]} {one.function}({parameters}) {{",
        *(f"  {line}" for line in writer.lines),
        f"  return {result};",
        "}",
    ]
    return Function(lines, constants, {})


def in_floats(one: Emulated) -> list[str]:
    """What types that C lacks are there."""
    few = next((kind for kind in one.types if kind in SMALL_FLOAT_TYPES), "")
    short = [" * A number of 16 bits is a float here that such a type holds."] if any(map(is_short, one.types)) else []
    return [*short, *([f" * A number of {few} is a float here that such a type holds."] if few else [])]


def main_of(one: Emulated) -> str:
    """The main function, which reads lines of doubles."""
    kinds = map(c_type, one.types)
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
    if (!strchr(line, '\\n') && !feof(stdin)) {{
      fprintf(stderr, "line %ld is too long\\n", number);
      return 2;
    }}
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
