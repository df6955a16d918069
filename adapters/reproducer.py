"""Standalone scripts that show one discrepancy in the library's own words, without Tiebreak.

A backend may have `reproducer(node, inputs) -> str`: Python lines that, with the node's inputs bound to arrays of their
own names, assign `outputs` (a tuple of arrays) and `library` (name and version). Here they get their frame: inputs from
bits before them, the comparison after them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tiebreak.adapters.frames import EXTENSION_TYPES
from tiebreak.golden.elements import ELEMENT_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

WORDS_A_LINE = 8


@dataclass(frozen=True)
class Wanted:
    """One element of one output and the bits that would be right; `any_nan` lets every NaN pass.

    `operands` are (name, bits, decimal) of what goes into the element, as the record has them.
    """

    output: int
    index: int
    right: tuple[int, ...]
    recorded: int
    operands: Sequence[Sequence[str]]
    any_nan: bool = False


def script(title: str, node: Node, inputs: Sequence[Array], wanted: Wanted, lines: str) -> str:
    """The whole script: exit status 1 while the element is wrong, 0 once it is right, 2 if it can't be run."""
    extension = any(array.dtype.name in EXTENSION_TYPES for array in inputs)
    parts = [
        f'"""{one_line(title)}\n\n'
        "Exits with 1 while the result is wrong, with 0 once it is right, with 2 if the library can't be run.\n"
        '"""',
        "import os\nimport sys\n\n" + ("import ml_dtypes\n" if extension else "") + "import numpy as np",
        FAILED,
        *(f"{tensor.name} = {array_source(array)}" for tensor, array in zip(node.inputs, inputs, strict=True)),
        lines.strip(),
        verdict_source(node, wanted),
    ]
    return "\n\n".join(parts) + "\n"


FAILED = """
def failed(kind, error, trace):
    print(f"could not run: {kind.__name__}: {error}", flush=True)
    os._exit(2)


sys.excepthook = failed
""".strip("\n")


def one_line(text: str) -> str:
    """Text that can't end a docstring or a comment."""
    return "".join(c if c.isprintable() and c not in '"\\' else "?" for c in text)[:300]


def array_source(array: Array) -> str:
    """A NumPy expression that makes the array bit for bit."""
    word = f"uint{8 * array.dtype.itemsize}"
    words = np.ascontiguousarray(array).view(word).reshape(-1).tolist()
    digits = 2 + 2 * array.dtype.itemsize
    texts = [f"{word:#0{digits}x}" for word in words]
    rows = [", ".join(texts[at : at + WORDS_A_LINE]) for at in range(0, len(texts), WORDS_A_LINE)]
    body = rows[0] if len(rows) == 1 else "\n" + textwrap.indent(",\n".join(rows), "    ") + "\n" if rows else ""
    return f'np.array([{body}], "{word}").view({dtype_source(array.dtype.name)}).reshape({array.shape})'


def dtype_source(name: str) -> str:
    return f"ml_dtypes.{name}" if name in EXTENSION_TYPES else f'"{name}"'


def verdict_source(node: Node, wanted: Wanted) -> str:
    output = node.outputs[wanted.output]
    word, digits = f"uint{8 * output.dtype.itemsize}", 2 + 2 * output.dtype.itemsize
    mask = (1 << min(ELEMENT_TYPES[output.dtype.name].bits, 64)) - 1
    right = ", ".join(f"{code & mask:#0{digits}x}" for code in wanted.right)
    operands = ", ".join(
        f"{one_line(name)} = {one_line(bits)} ({one_line(value)})" for name, bits, value in wanted.operands
    )
    return f'''
RIGHT = ({right},)
output = np.ascontiguousarray(outputs[{wanted.output}]).reshape(-1)
element, got = output[{wanted.index}], int(output.view("{word}")[{wanted.index}]) & {mask:#x}
print(library)
print("{operands}")
print("{output.name}[{wanted.index}]: expected", " or ".join(f"{{code:#0{digits}x}}" for code in RIGHT), end=", ")
print(f"got {{got:#0{digits}x}} ({{element}}); recorded {wanted.recorded & mask:#0{digits}x}")
sys.exit(0 if got in RIGHT{" or element != element" if wanted.any_nan else ""} else 1)
'''.strip("\n")
