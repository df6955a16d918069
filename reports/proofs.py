"""A proof, a counterexample, or what is missing, on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from tiebreak.reports.console import terminal_text

MOST, MOST_ZERO_POINTS = 2000, 200  # characters


def print_proof(data: Mapping[str, Any], certificate: Path) -> None:
    claim, console = data["claim"], Console(soft_wrap=True, highlight=False)
    console.print(terminal_text(f"{data['verdict']}  {claim['left']} = {claim['right']}", MOST), markup=False)
    for line in lines_of(data):
        console.print(f"  {terminal_text(line, MOST)}", markup=False)
    console.print(f"{data['seconds']:.1f} s; certificate: {terminal_text(str(certificate), MOST)}", markup=False)


def lines_of(data: Mapping[str, Any]) -> list[str]:
    """What there is to say beside the verdict, a line each."""
    claim = data["claim"]
    found = [domain_line(claim)]
    if example := data["counterexample"]:
        found.append(f"counterexample: {counterexample_line(example)}")
    if data["differs"] and data["holds"]:
        found.append(f"no difference for zero points {shortened(ranges(data['holds']))}")
    found += facts_of(data)
    if data["missing"]:
        found.append(f"missing: {data['missing']}")
    if data["verdict"] == "PROVED":
        found += [f"{number}. {equation(step)}: {reason(step)}" for number, step in enumerate(data["steps"])]
    return found


def facts_of(data: Mapping[str, Any]) -> list[str]:
    """How many of the scales or inputs that were tried differ, of a claim that is refuted."""
    if data["verdict"] != "REFUTED" or data["claim"]["kind"] == "integers":
        return []
    steps = data["steps"]
    if data["claim"]["kind"] == "arithmetics":
        return counted_facts(data, steps[0]) if len(steps) == 1 else []
    if not steps:
        return ["found by a search of chosen scales"]
    step = steps[-1]
    while step["rule"] in ("renaming", "maximum"):  # the same claim in another form
        step = steps[step["premises"][0]]
    if "blocks" not in step:
        return []
    with_any = sum(block[1] for block in step["blocks"])
    found = [f"the sides differ at {with_any:,} of the {step['scales']:,} scales tried"]
    least = [block[2] for block in step["blocks"] if block[2] is not None]
    if least and len(step["codes"]) == 1:
        found.append(f"the least distance of a code from the zero point that shows one is {min(least)}")
    return found


def counted_facts(data: Mapping[str, Any], step: Mapping[str, Any]) -> list[str]:
    """What was counted of two arithmetics. Scales of one exponent stand for those of each listed one."""
    times = sum(last - first + 1 for first, last in step["exponents"])
    parts = [(step["blocks"][:128], times), (step["blocks"][128:], 1)] if times else [(step["blocks"], 1)]
    differing, without = (sum(block[k] * count for part, count in parts for block in part) for k in (1, 2))
    scales = times << 23
    if data["claim"]["extent"] == "all":
        scales = {"float32": 0x7F7FFFFF, "float16": 0x7BFF, "bfloat16": 0x7F7F}[data["claim"]["real"]]
    return [
        f"{differing:,} pairs of an input and a scale differ, {differing / scales:.3g} inputs per scale",
        f"{without:,} of {scales:,} scales have no difference",
    ]


def counterexample_line(example: Mapping[str, Any]) -> str:
    given = [f"{name} = {value}" for name, value in {**example["operands"], **example["scales"]}.items()]
    given += [f"zero point of {name} = {value}" for name, value in example["zero_points"].items()]
    return f"{', '.join(given)}: left {example['left']}, right {example['right']}"


def domain_line(claim: Mapping[str, Any]) -> str:
    if claim["kind"] == "integers":
        parts = [f"{name} from {low:,} to {high:,}" for name, (low, high) in claim["ranges"].items()]
        given = [f"given {claim['given']}"] if claim["given"] else []
        return "for integers that never wrap: " + ", ".join([*parts, *given])
    scales = "all scales" if claim["extent"] == "all" else "all scales of the normal range"
    zeros = "every zero point" if claim["zero_points"] == "all" else f"zero points {claim['zero_points']}"
    if claim["kind"] == "arithmetics":
        return f"for every input, {scales}, {zeros}; {claim['real']} to {claim['type']}"
    kinds = ", ".join(dict.fromkeys(claim["pairs"].values()))
    sign = "" if claim["sign"] == "positive" else f"{claim['sign']} "
    return f"for every input, {scales.replace('all ', f'all {sign}')}, {zeros}; {claim['real']}, {kinds}"


def equation(step: Mapping[str, Any]) -> str:
    """What a step says; arithmetic is real where `exact` stands around a side."""
    sides = zip((step["left"], step["right"]), step.get("exact", (False, False)), strict=True)
    is_formula = step["rule"] == "solver"
    return " = ".join(f"exact({side})" if real and "(" in side and not is_formula else side for side, real in sides)


def reason(step: Mapping[str, Any]) -> str:
    """Why a step holds, in words."""
    premises = " and ".join(map(str, dict.fromkeys(step["premises"])))
    return {
        "identity": "both sides are the same",
        "renaming": f"as {premises}, with other names",
        "maximum": f"from {premises}; a step that never falls commutes with a maximum",
        "same step": f"from {premises}; both sides end in the same step",
        "same step, operands changed places": f"from {premises}; a sum, product or maximum of the same two numbers",
        "generalization": f"a case of {premises}",
        "every code": f"every code with {scales_of(step)}",
        "every decision": f"both sides of every decision with {scales_of(step)}",
        "every scale": "every decision of every scale" + zero_point_of(step),
        "solver": f"{step.get('solver', '')} finds no counterexample",
    }[step["rule"]]


def zero_point_of(step: Mapping[str, Any]) -> str:
    return "" if step.get("zero_point") is None else f" for zero point {step['zero_point']}"


def scales_of(step: Mapping[str, Any]) -> str:
    words = f"{step.get('scales', 0):,} scales"
    for low, high in step.get("exponents", ()):
        words += f"; those of one exponent stand for 2^{low} to below 2^{high + 1}"
    return words


def shortened(text: str) -> str:
    return text if len(text) <= MOST_ZERO_POINTS else f"{text[:MOST_ZERO_POINTS]}…"


def ranges(spans: Sequence[Sequence[int]]) -> str:
    """Spans of numbers as text: 0–3, 7."""
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in spans)


def print_proof_check(found: Mapping[str, Any]) -> None:
    console = Console(soft_wrap=True, highlight=False)
    for line in found["checked"]:
        console.print(f"  {terminal_text(line, MOST)}", markup=False)
    if found["holds"]:
        console.print(f"{terminal_text(found['certificate'], MOST)}: {found['verdict']} holds", markup=False)
    else:
        reason_ = terminal_text(found["reason"], MOST)
        console.print(f"{terminal_text(found['certificate'], MOST)}: does not hold: {reason_}", markup=False)


def print_rules(rules: Mapping[str, Any]) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("rule", "claim", "for"):
        table.add_column(heading, overflow="fold")
    for name, rule in rules.items():
        table.add_row(name, terminal_text(rule.claim), terminal_text(rule.about))
    Console().print(table)
