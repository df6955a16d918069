"""Reads vector files: JSON that is validated and has digests of its content. Nothing is executed or unpickled.

A file holds groups. A group holds inputs and one vector for each rounding mode to which they apply.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.golden.files import bounded_text, check_format
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Expected
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.operators.model import Operator
from tiebreak.golden.problem import Array, Problem
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_digests import damage
from tiebreak.golden.vector_text import parse_output, parse_tensor

VECTORS = Path(__file__).parent / "vectors"
SCHEMAS = {1: VECTORS / "schema-1.json", 2: VECTORS / "schema.json"}  # by the version of the file
VERSION = 2  # what is written
LARGEST_FILE = 64 << 20


@cache
def schema(version: int) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(SCHEMAS[version].read_text(encoding="utf-8"))
    return data


def read_document(path: Path, *, trusted: bool = False) -> dict[str, Any]:
    """The parsed and validated file. For a `trusted` file, one of Tiebreak's own, the schema is not checked.

    Raises DamagedFile, whose message names the file, if it is not a valid vector file.
    """
    try:
        document = json.loads(bounded_text(path, LARGEST_FILE, "a vector file"))
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"{path}: damaged vector file: not JSON ({error})") from None
    document = check_format(path, document, "tiebreak-vectors", "vector file", SCHEMAS)
    if not trusted:
        validate(path, document)
    check_digests(path, document)
    return document


def check_digests(path: Path, document: Mapping[str, Any]) -> None:
    try:
        wrong = damage(document)
    except (KeyError, TypeError, AttributeError) as error:  # possible in a file that was not validated
        wrong = str(error)
    if wrong:
        raise DamagedFile(f"{path}: damaged vector file: {wrong}")


def validate(path: Path, document: Mapping[str, Any]) -> None:
    import jsonschema

    error = jsonschema.Draft202012Validator(schema(document["version"]))
    first = next(iter(error.iter_errors(document)), None)
    if first is not None:
        where = "/".join(map(str, first.absolute_path)) or "the top"
        raise DamagedFile(f"{path}: damaged vector file: at {where}: {first.message[:120]}")


def read_cases(path: Path, *, trusted: bool = False) -> list[Case]:
    """Every vector of a file as a case with expected results. Raises DamagedFile, which names the file."""
    document = read_document(path, trusted=trusted)
    try:
        return [case for group in document["groups"] for case in group_cases(document["operator"], group)]
    except (KeyError, ValueError, TypeError, OverflowError, InvalidInput) as error:
        raise DamagedFile(f"{path}: damaged vector file: {error}") from None


def form_of(spec: Operator, names: tuple[str, ...]) -> int:
    """The number of the form with these names of inputs, or that begins with them. ValueError if there is none."""
    if names in spec.forms:
        return spec.forms.index(names)
    return [form[: len(names)] for form in spec.forms].index(names)


def group_cases(operator: str, group: Mapping[str, Any]) -> Iterator[Case]:
    if operator not in OPERATORS:
        raise ValueError(f"unknown operator {operator!r}")
    spec = OPERATORS[operator]
    tensors = group["inputs"]
    inputs = tuple(parse_tensor(tensor) for tensor in tensors)
    form = form_of(spec, tuple(tensor["name"] for tensor in tensors))
    keywords: dict[str, Any] = dict(group.get("types", {})) or {
        "real": tensors[0]["type"],
        "quantized": group["output_type"],
    }
    keywords |= {"form": form, "zero_point": not spec.optional_inputs or len(tensors) == len(spec.forms[form])}
    for vector in group["vectors"]:
        attributes = {**group["attributes"], **vector["attributes"]}
        node = make_node(operator, attributes=attributes, opset=group.get("opset", 0), **keywords)
        case = Case(vector["id"], node, inputs, "vector", tuple(vector["flags"]), tuple(vector["clauses"]))
        problems = problems_of(case)  # refuses shapes and types that do not fit
        yield replace(case, expected=parse_expected(vector, problems))


def parse_expected(vector: Mapping[str, Any], problems: Sequence[Problem]) -> Expected:
    exact = parse_results(vector, vector["expected"], problems)
    return Expected(*exact, *(parse_results(vector, vector["working"], problems) if "working" in vector else exact))


def parse_results(
    vector: Mapping[str, Any], texts: str | Sequence[str], problems: Sequence[Problem]
) -> tuple[Array, Array]:
    """Flat codes and states of all outputs, one after the other."""
    texts = [texts] if isinstance(texts, str) else texts
    if len(texts) != len(problems):
        raise ValueError(f"{vector['id']}: results of {len(texts)} outputs for {len(problems)}")
    parsed = [parse_output(vector["id"], text, problem) for text, problem in zip(texts, problems, strict=True)]
    return np.concatenate([codes for codes, _ in parsed]), np.concatenate([states for _, states in parsed])


def vector_paths(folder: Path = VECTORS) -> list[Path]:
    """The vector files of a folder, sorted. InvalidInput if there are none."""
    schemas = [folder / schema.name for schema in SCHEMAS.values()]
    paths = sorted(path for path in folder.glob("*.json") if path not in schemas)
    if not paths:
        raise InvalidInput(f"{folder}: no vector files (*.json) here")
    return paths
