"""Writes docs/api.md from the docstrings of tiebreak's public names: python tests/make_api_page.py.

What a docstring has no room for, the fields of a class and an example, stands here by name.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path
from textwrap import wrap
from typing import Any

import click

import tiebreak
from tiebreak.cli.running import run as command

PAGE = Path(__file__).parent.parent / "docs" / "api.md"
HEAD = """# Python API

`import tiebreak` offers the names on this page, and loads each when it is first used. Any other name may change without
notice. Arrays are NumPy arrays; bfloat16, float8, float4, int4, uint4, int2 and uint2 are ml_dtypes' types. The version
is `tiebreak.__version__`.
"""
KEYWORDS = {
    "--backend": "backends",
    "--operator": "operators",
    "--attr": "attributes",
    "--case": "cases",
    "--input": "inputs",
    "--from": "earlier_run",
    "--json": "show",
}
TOPICS = {
    "Run and read": ("run", "load", "Tables"),
    "Judge in your own tests": ("assert_conforms", "verdicts", "cases", "nodes"),
    "Nodes and cases": ("make_node", "Node", "TensorType", "Case", "Expected"),
    "Write a backend": ("Backend", "serve", "Unsupported"),
    "The specifications": ("OPERATORS", "get_operator", "Operator"),
    "Errors": ("TiebreakError", "InvalidInput", "DamagedFile", "MachineryFailed"),
}
FIELDS = {
    "Tables": {
        "results": "a row for each backend and case",
        "discrepancies": "a row for each element that deviates",
        "clusters": "a row for each root cause",
        "backends": "a row for each backend",
        "paths": "a row for each answer to operands that have several answers",
        "observed": "a row for each backend, operator, situation and answer where the spec is silent",
        "forbidden": "a row for each backend and call that a document forbids",
        "relations": "a row for each backend and pair of operators that must agree",
        "pairs": "a row for each operator and two backends",
        "info": "`run.json` as it is, a dict: how the run was started, versions, attestations, the exit code",
    },
    "Node": {
        "operator": 'the id, such as `"onnx.QuantizeLinear"`',
        "attributes": "by the document's own names; one that has its default is left off",
        "inputs": "name and element type of each input, in the document's order; an absent optional input is left off",
        "outputs": "the same for the outputs",
        "opset": "the operator-set version of an ONNX operator, else 0",
        "baked": "the constants as bit patterns; read them as arrays from `constants`",
    },
    "TensorType": {
        "name": "the document's name, such as `y_scale`",
        "dtype": "a NumPy or ml_dtypes dtype",
    },
    "Case": {
        "id": "what `--case` takes",
        "node": "the node",
        "inputs": "one array for each input of the node, in its order and of its element type",
        "origin": "`vector`, `generated` or `typed`",
        "flags": "what the case aims at, such as `Tie` (golden vectors only)",
        "clauses": "the ids of the clauses that it shows (golden vectors only)",
        "expected": "the stored results of a golden vector, else None; an [Expected](#expected)",
    },
    "Expected": {
        "exact": "int64: the exact results; an integer's value, or the bit pattern of a real result",
        "exact_state": "uint8: 0 the code is the result; 1 beyond the type's range, the code is its nearer end; "
        "2 unspecified; 3 a real result of zero, either sign is right",
        "working": "int64: the results in working precision",
        "working_state": "uint8: the same states for them",
    },
    "Operator": {
        "id": 'such as `"onnx.QuantizeLinear"`',
        "prefix": "what the ids of its clauses begin with, such as `ONQ`",
        "formula": "the document's formula, as text",
        "sources": "the documents, as texts with addresses",
        "clauses": "each normative statement: `id`, `text`, `source`, `unspecified` where the document is silent, and "
        "`derived` where it follows without a sentence of its own",
        "attributes": "each attribute: `name`, `text`, `default`, `required`, and `parse`, which checks a value",
        "forms": "the names of the inputs, once for each document that names them differently",
        "outputs": "the names of the outputs",
        "family": "`quantize` (real to quantized), `dequantize` (quantized to real) or `fake` (real to real)",
        "real_types": "names of the real element types",
        "quantized_types": "names of the quantized element types",
        "optional_inputs": "how many of the last inputs may be absent",
        "opsets": "the versions of an ONNX operator's text, else empty",
        "modes": "the rounding modes that the `round_mode` attribute may name, else empty",
        "saturates": "whether the document defines results beyond the output type's range",
        "steps": "the formula in working precision, step by step, as texts",
        "contested": "questions to which documents give different answers, each with an input that tells them apart",
    },
}
NOTES = {
    "run": """```python
import tiebreak

tables = tiebreak.run(backends=["numpy-naive", "mine.py:Mine"], operators="onnx.QuantizeLinear", level="quick")
print(tables.exit_code, len(tables.discrepancies))
print(tables.clusters[["backend", "cause", "elements"]])

typed = {"x": [2.5, "0x3effffff"], "y_scale": 1}
assert tiebreak.run(backends="numpy-naive", operators="onnx.QuantizeLinear", inputs=typed).exit_code == 0
```""",
    "load": "`run` is the path of a run folder. `tiebreak.run` returns the same tables.",
    "verdicts": "The arrays hold `exact`, `working-precision`, `other-order`, `unspecified` or `deviates` for each "
    "element.",
    "cases": "The strategy draws a [Case](#case) whose arrays fit its node.",
    "Tables": "[tables.md](tables.md) lists the columns. `for name, frame in tables` goes through all nine tables.\n"
    "In a notebook a run shows itself: the libraries, the five findings that matter most, and the matrix.",
    "nodes": "Element types are names such as `float32` or `int8`; `rank` counts the first input's dimensions.",
    "serve": "[external-programs.md](external-programs.md) describes the requests, for programs in other languages.",
    "TensorType": "A node fixes no shape: `run` meets arrays of any shape that the document allows.",
    "Backend": "[writing-a-backend.md](writing-a-backend.md) describes the protocol at length.",
    "Operator": "Its other fields serve the builder of the golden vectors and may change.",
}


def api_page() -> str:
    public = {name for name in tiebreak.__all__ if not name.startswith("_")}
    placed = [name for names in TOPICS.values() for name in names]
    assert sorted(placed) == sorted(public), "TOPICS must have each public name once"
    parts = [HEAD]
    for topic, names in TOPICS.items():
        parts += [f"## {topic}\n", *(entry(name, getattr(tiebreak, name)) for name in names)]
    return "\n".join(parts)


def entry(name: str, found: Any) -> str:
    lines = [f"### {name}", ""]
    if inspect.isclass(found) and issubclass(found, BaseException):
        lines += [f"An exception; its base is `{found.__bases__[0].__name__}`.", ""]
    elif name in FIELDS:
        first = (inspect.getdoc(found) or "").partition("\n\n")[0]
        return "\n".join([*lines, first, "", *fields(found, FIELDS[name]), *rest(name, found)])
    elif callable(found) and name != "Backend":  # a protocol, which nobody calls
        lines += ["```python", *signature(name, found), "```", ""]
    elif not callable(found):
        lines += ["A dict from operator id to [Operator](#operator):", "", *(f"- `{one}`" for one in found), ""]
    if callable(found):
        lines += [*(inspect.getdoc(found) or "").splitlines(), ""]
    return "\n".join([*lines, *rest(name, found)])


def rest(name: str, found: Any) -> list[str]:
    """Members, options and notes."""
    lines = [line for member in members(found) for line in member]
    if name == "run":
        lines += ["| keyword | option | meaning |", "| --- | --- | --- |", *options(), ""]
    return [*lines, *([NOTES[name], ""] if name in NOTES else [])]


def options() -> list[str]:
    """A row for each keyword of `tiebreak.run`, with what the command's help says of its option."""
    context = click.Context(command)
    found = {}
    for param in command.params:
        option = max(param.opts, key=len)
        meaning = (param.get_help_record(context) or ("", ""))[1].replace("  [", " [")
        found[KEYWORDS.get(option, option.removeprefix("--").replace("-", "_"))] = (option, meaning)
    found["show"] = ("", "Print what the command prints, and its progress.")
    found["output"] = (found["output"][0], "Folder for the records and report.html. Default: a temporary one.")
    keywords = inspect.signature(tiebreak.run).parameters
    return [f"| `{name}` | {f'`{found[name][0]}`' if found[name][0] else ''} | {found[name][1]} |" for name in keywords]


def fields(found: Any, meanings: dict[str, str]) -> list[str]:
    """A table of a dataclass's fields, each of which is there and has a meaning."""
    types = {field.name: str(field.type) for field in dataclasses.fields(found)}
    assert set(meanings) <= set(types), set(meanings) - set(types)
    rows = [
        f"| `{name}` | `{types[name]}` | {meaning} |".replace(" | None`", " \\| None`")
        for name, meaning in meanings.items()
    ]
    return ["| field | type | meaning |", "| --- | --- | --- |", *rows, ""]


def members(found: Any) -> list[list[str]]:
    """The documented public methods and properties of a class."""
    if not inspect.isclass(found) or issubclass(found, BaseException):
        return []
    own = [(name, value) for name, value in vars(found).items() if not name.startswith("_")]
    documented = [(name, value, getattr(value, "__doc__", None)) for name, value in own if not isinstance(value, str)]
    return [
        [*wrap(f"`{name}`: {' '.join(inspect.cleandoc(text).split())}", 120), ""]
        for name, value, text in documented
        if text and (inspect.isfunction(value) or isinstance(value, property) or hasattr(value, "func"))
    ]


def signature(name: str, found: Any) -> list[str]:
    """The signature in one line, or a line for each parameter where that is longer than 110 columns."""
    try:
        found_signature = inspect.signature(found)
    except ValueError:
        return [name]
    text = name + tidy(str(found_signature))
    if len(text) <= 110:
        return [text]
    returned = text.rpartition(" -> ")[2]
    stars = ["    *,"] if not str(found_signature).startswith("(self") and "*," in text else []
    some = [f"    {tidy(str(one))}," for one in found_signature.parameters.values()]
    keywords = [one.kind is one.KEYWORD_ONLY for one in found_signature.parameters.values()]
    first = keywords.index(True) if True in keywords else len(some)
    return [f"{name}(", *some[:first], *stars, *some[first:], f") -> {returned}"]


def tidy(text: str) -> str:
    return re.sub(r"ForwardRef\('([^']*)'\)", r"\1", re.sub(r"(: |-> )'([^']*)'", r"\1\2", text))


if __name__ == "__main__":
    PAGE.write_text(api_page(), encoding="utf-8")
