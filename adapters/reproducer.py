"""Standalone scripts that show one discrepancy with the library's own API, without Tiebreak.

A backend may have `reproducer(node, inputs) -> str`. Its Python lines find the node's inputs bound to arrays by name,
and assign `outputs` (a tuple of arrays) and `library` (name and version). The call, which can be made again, is what
stands below the line CALL, or else every statement that the inputs reach. This module adds the rest of the script: the
inputs bit by bit before those lines, and the comparison after them.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tiebreak.adapters.frames import EXTENSION_TYPES
from tiebreak.golden.elements import ELEMENT_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.untrusted_text import safe_text

CALL = "# The call."  # the line above the statements of the call, where not all that the inputs reach belongs to it
WORDS_A_LINE = 8
LONGEST_LIST = 4096  # elements
MOST_VALUES = 64  # distinct values of a longer array, which is written as places by value


FILLED = """
def filled(size, common, word, places):
    words = np.full(size, common, word)
    for value, where in places:
        words[where] = value
    return words
""".strip()


def fault_of_lines(lines: str) -> str:
    """Why a backend's lines can't stand in a script; empty if they can."""
    try:
        names = [node for node in ast.walk(ast.parse(lines)) if isinstance(node, ast.Name)]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # the last two: brackets in brackets
        return f"are no Python: {safe_text(error, 200)}"
    missing = {"outputs", "library"} - {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return f"assign no {' and no '.join(sorted(missing))}" if missing else ""


@dataclass(frozen=True)
class WantedElement:
    """One element of one output; `right` maps the bits that would be right to decimals. `any_nan` accepts every NaN.

    `operands` are the (name, bits, decimal) of the element's operands, as recorded.
    """

    output: int
    index: int
    right: Mapping[int, str]
    recorded: int
    operands: Sequence[Sequence[str]]
    any_nan: bool = False
    recorded_nan: bool = False


def discrepancy_script(title: str, node: Node, inputs: Sequence[Array], wanted: WantedElement, lines: str) -> str:
    """The script's text. It exits with 1 while the element is wrong, 0 once it is right, 2 if it can't be run."""
    parts = [
        f'"""{safe_in_source(title)}\n\n'
        "Exits with 1 while the result is wrong, with 0 once it is right, with 2 if the library can't be run.\n"
        '"""',
        "import os\nimport sys\n\n\n" + FAILED,
        *input_lines(node, inputs, lines),
        lines.strip(),
        verdict_source(node, wanted),
    ]
    return "\n\n".join(parts) + "\n"


def answer_script(title: str, requirement: str, node: Node, inputs: Sequence[Array], lines: str) -> str:
    """A script that prints what a release of a library answers, in bits and as numbers."""
    parts = [
        f'"""{safe_in_source(title)}\n\nNeeds: pip install {safe_in_source(requirement)}\n"""',
        *input_lines(node, inputs, lines),
        lines.strip(),
        ANSWER,
    ]
    return "\n\n".join(parts) + "\n"


def input_lines(node: Node, inputs: Sequence[Array], lines: str) -> list[str]:
    """The imports, the helper that the lines need, and each input bit by bit under its own name."""
    extension = any(array.dtype.name in EXTENSION_TYPES for array in inputs)
    extension |= "ml_dtypes." in lines and "import ml_dtypes" not in lines
    arrays = [f"{tensor.name} = {array_source(array)}" for tensor, array in zip(node.inputs, inputs, strict=True)]
    imports = ("import ml_dtypes\n" if extension else "") + "import numpy as np"
    return [imports, *([f"\n{FILLED}\n"] if any("= filled(" in text for text in (*arrays, lines)) else []), *arrays]


def reached_statements(lines: str, inputs: Iterable[str]) -> tuple[list[str], set[str]]:
    """The statements that the inputs reach, be it by what others of them assign, and the names that they assign."""
    reached, assigned, statements = set(inputs), set[str](), list[str]()
    for statement in ast.parse(lines).body:
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        if any(name.id in reached for name in names):
            assigned |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
            reached |= assigned
            statements.append(ast.get_source_segment(lines, statement) or "")
    return statements, assigned


ANSWER = """
print(library)
for output in outputs:
    array = np.ascontiguousarray(output)
    print(array.dtype, array.shape, array.tolist(), "bits, byte by byte:", array.tobytes().hex(" "))
""".strip()

FAILED = """
def failed(kind, error, trace):
    print(f"could not run: {kind.__name__}: {error}", flush=True)
    os._exit(2)


sys.excepthook = failed
""".strip("\n")


def safe_in_source(text: str) -> str:
    """Text on one line that can't end a docstring or a comment."""
    return "".join(c if c.isprintable() and c not in '"\\' else "?" for c in text)[:300]


def array_source(array: Array) -> str:
    """A NumPy expression for an array with exactly these bits."""
    word = f"uint{8 * array.dtype.itemsize}"
    words = np.ascontiguousarray(array).view(word).reshape(-1)
    digits = 2 + 2 * array.dtype.itemsize
    if words.size > LONGEST_LIST and np.unique(words).size <= MOST_VALUES:
        return f"{filled_source(words, word, digits)}.view({dtype_source(array.dtype.name)}).reshape({array.shape})"
    texts = [f"{word:#0{digits}x}" for word in words.tolist()]
    rows = [", ".join(texts[at : at + WORDS_A_LINE]) for at in range(0, len(texts), WORDS_A_LINE)]
    body = rows[0] if len(rows) == 1 else "\n" + textwrap.indent(",\n".join(rows), "    ") + "\n" if rows else ""
    return f'np.array([{body}], "{word}").view({dtype_source(array.dtype.name)}).reshape({array.shape})'


def filled_source(words: Array, word: str, digits: int) -> str:
    """An expression for a large array of few values: the commonest value, and the places of all others."""
    values, counts = np.unique(words, return_counts=True)
    common = values[counts.argmax()]
    puts = [
        f"({value:#0{digits}x}, {np.flatnonzero(words == value).tolist()})"
        for value in values.tolist()
        if value != common
    ]
    body = textwrap.indent(",\n".join(puts), "    ")
    return f'filled({words.size}, {int(common):#0{digits}x}, "{word}", [\n{body}\n])'


def dtype_source(name: str) -> str:
    return f"ml_dtypes.{name}" if name in EXTENSION_TYPES else f'"{name}"'


def verdict_source(node: Node, wanted: WantedElement) -> str:
    output = node.outputs[wanted.output]
    word, digits = f"uint{8 * output.dtype.itemsize}", 2 + 2 * output.dtype.itemsize
    mask = (1 << min(ELEMENT_TYPES[output.dtype.name].bits, 64)) - 1
    right = ", ".join(f'{code & mask:#0{digits}x}: "{safe_in_source(text)}"' for code, text in wanted.right.items())
    recorded = "a NaN" if wanted.recorded_nan else f"{wanted.recorded & mask:#0{digits}x}"
    operands = ", ".join(
        f"{safe_in_source(name)} = {safe_in_source(bits)} ({safe_in_source(value)})"
        for name, bits, value in wanted.operands
    )
    return f'''
RIGHT = {{{right}}}
output = np.ascontiguousarray(outputs[{wanted.output}]).reshape(-1)
element, got = output[{wanted.index}], int(output.view("{word}")[{wanted.index}]) & {mask:#x}
print(library)
print("{operands}")
right = " or ".join(f"{{code:#0{digits}x}} ({{text}})" for code, text in RIGHT.items())
print(f"{output.name}[{wanted.index}]: expected {{right}}", end=", ")
print(f"got {{got:#0{digits}x}} ({{element}}); recorded {recorded}")
sys.exit(0 if got in RIGHT{" or element != element" if wanted.any_nan else ""} else 1)
'''.strip("\n")
