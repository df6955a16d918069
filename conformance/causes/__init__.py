"""Why elements deviate: known mistakes weighed over all that a backend did."""
