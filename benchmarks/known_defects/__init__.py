"""How often Tiebreak names the true cause: black boxes with known defects, written without a look at what names causes.

    python -m benchmarks.known_defects

Each box is an operator's arithmetic, step by step as its document has it, with one or two steps done wrongly.
"""
