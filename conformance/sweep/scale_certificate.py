"""The certificate of a sweep of every scale: a JSON file with what was tried, what it assumes, and what came of it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.adapters.platform_facts import instruction_sets, machine
from tiebreak.adapters.settings import settings_of
from tiebreak.conformance.sweep.certificate import LARGEST as LONGEST
from tiebreak.conformance.sweep.certificate import SCHEMA as OF_INPUTS
from tiebreak.conformance.sweep.certificate import kernel_facts
from tiebreak.conformance.sweep.scale_blocks import COUNTS, ScaleBlock, Worst
from tiebreak.conformance.sweep.scale_plan import EVERY_X, SAMPLE, assumptions
from tiebreak.golden.errors import DamagedFile
from tiebreak.golden.files import bounded_text, checked_json
from tiebreak.golden.places import write_text_aside
from tiebreak.golden.scale_space import ScalePart, ScaleSpace, scale_space_from
from tiebreak.golden.thresholds import lie_apart
from tiebreak.version import __version__

FORMAT = {"format": "tiebreak-scale-certificate", "version": 1}
CHAINED = 64  # checksums that a certificate has at most for each part
HEX = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
COUNT = {"type": "integer", "minimum": 0}
RESULTS = {"type": "object", "required": [*COUNTS], "properties": dict.fromkeys(COUNTS, COUNT)}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": [
        *FORMAT,
        *("tiebreak", "created", "operator", "space", "backend", "kernel", "machine", "instruction_sets", "assumes"),
        *("inputs", "total", "parts", "invariance", "sha256", "faults", "seconds", "backend_seconds"),
    ],
    "properties": {
        **{name: {"const": value} for name, value in FORMAT.items()},
        **{name: OF_INPUTS["properties"][name] for name in ("operator", "space", "backend", "inputs", "faults")},
        "settings": OF_INPUTS["properties"]["settings"],
        "assumes": {"type": "object", "additionalProperties": {"type": "string"}},
        "total": RESULTS,
        "parts": {"type": "object", "additionalProperties": RESULTS},
        "invariance": {"type": "object", "required": ["compared", "other"]},
        "sha256": {
            "type": "array",
            "items": {"type": "array", "prefixItems": [COUNT, COUNT, HEX], "minItems": 3, "maxItems": 3},
        },
        "seconds": {"type": "number"},
        "backend_seconds": {"type": "number"},
    },
}


@dataclass(frozen=True)
class ScaleResult:
    """A whole sweep of every scale: its blocks in order, and `seconds` on the wall clock."""

    space: ScaleSpace
    backend: Mapping[str, Any]
    blocks: Sequence[ScaleBlock]
    seconds: float

    @property
    def backend_seconds(self) -> float:
        return sum(block.seconds for block in self.blocks)

    def parts(self) -> dict[str, list[ScaleBlock]]:
        """The blocks of each part, by its name; all samples are one part, and so are all stretches of every x."""
        found: dict[str, list[ScaleBlock]] = {}
        for block in self.blocks:
            found.setdefault(group_of(self.space.part_of(block.number).name), []).append(block)
        return found

    def described_parts(self) -> dict[str, Any]:
        return {name: together(blocks) for name, blocks in self.parts().items()}

    def described(self) -> dict[str, Any]:
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
            "assumes": dict(assumptions(self.space)),
            "inputs": self.space.inputs,
            "total": together(self.blocks),
            "parts": self.described_parts(),
            "invariance": self.invariance(),
            "sha256": chained(self.space, self.blocks),
            "faults": {str(block.number): block.fault for block in self.blocks if block.fault},
            "seconds": round(self.seconds, 3),
            "backend_seconds": round(self.backend_seconds, 3),
        }

    def invariance(self) -> dict[str, Any]:
        """How many samples have the checksums of the one at exponent 0, and those that have others.

        Samples are not compared if a threshold is beyond the greatest x.
        """
        digests: dict[str, list[str]] = {}
        for block in self.blocks:
            part = self.space.part_of(block.number)
            if isinstance(part, ScalePart) and part.name.startswith(SAMPLE) and self.comparable(part):
                digests.setdefault(part.name, []).append(block.sha256)
        first = next(iter(digests.values()), [])
        other = [name.removeprefix(SAMPLE) for name, found in digests.items() if found != first]
        return {"compared": len(digests), "other": other}

    def comparable(self, part: ScalePart) -> bool:
        ends = np.array([part.first, part.first + part.step * (part.size - 1)], np.uint32)
        return bool(lie_apart(ends, self.space.first_step, self.space.codes).all())


def group_of(part: str) -> str:
    """The name under which a certificate counts a part."""
    if part.startswith(EVERY_X):
        return "every x"
    return "samples at every other exponent" if part.startswith(SAMPLE) else part


def together(blocks: Sequence[ScaleBlock]) -> dict[str, Any]:
    """The sums of the blocks' counts, the scale with most differing inputs, and the threshold that is farthest off."""
    worst = max((block.worst for block in blocks), key=lambda worst: worst.pairs, default=Worst())
    farthest = max((block.worst for block in blocks), key=lambda worst: worst.places, default=Worst())
    found: dict[str, Any] = {name: sum(getattr(block, name) for block in blocks) for name in COUNTS}
    return found | {
        "worst": {"scale": f"0x{worst.scale:08x}", "value": value_of(worst.scale), "pairs": worst.pairs},
        "farthest": {"places": farthest.places, "step": farthest.step},
        "seconds": round(sum(block.seconds for block in blocks), 3),
    }


def value_of(scale: int) -> str:
    return str(np.uint32(scale).view(np.float32))


def stretches(space: ScaleSpace, blocks: Sequence[ScaleBlock]) -> Iterator[list[ScaleBlock]]:
    """Blocks in a row that share a checksum in the certificate: a part's, in at most CHAINED stretches."""
    for part, group in groupby(blocks, key=lambda block: space.place_of(block.number)[0]):
        members = list(group)
        size = -(-space.blocks_of(space.parts[part]) // CHAINED)
        for first in range(0, len(members), size):
            yield members[first : first + size]


def chained(
    space: ScaleSpace, blocks: Sequence[ScaleBlock], before: Callable[[int], str] | None = None
) -> list[list[Any]]:
    """First block, last block and checksum of each stretch. A checksum is of the one before and of its blocks' own.

    `before` gives the checksum before a stretch, by the stretch's number, where the one computed is not to be used.
    """
    found: list[list[Any]] = []
    last = "0" * 64
    for number, members in enumerate(stretches(space, blocks)):
        text = before(number) if before else last
        last = hashlib.sha256("\n".join([text, *(block.sha256 for block in members)]).encode()).hexdigest()
        found.append([members[0].number, members[-1].number, last])
    return found


def write_scale_certificate(path: Path, result: ScaleResult) -> dict[str, Any]:
    data = result.described()
    write_text_aside(path, json.dumps(data, indent=1) + "\n")
    return data


def is_scale_certificate(path: Path) -> bool:
    """Whether a file says that it is one. InvalidInput if it can't be read; what is damaged is not one."""
    try:
        data = json.loads(bounded_text(path, LONGEST, "a certificate"))
        return isinstance(data, dict) and data.get("format") == FORMAT["format"]
    except (ValueError, RecursionError):
        return False


def read_scale_certificate(path: Path) -> tuple[dict[str, Any], ScaleSpace]:
    """A certificate and its space. InvalidInput if there is no file, DamagedFile if it is no certificate."""
    data = checked_json(path, SCHEMA, LONGEST, "a certificate")
    space = scale_space_from(data["space"])
    blocks = [ScaleBlock(number) for number in range(space.blocks)]
    if [row[:2] for row in data["sha256"]] != [row[:2] for row in chained(space, blocks)]:
        raise DamagedFile(f"{path}: damaged: sha256: not the blocks of the sweep")
    return data, space
