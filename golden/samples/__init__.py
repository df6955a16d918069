"""Inputs of the golden vectors, one file per operator. The oracle adds the results."""
