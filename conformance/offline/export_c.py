"""Writes tiebreak_vectors.h and tiebreak_vectors.c: plain C99 tables, without allocation or a byte order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from tiebreak.conformance.offline.exported import CaseToExport, ExpectedOutput, Files, Numbered
from tiebreak.golden.problem import Array, codes_of, kind_of

HEADER = """\
/* Cases written by `tiebreak vectors export --format c`. Not edited by hand. */
#ifndef TIEBREAK_VECTORS_H
#define TIEBREAK_VECTORS_H
#include <stddef.h>
#include <stdint.h>

/* Elements are unsigned words of `width` bytes (1, 2, 4 or 8): the bit pattern of a float, the two's complement of an
   integer; types of fewer than 8 bits take one byte each. `type` is float32, bfloat16, int4, float8_e4m3fn, … */
typedef struct {
  const char *name, *type;
  int rank;
  const int64_t *shape;
  size_t count;
  int width;
  const void *data;
} tiebreak_tensor;

/* `exact` and `working` are the two results that conform. `status` of each element: 0 nothing is specified, 1 one
   of the two must come, 2 the same, and either zero will do. */
typedef struct {
  const char *name, *type;
  int rank;
  const int64_t *shape;
  size_t count;
  int width;
  const void *exact, *working;
  const uint8_t *status;
} tiebreak_expected;

/* `attributes` is a JSON object. */
typedef struct {
  const char *id, *operator_id, *attributes;
  int opset, input_count, output_count;
  const tiebreak_tensor *inputs;
  const tiebreak_expected *outputs;
} tiebreak_case;

extern const size_t tiebreak_case_count;
extern const tiebreak_case tiebreak_cases[];
#endif
"""


def any_case(number: int, one: CaseToExport) -> Files:
    """No files of its own: every case has a form in the table."""
    return {}


def c_files(cases: Sequence[Numbered]) -> Files:
    """The header and the table."""
    table = "\n".join(c_source([one for _, one in cases])) + "\n"
    return {"tiebreak_vectors.h": HEADER.encode(), "tiebreak_vectors.c": table.encode()}


def c_source(cases: Sequence[CaseToExport]) -> Iterator[str]:
    yield '#include "tiebreak_vectors.h"'
    for n, one in enumerate(cases):
        yield from case_data(n, one)
    yield f"const size_t tiebreak_case_count = {len(cases)};"
    yield "const tiebreak_case tiebreak_cases[] = {"
    for n, one in enumerate(cases):
        node = one.case.node
        attributes = json.dumps(dict(node.attributes), sort_keys=True)
        texts = ", ".join(c_string(text) for text in (one.case.id, node.operator, attributes))
        yield f"  {{{texts}, {node.opset}, {len(one.case.inputs)}, {len(one.outputs)}, i{n}, o{n}}},"
    yield "};"


def case_data(n: int, one: CaseToExport) -> Iterator[str]:
    inputs, outputs = [], []
    for k, (tensor, array) in enumerate(zip(one.case.node.inputs, one.case.inputs, strict=True)):
        yield from (word_table(f"i{n}_{k}", array), shape_table(f"i{n}_{k}_shape", array.shape))
        place = f"{array.ndim}, i{n}_{k}_shape, {array.size}, {width(array)}"
        inputs.append(f"{{{c_string(tensor.name)}, {c_string(tensor.element)}, {place}, i{n}_{k}}}")
    for k, output in enumerate(one.outputs):
        yield from output_data(f"o{n}_{k}", output)
        exact = output.array("exact")
        place = f"{exact.ndim}, o{n}_{k}_shape, {exact.size}, {width(exact)}"
        data = f"o{n}_{k}_exact, o{n}_{k}_working, o{n}_{k}_status"
        outputs.append(f"{{{c_string(output.name)}, {c_string(output.type)}, {place}, {data}}}")
    yield f"static const tiebreak_tensor i{n}[] = {{{', '.join(inputs)}}};"
    yield f"static const tiebreak_expected o{n}[] = {{{', '.join(outputs)}}};"


def output_data(name: str, output: ExpectedOutput) -> Iterator[str]:
    yield word_table(f"{name}_exact", output.array("exact"))
    yield word_table(f"{name}_working", output.array("working"))
    yield f"static const uint8_t {name}_status[] = {{{', '.join(map(str, output.status.tolist())) or 0}}};"
    yield shape_table(f"{name}_shape", output.shape)


def width(array: Array) -> int:
    return max(8, kind_of(array).bits) // 8


def word_table(name: str, array: Array) -> str:
    """A static table of the array's words. C has no empty arrays, so an empty one gets one word that is not counted."""
    bits = 8 * width(array)
    mask = (1 << max(bits, 8)) - 1
    values = ", ".join(
        f"0x{code & mask:x}u" + ("ll" if bits == 64 else "") for code in codes_of(array).reshape(-1).tolist()
    )
    return f"static const uint{bits}_t {name}[] = {{{values or 0}}};"


def shape_table(name: str, shape: Sequence[int]) -> str:
    return f"static const int64_t {name}[] = {{{', '.join(map(str, shape)) or 0}}};"


def c_string(text: str) -> str:
    """A C string literal; all but printable ASCII is escaped in octal."""
    plain = "".join(c if c.isascii() and c.isprintable() and c not in '"\\?' else octal(c) for c in text)
    return f'"{plain}"'


def octal(character: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in character.encode())
