"""`tiebreak verify`: judges the outputs that a device elsewhere gave for exported cases; see docs/offline.md.

Every file read here is untrusted. Sizes are checked before reading, nothing is unpickled, and a file that does not fit
its case costs that case, not the run.
"""

from __future__ import annotations

import json
import math
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.judging.chunk import Chunks, chunks_of
from tiebreak.conformance.main_job import made_run_folder, write_and_explain
from tiebreak.conformance.offline.manifest import (
    LONGEST_REASON,
    ExportedCase,
    ExportedCases,
    one_line_reason,
    read_manifest,
)
from tiebreak.conformance.running.journal import check_discardable, run_lock
from tiebreak.conformance.running.recording import BackendRecords, record_chunk
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType, IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.exit_codes import EXIT_NOTHING_RAN
from tiebreak.golden.nodes import Case, TensorType
from tiebreak.golden.problem import Array, array_of
from tiebreak.reports.records import OFFLINE


def judge_returned(folder: Path, name: str, version: str) -> tuple[BackendRecords, list[Case]]:
    """The records of the backend `name`, from the outputs found in folder/outputs, and the exported cases.

    A case without outputs is an error. One with a reason in NNNNNN.txt is unsupported, and so is one that the layout
    has no form for.
    """
    return judge_outcomes(folder, read_manifest(folder), name, version)


def judge_outcomes(folder: Path, exported: ExportedCases, name: str, version: str) -> tuple[BackendRecords, list[Case]]:
    wanted, cases = exported.cases, [one.case for one in exported.cases]
    records = BackendRecords(facts_of(folder, cases, name, version))
    streamed = outcomes_from_stream(folder / "outputs" / "all.bin", [one for one in wanted if not one.reason])
    chunks, numbers = Chunks(), iter(wanted)
    for part in chunks_of(cases):
        own = (next(numbers) for _ in part)
        outcomes = [streamed.get(one.number) or returned_outcome(folder / "outputs", one) for one in own]
        record_chunk(records, part, outcomes, chunks)
    return records, cases


def facts_of(folder: Path, cases: Sequence[Case], name: str, version: str) -> dict[str, Any]:
    """What run.json says of the device: it claims what was exported, and nobody here can tell what it is."""
    operators = sorted({case.node.operator for case in cases})
    said = {"name": name, "version": version, "spec": name, "library": "", "operators": operators, "claimed": operators}
    attested = {"outputs": str(folder / "outputs"), "ran": "elsewhere"}
    return said | {"claims": {}, "maps": {}, "attestation": attested}


def returned_outcome(outputs: Path, one: ExportedCase) -> Outcome:
    """The outcome of a case, from whichever kind of file was brought back for it."""
    if one.reason:
        return Outcome("unsupported", message=f"not exported: {one.reason}")
    stem = outputs / f"{one.number:06d}"
    forms = {".npz": from_npz, ".json": from_json, ".bin": from_bin, "": from_onnx}
    try:
        reason = stem.with_name(f"{stem.name}.txt")
        if reason.is_file():
            return Outcome(
                "unsupported", message=one_line_reason(reason.read_bytes()[:LONGEST_REASON].decode(errors="replace"))
            )
        for suffix, read in forms.items():
            path = stem.with_name(stem.name + suffix)
            if path.exists():
                return Outcome("ok", tuple(read(path, one)))
    except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError, zipfile.BadZipFile) as error:
        return Outcome("error", message=f"{stem.name}: {one_line_reason(str(error))}")
    return Outcome("error", message="no output was brought back for this case")


def outputs_with_shapes(one: ExportedCase) -> Iterator[tuple[TensorType, tuple[int, ...]]]:
    return zip(one.case.node.outputs, one.shapes, strict=True)


def from_npz(path: Path, one: ExportedCase) -> Iterator[Array]:
    """Arrays named like the outputs, or output_0, output_1 …; in the output's type or, if NumPy lacks it, as bits."""
    largest = sum(math.prod(shape) * 8 + 4096 for shape in one.shapes)
    with zipfile.ZipFile(path) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > largest:
            raise ValueError("holds more than the outputs of this case")
    with np.load(path, allow_pickle=False) as arrays:
        for k, (tensor, _) in enumerate(outputs_with_shapes(one)):
            name = tensor.name if tensor.name in arrays else f"output_{k}"
            if name not in arrays:
                raise ValueError(f"no array {tensor.name!r} or {name!r}; it has: {', '.join(arrays)[:200]}")
            yield as_output_type(arrays[name], tensor)


def as_output_type(array: Array, tensor: TensorType) -> Array:
    """The array in the output's type; for types that NumPy lacks it may hold bits, or small integers in 8 bits."""
    kind, wanted = ELEMENT_TYPES[tensor.dtype.name], tensor.dtype
    if array.dtype == wanted:
        return array
    if isinstance(kind, FloatType) and array.dtype == np.dtype(f"uint{max(8, kind.bits)}"):
        return np.ascontiguousarray(array).view(wanted).reshape(array.shape)
    if not isinstance(kind, FloatType) and kind.bits < 8 and array.dtype in (np.int8, np.uint8):
        if array.size and not (kind.lowest <= int(array.min()) and int(array.max()) <= kind.highest):
            raise ValueError(f"{tensor.name} has a value outside {kind.name}")
        return array.astype(wanted)
    return array  # of another type: the judge says so


def from_json(path: Path, one: ExportedCase) -> Iterator[Array]:
    """Outputs in the node's order: {"outputs": [{"bits": "…"} or {"values": "…"}, …]}; "shape" is optional."""
    if path.stat().st_size > 64 * sum(math.prod(shape) + 64 for shape in one.shapes):
        raise ValueError("larger than the outputs of this case can be")
    document = json.loads(path.read_text(encoding="utf-8"))
    if not (isinstance(document, dict) and isinstance(found := document.get("outputs"), list)):
        raise ValueError("no object with a list 'outputs'")
    if len(found) != len(one.shapes):
        raise ValueError(f"{len(found)} outputs, the node has {len(one.shapes)}")
    for item, (tensor, shape) in zip(found, outputs_with_shapes(one), strict=True):
        kind = ELEMENT_TYPES[tensor.dtype.name]
        key, base = ("bits", 16) if isinstance(kind, FloatType) else ("values", 10)
        if not (isinstance(item, dict) and key in item):
            raise ValueError(f"output {tensor.name} of {kind.name} is given as {{{key!r}: …}}, which is not there")
        codes = [int(word, base) for word in str(item[key]).split()]
        yield array_of(kind.name, tuple(item.get("shape", shape)), codes, tensor.name)


def from_bin(path: Path, one: ExportedCase) -> Iterator[Array]:
    """The raw little-endian outputs, one after the other; elements of fewer than 8 bits take a byte each."""
    sizes = [byte_size(tensor, shape) for tensor, shape in outputs_with_shapes(one)]
    if path.stat().st_size != sum(sizes):
        raise ValueError(f"{path.stat().st_size} bytes, the outputs have {sum(sizes)}")
    yield from split_outputs(path.read_bytes(), one)


def byte_size(tensor: TensorType, shape: tuple[int, ...]) -> int:
    return math.prod(shape) * max(8, ELEMENT_TYPES[tensor.dtype.name].bits) // 8


def split_outputs(data: bytes, one: ExportedCase) -> Iterator[Array]:
    start = 0
    for tensor, shape in outputs_with_shapes(one):
        end = start + byte_size(tensor, shape)
        kind = ELEMENT_TYPES[tensor.dtype.name]
        words = np.frombuffer(data[start:end], f"<u{max(8, kind.bits) // 8}")
        yield from_words(words, tensor, shape)
        start = end


def from_words(words: Array, tensor: TensorType, shape: tuple[int, ...]) -> Array:
    """An output from unsigned words: bits of floats, two's complement of integers, a byte for each small element."""
    kind, width = ELEMENT_TYPES[tensor.dtype.name], words.dtype.itemsize
    sign = "i" if isinstance(kind, IntegerType) and kind.signed else "u"
    return array_of(kind.name, shape, words.astype(f"=u{width}").view(f"{sign}{width}"), tensor.name)


def from_onnx(path: Path, one: ExportedCase) -> Iterator[Array]:
    """The files output_0.pb … of a folder NNNNNN: onnx.TensorProto, as in ONNX backend tests."""
    from onnx import TensorProto, numpy_helper

    for k, (tensor, shape) in enumerate(outputs_with_shapes(one)):
        file = path / f"output_{k}.pb"
        if file.stat().st_size > 8 * math.prod(shape) + 65536:
            raise ValueError(f"{file.name} is larger than this output can be")
        message = TensorProto()
        try:
            message.ParseFromString(file.read_bytes())
        except Exception as error:  # protobuf's own exception type moved between releases
            raise ValueError(f"{file.name} is no TensorProto: {error}") from None
        yield as_output_type(numpy_helper.to_array(message), tensor)


def outcomes_from_stream(path: Path, wanted: Sequence[ExportedCase]) -> dict[int, Outcome]:
    """The outputs of all cases from one file, in the manifest's order, for devices without a file system."""
    if not path.is_file():
        return {}
    sizes = [sum(byte_size(tensor, shape) for tensor, shape in outputs_with_shapes(one)) for one in wanted]
    if path.stat().st_size != sum(sizes):
        raise InvalidInput(f"{path}: {path.stat().st_size} bytes, the outputs of all cases have {sum(sizes)}")
    data, start, found = path.read_bytes(), 0, {}
    for one, size in zip(wanted, sizes, strict=True):
        found[one.number] = streamed_outcome(data[start : start + size], one)
        start += size
    return found


def streamed_outcome(data: bytes, one: ExportedCase) -> Outcome:
    try:
        return Outcome("ok", tuple(split_outputs(data, one)))
    except ValueError as error:
        return Outcome("error", message=one_line_reason(str(error)))


def verify_job(
    folder: Path,
    name: str,
    version: str,
    run_dir: Path,
    *,
    as_json: bool,
    strict: bool = False,
    discard: bool = False,
) -> int:
    """Judge the outputs brought back, write the run folder and its report, and return the exit code.

    InvalidInput, without `discard`, for a folder with an unfinished run.
    """
    returned = folder / "outputs"
    exported = read_manifest(folder)
    if exported.cases and not (returned.is_dir() and any(returned.iterdir())):
        print(f"tiebreak: nothing ran: no outputs in {returned}", file=sys.stderr)
        return EXIT_NOTHING_RAN
    with made_run_folder(run_dir), run_lock(run_dir):
        if not discard:
            check_discardable(run_dir)
        records, cases = judge_outcomes(folder, exported, name, version)
        facts = {"command": "", "level": OFFLINE, "seed": 0, "time_limit": 0.0, "folder": str(folder)}
        facts["strict"] = strict
        facts |= exported.planned
        return write_and_explain([records], cases, run_dir, facts, show="json" if as_json else "tables")
