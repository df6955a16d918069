"""Patterns: small graphs of operators, and their two truths: exact, and each node as written in float32."""
