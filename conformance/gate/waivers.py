"""The waiver file: known discrepancies, each with a reason, a link and an expiry date.

    [[waiver]]
    backend = "onnxruntime*"            # its name, or a pattern with * and ?; NAME stands for NAME@VERSION, too
    version = ">=1.20,<1.23"            # PEP 440; left out: every version
    operator = "onnx.QuantizeLinear"
    cause = "rounds:*"                  # the cause's id or sentence, or a pattern; or clause = "ONQ-R1"; or both
    tolerance = { kind = "ties only" }  # left out: any
    reason = "float16 is truncated"
    link = "https://github.com/microsoft/onnxruntime/issues/18576"
    expires = 2027-01-31                # the last day on which it counts

Any other key is refused.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import jsonschema
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from tiebreak.conformance.semantics.former_causes import FORMER, ids_so_far
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.files import toml_entries
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.rounding import is_nearest
from tiebreak.reports.libraries import plain_name

LARGEST = 1 << 20  # bytes
MOST = 1000  # entries

Row = Mapping[str, Any]  # a discrepancy, with its `root` cause and its `cause_id`


def ties_only(row: Row, ulp: float) -> bool:
    return row["boundary_ulp"] == 0 and (not row["round_mode"] or is_nearest(row["round_mode"]))


def near_boundary(row: Row, ulp: float) -> bool:
    return bool(row["boundary_ulp"] <= ulp)  # False for NaN


def near_result(row: Row, ulp: float) -> bool:
    return is_real(row) and not has_nan_result(row) and abs(row["distance"]) <= ulp


def off_by_one(row: Row, ulp: float) -> bool:
    """One integer, or one unit in the last place of a real result."""
    return not has_nan_result(row) and abs(row["distance"]) == 1


def saturation_only(row: Row, ulp: float) -> bool:
    """The expected result is an end of the output type's range, as every clamped result is."""
    kind = ELEMENT_TYPES.get(row["result_type"])
    if kind is None:
        return False
    if isinstance(kind, FloatType):
        sign = 0 if kind.specials == "e8m0" else 1 << (kind.bits - 1)
        return math.isinf(row["expected"]) or int(row["expected_bits"]) & ~sign == kind.largest_bits
    return int(row["expected"]) in (kind.lowest, kind.highest)


def nan_only(row: Row, ulp: float) -> bool:
    """An operand or a result is NaN."""
    return has_nan_result(row) or any(text == "nan" for _, _, text in json.loads(row["operands"]))


def has_nan_result(row: Row) -> bool:
    return math.isnan(row["expected"]) or math.isnan(row["got"])


def is_real(row: Row) -> bool:
    return isinstance(ELEMENT_TYPES.get(row["result_type"]), FloatType)


WITH_ULP = ("within k ulp of a boundary", "within k ulp")
TOLERANCES: dict[str, Callable[[Row, float], bool]] = {
    "any": lambda row, ulp: True,
    "ties only": ties_only,
    "within k ulp of a boundary": near_boundary,
    "within k ulp": near_result,
    "off by one": off_by_one,
    "saturation only": saturation_only,
    "nan only": nan_only,
}
TEXT = {"type": "string", "minLength": 1, "maxLength": 500, "pattern": r"\S"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("backend", "version", "operator", "cause", "clause", "reason"), TEXT),
        "tolerance": {
            "type": "object",
            "properties": {"kind": {"enum": list(TOLERANCES)}, "ulp": {"type": "number", "minimum": 0, "maximum": 1e9}},
            "required": ["kind"],
            "additionalProperties": False,
        },
        "link": TEXT | {"pattern": r"^https?://\S+$"},
        "expires": {},
    },
    "required": ["backend", "operator", "reason", "link", "expires"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Waiver:
    """One entry of the file. `number` counts from 1; `ulp` is the tolerance's k, if its kind has one."""

    number: int
    backend: str
    operator: str
    reason: str
    link: str
    expires: date
    version: str = ""
    cause: str = ""
    clause: str = ""
    kind: str = "any"
    ulp: float = 0

    def __str__(self) -> str:
        what = " ".join(text for text in (self.version, self.operator, self.cause, self.clause) if text)
        return f"waiver {self.number} ({self.backend} {what})"

    def is_for(self, backend: str, version: str) -> bool:
        """Whether the waiver applies to this backend at this version; NAME@VERSION is NAME, too."""
        named = any(self.backend == name or fnmatchcase(name, self.backend) for name in (backend, plain_name(backend)))
        return named and (not self.version or is_within(version, self.version))

    def names(self, row: Row, version: str) -> bool:
        """Whether the waiver names a discrepancy, within its tolerance or not."""
        return (
            self.operator == row["operator"]
            and self.is_for(row["backend"], version)
            and (not self.cause or self.names_cause(str(row["root"]), str(row.get("cause_id", ""))))
            and self.clause in ("", row["clause"])
        )

    def names_cause(self, text: str, id: str) -> bool:
        """Whether the waiver names a cause: by its id, its sentence, or what an older version called it."""
        ids = ids_so_far(id) if id else ()
        told = [text, *ids, *(former for former, same in FORMER.items() if same in ids)]
        return any(self.cause == one or fnmatchcase(one, self.cause) for one in told if one)

    def tolerates(self, row: Row) -> bool:
        """Whether a discrepancy that the waiver names is within its tolerance."""
        return TOLERANCES[self.kind](row, self.ulp)


def is_within(version: str, wanted: str) -> bool:
    """Whether a backend's version satisfies a PEP 440 specifier; a suffix that PEP 440 rejects is ignored."""
    numbers = re.match(r"\d+(\.\d+){0,9}", version)
    for text in (version, numbers.group() if numbers else ""):
        try:
            return SpecifierSet(wanted).contains(Version(text), prereleases=True)
        except InvalidVersion:
            continue
    return False


def read_waivers(path: Path, backends: Iterable[str]) -> list[Waiver]:
    """The file's waivers. InvalidInput names the entry and the field that is wrong or can match nothing.

    An unknown operator or clause can match nothing, nor can a backend that is none of `backends`.
    """
    known = list(backends)
    waivers = [waiver_of(path, number, entry) for number, entry in enumerate(entries_of(path), start=1)]
    for waiver in waivers:
        problem = why_nothing_matches(waiver, known)
        if problem:
            raise InvalidInput(f"{path}: waiver {waiver.number}: {problem}")
    return waivers


def entries_of(path: Path) -> list[Any]:
    entries = toml_entries(path, "waiver", LARGEST, "a waiver file")
    if len(entries) > MOST:
        raise InvalidInput(f"{path}: 'waiver' is to be at most {MOST} [[waiver]] entries")
    return entries


def waiver_of(path: Path, number: int, entry: Any) -> Waiver:
    problem = next(map(waiver_schema_problem, schema_errors(entry)), "") or field_problem(entry)
    if problem:
        raise InvalidInput(f"{path}: waiver {number}: {problem}")
    tolerance = entry.get("tolerance", {})
    texts = {name: value for name, value in entry.items() if name != "tolerance"}
    return Waiver(number, **texts, kind=tolerance.get("kind", "any"), ulp=tolerance.get("ulp", 0))


def schema_errors(entry: Any) -> list[Any]:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    return sorted(validator.iter_errors(entry), key=lambda e: (e.validator != "additionalProperties", path_of_error(e)))


def path_of_error(error: jsonschema.ValidationError) -> list[str]:
    return list(map(str, error.absolute_path))


def waiver_schema_problem(error: jsonschema.ValidationError) -> str:
    """A schema's complaint in words for the person who wrote the file."""
    wanted: Any = error.validator_value
    given: Any = error.instance
    schema: Any = error.schema
    place = ".".join(map(str, error.absolute_path))
    start = f"{place}: " if place else ""
    if error.validator == "additionalProperties":
        allowed = schema["properties"]
        unknown = next(name for name in given if name not in allowed)
        return f"{start}unknown key {unknown!r:.80}; allowed: {', '.join(allowed)}"
    if error.validator == "required":
        return f"{start}no {next(name for name in wanted if name not in given)!r}"
    if error.validator == "enum":
        return f"{start}{given!r:.80} is none of {', '.join(map(repr, wanted))}"
    if error.validator == "pattern":
        return f"{start}{given!r:.80} is {'no http(s) address' if place == 'link' else 'blank'}"
    if place == "tolerance" and error.validator == "type":
        return f'{start}write it as tolerance = {{ kind = "ties only" }}'
    return f"{start}{error.message[:200]}"


def field_problem(entry: Mapping[str, Any]) -> str:
    """What is wrong with an entry beyond its schema; empty if nothing is."""
    expires, tolerance = entry["expires"], entry.get("tolerance", {"kind": "any"})
    if isinstance(expires, datetime):
        return f"expires: {expires} has a time; write the date alone, as 2027-01-31"
    if not isinstance(expires, date):
        return f"expires: {expires!r:.80} is no date; write it as 2027-01-31, without quotes"
    if "cause" not in entry and "clause" not in entry:
        return "no 'cause' and no 'clause'; it needs one of them"
    if ("ulp" in tolerance) != (tolerance["kind"] in WITH_ULP):
        return f"tolerance.ulp: {' and '.join(map(repr, WITH_ULP))} need it, the others have none"
    if not tolerance.get("ulp", 0) >= 0:
        return "tolerance.ulp: nan is no number of units"
    try:
        SpecifierSet(entry.get("version", ""))
    except InvalidSpecifier:
        return f"version: {entry['version']!r:.80} is no version specifier; write '>=1.20,<1.23'"
    return ""


def why_nothing_matches(waiver: Waiver, backends: Iterable[str]) -> str:
    """Why the waiver can match no discrepancy of these backends; empty if it can."""
    known = sorted(set(backends))
    if waiver.operator not in OPERATORS:
        return f"operator: unknown {waiver.operator!r:.80}; known: {', '.join(OPERATORS)}"
    clauses = [clause.id for clause in OPERATORS[waiver.operator].clauses]
    if waiver.clause and waiver.clause not in clauses:
        return f"clause: {waiver.operator} has no {waiver.clause!r:.80}; it has: {', '.join(clauses)}"
    if not any(name == waiver.backend or fnmatchcase(name, waiver.backend) for name in known):
        return f"backend: {waiver.backend!r:.80} matches none of {', '.join(known)[:600]}"
    return ""
