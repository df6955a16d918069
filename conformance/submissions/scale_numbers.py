"""Whether the certificate of a sweep of every scale says the same throughout. No scale is tried."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tiebreak.conformance.submissions.refused import Refused, require
from tiebreak.conformance.submissions.sweep_numbers import (
    check_backend,
    check_facts,
    faulty_blocks,
    is_count,
    is_duration,
)
from tiebreak.conformance.sweep.scale_blocks import COUNTS, ScaleBlock
from tiebreak.conformance.sweep.scale_certificate import ScaleResult, group_of, value_of
from tiebreak.conformance.sweep.scale_plan import SAMPLE, assumptions, check_case, parts_of
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Case
from tiebreak.golden.scale_space import LinePart, ScalePart, ScaleSpace
from tiebreak.golden.untrusted_text import plural
from tiebreak.version import __version__

SCALE = re.compile(r"0x[0-9a-f]{8}")
ROUNDED = 0.0005  # seconds by which a sum may be off


def check_scale_numbers(data: Mapping[str, Any], space: ScaleSpace) -> str:
    """What was checked. Refused for what no sweep of every scale says."""
    check_facts(data)
    check_backend(data, space.blocks)
    require(data["operator"] == space.node.operator, "its operator is not the node's")
    require(data["inputs"] == space.inputs, f"its inputs are {data['inputs']:,}, not {space.inputs:,}")
    check_node(space)
    plan = check_plan(data, space)
    groups = ran_of_groups(data, space)
    require(data["parts"].keys() == groups.keys(), "its parts are not those of its space")
    for name, blocks in groups.items():
        check_part(space, name, data["parts"][name], blocks)
    check_total(data)
    check_invariance(data, space)
    return f"the counts of {plural(len(groups), 'part')} add up; {plan}"


def check_node(space: ScaleSpace) -> None:
    """Raise Refused unless the node is one that has a sweep of every scale."""
    one = replace(space, parts=(ScalePart("one", 1 << 23, 1, 1),))
    try:
        (call,) = one.calls(0)
        check_case(Case("sweep", space.node, one.arguments(call)))
    except InvalidInput as error:
        raise Refused(str(error)) from None


def check_plan(data: Mapping[str, Any], space: ScaleSpace) -> str:
    """Whether all parts are there, in words. Refused if this Tiebreak planned others, or assumes something else."""
    if data["tiebreak"] != __version__:
        return "planned by another version, so that its parts were not compared"
    size = next((part.size for part in space.parts if isinstance(part, ScalePart)), 0)
    require(
        size and tuple(parts_of(space.result.bits, size)) == space.parts, "its parts are not those that a sweep has"
    )
    require(dict(assumptions(space)) == data["assumes"], "what it assumes is not what such a sweep assumes")
    return "its parts are those that a sweep has"


def ran_of_groups(data: Mapping[str, Any], space: ScaleSpace) -> dict[str, list[int]]:
    """The blocks with results of each part that the certificate counts, by its name."""
    faulty = faulty_blocks(data, space.blocks)
    groups: dict[str, list[int]] = {}
    for part, end in zip(space.parts, space.ends, strict=True):
        some = groups.setdefault(group_of(part.name), [])
        some += [number for number in range(end - space.blocks_of(part), end) if number not in faulty]
    return groups


def check_part(space: ScaleSpace, name: str, told: Mapping[str, Any], blocks: list[int]) -> None:
    """Raise Refused unless a part's counts can be those of its blocks."""
    lines = [isinstance(space.part_of(number), LinePart) for number in blocks]
    scales = sum(0 if line else space.scales_in(number).size for number, line in zip(blocks, lines, strict=True))
    asked, wrong, differing = sum(map(space.results_in, blocks)), told["wrong"], told["differing"]
    require((told["scales"], told["asked"]) == (scales, asked), f"{name}: its inputs are not those of its blocks")
    require(told["working"] + wrong <= asked, f"{name}: it has more answers than inputs")
    require(told["located"] <= differing <= scales, f"{name}: more scales differ than there are")
    good = differing <= wrong and (wrong > 0) == (differing > 0) == (told["located"] > 0)
    require(good, f"{name}: it has {plural(wrong, 'wrong answer')} and {differing:,} scales that differ")
    others = told["pairs"] - told["located_pairs"]
    good = 0 <= others <= wrong and told["pairs"] * (wrong == 0) == 0
    require(good, f"{name}: its pairs are not those of its wrong answers")
    check_worst(space, name, told, blocks)


def check_worst(space: ScaleSpace, name: str, told: Mapping[str, Any], blocks: list[int]) -> None:
    """Raise Refused unless the worst scale is one of the part, with some of its pairs, and the threshold is one."""
    worst, farthest = told.get("worst"), told.get("farthest")
    good = has_form(worst, {"scale": str, "value": str, "pairs": int}) and is_duration(told.get("seconds"))
    require(good and has_form(farthest, {"places": int, "step": int}), f"{name}: its worst scale has another form")
    assert isinstance(worst, dict) and isinstance(farthest, dict)
    scale, pairs = int(worst["scale"], 16) if SCALE.fullmatch(worst["scale"]) else -1, worst["pairs"]
    good = scale >= 0 and worst["value"] == value_of(scale) and (scale > 0) <= (told["located"] > 0)
    require(good and (scale == 0 or is_scale_of(space, scale, blocks)), f"{name}: its worst scale is none of its own")
    good = 0 <= pairs <= told["located_pairs"] and (pairs > 0) == (told["located_pairs"] > 0) <= (scale > 0)
    require(good, f"{name}: its worst scale has other pairs")
    places, step = farthest["places"], farthest["step"]
    good = (
        0 <= step - space.first_step < space.codes - 1 if places > 0 else places == 0 and (told["located"] or not step)
    )
    require(good and (places > 0) <= (told["located"] > 0), f"{name}: its farthest threshold is none")


def is_scale_of(space: ScaleSpace, scale: int, blocks: list[int]) -> bool:
    """Whether a scale (bit pattern) is one of these blocks' own."""
    return any(scale in space.scales_in(number) for number in blocks if isinstance(space.part_of(number), ScalePart))


def has_form(value: object, kinds: Mapping[str, type]) -> bool:
    """Whether a value of JSON has these names alone, each of its type."""
    return isinstance(value, dict) and {name: type(one) for name, one in value.items()} == dict(kinds)


def check_total(data: Mapping[str, Any]) -> None:
    """Raise Refused unless the total is the sum of the parts, with the worst scale and threshold of all."""
    total, parts = data["total"], list(data["parts"].values())
    for name in COUNTS:
        require(is_count(total[name]), f"the total has no count of {name}")
        added = sum(part[name] for part in parts)
        require(total[name] == added, f"in total {name} is {total[name]:,}, the parts have {added:,}")
    for name, key in (("worst", "pairs"), ("farthest", "places")):
        most = max((part[name] for part in parts), key=lambda one: one[key])
        good = isinstance(total.get(name), dict) and total[name] in [part[name] for part in parts]
        require(good and total[name][key] == most[key], f"the {name} of all is not that of the parts")
    times = [part["seconds"] for part in parts]
    good = is_duration(total.get("seconds")) and total["seconds"] == data["backend_seconds"]
    require(
        good and abs(total["seconds"] - sum(times)) <= ROUNDED * (len(times) + 2),
        "its seconds are not those of its parts",
    )


def check_invariance(data: Mapping[str, Any], space: ScaleSpace) -> None:
    """Raise Refused unless the samples compared are those that can be, and others are among them."""
    told, judged = data["invariance"], ScaleResult(space, {}, [ScaleBlock(n) for n in range(space.blocks)], 0.0)
    compared = judged.invariance()["compared"]
    require(told["compared"] == compared, f"{told['compared']!s:.40} samples are compared, {compared} can be")
    samples = [part for part in space.parts if isinstance(part, ScalePart) and part.name.startswith(SAMPLE)]
    names = [part.name.removeprefix(SAMPLE) for part in samples if judged.comparable(part)]
    others = told["other"]
    good = isinstance(others, list) and others == [name for name in names[1:] if name in others]
    require(good, "its samples with other results are none that are compared")
