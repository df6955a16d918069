"""Usual mistakes of `com.microsoft.QGemm` as small NumPy backends: those of QLinearMatMul, of C and of attributes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tiebreak.conformance.operators import onnx_qlinear_matmul_mistakes as mm
from tiebreak.conformance.operators import product_mistakes as pm
from tiebreak.conformance.operators.model import Mistake
from tiebreak.conformance.operators.wrong_steps import WrongStep, frequent, pairs_of_steps, single_steps, step
from tiebreak.conformance.semantics import folded_scales as fs
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.microsoft_qgemm import ID, NUMBERS, given
from tiebreak.golden.problem import Array
from tiebreak.golden.products import of_columns

ONE = np.ones((), np.float32)


def as_said(node: Node) -> tuple[bool, bool]:
    return node.value("transA"), node.value("transB")


@dataclass(frozen=True)
class GemmSteps:
    """Steps in order, the right ones unless given. Those after the quotient do nothing to an output of numbers."""

    turned: Callable[[Node], tuple[bool, bool]] = as_said  # whether A and B are transposed
    read: pm.Read = pm.as_they_are
    total: pm.Sum = pm.exact
    bias: Callable[[Array, Array], Array] = lambda total, bias: total + bias
    of_product: Callable[[Array, Array], Array] = lambda total, alpha: total  # what alpha does before C is added
    alpha: Callable[[Array], Array] = lambda alpha: alpha
    places: Callable[[fs.Scales, tuple[int, ...]], fs.Scales] = mm.same_places
    quotient: mm.Quotient = fs.divided
    point: Callable[[Node, Array], Array] = lambda node, point: point
    finish: mm.Finish = mm.rounded_then_added
    clamp: Callable[[Node, Array], Array] = mm.clamped

    def __call__(self, node: Node, *inputs: Array) -> tuple[Array, ...]:
        own = given(node, inputs)
        a, b = (own[name].T if flips else own[name] for name, flips in zip("AB", self.turned(node), strict=True))
        check_fit(a, b, own["b_scale"])
        total = self.total(self.read(node, pm.operands_of(ID, a, own["a_zero_point"], b, own["b_zero_point"])))
        alpha = np.asarray(node.value("alpha"), np.float32)
        total = self.of_product(total, alpha)
        if "C" in own:
            total = self.bias(total, own["C"].astype(np.int64))
        first = self.alpha(alpha) * own["a_scale"]
        scales = first, of_columns(ID, "b_scale", own["b_scale"], b.shape), own.get("y_scale", ONE)
        quotient = self.quotient(total, self.places(scales, total.shape))
        if node.output_type == NUMBERS:
            return (quotient.astype(np.float32),)
        point = self.point(node, own["y_zero_point"].astype(np.int64)).astype(np.float64)
        found = self.clamp(node, self.finish(node, quotient, point))
        if np.isnan(found).any():
            raise ValueError("no integer")
        return (found.astype(np.int64).astype(node.outputs[0].dtype),)


def check_fit(a: Array, b: Array, b_scale: Array) -> None:
    """ValueError where matrices that are not transposed fit no more."""
    if a.shape[1] != b.shape[0] or b_scale.size not in (1, b.shape[1]):
        raise ValueError("there is nothing to mistake")


def pipeline(**steps: Any) -> Mistake:
    return GemmSteps(**steps)


def without_a(node: Node) -> tuple[bool, bool]:
    return False, node.value("transB")


def without_b(node: Node) -> tuple[bool, bool]:
    return node.value("transA"), False


def rounded_sum(total: Array, bias: Array) -> Array:
    return (total.astype(np.float32) + bias.astype(np.float32)).astype(np.int64)


OWN = (
    frequent("ignores:C", "bias", bias=lambda total, bias: total),
    step("bias-subtracted", "bias", bias=lambda total, bias: total - bias),
    step("bias-twice", "bias", bias=lambda total, bias: total + 2 * bias),
    step("bias-to:float32", "bias", bias=lambda total, bias: total + bias.astype(np.float32).astype(np.int64)),
    step("sum-with-bias-in:float32", "bias", bias=rounded_sum),
    frequent("ignores:alpha", "product", alpha=lambda alpha: ONE),
    step("bias-without-alpha", "bias", of_product=lambda total, alpha: total * fs.wide(alpha), alpha=lambda alpha: ONE),
    step("ignores:transA", "rows", turned=without_a),
    step("ignores:transB", "matmul", turned=without_b),
)
OF_PRODUCTS = (*mm.QUOTIENTS, *pm.SUMS, mm.BY_ONE_FACTOR, *pm.READS, *mm.ROUNDED, *mm.FINISHES, *mm.PLACES)
# With scales of float32 alone these round as the document's steps do, or as another entry.
NONE = ("computes-in:float32", "computes-in:float64", "folds-scales-in:float32", "folds-scales-in:float64")
# A has one scale and one zero point: nothing of its rows.
STEPS: tuple[WrongStep, ...] = (*(one for one in OF_PRODUCTS if one.role != "rows" and one.id not in NONE), *OWN)
MISTAKES = single_steps(pipeline, STEPS)
PAIRS = pairs_of_steps(pipeline, STEPS)
