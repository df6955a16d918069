"""Reading and writing vector files: JSON, validated, with a digest of the content, never executed or unpickled.

A file holds groups; a group holds inputs and one vector for each rounding mode that they are for. Tensors are flat
text: floats as hexadecimal bit patterns beside readable decimals, integers as decimals, `?` where nothing is specified.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, numpy_dtype
from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.golden.nodes import Array, Case, Expected, make_node
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.quantization import IN_RANGE, UNDEFINED, quantization_of

VECTORS = Path(__file__).parent / "vectors"
SCHEMA = VECTORS / "schema.json"
LARGEST_FILE = 64 << 20


def digest(document: Mapping[str, Any]) -> str:
    """SHA-256 of the document without its own digest, in canonical form."""
    content = {key: value for key, value in document.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def dump(document: Mapping[str, Any]) -> str:
    """The text of a vector file: the document with its digest, one key a line."""
    return json.dumps({**document, "sha256": digest(document)}, indent=1, ensure_ascii=False) + "\n"


@cache
def schema() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return data


def read_document(path: Path, *, trusted: bool = False) -> dict[str, Any]:
    """The parsed and validated file. `trusted` (Tiebreak's own folder) checks the digest but not the schema.

    Raises DamagedFile, whose message names the file, if it is not a whole vector file.
    """
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise DamagedFile(f"{path}: larger than {LARGEST_FILE >> 20} MiB, not a vector file")
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"{path}: damaged vector file: not JSON ({error})") from None
    if not isinstance(document, dict) or document.get("format") != "tiebreak-vectors":
        raise DamagedFile(f'{path}: damaged vector file: "format" is not "tiebreak-vectors"')
    if not trusted:
        validate(path, document)
    if document.get("sha256") != digest(document):
        raise DamagedFile(f"{path}: damaged vector file: its content does not match its sha256")
    return document


def validate(path: Path, document: Mapping[str, Any]) -> None:
    import jsonschema

    error = jsonschema.Draft202012Validator(schema())
    first = next(iter(error.iter_errors(document)), None)
    if first is not None:
        where = "/".join(map(str, first.absolute_path)) or "the top"
        raise DamagedFile(f"{path}: damaged vector file: at {where}: {first.message[:120]}")


def read_cases(path: Path, *, trusted: bool = False) -> list[Case]:
    """Every vector of a file as a case with its expected results. Raises DamagedFile naming the file."""
    document = read_document(path, trusted=trusted)
    try:
        return [case for group in document["groups"] for case in group_cases(document["operator"], group)]
    except (KeyError, ValueError, TypeError, OverflowError, InvalidInput) as error:
        raise DamagedFile(f"{path}: damaged vector file: {error}") from None


def group_cases(operator: str, group: Mapping[str, Any]) -> Iterator[Case]:
    if operator not in OPERATORS:
        raise ValueError(f"unknown operator {operator!r}")
    tensors = group["inputs"]
    inputs = tuple(parse_tensor(tensor) for tensor in tensors)
    forms = [names[: len(tensors)] for names in OPERATORS[operator].forms]
    form = forms.index(tuple(tensor["name"] for tensor in tensors))
    for vector in group["vectors"]:
        node = make_node(
            operator,
            real=tensors[0]["type"],
            quantized=group["output_type"],
            attributes={**group["attributes"], **vector["attributes"]},
            form=form,
            zero_point=len(tensors) == 3,
        )
        case = Case(vector["id"], node, inputs, "vector", tuple(vector["flags"]), tuple(vector["clauses"]))
        quantization_of(case)  # refuses shapes and types that do not fit
        object.__setattr__(case, "expected", parse_expected(vector, case))
        yield case


def parse_tensor(tensor: Mapping[str, Any]) -> Array:
    """An input tensor; the number of elements must be what its shape says."""
    name, shape = tensor["type"], tuple(tensor["shape"])
    if name in FLOAT_TYPES:
        bits = FLOAT_TYPES[name].bits
        words = np.frombuffer(bytes.fromhex(tensor["bits"]), dtype=f">u{bits // 8}").astype(f"=u{bits // 8}")
        return words.view(numpy_dtype(name)).reshape(shape)
    kind = INTEGER_TYPES[name]
    values = np.array(tensor["values"].split(), dtype=np.int64)
    if values.size and not (kind.lowest <= values.min() and values.max() <= kind.highest):
        raise ValueError(f"{tensor['name']} has a value outside {name}")
    return values.astype(numpy_dtype(name)).reshape(shape)


def parse_expected(vector: Mapping[str, Any], case: Case) -> Expected:
    exact, exact_state = parse_results(vector["expected"], case)
    working, working_state = parse_results(vector.get("working", vector["expected"]), case)
    return Expected(exact, exact_state, working, working_state)


def parse_results(text: str, case: Case) -> tuple[Array, Array]:
    tokens = text.split()
    if len(tokens) != case.size:
        raise ValueError(f"{case.id}: {len(tokens)} results for {case.size} elements")
    known = [token != "?" for token in tokens]
    values = np.array([int(token) if ok else 0 for token, ok in zip(tokens, known, strict=True)], np.int64)
    return values, np.where(known, IN_RANGE, UNDEFINED).astype(np.uint8)


def vector_paths(folder: Path = VECTORS) -> list[Path]:
    """The vector files of a folder, in order. InvalidInput if there is none."""
    paths = sorted(path for path in folder.glob("*.json") if path.name != SCHEMA.name)
    if not paths:
        raise InvalidInput(f"{folder}: no vector files (*.json) here")
    return paths


def write_aside(path: Path, text: str) -> None:
    """Write a text file beside its place and rename it there, so that no half-written file is ever seen."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{path.name}.part")
        aside.write_text(text, encoding="utf-8", newline="\n")
        aside.replace(path)
    except OSError as error:
        raise InvalidInput(f"{path}: can't write: {error.strerror or error}") from None
