"""ONNX Runtime's decisions. Those of its selectors and kernels on element types alone are made by `--type`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np

from tiebreak.conformance.patterns.decisions.kinds import (
    BYTES,
    Where,
    around,
    both,
    equal_pairs,
    equal_to_output,
    lowest,
    output_of,
    requantized,
    zero_points,
)
from tiebreak.conformance.patterns.decisions.model import Pairs, RewriteBorder, RewriteDecision, RewriteSource
from tiebreak.conformance.patterns.decisions.places import DecisionPlace
from tiebreak.golden.patterns.graph import DEQUANTIZE, QUANTIZE, Pattern
from tiebreak.golden.patterns.text import TYPES

OPTIMIZER = "onnxruntime/core/optimizer"
RELU = RewriteSource("onnxruntime", f"{OPTIMIZER}/qdq_transformer/relu_quantizelinear.cc", "ReluQuantRewrite")
CLIP = RewriteSource("onnxruntime", f"{OPTIMIZER}/qdq_transformer/clip_quantizelinear.cc", "ClipQuantFusion")
REDUNDANT = RewriteSource("onnxruntime", f"{OPTIMIZER}/qdq_transformer/qdq_util.cc", "IsClipMadeRedundantByQ")
DROPPED = RewriteSource("onnxruntime", f"{OPTIMIZER}/qdq_transformer/qdq_util.cc", "IsQDQPairSupported")
DOUBLE = RewriteSource("onnxruntime", f"{OPTIMIZER}/double_qdq_pairs_remover.cc", "FindNewZeroPointAndScale")
CONCAT = RewriteSource("onnxruntime", "onnxruntime/contrib_ops/cpu/quantization/qlinear_concat.cc", "QLinearConcat")
EPSILON = np.finfo(np.float32).eps


def before_q(operation: str, *, alone: bool) -> Where:
    """Places whose last operation is this, before a Q; `alone` says whether it is the only one."""

    def where(pattern: Pattern, place: DecisionPlace) -> bool:
        return bool(place.output) and place.names[-1:] == (operation,) and (len(place.names) == 1) is alone

    return where


def after_q(pattern: Pattern, place: DecisionPlace) -> bool:
    """Whether Q, DQ, Q and DQ follow each other, of which the place is the middle."""
    quantized = {step.output for step in pattern.steps if step.operation == QUANTIZE}
    read = {step.pair for step in pattern.steps if step.operation == DEQUANTIZE and step.inputs[0] in quantized}
    return not place.operations and {place.inputs[0], place.output} <= read


def limits(place: DecisionPlace) -> tuple[np.float32, np.float32]:
    attributes = place.operations[-1].attributes
    return np.float32(attributes["min"]), np.float32(attributes["max"])


def is_within_limits(place: DecisionPlace, pairs: Pairs) -> bool:
    """No limit of Clip lies inside the numbers that the codes mean, in float32."""
    pair, (low, high) = pairs[place.output], limits(place)
    first, last = (pair.scale * np.float32(end - pair.zero_point) for end in pair.ends)
    return bool(low - first <= EPSILON and last - high <= EPSILON)


def are_limits_ends(place: DecisionPlace, pairs: Pairs) -> bool:
    """The limits of Clip, quantized in float32, are the lowest and the highest code, or beyond."""
    pair = pairs[place.output]
    low, high = (int(np.rint(limit / pair.scale)) + pair.zero_point for limit in limits(place))
    return low <= pair.ends[0] and high >= pair.ends[1]


def scale_of_limits(place: DecisionPlace, pairs: Pairs, codes: float) -> RewriteBorder:
    """The upper limit lies so many codes above the lowest one, which means the lower limit of 0."""
    pair = pairs[place.output]
    scale = np.float32(float(limits(place)[1]) / codes)
    return RewriteBorder({**pairs, place.output: replace(pair, scale=scale, zero_point=pair.ends[0])}, place.output)


def all_codes(place: DecisionPlace, pairs: Pairs) -> RewriteBorder:
    first, last = pairs[place.output].ends
    return scale_of_limits(place, pairs, last - first)


def all_but_half(place: DecisionPlace, pairs: Pairs) -> RewriteBorder:
    first, last = pairs[place.output].ends
    return scale_of_limits(place, pairs, last - first - 0.5)


def more_than_all(place: DecisionPlace, pairs: Pairs) -> RewriteBorder:
    """The upper limit lies beyond the highest code; one more zero point puts the lower one above the lowest."""
    first, last = pairs[place.output].ends
    return scale_of_limits(place, pairs, last - first + 1)


# Whether Clip is the only operation: the rule, its condition, and its border.
CLIP_RULES = {
    True: (CLIP, "drop Clip if its limits enclose all that the codes mean", is_within_limits, all_codes),
    False: (REDUNDANT, "fuse over Clip if its limits, quantized, are the ends", are_limits_ends, all_but_half),
}


def clips(*, alone: bool) -> Iterator[RewriteDecision]:
    """The upper limit is crossed by a step of the scale, the lower one by a step of the zero point."""
    source, says, holds, border = CLIP_RULES[alone]
    where = both(before_q("Clip", alone=alone), quantized_to(BYTES if alone else TYPES))
    yield RewriteDecision(source, says, where, holds, border, "scale")
    yield RewriteDecision(source, says, where, holds, more_than_all, "zero_point")


def quantized_to(types: Collection[str]) -> Where:
    return lambda pattern, place: pattern.pairs[place.output] in types


def do_ranges_overlap(place: DecisionPlace, pairs: Pairs) -> bool:
    """Both pairs' codes mean more than one number in common."""
    read, written = (pairs[name] for name in (place.inputs[0], place.output))
    both_ends = [[pair.scale * np.float32(end - pair.zero_point) for end in pair.ends] for pair in (read, written)]
    starts, stops = zip(*both_ends, strict=True)
    return bool(max(starts) < min(stops))


def touching_ranges(place: DecisionPlace, pairs: Pairs) -> RewriteBorder:
    """One pair's codes mean nothing above 0, the other's nothing below."""
    read, written = pairs[place.inputs[0]], pairs[place.output]
    ends = {
        place.inputs[0]: replace(read, zero_point=read.ends[1]),
        place.output: replace(written, zero_point=written.ends[0]),
    }
    return RewriteBorder({**pairs, **ends}, place.output)


DECISIONS: tuple[RewriteDecision, ...] = (
    zero_points(
        RELU,
        "drop Relu if the zero point is the lowest code",
        before_q("Relu", alone=True),
        output_of,
        lowest,
    ),
    zero_points(
        REDUNDANT,
        "fuse over Relu if the zero point is the lowest code",
        before_q("Relu", alone=False),
        output_of,
        lowest,
    ),
    *clips(alone=True),
    *clips(alone=False),
    *equal_pairs(DROPPED, around("MaxPool", "Resize")),
    *equal_pairs(DOUBLE, after_q),
    RewriteDecision(
        DOUBLE,
        "the ranges of both pairs overlap",
        both(after_q, requantized),
        do_ranges_overlap,
        touching_ranges,
        "zero_point",
    ),
    *equal_to_output(CONCAT, around("Concat")),
)
