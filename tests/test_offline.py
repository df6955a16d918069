"""Cases leave in every layout, outputs come back in every form and are judged; what is broken costs its case."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from judged_offline import verify

from tiebreak.cli import main
from tiebreak.cli.vectors import LAYOUT_NAMES
from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.offline.export import export
from tiebreak.conformance.offline.export_plain import as_numpy_array
from tiebreak.conformance.offline.exported import ExpectedOutput, case_to_export
from tiebreak.conformance.offline.layouts import LAYOUTS
from tiebreak.conformance.offline.verify import verify_job
from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.golden.problem import codes_of
from tiebreak.reports.libraries import library_of
from tiebreak.reports.rows import discrepancy_rows, result_rows

DOCS = Path(__file__).parent.parent / "docs" / "offline.md"
SOME = {
    "integers": Selection(operators=("onnx.QuantizeLinear",), input_type="float32", output_type="int8", level=""),
    "4 bits": Selection(operators=("ngraph.Quantize",), input_type="bfloat16", output_type="int4", level=""),
    "bfloat16": Selection(operators=("ngraph.Dequantize",), input_type="uint8", output_type="bfloat16", level=""),
    "float64": Selection(operators=("openvino.FakeQuantize",), input_type="float64", level=""),
    "three outputs": Selection(operators=("tensorflow.QuantizeV2",), output_type="int8", level=""),
    "float8": Selection(operators=("onnx.QuantizeLinear",), output_type="float8_e4m3fn", level=""),
}


def bring_back(folder: Path, selection: Selection, form: str) -> int:
    """Write the exact results as a device would; the number of cases."""
    stream = b""
    cases = plan(selection)
    for number, case in enumerate(cases, start=1):
        one = case_to_export(case, truths_of(case))
        stem, arrays = folder / "outputs" / f"{number:06d}", [whatever_is_exact(o) for o in one.outputs]
        raw = b"".join(as_numpy_array(a).astype(as_numpy_array(a).dtype.newbyteorder("<")).tobytes() for a in arrays)
        if form == "npz":
            np.savez(stem, **{o.name: as_numpy_array(a) for o, a in zip(one.outputs, arrays, strict=True)})  # type: ignore[arg-type]
        elif form == "bin":
            stem.with_suffix(".bin").write_bytes(raw)
        elif form == "json":
            items = [as_json(a) for a in arrays]
            stem.with_suffix(".json").write_text(json.dumps({"outputs": items}), encoding="utf-8")
        stream += raw
    if form == "all.bin":
        (folder / "outputs" / "all.bin").write_bytes(stream)
    return len(cases)


def whatever_is_exact(output: ExpectedOutput) -> np.ndarray[Any, Any]:
    """The first allowed mode's exact result, also where the document leaves the mode open."""
    return replace(output, status=np.ones_like(output.status)).array("exact")


def as_json(array: np.ndarray[Any, Any]) -> dict[str, str]:
    codes = codes_of(array).reshape(-1).tolist()
    if array.dtype.name.startswith(("int", "uint")):
        return {"values": " ".join(map(str, codes))}
    return {"bits": " ".join(f"{code:x}" for code in codes)}


@pytest.mark.few(5)
@pytest.mark.parametrize("form", ["npz", "bin", "json", "all.bin"])
@pytest.mark.parametrize("what", SOME)
def test_exact_results_come_back_as_exact(tmp_path: Path, what: str, form: str) -> None:
    folder = tmp_path / "lab"
    written, left_out = export(SOME[what], folder, "c")
    assert bring_back(folder, SOME[what], form) == written > 5
    assert left_out == 0
    records = verify(folder, "device", "1")
    assert records.info["exit"] == 0
    assert len(records.discrepancies) == 0
    assert {row["verdict"] for row in result_rows(records.results)} <= {"exact", "unspecified"}
    assert any(row["flags"] for row in result_rows(records.results))


@pytest.mark.parametrize("layout", ["json", "npz"])
def test_files_hold_inputs_and_both_truths(tmp_path: Path, layout: str) -> None:
    export(SOME["4 bits"], tmp_path, layout)
    cases = plan(SOME["4 bits"])
    paths = sorted((tmp_path / "cases").iterdir())
    assert len(paths) == len(cases)
    for path, case in zip(paths, cases, strict=True):
        assert case.expected is not None
        known = case.expected.exact_state != 2
        if layout == "json":
            document = json.loads(path.read_text(encoding="utf-8"))
            tokens = document["outputs"][0]["exact"].split()
            assert document["id"] == case.id
            assert [int(token) for token in tokens if token != "?"] == case.expected.exact[known].tolist()[
                : len(tokens)
            ]
            assert len(document["inputs"][0]["bits"].split()) == case.inputs[0].size
            continue
        with np.load(path, allow_pickle=False) as arrays:
            assert np.array_equal(arrays["input_0"].reshape(-1), codes_of(case.inputs[0]).reshape(-1))
            both = arrays["status_0"].reshape(-1) > 0
            assert np.array_equal(arrays["exact_0"].reshape(-1)[both], case.expected.exact[both])


def one_case(tmp_path: Path) -> Path:
    export(SOME["integers"], tmp_path / "lab", "npz")
    bring_back(tmp_path / "lab", SOME["integers"], "npz")
    return tmp_path / "lab"


def verdicts(folder: Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in result_rows(verify(folder, "device", "").results):
        found[row["verdict"]] = found.get(row["verdict"], 0) + 1
    return found


def test_a_case_without_a_form_is_a_line_with_the_reason(tmp_path: Path) -> None:
    arguments = ["vectors", "export", str(tmp_path / "lab"), "--format", "onnx", "--operator", "ngraph.Quantize"]
    said = CliRunner().invoke(main, [*arguments, "--input-type", "float32", "--type", "int8"])
    assert said.exit_code == 0
    lines = (tmp_path / "lab" / "unsupported.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == int(re.findall(r"; (\d+) have no form", said.output)[0]) > 10
    assert all(re.fullmatch(r"\S+: unsupported: \S.*", line) for line in lines)
    assert any("two results conform" in line for line in lines)


def test_the_command_offers_every_layout() -> None:
    assert set(LAYOUT_NAMES) == set(LAYOUTS)


def test_one_wrong_element_is_one_discrepancy_with_its_case(tmp_path: Path) -> None:
    folder = one_case(tmp_path)
    path = folder / "outputs" / "000005.npz"
    with np.load(path) as arrays:
        y = arrays["y"].copy()
    y.reshape(-1)[0] ^= 1
    np.savez(path, y=y)
    records = verify(folder, "device", "1")
    assert records.info["exit"] == 1
    (row,) = discrepancy_rows(records.discrepancies)
    assert row["index"] == 0
    assert abs(row["distance"]) == 1


BROKEN = {
    "missing": lambda p: p.unlink(),
    "no archive": lambda p: p.write_bytes(b"PK nothing"),
    "another name": lambda p: np.savez(p, z=np.zeros(3)),
    "objects": lambda p: np.savez(p, y=np.array([{}], object)),
    "another type": lambda p: np.savez(p, y=np.zeros(3, np.float32)),
    "another shape": lambda p: np.savez(p, y=np.zeros((1, 1, 1, 1), np.int8)),
    "a bomb": lambda p: np.savez_compressed(p, y=np.zeros(10_000_000, np.int8)),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_broken_costs_its_case(tmp_path: Path, what: str) -> None:
    folder = one_case(tmp_path)
    BROKEN[what](folder / "outputs" / "000007.npz")
    records = verify(folder, "device", "1")
    failed = [row for row in result_rows(records.results) if row["verdict"] == "error"]
    assert len(failed) == 1
    assert failed[0]["message"]
    assert records.info["exit"] == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"outputs": [{"bits": "00 01"}]}', "output y of int8 is given as {'values': …}, which is not there"),
        ('{"outputs": ["00 01"]}', "output y of int8 is given as {'values': …}, which is not there"),
        ('{"y": []}', "no object with a list 'outputs'"),
        ("[1]", "no object with a list 'outputs'"),
    ],
)
def test_json_that_is_not_as_documented_is_explained(tmp_path: Path, text: str, message: str) -> None:
    folder = one_case(tmp_path)
    (folder / "outputs" / "000007.npz").unlink()
    (folder / "outputs" / "000007.json").write_text(text, encoding="utf-8")
    (failed,) = [row for row in result_rows(verify(folder, "device", "1").results) if row["verdict"] == "error"]
    assert failed["message"] == f"000007: {message}"


def test_a_reason_makes_it_unsupported(tmp_path: Path) -> None:
    folder = one_case(tmp_path)
    (folder / "outputs" / "000007.txt").write_text("no such\nkernel", encoding="utf-8")
    rows = result_rows(verify(folder, "device", "1").results)
    assert [row["message"] for row in rows if row["verdict"] == "unsupported"] == ["no such kernel"]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("named", "version"),
    [(["onnxruntime@1.20.1"], "1.20.1"), (["npu@2", "--backend-version", "3"], "3"), (["npu"], "unknown")],
)
def test_a_release_in_the_name_is_the_version(tmp_path: Path, named: list[str], version: str) -> None:
    folder = one_case(tmp_path)
    (folder / "outputs" / "000007.txt").write_text("no kernel", encoding="utf-8")
    CliRunner().invoke(main, ["verify", str(folder), "--backend-name", *named])
    assert json.loads((folder / "run" / "run.json").read_text())["backends"][0]["version"] == version


def test_a_device_is_its_own_library(tmp_path: Path) -> None:
    folder = one_case(tmp_path)
    (device,) = verify(folder, "my-npu", "1").info["backends"]
    assert library_of(device) == "my-npu"


def test_nothing_brought_back_is_nothing_ran(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    export(SOME["integers"], tmp_path / "lab", "json")
    assert verify_job(tmp_path / "lab", "device", "", tmp_path / "run", as_json=False) == 4
    assert "nothing ran" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_damaged_or_missing_manifest_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"manifest\.json"):
        verify(tmp_path, "device", "")
    for text in ("", "[]", '{"format": "tiebreak-export", "version": 1, "cases": [{"number": 1}]}', "[" * 100_000):
        (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
        with pytest.raises(DamagedFile, match=r"manifest\.json"):
            verify(tmp_path, "device", "")


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x", encoding="utf-8")
    with pytest.raises(InvalidInput, match="not empty"):
        export(SOME["integers"], tmp_path, "json")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_the_documents_c_program_compiles_runs_and_is_judged(tmp_path: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "a C compiler is needed, as for the kernel"
    (program,) = re.findall(r"```c\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "device.c").write_text(program, encoding="utf-8")
    selection = Selection(
        operators=("onnx.QuantizeLinear",),
        attributes={"axis": 0, "block_size": 0},
        input_type="float32",
        output_type="int8",
        level="",
    )
    written, _ = export(selection, tmp_path / "lab", "c")
    words = [
        compiler,
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-I{tmp_path / 'lab'}",
        "-o",
        str(tmp_path / "device"),
    ]
    sources = [str(tmp_path / "device.c"), str(tmp_path / "lab" / "tiebreak_vectors.c")]
    subprocess.run([*words, *sources, "-lm"], check=True, timeout=120)
    with (tmp_path / "lab" / "outputs" / "all.bin").open("wb") as stream:
        subprocess.run([tmp_path / "device"], stdout=stream, check=True, timeout=60)
    records = verify(tmp_path / "lab", "device", "1")
    assert len(records.results) == written > 4
    assert records.info["exit"] == 0, discrepancy_rows(records.discrepancies[:2])


def test_onnx_form_is_read_by_onnx_and_reproduced_by_its_runtime(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    selection = replace(SOME["integers"], opset=21)
    written, left_out = export(selection, tmp_path / "lab", "onnx")
    assert written > 60
    assert left_out > 0
    same = 0
    for folder in sorted((tmp_path / "lab" / "cases").iterdir()):
        data = folder / "test_data_set_0"
        onnx.checker.check_model(onnx.load(folder / "model.onnx"), full_check=True)
        tensors = {path.stem: onnx.numpy_helper.to_array(onnx.load_tensor(path)) for path in data.iterdir()}
        session = runtime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
        feeds = {value.name: tensors[f"input_{k}"] for k, value in enumerate(session.get_inputs())}
        (y,) = session.run(None, feeds)
        same += int(np.array_equal(y, tensors["output_0"]))
    assert same > 0.9 * written
