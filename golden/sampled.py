"""Vector groups from samples: the oracle adds results, the tool ids and flags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tiebreak.golden import oracle
from tiebreak.golden.elements import FloatType, decimal
from tiebreak.golden.flags import FLAGS
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators.model import Operator
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED, ZERO, Array, Problem, codes_of, kind_of
from tiebreak.golden.problems import problems_of
from tiebreak.golden.samples.model import Sample


def sampled_groups(spec: Operator, input_type: str, output_type: str) -> Iterator[dict[str, Any]]:
    """One group with one vector for each sample of a file."""
    assert spec.samples is not None
    seen: set[str] = set()
    for sample in spec.samples(input_type, output_type):
        if sample.theme in seen:
            raise ValueError(f"{spec.id}-{input_type}-{output_type}: two samples are named {sample.theme}")
        seen.add(sample.theme)
        yield group_of(spec, f"{spec.id}/{input_type}/{output_type}/{sample.theme}", sample)


def group_of(spec: Operator, id: str, sample: Sample) -> dict[str, Any]:
    node = make_node(spec.id, **sample.node)
    inputs = tuple(tensor.array() for tensor in sample.tensors)
    problems = problems_of(Case(id, node, inputs))
    modes = node.modes or ("",)
    exact, working = (
        [results_text(spec, problem, modes, working=form) for problem in problems] for form in (False, True)
    )
    vector: dict[str, Any] = {
        "id": id,
        "attributes": {},
        "flags": flags_of(sample, inputs, sensitive=exact != working),
        "clauses": list(dict.fromkeys(spec.roles[role] for role in sample.roles)),
        "expected": exact[0] if len(exact) == 1 else exact,
    }
    if exact != working:
        vector["working"] = working[0] if len(working) == 1 else working
    return {
        "theme": sample.theme,
        "types": {key: sample.node[key] for key in ("real", "quantized", "scale") if key in sample.node},
        **({"opset": node.opset} if node.opset else {}),
        "attributes": sample.node.get("attributes", {}),
        "inputs": [tensor_of(kind.name, array) for kind, array in zip(node.inputs, inputs, strict=True)],
        "output_type": node.output_type,
        "vectors": [vector],
    }


def results_text(spec: Operator, problem: Problem, modes: Sequence[str], *, working: bool) -> str:
    """The oracle's results as text: `?` where the document, or its choice of rounding modes, leaves them open."""
    solved = [oracle.solve(problem, working=working, mode=mode) for mode in modes]
    codes, states = solved[0]
    open_ = np.zeros(codes.shape, bool)
    for other_codes, other_states in solved:
        open_ |= (codes != other_codes) | (states != other_states)
    open_ |= (states == UNDEFINED) | ((states == OUT_OF_RANGE) & (not spec.saturates))
    return " ".join(
        "?" if unknown else token(problem, int(code), int(state))
        for code, state, unknown in zip(codes, states, open_, strict=True)
    )


def token(problem: Problem, code: int, state: int) -> str:
    """An integer's value; a real's bits in full width, or a lone 0 where either zero will do."""
    if not isinstance(problem.result, FloatType):
        return str(code)
    if state == ZERO:
        return "0"
    assert state in (IN_RANGE, OUT_OF_RANGE)
    width = problem.result.bits
    return f"{code & ((1 << width) - 1):0{max(2, width // 4)}x}"  # never a lone digit: a lone 0 is either zero


def tensor_of(name: str, array: Array) -> dict[str, Any]:
    kind, codes = kind_of(array), codes_of(array).reshape(-1).tolist()
    start: dict[str, Any] = {"name": name, "type": kind.name, "shape": list(array.shape)}
    if not isinstance(kind, FloatType):
        return start | {"values": " ".join(map(str, codes))}
    bits = " ".join(f"{code:0{max(2, kind.bits // 4)}x}" for code in codes)
    return start | {"bits": bits, "decimal": " ".join(decimal(code, kind) for code in codes)}


def flags_of(sample: Sample, inputs: Sequence[Array], *, sensitive: bool) -> list[str]:
    """The sample's own flags and those that the operands show, in the order of FLAGS."""
    found = set(sample.flags) | ({"PrecisionSensitive"} if sensitive else set())
    for array in inputs:
        kind = kind_of(array)
        if isinstance(kind, FloatType):
            found |= operand_flags(codes_of(array).reshape(-1).tolist(), kind)
    unknown = found - set(FLAGS)
    if unknown:
        raise ValueError(f"{sample.theme}: no such flags: {', '.join(sorted(unknown))}")
    return [flag for flag in FLAGS if flag in found]


def operand_flags(codes: Sequence[int], kind: FloatType) -> set[str]:
    if kind.specials == "e8m0":
        return {"NaN"} if 255 in codes else set()
    sign = 1 << (kind.bits - 1)
    magnitudes = {code & ~sign for code in codes}
    found = {"Subnormal"} if any(0 < m < 1 << (kind.precision - 1) for m in magnitudes) else set()
    found |= {"NegativeZero"} if sign in codes and kind.specials != "fnuz" else set()
    found |= {"Infinity"} if kind.specials == "ieee" and kind.infinity_bits in magnitudes else set()
    return found | ({"NaN"} if any(kind.is_nan(code) for code in codes) else set())
