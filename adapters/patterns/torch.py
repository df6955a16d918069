"""PyTorch on the CPU: eager operators in float32, and quantized functions with each engine. The lines are what runs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from tiebreak.adapters.patterns.model import SHIPPED, UNFUSED, Opened, RuntimeWay
from tiebreak.adapters.patterns.onnx_graph import layout_of, rows_again, tensors
from tiebreak.adapters.patterns.torch_graph import float_lines, name_of, numbers, quantized_kind, quantized_lines
from tiebreak.adapters.patterns.torch_program import TorchLine, run_lines
from tiebreak.adapters.reproducer import array_source
from tiebreak.adapters.torch_calls import FAULTS, REFUSALS
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.patterns.graph import DEQUANTIZE, Pattern, ScalePair
from tiebreak.golden.problem import Array

# QNNPACK has a status for scales that it does not take; torch asserts that there was none.
REFUSED_BY_QNNPACK = "failed to create QNNPACK"


class TorchPatterns:
    """One thread. Besides the default engine, each other one that this build supports is a way."""

    name = "torch"

    def __init__(self) -> None:
        import torch

        torch.set_num_threads(1)
        self.library, self.version = torch, str(torch.__version__)
        default = str(torch.backends.quantized.engine)
        others = [name for name in torch.backends.quantized.supported_engines if name not in (default, "none")]
        self.engines = {UNFUSED: default, SHIPPED: default, **{name: name for name in others}}
        kinds = {way: "operators of float32" if way == UNFUSED else "torch.ops.quantized" for way in self.engines}
        self.ways = tuple(RuntimeWay(way, f"{kinds[way]}, engine {engine}") for way, engine in self.engines.items())

    def open(self, pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Array], way: str) -> Opened:
        lines = float_lines(pattern, pairs) if way == UNFUSED else quantized_lines(pattern, pairs)
        constants = {one.name: rows[one.name] for one in pattern.operands if one.constant}

        def run(given: Mapping[str, Array]) -> Array:
            self.library.backends.quantized.engine = self.engines[way]
            operands = self.operands(pattern, pairs, {**constants, **given})
            return rows_again(run_lines(self.library, lines, operands).numpy())

        quantized = {name_of(pattern, name) for name in pairs_of(pattern, pairs)}
        return Opened(tuple(shown(lines, quantized)), lambda given: refusing(lambda: run(given)))

    def operands(self, pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Array]) -> dict[str, Any]:
        """Tensors by their names in the lines; codes as quantized tensors."""
        read = pairs_of(pattern, pairs)
        found = {}
        for name, array in placed(pattern, rows).items():
            tensor = self.library.from_numpy(array)
            if name in read:
                tensor = self.library._make_per_tensor_quantized_tensor(tensor, *numbers(read[name]))
            found[name_of(pattern, name)] = tensor
        return found


def pairs_of(pattern: Pattern, pairs: Mapping[str, ScalePair]) -> dict[str, ScalePair]:
    """The pair of each operand that is dequantized. Unsupported for a type that torch lacks, or for two pairs."""
    found: dict[str, ScalePair] = {}
    names = {operand.name for operand in pattern.operands}
    made = {step.output: pairs[step.pair] for step in pattern.steps if step.pair and step.operation != DEQUANTIZE}
    for step in pattern.steps:
        if step.operation == DEQUANTIZE:
            value, pair = step.inputs[0], pairs[step.pair]
            quantized_kind(pair.type)
            if {**found, **made}.get(value, pair) != pair:
                raise Unsupported(f"{value} has one scale and zero point in torch, for all its readers")
            found |= {value: pair} if value in names else {}
    return found


def placed(pattern: Pattern, rows: Mapping[str, Array]) -> dict[str, Array]:
    """Operands as torch takes them: as in ONNX, but weights of nn.functional.linear are [columns, k]."""
    layout = layout_of(pattern)
    turned = {one.name for one in pattern.operands if one.constant and one.columns and layout != "images"}
    given = tensors(pattern, rows)
    return {name: np.ascontiguousarray(array.T) if name in turned else array for name, array in given.items()}


def refusing(make: Callable[[], Array]) -> Array:
    """What a function gives. Unsupported with torch's own message if torch or QNNPACK refuses the arguments."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # quantized tensors are deprecated since 2.13
            return make()
    except REFUSALS as error:
        if REFUSED_BY_QNNPACK not in str(error) and any(fault in str(error) for fault in FAULTS):
            raise
        raise Unsupported(str(error)) from None


def shown(lines: Sequence[TorchLine], quantized: Set[str]) -> Iterator[str]:
    """The functions that run, those of float tensors too that run on quantized ones; int_repr only takes the codes."""
    known = set(quantized)
    for line in lines:
        on_codes = bool(line.reads & known) and line.function != "dequantize"
        known |= {line.output} if on_codes or line.function == "quantize_per_tensor" else set()
        if line.function != "int_repr":
            plain = not on_codes or line.function.startswith("ops.quantized.")
            yield line.function.removeprefix("ops.") + ("" if plain else " (quantized)")


SCRIPT = """
import torch

torch.set_num_threads(1)
{operands}


def run_unfused():
{unfused}


def run_as_shipped():
{shipped}


unfused, shipped = run_unfused(), run_as_shipped()
library = f"torch {{torch.__version__}}, engine {{torch.backends.quantized.engine}}"
"""


def script(pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Array]) -> str:
    """Python lines that give `shipped`, `unfused` and `library`; see script.py."""
    read = pairs_of(pattern, pairs)
    operands = []
    for name, array in placed(pattern, rows).items():
        made = f"torch.from_numpy({array_source(array)})"
        if name in read:
            scale, zero_point = numbers(read[name])
            made = f"torch._make_per_tensor_quantized_tensor({made}, {scale!r}, {zero_point})"
        operands.append(f"{name_of(pattern, name)} = {made}")
    return SCRIPT.format(
        operands="\n".join(operands),
        unfused=body(float_lines(pattern, pairs)),
        shipped=body(quantized_lines(pattern, pairs)),
    )


def body(lines: Sequence[TorchLine]) -> str:
    return "\n".join(f"    {text}" for text in (*(line.source for line in lines), f"return {lines[-1].output}.numpy()"))
