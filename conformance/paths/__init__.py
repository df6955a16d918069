"""Path dependence: the same operands give another answer in another layout."""
