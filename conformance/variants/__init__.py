"""What can go wrong with a term."""
