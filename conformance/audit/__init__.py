"""Infers from a backend's answers which arithmetic it really uses."""
