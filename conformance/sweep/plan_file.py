"""A campaign's plan: a TOML file; each of its entries stands for all combinations of its lists."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import jsonschema

from tiebreak.conformance.cases.plan import Selection
from tiebreak.conformance.sweep.job import space_of
from tiebreak.golden.elements import ELEMENT_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.files import toml_entries
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.space import Space

MOST_SWEEPS = 1000
LARGEST = 1 << 20  # bytes of a plan
LONGEST_NAME = 120  # characters of a file's name before its checksum
LISTS = ("backends", "operator", "types", "input_type", "opset")  # what may be one value or a list
TABLES = ("attributes", "inputs")  # tables whose values may be lists


def list_of(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "minItems": 1, "items": items}


KIND = {"enum": [*ELEMENT_TYPES]}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["backends", "operator"],
    "additionalProperties": False,
    "properties": {
        "backends": list_of({"type": "string", "minLength": 1}),
        "operator": list_of({"enum": [*OPERATORS]}),
        "types": list_of(KIND),
        "input_type": list_of(KIND),
        "opset": list_of({"type": "integer", "minimum": 1}),
        "attributes": {"type": "object", "additionalProperties": list_of({})},
        "inputs": {"type": "object", "additionalProperties": list_of({"type": ["number", "string"]})},
        "all_modes": {"type": "boolean"},
    },
}


@dataclass(frozen=True)
class Sweep:
    """One sweep of a campaign, with `attributes` and `inputs` as the plan has them."""

    spec: str
    space: Space
    all_modes: bool
    attributes: Mapping[str, Any]
    inputs: Mapping[str, str]

    @cached_property
    def digest(self) -> str:
        """Equal for equal sweeps, however they were typed."""
        content = json.dumps([self.spec, self.space.described(), self.all_modes], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:10]

    @cached_property
    def file(self) -> str:
        """The certificate's file name: readable, safe, and different for different sweeps."""
        node = self.space.node
        values = [*self.attributes.values(), *(f"{name} {value}" for name, value in self.inputs.items())]
        opset = [f"opset{node.opset}"] if node.opset else []
        words = [Path(self.spec).name, node.operator, f"{node.input_type}-{node.output_type}", *opset, *values]
        return f"{'_'.join(map(safe_word, words))[:LONGEST_NAME]}_{self.digest}.json"


def safe_word(value: object) -> str:
    """A word for a file name; characters that a file system or shell may interpret become hyphens."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", str(value)).strip("-.") or "x"


def read_campaign_plan(path: Path) -> list[Sweep]:
    """The distinct sweeps of a plan. InvalidInput names the wrong entry and what is allowed there."""
    entries = listed_entries(path)
    checked = [checked_entry(path, number, entry) for number, entry in enumerate(entries, start=1)]
    count = sum(math.prod(map(len, (*list_alternatives(entry), *table_alternatives(entry)))) for entry in checked)
    if count > MOST_SWEEPS:
        raise InvalidInput(f"{path}: {count} sweeps; a plan has at most {MOST_SWEEPS}")
    found = [sweep for number, entry in enumerate(checked, start=1) for sweep in sweeps_of(path, number, entry)]
    return list({sweep.digest: sweep for sweep in reversed(found)}.values())[::-1]


def listed_entries(path: Path) -> list[Any]:
    entries = toml_entries(path, "sweep", LARGEST, "a plan")
    if not entries:
        raise InvalidInput(f"{path}: no [[sweep]] entry")
    return entries


def checked_entry(path: Path, number: int, entry: Any) -> dict[str, Any]:
    """The entry with single values made lists where lists are allowed. InvalidInput if it violates SCHEMA."""
    if isinstance(entry, dict):
        entry = {name: in_list(value) if name in LISTS else value for name, value in entry.items()}
        for name in TABLES:
            if isinstance(entry.get(name), dict):
                entry[name] = {key: in_list(value) for key, value in entry[name].items()}
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for error in sorted(validator.iter_errors(entry), key=lambda error: list(map(str, error.absolute_path))):
        raise InvalidInput(f"{path}: sweep {number}: {plan_schema_problem(error)}")
    found: dict[str, Any] = entry
    return found


def in_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def plan_schema_problem(error: jsonschema.ValidationError) -> str:
    """A schema's complaint in words for the person who wrote the plan."""
    wanted: Any = error.validator_value
    given: Any = error.instance
    place = ".".join(str(part) for part in error.absolute_path if not isinstance(part, int))
    if error.validator == "additionalProperties":
        unknown = next(name for name in given if name not in SCHEMA["properties"])
        return f"unknown key {unknown!r}; allowed: {', '.join(SCHEMA['properties'])}"
    if error.validator == "required":
        missing = next(name for name in wanted if name not in given)
        return f"no {missing!r}; each sweep needs {' and '.join(SCHEMA['required'])}"
    if error.validator == "enum":
        return f"{place}: {given!r:.80} is none of {', '.join(wanted)}"
    return f"{place + ': ' if place else ''}{error.message[:200]}"


def list_alternatives(entry: Mapping[str, Any]) -> list[list[Any]]:
    """The alternatives of each key of LISTS; an absent key has its default as the only one."""
    usual: dict[str, Any] = {"types": [""], "input_type": [""], "opset": [0]}
    return [list(entry.get(name, usual.get(name))) for name in LISTS]


def table_alternatives(entry: Mapping[str, Any]) -> list[list[tuple[str, Any]]]:
    """The alternatives of each attribute and input, as pairs of its name and a value."""
    return [[(name, value) for value in values] for key in TABLES for name, values in entry.get(key, {}).items()]


def sweeps_of(path: Path, number: int, entry: Mapping[str, Any]) -> Iterator[Sweep]:
    """Every combination of an entry's lists, backend by backend."""
    backends, *others = list_alternatives(entry)
    all_modes, count = bool(entry.get("all_modes")), len(entry.get("attributes", {}))
    spaces = []
    for operator, output_type, input_type, opset, *pairs in product(*others, *table_alternatives(entry)):
        attributes, inputs = dict(pairs[:count]), {name: str(value) for name, value in pairs[count:]}
        try:
            space = space_of(Selection((operator,), attributes, input_type, output_type, opset, inputs))
        except InvalidInput as error:
            raise InvalidInput(f"{path}: sweep {number}: {error}") from None
        spaces.append((space, attributes, inputs))
    for spec in backends:
        yield from (Sweep(spec, space, all_modes, attributes, inputs) for space, attributes, inputs in spaces)


def specs_of(sweeps: Sequence[Sweep]) -> list[str]:
    """Every backend of the campaign, once."""
    return list(dict.fromkeys(sweep.spec for sweep in sweeps))
