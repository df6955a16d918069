"""What testing knows of one operator: the record that each operator's file here defines once, as TESTED."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from hypothesis import strategies as st

from tiebreak.conformance.operators.forbidden_call import ForbiddenCall
from tiebreak.conformance.operators.path_probe import PathProbe
from tiebreak.conformance.operators.shown_case import Situation
from tiebreak.conformance.semantics.model import Arithmetic, Probe
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.problem import Array
from tiebreak.golden.samples.model import Tensor


@dataclass(frozen=True)
class Absent:
    """Stands in a record for what an operator does not have, and says why. It is false."""

    reason: str

    def __bool__(self) -> Literal[False]:
        return False


@dataclass(frozen=True)
class Cause:
    """A named mistake; `role` is the part of the formula that it breaks (a key of Operator.roles, or "mode")."""

    text: str
    role: str
    rank: int = 0  # among causes that explain as much, the lower one is named
    mode: str = ""  # the rounding mode that it says is used instead, if it is only that, or where its width says
    width: int = 0  # it depends on positions modulo this: named only for want of better

    @property
    def by_position(self) -> bool:
        return self.width > 0


@dataclass(frozen=True)
class PlainNodes:
    """How plain nodes are drawn, which compute round(x / scale) + zero_point and nothing else.

    `attributes` draws a node's attributes for inputs of a rank, with the rounding mode given or drawn. `varying_axes`
    gives the axes on which a scale is to vary, by drawn attributes and an input's shape. cases/generators.py draws the
    inputs.
    """

    attributes: Callable[[st.DrawFn, int, str | None], dict[str, Any]]
    varying_axes: Callable[[st.DrawFn, Mapping[str, Any], tuple[int, ...]], tuple[int, ...]]
    real_types: tuple[str, ...] = ()  # empty: all of the operator's
    quantized_types: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wanted:
    """What is asked of a generated case; empty text and None mean anything. `specials`: NaN and infinities too."""

    real: str = ""
    quantized: str = ""
    round_mode: str = ""
    rank: int | None = None
    specials: bool = True


Draw = Callable[[st.DrawFn, Wanted], tuple[dict[str, Any], tuple[Tensor, ...]]]
Mistake = Callable[..., tuple[Array, ...]]  # (node, *inputs) to the outputs of a backend that makes it


@dataclass(frozen=True)
class Axis:
    """How parameters with a value for each slice lie over the input.

    `attribute` names the attribute that holds the axis, `block_attribute` the one that holds a block's size.
    `broadcast`: there is no such attribute; parameters broadcast against the input as NumPy's arrays do.
    `always_last`: there is no choice; parameters have a value for each position of the last axis.
    """

    attribute: str = ""
    block_attribute: str = ""
    broadcast: bool = False
    always_last: bool = False


@dataclass(frozen=True)
class AuditedSemantics:
    """How an audit searches for an operator's semantics.

    `arithmetic` gives the table of facets for a node. `elementwise` lays the operands of a recorded case out as that
    table takes them, an element after the other; None if the table does not describe the case. `defaults` are the
    attributes of the audited node that nobody gave. `witnesses_of` is the operator whose stored witnesses tell the
    same arithmetic apart (empty: its own).
    """

    arithmetic: Callable[[Node], Arithmetic]
    elementwise: Callable[[Case], Probe | None]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    witnesses_of: str = ""


@dataclass(frozen=True, kw_only=True)
class OperatorUnderTest:
    """All that testing knows of one operator. What its document says is in golden/operators, under the same file name.

    Every field is filled, or Absent with a reason.

    - `plain_nodes` and `draw` make its generated cases: those of plain nodes, and all others. `draw` gives make_node's
      keywords and the input tensors.
    - `mistakes` are usual ones as small NumPy backends, the likelier first, for naming causes.
    - `path_probes` are nodes and values that cases/path_probes.py lays out in arrays of many shapes; `axis` says how
      parameters can vary there.
    - `forbidden_calls` are what its document excludes, tried on backends.
    - `situations` are those that only its own clauses name; cases/situations.py has those of several operators.
    - `semantics` is for `tiebreak audit`.
    """

    id: str
    plain_nodes: PlainNodes | Absent
    draw: Draw | Absent
    mistakes: tuple[tuple[Cause, Mistake], ...] | Absent
    path_probes: tuple[PathProbe, ...] | Absent
    axis: Axis | Absent
    forbidden_calls: tuple[ForbiddenCall, ...] | Absent
    situations: Mapping[str, Situation] | Absent
    semantics: AuditedSemantics | Absent
