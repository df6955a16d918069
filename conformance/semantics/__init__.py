"""The tables that an audit searches: every combination of facets of an operator and what it gives."""
