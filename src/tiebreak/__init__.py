"""Tiebreak: conformance suite and differential verifier for tensor quantization operators."""
