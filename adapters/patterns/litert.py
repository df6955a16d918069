"""LiteRT: built-in kernels, reference kernels and XNNPACK, on the float graph and on the integer graph.

The float graph has the operators as written, the integer graph those that LiteRT's converter makes of them. Unfused is
the float graph without a delegate. The interpreter lists what runs.
"""

from __future__ import annotations

import base64
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tiebreak.adapters.litert import AS_SHIPPED, NO_DELEGATE, REFERENCE, THREADS
from tiebreak.adapters.patterns.litert_file import packed
from tiebreak.adapters.patterns.litert_graph import float_graph, laid_out, layout_of
from tiebreak.adapters.patterns.litert_integer import integer_graph
from tiebreak.adapters.patterns.model import SHIPPED, UNFUSED, Opened, RuntimeWay
from tiebreak.adapters.patterns.onnx_graph import rows_again
from tiebreak.adapters.reproducer import array_source
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.patterns.graph import Pattern, ScalePair
from tiebreak.golden.problem import Array

DELEGATE = "DELEGATE"


class LiteRtWay(NamedTuple):
    """An OpResolverType, and whether the graph is the converter's."""

    resolver: str
    integer: bool = False

    def __str__(self) -> str:
        return f"OpResolverType.{self.resolver}, {'integer' if self.integer else 'float'} graph"


SETTINGS = {
    UNFUSED: LiteRtWay(NO_DELEGATE),
    SHIPPED: LiteRtWay(AS_SHIPPED),
    "reference kernels": LiteRtWay(REFERENCE),
    "integer kernels": LiteRtWay(NO_DELEGATE, integer=True),
    "integer kernels, XNNPACK": LiteRtWay(AS_SHIPPED, integer=True),
    "integer kernels, reference": LiteRtWay(REFERENCE, integer=True),
}


class LiteRtPatterns:
    """Interpreters of one thread."""

    name = "litert"
    ways = tuple(RuntimeWay(name, str(setting)) for name, setting in SETTINGS.items())

    def __init__(self) -> None:
        import ai_edge_litert
        import flatbuffers  # noqa: F401 - fail now, not at the first pattern
        from ai_edge_litert import interpreter

        self.library, self.version = interpreter, str(ai_edge_litert.__version__)

    def open(self, pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Array], way: str) -> Opened:
        setting = SETTINGS[way]
        graph = float_graph(pattern, pairs, rows)
        if setting.integer:
            graph = integer_graph(graph)
        interpreter = refusing(lambda: self.interpreter(packed(graph), setting.resolver))
        return Opened(shown(interpreter), lambda given: refusing(lambda: answer(interpreter, pattern, given)))

    def interpreter(self, model: bytes, resolver: str) -> Any:
        kind = getattr(self.library.OpResolverType, resolver)
        made = self.library.Interpreter(model_content=model, num_threads=THREADS, experimental_op_resolver_type=kind)
        made.allocate_tensors()
        return made


def refusing(make: Callable[[], Any]) -> Any:
    """What a function gives; Unsupported with the runtime's own message if it refuses."""
    try:
        return make()
    except (RuntimeError, ValueError) as error:
        raise Unsupported(str(error)) from None


def answer(interpreter: Any, pattern: Pattern, given: Mapping[str, Array]) -> Array:
    layout = layout_of(pattern)
    for operand, details in zip(pattern.inputs, interpreter.get_input_details(), strict=True):
        interpreter.set_tensor(details["index"], laid_out(operand, given[operand.name], layout))
    interpreter.invoke()
    return rows_again(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))


def shown(interpreter: Any) -> tuple[str, ...]:
    """The operators that run, each with its result's type; a delegate with those that it replaces, in brackets.

    The interpreter lists the replaced operators first, each delegate last.
    """
    details = interpreter._get_ops_details()
    delegates = {tuple(one["outputs"]): replaced(one, details) for one in details if one["op_name"] == DELEGATE}
    inside = {op["index"] for ops in delegates.values() for op in ops}
    alone = [(op["index"], described(op)) for op in details if op["op_name"] != DELEGATE and op["index"] not in inside]
    joined = [(ops[0]["index"], f"{DELEGATE} ({', '.join(op['op_name'] for op in ops)})") for ops in delegates.values()]
    return tuple(text for _, text in sorted(alone + joined))


def described(op: Mapping[str, Any]) -> str:
    return f"{op['op_name']} {np.dtype(op['result_types'][0]).name}"


def replaced(delegate: Mapping[str, Any], details: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The operators that make the delegate's outputs of its inputs."""
    wanted, found = set(map(int, delegate["outputs"])), list[Mapping[str, Any]]()
    for op in sorted(details, key=lambda op: -int(op["index"])):
        if op["op_name"] != DELEGATE and wanted & set(map(int, op["outputs"])):
            wanted |= set(map(int, op["inputs"])) - set(map(int, delegate["inputs"]))
            found.insert(0, op)
    return found


SCRIPT = """
import base64

import ai_edge_litert
from ai_edge_litert.interpreter import Interpreter, OpResolverType

# A .tflite file: {operators}
model = base64.b64decode(
{model}
)
feeds = [
{feeds}
]


def run(resolver):
    interpreter = Interpreter(model_content=model, num_threads=1, experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    for details, array in zip(interpreter.get_input_details(), feeds, strict=True):
        interpreter.set_tensor(details["index"], array)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


shipped = run(OpResolverType.AUTO)
unfused = run(OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
library = f"ai-edge-litert {{ai_edge_litert.__version__}}"
"""


def script(pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Array]) -> str:
    """Python lines that give `shipped`, `unfused` and `library`; see script.py."""
    graph, layout = float_graph(pattern, pairs, rows), layout_of(pattern)
    lines = textwrap.wrap(base64.b64encode(packed(graph)).decode(), 100)
    return SCRIPT.format(
        operators=" > ".join(one.name for one in graph.operators),
        model="\n".join(f'    "{line}"' for line in lines),
        feeds="\n".join(f"    {array_source(laid_out(one, rows[one.name], layout))}," for one in pattern.inputs),
    )
