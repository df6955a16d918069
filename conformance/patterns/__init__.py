"""Runs patterns as a runtime ships them and with its rewrites switched off, and compares both with both truths."""
