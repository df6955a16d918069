"""What can go wrong with an operator's term: changes of its steps, and the backends that make them.

Read evaluation.py first: what a backend gives that computes a term. Then changes.py: how a term becomes a wrong one;
conversions.py and rewrites.py: what may happen to a number, and other ways to write a step. mutant.py makes a backend
of such changes.

one_step.py has what may stand for one step, by its operation alone: it tells which step a result breaks.

single_changes.py has every change of one step, whatever the operator, each with its cause's id. number_changes.py says
what happens to a number, product_changes.py how else it is computed, result_changes.py what it becomes.
input_changes.py changes what a node is given. A run looks among these changes for what no table names.
"""
