"""Answers that depend on the path: the same operands, another layout, another answer."""
