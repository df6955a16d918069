# Written by `tiebreak vectors export --format onnx-node`.
# Each expected result is the only one that the operator's specification allows.

from __future__ import annotations

import ml_dtypes
import numpy as np

import onnx
from onnx.backend.test.case.base import Base
from onnx.backend.test.case.node import expect


class DequantizeLinear(Base):
    @staticmethod
    def export_dequantizelinear_tiebreak_000001() -> None:
        # onnx.DequantizeLinear/float4_e2m1fn/float32/blocks-of-powers
        x = np.array(
            [
                -3.0, 0.5, -2.0, 1.0, -2.0, 1.5, -1.5, 2.0, -1.0, 2.0, -0.5, 3.0, 0.0,
                -3.0,
            ],
            dtype=np.float32,
        ).astype(ml_dtypes.float4_e2m1fn).reshape((2, 7))
        x_scale = np.array(
            [
                0.25, 0.5, 1.0, 2.0, 4.0, 0.25,
            ],
            dtype=np.float32,
        ).astype(ml_dtypes.float8_e8m0fnu).reshape((2, 3))
        x_zero_point = np.array(
            [
                0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
            ],
            dtype=np.float32,
        ).astype(ml_dtypes.float4_e2m1fn).reshape((2, 3))
        y = np.array(
            [
                -0.75, 0.125, -0.5, 0.5, -1.0, 0.75, -1.5, 4.0, -2.0, 4.0, -2.0, 12.0,
                0.0, -0.75,
            ],
            dtype=np.float32,
        ).reshape((2, 7))
        node = onnx.helper.make_node(
            "DequantizeLinear",
            inputs=["x", "x_scale", "x_zero_point"],
            outputs=["y"],
            block_size=3,
            output_dtype=1,
        )
        expect(
            node,
            inputs=[x, x_scale, x_zero_point],
            outputs=[y],
            name="test_dequantizelinear_tiebreak_000001",
            opset_imports=[onnx.helper.make_opsetid("", 24)],
        )

    @staticmethod
    def export_dequantizelinear_tiebreak_000002() -> None:
        # onnx.DequantizeLinear/float4_e2m1fn/float32/scale--1_7
        x = np.array(
            [
                0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0,
                -3.0, -4.0, -6.0,
            ],
            dtype=np.float32,
        ).astype(ml_dtypes.float4_e2m1fn)
        x_scale = np.array(-0.1428571492433548, dtype=np.float32)
        y = np.array(
            [
                0.0, -0.0714285746216774, -0.1428571492433548, -0.2142857313156128,
                -0.2857142984867096, -0.4285714626312256, -0.5714285969734192,
                -0.8571429252624512, 0.0, 0.0714285746216774, 0.1428571492433548,
                0.2142857313156128, 0.2857142984867096, 0.4285714626312256,
                0.5714285969734192, 0.8571429252624512,
            ],
            dtype=np.float32,
        )
        node = onnx.helper.make_node(
            "DequantizeLinear",
            inputs=["x", "x_scale"],
            outputs=["y"],
        )
        expect(
            node,
            inputs=[x, x_scale],
            outputs=[y],
            name="test_dequantizelinear_tiebreak_000002",
            opset_imports=[onnx.helper.make_opsetid("", 23)],
        )

    @staticmethod
    def export_dequantizelinear_tiebreak_000003() -> None:
        # onnx.DequantizeLinear/float8_e4m3fn/float32/scale-small-25
        x = np.array(
            [
                -3.0, 0.5, -2.5, 1.0, -2.0, 1.5, -1.5, 2.0, -1.0, 2.5, -0.5, 3.0, 0.0,
                -3.0, 0.5, -2.5,
            ],
            dtype=np.float32,
        ).astype(ml_dtypes.float8_e4m3fn)
        x_scale = np.array(4.470348358154297e-08, dtype=np.float32)
        x_zero_point = np.array(0.0, dtype=np.float32).astype(ml_dtypes.float8_e4m3fn)
        y = np.array(
            [
                -1.341104507446289e-07, 2.2351741790771484e-08, -1.1175870895385742e-07,
                4.470348358154297e-08, -8.940696716308594e-08, 6.705522537231445e-08,
                -6.705522537231445e-08, 8.940696716308594e-08, -4.470348358154297e-08,
                1.1175870895385742e-07, -2.2351741790771484e-08, 1.341104507446289e-07,
                0.0, -1.341104507446289e-07, 2.2351741790771484e-08,
                -1.1175870895385742e-07,
            ],
            dtype=np.float32,
        )
        node = onnx.helper.make_node(
            "DequantizeLinear",
            inputs=["x", "x_scale", "x_zero_point"],
            outputs=["y"],
        )
        expect(
            node,
            inputs=[x, x_scale, x_zero_point],
            outputs=[y],
            name="test_dequantizelinear_tiebreak_000003",
            opset_imports=[onnx.helper.make_opsetid("", 21)],
        )

    @staticmethod
    def export_dequantizelinear_tiebreak_000004() -> None:
        # onnx.DequantizeLinear/int4/float32/special-largest-scale
        x = np.array(
            [
                -8, -1, 6, -3, 4, -5, 2, -7, 0, 7, -2, 5, -4, 3, -6, 1,
            ],
            dtype=np.int8,
        ).astype(ml_dtypes.int4)
        x_scale = np.array(3.4028234663852886e+38, dtype=np.float32)
        x_zero_point = np.array(0, dtype=np.int8).astype(ml_dtypes.int4)
        y = np.array(
            [
                -np.inf, -3.4028234663852886e+38, np.inf, -np.inf, np.inf, -np.inf,
                np.inf, -np.inf, 0.0, np.inf, -np.inf, np.inf, -np.inf, np.inf, -np.inf,
                3.4028234663852886e+38,
            ],
            dtype=np.float32,
        )
        node = onnx.helper.make_node(
            "DequantizeLinear",
            inputs=["x", "x_scale", "x_zero_point"],
            outputs=["y"],
        )
        expect(
            node,
            inputs=[x, x_scale, x_zero_point],
            outputs=[y],
            name="test_dequantizelinear_tiebreak_000004",
            opset_imports=[onnx.helper.make_opsetid("", 21)],
        )

    @staticmethod
    def export_dequantizelinear_tiebreak_000005() -> None:
        # onnx.DequantizeLinear/float8_e4m3fn/float16/special-subnormal-scale
        x = np.array(
            [
                -3.0, 0.5, -2.5, 1.0, -2.0, 1.5, -1.5, 2.0, -1.0, 2.5, -0.5, 3.0, 0.0,
                -3.0, 0.5, -2.5, 256.0, 288.0, 320.0, 352.0, 384.0, 416.0, 448.0,
                np.nan, -0.0, -0.001953125, -320.0, -352.0, -384.0, -416.0, -448.0,
                -np.nan,
            ],
            dtype=np.float32,
        ).astype(ml_dtypes.float8_e4m3fn)
        x_scale = np.array(1.7881393432617188e-07, dtype=np.float16)
        x_zero_point = np.array(0.0, dtype=np.float32).astype(ml_dtypes.float8_e4m3fn)
        y = np.array(
            [
                -5.364418029785156e-07, 1.1920928955078125e-07, -4.76837158203125e-07,
                1.7881393432617188e-07, -3.5762786865234375e-07, 2.384185791015625e-07,
                -2.384185791015625e-07, 3.5762786865234375e-07, -1.7881393432617188e-07,
                4.76837158203125e-07, -1.1920928955078125e-07, 5.364418029785156e-07,
                0.0, -5.364418029785156e-07, 1.1920928955078125e-07,
                -4.76837158203125e-07, 4.57763671875e-05, 5.14984130859375e-05,
                5.7220458984375e-05, 6.29425048828125e-05, 6.866455078125e-05,
                7.43865966796875e-05, 8.0108642578125e-05, np.nan, 0.0, 0.0,
                -5.7220458984375e-05, -6.29425048828125e-05, -6.866455078125e-05,
                -7.43865966796875e-05, -8.0108642578125e-05, np.nan,
            ],
            dtype=np.float16,
        )
        node = onnx.helper.make_node(
            "DequantizeLinear",
            inputs=["x", "x_scale", "x_zero_point"],
            outputs=["y"],
        )
        expect(
            node,
            inputs=[x, x_scale, x_zero_point],
            outputs=[y],
            name="test_dequantizelinear_tiebreak_000005",
            opset_imports=[onnx.helper.make_opsetid("", 21)],
        )

    @staticmethod
    def export_dequantizelinear_tiebreak_000006() -> None:
        # onnx.DequantizeLinear/float8_e5m2/float32/special-negative-scale
        x = np.array(
            [
                -3.0, 0.5, -2.5, 1.0, -2.0, 1.5, -1.5, 2.0, -1.0, 2.5, -0.5, 3.0, 0.0,
                -3.0, 0.5, -2.5, 32768.0, 40960.0, 49152.0, 57344.0, np.inf, np.nan,
                np.nan, np.nan, -0.0, -1.52587890625e-05, -49152.0, -57344.0, -np.inf,
                -np.nan, -np.nan, -np.nan,
            ],
            dtype=np.float32,
        ).astype(ml_dtypes.float8_e5m2)
        x_scale = np.array(-1.504632769052528e-36, dtype=np.float32)
        x_zero_point = np.array(0.0, dtype=np.float32).astype(ml_dtypes.float8_e5m2)
        y = np.array(
            [
                4.513898307157584e-36, -7.52316384526264e-37, 3.76158192263132e-36,
                -1.504632769052528e-36, 3.009265538105056e-36, -2.256949153578792e-36,
                2.256949153578792e-36, -3.009265538105056e-36, 1.504632769052528e-36,
                -3.76158192263132e-36, 7.52316384526264e-37, -4.513898307157584e-36,
                0.0, 4.513898307157584e-36, -7.52316384526264e-37, 3.76158192263132e-36,
                -4.930380657631324e-32, -6.162975822039155e-32, -7.395570986446986e-32,
                -8.628166150854817e-32, -np.inf, np.nan, np.nan, np.nan, 0.0,
                2.2958874039497803e-41, 7.395570986446986e-32, 8.628166150854817e-32,
                np.inf, np.nan, np.nan, np.nan,
            ],
            dtype=np.float32,
        )
        node = onnx.helper.make_node(
            "DequantizeLinear",
            inputs=["x", "x_scale", "x_zero_point"],
            outputs=["y"],
        )
        expect(
            node,
            inputs=[x, x_scale, x_zero_point],
            outputs=[y],
            name="test_dequantizelinear_tiebreak_000006",
            opset_imports=[onnx.helper.make_opsetid("", 21)],
        )

    @staticmethod
    def export_dequantizelinear_tiebreak_000007() -> None:
        # onnx.DequantizeLinear/int2/float32/scale-classes-blocks
        x = np.array(
            [
                -2, -1, 0, -2, -1, 1, 0, -1, 1, 0, -2, -1, 0, -2, -1, 1, 0, -1, 1, 0,
                -2, -1, 0, -2, -1, 1, 0, -1, 1, 0, -2, -1, 0, -2, -1, 1, 0, -1, 1, 0,
            ],
            dtype=np.int8,
        ).astype(ml_dtypes.int2).reshape((8, 5))
        x_scale = np.array(
            [
                4.203895392974451e-45, 4.203895392974451e-45, 5.877471754111438e-39,
                5.877471754111438e-39, 1.1754943508222875e-38, 1.1754943508222875e-38,
                1.0842021724855044e-19, 1.0842021724855044e-19, 0.10000000149011612,
                0.10000000149011612, 8.507059173023462e+37, 8.507059173023462e+37,
                1.7014118346046923e+38, 1.7014118346046923e+38, 2.5521177519070385e+38,
                2.5521177519070385e+38,
            ],
            dtype=np.float32,
        ).reshape((8, 2))
        x_zero_point = np.array(
            [
                -2, -2, 1, 1, -2, -2, 1, 1, -2, -2, 1, 1, -2, -2, 1, 1,
            ],
            dtype=np.int8,
        ).astype(ml_dtypes.int2).reshape((8, 2))
        y = np.array(
            [
                0.0, 4.203895392974451e-45, 8.407790785948902e-45, 0.0,
                4.203895392974451e-45, 0.0, -5.877471754111438e-39,
                -1.1754943508222875e-38, 0.0, -5.877471754111438e-39, 0.0,
                1.1754943508222875e-38, 2.350988701644575e-38, 0.0,
                1.1754943508222875e-38, 0.0, -1.0842021724855044e-19,
                -2.168404344971009e-19, 0.0, -1.0842021724855044e-19, 0.0,
                0.10000000149011612, 0.20000000298023224, 0.0, 0.10000000149011612, 0.0,
                -8.507059173023462e+37, -1.7014118346046923e+38, 0.0,
                -8.507059173023462e+37, 0.0, 1.7014118346046923e+38, np.inf, 0.0,
                1.7014118346046923e+38, 0.0, -2.5521177519070385e+38, -np.inf, 0.0,
                -2.5521177519070385e+38,
            ],
            dtype=np.float32,
        ).reshape((8, 5))
        node = onnx.helper.make_node(
            "DequantizeLinear",
            inputs=["x", "x_scale", "x_zero_point"],
            outputs=["y"],
            block_size=3,
        )
        expect(
            node,
            inputs=[x, x_scale, x_zero_point],
            outputs=[y],
            name="test_dequantizelinear_tiebreak_000007",
            opset_imports=[onnx.helper.make_opsetid("", 25)],
        )

    @staticmethod
    def export_dequantizelinear_tiebreak_000008() -> None:
        # onnx.DequantizeLinear/uint16/float32/zp65535-scale-1_3
        x = np.array(
            [
                0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 15, 16, 17, 19, 29, 31, 32, 33, 35,
                61, 63, 64, 65, 67, 125, 127, 128, 129, 131, 253, 255, 256, 257, 259,
                509, 511, 512, 513, 515, 1021, 1023, 1024, 1025, 1027, 2045, 2047, 2048,
                2049, 2051, 4093, 4095, 4096, 4097, 4099, 8189, 8191, 8192, 8193, 8195,
                16381, 16383, 16384, 16385, 16387, 21845, 21846, 21847, 32765, 32767,
                32768, 32769, 32771, 65532, 65533, 65534, 65535,
            ],
            dtype=np.uint16,
        )
        x_scale = np.array(0.3333333432674408, dtype=np.float32)
        x_zero_point = np.array(65535, dtype=np.uint16)
        y = np.array(
            [
                -21845.0, -21844.66796875, -21844.333984375, -21844.0, -21843.66796875,
                -21843.333984375, -21842.66796875, -21842.333984375, -21842.0,
                -21841.333984375, -21840.66796875, -21840.0, -21839.66796875,
                -21839.333984375, -21838.66796875, -21835.333984375, -21834.66796875,
                -21834.333984375, -21834.0, -21833.333984375, -21824.66796875, -21824.0,
                -21823.66796875, -21823.333984375, -21822.66796875, -21803.333984375,
                -21802.66796875, -21802.333984375, -21802.0, -21801.333984375,
                -21760.66796875, -21760.0, -21759.66796875, -21759.333984375,
                -21758.66796875, -21675.333984375, -21674.66796875, -21674.333984375,
                -21674.0, -21673.333984375, -21504.66796875, -21504.0, -21503.66796875,
                -21503.333984375, -21502.66796875, -21163.333984375, -21162.66796875,
                -21162.333984375, -21162.0, -21161.333984375, -20480.66796875, -20480.0,
                -20479.66796875, -20479.333984375, -20478.66796875, -19115.333984375,
                -19114.66796875, -19114.333984375, -19114.0, -19113.333984375,
                -16384.66796875, -16384.0, -16383.6669921875, -16383.333984375,
                -16382.6669921875, -14563.333984375, -14563.0, -14562.6669921875,
                -10923.333984375, -10922.6669921875, -10922.333984375, -10922.0,
                -10921.333984375, -1.0, -0.6666666865348816, -0.3333333432674408, 0.0,
            ],
            dtype=np.float32,
        )
        node = onnx.helper.make_node(
            "DequantizeLinear",
            inputs=["x", "x_scale", "x_zero_point"],
            outputs=["y"],
        )
        expect(
            node,
            inputs=[x, x_scale, x_zero_point],
            outputs=[y],
            name="test_dequantizelinear_tiebreak_000008",
            opset_imports=[onnx.helper.make_opsetid("", 21)],
        )
