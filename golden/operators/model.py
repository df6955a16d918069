"""What describes an operator: its clauses, attributes, inputs and types, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from numbers import Integral
from typing import Any, Literal

from tiebreak.golden.elements import CARRIERS, FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array, Problem
from tiebreak.golden.samples.model import Sample
from tiebreak.golden.vector_inputs.by_theme import Theme

# What a clause is about. Formulas and kernels show each clause of the kinds in ARITHMETIC at the step that follows it.
# A "placement" clause says which element of a parameter belongs to which of the input, a "signature" clause which
# types, shapes, attributes and versions a node has: a formula, which has one element of each operand, shows neither.
Kind = Literal["formula", "rounding", "saturation", "placement", "signature", "unspecified"]
Family = Literal["quantize", "dequantize", "fake", "cast"]
ARITHMETIC: tuple[Kind, ...] = ("formula", "rounding", "saturation")


@dataclass(frozen=True)
class Clause:
    """One normative statement (or, if `unspecified`, one thing that the document leaves open).

    `id` is the operator's prefix, a letter and a number: NGQ-R5. Operator.letters gives the letter's kind.

    `when` (attribute values) and `situation` (a name that conformance/cases/situations.py knows for the operator) say
    which cases can show it, so that generated checks can be counted. Without them every case of the operator can.

    `derived` says that no sentence of the document says it: it follows from what `source` names.
    """

    id: str
    text: str
    source: str
    _: KW_ONLY
    unspecified: bool = False
    when: Mapping[str, Any] = field(default_factory=dict, compare=False)
    situation: str = ""
    derived: bool = False


@dataclass(frozen=True)
class Answer:
    """One authority's answer to a contested question, and what follows for the contest's witness.

    `gives` are the first output's values in row-major order, or a text (an error, for instance). `judged` marks the
    answer that Tiebreak's truths follow.
    """

    authority: str
    says: str
    gives: tuple[float, ...] | str
    judged: bool = False


@dataclass(frozen=True)
class Contest:
    """A question to which documents, or a document and a runtime's own tests, give different answers.

    `node` are make_node's keywords and `inputs` the values of one input that tells the answers apart (a number for a
    scalar, else nested lists). `clauses` are the ids it touches.
    """

    id: str
    question: str
    clauses: tuple[str, ...]
    node: Mapping[str, Any]
    inputs: tuple[Any, ...]
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Attribute:
    """An attribute by the document's own name; `parse` turns a JSON-like value into the node's form of it.

    `parse` raises ValueError saying what is allowed. `default` is None where the attribute is required, else the
    value that an absent attribute means.
    """

    name: str
    text: str
    parse: Callable[[Any], Any]
    default: Any = None
    required: bool = False

    def meaning(self, value: Any) -> Any:
        """The node's form of a value; what the document does not allow stays as it is."""
        try:
            return self.parse(value)
        except (ValueError, TypeError):
            return value

    def is_default(self, value: Any) -> bool:
        """Whether a value in the node's form is the default of an optional attribute."""
        return not self.required and type(value) is type(self.default) and bool(value == self.default)


@dataclass(frozen=True)
class Types:
    """The element types asked of a node: `real` and `quantized` ones, `scale` where it may differ from the real one.

    `operands` are those of further operands that each have a type of their own; see Operator.operand_types.
    """

    real: str
    quantized: str
    scale: str = ""
    optional: bool = True  # whether the optional input is there
    opset: int = 0
    operands: tuple[str, ...] = ()
    form: int = 0  # the number of the names of its inputs


@dataclass(frozen=True)
class Operator:
    """One specified operator. Its `problems` is defined in the operator's own file, whose name its other files share.

    `id` is SOURCE.Op and `prefix` the three letters before each clause's id. `formula`, `sources` and `steps`, the
    steps of working precision, are texts for pages and vectors.
    `family` is "quantize" (real to quantized), "dequantize" (quantized to real), "fake" (real to real) or "cast" (any
    to any: the input's type stands for the real one, the output's for the quantized one). Integers scaled to fewer
    bits are "quantize", with the scale's type as the real one.
    `forms` are the names of its inputs, one tuple for each document that names them differently; `outputs` are the
    names of its outputs. If optional inputs are not the last ones, each choice of them is a form.
    `signature` gives the element types of a node's inputs and outputs, from the types asked for and its attributes. It
    raises InvalidInput if the document allows no such node.
    `problems` turns a node with inputs into one problem for each output. It raises InvalidInput for shapes that do not
    fit. Its annotation, tuple[Elementwise, ...] for most, tells the tests where its truths are.
    `operand_types` are the types that each operand may have whose type is neither the real nor the quantized one.
    `shape_of` gives the shape of the first output: mostly that of the first input. InvalidInput for inputs that do not
    fit.
    `saturates` says whether the document defines results beyond the output type's range.
    `measures` says of a node's attributes whether a result depends on other elements of the first input, as by their
    range. Such a node can't be swept.
    `chain`, of an operator with outputs that follow from others, gives their problems for a node, its inputs and the
    outputs that a backend gave: by place among the outputs. It raises InvalidInput where they pose none.
    `chain_binds` says of a case's inputs whether sources agree how; else what does not follow accuses nobody.
    `modes_of` gives the rounding modes that the document allows for a node's attributes: one if it says which, several
    if it leaves that open, none if nothing is rounded to an integer.
    `bounded` says of a node's attributes whether every integer between two ends conforms. These are what working
    precision gives in the modes ROUND_DOWN and ROUND_UP.
    `open_where` names situations of a problem that the document leaves open though no operand is NaN or infinite, each
    with a mask of the elements.
    `letters` are the letters in the ids of the clauses of each kind, such as R in NGQ-R5; U is always unspecified.
    `mode_clause` gives the id of the clause that asks for a rounding mode. `modes` are those that a node can choose.
    `roles` names the clause for each thing that a vector's theme or a cause may be about. `role_in` says which of them
    a cause's role is in one node, where the node's type or attributes choose the clause.
    `not_offered` says of what the document allows and no node has here what it is, and why.
    `themes` are the golden vectors of the quantize family alone, for the pairs of `themed`: all pairs of types, if
    neither that nor `samples` is given. `samples` are those of every other node, for one pair of types of `files`. The
    second type of such a pair may have a suffix, "int8-further", where the plain pair is a themed one.
    """

    id: str
    prefix: str
    formula: str
    sources: tuple[str, ...]
    clauses: tuple[Clause, ...]
    attributes: tuple[Attribute, ...]
    forms: tuple[tuple[str, ...], ...]
    outputs: tuple[str, ...]
    family: Family
    real_types: tuple[str, ...]
    quantized_types: tuple[str, ...]
    signature: Callable[[Types, Mapping[str, Any]], tuple[tuple[str, ...], tuple[str, ...]]]
    problems: Callable[[Node, tuple[Array, ...]], tuple[Problem, ...]]
    modes_of: Callable[[Mapping[str, Any]], tuple[str, ...]]
    roles: Mapping[str, str]
    letters: Mapping[Kind, str]
    steps: tuple[str, ...]
    mode_clause: Callable[[str], str] = lambda mode: ""
    role_in: Callable[[Node, str], str] = lambda node, role: role
    bounded: Callable[[Mapping[str, Any]], bool] = lambda attributes: False
    shape_of: Callable[[Node, tuple[Array, ...]], tuple[int, ...]] = lambda node, inputs: inputs[0].shape
    saturates: bool = False
    measures: Callable[[Mapping[str, Any]], bool] = lambda attributes: False
    optional_inputs: int = 0
    operand_types: tuple[tuple[str, ...], ...] = ()
    opsets: tuple[int, ...] = ()
    first_opset: Callable[[Types, Mapping[str, Any]], int] = lambda types, attributes: 0
    modes: tuple[str, ...] = ()
    themes: tuple[Theme, ...] = ()
    themed: tuple[tuple[str, str], ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    samples: Callable[[str, str], Iterator[Sample]] | None = None
    contested: tuple[Contest, ...] = ()
    not_offered: tuple[str, ...] = ()
    chain: Callable[[Node, tuple[Array, ...], tuple[Array, ...]], Mapping[int, Problem]] | None = None
    chain_binds: Callable[[tuple[Array, ...]], bool] = lambda inputs: True
    open_where: Callable[[Problem], Mapping[str, Array]] = lambda problem: {}

    @property
    def output(self) -> str:
        return self.outputs[0]

    @property
    def sides(self) -> tuple[str, str]:
        """What its two sets of element types are called."""
        return ("input", "output") if self.family == "cast" else ("real", "quantized")

    def version_at(self, opset: int) -> int:
        """The newest version up to an operator set, which is the one in force there; 0 if there is none."""
        return max((version for version in self.opsets if version <= opset), default=0)

    def clause(self, id: str) -> Clause:
        return next(clause for clause in self.clauses if clause.id == id)

    def kind(self, clause: Clause) -> Kind:
        """What a clause is about, by the letter in its id."""
        letter = clause.id.removeprefix(f"{self.prefix}-")[0]
        for kind, letters in self.letters.items():
            if letter in letters:
                return kind
        return "unspecified"

    def attribute(self, name: str) -> Attribute:
        """The attribute of this name; InvalidInput lists the ones there are."""
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        known = ", ".join(attribute.name for attribute in self.attributes)
        raise InvalidInput(f"{self.id} has no attribute {name!r}; it has: {known}")

    def default(self, attribute: str) -> Any:
        """The value that an absent attribute means; None if it is required. InvalidInput for an unknown name."""
        return self.attribute(attribute).default

    def allowed_modes(self, attributes: Mapping[str, Any]) -> tuple[str, ...]:
        """The rounding modes that the document allows with these attributes; see `modes_of`."""
        return self.modes_of(attributes)

    def parse_attributes(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Validated attributes in the node's form. Required ones must be present; optional ones may be absent."""
        parsed = self.parse_attributes_given(given)
        for attribute in self.attributes:
            if attribute.required and attribute.name not in parsed:
                raise InvalidInput(f"{self.id} needs the attribute {attribute.name!r}: {attribute.text}")
        return parsed

    def has_attribute(self, name: str) -> bool:
        return any(attribute.name == name for attribute in self.attributes)

    def parse_attributes_given(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Like parse_attributes, but required attributes may be absent: for filters over many nodes."""
        return {name: self._parse(self.attribute(name), value) for name, value in given.items()}

    def normalised(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Attributes in the node's form, without those that only repeat their default.

        Unknown attributes and forbidden values stay: a forbidden call is a node too.
        """
        known = {attribute.name: attribute for attribute in self.attributes}
        meant = {name: known[name].meaning(value) if name in known else value for name, value in given.items()}
        return {name: v for name, v in meant.items() if name not in known or not known[name].is_default(v)}

    def _parse(self, attribute: Attribute, value: Any) -> Any:
        try:
            return attribute.parse(value)
        except (ValueError, TypeError) as error:
            raise InvalidInput(f"{self.id}, attribute {attribute.name!r}: {error}") from None


def parse_choice(allowed: tuple[str, ...]) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        if value not in allowed:
            raise ValueError(f"{value!r} is not one of {', '.join(allowed)}")
        return str(value)

    return parse


def parse_integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ValueError(f"{value!r} is not an integer")
    return int(value)


def parse_axis_set(value: Any) -> tuple[int, ...]:
    """A set of axis positions as an ascending tuple."""
    given = [value] if isinstance(value, Integral) else value
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError(f"{value!r} is not a list of axis positions (0, 1, …)")
    axes = list(given)
    if any(isinstance(axis, bool) or not isinstance(axis, Integral) or int(axis) < 0 for axis in axes):
        raise ValueError(f"{value!r} is not a list of axis positions (0, 1, …)")
    axes = [int(axis) for axis in axes]
    if len(set(axes)) != len(axes):
        raise ValueError(f"{value!r} names an axis twice")
    return tuple(sorted(axes))


def parse_boolean(value: Any) -> bool:
    if value not in (True, False, 0, 1) or isinstance(value, float):
        raise ValueError(f"{value!r} is not true or false")
    return bool(value)


def quantize_signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Input and scale of the real type, zero point and output of the quantized one."""
    inputs = (types.real, types.real, types.quantized)
    return inputs if types.optional else inputs[:2], (types.quantized,)


def dequantize_signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Input and zero point of the quantized type, scale and output of the real one."""
    inputs = (types.quantized, types.real, types.quantized)
    return inputs if types.optional else inputs[:2], (types.real,)


ALL_REAL_TYPES = tuple(FLOAT_TYPES)
ALL_QUANTIZED_TYPES = tuple(name for name in INTEGER_TYPES if name not in ("int2", "uint2", *CARRIERS))
