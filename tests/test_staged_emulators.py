"""Emulators of operators whose outputs come in stages: each output's table, and the function of them all."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audited_stages import (
    ELEMENTS,
    EXPONENTS,
    INTEGERS,
    POINTS,
    RESULTS,
    SCALES,
    SMALL_BLOCKS,
    TENSORS,
    blocks,
    dynamic,
    exponent_of_integers,
    plain_scale,
    point_ties_away,
    result_by_steps_over_width,
    result_of_square_root,
    scale_by_reciprocal,
    truncated_point,
)
from auditing import single_changes
from boxed_backend import Backend
from click.testing import CliRunner
from emulated import check_as_predicted
from wrong_gguf_dequantize import in_numpy

from tiebreak.adapters.registry import load_backend
from tiebreak.cli import main
from tiebreak.conformance.audit.operators import STAGED, audited_node
from tiebreak.conformance.audit.staged import Caller, staged_answers
from tiebreak.conformance.emulators.composed import OF_STAGES
from tiebreak.conformance.emulators.job import staged_emulator_data
from tiebreak.conformance.emulators.running import loaded
from tiebreak.golden.problem import Array

DYNAMIC, BLOCKS, BACK = "onnx.DynamicQuantizeLinear", "ocp.MXQuantize", "gguf.Dequantize"
SMALL, GLOBAL = "nvidia.NVFP4Quantize", "global_amax"
TARGETS = ("numpy", "torch", "c")
ENDINGS = {"numpy": ".py", "torch": ".py", "c": ".c"}


def written(
    box: Callable[..., Any],
    target: str,
    path: Path,
    operator: str = DYNAMIC,
    kind: str = "",
    extra: str = "",
    **attributes: Any,
) -> Any:
    node = audited_node(operator, attributes, kind, "", 0, extra)
    found = list(staged_answers(Backend(box), node))  # type: ignore[arg-type]
    facts = [
        answer.as_data({"backend": "box", "version": "1", "output": stage.output, "given": list(stage.given)})
        for stage, answer in found
    ]
    data = {"backend": "box", "version": "1", "operator": operator, "stages": facts}
    return staged_emulator_data(node, [answer for _, answer in found], data, target, path, "tiebreak audit")


def arrays() -> list[Array]:
    """Tensors of all sizes and ranges, ties among them, and one of zeros."""
    random = np.random.default_rng(5)
    found = [random.normal(size=size) * 10.0 ** random.integers(-3, 4) for size in random.integers(1, 200, 60)]
    found += [np.abs(one) for one in found[:5]] + [-np.abs(one) for one in found[5:10]]
    found += [np.concatenate([[-1.5, 253.5], np.arange(-1, 254) + 0.5]), np.zeros(3)]
    return [one.astype(np.float32) for one in found]


def in_c(path: Path) -> Callable[[Array], tuple[Array, ...]]:
    """The function of a file in C."""
    function = compiled(path).quantize

    def run(x: Array) -> tuple[Array, ...]:
        y, scale, point = np.zeros(x.shape, np.uint8), np.zeros((), np.float32), np.zeros((), np.uint8)
        places = [one.ctypes.data_as(ctypes.c_void_p) for one in (x, y, scale, point)]
        function(places[0], ctypes.c_size_t(x.size), *places[1:])
        return y, scale, point

    return run


def compiled(path: Path) -> ctypes.CDLL:
    library = path.with_suffix(".so")
    options = ["-std=c99", "-O2", "-Wall", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["cc", *options, "-o", str(library), str(path), "-lm"], check=True)
    return ctypes.CDLL(str(library))


def function_of(path: Path, target: str) -> Callable[[Array], tuple[Array, ...]]:
    if target == "c":
        return in_c(path)
    found = loaded(path, "quantize")
    if target == "numpy":
        return found
    import torch

    return lambda x: tuple(one.numpy() for one in found(torch.from_numpy(x)))


@pytest.mark.few(3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "box",
    [
        dynamic(),
        dynamic(scale_by_reciprocal, truncated_point, result_by_steps_over_width),
        *(dynamic(scale=one) for one, _ in SCALES),
        *(dynamic(point=one) for one, _ in POINTS),
        *(dynamic(result=one) for one, _ in RESULTS),
        dynamic(point=point_ties_away, result=RESULTS[3][0]),
    ],
)
def test_a_file_gives_what_the_box_gives_a_tensor(box: Any, target: str, tmp_path: Path) -> None:
    if target == "torch":
        pytest.importorskip("torch")
    path = tmp_path / f"box{ENDINGS[target]}"
    told = written(box, target, path)
    assert told["exit"] == 0 and told["elements"] > 15_000, told
    run = function_of(path, target)
    for x in arrays():
        with np.errstate(all="ignore"):
            wanted = box(x)
        if wanted[1] > 0:  # what is divided by 0 was not asked
            found = run(x)
            assert all(np.array_equal(one, other) for one, other in zip(found, wanted, strict=True)), x


def rows() -> Array:
    """Blocks of all sizes, of powers of two and of zeros."""
    random = np.random.default_rng(5)
    found = random.normal(size=(400, 64)) * 2.0 ** random.integers(-60, 60, (400, 1))
    found[:20] = np.ldexp(1.0, random.integers(-9, 9, (20, 64)))
    found[0] = 0
    return found.astype(np.float32)


@pytest.mark.few(2)
@pytest.mark.parametrize("target", ["numpy", "torch"])
@pytest.mark.parametrize(
    ("box", "kind"),
    [
        *((blocks(exponent=one), "float8_e4m3fn") for one, name in EXPONENTS if "logarithm" not in name),
        *((blocks(cast=one), "float8_e4m3fn") for one, _ in ELEMENTS),
        *((blocks(exponent=exponent_of_integers, cast=one), "int8") for one, _ in INTEGERS),
    ],
)
def test_a_file_gives_what_the_box_gives_blocks(box: Any, kind: str, target: str, tmp_path: Path) -> None:
    if target == "torch":
        pytest.importorskip("torch")
    path, x = tmp_path / "blocks.py", rows()
    told = written(box, target, path, BLOCKS, to=kind)
    assert told["exit"] == 0 and told["elements"] > 3_000, told
    wanted = [np.asarray(one).reshape(400, -1) for one in box(x.reshape(-1, 32))]
    if target == "numpy":
        elements, scale = loaded(path, "quantize")(x)
        assert elements.dtype == wanted[0].dtype and scale.dtype == wanted[1].dtype
    else:
        import torch

        elements, scale = (one.float().numpy() for one in loaded(path, "quantize")(torch.from_numpy(x)))
    for found, other in ((elements, wanted[0]), (scale, wanted[1])):
        assert np.array_equal(found.astype(np.float32), other.astype(np.float32))
    assert len(np.unique(scale.astype(np.float32))) > 50


def test_blocks_in_c(tmp_path: Path) -> None:
    path, x = tmp_path / "blocks.c", rows()
    box = blocks(exponent=exponent_of_integers, cast=INTEGERS[0][0])
    assert written(box, "c", path, BLOCKS, to="int8")["exit"] == 0
    elements, scale = np.zeros(x.shape, np.int8), np.zeros(800, np.float32)
    places = [one.ctypes.data_as(ctypes.c_void_p) for one in (x, elements, scale)]
    compiled(path).quantize(places[0], ctypes.c_size_t(800), *places[1:])
    wanted = box(x.reshape(-1, 32))
    assert np.array_equal(elements.reshape(-1, 32), wanted[0]) and len(np.unique(elements)) > 100
    assert np.array_equal(scale, wanted[1].astype(np.float32).reshape(-1))


@pytest.mark.few(4, of="extra")
@pytest.mark.parametrize(
    ("box", "extra"), [*((one, "") for one, *_ in SMALL_BLOCKS), *((one, GLOBAL) for one, *_ in TENSORS)]
)
def test_a_file_gives_what_the_box_gives_small_blocks(box: Any, extra: str, tmp_path: Path) -> None:
    path, x = tmp_path / "blocks.py", rows()[:, :32] * np.float32(2.0**-40)
    told = written(box, "numpy", path, SMALL, extra=extra)
    assert told["exit"] == 0 and told["elements"] > 3_000, told
    compared, quantize = 0, loaded(path, "quantize")
    for whole in (np.float32(3.7), np.float32(55)) if extra else (None,):
        given = () if whole is None else (whole,)
        x = np.ldexp(x, -int(np.log2(np.abs(x).max()))) * (np.float32(400) if whole is None else whole)
        with np.errstate(all="ignore"):
            elements, scale = (np.asarray(one) for one in box(x.reshape(-1, 16), *given))
        found, own = quantize(x, *given)
        assert own.dtype == scale.dtype and found.dtype == elements.dtype
        assert np.array_equal(own.reshape(-1, 1).view(np.uint8), scale.view(np.uint8))
        usual = scale.astype(np.float32).reshape(-1) > 0  # what is divided by 0 was not asked
        same = found.reshape(-1, 16).astype(np.float32)[usual] == elements.astype(np.float32)[usual]
        assert same.all()
        compared += same.size
    assert compared > 500


@pytest.mark.parametrize("extra", ["", GLOBAL])
def test_small_blocks_in_c(extra: str, tmp_path: Path) -> None:
    path, x = tmp_path / "blocks.c", np.ascontiguousarray(rows()[20:60] * np.float32(2.0**-5))
    box, whole = (TENSORS[0][0] if extra else SMALL_BLOCKS[0][0]), np.float32(2.5)
    x = np.ascontiguousarray(np.clip(x, -2.5, 2.5))
    assert written(box, "c", path, SMALL, extra=extra)["exit"] == 0
    elements, scale = np.zeros(x.shape, np.float32), np.zeros(x.size // 16, np.float32)
    places = [one.ctypes.data_as(ctypes.c_void_p) for one in (x, elements, scale)]
    of_tensor = [ctypes.c_float(float(whole))] if extra else []
    compiled(path).quantize(places[0], ctypes.c_size_t(x.size // 16), *of_tensor, *places[1:])
    with np.errstate(all="ignore"):
        wanted = box(x.reshape(-1, 16), *([whole] if extra else []))
    assert np.array_equal(scale, wanted[1].astype(np.float32).reshape(-1))
    usual = scale > 0
    assert np.array_equal(elements.reshape(-1, 16)[usual], wanted[0].astype(np.float32)[usual]) and usual.sum() > 20
    refused = CliRunner().invoke(main, ["audit", "torchao", "--operator", SMALL, "--emulator", "torch"])
    assert refused.exit_code == 2 and "--emulator numpy, c, not torch" in refused.stderr


def test_a_logarithm_is_refused(tmp_path: Path) -> None:
    (logarithm,) = (one for one, name in EXPONENTS if "logarithm" in name)
    told = written(blocks(exponent=logarithm), "numpy", tmp_path / "blocks.py", BLOCKS, to="float8_e4m3fn")
    assert told["exit"] == 4 and "a logarithm in float32" in told["why"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("operator", [DYNAMIC, BACK, BLOCKS, SMALL, f"{SMALL} {GLOBAL}"])
def test_every_value_of_every_stages_facets(operator: str, target: str) -> None:
    """The files of single outputs give what their tables predict."""
    if target == "torch":
        pytest.importorskip("torch")
    operator, *extra = operator.split()
    node = audited_node(operator, {}, "", "", 0, *extra)
    small = TENSORS[0][0] if extra else SMALL_BLOCKS[0][0]
    box = {DYNAMIC: dynamic(), BACK: partial(in_numpy, node), BLOCKS: blocks(), SMALL: small}[operator]
    compared = 0
    for stage in STAGED[operator].stages(node, Caller(Backend(box), node)):  # type: ignore[arg-type]
        table = stage.arithmetic
        probes = list(table.first_probes())
        for semantics in dict.fromkeys(single_changes(table)):
            if any("logarithm" in value.id for value in semantics):
                continue
            if target == "torch" and table.node.output_type == "float4_e2m1fn":
                continue
            compared += check_as_predicted(table, semantics, target, probes)
    assert compared > 15_000


def test_a_box_of_no_table_has_no_file(tmp_path: Path) -> None:
    told = written(dynamic(result=result_of_square_root), "numpy", tmp_path / "box.py")
    assert told["file"] is None and told["exit"] == 1
    assert told["why"] == "y: no known semantics fits: there is no one arithmetic to emulate"
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_differs_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tiebreak.conformance.emulators import job

    right = job.STAGED_FILES["numpy"]
    floored = {"numpy": lambda *given: right(*given).replace("np.rint(q", "np.floor(q")}
    monkeypatch.setattr(job, "STAGED_FILES", floored)
    told = written(dynamic(), "numpy", tmp_path / "box.py")
    assert told["exit"] == 1 and told["file"] is None and told["differs"]["backend"] != told["differs"]["emulator"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["int8", "uint4"])
def test_blocks_are_brought_back(kind: str, tmp_path: Path) -> None:
    path, node = tmp_path / "blocks.py", audited_node(BACK, {}, kind, "", 0)
    assert written(partial(in_numpy, node), "numpy", path, BACK, kind)["exit"] == 0
    run, random = load_backend(f"{path}:Emulator").compile(node), np.random.default_rng(3)
    x = random.integers(0, 15, (4, 64)).astype(node.inputs[0].dtype)
    scale = (random.normal(size=(4, 2)) * 3).astype(np.float16)
    with np.errstate(all="ignore"):
        (wanted,) = in_numpy(node, x, scale)
    (found,) = run(x, scale)
    assert found.dtype == np.float32 and np.array_equal(found, wanted) and len(np.unique(found)) > 50


def test_the_command_writes_the_functions_of_all_outputs(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    path, said = tmp_path / "dynamic.py", ["audit", "onnxruntime", "--operator", DYNAMIC, "--emulator"]
    result = CliRunner().invoke(main, [*said, "numpy", "-o", str(path)])
    assert result.exit_code == 0 and "an emulator, which gives what the backend gave for 2" in result.output
    text = path.read_text(encoding="utf-8")
    for line in ("y_scale, of one_end and other_end:", "y, of x, scale, zero_point and width:"):
        assert f"# {line}" in text.splitlines()
    backend, node = load_backend(f"{path}:Emulator"), audited_node(DYNAMIC, {}, "", "", 0)
    real, run = load_backend("onnxruntime").compile(node), backend.compile(node)
    for x in arrays():
        found, wanted = run(x), real(x)
        assert all(np.array_equal(one, other) for one, other in zip(found, wanted, strict=True)), x
    again = CliRunner().invoke(main, ["audit", f"{path}:Emulator", "--operator", DYNAMIC])
    assert again.exit_code == 0, again.output
    refused = CliRunner().invoke(main, [*said, "onnx"])
    assert refused.exit_code == 2 and "has a function for each output: --emulator numpy, torch, c" in refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("backend", "operator"), [("openvino", DYNAMIC), ("gguf", BACK), ("gguf", f"{BACK} uint4"), ("torchao", BLOCKS)]
)
def test_a_library_and_its_emulator(backend: str, operator: str, target: str, tmp_path: Path) -> None:
    pytest.importorskip(backend)
    name, *kind = operator.split()
    given = ["audit", backend, "--operator", name, *(("--input-type", *kind) if kind else ())]
    result = CliRunner().invoke(main, [*given, "--emulator", target, "-o", str(tmp_path / "file")])
    assert result.exit_code == 0 and "an emulator, which gives what the backend gave" in result.output, result.output


def test_a_scale_of_zeros_is_the_one_that_was_seen(tmp_path: Path) -> None:
    for scale, wanted in ((plain_scale, 1.0), (scale_by_reciprocal, 0.0)):
        path = tmp_path / f"{scale.__name__}.py"
        assert written(dynamic(scale=scale), "numpy", path)["exit"] == 0
        assert float(loaded(path, "y_scale")(0, 0)) == wanted


def test_there_is_a_function_of_the_whole_in_every_language() -> None:
    assert {tuple(sorted(one.texts)) for one in OF_STAGES.values()} == {tuple(sorted(TARGETS)), ("c", "numpy")}
    assert {name for name, one in STAGED.items() if one.stages in OF_STAGES} == {DYNAMIC, BACK, BLOCKS, SMALL}
