"""The golden vectors, one JSON file for an operator and a pair of element types. Never edited by hand."""
