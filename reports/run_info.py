"""Validates run.json before it is used: a run folder may come from elsewhere or be edited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TEXT, WHOLE, NUMBER, YES_NO, LIST, OBJECT = (str,), (int,), (int, float), (bool,), (list,), (dict,)
NAMES = {TEXT: "text", WHOLE: "a whole number", NUMBER: "a number", YES_NO: "true or false"}
NAMES |= {LIST: "a list", OBJECT: "an object", (*NUMBER, type(None)): "a number or null"}
Kinds = Mapping[str, tuple[type, ...]]

TOP: Kinds = {
    **dict.fromkeys(("level", "created", "machine"), TEXT),
    "seed": WHOLE,
    "exit": WHOLE,
    "backends": LIST,
    "observed": LIST,
}
# Missing in older runs, or in a run in memory.
LATER: Kinds = {
    **dict.fromkeys(("command", "folder", "instruction_sets"), TEXT),
    **dict.fromkeys(("clusters", "failures", "forbidden", "paths", "relations", "pairs", "stages", "typed"), LIST),
    **dict.fromkeys(("releases", "repeated"), LIST),
    **dict.fromkeys(("explained", "judge_foreign", "strict"), YES_NO),
    "explanation_errors": LIST,
    **dict.fromkeys(("selection", "made_by", "vectors", "settings", "domains"), OBJECT),
}
COUNTED: Kinds = dict.fromkeys(("cases", "elements", "differ"), WHOLE)
ROWS: Mapping[str, Kinds] = {
    "backends": dict.fromkeys(("name", "version"), TEXT),
    "observed": {**dict.fromkeys(("backend", "operator", "situation", "gives"), TEXT), "elements": WHOLE},
    "clusters": {
        **dict.fromkeys(("id", "backend", "version", "operator", "cause", "clause", "sentence"), TEXT),
        **dict.fromkeys(("elements", "cases", "farthest"), WHOLE),
        "types": LIST,
        "boundary_ulp": (*NUMBER, type(None)),
        "witness": OBJECT,
    },
    "forbidden": dict.fromkeys(
        ("backend", "version", "operator", "clause", "what", "answer", "message", "got"), TEXT
    ),
    "paths": {
        **dict.fromkeys(("backend", "operator", "input_type", "output_type", "node", "output"), TEXT),
        "operands": LIST,
        "answers": LIST,
        "deviates": YES_NO,
    },
    "relations": {**dict.fromkeys(("relation", "backend"), TEXT), **COUNTED},
    "pairs": {**dict.fromkeys(("a", "b", "operator"), TEXT), **COUNTED},
    "releases": {
        **dict.fromkeys(("before", "after", "status", "operator", "what"), TEXT),
        **dict.fromkeys(("counts", "ids"), LIST),
    },
    "typed": {**dict.fromkeys(("input", "bits", "expected"), TEXT), "got": OBJECT},
    "repeated": {
        **dict.fromkeys(("backend", "operator", "first"), TEXT),
        **dict.fromkeys(("cases", "differ"), WHOLE),
    },
    "failures": {
        **dict.fromkeys(("id", "backend", "version", "operator", "verdict", "fault", "message"), TEXT),
        "cases": WHOLE,
        "witness": OBJECT,
    },
    "explanation_errors": {**dict.fromkeys(("stage", "about", "error"), TEXT), "times": WHOLE},
    "stages": {"stage": TEXT, "seconds": NUMBER},
}  # fmt: skip
NAMED_OUTPUT: Kinds = {"output": TEXT, "attributes": LIST}  # of a witness; older runs lack them
CAUSE_OF_FAILURE: Kinds = {"cause_id": TEXT, "example": OBJECT}  # of one of which that is known
WITNESS: Kinds = {
    **dict.fromkeys(("id", "case", "expected", "got"), TEXT),
    "elements": WHOLE,
    "operands": LIST,
}
VECTORS: Kinds = {"vectors": WHOLE, "sha256": TEXT}  # of an operator
ANSWER: Kinds = {
    **dict.fromkeys(("bits", "value", "case"), TEXT),
    "elements": WHOLE,
    "index": WHOLE,
    "deviates": YES_NO,
    "paths": LIST,
}
# If present.
OF_BACKEND: Kinds = {
    **dict.fromkeys(("spec", "library"), TEXT),
    **dict.fromkeys(("attestation", "judged", "claims", "maps"), OBJECT),
}
OF_CAUSE: Kinds = {
    **dict.fromkeys(("document", "cause_id", "arithmetic", "environment"), TEXT),
    "domains": OBJECT,
    "examples": LIST,
    "theorems": LIST,
}
EXAMPLE: Kinds = {**dict.fromkeys(("id", "rounded"), TEXT), "modes": LIST}
PICTURE: Kinds = {**dict.fromkeys(("kind", "operand", "x"), TEXT), "apart": WHOLE, "points": LIST}
POINT: Kinds = {**dict.fromkeys(("exact", "working", "got"), TEXT), "x": LIST}
SHARE: Kinds = {
    **dict.fromkeys(("elements", "judged", "farthest"), WHOLE),
    "boundary_ulp": (*NUMBER, type(None)),
}
SHARE_OF_CASES: Kinds = dict.fromkeys(("cases", "judged_cases"), WHOLE)


def check_info(info: Mapping[str, Any]) -> None:
    """Raise ValueError naming the first invalid place in run.json."""
    check_row("", info, TOP)
    check_row("", {name: info[name] for name in LATER if name in info}, LATER, needed=False)
    for name, kinds in ROWS.items():
        for number, row in enumerate(info.get(name, [])):
            check_row(f"{name}[{number}]", row, kinds)
    for number, row in enumerate(info["backends"]):
        check_backend(f"backends[{number}]", row)
    for number, row in enumerate(info.get("clusters", [])):
        check_texts(f"clusters[{number}].types", row["types"])
        check_row(f"clusters[{number}]", row, OF_CAUSE, needed=False)
        check_texts(f"clusters[{number}].theorems", row.get("theorems", []))
        for domain, share in row.get("domains", {}).items():
            check_row(f"clusters[{number}].domains[{domain!r:.80}]", share, SHARE)
            check_row(f"clusters[{number}].domains[{domain!r:.80}]", share, SHARE_OF_CASES, needed=False)
        check_row(f"clusters[{number}].witness", row["witness"], WITNESS)
        check_row(f"clusters[{number}].witness", row["witness"], NAMED_OUTPUT, needed=False)
        check_texts(f"clusters[{number}].witness.attributes", row["witness"].get("attributes", []))
        check_operands(f"clusters[{number}].witness", row["witness"]["operands"])
        check_illustrations(f"clusters[{number}]", row)
    check_texts("domains", [text for pair in info.get("domains", {}).items() for text in pair])
    for name in ("repeated", "pairs", "relations", "failures"):
        for number, row in enumerate(info.get(name, [])):
            if "example" in row:
                check_example(f"{name}[{number}].example", row["example"])
    for operator, row in info.get("vectors", {}).items():
        check_row(f"vectors[{operator!r:.80}]", row, VECTORS)
    for number, row in enumerate(info.get("failures", [])):
        check_row(f"failures[{number}]", row, CAUSE_OF_FAILURE, needed=False)
        check_row(f"failures[{number}].witness", row["witness"], dict.fromkeys(("case", "message"), TEXT))
        check_row(f"failures[{number}].witness", row["witness"], {"call": TEXT}, needed=False)
    for number, row in enumerate(info.get("paths", [])):
        check_operands(f"paths[{number}]", row["operands"])
        for at, answer in enumerate(row["answers"]):
            check_row(f"paths[{number}].answers[{at}]", answer, ANSWER)
            check_texts(f"paths[{number}].answers[{at}].paths", answer["paths"])


def check_row(place: str, row: Any, kinds: Kinds, *, needed: bool = True) -> None:
    """Raise ValueError unless it is an object with values of these types. `needed`: all of them must be there."""
    if not isinstance(row, Mapping):
        raise ValueError(f"{place} is not an object")
    for name, allowed in kinds.items():
        if name not in row:
            if needed:
                raise ValueError(f"{place} has no {name!r}" if place else f"no {name!r}")
        elif not isinstance(row[name], allowed) or (isinstance(row[name], bool) and allowed != YES_NO):
            raise ValueError(f"{place + '.' if place else ''}{name} is not {NAMES[allowed]}")


def check_example(place: str, row: Any) -> None:
    """An element with its operands and the answers to it."""
    check_row(place, row, {"output": TEXT, "operands": LIST, "answers": LIST})
    check_operands(place, row["operands"])
    for at, answer in enumerate(row["answers"]):
        check_row(f"{place}.answers[{at}]", answer, {**dict.fromkeys(("bits", "value", "case"), TEXT), "index": WHOLE})
        check_texts(f"{place}.answers[{at}].paths", answer.get("paths", []))


def check_illustrations(place: str, cause: Mapping[str, Any]) -> None:
    """The examples and the picture of a root cause, if it has them."""
    for number, row in enumerate(cause.get("examples", [])):
        check_row(f"{place}.examples[{number}]", row, EXAMPLE)
        check_texts(f"{place}.examples[{number}].modes", row["modes"])
    if cause.get("picture") is not None:
        check_row(f"{place}.picture", cause["picture"], PICTURE)
        for number, point in enumerate(cause["picture"]["points"]):
            check_row(f"{place}.picture.points[{number}]", point, POINT)
            check_texts(f"{place}.picture.points[{number}].x", point["x"])


def check_backend(place: str, row: Mapping[str, Any]) -> None:
    check_row(place, row, OF_BACKEND, needed=False)
    for name in ("operators", "always_constant", "claimed"):
        if row.get(name) is not None:
            check_texts(f"{place}.{name}", row[name])
    for name in ("claims", "maps"):
        check_texts(f"{place}.{name}", [text for pair in row.get(name, {}).items() for text in pair])
    for operator, counts in row.get("judged", {}).items():
        whole = isinstance(counts, Mapping) and all(type(count) is int for count in counts.values())
        if not whole or not all(exponent.removeprefix("-").isdecimal() for exponent in counts):
            raise ValueError(f"{place}.judged[{operator!r:.80}] is not counts by exponent")


def check_texts(place: str, texts: Any) -> None:
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{place} is not a list of texts")


def check_operands(place: str, operands: Any) -> None:
    for operand in operands:
        check_texts(f"{place}.operands", operand)
        if len(operand) != 3:
            raise ValueError(f"{place}.operands: an operand is not name, bits and decimal")
