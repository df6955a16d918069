"""`tiebreak sweep` from choice to exit code: sweep, log the blocks, explain, write the certificate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from tiebreak.adapters.registry import check_spec
from tiebreak.conformance.cases.plan import MissingInputs, Selection, chosen_operators, flatten, typed_case
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.model import Absent
from tiebreak.conformance.sweep.certificate import SweepResult, block_digests, read_certificate, write_certificate
from tiebreak.conformance.sweep.explaining import causes_of_intervals
from tiebreak.conformance.sweep.intervals import Interval
from tiebreak.conformance.sweep.log import SweepLog, sweep_log_path
from tiebreak.conformance.sweep.session import (
    BlockRunner,
    LocalBlocks,
    Progress,
    SweepLimits,
    compared,
    record_blocks,
    spec_of_certificate,
    swept_again,
)
from tiebreak.conformance.sweep.sweeper import Sweeper
from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.golden.exit_codes import exit_code
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import get_operator
from tiebreak.golden.operators.model import Operator
from tiebreak.golden.places import check_output
from tiebreak.golden.problems import problems_of
from tiebreak.golden.space import COLUMN, IMAGE, VECTOR, Space, check_space
from tiebreak.golden.verdicts import FOREIGN

MEASURES = "a result depends on other elements of its tensor, so that no sweep has every input"
IN_BLOCKS = "a row has whole blocks of {}, and a sweep asks number by number"
IN_SUMS = "a result sums several products, and a sweep asks number by number"


def space_of(selection: Selection) -> Space:
    """The space to sweep: a node and its inputs but the first; a scale that is not given takes every value.

    Raises InvalidInput for a selection that does not fit.
    """
    operators = chosen_operators(selection)
    if len(operators) != 1:
        raise InvalidInput("a sweep is of exactly one --operator")
    spec = get_operator(operators[0])
    check_is_swept(spec)
    forms = [form for form in spec.forms if set(selection.inputs) <= set(form)]
    form = forms[0] if forms else spec.forms[0]
    if form[0] in selection.inputs:
        raise InvalidInput(f"{spec.id}: {form[0]} takes every value there is: leave --input {form[0]} off")
    second = "".join(form[1:2])
    every_scale = second.endswith("scale") and second not in selection.inputs
    given = {**({second: "1"} if every_scale else {}), **selection.inputs}
    lists = [name for name, text in given.items() if is_list(name, text)]
    advice = f": a sweep takes one number for {', '.join(lists)}, as in --input {lists[0]}=1" if lists else ""
    try:
        return space_with(selection, form, given, every_scale)
    except MissingInputs as error:
        wanted = every_scale and error.node.inputs[1].dtype.itemsize > 2  # only a scale of 16 bits takes every value
        raise MissingInputs(error.node, [second, *error.names] if wanted else error.names) from None
    except InvalidInput as error:
        raise InvalidInput(f"{error}{advice}") from None


def check_is_swept(spec: Operator) -> None:
    """Raise InvalidInput for an operator whose results no sweep can ask, whatever its inputs and attributes."""
    tested = TESTED[spec.id]
    if not isinstance(tested.axis, Absent):
        if tested.axis.whole_blocks:
            words = IN_BLOCKS.format(tested.axis.measured) if tested.axis.one_for_each_block else MEASURES
            raise InvalidInput(f"{spec.id}: {words}")
        if tested.axis.laid_out and not tested.swept_factor:
            raise InvalidInput(f"{spec.id}: {IN_SUMS}")


def is_list(name: str, text: str) -> bool:
    try:
        return bool(flatten(name, text)[1])
    except InvalidInput:
        return False


def space_with(selection: Selection, form: Sequence[str], given: Mapping[str, str], every_scale: bool) -> Space:
    """The space of a node with these inputs. InvalidInput if they do not fit."""
    spec = get_operator(selection.operators[0])
    case = typed_with(selection, form[0], given)
    if spec.measures({one.name: case.node.value(one.name) for one in spec.attributes}):
        raise InvalidInput(f"{spec.id}: {MEASURES}{with_a_range(spec)}")
    try:
        space = check_space(Space(case.node, case.inputs[1:], every_scale))
    except InvalidInput as error:
        raise InvalidInput(f"{error}" + (f": give one, as in --input {form[1]}=0.1" if every_scale else "")) from None
    return with_fitting_shape(space)


def with_a_range(spec: Operator) -> str:
    return ": sweep it with --attr range_given=true" if spec.has_attribute("range_given") else ""


def typed_with(selection: Selection, first: str, given: Mapping[str, str]) -> Case:
    """The typed case with a first input of the lowest rank that the operator takes, and numbers or vectors of one.

    The factor of a product of matrices, and the weight of a convolution, has as many axes as the first input.
    """
    tested = TESTED[selection.operators[0]]
    products = {
        name: in_lists(text, tested.swept_axes) if name == tested.swept_factor and not is_list(name, text) else text
        for name, text in given.items()
    }
    vectors = {name: text if is_list(name, text) else f"[{text}]" for name, text in given.items()}
    problems: list[InvalidInput] = []
    tried = [("0", given), ("[0]", given), ("[0]", vectors)]
    if tested.swept_factor:  # a bias is a vector beside scales that are numbers
        first_value = in_lists("0", tested.swept_axes)
        biased = [products | {name: vectors[name]} for name in given if name != tested.swept_factor]
        tried = [(first_value, others) for others in (products, *biased)]
    for first_value, others in tried:
        try:
            return typed_case(replace(selection, inputs={first: first_value, **others}), selection.operators)
        except InvalidInput as error:
            problems.append(error)
    raise problems[0 if tested.swept_factor else 1]  # about numbers as they were typed


def in_lists(text: str, axes: int) -> str:
    return "[" * axes + text + "]" * axes


SHAPES = {2: (COLUMN,), 3: (IMAGE,)}  # by the axes of an operator's factors


def with_fitting_shape(space: Space) -> Space:
    """The space with a first input that the node accepts: a vector, a column or an image. InvalidInput if none.

    The result has the first input's shape.
    """
    *others, last = SHAPES.get(TESTED[space.node.operator].swept_axes, (VECTOR, COLUMN))
    for shape in others:
        found = replace(space, shape=shape)
        with suppress(InvalidInput):
            check_result(found)
            return found
    found = replace(space, shape=last)
    check_result(found)
    return found


def check_result(space: Space) -> None:
    x = space.first_input(0, 2)
    first, *_ = problems_of(Case("sweep", space.node, (x, *space.other_inputs(0))))
    if first.shape != x.shape:
        what = f"a result of shape {list(first.shape)} for an input of shape {list(x.shape)}"
        raise InvalidInput(f"{space.node.operator}: a sweep wants a result for each number, not {what}")


class ExplainingRunner(BlockRunner, Protocol):
    """One that also finds the causes of mismatches, by an interval's first input number."""

    def causes(self, intervals: Sequence[Interval]) -> dict[int, str]: ...


@dataclass
class ExplainingBlocks(LocalBlocks):
    """Runs a sweep's blocks on one worker on this machine, and explains them."""

    sweeper: Sweeper

    def causes(self, intervals: Sequence[Interval]) -> dict[int, str]:
        return causes_of_intervals(self.sweeper.spec, self.sweeper.space, intervals, self.sweeper.memory_limit)


def sweep_job(
    spec: str,
    space: Space,
    certificate: Path,
    how: SweepLimits,
    *,
    resume: bool = False,
    progress: Progress = lambda done, of: None,
) -> dict[str, Any]:
    """Sweep, write the certificate and return its content.

    Raises Unsupported if the backend does not accept the node, InvalidInput for bad input, MachineryFailed if the
    backend can't be started or fails too often.
    """
    sweeper = Sweeper(check_spec(spec), space, how.time_limit, how.memory_limit, all_modes=how.all_modes)
    return carry_out(ExplainingBlocks(sweeper), space, certificate, how, resume=resume, progress=progress)


def carry_out(
    runner: ExplainingRunner, space: Space, certificate: Path, how: SweepLimits, *, resume: bool, progress: Progress
) -> dict[str, Any]:
    """Sweep with any runner of blocks, log the blocks, and write the certificate; see `sweep_job`."""
    check_place(certificate)
    log = SweepLog(sweep_log_path(certificate))
    try:
        facts = record_blocks(runner, space, log, {"all_modes": how.all_modes}, resume=resume, progress=progress)
        return finish_sweep(runner, space, facts, log, how, certificate)
    finally:
        log.close()


def check_place(certificate: Path) -> None:
    """InvalidInput, before any input is tried, if the certificate can't be written there."""
    check_output(certificate)


def finish_sweep(
    runner: ExplainingRunner, space: Space, facts: Mapping[str, Any], log: SweepLog, how: SweepLimits, certificate: Path
) -> dict[str, Any]:
    """Explain the mismatches, write the certificate and remove the log."""
    check_whole(space, log)
    blocks = [log.blocks[number] for number in sorted(log.blocks)]
    result = SweepResult(space, facts, blocks, runner.seconds, how.all_modes, {})
    if result.mismatches:
        result = replace(result, causes=runner.causes(result.folded.kept))
    data = write_certificate(certificate, result)
    log.end()
    return data


def check_whole(space: Space, log: SweepLog) -> None:
    """DamagedFile unless each block is there once, with a grade for each of its inputs and intervals among them."""
    if sorted(log.blocks) != list(range(space.blocks)):
        raise DamagedFile(f"{log.path}: damaged: it has other blocks than the sweep")
    for number, block in log.blocks.items():
        first, count = space.pieces(number)[0], space.results_in(number)
        graded = 0 if block.fault else count
        last = [] if block.folded.last is None else [block.folded.last]
        inside = all(first <= i.first <= i.last < first + count for i in [*block.folded.kept, *last])
        if min(block.counts) < 0 or sum(block.counts) != graded or not inside or not math.isfinite(block.seconds):
            raise DamagedFile(f"{log.path}: damaged: block {number} is not one of the sweep's")


def exit_code_of_sweep(data: Mapping[str, Any], *, judge_foreign: bool = False) -> int:
    """The exit code of a sweep, from its certificate.

    Mismatches with a document that the backend does not claim count only with `judge_foreign`.
    """
    own = judge_foreign or data["backend"].get("document") != FOREIGN
    return exit_code(
        discrepancies=own and bool(data["counts"]["deviates"]),
        failures=bool(data["faults"]),
        ran=data["counts"]["unspecified"] < data["inputs"],
    )


def check_job(
    certificate: Path, how: SweepLimits, named: str = "", progress: Progress = lambda done, of: None
) -> dict[str, Any]:
    """Repeat the sweep of a certificate and compare: blocks with other results, and changes of the backend.

    `named` is the backend's spec if it is not one of Tiebreak's own. Raises as sweep_job does, and DamagedFile for a
    file that is no certificate.
    """
    data, space = read_certificate(certificate)
    before = block_digests(data, space.blocks)
    spec = spec_of_certificate(data, named, certificate)
    facts, blocks = swept_again(Sweeper(spec, space, how.time_limit, how.memory_limit), progress)
    result = SweepResult(space, facts, blocks, 0.0, False, {})
    changed = [b.number for b, digest in zip(blocks, before, strict=True) if b.sha256 != digest]
    counts = {"then": data["counts"], "now": result.counts}
    return compared(certificate, data, space, facts, blocks, changed_blocks=changed, counts=counts)
