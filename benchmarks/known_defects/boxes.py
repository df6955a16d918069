"""The boxes: each a backend for one kind of node, with one or two known defects.

A row of the table below is an operator, element types `input>output`, an attribute that nodes must have (or none), and
boxes. A box is written as its defects, joined by +; `defect@path` holds on that path only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from benchmarks.known_defects.arithmetic import ARITHMETIC, Outputs, Use, answer
from benchmarks.known_defects.defects import DEFECTS, how_of
from benchmarks.known_defects.paths import SENTENCES
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node

EVEN = "round_mode=ROUND_NEAREST_TOWARD_EVEN"
NGQ, NGD = "ngraph.Quantize", "ngraph.Dequantize"
ONQ, OND, ONC = "onnx.QuantizeLinear", "onnx.DequantizeLinear", "onnx.Cast"
ODQ = "onnx.DynamicQuantizeLinear"
TLR = "tflite.Requantize"
TUQ, TUD = "tensorflow.UniformQuantize", "tensorflow.UniformDequantize"
TUR = "tensorflow.UniformRequantize"
SUQ, SUD = "stablehlo.uniform_quantize", "stablehlo.uniform_dequantize"
TRS = "tosa.RESCALE"
OMQ, NVQ = "ocp.MXQuantize", "nvidia.NVFP4Quantize"
OMI, OQM = "onnx.MatMulInteger", "onnx.QLinearMatMul"
OCI, OQC = "onnx.ConvInteger", "onnx.QLinearConv"
MNB = "com.microsoft.MatMulNBits"
MQA, MQM = "com.microsoft.QLinearAdd", "com.microsoft.QLinearMul"
MQG = "com.microsoft.QGemm"
GGQ, GGD = "gguf.Quantize", "gguf.Dequantize"
PQL = "paddle.QuantizeLinear"
TQT, TQC = "torch.quantize_per_tensor", "torch.quantize_per_channel"
TFT, TFP = "torch.fake_quantize_per_tensor_affine", "torch.fake_quantize_per_channel_affine"
OVF = "openvino.FakeQuantize"
TFQ, TFD = "tensorflow.QuantizeV2", "tensorflow.Dequantize"
QDV2, QDV3 = (f"tensorflow.QuantizeAndDequantizeV{version}" for version in (2, 3))
TQD = "tensorflow.QuantizeAndDequantizeV4"
TFF, TFC = "tensorflow.FakeQuantWithMinMaxVars", "tensorflow.FakeQuantWithMinMaxVarsPerChannel"

TABLE: tuple[tuple[str, str, str, str], ...] = (
    (NGQ, "float32>int8", EVEN, "ties-away ties-up ties-down ties-zero ties-odd magic-number-bits zp-negated"),
    (NGQ, "float32>uint8", EVEN, "truncates floors adds-half reciprocal reciprocal-float64 zp-as-signed"),
    (NGQ, "float32>uint8", EVEN, "ties-away@tail8 ties-away@body8 reciprocal@tail4 truncates@tail16 ties-up@alone"),
    (NGQ, "float32>uint8", EVEN, "reciprocal@constants ties-away@constants zp-ignored@per-axis reciprocal@after-1024"),
    (NGQ, "float32>uint8", EVEN, "reciprocal+ties-away reciprocal+zp-before-rounding ties-up@tail8+reciprocal@body8"),
    (NGQ, "float32>uint4", "", "first-parameter first-scale first-zero-point axis-last flat-modulo next-channel"),
    (NGQ, "float32>uint4", "", "axis-first channels-reversed mode-ignored+first-parameter"),
    (NGQ, "float32>int16", "", "mode-ignored up-and-down-swapped infinity-means-up"),
    (NGQ, "float32>int16", "", "zero-means-down directed-as-nearest"),
    (NGQ, "float32>int32", EVEN, "magic-number zp-in-type reciprocal zp-before-rounding magic-number+zp-negated"),
    (NGQ, "float16>int8", EVEN, "ties-away adds-half reciprocal reciprocal-float32 truncates zp-before-rounding"),
    (NGQ, "float16>uint16", "round_mode=ROUND_UP", "flush-quotient flush-x flush-scale reciprocal zp-in-type"),
    (NGQ, "bfloat16>uint8", EVEN, "ties-up reciprocal zp-before-rounding scale-power-of-two ties-down+zp-ignored"),
    (NGQ, "bfloat16>int4", "round_mode=ROUND_DOWN", "up-and-down-swapped flush-x reciprocal zp-as-unsigned"),
    (NGQ, "float64>int32", EVEN, "divides-in-float32 ties-away reciprocal zp-in-float16 magic-number"),
    (NGQ, "float64>uint32", "round_mode=ROUND_TOWARD_INFINITY", "divides-in-float32 infinity-means-up zp-twice"),
    (NGQ, "float32>int4", "round_mode=ROUND_NEAREST_UPWARD", "ties-away ties-even adds-half reciprocal+ties-even"),
    (NGQ, "float16>uint4", "round_mode=ROUND_NEAREST_TOWARD_INFINITY", "ties-up ties-even"),
    (NGQ, "float16>uint4", "round_mode=ROUND_NEAREST_TOWARD_INFINITY", "adds-signed-half halves-first"),
    (ONQ, "float32>uint8", "", "ties-away ties-up ties-down ties-zero ties-odd truncates floors ceils adds-half"),
    (ONQ, "float32>uint8", "", "reciprocal reciprocal-truncated reciprocal-float64"),
    (ONQ, "float32>uint8", "", "reciprocal-12-bits reciprocal-newton"),
    (ONQ, "float32>uint8", "", "multiplies scale-in-float16 scale-8-bits x-in-bfloat16"),
    (ONQ, "float32>uint8", "", "zp-before-rounding zp-before-rounding-wide zp-ignored zp-as-signed zp-negated"),
    (ONQ, "float32>uint8", "", "wraps int32-first int32-sum-wraps clamps-before-zp clamps-before-and-after-zp"),
    (ONQ, "float32>uint8", "", "clamps-to-signed clamps-narrow out-of-range-to-zero wraps-above wraps-below"),
    (ONQ, "float32>uint8", "", "flush-x flush-scale first-parameter axis-last first-zero-point flat-modulo"),
    (ONQ, "float32>uint8", "", "ties-away@tail8 ties-away@body8 ties-away@tail16 reciprocal@tail8 reciprocal@body8"),
    (ONQ, "float32>uint8", "", "truncates@tail4 ties-up@row-tail8 ties-away@alone reciprocal@alone wraps@tail8"),
    (ONQ, "float32>uint8", "", "reciprocal@constants ties-away@constants zp-before-rounding@constants ties-up@inputs"),
    (ONQ, "float32>uint8", "", "reciprocal@per-axis ties-away@per-tensor"),
    (ONQ, "float32>uint8", "", "zp-before-rounding@per-axis ties-down@blocked"),
    (ONQ, "float32>uint8", "", "ties-away@after-1024 reciprocal@large wraps@per-axis int32-first@body16"),
    (ONQ, "float32>uint8", "", "ties-away+reciprocal ties-up+wraps"),
    (ONQ, "float32>uint8", "", "reciprocal+zp-before-rounding truncates+int32-first"),
    (ONQ, "float32>uint8", "", "ties-away@tail8+reciprocal@body8 reciprocal@tail8+wraps ties-away+zp-ignored"),
    (ONQ, "float32>uint8", "", "flush-scale+ties-away first-zero-point+ties-up zp-before-rounding+clamps-narrow"),
    (ONQ, "float32>int8", "", "ties-away magic-number-bits divides-in-float16 scale-in-bfloat16 clamps-narrow"),
    (ONQ, "float32>int8", "", "clamps-high-early zp-as-unsigned adds-signed-half quotient-to-float16 halves-first"),
    (ONQ, "float32>int8", "", "blocks-one-longer blocks-interleaved last-block-joined blocks-even next-channel"),
    (ONQ, "float32>int8", "", "reciprocal+clamps-narrow adds-half+zp-as-unsigned blocks-interleaved+ties-away"),
    (ONQ, "float32>int16", "", "int16-first int32-first zp-before-rounding-wide zp-in-float16 wraps reciprocal"),
    (ONQ, "float32>uint16", "", "int16-first clamps-to-signed ties-away zp-before-rounding zp-in-float16 flush-scale"),
    (ONQ, "float32>uint16", "", "clamps-before-zp quotient-cut-off x-in-float16 int16-first+ties-away"),
    (ONQ, "float32>int4", "", "clamps-to-8-bits wraps ties-away zp-as-unsigned reciprocal first-parameter"),
    (ONQ, "float32>uint4", "", "clamps-to-8-bits truncates zp-as-signed reciprocal axis-first scale-power-of-two"),
    (ONQ, "float32>uint4", "", "clamps-to-8-bits+ties-up reciprocal+zp-ignored"),
    (ONQ, "float32>int2", "", "clamps-to-8-bits ties-away wraps clamps-narrow"),
    (ONQ, "float32>uint2", "", "ties-up reciprocal out-of-range-to-lowest"),
    (ONQ, "float16>uint8", "", "truncates reciprocal reciprocal-float32 adds-half"),
    (ONQ, "float16>uint8", "", "zp-before-rounding flush-scale flush-x"),
    (ONQ, "float16>int8", "", "ties-away ties-zero int32-first"),
    (ONQ, "float16>int8", "", "precision-ignored quotient-to-bfloat16 reciprocal+ties-away"),
    (ONQ, "float16>int16", "", "zp-in-type zp-before-rounding wraps divides-in-bfloat16 floors"),
    (ONQ, "float16>uint4", "", "ties-away clamps-to-8-bits reciprocal channels-reversed"),
    (ONQ, "bfloat16>int8", "", "ties-away reciprocal zp-before-rounding precision-ignored truncates"),
    (ONQ, "bfloat16>uint8", "", "adds-half reciprocal-float32 wraps first-scale ties-down+reciprocal"),
    (ONQ, "bfloat16>uint16", "", "zp-in-type int16-first"),
    (ONQ, "int32>uint8", "", "ties-away divides-integers x-in-float16 wraps reciprocal"),
    (ONQ, "float32>float8_e4m3fn", "", "saturate-ignored always-saturates small-through-float16 small-cut-off"),
    (ONQ, "float32>float8_e4m3fn", "", "small-ties-away small-flush small-nan-to-zero small-nan-to-highest reciprocal"),
    (ONQ, "float32>float8_e4m3fn", "", "small-max-240 small-overflow-early small-step-bits reciprocal+small-flush"),
    (ONQ, "float32>float8_e5m2", "", "saturate-ignored small-infinity-kept small-cut-off small-ties-away reciprocal"),
    (ONQ, "float32>float8_e4m3fnuz", "", "saturate-ignored small-max-448 small-flush always-saturates"),
    (ONQ, "float16>float8_e5m2", "", "small-cut-off flush-quotient small-nan-to-zero reciprocal-float32"),
    (ONQ, "float32>float4_e2m1fn", "", "small-ties-away small-cut-off small-flush reciprocal small-through-float16"),
    (NGD, "int8>float32", "", "distributes distributes-fused zp-ignored"),
    (NGD, "int8>float32", "", "zp-negated divides-by-inverse product-in-float16"),
    (NGD, "int8>float32", "", "product-in-bfloat16 difference-wraps difference-saturates first-parameter flush-output"),
    (NGD, "int8>float32", "", "distributes@tail8 distributes@constants divides-by-inverse@alone zp-ignored@per-axis"),
    (NGD, "int8>float32", "", "difference-wraps@body8 product-in-float16@tail4 distributes+zp-as-unsigned"),
    (NGD, "uint8>float16", "", "zp-as-signed distributes product-cut-off"),
    (NGD, "uint8>float16", "", "difference-wraps flush-scale overflow-saturates"),
    (NGD, "int16>float16", "", "difference-in-bfloat16 overflow-saturates distributes x-as-unsigned"),
    (NGD, "int32>float32", "", "distributes-fused zp-ignored flush-scale difference-wraps x-through-float32"),
    (NGD, "int32>float64", "", "x-through-float32 product-in-float32 divides-by-inverse difference-wraps"),
    (NGD, "int4>bfloat16", "", "nibbles-swapped product-cut-off x-as-unsigned product-ties-away flat-modulo"),
    (NGD, "uint16>bfloat16", "", "difference-in-float16 distributes product-cut-off+zp-ignored x-as-signed"),
    (OND, "uint8>float32", "", "distributes distributes-fused zp-ignored zp-negated zp-as-signed x-as-signed"),
    (OND, "uint8>float32", "", "divides-by-inverse product-in-float16 product-in-bfloat16"),
    (OND, "uint8>float32", "", "difference-wraps next-channel"),
    (OND, "uint8>float32", "", "flush-scale flush-output first-parameter first-zero-point difference-saturates"),
    (OND, "uint8>float32", "", "distributes@tail8 distributes@body8 divides-by-inverse@constants zp-ignored@alone"),
    (OND, "uint8>float32", "", "distributes@per-axis product-in-float16@tail16"),
    (OND, "uint8>float32", "", "difference-wraps@blocked flush-output@large"),
    (OND, "uint8>float32", "", "distributes+flush-output zp-as-signed+product-in-bfloat16 divides-by-inverse+zp-twice"),
    (OND, "int8>float32", "", "multiplier-in-float16 multiplier-power-of-two multiplier-ignored divides-by-scale"),
    (OND, "int8>float32", "", "blocks-interleaved blocks-one-longer last-block-joined x-as-unsigned"),
    (OND, "int8>float16", "", "distributes product-cut-off flush-output overflow-saturates distributes-fused"),
    (OND, "int32>float32", "", "flush-output x-through-float16 multiplier-in-bfloat16 product-cut-off"),
    (OND, "int32>bfloat16", "", "product-cut-off product-ties-away x-through-float16"),
    (OND, "uint16>float32", "", "difference-wraps difference-in-float16 difference-in-int16 distributes"),
    (OND, "int4>float32", "", "nibbles-swapped x-as-unsigned zp-as-unsigned difference-wraps first-scale"),
    (OND, "uint4>bfloat16", "", "product-cut-off x-as-signed product-ties-away nibbles-swapped+product-cut-off"),
    (OND, "float8_e4m3fn>float32", "", "small-as-other small-x-flush small-x-nan-to-zero product-in-float16"),
    (OND, "float8_e5m2>float16", "", "small-x-nan-to-zero overflow-saturates flush-output small-as-other"),
    (OND, "float4_e2m1fn>float32", "", "small-x-flush nibbles-swapped multiplier-in-bfloat16"),
    (OVF, "float32>float32", "", "truncates adds-half ties-away"),
    (OVF, "float32>float32", "", "position-folded position-shifted position-shifted-fused"),
    (OVF, "float32>float32", "", "position-by-step position-reciprocal offset-ignored back-folded back-folded-fused"),
    (OVF, "float32>float32", "", "back-reciprocal back-fused back-between"),
    (OVF, "float32>float32", "", "back-offset-ignored position-multiplied-first"),
    (OVF, "float32>float32", "", "levels-one-more levels-256 ends-computed"),
    (OVF, "float32>float32", "", "ends-greater-or-equal ends-less ends-missing"),
    (OVF, "float32>float32", "", "reversed-sorted equal-limits-up outputs-sorted outputs-are-inputs first-parameter"),
    (OVF, "float32>float32", "", "flush-x flush-output in-float16 in-bfloat16 first-output-limits flat-modulo"),
    (OVF, "float32>float32", "", "truncates@tail8 position-folded@constants back-folded@body8 ends-computed@alone"),
    (OVF, "float32>float32", "", "back-multiplied-first flush-range ends-missing-above"),
    (OVF, "float32>float32", "", "position-folded+back-folded ends-computed+back-fused truncates+levels-one-less"),
    (OVF, "float16>float16", "", "position-folded back-folded in-float32 flush-output truncates ends-swapped"),
    (OVF, "bfloat16>bfloat16", "", "position-by-step back-reciprocal in-float32 in-float16 levels-one-less"),
    (OVF, "float64>float64", "", "in-float32 position-folded back-folded outputs-in-bfloat16 levels-power-of-two"),
    (TFQ, "float32>uint8", "mode=MIN_COMBINED", "scale-folded steps-one-more truncates ties-even no-clip-wraps"),
    (TFQ, "float32>uint8", "mode=MIN_COMBINED", "scale-inverse ties-even@tail8 scale-folded@body8 first-parameter"),
    (TFQ, "float32>uint8", "mode=MIN_FIRST", "no-range-adjust rounds-difference-once ties-even"),
    (TFQ, "float32>uint8", "mode=SCALED", "high-side-only ties-up factor-by-inverse"),
    (TFQ, "float32>uint8", "mode=SCALED", "given-range-out factor-in-bfloat16"),
    (TFQ, "float32>int8", "mode=MIN_COMBINED", "no-int8-offset int8-offset-half-less"),
    (TFQ, "float32>int8", "mode=MIN_COMBINED", "scale-folded scale-folded+ties-even"),
    (TFQ, "float32>int8", "mode=MIN_FIRST", "lowest-left-out minimum-floored"),
    (TFQ, "float32>int8", "mode=MIN_FIRST", "rounds-difference-once+ties-even truncates"),
    (TFQ, "float32>int8", "mode=SCALED", "narrow-ignored narrow-always greater-factor"),
    (TFQ, "float32>int8", "mode=SCALED", "symmetric-range ties-away ties-even"),
    (TFQ, "float32>int8", "mode=SCALED", "idle-side-counts adds-signed-half"),
    (TFQ, "float32>int8", "mode=SCALED", "first-parameter factor-by-inverse+ties-away"),
    (TFQ, "float32>int16", "mode=SCALED", "factor-by-inverse clips-to-given in-float64"),
    (TFQ, "float32>int16", "mode=SCALED", "low-side-only range-out-swapped"),
    (TFQ, "float32>uint16", "mode=MIN_FIRST", "no-range-adjust ties-zero in-float64 flush-x"),
    (TFQ, "float32>int32", "mode=SCALED", "in-float64 factor-by-inverse truncates narrow-ignored"),
    (TFD, "uint8>float32", "mode=MIN_COMBINED", "scale-folded steps-one-more back-fused x-as-signed minimum-left-out"),
    (TFD, "uint8>float32", "mode=MIN_COMBINED", "scale-folded@tail8 scale-folded@constants first-parameter in-float16"),
    (TFD, "uint8>float32", "mode=MIN_FIRST", "rounds-minimum no-range-adjust in-float32 minimum-left-out"),
    (TFD, "uint8>float32", "mode=SCALED", "factor-by-inverse in-float16 factor-in-bfloat16"),
    (TFD, "int8>float32", "mode=MIN_COMBINED", "no-int8-offset int8-offset-half-less scale-folded+no-int8-offset"),
    (TFD, "int8>float32", "mode=MIN_FIRST", "lowest-left-out rounds-minimum rounds-minimum+no-range-adjust"),
    (TFD, "int8>float32", "mode=SCALED", "smaller-factor narrow-ignored narrow-always"),
    (TFD, "int8>float32", "mode=SCALED", "low-side-only smaller-factor@tail8"),
    (TFD, "uint16>float32", "mode=MIN_COMBINED", "scale-folded in-float64 x-as-signed axis-last"),
    (TFD, "int32>float32", "mode=SCALED", "in-float64 factor-by-inverse in-bfloat16 flush-output"),
    (TFD, "uint8>bfloat16", "", "product-cut-off in-float64 scale-folded product-cut-off+scale-folded"),
    (TQD, "float32>float32", "", "ties-away ties-up ties-even truncates adds-half back-reciprocal factor-by-inverse"),
    (TQD, "float32>float32", "", "greater-factor high-side-only low-side-only symmetric-range no-range-update"),
    (TQD, "float32>float32", "", "narrow-ignored narrow-always num-bits-8"),
    (TQD, "float32>float32", "", "signed-ignored given-range-ignored clip-missing"),
    (TQD, "float32>float32", "", "back-reciprocal@tail8 ties-away@constants back-reciprocal@alone first-parameter"),
    (TQD, "float32>float32", "", "back-reciprocal+ties-away symmetric-range+narrow-ignored"),
    (TQD, "float32>float32", "", "clip-above-missing clip-below-missing"),
    (TQD, "float16>float16", "", "back-reciprocal ties-up in-float32 flush-output intervals-one-more"),
    (TQD, "bfloat16>bfloat16", "", "back-reciprocal in-float32 ties-away in-float16"),
    (TQD, "float64>float64", "", "in-float32 back-reciprocal num-bits-one-less axis-first"),
    (TFF, "float32>float32", "", "adds-half truncates ties-away"),
    (TFF, "float32>float32", "", "quotient-reciprocal quotient-from-range quotient-shifted"),
    (TFF, "float32>float32", "", "back-minimum-last back-minimum-fused back-shifted no-nudge nudge-down nudge-up"),
    (TFF, "float32>float32", "", "nudge-max-kept positive-range-kept negative-range-kept clips-to-given nudge-clamped"),
    (TFF, "float32>float32", "", "narrow-always narrow-ignored num-bits-8"),
    (TFF, "float32>float32", "", "intervals-not-narrowed intervals-one-more in-float64"),
    (TFF, "float32>float32", "", "adds-half@tail8 quotient-reciprocal@body8 intervals-one-more@constants clip-missing"),
    (TFF, "float32>float32", "", "adds-half+quotient-from-range no-nudge+narrow-ignored truncates+back-minimum-last"),
    (TFC, "float32>float32", "", "first-parameter axis-first next-channel channels-reversed adds-half no-nudge"),
    (TFC, "float32>float32", "", "quotient-reciprocal back-minimum-last narrow-ignored num-bits-8 nudge-down"),
    (TFC, "float32>float32", "", "truncates@tail8 quotient-from-range@alone adds-half+first-parameter in-bfloat16"),
    (ONC, "float32>float8_e4m3fn", "", "small-ties-away small-cut-off small-through-float16 saturate-ignored"),
    (ONC, "float32>float8_e4m3fn", "", "always-saturates small-flush small-nan-to-zero small-max-240"),
    (ONC, "float32>float8_e4m3fn", "", "small-infinity-kept small-overflow-early small-step-bits small-max-448"),
    (ONC, "float16>float8_e5m2", "", "small-ties-away small-cut-off saturate-ignored always-saturates small-flush"),
    (ONC, "bfloat16>float8_e4m3fnuz", "", "small-ties-away small-cut-off always-saturates small-nan-to-highest"),
    (ONC, "float32>int4", "", "ties-away ties-up ties-down ties-zero ties-odd truncates floors ceils adds-half"),
    (ONC, "float16>uint4", "", "ties-away truncates ceils"),
    (ONC, "float8_e4m3fn>float32", "", "small-as-other small-x-flush small-x-nan-to-zero"),
    (ONC, "int4>float32", "", "x-as-unsigned"),
    (ODQ, "float32>uint8", "", "ties-away truncates floors ceils adds-half reciprocal zp-before-rounding flush-x"),
    (ODQ, "float32>uint8", "", "zp-ignored wraps clamps-high-early clamps-before-zp quotient-to-bfloat16"),
    (ODQ, "float32>uint8", "", "ties-away@tail8 reciprocal@body8"),
    (OMQ, "float32>float8_e4m3fn", "", "small-ties-away small-cut-off small-flush small-step-bits"),
    (OMQ, "float32>float4_e2m1fn", "", "small-ties-away small-cut-off small-max-448"),
    (OMQ, "bfloat16>float8_e5m2", "", "small-ties-away small-cut-off flush-x"),
    (OMQ, "float32>int8", "", "ties-away truncates"),
    (TLR, "int8>int8", "", "rounded-twice factor-8-bits ratio-doubled input-zp-ignored zps-exchanged zp-ignored"),
    (TLR, "int8>int8", "", "wraps clamps-narrow clamps-before-zp zp-negated rounded-twice@tail16 rounded-twice@body16"),
    (TLR, "int8>int8", "", "rounded-twice+wraps factor-8-bits+clamps-narrow factor-8-bits@body8"),
    (TLR, "uint8>int8", "", "rounded-twice truncates floors out-of-range-to-zero"),
    (TLR, "uint8>uint8", "", "clamps-to-signed zps-exchanged ratio-doubled+wraps"),
    (TLR, "int16>int16", "", "rounded-twice factor-8-bits ceils wraps"),
    (TLR, "int32>int8", "", "rounded-twice ratio-doubled clamps-before-and-after-zp"),
    (TRS, "int8>int8", "", "ties-away ties-even ties-zero truncates floors ceils wraps clamps-narrow zp-ignored"),
    (TRS, "int8>int8", "", "first-parameter next-channel channels-reversed x-as-unsigned ties-even@tail8"),
    (TRS, "int32>int8", "", "rounds-once rounds-twice ties-away ties-even+wraps rounds-once+zp-negated"),
    (TRS, "uint8>int16", "", "x-as-signed ties-down rounds-twice"),
    (NVQ, "float32>float4_e2m1fn", "", "small-ties-away small-cut-off small-flush small-max-448"),
    (NVQ, "bfloat16>float4_e2m1fn", "", "small-ties-away small-cut-off"),
    (TUQ, "float32>int8", "", "ties-away ties-even ties-zero truncates floors ceils zp-ignored zp-negated"),
    (TUQ, "float32>uint8", "", "first-parameter next-channel channels-reversed ties-even@tail8"),
    (TUD, "int8>float32", "", "zp-ignored zp-negated difference-wraps difference-saturates distributes"),
    (TUD, "uint8>float32", "", "first-parameter next-channel channels-reversed divides-by-scale"),
    (SUQ, "float32>int8", "", "ties-away ties-up truncates floors ceils ties-away@tail8"),
    (SUQ, "float32>uint8", "", "first-parameter next-channel channels-reversed"),
    (SUD, "int8>float32", "", "zp-ignored zp-negated difference-wraps difference-saturates distributes"),
    (SUD, "uint8>float32", "", "first-parameter next-channel channels-reversed divides-by-scale"),
    (TUR, "int8>int8", "", "rounded-twice factor-8-bits ratio-doubled input-zp-ignored zps-exchanged zp-ignored wraps"),
    (TUR, "int32>int8", "", "first-parameter next-channel channels-reversed clamps-before-zp ratio-doubled@tail8"),
    (OMI, "uint8>int32", "", "input-zp-ignored sum-wraps-in-16-bits last-product-lost pairs-saturate"),
    (OMI, "int8>int32", "", "difference-wraps difference-saturates"),
    (OQM, ">uint8", "", "reciprocal factor-of-scales ties-away truncates"),
    (OQM, ">uint8", "", "factor-of-scales-wide+zp-before-rounding-wide"),
    (OQM, ">int8", "", "clamps-narrow zp-ignored difference-wraps last-product-lost+ties-away"),
    (OCI, "uint8>int32", "", "input-zp-ignored sum-wraps-in-16-bits last-product-lost axis-of-inputs"),
    (OCI, "int8>int32", "", "difference-wraps difference-saturates pairs-saturate"),
    (OQC, "uint8>uint8", "", "reciprocal factor-of-scales ties-away truncates"),
    (OQC, "uint8>uint8", "", "factor-of-scales-wide+zp-before-rounding-wide axis-of-inputs"),
    (OQC, "int8>int8", "", "clamps-narrow zp-ignored difference-wraps last-product-lost+ties-away"),
    (MQG, "uint8>uint8", "", "reciprocal factor-of-scales ties-away truncates wraps"),
    (MQG, "int8>int8", "", "clamps-narrow zp-ignored difference-wraps last-product-lost+ties-away"),
    (MQG, "uint8>float32", "", "input-zp-ignored last-product-lost sum-wraps-in-16-bits"),
    (MQA, ">uint8", "", "truncates floors wraps zp-ignored"),
    (MQA, ">uint8", "", "int32-first fused-reciprocal fused-reciprocal+truncates"),
    (MQA, ">int8", "", "clamps-narrow zp-negated input-zp-ignored"),
    (MQM, ">uint8", "", "truncates floors wraps zp-ignored"),
    (MQM, ">uint8", "", "int32-first fused-reciprocal fused-reciprocal+truncates"),
    (MQM, ">int8", "", "clamps-narrow zp-negated input-zp-ignored"),
    (MNB, "float32>float32", "", "zp-ignored distributes nibbles-swapped multiplier-ignored divides-by-inverse"),
    (MNB, "float32>float32", "", "first-parameter product-in-float16"),
    (MNB, "float16>float16", "", "zp-ignored distributes nibbles-swapped first-parameter flush-scale"),
    (MNB, "bfloat16>bfloat16", "", "half-for-odd half-for-odd+flush-scale zp-ignored distributes"),
    (GGQ, "float32>int8", "", "truncates floors ties-even flush-scale"),
    (GGQ, "float32>uint4", "", "truncates ties-even wraps"),
    (GGD, "int8>float32", "", "x-as-unsigned product-in-float16 flush-scale"),
    (GGD, "uint4>float32", "", "nibbles-swapped multiplier-ignored"),
    (QDV2, "float32>float32", "", "ties-away truncates back-reciprocal greater-factor clip-missing"),
    (QDV3, "float32>float32", "", "ties-away truncates back-reciprocal num-bits-8 narrow-ignored clip-missing"),
    (QDV3, "float16>float16", "", "back-reciprocal given-range-ignored num-bits-one-less"),
    (PQL, "float32>float32", "", "reciprocal truncates floors clamps-narrow first-parameter"),
    (TQT, "float32>uint8", "", "reciprocal truncates wraps zp-ignored"),
    (TQT, "float32>int8", "", "clamps-narrow floors"),
    (TQC, "float32>int8", "", "first-parameter next-channel reciprocal truncates"),
    (TFT, "float32>float32", "", "ties-away truncates reciprocal clamps-narrow zp-ignored"),
    (TFP, "float32>float32", "", "first-parameter next-channel ties-away reciprocal clamps-narrow"),
)


@dataclass(frozen=True)
class Box:
    """A kind of node, with any type if none is named, and the defects that its backend has."""

    operator: str
    input_type: str
    output_type: str
    uses: tuple[Use, ...]
    attributes: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        how_of(tuple(use.defect for use in self.uses))  # which raises for what is unknown or does not go together

    @property
    def name(self) -> str:
        if not self.uses:
            return f"{self.operator}/sound"
        mode = "-".join(self.attributes.values())
        return "/".join(filter(None, (self.operator, f"{self.input_type}-{self.output_type}", mode, self.defects)))

    @property
    def defects(self) -> str:
        return "+".join(map(str, self.uses))

    @property
    def sentence(self) -> str:
        return " ".join(told(use) for use in self.uses)

    def takes(self, node: Node) -> bool:
        types = (node.input_type, self.input_type), (node.output_type, self.output_type)
        right = node.operator == self.operator and all(wanted in ("", found) for found, wanted in types)
        return right and all(node.value(name) == value for name, value in self.attributes.items())

    def answer(self, node: Node, inputs: Outputs) -> Outputs:
        return answer(node, inputs, self.uses)


AnyBox = TypeVar("AnyBox", bound=Box)


def told(use: Use) -> str:
    sentence = DEFECTS[use.defect].sentence
    return f"{sentence[:-1]}, {SENTENCES[use.path]}." if use.path else sentence


def box_of(operator: str, types: str, attribute: str, written: str, kind: type[AnyBox]) -> AnyBox:
    uses = tuple(Use(*part.split("@")) for part in written.split("+"))
    name, _, value = attribute.partition("=")
    given, _, result = types.partition(">")
    return kind(operator, given, result, uses, {name: value} if name else {})


def boxes_of(table: Sequence[tuple[str, str, str, str]], kind: type[AnyBox]) -> tuple[AnyBox, ...]:
    found = tuple(box_of(*row[:3], written, kind) for row in table for written in row[3].split())
    assert len({box.name for box in found}) == len(found), "a box is there twice"
    return found


SOUND = tuple(Box(operator, "", "", ()) for operator in ARITHMETIC)
BOXES = boxes_of(TABLE, Box)


class Backend:
    """A box as `tiebreak run` takes it."""

    version = "1"
    takes_constants = True

    def __init__(self, box: Box) -> None:
        self.name, self.box, self.operators = box.name, box, frozenset({box.operator})

    def compile(self, node: Node) -> Run:
        if not self.box.takes(node):
            raise Unsupported("not this box's kind of node")
        return lambda *inputs: self.box.answer(node, inputs)


def backend_of(boxes: Iterable[Box], name: str) -> Backend:
    for box in boxes:
        if box.name == name:
            return Backend(box)
    raise AttributeError(name)


def __getattr__(name: str) -> Any:
    """The backend of the box with this name, so that `-b benchmarks.known_defects.boxes:NAME` finds it."""
    return backend_of((*BOXES, *SOUND), name)
