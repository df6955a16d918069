"""Checks a certificate of `tiebreak prove`: it shares no code with the prover, and can be read in a sitting.

It needs the standard library, NumPy and ml_dtypes; claims about integers need z3, another solver than the prover's.

A proof is a list of steps. Each is checked by its rule: that it follows from the steps before it, or, where every scale
was tried, by trying blocks of scales again and comparing SHA-256 of the results. Blocks are drawn by a hash of the
certificate, so that nobody could have written down right digests for those alone; `whole` tries all. A counterexample is
computed in fractions, each float step rounded by hand.
"""

from __future__ import annotations

import ast
import hashlib
import json
import random
import re
from fractions import Fraction
from itertools import product

import ml_dtypes
import numpy as np

FLOATS = {"float32": (24, -126, 127), "float16": (11, -14, 15), "bfloat16": (8, -126, 127)}
DTYPES = {"float32": np.dtype("f4"), "float16": np.dtype("f2"), "bfloat16": np.dtype(ml_dtypes.bfloat16)}
CODES = {"uint8": (0, 255), "int8": (-128, 127), "uint16": (0, 65535), "int16": (-32768, 32767)}
CHAIN_START = hashlib.sha256(b"tiebreak-proof").digest()
DRAWN = 2  # blocks of a step that are tried again


class Wrong(Exception):
    """The certificate does not show what it says."""


def check(data: dict, whole: bool = False) -> list[str]:
    """What was checked, a line each. Wrong if a certificate does not hold."""
    claim, verdict = data["claim"], data["verdict"]
    if verdict == "UNKNOWN":
        raise Wrong("the certificate says UNKNOWN: there is nothing to check")
    if claim["kind"] == "integers":
        return check_integers(claim, verdict, data)
    if claim["kind"] == "arithmetics":
        return check_arithmetics(claim, data, whole)
    if verdict == "REFUTED":
        return [check_counterexample(claim, data["counterexample"])]
    return check_steps(claim, data, whole)


# ---------------------------------------------------------------------------------------------- patterns as numbers


def parsed(text):
    return ast.parse(text, mode="eval").body


def columns(text, claim, codes):
    """Expressions of a row of a side, as text of single numbers; `codes` are names of operands that are codes."""
    counter = iter(range(1, 99))
    taken = {
        a.id
        for c in ast.walk(parsed(text))
        if isinstance(c, ast.Call) and c.func.id in ("Q", "DQ")
        for a in c.args[1:]
        if isinstance(a, ast.Name)
    }

    def pair_of(node, inner=""):
        names = [a.id for a in node.args[1:]]
        if names or inner:
            return names[0] if names else inner
        return next(name for name in (f"s{k}" for k in counter) if name not in taken)

    def visit(node, width):
        if isinstance(node, ast.Name):
            return [node.id if k == 0 else f"{node.id}[{k}]" for k in range(width or 1)]
        name = node.func.id
        if name == "constant":
            return visit(node.args[0], width)
        options = {k.arg: k.value.value for k in node.keywords}
        takes = {"MaxPool": 2, "AveragePool": 2, "GlobalAveragePool": 2, "Resize": 2, "Softmax": 2, "Concat": 1}
        count = options.get("k", 1) if name in ("MatMul", "Gemm", "Conv") else takes.get(name, width)
        if name in ("Q", "DQ"):
            inner = visit(node.args[0], width)
            made = re.match(r"Q\(.*, (\w+)\)$", inner[0]) if name == "DQ" else None
            pair = pair_of(node, made[1] if made else "")
            return [f"{name}({one}, {pair})" for one in inner]
        parts = [visit(one, count) for one in node.args if not is_number(one)]
        numbers = [repr(float(ast.literal_eval(one))) for one in node.args if is_number(one)]
        if name == "MaxPool":
            return [f"Max({', '.join(parts[0])})"]
        if name in ("AveragePool", "GlobalAveragePool"):
            return [f"Mean({', '.join(parts[0])})"]
        if name == "Concat":
            return parts[0] + parts[1]
        if name == "Softmax":
            a, b = parts[0]
            return [f"Softmax({a}, {b})", f"Softmax({b}, {a})"]
        if name == "Resize":
            a, b = parts[0]
            linear = options.get("mode", "nearest") == "linear"
            return [a, f"Linear({a}, {b})", f"Linear({b}, {a})", b] if linear else [a, a, b, b]
        if name in ("MatMul", "Gemm", "Conv"):
            found = [f"Mul({a}, {b})" for a, b in zip(*parts, strict=True)]
            return [found[0] if len(found) == 1 else f"Add({found[0]}, {found[1]})"]
        return [f"{name}({', '.join([*row, *numbers])})" for row in zip(*parts, strict=True)]

    return visit(parsed(text), 0)


def is_number(node):
    try:
        return isinstance(ast.literal_eval(node), (int, float))
    except ValueError:
        return False


def split(text):
    """Operation, inputs and rest (numbers and pair) of a number's text; no operation for an operand."""
    node = parsed(text)
    if not isinstance(node, ast.Call):
        return "", [], []
    words = [ast.unparse(one) for one in node.args]
    count = {"Q": 1, "DQ": 1, "Relu": 1, "Clip": 1, "Sigmoid": 1, "Tanh": 1}.get(node.func.id, 2)
    return node.func.id, words[:count], words[count:]


def operands_of(*texts):
    """Operands of numbers, in the order in which they appear."""
    found = {}

    def visit(text):
        name, inputs, _ = split(text)
        for one in inputs:
            visit(one)
        if not name:
            found[text] = None

    for text in texts:
        visit(text)
    return list(found)


def pairs_of(*texts):
    return sorted({rest[-1] for text in texts for name, rest in calls(text) if name in ("Q", "DQ")})


def calls(text):
    name, inputs, rest = split(text)
    if name:
        yield name, rest
    for one in inputs:
        yield from calls(one)


def is_code(text, codes):
    name, inputs, _ = split(text)
    return text.split("[")[0] in codes if not name else name == "Q" or (name == "Max" and is_code(inputs[0], codes))


# -------------------------------------------------------------------------------------------------------- the steps


def check_steps(claim, data, whole):
    codes = claim["codes"]
    exact = [side.startswith("exact(") for side in (claim["left"], claim["right"])]
    sides = [side[6:-1] if real else side for side, real in zip((claim["left"], claim["right"]), exact)]
    goals = list(zip(*(columns(side, claim, codes) for side in sides), strict=True))
    told, chain_text = [], json.dumps(data["steps"], sort_keys=True)
    draw = random.Random(hashlib.sha256(chain_text.encode()).hexdigest())
    for number, step in enumerate(data["steps"]):
        if any(not 0 <= one < number for one in step["premises"]):
            raise Wrong(f"step {number} rests on a step that does not precede it")
        premises = [data["steps"][one] for one in step["premises"]]
        told.append(
            f"step {number}: {step['left']} = {step['right']}: {check_step(step, premises, claim, draw, whole)}"
        )
    proven = {(step["left"], step["right"], *step["exact"]) for step in data["steps"]}
    for left, right in goals:
        if not any(same_goal((left, right, *exact), one) for one in proven):
            raise Wrong(f"no step shows {left} = {right}")
    return told


def same_goal(goal, proven):
    return (
        spaced(goal[0]) == spaced(proven[0])
        and spaced(goal[1]) == spaced(proven[1])
        and (list(goal[2:]) == list(proven[2:]))
    )


def spaced(text):
    return ast.unparse(parsed(text))


def check_step(step, premises, claim, draw, whole):
    rule, left, right = step["rule"], step["left"], step["right"]
    same_exact = step["exact"][0] == step["exact"][1]
    if any(one["exact"] != step["exact"] for one in premises):
        raise Wrong(f"{left} = {right} rests on a claim about another arithmetic")
    if rule == "identity":
        if left != right or not (same_exact or not split(left)[0]):
            raise Wrong(f"{left} and {right} are not the same")
        return "both sides are the same"
    if rule == "renaming":
        (one,) = premises
        if canonical(left, right) != canonical(one["left"], one["right"]):
            raise Wrong(f"{left} = {right} is no renaming of {one['left']} = {one['right']}")
        return "as before, with other names"
    if rule == "maximum":
        if claim["sign"] != "positive":
            raise Wrong("a maximum was taken out of a step that falls")
        (one,) = premises
        if [outside(left), outside(right)] != [outside(one["left"]), outside(one["right"])]:
            raise Wrong(f"{left} = {right} is not {one['left']} = {one['right']} with maxima moved")
        return "a step that never falls commutes with a maximum"
    if rule == "same step":
        if not same_exact or split(left)[::2] != split(right)[::2] or not split(left)[0]:
            raise Wrong(f"{left} and {right} do not end in the same step")
        pairs = list(zip(split(left)[1], split(right)[1], strict=True))
        if [(one["left"], one["right"]) for one in premises] != pairs:
            raise Wrong(f"the parts of {left} and {right} are not those that were shown equal")
        return "the same step of equal numbers"
    if rule == "generalization":
        (one,) = premises
        for operand in operands_of(one["left"], one["right"]):
            for part in {text for text in parts(left) if split(text)[0] == "Q"}:
                made = [substituted(one[side], operand, part) for side in ("left", "right")]
                if made == [left, right]:
                    return f"a case of step {step['premises'][0]}, with {operand} = {part}"
        raise Wrong(f"{left} = {right} is no case of {one['left']} = {one['right']}")
    if rule in ("every code", "every decision"):
        return check_blocks(step, claim, draw, whole)
    raise Wrong(f"no rule {rule!r:.40}")


def parts(text):
    yield text
    for one in split(text)[1]:
        yield from parts(one)


def substituted(text, name, by):
    operation, inputs, rest = split(text)
    if not operation:
        return by if text == name else text
    return f"{operation}({', '.join([*(substituted(one, name, by) for one in inputs), *rest])})"


def canonical(*texts):
    names = {name: f"o{k}" for k, name in enumerate(operands_of(*texts))}

    def visit(text):
        operation, inputs, rest = split(text)
        return f"{operation}({', '.join([*map(visit, inputs), *rest])})" if operation else names[text]

    return [visit(text) for text in texts]


def outside(text):
    """Maxima after steps that never fall as their input grows."""
    operation, inputs, rest = split(text)
    inputs = [outside(one) for one in inputs]
    if operation in ("Q", "DQ", "Relu", "Clip") and split(inputs[0])[0] == "Max":
        inner = [outside(f"{operation}({', '.join([one, *rest])})") for one in split(inputs[0])[1]]
        return f"Max({', '.join(inner)})"
    return f"{operation}({', '.join([*inputs, *rest])})" if operation else text


# ------------------------------------------------------------------------------------------------------- every scale


def check_blocks(step, claim, draw, whole):
    texts = step["left"], step["right"]
    (pair,) = pairs_of(*texts)
    kind, real = claim["pairs"][pair], claim["real"]
    room = CODES[kind][1] - CODES[kind][0]
    for text, is_exact in zip(texts, step["exact"]):
        if any(split(one)[0] == "Q" for one in list(parts(text))[1:]):
            raise Wrong(f"{text} rounds within")
    check_coverage(step, claim, texts, room)
    last = CHAIN_START
    for _, _, digest in step["blocks"]:
        last = hashlib.sha256(last + bytes.fromhex(digest)).digest()
    if last.hex() != step["chain"]:
        raise Wrong("the chain of digests is broken")
    chosen = step["blocks"] if whole else draw.sample(step["blocks"], min(DRAWN, len(step["blocks"])))
    results = by_codes if step["rule"] == "every code" else by_decisions
    for first, count, digest in chosen:
        words = np.arange(first, first + count, dtype=np.uint64).astype(f"u{DTYPES[real].itemsize}")
        scales, found = words.view(DTYPES[real]), hashlib.sha256()
        for differences, values in results(step, texts, scales, pair, room, real, claim):
            for value in values:
                if value.shape == scales.shape:
                    found.update(np.ascontiguousarray(value).data)
            compare(values, differences, claim, kind, is_code(texts[0], claim["codes"]))
        if found.hexdigest() != digest:
            raise Wrong(f"the block of scales from {first:#x} gave other results than the certificate has")
    return f"{len(chosen)} of {len(step['blocks'])} blocks of scales tried again"


def check_coverage(step, claim, texts, room):
    """That the blocks are all scales of one exponent that stands for others, and of each exponent that it does not."""
    p, emin, emax = FLOATS[claim["real"]]
    low, high = emin, emax
    proportional = True
    for text, is_exact in zip(texts, step["exact"]):
        sizes = [] if is_exact else [size_of(one, room) for one in parts(text) if not is_code(one, claim["codes"])]
        proportional &= None not in sizes
        for least, most, _ in filter(None, sizes):
            if step["rule"] == "every decision":
                least = min(least, -2)
            low, high = max(low, emin + 1 - least), min(high, emax - most)
    sign = 0 if claim["sign"] == "positive" else 1 << (8 * DTYPES[claim["real"]].itemsize - 1)
    size = 1 << (p - 1)
    every = {e: {max((e - emin + 1) * size, 1), (e - emin + 2) * size} for e in range(emin - 1, emax + 1)}
    tried = merged([(first & ~sign, (first & ~sign) + count) for first, count, _ in step["blocks"]])
    wanted = [e for e in every if not low <= e <= high] if claim["extent"] == "all" else []
    if not proportional:
        wanted = list(every)
    elif low > high:
        raise Wrong("no scale keeps all numbers in the normal range")
    elif not any(inside(every[e], tried) for e in range(low, high + 1)):
        raise Wrong("no exponent's scales were all tried")
    if missing := [e for e in wanted if not inside(every[e], tried)]:
        raise Wrong(f"the scales of exponent {missing[0]} were not all tried")


def size_of(text, room):
    """Powers of two between which a number's nonzero magnitudes lie for a scale of [1, 2); None if not proportional."""
    operation, inputs, _ = split(text)
    if not operation:
        return -2, room.bit_length() + 2, -26
    if operation == "DQ":
        return 0, room.bit_length() + 1, -23
    inner = [size_of(one, room) for one in inputs]
    if None in inner or operation not in ("Relu", "Max", "Add", "Sub", "Mean", "Linear"):
        return None
    least, most, grain = min(i[0] for i in inner), max(i[1] for i in inner), min(i[2] for i in inner)
    if operation in ("Relu", "Max"):
        return least, most, grain
    grain -= {"Mean": 1, "Linear": 2}.get(operation, 0)
    return grain, most + 1, grain


def merged(spans):
    found = []
    for first, end in sorted(spans):
        if found and first <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([first, end])
    return found


def inside(span, tried):
    return any(first <= min(span) and max(span) <= end for first, end in tried)


def floats(text, known, scale, real, lowest, highest):
    """A number's values in the float type, codes as differences from the zero point."""
    operation, inputs, rest = split(text)
    if not operation:
        return known[text]
    kind = DTYPES[real].type
    x = [floats(one, known, scale, real, lowest, highest) for one in inputs]
    if operation == "Q":
        whole = np.rint((x[0] / scale).astype(DTYPES[real])).astype(np.float64)
        whole = np.where(np.isnan(whole), lowest - 1, np.clip(whole, lowest, highest))
        return whole.astype(np.int64)
    if operation == "DQ":
        return np.asarray(x[0]).astype(DTYPES[real]) * scale
    if operation == "Clip":
        return np.clip(x[0], kind(float(rest[0])), kind(float(rest[1])))
    steps = {
        "Relu": lambda a: np.maximum(a, kind(0)),
        "Max": np.maximum,
        "Add": np.add,
        "Sub": np.subtract,
        "Mul": np.multiply,
        "Mean": lambda a, b: (a + b) / kind(2),
        "Linear": lambda a, b: kind(0.75) * a + kind(0.25) * b,
    }
    return steps[operation](*x)


def packed(value, room):
    if value.dtype.kind in "iu":
        return value.astype("<i2" if room < 1 << 14 else "<i4")
    return value.view(f"<u{value.itemsize}")


def by_codes(step, texts, scales, pair, room, real, claim):
    """Results for each combination of differences of codes and zero point, in ascending order."""
    operands = operands_of(*texts)
    for combination in product(range(-room, room + 1), repeat=len(operands)):
        if max(0, *combination) - min(0, *combination) > room:
            continue
        known = {name: np.int32(value) for name, value in zip(operands, combination)}
        values = []
        for text, is_exact in zip(texts, step["exact"]):
            if is_exact and split(text)[0]:
                fractions = {name: Fraction(value) for name, value in zip(operands, combination)}
                number = round(real_number(split(text)[1][0], fractions, Fraction(1)))
                value = np.asarray(min(max(number, -room - 1), room + 1))
            else:
                with np.errstate(all="ignore"):
                    value = np.asarray(floats(text, known, scales, real, -room - 1, room + 1))
            values.append(packed(value, room))
        yield combination, values


def by_decisions(step, texts, scales, pair, room, real, claim):
    """Results at the first and the last float between decisions, and within where one of them changes."""
    (operand,) = operands_of(*texts)
    kind = DTYPES[real]
    largest = np.full(scales.shape, ml_dtypes.finfo(kind).max, kind)

    def results(x, s):
        found = []
        for text, is_exact in zip(texts, step["exact"]):
            with np.errstate(all="ignore"):
                if is_exact:
                    inner = floats(split(text)[1][0], {operand: x}, s, real, 0, 0).astype(np.float64)
                    value = exactly_rounded(inner, s.astype(np.float64), room)
                else:
                    value = np.asarray(floats(text, {operand: x}, s, real, -room - 1, room + 1))
            found.append(packed(value, room))
        return found

    low = -largest
    for k in range(-room - 2, room + 3):
        with np.errstate(over="ignore"):
            decision = (k + 0.5) * scales.astype(np.float64)
            high = decision.astype(kind)
        high = np.where(high.astype(np.float64) < decision, np.nextafter(high, largest), high).astype(kind)
        high = np.minimum(np.maximum(high, -largest), largest)
        last = np.nextafter(high, -largest) if k < room + 2 else largest
        at_low, at_last = results(low, scales), results(last, scales)
        yield None, at_low
        yield None, at_last
        uneven = np.zeros(scales.shape, bool)
        for one, other in zip(at_low, at_last):
            uneven |= one != other
        places = np.flatnonzero(uneven & (low < last))
        first, end = np.nextafter(low[places], largest[places]), np.nextafter(last[places], -largest[places])
        within = first <= end
        if within.any():
            at_first = results(first[within], scales[places][within])
            at_end = results(end[within], scales[places][within])
            if any((one != other).any() for one, other in zip(at_first, at_end)):
                raise Wrong("a side changes between two decisions")
            yield None, at_first
        low = high


def exactly_rounded(values, scales, room):
    """round(value / scale) to nearest even; twice a value and an odd multiple of a scale are exact in float64."""
    floor = np.clip(np.floor(values / scales), -room - 2, room + 2)
    floor -= values < floor * scales
    floor += values >= (floor + 1) * scales
    side = np.sign(2 * values - (2 * floor + 1) * scales)
    up = (side > 0) | ((side == 0) & (np.mod(floor, 2) == 1))
    return np.clip(floor + up, -room - 1, room + 1).astype(np.int64)


def compare(values, differences, claim, kind, codes):
    """Wrong if results differ, after clamping, for a zero point of the claim."""
    left, right = np.broadcast_arrays(*values)
    places = np.flatnonzero(left != right)
    if not places.size:
        return
    lowest, highest = CODES[kind]
    for one, other in {(int(left.flat[k]), int(right.flat[k])) for k in places}:
        for zero in zero_points(claim["zero_points"], kind):
            if differences and not all(lowest <= d + zero <= highest for d in differences):
                continue
            sides = [min(max(value + zero, lowest), highest) if codes else value for value in (one, other)]
            if sides[0] != sides[1]:
                raise Wrong(f"the sides differ for zero point {zero}: {sides[0]} and {sides[1]}")


def zero_points(words, kind):
    lowest, highest = CODES[kind]
    every = range(lowest, highest + 1)
    named = {
        "all": every,
        "lowest": [lowest],
        "highest": [highest],
        "even": [z for z in every if z % 2 == 0],
        "odd": [z for z in every if z % 2],
    }
    return named[words] if words in named else [int(word) for word in words.split(",")]


# ---------------------------------------------------------------------------------------------------- counterexamples


def check_counterexample(claim, example):
    """That both sides are what it says there, and differ."""
    exact = [side.startswith("exact(") for side in (claim["left"], claim["right"])]
    sides = [side[6:-1] if real else side for side, real in zip((claim["left"], claim["right"]), exact)]
    rows = list(zip(*(columns(side, claim, claim["codes"]) for side in sides), strict=True))
    scales = {name: Fraction(float(text)) for name, text in example["scales"].items()}
    values = {name.replace("[0]", ""): Fraction(float(text)) for name, text in example["operands"].items()}
    for left, right in rows:
        if not set(operands_of(left, right)) <= set(values):
            continue
        found = [
            number(text, values, scales, example["zero_points"], claim, "" if real else claim["real"])
            for text, real in zip((left, right), exact)
        ]
        said = [Fraction(float(example[side])) for side in ("left", "right")]
        if found == said and found[0] != found[1]:
            return f"{left} is {example['left']}, {right} is {example['right']}"
    raise Wrong("the sides are not what the counterexample says, or do not differ")


def number(text, values, scales, zeros, claim, real):
    """A number as a fraction, each step rounded to the float type; in real arithmetic if there is none."""
    operation, inputs, rest = split(text)
    if not operation:
        return values[text]
    x = [number(one, values, scales, zeros, claim, real) for one in inputs]
    if operation == "Q":
        lowest, highest = CODES[claim["pairs"][rest[0]]]
        whole = round(rounded(x[0] / scales[rest[0]], real)) + zeros[rest[0]]
        return Fraction(min(max(whole, lowest), highest))
    if operation == "DQ":
        return rounded(rounded(x[0] - zeros[rest[0]], real) * scales[rest[0]], real)
    if operation == "Clip":
        return min(max(x[0], *[rounded(Fraction(float(rest[0])), real)]), rounded(Fraction(float(rest[1])), real))
    if operation == "Linear":
        three, one = rounded(x[0] * Fraction(3, 4), real), rounded(x[1] / 4, real)
        return rounded(three + one, real)
    steps = {
        "Relu": lambda a: max(a, Fraction(0)),
        "Max": max,
        "Add": lambda a, b: a + b,
        "Sub": lambda a, b: a - b,
        "Mul": lambda a, b: a * b,
        "Mean": lambda a, b: rounded(a + b, real) / 2,
    }
    return rounded(steps[operation](*x), real)


def real_number(text, values, scale):
    operation, inputs, _ = split(text)
    if not operation:
        return values[text]
    x = [real_number(one, values, scale) for one in inputs]
    return {
        "DQ": lambda a: a * scale,
        "Relu": lambda a: max(a, Fraction(0)),
        "Max": max,
        "Add": lambda a, b: a + b,
        "Sub": lambda a, b: a - b,
        "Mean": lambda a, b: (a + b) / 2,
        "Linear": lambda a, b: (3 * a + b) / 4,
    }[operation](*x)


def rounded(value, real):
    """To nearest even in a float type; Wrong where that overflows."""
    if not real or value == 0:
        return value
    p, emin, emax = FLOATS[real]
    exponent = abs(value).numerator.bit_length() - abs(value).denominator.bit_length()
    exponent -= abs(value) < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, emin) - p + 1)
    found = round(value / unit) * unit
    if abs(found) >= Fraction(2) ** (emax + 1):
        raise Wrong("a number overflows at the counterexample; its codes are not defined by rounding alone")
    return found
