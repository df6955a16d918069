"""The record of what testing knows about an operator; each operator's file here defines one as TESTED."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tiebreak.conformance.operators.case_with_states import Situation
from tiebreak.conformance.operators.forbidden_call import ForbiddenCall
from tiebreak.conformance.operators.path_probe import PathProbe
from tiebreak.conformance.semantics.causes import Cause as Cause
from tiebreak.conformance.semantics.documents import Authority
from tiebreak.conformance.semantics.model import Arithmetic, Probe
from tiebreak.conformance.semantics.stages import Stages
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.problem import Array, Elementwise
from tiebreak.golden.samples.model import Tensor

if TYPE_CHECKING:
    from hypothesis import strategies as st


@dataclass(frozen=True)
class Absent:
    """Stands in a record for something that an operator does not have, with the reason. It is false."""

    reason: str

    def __bool__(self) -> Literal[False]:
        return False


@dataclass(frozen=True)
class PlainNodes:
    """How to draw plain nodes: those that compute round(x / scale) + zero_point and nothing else.

    `attributes` draws a node's attributes for inputs of a rank, with the rounding mode given or drawn. `varying_axes`
    draws the axes along which the scale varies, from these attributes and an input's shape. cases/generators.py draws
    the inputs.
    """

    attributes: Callable[[st.DrawFn, int, str | None], dict[str, Any]]
    varying_axes: Callable[[st.DrawFn, Mapping[str, Any], tuple[int, ...]], tuple[int, ...]]
    real_types: tuple[str, ...] = ()  # empty: all of the operator's
    quantized_types: tuple[str, ...] = ()


@dataclass(frozen=True)
class CaseConstraints:
    """What a generated case must have; empty text and None allow anything. `specials` allows NaN and infinities."""

    real: str = ""
    quantized: str = ""
    round_mode: str = ""
    rank: int | None = None
    specials: bool = True


Layer = tuple[dict[str, Any], tuple[Tensor, ...]]  # make_node's keywords and the inputs
DrawCase = Callable[["st.DrawFn", CaseConstraints], Layer]
Monotone = Callable[[Elementwise], bool]
Mistake = Callable[..., tuple[Array, ...]]  # (node, *inputs) -> the outputs of a backend that makes the mistake


@dataclass(frozen=True)
class Axis:
    """How parameters with one value per slice are spread over the input.

    `attribute` names the attribute that holds the axis, `block_attribute` the one that holds the block size. `also`
    names a second attribute that has the same axis.
    With `broadcast` there is no such attribute: parameters broadcast against the input as in NumPy.
    With `always_last` parameters always have a value for each index of the last axis. With `always` they have one for
    each index of the attribute's axis, which is 0 in a node that has no other. With `ones` they are arrays of
    one element where they are not spread.
    `measured` is the number of elements of the last axis that an operator measures at once: it takes no scalars.
    With `whole_blocks` the last axis of a valid input has no part of such a block.
    With `laid_out` the inputs are matrices or images, not scalars, and path probes say how values stand in them.
    With `one_for_each_block` it does not measure them: parameters have a value for each such block.
    `channels` names a boolean attribute that gives parameters a value for each last index.
    `spread` is how many parameters, the first ones, can vary along an axis; 0 is all of them.
    """

    attribute: str = ""
    also: str = ""
    block_attribute: str = ""
    broadcast: bool = False
    always_last: bool = False
    always: bool = False
    ones: bool = False
    measured: int = 0
    whole_blocks: bool = False
    laid_out: bool = False
    one_for_each_block: bool = False
    channels: str = ""
    spread: int = 0

    @property
    def takes_scalars(self) -> bool:
        return not (self.always_last or self.always or self.measured or self.laid_out)


def nothing_open(node: Node) -> str:
    return ""


def nothing_given(output_type: str) -> Mapping[str, Any]:
    return {}


def as_it_is(node: Node, probe: Probe) -> Probe:
    return probe


@dataclass(frozen=True)
class AuditedSemantics:
    """How an audit searches for an operator's semantics.

    `arithmetic` builds the table of facets for a node. `elementwise` spreads a recorded case's operands over its
    elements for that table, or returns None if the table does not describe the case. `defaults` are attributes of the
    audited node unless given, `defaults_of` those that depend on its output's type (empty: the usual one).
    `witnesses_of` is the operator whose stored witnesses separate the same semantics (empty: its own). `authorities`
    are the documents about the same arithmetic, its own among them. `role_of` gives the role of the clause that a facet
    (by name) of a node is about, if that depends on the node. `silence` is a sentence: what the document leaves open of
    a node though the table names a value for it; empty for most. `of_integers`: the table is about integers times a
    factor. `parameter_shape` is that of each input after the first. `as_called` gives a probe as its node takes it.
    """

    arithmetic: Callable[[Node], Arithmetic]
    elementwise: Callable[[Case], Probe | None]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    defaults_of: Callable[[str], Mapping[str, Any]] = nothing_given
    witnesses_of: str = ""
    authorities: tuple[Authority, ...] = ()
    role_of: Callable[[Node, str], str] | None = None
    silence: Callable[[Node], str] = nothing_open
    of_integers: bool = False
    parameter_shape: tuple[int, ...] = ()
    as_called: Callable[[Node, Probe], Probe] = as_it_is


@dataclass(frozen=True)
class StagedSemantics:
    """How an audit searches for the semantics of an operator whose outputs come in stages.

    `stages` gives the tables of a node and how a backend is asked for them, the first output first. `authorities` are
    the documents about each output.
    """

    stages: Stages
    authorities: Mapping[str, tuple[Authority, ...]]


def never_elementwise(case: Case) -> None:
    """No probe: the known mistakes of such an operator name what is in its table."""


def nothing_known(problem: Elementwise) -> bool:
    return False


def in_any_problem(problem: Elementwise) -> bool:
    return True


def no_numbers(problem: Elementwise) -> tuple[int, ...]:
    return ()


def no_period(problem: Elementwise) -> int:
    return 0


def no_layers() -> tuple[Layer, ...]:
    return ()


@dataclass(frozen=True, kw_only=True)
class OperatorUnderTest:
    """All that testing knows about one operator. The same file name in golden/operators has what its document says.

    Every field has a value, or is Absent with a reason.

    - `plain_nodes` and `draw` make its generated cases: those of plain nodes, and all others. `draw` returns
      make_node's keywords and the input tensors.
    - `mistakes` are usual mistakes as small NumPy backends, the likelier first, for naming causes.
    - `pairs` are two mistakes at once, tried in cases that no single one explains.
    - `layers` are products of the size of a layer, in make_node's keywords with their inputs.
    - `path_probes` are nodes and values that cases/path_probes.py arranges in arrays of many shapes; `axis` says how
      parameters can vary there.
    - `forbidden_calls` are calls that its document excludes; backends should reject them.
    - `situations` are those that only its own clauses name; cases/situations.py has the shared ones.
    - `semantics` is what `tiebreak audit` searches.
    - `monotone` says of a problem whether its first operand only goes through steps that are monotone in it, as every
      correctly rounded one is. Only at other operands' values may these steps change. So if two operands of one sign
      have equal answers and no such value is between them, all between have that answer. What the document leaves open
      must lie beyond some value, or below one, or between two of `only_answers`.
    - `only_answers` are the values of the first operand, integers, that alone have an answer.
    - `swept_factor` is the input of which a sweep takes one element, with `swept_axes` axes: 2 beside a column, 3
      beside an image.
    - `period` is the number of consecutive values of the first operand after which the right answers repeat; 0: none.
    """

    id: str
    plain_nodes: PlainNodes | Absent
    draw: DrawCase | Absent
    mistakes: tuple[tuple[Cause, Mistake], ...] | Absent
    path_probes: tuple[PathProbe, ...] | Absent
    axis: Axis | Absent
    forbidden_calls: tuple[ForbiddenCall, ...] | Absent
    situations: Mapping[str, Situation] | Absent
    semantics: AuditedSemantics | StagedSemantics | Absent
    pairs: tuple[tuple[Cause, Mistake], ...] = ()
    layers: Callable[[], Iterable[Layer]] = no_layers
    monotone: Monotone = nothing_known
    only_answers: Callable[[Elementwise], tuple[int, ...]] = no_numbers
    period: Callable[[Elementwise], int] = no_period
    swept_factor: str = ""
    swept_axes: int = 0
