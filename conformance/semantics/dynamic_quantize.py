"""DynamicQuantizeLinear as black boxes compute it: the scale, the zero point given it, and y given both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tiebreak.conformance.semantics.block_element_specials import ask_of_elements
from tiebreak.conformance.semantics.dynamic_result import ResultOfRange, width_of
from tiebreak.conformance.semantics.dynamic_scale import ScaleArithmetic
from tiebreak.conformance.semantics.dynamic_zero_point import PointArithmetic
from tiebreak.conformance.semantics.model import Probe, codes
from tiebreak.conformance.semantics.quantize import QuantizeArithmetic
from tiebreak.conformance.semantics.quantize_probes import trap_inputs
from tiebreak.conformance.semantics.stages import (
    AtSettings,
    Inputs,
    MeasuredSetting,
    Outputs,
    Run,
    Stage,
    ask_at,
    calls_at,
    stand_in,
)
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

SINGLE, BYTE = np.float32, np.uint8
SCALE, POINT = "y_scale", "y_zero_point"
RANGES = (  # at some of them both ends round outward, so that a result is out of range
    *((-1.5, 253.5), (0.0, 255.0), (-128.0, 127.0), (-1.0, 1.0), (-3.3, 7.7), (0.0, 1.0), (-12.8, 12.7)),
    *((-0.1, 0.5), (0.0, 100.0), (-100.0, 0.0), (-77.7, 3.1), (-1e-3, 2e-3), (0.0, 33.0), (-2.5, 252.5)),
    *((-1e5, 3e5), (-0.7, 0.1), (0.0, 765.0), (-896.0, 889.0), (-49.0, 49.0), (-253.5, 1.5), (-0.3, 50.7)),
)
SCALES = (1.0, 0.1, 0.3, 1 / 3, 0.7, 0.007, 49.0)  # of ranges whose zero point is a tie, or nearly
STEPS = (254, 255, 256)
BELOW_HALF = float(np.nextafter(SINGLE(0.5), SINGLE(0)))  # a zero point that half more lifts to 1 in float32
MEASURED = 600  # ranges at random, of which the zero point is asked
ASKED = ("precision", "scaling", "zero_point", "round_mode", "saturation")  # of y


def dynamic_stages(node: Node, run: Run) -> Iterator[Stage]:
    """The stages of a node; later ones have operands that the backend gave before."""
    yield scale_stage(node, run)
    yield point_stage(node, run)
    settings = measured_settings(run)
    if settings:
        yield result_stage(node, run, settings)


def scale_stage(node: Node, run: Run) -> Stage:
    def ask(probes: Sequence[Probe]) -> list[Array | None]:
        calls = [calls_of_ends(probe) for probe in probes]
        answers = iter(run([call for own in calls for call in own]))
        return [all_codes([next(answers) for _ in own], 1) for own in calls]

    table = stand_in(node, (("one end of x", SINGLE), ("the other end", SINGLE)), (SCALE, SINGLE))
    return Stage(SCALE, ScaleArithmetic(table), ask, calls_of_ends, whole=True)


def calls_of_ends(probe: Probe) -> list[Inputs]:
    """One call for each element, whose range ends there and at the second operand's element."""
    ends = np.broadcast_to(probe.others[0], probe.x.shape)
    return [(np.array(pair, SINGLE),) for pair in zip(ends, probe.x, strict=True)]


def all_codes(answers: Sequence[Outputs | None], place: int) -> Array | None:
    """The codes of a scalar output of several calls; None if one has no result."""
    found = [codes(one[place].reshape(1)) for one in answers if one is not None]
    return np.concatenate(found) if found and len(found) == len(answers) else None


def point_stage(node: Node, run: Run) -> Stage:
    """Whatever ranges are measured, the zero points are known: nothing is asked again."""
    ranges = ranges_to_measure()
    answers = list(run([(one,) for one in ranges]))
    kept = [(one, out) for one, out in zip(ranges, answers, strict=True) if out is not None and usable(out[1])]
    low, high = (np.array([one[end] for one, _ in kept], SINGLE) for end in (0, 1))
    scale = np.array([out[1] for _, out in kept], SINGLE)
    points = np.array([int(out[2]) for _, out in kept], np.int64)
    probe = Probe(low, (high, scale))
    operands = (("min of x", SINGLE), ("max of x", SINGLE), (SCALE, SINGLE))
    table = PointArithmetic(stand_in(node, operands, (POINT, BYTE)), [probe])
    known = {probe.x.tobytes(): points}
    return Stage(POINT, table, lambda probes: [known.get(one.x.tobytes()) for one in probes], calls_of_ends, (SCALE,))


def usable(scale: Array) -> bool:
    return bool(np.isfinite(scale) and scale > 0)


def ranges_to_measure() -> list[Array]:
    """Ranges whose zero point is a tie or lies near one, and others; all include 0."""
    random, found = np.random.default_rng(11), [*RANGES]
    found += [
        (-(k + 0.5) * one, (steps - 0.5 - k) * one) for one in SCALES for steps in STEPS for k in range(0, 255, 5)
    ]
    found += [(-BELOW_HALF * one, 254.5 * one) for one in (1.0, 4.0, 0.125)]
    found += [(-float(a), float(b)) for a, b in np.exp(random.normal(size=(MEASURED, 2)) * 2).astype(SINGLE)]
    found += [(float(a), float(b)) for a, b in ((1.0, 3.0), (0.5, 0.75), (-9.0, -2.0), (-0.3, -0.1))]
    return [np.array(one, SINGLE) for one in found]


def measured_settings(run: Run) -> list[MeasuredSetting]:
    """The scales and zero points that a backend gives ranges, and the widths of these."""
    ranges, found = [np.array(one, SINGLE) for one in RANGES], dict[bytes, MeasuredSetting]()
    for ends, outputs in zip(ranges, run([(one,) for one in ranges]), strict=True):
        if outputs is not None and usable(outputs[1]):
            setting = MeasuredSetting(
                (outputs[1].reshape(()), outputs[2].reshape(()), width_of(ends)), ends, float(ends[0]), float(ends[1])
            )
            found.setdefault(setting.key, setting)
    return list(found.values())


def result_stage(node: Node, run: Run, settings: Sequence[MeasuredSetting]) -> Stage:
    operands = (("x", SINGLE), (SCALE, SINGLE), (POINT, BYTE), ("width of x", SINGLE))
    inner = QuantizeArithmetic(stand_in(node, operands, ("y", BYTE)))

    def numbers(setting: MeasuredSetting, random: np.random.Generator, most: int) -> Array:
        return trap_inputs(inner.node, float(setting.others[0]), int(setting.others[1]), random, most)

    def call(setting: MeasuredSetting, x: Array) -> Inputs:
        return (np.concatenate([setting.anchors, x]),)

    def own(setting: MeasuredSetting, outputs: Outputs) -> tuple[Array, ...]:
        return outputs[1].reshape(()), outputs[2].reshape(()), setting.others[2]

    def results(outputs: Outputs, size: int) -> Array:
        return outputs[0].reshape(-1)[-size:]

    table = ResultOfRange(AtSettings(inner, settings, ASKED, numbers))
    finite, calls = ask_at(settings, run, call, own, results), calls_at(settings, call)
    ask = ask_of_elements(
        finite, run, lambda first, x: (np.concatenate([first, x]),), lambda outputs: results(outputs, 1)
    )
    return Stage("y", table, ask, calls, (SCALE, POINT), elementwise=True)
