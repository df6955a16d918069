"""Backends for other devices: refused where the device is missing, and swept on it, with torch's CPU for a device."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiebreak.adapters import torch_device
from tiebreak.adapters.registry import FOR_DEVICES, load_backend
from tiebreak.conformance.sweep.sweeper import Sweeper
from tiebreak.golden.errors import MachineryFailed, NoDevice
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node
from tiebreak.golden.space import Space

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch")
    from tiebreak.adapters import torch_decomposed
    from tiebreak.adapters.torch import PLAIN, Torch
    from tiebreak.adapters.torch_compiled import Inductor

HERE = Path(__file__)
CUDA = torch.cuda.is_available()


def on_a_device() -> Torch:
    """torch-cuda with the CPU as its device."""
    return Torch("torch-device", PLAIN, (torch_decomposed.MODULE,), device="cpu")


def on_no_device() -> Torch:
    return Torch("torch-host", PLAIN, (torch_decomposed.MODULE,))


class InRegions(Torch):
    """As on a GPU, where a call has the patterns of several blocks."""

    def device_sweep(self, node: Node) -> torch_device.DeviceSweep | None:
        found = super().device_sweep(node)
        return found and replace(found, region=1 << 24)


def in_regions() -> Torch:
    return InRegions("torch-device", PLAIN, (torch_decomposed.MODULE,), device="cpu")


def space(node: Node, scale: float, zero_point: int) -> Space:
    kinds = [tensor.dtype for tensor in node.inputs[1:]]
    others = tuple(np.array(value).astype(kind) for value, kind in zip((scale, zero_point), kinds, strict=True))
    return Space(node, others)


def blocks_of(attribute: str, of: Space, numbers: list[int]) -> Iterator[tuple[object, ...]]:
    with closing(Sweeper(f"{HERE}:{attribute}", of, pinned=False)) as sweeper:
        for block in sorted(sweeper.sweep(numbers), key=lambda block: block.number):
            assert not block.fault
            yield block.number, block.counts, block.sha256, json.dumps(block.folded.described())


@pytest.mark.parametrize("name", FOR_DEVICES)
def test_a_backend_without_its_device_says_so(name: str) -> None:
    if CUDA:
        pytest.skip("there is a device")
    with pytest.raises((NoDevice, ModuleNotFoundError), match=r"sees no|has no|No module named"):
        load_backend(name)


@pytest.mark.few(1)
@pytest.mark.parametrize("real", ["float16", "bfloat16"])
def test_a_sweep_on_a_device_finds_what_one_on_the_host_finds(real: str) -> None:
    node = make_node("onnx.QuantizeLinear", real=real, quantized="uint8")
    whole = space(node, 0.1, 128)
    on_device = list(blocks_of("on_a_device", whole, [0]))
    assert on_device == list(blocks_of("on_no_device", whole, [0]))


@pytest.mark.slow
def test_blocks_of_float32_are_judged_as_on_the_host() -> None:
    """Blocks around 0, of many codes, at the end of the range, infinity and NaN, of both signs."""
    node = make_node("onnx.QuantizeLinear", quantized="int8")
    whole, numbers = space(node, 0.1, 3), [0, 243, 262, 264, 509, 510, 755, 776, 1023]
    on_the_host = list(blocks_of("on_no_device", whole, numbers))
    assert list(blocks_of("on_a_device", whole, numbers)) == on_the_host
    assert list(blocks_of("in_regions", whole, numbers)) == on_the_host


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("source", "target", "attributes"),
    [
        ("float8_e5m2", "float16", {}),
        ("int8", "float8_e4m3fn", {}),
        ("uint8", "float8_e5m2", {"saturate": False}),
        ("uint16", "float8_e5m2fnuz", {"saturate": False}),
        ("bfloat16", "float8_e8m0fnu", {"saturate": False, "round_mode": "nearest"}),
    ],
)
def test_casts_from_narrow_types_are_swept_on_a_device(source: str, target: str, attributes: dict[str, Any]) -> None:
    node = make_node("onnx.Cast", real=source, quantized=target, attributes={"to": target, **attributes})
    on_device = list(blocks_of("on_a_device", Space(node, ()), [0]))
    assert on_device == list(blocks_of("on_no_device", Space(node, ()), [0]))


def test_blocks_of_a_region_share_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until another input changes; a region with too many runs is called block by block."""
    node, calls = make_node("onnx.QuantizeLinear", quantized="uint8"), list[int]()
    sweep = on_a_device().device_sweep(node)
    assert sweep is not None
    sizes = torch_device.DeviceSweep.codes
    monkeypatch.setattr(
        torch_device.DeviceSweep,
        "codes",
        lambda self, first, one, size, others: calls.append(size) or sizes(self, first, one, size, others),
    )
    shared, one, first, size = replace(sweep, region=1 << 20), np.zeros(1, np.float32), 0x41100000, 1 << 18
    for scale in (0.1, 0.3):
        others = np.asarray(np.float32(scale)), np.asarray(np.uint8(0))
        found = [shared.results(first + k * size, one, size, others) for k in (3, 1, 0, 2)]
        assert found == [sweep.results(first + k * size, one, size, others) for k in (3, 1, 0, 2)]
        assert calls == [1 << 20, *[size] * 4]
        calls.clear()
    monkeypatch.setattr(torch_device, "MOST_RUNS", 2)  # the four blocks have three runs, the first has one
    scale = np.asarray(np.float32(0.5)), np.asarray(np.uint8(0))
    assert isinstance(shared.results(first, one, size, scale), list)
    assert calls == [1 << 20, size]


def test_a_compiled_sweep_on_a_device_runs_what_is_compiled() -> None:
    compiled = Torch("torch-device", PLAIN, (torch_decomposed.MODULE,), compiler=Inductor, device="cpu")
    assert compiled.device_sweep(make_node("onnx.QuantizeLinear", quantized="uint8")) is None


def test_too_many_runs_come_back_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    node = make_node("onnx.QuantizeLinear", quantized="uint8")
    sweep, one = on_a_device().device_sweep(node), np.zeros(1, np.float32)
    assert sweep is not None
    others, size, first = (np.float32(0.1), np.uint8(0)), 1 << 16, int(np.float32(10).view(np.uint32))
    runs = sweep.results(first, one, size, tuple(map(np.asarray, others)))
    assert isinstance(runs, list) and runs[0][0] == 0 and runs[-1][1] == size
    monkeypatch.setattr(torch_device, "MOST_RUNS", 1)
    whole = sweep.results(first, one, size, tuple(map(np.asarray, others)))
    assert isinstance(whole, np.ndarray)
    spread = np.concatenate([np.repeat(np.frombuffer(code, np.uint8), end - begin) for begin, end, code in runs])
    assert np.array_equal(whole, spread)
    negative = sweep.results(0x80000000 + first, one, size, tuple(map(np.asarray, others)))
    assert negative == [(0, size, b"\0")]


def test_runs_that_a_device_gets_wrong_are_noticed() -> None:
    """A device that misses a change of the codes, and one that sees it a place too late."""

    class Mistaken:
        def __init__(self, found: Callable[[Any], Any]) -> None:
            self.found = found

        def __getattr__(self, name: str) -> Any:
            return getattr(torch, name)

        def nonzero(self, changes: Any) -> Any:
            return self.found(torch.nonzero(changes))

    node = make_node("onnx.QuantizeLinear", quantized="uint8")
    sweep, one = on_a_device().device_sweep(node), np.zeros(1, np.float32)
    assert sweep is not None
    others, first = (np.asarray(np.float32(0.1)), np.asarray(np.uint8(0))), int(np.float32(10).view(np.uint32))
    for wrong in (lambda ends: ends[1:], lambda ends: ends + 1):
        with pytest.raises(MachineryFailed, match="are not its results"):
            replace(sweep, library=Mistaken(wrong)).results(first, one, 1 << 16, others)


def test_a_script_puts_its_tensors_on_the_device() -> None:
    node = make_node("onnx.QuantizeLinear", quantized="uint8")
    lines = on_a_device().reproducer(node, (np.ones(2, np.float32), np.float32(1), np.uint8(0)))
    assert 'tensor(x).to("cpu")' in lines


@pytest.mark.skipif(not CUDA, reason="no CUDA device")
def test_cuda_rounds_ties_and_sweeps_as_the_host() -> None:
    node = make_node("onnx.QuantizeLinear", real="float16", quantized="uint8")
    assert "cuda" in load_backend("torch-cuda").attest()["device"]  # type: ignore[attr-defined]
    whole = space(node, 0.1, 128)
    with closing(Sweeper("torch-cuda", whole, pinned=False)) as sweeper:
        (block,) = sweeper.sweep([0])
    assert block.counts == next(iter(blocks_of("on_no_device", whole, [0])))[1]
