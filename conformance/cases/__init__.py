"""The cases of a run: golden vectors, generated and typed cases, path probes, and pairs of cases that must agree."""
