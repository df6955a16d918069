"""A program for `exec:` that answers every case with 5s, and with the fault that its argument names at 7 elements."""

import json
import os
import signal
import sys
import time
from typing import Any

FAULT = sys.argv[1]
OK = {"status": "ok"}


def write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def reply(header: dict[str, Any], data: bytes = b"") -> None:
    write(json.dumps({"id": request["id"], **header}).encode() + b"\n" + data)


def tensor(dtype: Any = "uint8", shape: Any = (7,), data: bytes = b"\5" * 7) -> None:
    reply({"status": "ok", "tensors": [{"dtype": dtype, "shape": shape}]}, data)


def crash(number: int) -> None:
    print("last words", file=sys.stderr, flush=True)
    os.kill(os.getpid(), number)


def half(then_end: bool) -> None:
    write(b'{"status": "ok", "tens')
    if not then_end:
        os.close(1)
        time.sleep(3600)
    os._exit(0)


def short() -> None:
    """Less than it announces, and then a hang."""
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", encoding="utf-8") as stream:
            stream.write(str(os.getpid()))
    tensor(shape=[9])
    time.sleep(3600)


FAULTS = {
    "aborts": lambda: crash(signal.SIGABRT),
    "is killed": lambda: crash(signal.SIGKILL),
    "exits 0": lambda: os._exit(0),
    "half a frame": lambda: half(True),
    "closes": lambda: half(False),
    "short": short,
    "garbage": lambda: write(b"\x00\xffrubbish\n"),
    "no newline": lambda: write(b"Segmentation"),
    "endless": lambda: write(b'{"a": "' + b"x" * (3 << 20)),
    "deep": lambda: write(b'{"a":' * 100_000 + b"\n"),
    "not json": lambda: write(b"{status: ok}\n"),
    "no id": lambda: write(b'{"status": "ok"}\n'),
    "no status": lambda: reply({"tensors": []}),
    "another status": lambda: reply({"status": "fine"}),
    "huge": lambda: tensor(shape=[10**12]),
    "huge together": lambda: reply({"status": "ok", "tensors": [{"dtype": "int8", "shape": [1 << 30]}] * 3}),
    "negative": lambda: tensor(shape=[-7]),
    "fraction": lambda: tensor(shape=[7.0]),
    "text for a shape": lambda: tensor(shape="7"),
    "many dimensions": lambda: tensor(shape=[1] * 70, data=b"\5"),
    "objects": lambda: tensor(dtype="object"),
    "no type": lambda: reply({"status": "ok", "tensors": [{"shape": [7]}]}),
    "no int4": lambda: tensor(dtype="int4", data=b"\1\2\3\x08\0\0\0"),
    "twice": lambda: (tensor(), tensor()),
    "wrong type": lambda: tensor(dtype="int8"),
    "says error": lambda: reply({"status": "error", "message": "the device\nis on fire"}),
    "says unsupported": lambda: reply({"status": "unsupported", "message": "seven"}),
    "stderr": lambda: (print("a word", file=sys.stderr), tensor()),
}
HELLOS: dict[str, Any] = {
    "nameless": {"status": "ok", "version": "1"},
    "protocol 2": {"status": "ok", "name": "x", "version": "1", "protocol": 2},
    "operators": {"status": "ok", "name": "x", "version": "1", "operators": "onnx.QuantizeLinear"},
    "refuses": {"status": "unsupported", "message": "no licence"},
}

if FAULT == "banner":
    write(b"NPU driver 1.0\n")
if FAULT == "ends":
    os._exit(0)
for line in sys.stdin.buffer:
    request = json.loads(line)
    sys.stdin.buffer.read(request.get("bytes", 0))
    if request["request"] == "hello":
        reply(HELLOS.get(FAULT, {"status": "ok", "name": "faulty", "version": "1"}))
    elif request["request"] == "compile":
        reply({"status": "unsupported"} if request["node"]["attributes"] else OK)
    else:
        shape = request["tensors"][0]["shape"]
        if shape == [7]:
            FAULTS[FAULT]()
        else:
            tensor(shape=shape, data=b"\5" * shape[0])
