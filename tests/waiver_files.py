"""Waiver files for tests."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

WAIVER: dict[str, Any] = {
    "backend": "dev",
    "operator": "onnx.QuantizeLinear",
    "cause": "wrong tie rule: *",
    "reason": "known",
    "link": "https://example.org/1",
    "expires": date(2099, 1, 1),
}


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {toml(one)}" for name, one in value.items()) + " }"
    return value.isoformat() if isinstance(value, date) else json.dumps(value)


def waiver_file(folder: Path, *changes: dict[str, Any]) -> Path:
    """A file of waivers, each WAIVER with some keys changed; None leaves one out."""
    entries = [{k: v for k, v in (WAIVER | change).items() if v is not None} for change in changes]
    text = "\n".join("[[waiver]]\n" + "\n".join(f"{k} = {toml(v)}" for k, v in entry.items()) for entry in entries)
    path = folder / "waivers.toml"
    path.write_text(text, encoding="utf-8")
    return path
