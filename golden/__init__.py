"""What is true: operators and their clauses, the exact oracle, the kernel, the golden vectors and their builder."""
