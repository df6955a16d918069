"""Exhaustive sweeps: every input of a type through a backend and the reference kernel."""
