"""What is shown of runtimes' messages: real ones, as they came."""

from __future__ import annotations

import pytest

from tiebreak.golden.messages import gist, last_words

GISTS = (
    ("[ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running QuantizeLinear node. Name:'' Status "
     "Message: /onnxruntime_src/include/onnxruntime/core/framework/tensor.h:230 const T* onnxruntime::Tensor::Data() "
     "const [with T = float] utils::IsPrimitiveDataType<T>(dtype_) was false. Tensor type mismatch.",
     "[ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running QuantizeLinear node. Name:'' Status "
     "Message: utils::IsPrimitiveDataType<T>(dtype_) was false. Tensor type mismatch."),
    ("Status Message: /onnxruntime_src/onnxruntime/core/providers/cpu/quantization/quantize_linear.cc:81 void "
     "onnxruntime::PrepareForQDQ(const TensorShape&, const Tensor&, const Tensor*, int64_t, int64_t) zero_point_shape "
     "mismatch", "Status Message: zero_point_shape mismatch"),
    ("Exception from src/inference/src/cpp/core.cpp:117: Exception from src/inference/src/dev/plugin.cpp:54: Check "
     "'in_t_range<ET>(value)' failed at src/core/src/op/constant.cpp:189: 65535 assigned value out of range for f16",
     "Check 'in_t_range<ET>(value)' failed: 65535 assigned value out of range for f16"),
    ("{{function_node __wrapped__QuantizeV2_device_/job:localhost/replica:0/task:0/device:CPU:0}} input_max_range must "
     "be larger than input_min_range. [Op:QuantizeV2] name: ",
     "input_max_range must be larger than input_min_range. [Op:QuantizeV2] name:"),
    ("thread 'main' panicked at data/src/tensor.rs:12:34: index out of bounds",
     "thread 'main' panicked: index out of bounds"),
    ("x 2.5 (of 3) is no multiple of 1/3: a::b", "x 2.5 (of 3) is no multiple of 1/3: a::b"),
    ("src/a.cc:1", "src/a.cc:1"),
    ("ValueError: one element is bad (at mine.py:23 in run)", "ValueError: one element is bad (at mine.py:23 in run)"),
)  # fmt: skip

TENSORFLOW = """\
I0000 00:00:1795332243.605251    6812 port.cc:153] oneDNN custom operations are on. Errors may differ.
F0000 00:00:1795332246.506171    6812 mkl_util.h:1523] 'data_buffer' Must be non NULL
*** Check failure stack trace: ***
    @     0x7f24250ce564  absl::lts_20250814::log_internal::LogMessage::SendToLog()
    @     0x7f2410aa1274  tensorflow::MklDnnData<>::SetUsrMemDataHandle()
    @     0x7f242dba6ce3  cfunction_call
"""
RUST = """\
loading
thread '<unnamed>' panicked at src/lib.rs:12:5:
out of bounds: the len is 3 but the index is 7
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
stack backtrace:
   0: rust_begin_unwind
             at /rustc/0000/library/std/src/panicking.rs:665:5
"""
ASSERTION = "starting\nprog: a.c:12: main: Assertion `scale > 0' failed.\nAborted (core dumped)\n"


@pytest.mark.parametrize(("message", "told"), GISTS)
def test_a_gist_has_the_words_behind_the_place(message: str, told: str) -> None:
    assert gist(message) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (TENSORFLOW, "F0000 00:00:1795332246.506171 6812 mkl_util.h:1523] 'data_buffer' Must be non NULL"),
        (
            RUST,
            "loading thread '<unnamed>' panicked at src/lib.rs:12:5: out of bounds: the len is 3 but the index is 7",
        ),
        (ASSERTION, "starting prog: a.c:12: main: Assertion `scale > 0' failed. Aborted (core dumped)"),
        ("nothing that says why\nthe end\n", "nothing that says why the end"),
        ("", ""),
    ],
    ids=["tensorflow", "rust", "assertion", "plain", "empty"],
)
def test_last_words_have_the_panic_and_no_stack(text: str, told: str) -> None:
    assert last_words(text, 600) == told


def test_long_last_words_keep_both_ends() -> None:
    told = last_words(f"{'chatter ' * 1000}\nCheck failed: first\n{'noise ' * 1000}\nthe very end", 300)
    assert told.startswith("Check failed: first noise")
    assert told.endswith("the very end")
    assert len(told) <= 300


@pytest.mark.parametrize(
    "text", ["a/" * 50_000, "a.cc:1 " * 20_000, "a::" * 50_000 + "x.cc:1 b::c(" * 10_000, "(" * 99_999]
)
def test_hostile_text_is_shown_too(text: str) -> None:
    assert len(last_words(text, 600)) <= 600
    assert gist(text[:2000])
