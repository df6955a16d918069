"""Which cases a run has: golden vectors, generated cases, or one case that a person typed."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from tiebreak.conformance.cases.brief import BRIEF, brief_cases
from tiebreak.conformance.cases.case_ids import case_id
from tiebreak.conformance.cases.choice import why_none
from tiebreak.conformance.cases.made_cases import MadeCases, made_once
from tiebreak.conformance.cases.recipes import Recipe, recipes_of
from tiebreak.golden.builder import all_files, file_name
from tiebreak.golden.case_cache import CaseCache
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType, IntegerType, parse_real
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Node, TensorType
from tiebreak.golden.operators import OPERATORS, get_operator
from tiebreak.golden.operators.model import Operator
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import problems_of
from tiebreak.golden.samples.model import Tensor
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS, read_cases, vector_paths

LEVELS = {BRIEF: 30, "quick": 150, "full": 1000, "deep": 20000}  # generated cases for each operator
MOST_TYPED = 1 << 20


@dataclass(frozen=True)
class Selection:
    """Which cases to run; empty tuples and mappings mean all. With `inputs` (name to text) it is one typed case."""

    operators: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    input_type: str = ""
    output_type: str = ""
    opset: int = 0
    inputs: Mapping[str, str] = field(default_factory=dict)
    case_ids: tuple[str, ...] = ()
    vectors: Path | None = None
    earlier_run: Path | None = None
    level: str = "full"  # empty: no generated cases
    seed: int = 0


def plan(selection: Selection, claimed: Collection[str] | None = None) -> list[Case]:
    """Every case of the selection, vectors first. InvalidInput if it names something unknown or matches no case.

    `claimed` are the operators that some backend runs, None all: cases of others are left out, be it all of them.
    """
    with Planning(selection, claimed, alone=True) as planning:
        return [*planning.stored, *planning.rest()]


class Planning:
    """A plan in two parts: the stored cases are there at once, the rest is made meanwhile, on all cores.

        with Planning(selection, claimed) as planning:
            begin(planning.stored)
            go_on(planning.rest())

    Both parts together are plan(selection, claimed). Raises InvalidInput for an unknown name in the selection at once;
    for one that matches no case, a wrong id or a wrong input where the cases are asked for. `alone` says that nothing
    else goes on meanwhile, so that a single process in the background would gain nothing.
    """

    def __init__(self, selection: Selection, claimed: Collection[str] | None = None, *, alone: bool = False) -> None:
        self.selection, self.operators = selection, chosen_operators(selection)
        check_opset(selection, self.operators)
        self.wanted = {name: get_operator(name).parse_attributes_given(selection.attributes) for name in self.operators}
        self.claimed = set(self.operators if claimed is None else claimed)
        self.all_claimed = self.claimed.issuperset(self.operators)
        self.recipes: list[Recipe] = []
        if makes_cases(selection):
            how = selection.level, LEVELS[selection.level], selection.seed
            self.recipes = recipes_of(self.operators, self.claimed, *how)
        self.made = MadeCases(self.recipes, alone=alone)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes that still make cases."""
        self.made.close()

    @cached_property
    def stored(self) -> list[Case]:
        """The vectors and the cases of an earlier run; or the one typed case, or those with the wanted ids."""
        if self.selection.inputs:
            return self.of_claimed([typed_case(self.selection, self.operators)])
        if self.selection.case_ids:
            known = self.matching(stored_cases(self.selection, self.operators))
            return self.of_claimed(cases_by_id(known, self.selection))
        found = self.matching(stored_cases(self.selection, [name for name in self.operators if name in self.claimed]))
        if self.selection.level == BRIEF and self.selection.vectors is None:
            return brief_cases(found, narrowed=narrowed(self.selection))
        return found

    def rest(self) -> list[Case]:
        """The generated cases, those of relations and path probes, as soon as all of them are made."""
        if self.selection.inputs or self.selection.case_ids:
            return []
        found = [case for recipe in self.recipes for case in self.made.cases(recipe)]
        cases = self.matching(self.of_claimed(found))
        if not cases and not self.stored:
            self.check_matching()
        return cases

    def of_claimed(self, cases: list[Case]) -> list[Case]:
        return cases if self.all_claimed else [case for case in cases if case.node.operator in self.claimed]

    def matching(self, cases: list[Case]) -> list[Case]:
        return [case for case in cases if matches(case, self.wanted[case.node.operator], self.selection)]

    def check_matching(self) -> None:
        """InvalidInput unless the selection matches cases that nobody claims."""
        if not self.all_claimed:
            if not self.matching(stored_cases(self.selection, self.operators)):
                plan(self.selection)
            return
        known = all_stored_cases(self.selection, self.operators)
        raise InvalidInput(why_none(known, asked_values(self.selection, self.wanted)))


def check_opset(selection: Selection, operators: Sequence[str]) -> None:
    if selection.opset and not any(get_operator(name).opsets for name in operators):
        raise InvalidInput(f"no case matches this choice: --opset {selection.opset}: only ONNX's operators have one")


def narrowed(selection: Selection) -> bool:
    """Whether the options choose more than an operator."""
    return bool(selection.attributes or selection.input_type or selection.output_type or selection.opset)


def makes_cases(selection: Selection) -> bool:
    """Whether a plan has more than stored cases."""
    chosen = selection.inputs or selection.case_ids or selection.vectors is not None
    return bool(selection.level) and not chosen


def all_stored_cases(selection: Selection, operators: Sequence[str]) -> list[Case]:
    """Every stored case of the operators, without the selection's other filters."""
    return stored_cases(replace(selection, attributes={}, input_type="", output_type="", opset=0), operators)


def asked_values(selection: Selection, wanted: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The selection's options and attributes by name, attributes parsed as their operator does."""
    options = {"--type": selection.output_type, "--input-type": selection.input_type, "--opset": selection.opset}
    attributes = {name: value for parsed in wanted.values() for name, value in parsed.items()}
    return {name: value for name, value in options.items() if value} | attributes


def generated_cases(operator: str, selection: Selection) -> list[Case]:
    if selection.vectors is not None or not selection.level:
        return []
    recipe = Recipe("generated", operator, count=LEVELS[selection.level], seed=selection.seed)
    return made_once(recipe, CaseCache())


def chosen_operators(selection: Selection) -> list[str]:
    """The named operators, else every operator that has the selection's attributes. InvalidInput if one lacks them."""
    names = [get_operator(name).id for name in selection.operators]
    if names:
        for name in names:
            get_operator(name).parse_attributes_given(selection.attributes)
        return names
    having = [spec.id for spec in OPERATORS.values() if all(spec.has_attribute(name) for name in selection.attributes)]
    if not having:
        known = "; ".join(f"{spec.id}: {', '.join(a.name for a in spec.attributes)}" for spec in OPERATORS.values())
        raise InvalidInput(f"no operator has the attributes {', '.join(selection.attributes)}; they have: {known}")
    return having


def matches(case: Case, attributes: Mapping[str, Any], selection: Selection) -> bool:
    node, spec = case.node, get_operator(case.node.operator)
    for name, value in attributes.items():
        if node.attributes.get(name, spec.attribute(name).default) != value:
            return False
    if selection.opset and spec.version_at(selection.opset) != node.opset:
        return False
    return selection.input_type in ("", node.input_type) and selection.output_type in ("", node.output_type)


def stored_cases(selection: Selection, operators: Sequence[str]) -> list[Case]:
    """Golden vectors of the operators, or the user's own vector files; then the cases of an earlier run.

    Only vector files that can hold what the selection asks for are read.
    """
    earlier = []
    if selection.earlier_run is not None:
        from tiebreak.reports.records import read_generated

        earlier = read_generated(selection.earlier_run, selection.case_ids)
    if selection.vectors is not None:
        paths = vector_paths(selection.vectors) if selection.vectors.is_dir() else [selection.vectors]
        cases = [case for path in paths for case in read_cases(path)]
    else:
        files = list(all_files())
        named = {operator for operator, input_type, _ in files if input_type == selection.input_type}
        names = [
            file_name(operator, input_type, output_type)
            for operator, input_type, output_type in files
            if operator in operators
            # A file is named after its first input's type, or after that of its scales.
            and (selection.input_type in ("", input_type) or operator not in named)
            and selection.output_type in ("", output_type.partition("-")[0])
            and may_hold(selection.case_ids, f"{operator}/{input_type}/{output_type}/")
        ]
        cases = [case for name in names for case in indexed_cases(VECTORS / name)]
    return [case for case in (*cases, *earlier) if case.node.operator in operators]


def may_hold(case_ids: Sequence[str], prefix: str) -> bool:
    """Whether the vector file whose ids begin with `prefix` can hold a wanted case; no ids mean all cases."""
    return not case_ids or any(case_id.startswith(prefix) for case_id in case_ids)


def cases_by_id(cases: Sequence[Case], selection: Selection) -> list[Case]:
    """The cases with the wanted ids, in that order."""
    known = {case.id: case for case in cases}
    for wanted in selection.case_ids:
        if wanted not in known:
            hint = "" if selection.earlier_run else "; for a generated case name its run with --from"
            raise InvalidInput(f"no case {wanted!r}{hint}")
    return [known[wanted] for wanted in selection.case_ids]


class MissingInputs(InvalidInput):
    """A typed case of this node lacks the inputs of these names."""

    def __init__(self, node: Node, names: Sequence[str]) -> None:
        super().__init__(f"{node.operator}: no value for {', '.join(names)}: add --input {names[0]}=…")
        self.node, self.names = node, names


def typed_case(selection: Selection, operators: Sequence[str]) -> Case:
    """The one case whose inputs a person typed. InvalidInput names whatever does not fit the operator."""
    if len(operators) != 1 or not selection.operators:
        raise InvalidInput("--input needs exactly one --operator")
    spec = get_operator(operators[0])
    names = tuple(selection.inputs)
    forms = [number for number, form in enumerate(spec.forms) if set(names) <= set(form)]
    form = min(forms, key=lambda number: len(spec.forms[number]), default=None)  # without inputs that are left off
    if form is None:
        known = {name for form in spec.forms for name in form}
        unknown = [name for name in names if name not in known] or list(names)
        raise InvalidInput(
            f"{spec.id} has no inputs {', '.join(unknown)}; it has: {' or '.join(map(', '.join, spec.forms))}"
        )
    node = typed_node(spec, selection, form, len(names))
    missing = [kind.name for kind in node.inputs if kind.name not in names]
    if missing:
        raise MissingInputs(node, missing)
    inputs = tuple(parse_typed_tensor(kind, selection.inputs[kind.name]) for kind in node.inputs)
    case = Case(case_id(node, inputs).replace("generated", "typed", 1), node, inputs, "typed")
    problems_of(case)
    return case


def typed_node(spec: Operator, selection: Selection, form: int, inputs_given: int) -> Node:
    """The node for typed inputs: element types as asked, else the operator's usual ones."""
    first, second = selection.input_type, selection.output_type
    real, quantized = (second, first) if spec.family == "dequantize" else (first, second)
    if not spec.quantized_types and first and second and first != second:
        raise InvalidInput(f"{spec.id}: its output has the type of its input, not {first} and {second}")
    return make_node(
        spec.id,
        real=real if spec.quantized_types else real or second,
        quantized=quantized if spec.quantized_types else "",
        attributes=selection.attributes,
        form=form,
        zero_point=inputs_given == len(spec.forms[form]) or not spec.optional_inputs,
        opset=selection.opset,
    )


def parse_typed_tensor(kind: TensorType, text: str) -> Array:
    """A tensor typed as one number, as a,b,c or as nested JSON lists; 0x… is a bit pattern. InvalidInput otherwise."""
    items, shape = flatten(kind.name, text)
    element = ELEMENT_TYPES[kind.element]
    if isinstance(element, FloatType):
        try:
            return Tensor(element.name, shape, [parse_real(item, element) for item in items]).array()
        except ValueError as error:
            raise InvalidInput(f"--input {kind.name}: {error}") from None
    values = [parse_typed_integer(kind.name, item, element) for item in items]
    for value in values:
        if not element.lowest <= value <= element.highest:
            ends = f"[{element.lowest}, {element.highest}]"
            raise InvalidInput(f"--input {kind.name}: {value} is outside {element.name}'s {ends}")
    return Tensor(element.name, shape, values).array()


def parse_typed_integer(name: str, text: str, kind: IntegerType) -> int:
    """An integer typed as a decimal or, as 0x…, as its bits in two's complement."""
    cleaned = text.strip().lower()
    if re.fullmatch(r"0x[0-9a-f]{1,16}", cleaned):
        bits = int(cleaned, 16)
        if bits >> kind.bits:
            raise InvalidInput(f"--input {name}: {text[:40]!r} has more than {kind.name}'s {kind.bits} bits")
        return bits - (1 << kind.bits) if kind.signed and bits >> (kind.bits - 1) else bits
    if not re.fullmatch(r"[+-]?[0-9]{1,30}", cleaned):
        raise InvalidInput(f"--input {name}: {text[:40]!r} is not an integer")
    return int(cleaned)


def flatten(name: str, text: str) -> tuple[list[str], tuple[int, ...]]:
    """The elements of a typed tensor as text, in row-major order, and its shape."""
    if not text.strip().startswith("["):
        items = [item.strip() for item in text.split(",")]
        return items, () if len(items) == 1 else (len(items),)
    try:
        quoted = re.sub(r"[^\[\],\s\"]+", lambda word: json.dumps(word[0]), text)  # nan, inf and 0x… are no JSON
        data = np.array(json.loads(quoted), dtype=str)
    except (ValueError, RecursionError):
        raise InvalidInput(f"--input {name}: {text[:60]!r} is not a rectangular JSON list of numbers") from None
    if data.size > MOST_TYPED:
        raise InvalidInput(f"--input {name}: more than {MOST_TYPED} elements")
    return [str(item) for item in data.reshape(-1)], data.shape
