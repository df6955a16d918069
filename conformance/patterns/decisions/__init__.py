"""Conditions of the rewrites that runtimes make, read in their sources, and settings on both sides of each."""
