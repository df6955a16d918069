"""Decisions of rewrites: both sides of each are in the settings of every level, next to each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from make_decisions_page import page

from tiebreak.conformance.patterns.decisions import derived
from tiebreak.conformance.patterns.decisions.derived import DECISIONS, decided_settings, decisions_of
from tiebreak.conformance.patterns.decisions.model import Pairs, RewriteDecision, two_sides
from tiebreak.conformance.patterns.decisions.places import DecisionPlace, places_of
from tiebreak.conformance.patterns.job import SETTINGS
from tiebreak.conformance.patterns.parameters import base_of, settings
from tiebreak.conformance.patterns.pattern_setting import PatternSetting
from tiebreak.golden.patterns.catalogue import CATALOGUE
from tiebreak.golden.patterns.graph import Pattern, ScalePair
from tiebreak.golden.patterns.text import TYPES, pattern_of

DEFAULT = SETTINGS["quick"]


def without_both_sides(pattern: Pattern, chosen: Sequence[PatternSetting]) -> list[str]:
    """The decisions of which no two settings lie on different sides, one pair apart by no more than is allowed."""
    return [str(decision) for decision, place in decisions_of(pattern) if not has_both(decision, place, chosen)]


def has_both(decision: RewriteDecision, place: DecisionPlace, chosen: Sequence[PatternSetting]) -> bool:
    sides: dict[bool, list[Pairs]] = {True: [], False: []}
    for setting in chosen:
        sides[decision.holds(place, setting.pairs)].append(setting.pairs)
    most, name = 2 * decision.doubt + 1, decision.border(place, chosen[0].pairs).name
    return any(
        0 < steps_between(one, other, name, decision.knob) <= most for one in sides[True] for other in sides[False]
    )


def steps_between(one: Pairs, other: Pairs, name: str, knob: str) -> float:
    """Steps of the pair's knob; infinite if anything else differs."""
    different = [name for name in one if one[name] != other[name]]
    if different != [name]:
        return np.inf
    first, second = one[name], other[name]
    if knob == "scale" and first.zero_point == second.zero_point:
        return abs(int(first.scale.view(np.int32)) - int(second.scale.view(np.int32)))
    same = first.scale == second.scale
    return abs(first.zero_point - second.zero_point) if knob == "zero_point" and same else np.inf


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", CATALOGUE)
def test_the_default_level_has_both_sides_of_each_decision(name: str, kind: str) -> None:
    pattern = pattern_of(name, kind)
    assert without_both_sides(pattern, settings(pattern, DEFAULT)) == []


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_missing_side_is_seen(name: str) -> None:
    """Each setting that a decision alone has brought is needed."""
    pattern = pattern_of(name)
    chosen = settings(pattern, DEFAULT)
    for left_out in decided_settings(pattern, base_of(pattern)):
        rest = [one for one in chosen if str(one) != str(left_out)]
        assert without_both_sides(pattern, rest) != []


def test_every_decision_looks_at_a_pattern() -> None:
    found = [str(one) for name in CATALOGUE for kind in TYPES for one, _ in decisions_of(pattern_of(name, kind))]
    assert {str(decision) for decision in DECISIONS} == set(found)
    quick = {str(decision) for name in CATALOGUE for decision, _ in decisions_of(pattern_of(name))}
    assert {one.source.runtime for one in DECISIONS if str(one) in quick} == {
        "onnxruntime",
        "openvino",
        "litert",
        "xnnpack",
        "torch",
    }


def test_levels_differ_in_sets_alone() -> None:
    pattern = pattern_of("add")
    beside = {str(setting) for setting in decided_settings(pattern, base_of(pattern))}
    for most in SETTINGS.values():
        assert beside <= {str(setting) for setting in settings(pattern, most)}
    assert len(settings(pattern, SETTINGS["full"])) - len(settings(pattern, SETTINGS["quick"])) == 24 - 6


def beside(words: str, rule: str, kind: str = "uint8", says: str = "", knob: str = "") -> list[tuple[bool, Pairs]]:
    """The settings on both sides of the first decision of this rule, and whether it holds."""
    pattern = pattern_of(words, kind)
    for decision, place in decisions_of(pattern):
        if rule in decision.source.rule and says in decision.says and knob in decision.knob:
            return sorted(two_sides(decision, place, base_of(pattern)).items(), key=lambda side: not side[0])
    raise AssertionError(rule)


@pytest.mark.parametrize(
    ("kind", "zero_points"), [("uint8", [0, 1]), ("int8", [-128, -127]), ("int16", [-32768, -32767])]
)
def test_relu_is_dropped_at_the_lowest_code(kind: str, zero_points: list[int]) -> None:
    assert [pairs["s1"].zero_point for _, pairs in beside("relu-q", "ReluQuant", kind)] == zero_points
    assert [pairs["s3"].zero_point for _, pairs in beside("conv-relu", "IsClipMade", kind)] == zero_points


def test_limits_of_clip_lie_at_the_ends_of_the_type() -> None:
    inside, cut = (pairs["s1"] for _, pairs in beside("clip-q", "ClipQuantFusion"))
    assert float(inside.scale * np.float32(255)) <= 6 + 2**-23 < float(cut.scale * np.float32(255))
    fused, kept = (pairs["s3"] for _, pairs in beside("conv-clip", "IsClipMade"))
    assert np.rint(np.float32(6) / fused.scale) == 255
    assert np.rint(np.float32(6) / kept.scale) == 254


@pytest.mark.parametrize(("words", "rule", "pair"), [("clip-q", "ClipQuant", "s1"), ("conv-clip", "IsClipMade", "s3")])
def test_the_lower_limit_of_clip_is_the_lowest_code_or_above(words: str, rule: str, pair: str) -> None:
    inside, cut = (pairs[pair] for _, pairs in beside(words, rule, knob="zero_point"))
    assert (inside.zero_point, cut.zero_point, inside.scale) == (0, 1, np.float32(6 / 256))


def test_neighbouring_pairs_are_not_equal() -> None:
    (_, same), (_, other) = beside("max-pool", "IsQDQPairSupported")
    assert same["s1"] == same["s2"] == other["s1"]
    assert other["s2"].scale == np.nextafter(same["s2"].scale, np.float32(1))


def test_ranges_that_meet_in_zero_do_not_overlap() -> None:
    overlap, touch = (pairs for _, pairs in beside("q-dq-two-scales", "FindNew", says="overlap"))
    assert [pair.zero_point for pair in overlap.values()] == [255, 1]
    assert [pair.zero_point for pair in touch.values()] == [255, 0]


def test_ends_less_than_a_code_away_drop_q() -> None:
    """256 levels allow 255/256 of a code, so that the scales' ratio lies between 255/256 and 257/256."""
    for way, limit, side in (("above", Fraction(257, 256), 1), ("below", Fraction(255, 256), -1)):
        dropped, kept = (pairs for _, pairs in beside("max-pool", "EliminateFakeQuantize", says=way))
        ratios = [Fraction(float(pairs["s2"].scale)) / Fraction(float(pairs["s1"].scale)) for pairs in (dropped, kept)]
        assert side * ratios[0] <= side * limit < side * ratios[1]
        assert [pair.zero_point for pair in (*dropped.values(), *kept.values())] == [0, 0, 0, 0]


def test_a_limit_is_kept_or_cut_down() -> None:
    """6 / 0.1 is 60 in decimals. The float32 nearest to 0.1 is above it, so that its quotient is cut down to 59."""
    kept, cut = (pairs for _, pairs in beside("clip", "ClampTransformation"))
    scales = kept["s1"].scale, cut["s1"].scale
    assert np.float32(0.1) == scales[1] == np.nextafter(scales[0], np.float32(1))
    assert [int(6 / float(scale)) for scale in scales] == [60, 59]
    assert all(pairs["s2"] == ScalePair(np.float32(0.1), 0, "uint8") for pairs in (kept, cut))  # so that it shows


@pytest.mark.parametrize("limits", ["-1, 0", "-5, -1", "1, 2", "0, 1e-44", "0, 1e-37", "-1e30, 1e30"])
def test_no_limit_makes_a_scale_that_is_none(limits: str) -> None:
    for words in (
        f"Q(Clip(DQ(x), {limits}))",
        f"Q(Clip(Conv(DQ(x), DQ(constant(w))), {limits}))",
        f"Q(Clip(x, {limits}))",
    ):
        for setting in settings(pattern_of(words), DEFAULT):
            assert all(np.isfinite(pair.scale) and pair.scale > 2**-126 for pair in setting.pairs.values())


@pytest.mark.parametrize(
    ("words", "rule", "exponent"), [("add", "VisitAdd", -10), ("add", "qnnp", -14), ("add", "qnnp", 8)]
)
def test_ratios_of_scales_are_powers_of_two(words: str, rule: str, exponent: int) -> None:
    sides = beside(words, rule, says=f"2^{exponent}")
    ratios = [float(pairs["s1"].scale / pairs["s3"].scale) for _, pairs in sides]
    assert ratios == ([2.0**exponent, ratios[1]] if exponent < 0 else [ratios[0], 2.0**exponent])
    assert ratios[1 if exponent < 0 else 0] < 2.0**exponent


def test_a_multiplier_is_one_or_below() -> None:
    (_, below), (_, above) = beside("conv", "QuantizeMultiplier")
    product = Fraction(float(below["s1"].scale)) * Fraction(float(below["s2"].scale))
    assert product / Fraction(float(below["s3"].scale)) < 1 <= product / Fraction(float(above["s3"].scale))


def test_int16_has_zero_points_of_zero() -> None:
    (_, runs), (_, refused) = beside("add", "Prepare", "int16", "zero points are 0")
    assert [[pair.zero_point for pair in pairs.values()] for pairs in (runs, refused)] == [[0, 0, 0], [0, 0, 1]]


def test_weights_have_a_zero_point_of_zero() -> None:
    for words, rule in (("matmul-signed-weights", "PackedLinear"), ("conv-signed-weights", "should_use_onednn")):
        assert [pairs["s2"].zero_point for _, pairs in beside(words, rule)] == [0, 1]
        assert [pairs["s2"].type for _, pairs in beside(words, rule)] == ["int8", "int8"]


def test_a_decision_that_the_pattern_makes_has_no_sides() -> None:
    pattern = pattern_of("max-pool-one-scale")
    assert decided_settings(pattern, base_of(pattern)) == []
    (place,) = places_of(pattern)
    decision = next(one for one in DECISIONS if one.source.rule == "IsQDQPairSupported")
    assert two_sides(decision, place, base_of(pattern)) == {}


def test_places_lie_between_dq_and_q() -> None:
    def shown(words: str) -> Iterator[tuple[object, ...]]:
        for place in places_of(pattern_of(words)):
            yield place.names, place.inputs, place.output, place.constants

    assert list(shown("conv-relu")) == [(("Conv", "Relu"), ("s1", "s2"), "s3", (False, True))]
    assert list(shown("q-dq-two-scales")) == [((), ("",), "s1", (False,)), ((), ("s1",), "s2", (False,))]
    assert list(shown("matmul-float-output")) == [(("MatMul",), ("s1", "s2"), "", (False, True))]
    assert list(shown("Q(Add(Mul(DQ(a), DQ(b)), DQ(c)))")) == [(("Add",), ("", "s3"), "s4", (False, False))]


def test_a_part_in_float_has_no_decision() -> None:
    pattern = pattern_of("Q(Add(Mul(DQ(a), DQ(b)), DQ(c)))")
    assert list(decisions_of(pattern)) == []


@pytest.mark.slow
def test_the_page_names_every_decision() -> None:
    path = Path(__file__).parent.parent / "docs" / "pattern-decisions.md"
    assert path.read_text(encoding="utf-8") == page(), "run: python tests/make_decisions_page.py"


def test_equal_settings_occur_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = pattern_of("concat")
    many = len(decided_settings(pattern, base_of(pattern)))
    monkeypatch.setattr(derived, "DECISIONS", DECISIONS * 2)
    assert len(decided_settings(pattern, base_of(pattern))) == many == 5


def test_pairs_differ_in_one_knob() -> None:
    one: Mapping[str, ScalePair] = {"s": ScalePair(np.float32(1), 5, "uint8")}
    assert steps_between(one, {"s": ScalePair(np.float32(1), 7, "uint8")}, "s", "zero_point") == 2
    assert steps_between(one, {"s": ScalePair(np.float32(1), 7, "uint8")}, "s", "scale") == np.inf
    assert (
        steps_between(one, {"s": ScalePair(np.nextafter(np.float32(1), np.float32(2)), 5, "uint8")}, "s", "scale") == 1
    )
