"""A backend in frames of version 1 (docs/external-programs.md), with Python's own library alone."""

import json
import struct
import sys

FLOAT_TO_BYTE = ["float32", "float32", "uint8"]


def answered(request):
    """The reply to a request, and the bytes that follow it."""
    data = sys.stdin.buffer.read(request.get("bytes", 0))
    if request["request"] == "hello":
        return {"name": "kept", "version": "0.1", "protocol": 1, "operators": ["onnx.QuantizeLinear"]}, b""
    if request["request"] == "compile":
        node = request["node"]
        types = [tensor["dtype"] for tensor in node["inputs"]]
        if types != FLOAT_TO_BYTE or node["attributes"]:
            return {"status": "unsupported", "message": "only float32 to uint8, without attributes"}, b""
        return {}, b""
    x, scale, zero_point = request["tensors"]
    if scale["shape"]:
        return {"status": "unsupported", "message": "one scale for the whole tensor only"}, b""
    numbers = struct.unpack(f"<{(len(data) - 1) // 4}f", data[:-1])
    codes = [code(number / numbers[-1], data[-1]) for number in numbers[:-1]]
    return {"tensors": [{"dtype": "uint8", "shape": x["shape"]}]}, bytes(codes)


def code(quotient, zero_point):
    """Ties away from zero, a mistake; 0 for NaN."""
    if quotient != quotient:
        return 0
    if abs(quotient) > 1000:
        return 255 if quotient > 0 else 0
    away = int(abs(quotient) + 0.5) * (1 if quotient > 0 else -1)
    return max(0, min(255, away + zero_point))


for line in sys.stdin.buffer:
    request = json.loads(line)
    reply, tensors = answered(request)
    sys.stdout.buffer.write(json.dumps({"id": request["id"], "status": "ok", **reply}).encode() + b"\n" + tensors)
    sys.stdout.buffer.flush()
