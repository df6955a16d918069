"""Files that compute what an audit found that a backend computes, in NumPy, PyTorch, C or ONNX."""
