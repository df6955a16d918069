"""The conformance suite as pytest tests: `pytest --pyargs tiebreak.conformance.suite`."""
