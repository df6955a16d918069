"""Named arithmetics compared for every scale and every input."""
