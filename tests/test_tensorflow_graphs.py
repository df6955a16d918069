"""TensorFlow in graphs and compiled by XLA, in processes of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec

import numpy as np
import pytest

from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.adapters.registry import ON_REQUEST, library_of, usual
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case

if find_spec("tensorflow") is None:  # not imported, which takes seconds
    pytest.skip("needs tensorflow", allow_module_level=True)

FAKE = make_node("tensorflow.FakeQuantWithMinMaxVars")
X = np.array([[-1.0, 0.5, 2.26], [3.01, 7.0, 0.0]], np.float32)


@pytest.fixture(scope="module", params=["tensorflow-graph", "tensorflow-xla"])
def backend(request: pytest.FixtureRequest) -> Iterator[IsolatedBackend]:
    with closing(IsolatedBackend(request.param, time_limit=120)) as found:
        yield found


@pytest.mark.few(1)
def test_an_operator_gives_its_result_at_every_shape(backend: IsolatedBackend) -> None:
    for x in (X, X[0], X[:, :1], np.zeros((0,), np.float32)):
        outcome = backend.run(Case("c", FAKE, (x, np.float32(0), np.float32(6))))
        assert outcome.status == "ok", outcome.message
        expected = np.clip(np.rint(x * 42.5), 0, 255) / np.float32(42.5)
        np.testing.assert_allclose(outcome.outputs[0], expected, atol=1e-6)


def test_an_attribute_makes_another_graph(backend: IsolatedBackend) -> None:
    narrow = make_node("tensorflow.FakeQuantWithMinMaxVars", attributes={"num_bits": 2})
    outcome = backend.run(Case("c", narrow, (X, np.float32(0), np.float32(6))))
    assert outcome.outputs[0].tolist() == [[0, 0, 2], [4, 6, 0]]


def test_the_record_says_what_ran(backend: IsolatedBackend) -> None:
    told = backend.attestation([FAKE.key])
    assert ("jit_compile=True" in told["execution"]) == (backend.spec == "tensorflow-xla")
    assert told["execution"].startswith("tf.function") and told["operators"] == "FakeQuantWithMinMaxVars"
    assert backend.claims.library == "tensorflow" and set(backend.claims.maps) == {"onnx.Cast"}


def test_xla_refuses_in_its_own_words_what_it_lacks(backend: IsolatedBackend) -> None:
    node = make_node("tensorflow.QuantizeV2", quantized="int8", attributes={"mode": "SCALED"})
    outcome = backend.run(Case("c", node, (X, np.float32(-1), np.float32(1))))
    if backend.spec == "tensorflow-graph":
        assert outcome.status == "ok", outcome.message
    else:
        assert outcome.status == "unsupported" and "QuantizeV2" in outcome.message


def test_they_run_only_where_they_are_named() -> None:
    assert not set(ON_REQUEST) & set(usual())
    assert {library_of(name) for name in ON_REQUEST} == {
        "ggml",
        "jax",
        "litert",
        "onnxruntime",
        "openvino",
        "paddle",
        "tensorflow",
        "torch",
        "triton-interpreter",
    }
