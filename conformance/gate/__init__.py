"""What is new in a run, compared with a baseline and a waiver file."""
