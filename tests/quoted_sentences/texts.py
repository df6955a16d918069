"""Quotes of documents that no library installs: nGraph's, OpenVINO's FakeQuantize-1, TensorFlow for Java's Quantize.

Their texts may have lost their lines, so a table's row is quoted with the borders of its cells.
"""

from __future__ import annotations

from quoted_sentences.tensorflow import FORMULAS_OF_QUANTIZE

Places = dict[str, dict[str, str]]


def of_ngraph(prefix: str, own: dict[str, str]) -> Places:
    """What nGraph says of axes and shapes of both operators, for the clauses of one."""
    said = {
        "The coordinate :math:`j` of ``scale`` and ``zero_point`` is … projected onto ``axes``.": "A1",
        "``scale`` | … ``input`` shape projected onto ``axes``": "A2",
        "``zero_point`` | … ``input`` shape projected onto ``axes``": "A2",
        "``axes`` | Axis positions on which ``scale`` and ``zero_point`` are specified": "A2",
        "``output`` | ``type`` | Same as ``input``": "S1",
    }
    return {"text": {quote: f"{prefix}-{clause}" for quote, clause in said.items()} | own}


NGRAPH: dict[str, Places] = {
    "nGraph documentation, ops/quantize.rst": of_ngraph(
        "NGQ",
        {
            r"\mathtt{output}_{i,j} = … + \mathtt{zero_point}_{j}": "NGQ-F1 NGQ-F2 NGQ-F3",
            "*ROUND_NEAREST_TOWARD_INFINITY:* … -3.5 -> -4": "NGQ-R1",
            "*ROUND_NEAREST_TOWARD_ZERO:* … -3.5 to -3": "NGQ-R2",
            "*ROUND_NEAREST_UPWARD:* … -3.5 to -3": "NGQ-R3",
            "*ROUND_NEAREST_DOWNWARD:* … -3.5 to -4": "NGQ-R4",
            "*ROUND_NEAREST_TOWARD_EVEN:* … -3.5 to -4": "NGQ-R5",
            "*ROUND_TOWARD_INFINITY:* … away from zero": "NGQ-R6",
            "*ROUND_TOWARD_ZERO:* … toward zero": "NGQ-R7",
            "*ROUND_UP:* … (ceiling)": "NGQ-R8",
            "*ROUND_DOWN:* … (floor)": "NGQ-R9",
            "``input`` | Any real type | Any": "NGQ-S1 NGQ-T1",
            "``scale`` | Same as ``input``": "NGQ-T1",
            "``type`` | ``output`` element type; any quantized type": "NGQ-T2",
            "``zero_point`` | Same as ``output``": "NGQ-T3",
        },
    ),
    "nGraph documentation, older ops/quantize.rst": {
        "text": {
            "``offset`` | Same as ``output``": "NGQ-O1",
            r"\mathtt{output}_{i,j} = … + \mathtt{offset}_{j}": "NGQ-O1",
            "``round_mode`` | Refer to ``/src/ngraph/op/quantize.hpp``": "NGQ-O1",
        },
    },
    "nGraph documentation, ops/dequantize.rst": of_ngraph(
        "NGD",
        {
            r"(\mathtt{input}_{i,j} - \mathtt{zero_point}_{j}) \mathtt{scale}_{j}": "NGD-F1 NGD-F2",
            "``input`` | Any quantized type | Any": "NGD-S1 NGD-T1",
            "``zero_point`` | Same as ``input``": "NGD-T1",
            "``type`` | ``output`` element type; any real type": "NGD-T2",
            "``scale`` | Same as ``output``": "NGD-T3",
        },
    ),
}

EXPRESSION = "output = round((x - input_low) / … (output_high - output_low) + output_low"
OPENVINO: dict[str, Places] = {
    "OpenVINO documentation, FakeQuantize-1": {
        "text": {
            "if x <= min(input_low, input_high): output = output_low": "OVF-F1 OVF-F9 OVF-F10",
            "elif x > max(input_low, input_high): output = output_high": "OVF-F2 OVF-F9 OVF-F10",
            EXPRESSION: "OVF-F3 OVF-F4 OVF-F5 OVF-F6 OVF-F7 OVF-F8 OVF-F10",
            "Can be the same as input_low for binarization.": "OVF-F9",
            "levels is the number of … greater than or equal to 2": "OVF-L1",
            "specifies rules used for auto-broadcasting of input tensors. … Default value : “numpy”": "OVF-A1",
            "2 : input_low - tensor of type T_F … The shape must be broadcastable to the shape of X.": "OVF-A1 OVF-T1",
            "3 : input_high - tensor of type T_F … The shape must be broadcastable to the shape of X.": "OVF-A1 OVF-T1",
            "4 : output_low - tensor of type T_F … The shape must be broadcastable to the shape of X.": "OVF-A1 OVF-T1",
            "5 : output_high - tensor of type T_F … The shape must be broadcastable to the of X.": "OVF-A1 OVF-T1",
            "1 : X - tensor of type T_F and arbitrary shape.": "OVF-S1 OVF-T1",
            "1 : output tensor of type T_F with shape and type matching the 1st input tensor X.": "OVF-S1 OVF-T1",
            "T_F : any supported floating point type.": "OVF-T1",
            "All input values that are outside this range … before actual quantization.": "OVF-I1",
        },
    },
}

# In Spanish, with its formulas untranslated. The rest has its sentences in the English docstring, but for what the two
# ranges that come out are.
JAVA: dict[str, Places] = {
    "TensorFlow for Java documentation, Quantize": {
        "text": FORMULAS_OF_QUANTIZE
        | {
            "El rango mínimo de cuantificación final, … a valores cuantificados.": "TFQ-K1",
            "El rango máximo de cuantificación final, … a valores cuantificados.": "TFQ-K1",
        },
    },
}

QUOTES = {**NGRAPH, **OPENVINO, **JAVA}
