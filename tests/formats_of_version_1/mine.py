import numpy as np
from tiebreak import Unsupported


class Mine:
    name, version = "mine", "0.1"
    operators = {"onnx.QuantizeLinear"}

    def compile(self, node):
        types = [tensor.dtype.name for tensor in (*node.inputs, *node.outputs)]
        if types != ["float32", "float32", "uint8", "uint8"] or node.attributes:
            raise Unsupported("only float32 to uint8, without attributes")
        return self.run

    def run(self, x, scale, zero_point):
        if scale.ndim:
            raise Unsupported("only one scale")
        q = np.floor(x / scale + np.float32(0.5)) + zero_point  # looks right, is not
        return (np.clip(np.nan_to_num(q), 0, 255).astype(np.uint8),)
