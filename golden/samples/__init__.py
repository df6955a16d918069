"""Inputs of the golden vectors, made on purpose, one file an operator; the oracle adds the results."""
