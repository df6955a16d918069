"""A second set of black boxes with known defects, written without a look at what names causes or at the first set's.

    python -m benchmarks.unseen_defects

An operator's arithmetic is a chain of steps. A defect is a function that stands in for one of them.
"""
