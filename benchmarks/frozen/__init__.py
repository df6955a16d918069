"""What each known mistake predicts for the golden vectors, kept as digests, so that a rewrite of its table shows.

    python -m benchmarks.frozen write|check [--operator ID …] [--at-once N]

mistakes.json has a line for each cause of an operator, and for each document about it.
"""
