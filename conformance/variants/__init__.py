"""What can go wrong with an operator's term: changes of its steps, and the backends that make them.

Read evaluation.py first: what a backend gives that computes a term. Then changes.py: how a term becomes a wrong one;
conversions.py and rewrites.py: what may happen to a number, and other ways to write a step. mutant.py makes a backend
of such changes.

one_step.py has what may stand for one step, by its operation alone: it tells which step a result breaks.

A run looks for what no table names among the changes of single_changes.py, each with its cause's id: of one step of any
operator's term. They come from number_changes.py, product_changes.py and result_changes.py. Changes of what a node is
given are in input_changes.py.
"""
