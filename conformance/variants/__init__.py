"""What can go wrong with an operator's term: changes of its steps, and the backends that make them.

Read evaluation.py first: what a backend gives that computes a term. Then changes.py: how a term becomes a wrong one;
conversions.py and rewrites.py: what may happen to a number, and other ways to write a step. mutant.py makes a backend
of such changes.

one_step.py has what may stand for one step, by its operation alone: it tells which step a result breaks.
"""
