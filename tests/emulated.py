"""Emulators of semantics and of black boxes, and what they give."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.conformance.audit.answer import AuditAnswer
from tiebreak.conformance.audit.operators import arithmetic_of
from tiebreak.conformance.emulators import tables
from tiebreak.conformance.emulators.files import Emulated
from tiebreak.conformance.emulators.job import DEFAULTS, FILES, as_bytes, emulator_data, spread
from tiebreak.conformance.emulators.running import RUNS
from tiebreak.conformance.operators.openvino_fake_quantize_facets import FakeQuantizeArithmetic
from tiebreak.conformance.operators.tensorflow_quantize_v2_facets import QuantizeV2Arithmetic
from tiebreak.conformance.semantics.cast import CastArithmetic, is_negative
from tiebreak.conformance.semantics.model import ANYTHING, Arithmetic, Probe, Semantics, codes, ids_of
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

SCALES = (0.1, 0.0235, 1.0, 2.0**-13, 3.7e-5, 300.0)
WITH_RESULTS = (CastArithmetic, FakeQuantizeArithmetic, QuantizeV2Arithmetic)  # of NaN and infinities, kept apart
LOOP = """
#include "%s"
void every(const float *x, float scale, int8_t zero_point, int8_t *y, long n) {
  for (long i = 0; i < n; i++) y[i] = quantize(x[i], scale, zero_point);
}
"""


def every_float16() -> Array:
    """All 65,536, as float32."""
    return np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)


def emulated(arithmetic: Arithmetic, semantics: Semantics) -> Emulated:
    return tables.emulated(arithmetic, semantics, "box", "1")


def probes_of(node: Node) -> list[Probe]:
    arithmetic = arithmetic_of(node)
    return [*arithmetic.first_probes(), *arithmetic.special_probes()]


def check_as_predicted(arithmetic: Arithmetic, semantics: Semantics, target: str, probes: list[Probe]) -> int:
    """Assert that a file gives what the table of semantics predicts; the number of elements with a prediction."""
    columns = zip(*((probe.x, *(spread(other, probe.x) for other in probe.others)) for probe in probes), strict=True)
    operands = [np.concatenate(column) for column in columns]
    wanted = np.concatenate([predicted(arithmetic, probe, semantics) for probe in probes])
    one = emulated(arithmetic, semantics)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, DEFAULTS[target].name)
        path.write_bytes(as_bytes(FILES[target](one, ["an emulator"])))
        found = codes(RUNS[target](path, one)(*one.taken(operands)))
    said = wanted != ANYTHING
    wrong = np.flatnonzero(said & (found != wanted))
    told = [(operand[wrong[:3]], wanted[wrong[:3]], found[wrong[:3]]) for operand in operands]
    assert wrong.size == 0, (ids_of(semantics), target, told)
    return int(said.sum())


def predicted(arithmetic: Arithmetic, probe: Probe, semantics: Semantics) -> Array:
    """The codes that the table says; of a cast, those that were seen of NaN and infinities."""
    special = arithmetic.special_of(probe) if isinstance(arithmetic, WITH_RESULTS) else ""
    if isinstance(arithmetic, FakeQuantizeArithmetic | QuantizeV2Arithmetic) and special:
        return np.array([arithmetic.special_code(arithmetic.seen[special][0], probe)])
    if isinstance(arithmetic, CastArithmetic) and special:
        seen = arithmetic.nan if special == "nan" else arithmetic.infinite
        return np.array([seen[is_negative(probe)]])
    return next(iter(arithmetic.predict(probe, [semantics])))


def written_for(answer: AuditAnswer, target: str, path: Path, name: str = "box") -> dict[str, Any]:
    """An emulator's file for an audit in this process."""
    return emulator_data(answer, answer.as_data({"backend": name, "version": "1"}), target, path, "tiebreak audit")


def shared_library(path: Path) -> Callable[[Array, float, int], Array]:
    """The function of a C file for every x, with float32 scales and int8 zero points."""
    source, library = path.with_name("loop.c"), path.with_suffix(".so")
    source.write_text(LOOP % path.name)
    subprocess.run(
        ["cc", "-std=c99", "-O2", "-shared", "-fPIC", "-DWITHOUT_MAIN", "-o", str(library), str(source), "-lm"],
        check=True,
    )
    every = ctypes.CDLL(str(library)).every

    def run(x: Array, scale: float, zero_point: int) -> Array:
        y = np.empty(x.shape, np.int8)
        every(
            x.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_float(scale),
            ctypes.c_int8(zero_point),
            y.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_long(x.size),
        )
        return y

    return run
