"""Environments: interpreters of their own, each with one release of a library, in which workers run."""
