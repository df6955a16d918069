"""Builds the golden vectors: inputs come from samples, results only from the exact oracle."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.flags import FLAGS
from tiebreak.golden.operators import OPERATORS, get_operator
from tiebreak.golden.operators.model import Operator
from tiebreak.golden.places import check_replaceable, write_text_aside
from tiebreak.golden.samples.model import Sample
from tiebreak.golden.vector_flags import flags_of
from tiebreak.golden.vector_inputs.by_search import TRAPS
from tiebreak.golden.vector_inputs.by_theme import THEMES, Setting
from tiebreak.golden.vector_inputs.by_witness import witness_theme
from tiebreak.golden.vector_layout import dump
from tiebreak.golden.vector_results import OutputResults, SolvedSample, mode_attribute, solved_parts
from tiebreak.golden.vector_text import tensor_entry
from tiebreak.golden.vectorfile import VECTORS, VERSION, read_cases, vector_paths

Group = dict[str, Any]


def file_name(operator: str, input_type: str, output_type: str) -> str:
    return f"{operator}-{input_type}-{output_type}.json"


def all_files(operators: Sequence[str] = ()) -> Iterator[tuple[str, str, str]]:
    """(operator, input type, output type) of every vector file of these operators; none named means all."""
    for spec in map(get_operator, operators or OPERATORS):
        yield from ((spec.id, *types) for types in (*themed_files(spec), *spec.files))


def themed_files(spec: Operator) -> tuple[tuple[str, str], ...]:
    """The pairs of types whose samples come from themes."""
    every = tuple(itertools.product(spec.real_types, spec.quantized_types))
    return spec.themed or (() if spec.samples else every)


def samples_of(spec: Operator, input_type: str, output_type: str) -> Iterator[Sample]:
    """The samples of one file: from the themes, for each rounding mode, or from the operator's own samples."""
    if (input_type, output_type) not in themed_files(spec):
        assert spec.samples is not None
        yield from spec.samples(input_type, output_type)
        return
    for mode in spec.modes:
        setting = Setting(FLOAT_TYPES[input_type], INTEGER_TYPES[output_type], mode)
        for theme in (*THEMES, *TRAPS, witness_theme, *spec.themes):
            yield from theme(setting)


def build_file(operator: str, input_type: str, output_type: str) -> str:
    """The text of the vector file for an operator and its input and output types. It is the same every time."""
    spec = get_operator(operator)
    samples = samples_of(spec, input_type, output_type)
    solved = itertools.chain.from_iterable(solved_parts(spec, sample) for sample in samples)
    groups = vector_groups(spec, f"{operator}/{input_type}/{output_type}", solved)
    return dump(document_of(spec, groups))


def document_of(spec: Operator, groups: list[Group]) -> dict[str, Any]:
    used = {flag for group in groups for vector in group["vectors"] for flag in vector["flags"]}
    return {
        "format": "tiebreak-vectors",
        "version": VERSION,
        "operator": spec.id,
        "formula": spec.formula,
        "sources": list(spec.sources),
        "note": "Built by `tiebreak vectors build` from the exact oracle. Not edited by hand.",
        "flags": {flag: text for flag, text in FLAGS.items() if flag in used},
        "groups": groups,
    }


def vector_groups(spec: Operator, prefix: str, solved: Iterable[SolvedSample]) -> list[Group]:
    """The groups of a file: vectors with the same theme and inputs share a group."""
    groups: dict[str, Group] = {}
    ids: set[str] = set()
    for one in solved:
        vector = vector_of(spec, prefix, one)
        if vector["id"] in ids:
            raise ValueError(f"two samples are named {vector['id']}")
        ids.add(vector["id"])
        key = repr((one.sample.theme, one.sample.tensors))
        if key not in groups:
            groups[key] = group_of(one)
        groups[key]["vectors"].append(vector)
    return list(groups.values())


def group_of(solved: SolvedSample) -> Group:
    """A group without vectors."""
    node, given = solved.case.node, solved.sample.node
    return {
        "theme": solved.sample.theme,
        "types": {key: given[key] for key in ("real", "quantized", "scale", "operands") if key in given},
        **({"opset": node.opset} if node.opset else {}),
        "attributes": given.get("attributes", {}),
        "inputs": [
            tensor_entry(type_.name, array) for type_, array in zip(node.inputs, solved.case.inputs, strict=True)
        ],
        "output_type": node.output_type,
        "vectors": [],
    }


def vector_of(spec: Operator, prefix: str, solved: SolvedSample) -> dict[str, Any]:
    sample, expected, working = solved.sample, results_text(solved.exact), results_text(solved.working)
    vector = {
        "id": "/".join([prefix, sample.theme, *([sample.mode] if sample.mode else [])]),
        "attributes": mode_attribute(spec, sample),
        "flags": flags_of(solved, sensitive=expected != working),
        "clauses": sample_clauses(spec, sample),
        "expected": expected,
    }
    return vector | ({"working": working} if working != expected else {})


def results_text(outputs: tuple[OutputResults, ...]) -> str | list[str]:
    texts = [results.text() for results in outputs]
    return texts[0] if len(texts) == 1 else texts


def sample_clauses(spec: Operator, sample: Sample) -> list[str]:
    """The ids of the clauses for the sample's rounding mode and roles, without repeats."""
    unknown = set(sample.roles) - set(spec.roles)
    if unknown:
        raise ValueError(f"{sample.theme}: {spec.id} has no such roles: {', '.join(sorted(unknown))}")
    of_mode = [spec.mode_clause(sample.mode)] if sample.mode else []
    return list(dict.fromkeys([*of_mode, *(spec.roles[role] for role in sample.roles)]))


def build_all(operators: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """(file name, text) of every vector file of these operators, built on all cores; none named means all."""
    files = list(all_files(operators))
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        texts = pool.map(build_file, *zip(*files, strict=True))
        try:
            yield from zip(itertools.starmap(file_name, files), texts, strict=True)
        finally:
            pool.shutdown(cancel_futures=True)  # a caller that stops early need not wait for the rest


def build_vectors(folder: Path = VECTORS, operators: Sequence[str] = ()) -> Iterator[Path]:
    """Write every vector file of these operators into a folder; yields each path when the file is complete.

    Raises InvalidInput, before any file is built, for an unknown operator or if the folder can't be written to.
    """
    check_replaceable(folder, "vector files", has_vectors)
    for name, text in build_all(operators):
        write_text_aside(folder / name, text)
        yield folder / name


def has_vectors(folder: Path) -> bool:
    return any((folder / file_name(*one)).exists() for one in all_files())


def check_vectors(folder: Path = VECTORS, operators: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """(file name, problem or "") of every file of these operators: it must be valid and what the builder makes.

    Raises DamagedFile, before anything is built, for a file that is not a valid vector file.
    """
    beginnings = tuple(f"{operator}-" for operator in operators) or ("",)
    present = {path.name for path in vector_paths(folder) if path.name.startswith(beginnings)}
    for name in sorted(present):
        read_cases(folder / name)
    built = dict(build_all(operators))
    for name in sorted(present | set(built)):
        if name not in present:
            yield name, "missing"
        elif name not in built:
            yield name, "not one of the builder's files"
        else:
            same = (folder / name).read_text(encoding="utf-8") == built[name]
            yield name, "" if same else "differs from what `tiebreak vectors build` makes"
