"""`tiebreak audit --emulator`: a file of the arithmetic that was found, written once it agrees with every answer."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.conformance.audit.answer import AuditAnswer
from tiebreak.conformance.audit.operators import AUDITED, STAGED, arithmetic_of, audited_node
from tiebreak.conformance.emulators.composed import Composed, composed_of
from tiebreak.conformance.emulators.evidence import found_lines, header_of, top_lines
from tiebreak.conformance.emulators.files import Emulated, c_file, listed, main_of, numpy_file, torch_file
from tiebreak.conformance.emulators.onnx_graph import onnx_file
from tiebreak.conformance.emulators.running import RUNS, check_tools
from tiebreak.conformance.emulators.staged_files import STAGED_FILES
from tiebreak.conformance.emulators.tables import emulated, table_of
from tiebreak.conformance.semantics.block_element_specials import ElementProbe
from tiebreak.conformance.semantics.model import ANYTHING, Arithmetic, Probe, Semantics, codes
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.exit_codes import EXIT_DISCREPANCIES, EXIT_NOTHING_RAN
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.reports.records import write_aside

FILES: Mapping[str, Callable[[Emulated, Sequence[str]], str | bytes]] = {
    "numpy": numpy_file,
    "torch": torch_file,
    "c": c_file,
    "onnx": onnx_file,
}
DEFAULTS = {
    "numpy": Path("tiebreak_emulator.py"),
    "torch": Path("tiebreak_emulator.py"),
    "c": Path("tiebreak_emulator.c"),
    "onnx": Path("tiebreak_emulator.onnx"),
}
MOST_TRIED = 16  # of the arithmetics that are left


@dataclass(frozen=True)
class Asked:
    """The elements that an audit asked, with the backend's codes (int64): one array for each input."""

    operands: tuple[Array, ...]
    codes: Array


def check_emulated(node: Node, target: str) -> None:
    """Raise InvalidInput for an operator without emulators, or a target whose files can't be run here."""
    if not has_emulators(node):
        usual = [name for name in (*AUDITED, *STAGED) if has_emulators(audited_node(name, {}, "", "", 0))]
        raise InvalidInput(f"emulators are written of {', '.join(usual)}, not of {node.operator}")
    if node.operator in STAGED and target not in (known := composed_for(node).texts):
        raise InvalidInput(
            f"{node.operator} has a function for each output: --emulator {', '.join(known)}, not {target}"
        )
    check_tools(target)


def composed_for(node: Node) -> Composed:
    """The composition of a node of stages that has emulators."""
    found = composed_of(STAGED[node.operator].stages, node)
    assert found is not None
    return found


def has_emulators(node: Node) -> bool:
    if node.operator in STAGED:
        return composed_of(STAGED[node.operator].stages, node) is not None
    return table_of(arithmetic_of(node)) is not None


def emulator_data(
    answer: AuditAnswer, data: Mapping[str, Any], target: str, path: Path, command: str
) -> dict[str, Any]:
    """Write the file, and say so: "target", "file" (or None), "elements" compared, "why" nothing was written, "exit".

    With "differs", if the file gave anything else than the backend: the element's operands, and both results. `data`
    is the audit as plain data, `command` what the person typed. Raises NotWritten if the file can't be written.
    """
    told = {"target": target, "file": None, "elements": 0, "why": "", "differs": None, "exit": EXIT_DISCREPANCIES}
    if why := reason_against(data):
        return told | {"why": why}
    try:
        semantics, one = shortest(answer, data, target)
    except Unsupported as reason:
        return told | {"why": f"{reason}: no {target} file can do this arithmetic", "exit": EXIT_NOTHING_RAN}
    asked = asked_elements(answer)
    header = header_of(answer, data, semantics, asked.codes.size, command)
    text = FILES[target](one, [*header, *domain_lines(one, asked), *further_lines(one)])
    told["elements"] = asked.codes.size
    if differs := difference(answer, asked, answers_of_file(text, target, one, asked)):
        return told | {"differs": differs, "why": "the file differs"}
    write_aside(path, lambda aside: aside.write_bytes(as_bytes(text)))
    return told | {"file": str(path), "exit": 0}


def staged_emulator_data(
    node: Node, answers: Sequence[AuditAnswer], data: Mapping[str, Any], target: str, path: Path, command: str
) -> dict[str, Any]:
    """As emulator_data, of an operator of stages: a function for each output, and one of them all."""
    told = {"target": target, "file": None, "elements": 0, "why": "", "differs": None, "exit": EXIT_DISCREPANCIES}
    stages = list(zip(answers, data["stages"], strict=True))
    for _, own in stages:
        if why := reason_against(own):
            return told | {"why": f"{own['output']}: {why}"}
    try:
        chosen = [(answer, own, *shortest(answer, own, target)) for answer, own in stages]
    except Unsupported as reason:
        return told | {"why": f"{reason}: no {target} file can do this arithmetic", "exit": EXIT_NOTHING_RAN}
    composed, header = composed_for(node), top_lines(node, data, command)
    asked = [asked_elements(answer) for answer in answers]
    for (answer, own, semantics, one), elements in zip(chosen, asked, strict=True):
        lines = [*found_lines(answer, own, semantics, elements.codes.size), *domain_lines(one, elements)]
        header += [f"{own['output']}, of {listed(one.names)}:", *(f"  {line}" for line in lines), ""]
    header.append("NaN and infinities: these functions are of finite numbers")
    text = STAGED_FILES[target]([one for *_, one in chosen], node, composed, header)
    for (answer, _, _, one), elements in zip(chosen, asked, strict=True):
        runnable = text + main_of(one) if target == "c" else text
        if differs := difference(answer, elements, answers_of_file(runnable, target, one, elements)):
            return told | {"differs": differs, "why": "the file differs"}
    write_aside(path, lambda aside: aside.write_text(text, encoding="utf-8"))
    return told | {"file": str(path), "exit": 0, "elements": sum(one.codes.size for one in asked)}


def reason_against(data: Mapping[str, Any]) -> str:
    """Why there is no one arithmetic to emulate; empty if there is one."""
    if data["consistent"] and not data["path_dependent"]:
        return ""
    place = "an answer depends on the operand's place" if data["path_dependent"] else "no known semantics fits"
    return f"{place}: there is no one arithmetic to emulate"


def shortest(answer: AuditAnswer, data: Mapping[str, Any], target: str) -> tuple[Semantics, Emulated]:
    """The one of the arithmetics that are left whose file is shortest. Unsupported if no file can do any of them."""
    found: list[tuple[int, Semantics, Emulated]] = []
    reason = Unsupported()
    for semantics in answer.inference.alive[:MOST_TRIED]:
        try:
            arithmetic = answer.inference.arithmetic
            one = emulated(arithmetic, semantics, str(data["backend"]), str(data["version"]))
            found.append((len(FILES[target](one, ())), semantics, one))
        except Unsupported as refusal:
            reason = refusal
    if not found:
        raise reason
    return min(found, key=lambda one: one[0])[1:]


def further_lines(emulated: Emulated) -> list[str]:
    """What the header says of what an audit does not ask for."""
    outputs = zip((tensor.name for tensor in emulated.node.outputs[1:]), emulated.also, strict=True)
    lines = [f"the audit asked for no {name}: Emulator gives {given}" for name, given in outputs]
    return [*lines, emulated.note] if emulated.note else lines


def domain_lines(emulated: Emulated, asked: Asked) -> list[str]:
    """From where to where the audit asked, each of the function's inputs: beyond, the file is a guess."""
    with np.errstate(all="ignore"):
        numbers = [
            (name, one.astype(np.float64))
            for name, one in zip(emulated.names, emulated.taken(asked.operands), strict=True)
        ]
    finite = [(name, one[np.isfinite(one)]) for name, one in numbers]
    return ["asked of " + "; ".join(f"{name} from {one.min():g} to {one.max():g}" for name, one in finite if one.size)]


def asked_elements(answer: AuditAnswer) -> Asked:
    """Every element with an answer, finite or not.

    What a stage gives an element beside NaN, an infinity or the least scale is no function of its operands.
    """
    arithmetic, probes = answer.inference.arithmetic, [*answer.inference.answered]
    specials = [(probe, np.array([code])) for probe, code in answer.inference.special_answers]
    probes += [one for one in specials if not is_staged(arithmetic) or is_finite(one[0], len(arithmetic.node.inputs))]
    columns = zip(*((probe.x, *(spread(other, probe.x) for other in probe.others)) for probe, _ in probes), strict=True)
    operands, got = [np.concatenate(column) for column in columns], np.concatenate([found for _, found in probes])
    told = got != ANYTHING
    return Asked(tuple(operand[told] for operand in operands), got[told])


def is_staged(arithmetic: Arithmetic) -> bool:
    """Whether this is the table of a stage, of a node that stands in for it."""
    return arithmetic.node.operator in STAGED


def is_finite(probe: Probe, operands: int) -> bool:
    given = (probe.x, *probe.others)
    return (
        not isinstance(probe, ElementProbe)
        and len(given) == operands
        and all(np.isfinite(one.astype(np.float64)).all() for one in given)
    )


def spread(parameter: Array, x: Array) -> Array:
    return np.broadcast_to(np.asarray(parameter).reshape(-1), x.shape)


def answers_of_file(text: str | bytes, target: str, emulated: Emulated, asked: Asked) -> Array:
    """The codes that the file gives, written and run in a folder that goes away."""
    with tempfile.TemporaryDirectory(prefix="tiebreak-emulator-") as folder:
        path = Path(folder, DEFAULTS[target].name)
        path.write_bytes(as_bytes(text))
        return codes(RUNS[target](path, emulated)(*emulated.taken(asked.operands)))


def as_bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def difference(answer: AuditAnswer, asked: Asked, found: Array) -> dict[str, Any] | None:
    """The first element of which the file gives anything else than the backend: its operands, and both results."""
    wrong = np.flatnonzero(found != asked.codes)
    if not wrong.size:
        return None
    place = int(wrong[0])
    x, *others = (operand[place : place + 1] for operand in asked.operands)
    got, given = answer.text(int(asked.codes[place])), answer.text(int(found[place]))
    return {"inputs": answer.operands(Probe(x, tuple(others))), "backend": got, "emulator": given}
