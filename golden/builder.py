"""Builds the golden vectors: themes give inputs, the oracle alone gives results, the tool assigns ids and flags."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, FloatType, Real, decimal, decode, ulp
from tiebreak.golden.flags import FLAGS
from tiebreak.golden.formulas.quantize import quantize_quotient, quotient
from tiebreak.golden.operators import OPERATORS, get_operator
from tiebreak.golden.operators.model import Operator
from tiebreak.golden.places import check_writable, write_text_aside
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE
from tiebreak.golden.sampled import operand_flags, sampled_groups
from tiebreak.golden.vector_inputs.by_search import TRAPS
from tiebreak.golden.vector_inputs.by_theme import THEMES, Setting, Sketch
from tiebreak.golden.vector_inputs.by_witness import separating
from tiebreak.golden.vector_layout import dump
from tiebreak.golden.vectorfile import VECTORS, VERSION, read_cases, vector_paths

Pair = tuple[int, int]  # (value, state)
divide = lru_cache(maxsize=1 << 18)(quotient)


@dataclass(frozen=True)
class Solved:
    """A sketch with the oracle's results in both forms."""

    sketch: Sketch
    exact: list[Pair]
    working: list[Pair]


def file_name(operator: str, real: str, quantized: str) -> str:
    return f"{operator}-{real}-{quantized}.json"


def all_files() -> Iterator[tuple[str, str, str]]:
    """(operator, input type, output type) of every vector file."""
    for spec in OPERATORS.values():
        yield from ((spec.id, *types) for types in (*themed_files(spec), *spec.files))


def themed_files(spec: Operator) -> tuple[tuple[str, str], ...]:
    """The pairs of types whose vectors are made by themes."""
    every = tuple(itertools.product(spec.real_types, spec.quantized_types))
    return spec.themed or (() if spec.samples else every)


def build_file(operator: str, real: str, quantized: str) -> str:
    """The text of one vector file, by the types of input and output; the same text every time."""
    spec = get_operator(operator)
    themed = (real, quantized) in themed_files(spec)
    groups = themed_groups(spec, real, quantized) if themed else list(sampled_groups(spec, real, quantized))
    used = {flag for group in groups for vector in group["vectors"] for flag in vector["flags"]}
    document = {
        "format": "tiebreak-vectors",
        "version": VERSION,
        "operator": operator,
        "formula": spec.formula,
        "sources": list(spec.sources),
        "note": "Built by `tiebreak vectors build` from the exact oracle. Not edited by hand.",
        "flags": {flag: text for flag, text in FLAGS.items() if flag in used},
        "groups": groups,
    }
    return dump(document)


def themed_groups(spec: Operator, real: str, quantized: str) -> list[dict[str, Any]]:
    """The groups of a file of the quantize family: inputs shared by every mode that they are for."""
    groups: dict[str, dict[str, Any]] = {}
    for mode in spec.modes:
        setting = Setting(FLOAT_TYPES[real], INTEGER_TYPES[quantized], mode)
        for solved in solve_all(spec, setting):
            add_vector(groups, spec, setting, solved)
    return list(groups.values())


def solve_all(spec: Operator, s: Setting) -> Iterator[Solved]:
    """Every theme's sketches with results; elements that the spec leaves open are kept apart from the others."""
    for theme in (*THEMES, *TRAPS, separating, *spec.themes):
        for sketch in theme(s):
            if sketch.shape is not None:
                yield solve(sketch, s)
            elif sketch.x:
                yield from split(spec, solve(sketch, s))


def split(spec: Operator, solved: Solved) -> Iterator[Solved]:
    """A 1-D sketch as one whose elements are specified and one, named …-open, whose elements are not."""
    specified = [
        is_specified(spec, exact) and is_specified(spec, working)
        for exact, working in zip(solved.exact, solved.working, strict=True)
    ]
    for wanted, suffix in ((True, ""), (False, "-open")):
        kept = [i for i, ok in enumerate(specified) if ok is wanted]
        if kept:
            sketch = replace(solved.sketch, theme=solved.sketch.theme + suffix, x=[solved.sketch.x[i] for i in kept])
            yield Solved(sketch, [solved.exact[i] for i in kept], [solved.working[i] for i in kept])


def is_specified(spec: Operator, result: Pair) -> bool:
    return result[1] == IN_RANGE or (spec.saturates and result[1] == OUT_OF_RANGE)


def solve(sketch: Sketch, s: Setting) -> Solved:
    """The oracle's exact and working-precision results for each element of a sketch."""
    parameters = parameter_index(sketch)
    zero_point = sketch.zero_point or [0] * len(sketch.scale)
    exact, working = (
        [
            quantize_quotient(divide(x, sketch.scale[j], s.real, working=form), zero_point[j], s.mode, s.quantized)
            for x, j in zip(sketch.x, parameters, strict=True)
        ]
        for form in (False, True)
    )
    return Solved(sketch, exact, working)


def parameter_index(sketch: Sketch) -> list[int]:
    """For each element in row-major order, the flat index of its scale: its coordinate projected onto the axes."""
    shape = sketch.shape if sketch.shape is not None else (len(sketch.x),)
    indices = []
    for flat in range(len(sketch.x)):
        coordinate, rest = [0] * len(shape), flat
        for axis in reversed(range(len(shape))):
            rest, coordinate[axis] = divmod(rest, shape[axis])
        j = 0
        for axis in sketch.axes:
            j = j * shape[axis] + coordinate[axis]
        indices.append(j)
    return indices


def add_vector(groups: dict[str, dict[str, Any]], spec: Operator, s: Setting, solved: Solved) -> None:
    """Put a vector into the group that has the same inputs, or into a new one."""
    sketch = solved.sketch
    key = repr((sketch.theme, sketch.x))
    if key not in groups:
        groups[key] = {
            "theme": sketch.theme,
            "attributes": sketch.attributes,
            "inputs": input_tensors(spec, s, sketch),
            "output_type": s.quantized.name,
            "vectors": [],
        }
    expected, working = (result_text(spec, results) for results in (solved.exact, solved.working))
    vector: dict[str, Any] = {
        "id": f"{spec.id}/{s.real.name}/{s.quantized.name}/{sketch.theme}/{s.mode}",
        "attributes": {"round_mode": s.mode} if any(a.name == "round_mode" for a in spec.attributes) else {},
        "flags": vector_flags(spec, s, solved, expected != working),
        "clauses": vector_clauses(spec, s, sketch),
        "expected": expected,
    }
    if expected != working:
        vector["working"] = working
    groups[key]["vectors"].append(vector)


def result_text(spec: Operator, results: list[Pair]) -> str:
    return " ".join(str(result[0]) if is_specified(spec, result) else "?" for result in results)


def input_tensors(spec: Operator, s: Setting, sketch: Sketch) -> list[dict[str, Any]]:
    shape = list(sketch.shape if sketch.shape is not None else (len(sketch.x),))
    projected = [shape[axis] for axis in sketch.axes]
    names = spec.forms[sketch.form]
    tensors = [float_tensor(names[0], s.real, shape, sketch.x), float_tensor(names[1], s.real, projected, sketch.scale)]
    if sketch.zero_point is not None:
        values = " ".join(map(str, sketch.zero_point))
        tensors.append({"name": names[2], "type": s.quantized.name, "shape": projected, "values": values})
    return tensors


def float_tensor(name: str, real: FloatType, shape: list[int], bits: Any) -> dict[str, Any]:
    return {
        "name": name,
        "type": real.name,
        "shape": shape,
        "bits": " ".join(f"{word:0{real.bits // 4}x}" for word in bits),
        "decimal": " ".join(decimal(word, real) for word in bits),
    }


def vector_clauses(spec: Operator, s: Setting, sketch: Sketch) -> list[str]:
    """The clauses that the theme is about and the one for the rounding mode, without repeats."""
    named = [spec.roles[role] for role in sketch.roles if role in spec.roles]
    return list(dict.fromkeys([spec.mode_clause(s.mode), *named]))


def vector_flags(spec: Operator, s: Setting, solved: Solved, sensitive: bool) -> list[str]:
    """The theme's own flags and those that the values show, in the order of FLAGS."""
    sketch = solved.sketch
    index = parameter_index(sketch)
    quotients = [divide(x, sketch.scale[j], s.real, working=False) for x, j in zip(sketch.x, index, strict=True)]
    near = {nearness(q, s.real) for q in quotients}
    found = set(sketch.flags) - {"Tie", "NearTie", "PrecisionSensitive"}
    found |= {flag for flag in ("Tie", "NearTie") if flag in near}
    found |= {"PrecisionSensitive"} if sensitive else set()
    found |= {"Saturates"} if any(state == OUT_OF_RANGE for _, state in solved.exact) else set()
    found |= operand_flags([*sketch.x, *sketch.scale], s.real) | scale_flags(sketch.scale, s.real)
    return [flag for flag in FLAGS if flag in found]


def nearness(q: Real | None, real: FloatType) -> str:
    if not isinstance(q, Fraction):
        return ""
    distance = abs(q - (q.numerator // q.denominator) - Fraction(1, 2))
    return "Tie" if distance == 0 else "NearTie" if distance <= 2 * ulp(q, real) <= Fraction(1, 4) else ""


def scale_flags(scales: Any, real: FloatType) -> set[str]:
    values = [value for value in (decode(bits, real) for bits in scales) if isinstance(value, Fraction)]
    flags = {"NegativeScale"} if any(value < 0 for value in values) else set()
    powers = all(value and abs(value.numerator) & (abs(value.numerator) - 1) == 0 for value in values)
    return flags if powers or any(not value for value in values) else flags | {"ScaleNotPowerOfTwo"}


def build_all() -> Iterator[tuple[str, str]]:
    """(file name, text) of every vector file, built on all cores."""
    files = list(all_files())
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        texts = pool.map(build_file, *zip(*files, strict=True))
        try:
            yield from zip(itertools.starmap(file_name, files), texts, strict=True)
        finally:
            pool.shutdown(cancel_futures=True)  # whoever takes no more need not wait for the rest


def build(folder: Path = VECTORS) -> Iterator[Path]:
    """Write every vector file into a folder, each aside and then renamed; the paths as they are written.

    InvalidInput, before any is built, if it is no folder to write in.
    """
    check_writable(folder)
    for name, text in build_all():
        write_text_aside(folder / name, text)
        yield folder / name


def check(folder: Path = VECTORS) -> Iterator[tuple[str, str]]:
    """(file name, what is wrong or "") of every file: valid by the schema, and what the builder makes.

    Raises DamagedFile, before anything is built, for a file that is not a whole vector file.
    """
    present = {path.name for path in vector_paths(folder)}
    for name in sorted(present):
        read_cases(folder / name)
    built = dict(build_all())
    for name in sorted(present | set(built)):
        if name not in present:
            yield name, "missing"
        elif name not in built:
            yield name, "not one of the builder's files"
        else:
            same = (folder / name).read_text(encoding="utf-8") == built[name]
            yield name, "" if same else "differs from what `tiebreak vectors build` makes"
