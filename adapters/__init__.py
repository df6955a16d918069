"""Backends: the protocol that they follow, one file for each library, and the processes that isolate them."""
