"""The certificate of a sweep: a small JSON file with what was tried, on which backend, and the results."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from tiebreak.adapters.platform_facts import instruction_sets, machine
from tiebreak.adapters.settings import settings_of
from tiebreak.conformance.judging.rows import bits_and_decimal
from tiebreak.conformance.sweep.blocks import Block
from tiebreak.conformance.sweep.intervals import Folded, Interval, join_folded
from tiebreak.golden import _kernel
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.errors import DamagedFile
from tiebreak.golden.files import checked_json
from tiebreak.golden.places import write_text_aside
from tiebreak.golden.rounding import ROUND_MODES
from tiebreak.golden.space import Space, space_from
from tiebreak.golden.verdicts import GRADES
from tiebreak.version import __version__

LATER = ("other-order",)  # grades that certificates of an earlier Tiebreak lack: it had none such
FORMAT = {"format": "tiebreak-certificate", "version": 1}
LARGEST = 64 << 20  # bytes
CHECKSUMS = {
    "type": "array",
    "items": {
        "type": "array",
        "prefixItems": [{"type": "integer", "minimum": 0}, {"type": "integer", "minimum": 0}, {"type": "string"}],
        "minItems": 3,
        "maxItems": 3,
    },
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": [
        *FORMAT,
        "tiebreak",
        "created",
        "operator",
        "space",
        "backend",
        "kernel",
        "machine",
        "instruction_sets",
        "inputs",
        "counts",
        "modes",
        "intervals",
        "sha256",
        "faults",
        "seconds",
        "backend_seconds",
    ],
    "properties": {
        "format": {"const": FORMAT["format"]},
        "version": {"const": FORMAT["version"]},
        "operator": {"type": "string"},
        "space": {"type": "object"},
        "backend": {
            "type": "object",
            "required": ["name", "version", "spec", "attestation", "libraries"],
            "properties": {
                **{name: {"type": "string"} for name in ("name", "version", "spec", "document")},
                **{
                    name: {"type": "object", "additionalProperties": {"type": "string"}}
                    for name in ("attestation", "libraries")
                },
            },
        },
        "settings": {"type": "object", "additionalProperties": {"type": "string"}},  # earlier ones have none
        "inputs": {"type": "integer", "minimum": 1},
        "counts": {
            "type": "object",
            "required": [grade for grade in GRADES if grade not in LATER],
            "additionalProperties": {"type": "integer", "minimum": 0},
        },
        "modes": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
        "intervals": {
            "type": "object",
            "required": ["count", "kept"],
            "properties": {
                "count": {"type": "integer", "minimum": 0},
                "kept": {"type": "array", "items": {"type": "object"}},
            },
        },
        "sha256": CHECKSUMS,
        "sha256_of_finite": CHECKSUMS,
        "faults": {"type": "object", "additionalProperties": {"type": "string"}},
        "seconds": {"type": "number"},
        "backend_seconds": {"type": "number"},
    },
}


@dataclass(frozen=True)
class SweepResult:
    """A whole sweep: its blocks in order, `seconds` on the wall clock, causes by an interval's first input number."""

    space: Space
    backend: Mapping[str, Any]
    blocks: Sequence[Block]
    seconds: float
    all_modes: bool
    causes: Mapping[int, str]

    @property
    def counts(self) -> dict[str, int]:
        return {grade: sum(block.counts[i] for block in self.blocks) for i, grade in enumerate(GRADES)}

    @property
    def mismatches(self) -> int:
        return self.counts["deviates"]

    @property
    def backend_seconds(self) -> float:
        return sum(block.seconds for block in self.blocks)

    @property
    def faults(self) -> dict[str, str]:
        return {str(block.number): block.fault for block in self.blocks if block.fault}

    @property
    def folded(self) -> Folded:
        whole = join_folded(self.space, (block.folded for block in self.blocks))
        whole.kept = [replace(interval, cause=self.causes.get(interval.first, "")) for interval in whole.kept]
        return whole

    @property
    def modes(self) -> dict[str, int]:
        """Mismatches for each rounding mode, if they were asked for."""
        if not self.all_modes:
            return {}
        return {mode: sum(block.differ[i] for block in self.blocks) for i, mode in enumerate(ROUND_MODES)}

    def of_finite(self) -> dict[str, Any]:
        """The checksums without the results of NaN and infinite inputs, if a block has any."""
        rows = digest_runs([(block.number, block.finite) for block in self.blocks])
        return {"sha256_of_finite": rows} if any(digest for _, _, digest in rows) else {}

    def described(self) -> dict[str, Any]:
        folded = self.folded
        return {
            **FORMAT,
            "tiebreak": __version__,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "operator": self.space.node.operator,
            "space": self.space.described(),
            "backend": dict(self.backend),
            "kernel": kernel_facts(),
            "machine": machine(),
            "instruction_sets": instruction_sets(),
            "settings": settings_of(os.environ),
            "inputs": self.space.inputs,
            "counts": self.counts,
            "modes": self.modes,
            "intervals": {"count": folded.count, "kept": [interval_row(self.space, i) for i in folded.kept]},
            "sha256": digest_runs([(block.number, block.sha256) for block in self.blocks]),
            **self.of_finite(),
            "faults": self.faults,
            "seconds": round(self.seconds, 3),
            "backend_seconds": round(self.backend_seconds, 3),
        }


def kernel_facts() -> dict[str, str]:
    """The reference kernel's version, the checksum of its compiled file, and the instruction set it used."""
    path = str(_kernel.__file__)
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return {"version": __version__, "sha256": digest, "instruction_set": _kernel.chosen_path()}


def digest_runs(blocks: Sequence[tuple[int, str]]) -> list[list[Any]]:
    """Runs of consecutive blocks, given as number and checksum, with the same: first block, last block, checksum."""
    found = []
    for digest, group in groupby(blocks, key=lambda block: block[1]):
        numbers = [number for number, _ in group]
        found.append([numbers[0], numbers[-1], digest])
    return found


def interval_row(space: Space, interval: Interval) -> dict[str, Any]:
    """An interval as a certificate has it: bits and values of both ends, number of inputs, cause."""
    scale = space.scale_bits(interval.first)
    row: dict[str, Any] = {"inputs": interval.inputs, "cause": interval.cause}
    if scale:
        kind = ELEMENT_TYPES[space.node.inputs[1].dtype.name]
        row["scale"] = [hexadecimal(scale, kind.bits), bits_and_decimal(scale, kind)[1]]
    ends = (
        (interval.first, interval.first_got, interval.first_expected),
        (
            interval.last,
            interval.last_got,
            interval.last_expected,
        ),
    )
    result = ELEMENT_TYPES[space.node.output_type]
    for name, (number, got, expected) in zip(("first", "last"), ends, strict=True):
        pattern = number % space.patterns
        row[name] = {
            "bits": hexadecimal(pattern, space.first.bits),
            "input": bits_and_decimal(code_of_pattern(pattern, space), space.first)[1],
            "expected": bits_and_decimal(expected, result)[1],
            "got": bits_and_decimal(got, result)[1],
        }
    return row


def code_of_pattern(pattern: int, space: Space) -> int:
    """The code of a bit pattern: an integer's value, a float's bits."""
    kind = space.first
    if isinstance(kind, FloatType) or pattern <= kind.highest:
        return pattern
    return pattern - (1 << kind.bits)


def hexadecimal(bits: int, width: int) -> str:
    return f"0x{bits:0{-(-width // 4)}x}"


def write_certificate(path: Path, result: SweepResult) -> dict[str, Any]:
    data = result.described()
    write_text_aside(path, json.dumps(data, indent=1) + "\n")
    return data


def read_certificate(path: Path) -> tuple[dict[str, Any], Space]:
    """A certificate and its space. InvalidInput if there is no file, DamagedFile if it is not a certificate."""
    data = checked_json(path, SCHEMA, LARGEST, "a certificate")
    data["counts"] = dict.fromkeys(GRADES, 0) | data["counts"]
    return data, space_from(data["space"])


def block_digests(data: Mapping[str, Any], blocks: int, name: str = "sha256") -> list[str]:
    """The checksum of each block; DamagedFile if the certificate lacks any."""
    found: list[str] = []
    for first, last, digest in data[name]:
        if first != len(found) or not first <= last < blocks:
            break
        found += [digest] * (last - first + 1)
    if len(found) != blocks:
        raise DamagedFile(f"the certificate has checksums of {len(found)} blocks, the sweep has {blocks}")
    return found
