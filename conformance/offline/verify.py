"""`tiebreak verify`: judge the outputs that a device elsewhere gave for exported cases; see docs/offline.md.

Everything here is untrusted: sizes are checked before anything is read, nothing is unpickled, and what does not fit
costs its case, not the run.
"""

from __future__ import annotations

import json
import math
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.judging.truths import TruthCache
from tiebreak.conformance.main_job import made, write_and_explain
from tiebreak.conformance.offline.export import MANIFEST
from tiebreak.conformance.running.journal import check_discardable, held
from tiebreak.conformance.running.outcomes import with_right_outputs
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType, IntegerType
from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.golden.exit_codes import EXIT_NOTHING_RAN
from tiebreak.golden.files import bounded_text
from tiebreak.golden.nodes import Case, TensorType
from tiebreak.golden.problem import Array, array_of
from tiebreak.golden.problems import problems_of
from tiebreak.reports.records import parse_case

FORMAT = "tiebreak-export", 1
LARGEST_MANIFEST = 1 << 30
LONGEST_REASON = 2000


@dataclass(frozen=True)
class ExportedCase:
    """A case with the number under which its outputs come back, and their shapes."""

    number: int
    case: Case
    shapes: tuple[tuple[int, ...], ...]


def judged(folder: Path, name: str, version: str) -> tuple[BackendRecords, list[Case]]:
    """What `name` did, by the outputs found in folder/outputs, and the cases that were carried there.

    A case for which nothing came back is an error, one with a reason in NNNNNN.txt is unsupported.
    """
    wanted = read_manifest(folder)
    facts = {
        "name": name,
        "version": version,
        "spec": name,
        "operators": sorted({w.case.node.operator for w in wanted}),
    }
    records = BackendRecords(facts | {"attestation": {"outputs": str(folder / "outputs"), "ran": "elsewhere"}})
    cache = TruthCache()
    streamed = stream(folder / "outputs" / "all.bin", wanted)
    for one in wanted:
        brought = streamed.get(one.number) or outcome(folder / "outputs", one)
        record(records, one.case, with_right_outputs(one.case, brought), cache)
    return records, [one.case for one in wanted]


def read_manifest(folder: Path) -> list[ExportedCase]:
    path = folder / MANIFEST
    if not path.exists():
        raise InvalidInput(f"{folder}: no exported cases here (no readable {MANIFEST})")
    try:
        document = json.loads(bounded_text(path, LARGEST_MANIFEST, "a manifest"))
        if not isinstance(document, dict) or (document.get("format"), document.get("version")) != FORMAT:
            raise ValueError('"format" is not "tiebreak-export", version 1')
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"{path}: damaged manifest: {error}") from None
    try:
        return [wanted_of(row) for row in document["cases"]]
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError, AttributeError, InvalidInput) as error:
        raise DamagedFile(f"{path}: damaged manifest: {error}") from None


def wanted_of(row: dict[str, Any]) -> ExportedCase:
    case = parse_case(row)
    case = replace(case, flags=tuple(map(str, row["flags"])), clauses=tuple(map(str, row["clauses"])))
    return ExportedCase(int(row["number"]), case, tuple(problem.shape for problem in problems_of(case)))


def outcome(outputs: Path, one: ExportedCase) -> Outcome:
    """What came back for a case, in whichever form."""
    stem = outputs / f"{one.number:06d}"
    forms = {".npz": from_npz, ".json": from_json, ".bin": from_bin, "": from_onnx}
    try:
        reason = stem.with_name(f"{stem.name}.txt")
        if reason.is_file():
            return Outcome(
                "unsupported", message=one_line(reason.read_bytes()[:LONGEST_REASON].decode(errors="replace"))
            )
        for suffix, read in forms.items():
            path = stem.with_name(stem.name + suffix)
            if path.exists():
                return Outcome("ok", tuple(read(path, one)))
    except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError, zipfile.BadZipFile) as error:
        return Outcome("error", message=f"{stem.name}: {one_line(str(error))}")
    return Outcome("error", message="no output was brought back for this case")


def one_line(text: str) -> str:
    return " ".join(text.split())[:LONGEST_REASON] or "no reason given"


def tensors(one: ExportedCase) -> Iterator[tuple[TensorType, tuple[int, ...]]]:
    return zip(one.case.node.outputs, one.shapes, strict=True)


def from_npz(path: Path, one: ExportedCase) -> Iterator[Array]:
    """Arrays by the outputs' names, or output_0, output_1 …; in the output's type or, if NumPy lacks it, bits."""
    largest = sum(math.prod(shape) * 8 + 4096 for shape in one.shapes)
    with zipfile.ZipFile(path) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > largest:
            raise ValueError("holds more than the outputs of this case")
    with np.load(path, allow_pickle=False) as arrays:
        for k, (tensor, _) in enumerate(tensors(one)):
            name = tensor.name if tensor.name in arrays else f"output_{k}"
            if name not in arrays:
                raise ValueError(f"no array {tensor.name!r} or {name!r}; it has: {', '.join(arrays)[:200]}")
            yield typed(arrays[name], tensor)


def typed(array: Array, tensor: TensorType) -> Array:
    """An array in the output's own type; bits or 8-bit carriers of types that NumPy lacks become it."""
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
    """{"outputs": [{"bits": "…"} or {"values": "…"}, …]} in the node's order; "shape" may be given."""
    if path.stat().st_size > 64 * sum(math.prod(shape) + 64 for shape in one.shapes):
        raise ValueError("larger than the outputs of this case can be")
    found = json.loads(path.read_text(encoding="utf-8"))["outputs"]
    if len(found) != len(one.shapes):
        raise ValueError(f"{len(found)} outputs, the node has {len(one.shapes)}")
    for item, (tensor, shape) in zip(found, tensors(one), strict=True):
        kind = ELEMENT_TYPES[tensor.dtype.name]
        words = str(item["bits"] if isinstance(kind, FloatType) else item["values"]).split()
        codes = [int(word, 16 if isinstance(kind, FloatType) else 10) for word in words]
        yield array_of(kind.name, tuple(item.get("shape", shape)), codes, tensor.name)


def from_bin(path: Path, one: ExportedCase) -> Iterator[Array]:
    """The raw little-endian outputs one after the other; types of fewer than 8 bits take a byte each."""
    sizes = [byte_size(tensor, shape) for tensor, shape in tensors(one)]
    if path.stat().st_size != sum(sizes):
        raise ValueError(f"{path.stat().st_size} bytes, the outputs have {sum(sizes)}")
    yield from split(path.read_bytes(), one)


def byte_size(tensor: TensorType, shape: tuple[int, ...]) -> int:
    return math.prod(shape) * max(8, ELEMENT_TYPES[tensor.dtype.name].bits) // 8


def split(data: bytes, one: ExportedCase) -> Iterator[Array]:
    start = 0
    for tensor, shape in tensors(one):
        end = start + byte_size(tensor, shape)
        kind = ELEMENT_TYPES[tensor.dtype.name]
        words = np.frombuffer(data[start:end], f"<u{max(8, kind.bits) // 8}")
        yield from_words(words, tensor, shape)
        start = end


def from_words(words: Array, tensor: TensorType, shape: tuple[int, ...]) -> Array:
    """Words as exported: bits of floats, two's complement of integers, a byte for each of fewer bits."""
    kind, width = ELEMENT_TYPES[tensor.dtype.name], words.dtype.itemsize
    sign = "i" if isinstance(kind, IntegerType) and kind.signed else "u"
    return array_of(kind.name, shape, words.astype(f"=u{width}").view(f"{sign}{width}"), tensor.name)


def from_onnx(path: Path, one: ExportedCase) -> Iterator[Array]:
    """output_0.pb … in a folder NNNNNN: onnx.TensorProto, as ONNX backend tests have them."""
    from onnx import TensorProto, numpy_helper

    for k, (tensor, shape) in enumerate(tensors(one)):
        file = path / f"output_{k}.pb"
        if file.stat().st_size > 8 * math.prod(shape) + 65536:
            raise ValueError(f"{file.name} is larger than this output can be")
        message = TensorProto()
        try:
            message.ParseFromString(file.read_bytes())
        except Exception as error:  # protobuf's own exception type moved between releases
            raise ValueError(f"{file.name} is no TensorProto: {error}") from None
        yield typed(numpy_helper.to_array(message), tensor)


def stream(path: Path, wanted: Sequence[ExportedCase]) -> dict[int, Outcome]:
    """Every case's outputs from one file, in the manifest's order: what a device without a file system can send."""
    if not path.is_file():
        return {}
    sizes = [sum(byte_size(tensor, shape) for tensor, shape in tensors(one)) for one in wanted]
    if path.stat().st_size != sum(sizes):
        raise InvalidInput(f"{path}: {path.stat().st_size} bytes, the outputs of all cases have {sum(sizes)}")
    data, start, found = path.read_bytes(), 0, {}
    for one, size in zip(wanted, sizes, strict=True):
        found[one.number] = streamed(data[start : start + size], one)
        start += size
    return found


def streamed(data: bytes, one: ExportedCase) -> Outcome:
    try:
        return Outcome("ok", tuple(split(data, one)))
    except ValueError as error:
        return Outcome("error", message=one_line(str(error)))


def verify_job(folder: Path, name: str, version: str, run_dir: Path, *, as_json: bool) -> int:
    """Judge, write the run folder with its report, print; the exit code by the contract's table."""
    returned = folder / "outputs"
    if read_manifest(folder) and not (returned.is_dir() and any(returned.iterdir())):
        print(f"tiebreak: nothing ran: no outputs in {returned}", file=sys.stderr)
        return EXIT_NOTHING_RAN
    with made(run_dir), held(run_dir):
        check_discardable(run_dir)
        records, cases = judged(folder, name, version)
        facts = {"command": "", "level": "offline", "seed": 0, "time_limit": 0.0, "folder": str(folder)}
        return write_and_explain([records], cases, run_dir, facts, show="json" if as_json else "tables")
