"""Proves that two expressions are equal for all inputs, scales and zero points, or finds where they are not."""
