"""Level brief: few of the golden vectors, chosen so that whatever one of them is there to find still occurs.

What is kept depends on the operator and the options alone, not on the backends or on the other operators.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.rounding import EVEN

BRIEF = "brief"
EIGHT_BITS = ("int8", "uint8")  # the output types that nearly every runtime has
MOST_WHOLE = 1000  # vectors of an operator that are all kept if types, attributes or the operator set were chosen


def brief_cases(cases: Sequence[Case], *, narrowed: bool = False) -> list[Case]:
    """The cases of a brief run, in their order; those of an earlier run all stay.

    `narrowed` says that the options ask for more than an operator: then few vectors match, and a person wants these.
    """
    own: dict[str, list[Case]] = {}
    for case in cases:
        if case.origin == "vector":
            own.setdefault(case.node.operator, []).append(case)
    kept = {case.id for vectors in own.values() for case in chosen_vectors(vectors, narrowed)}
    return [case for case in cases if case.origin != "vector" or case.id in kept]


def chosen_vectors(vectors: Sequence[Case], narrowed: bool) -> list[Case]:
    """The vectors of one operator that are kept: all if few were asked for, else those that cover each input type."""
    if narrowed and len(vectors) <= MOST_WHOLE:
        return list(vectors)
    by_types: dict[str, dict[str, list[Case]]] = {}
    for case in vectors:
        by_types.setdefault(case.node.input_type, {}).setdefault(case.node.output_type, []).append(case)
    return [case for kinds in by_types.values() for case in covering(list(kinds.values()))]


def covering(kinds: Sequence[Sequence[Case]]) -> list[Case]:
    """Few vectors that have every label of all of them: always the one with most new labels, then the largest.

    The vectors come by output type. Going from one to the next, a label that they share is covered by the first.
    """
    chosen, done = [], 0
    numbers: dict[object, int] = {}
    for vectors in kinds:
        largest: dict[int, Case] = {}
        for labels, case in zip(label_sets(vectors, numbers), vectors, strict=True):
            if labels not in largest or case.size > largest[labels].size:
                largest[labels] = case
        while largest := {labels: case for labels, case in largest.items() if labels & ~done}:
            best = max(largest, key=lambda labels: ((labels & ~done).bit_count(), largest[labels].size))
            chosen.append(largest[best])
            done |= best
    return chosen


def label_sets(vectors: Sequence[Case], numbers: dict[object, int]) -> Iterator[int]:
    """Each vector's labels as a set of bits: much quicker than sets of texts, since a plan takes a second at most.

    `numbers` are the labels that have a bit, and get those that are new.
    """
    known: dict[object, int] = {}  # nodes are shared objects, and `vectors` keeps them alive
    for case in vectors:
        key = id(case.node), case.flags, case.clauses, small_scale(case)
        if key not in known:
            labels = [numbers.setdefault(label, len(numbers)) for label in labels_of(case)]
            known[key] = sum(1 << number for number in set(labels))
        yield known[key]


def small_scale(case: Case) -> bytes:
    """The bits of a small scale, as each size finds another mistake; empty for other vectors and rarer output types."""
    wanted = "SmallScale" in case.flags and case.node.round_mode in (EVEN, "") and case.node.output_type in EIGHT_BITS
    return case.inputs[1].tobytes() if wanted else b""


def labels_of(case: Case) -> Iterator[object]:
    """What a vector stands for: its types, its flags, its clauses, and each choice that its node makes.

    Ties are wanted in each rounding mode and for each output type. As every runtime rounds to nearest even, flags are
    wanted there in all of their combinations: a quotient that overflows because its scale is subnormal finds what
    neither alone does. What tells two arithmetics apart is wanted for each output type.
    """
    node = case.node
    yield "output", node.output_type
    yield from (("flag", flag) for flag in case.flags)
    yield from (("clause", clause) for clause in case.clauses)
    yield from choices_of(node)
    if scale := small_scale(case):
        yield "small scale", scale, node.output_type
    if "Tie" in case.flags:
        yield from (("tie", node.round_mode), ("tie", node.output_type))
    if node.round_mode == EVEN:
        yield "flags", case.flags
    if "EveryExponent" in case.flags:
        yield "exponents", node.output_type
    if node.round_mode in (EVEN, "") and "Separating" in case.flags:
        yield "separating", node.output_type


def choices_of(node: Node) -> Iterator[object]:
    yield from (("attribute", name, str(value)) for name, value in node.attributes.items())
    yield "opset", node.opset
    yield "inputs", *((tensor.name, tensor.element) for tensor in node.inputs[1:])
