"""Inputs of golden vectors: made by theme, found by search, or kept as witnesses."""
