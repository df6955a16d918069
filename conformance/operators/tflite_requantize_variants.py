"""What can go wrong with tflite.Requantize, as changes of its term, by the rounding that a node names."""

from __future__ import annotations

from tiebreak.conformance.operators import wrong_integer_terms as integers
from tiebreak.conformance.operators import wrong_requantizers as rq
from tiebreak.conformance.operators.wrong_terms import Wrong, as_read, mistakes_of, of_place, often, pairs_of
from tiebreak.conformance.variants.by_id import by_id
from tiebreak.conformance.variants.mutant import Mutant, NodeCall, at_once
from tiebreak.golden.arithmetic.term import AWAY, is_finite
from tiebreak.golden.operators.tflite_requantize import ADD, DOUBLE, REAL, SINGLE
from tiebreak.golden.rounding import EVEN

WAYS: dict[str, rq.Whole] = {REAL: rq.real, SINGLE: rq.once, DOUBLE: rq.twice}
BY_ROUNDING = rq.reading(
    lambda p: WAYS[p.constants["rounding"]],
    lambda *scales: [is_finite(scale) & (scale > 0) for scale in scales],
)


def is_double(call: NodeCall) -> bool:
    return bool(call.node.value("rounding") == DOUBLE)


def real_result(name: str, mode: str) -> Wrong:
    """Another rounding of the real result; nodes with nearest are compared with every one anyway."""
    mutant = integers.only(lambda call: call.node.value("rounding") != REAL, rq.whole_number(rq.real, mode=mode))
    return Wrong(f"real-result-rounded:{name}", "nearest", mutant)


def added(bits: int) -> Mutant:
    """ADD has room for both its operands."""
    of_16 = bits == 16
    return integers.only(
        lambda call: call.node.value("through") == ADD and (call.node.input_type == "int16") == of_16,
        rq.whole_number(rq.twice, left=14 if of_16 else 19),
    )


SATURATING = integers.only(is_double, rq.whole_number(rq.twice_saturating))
MODES = {"to nearest, ties to even": EVEN, "to nearest, ties away from zero": AWAY, **rq.ROUNDINGS}
STEPS = (
    *rq.by_multipliers("nearest"),
    *of_place("whole", Wrong("shifts-left-and-rounds-twice", "nearest", at_once(added(8), added(16)))),
    *rq.in_floats("nearest"),
    *of_place("whole", *(real_result(name, mode) for name, mode in MODES.items())),
    *of_place(
        "out",
        often("wraps", "saturate", by_id("wraps")),
        often("clamps-before-zero-point", "saturate", by_id("clamps-before-zero-point")),
        *(
            Wrong(id_, "saturate", by_id(id_))
            for id_ in ("clamps-before-zero-point-and-wraps", "narrow-range", "beyond-to-zero", "highest-of-signed")
        ),
    ),
    *rq.inputs("same"),
    *rq.scales("same"),
    # What is shifted further to the left may leave int32, where it was in it before.
    Wrong("shift-off-by-one:more, saturating in int32", "same", at_once(SATURATING, rq.TWICE_THE_RATIO)),
)
MISTAKES, PAIRS = mistakes_of(as_read(BY_ROUNDING, STEPS)), pairs_of(as_read(BY_ROUNDING, STEPS))
