"""Inferring which arithmetic a backend really does, from what it answers."""
