"""Whether a sweep's certificate says the same throughout: facts, counts, faults, checksums. No input is tried."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any

from tiebreak.conformance.submissions.refused import Refused, require
from tiebreak.conformance.sweep.certificate import block_digests
from tiebreak.conformance.sweep.job import with_fitting_shape
from tiebreak.golden.errors import DamagedFile
from tiebreak.golden.rounding import ROUND_MODES
from tiebreak.golden.space import Space
from tiebreak.golden.untrusted_text import plural
from tiebreak.golden.verdicts import DOCUMENTS, GRADES

HEX = re.compile(r"[0-9a-f]{64}")
OF_FINITE = "sha256_of_finite"  # of a certificate; an earlier Tiebreak has none
LONGEST = 4000  # characters of a text


def check_sweep_numbers(data: Mapping[str, Any], space: Space) -> str:
    """What was checked. Refused for what no sweep says."""
    check_facts(data)
    check_backend(data, space.blocks)
    require(data["operator"] == space.node.operator, "its operator is not the node's")
    require(data["inputs"] == space.inputs, f"its inputs are {data['inputs']:,}, not {space.inputs:,}")
    require(with_fitting_shape(space).shape == space.shape, "its inputs have another shape than those of a sweep")
    faulty = faulty_blocks(data, space.blocks)
    tried = space.inputs - sum(space.results_in(number) for number in faulty)
    counts = data["counts"]
    require(counts.keys() == set(GRADES) and sum(counts.values()) == tried, "its counts are not its inputs")
    check_modes(data, space, tried)
    digests = digests_of(data, space.blocks)
    for number, digest in enumerate(digests):
        good = not digest if number in faulty else HEX.fullmatch(digest)
        require(good, f"the checksum of block {number} is none")
    for name in ("sha256", OF_FINITE):
        rows = [row[2] for row in data.get(name, [])]
        require(all(a != b for a, b in pairwise(rows)), "checksums in a row are equal")
    for number, digest in enumerate(finite_digests_of(data, space.blocks)):
        good = not digest or (HEX.fullmatch(digest) and number not in faulty)
        require(good, f"the checksum of the finite inputs of block {number} is none")
    return f"the counts of {plural(space.inputs, 'input')} add up; {plural(space.blocks, 'checksum')}"


def check_facts(data: Mapping[str, Any]) -> None:
    """Raise Refused unless who wrote a certificate, when, where and how long it took has the form of such facts."""
    for name in ("tiebreak", "machine", "instruction_sets"):
        require(is_text(data.get(name, "")), f"its {name} is no text")
    settings = [text for pair in data.get("settings", {}).items() for text in pair]
    require(all(map(is_text, settings)), "its settings are no texts")
    require(is_moment(data["created"]), "its created is no moment")
    for name in ("seconds", "backend_seconds"):
        require(is_duration(data.get(name, 0)), f"its {name} are no duration")


def check_backend(data: Mapping[str, Any], blocks: int) -> None:
    """Raise Refused unless the backend and the kernel are described as a sweep describes them."""
    backend, kernel = data["backend"], data["kernel"]
    for name in ("name", "version", "spec"):
        require(is_text(backend[name]), f"its backend's {name} is no text")
    require(backend.get("document", DOCUMENTS[0]) in DOCUMENTS, "its backend's document is none")
    digests = backend["libraries"].values()
    require(all(map(HEX.fullmatch, digests)), "a library of its backend has no SHA-256")
    good = isinstance(kernel, dict) and kernel.keys() == {"version", "sha256", "instruction_set"}
    good = good and all(map(is_text, kernel.values()))
    require(good and HEX.fullmatch(kernel["sha256"]), "its kernel is none")
    require(kernel["version"] == data["tiebreak"], "its kernel is of another version than its Tiebreak")
    elsewhere = backend.get("machines", [])
    good = isinstance(elsewhere, list) and all(
        isinstance(one, dict) and is_count(one.get("blocks")) for one in elsewhere
    )
    require(good and sum(one["blocks"] for one in elsewhere) <= blocks, "its machines have other blocks than it")


def check_modes(data: Mapping[str, Any], space: Space, tried: int) -> None:
    """Raise Refused unless mismatches are counted by each mode or by none, with the node's own as its mismatches."""
    modes = data["modes"]
    require(not modes or list(modes) == list(ROUND_MODES), "its modes are others than the nine")
    require(max(modes.values(), default=0) <= tried, "a mode has more mismatches than inputs")
    if modes and len(space.node.modes) == 1 and not space.node.is_bounded:
        own = modes[space.node.modes[0]]
        require(own == data["counts"]["deviates"], f"with its own mode {own:,} inputs differ, not those that deviate")


def faulty_blocks(data: Mapping[str, Any], blocks: int) -> set[int]:
    """The blocks without results. Refused if the sweep has no such block, or no reason is given."""
    for number, why in data["faults"].items():
        good = re.fullmatch(r"0|[1-9][0-9]{0,8}", number) and int(number) < blocks and is_text(why) and why
        require(good, f"its fault {number!r:.40} is of no block")
    return {int(number) for number in data["faults"]}


def digests_of(data: Mapping[str, Any], blocks: int) -> list[str]:
    try:
        return block_digests(data, blocks)
    except DamagedFile as error:
        raise Refused(str(error)) from None


def finite_digests_of(data: Mapping[str, Any], blocks: int) -> list[str]:
    """The checksum of each block without the results of NaN and infinite inputs; empty where there is none."""
    if OF_FINITE not in data:
        return [""] * blocks
    try:
        return block_digests(data, blocks, OF_FINITE)
    except DamagedFile as error:
        raise Refused(str(error)) from None


def is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST


def is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_duration(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


def is_moment(value: object) -> bool:
    """Whether a text is a moment with its time zone, as isoformat writes it."""
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False
