"""The one language of arithmetic: an operator's document as a term, and what reads terms.

term.py has the steps that a term is made of, results.py the codes in which a result ends, real.py says what a term
gives for one element, text.py writes it down. The terms themselves stand in golden/operators, each beside its clauses.
"""
