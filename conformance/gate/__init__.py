"""What is new in a run, against a baseline and a waiver file."""
