"""The tables that an audit searches: an operator's facets, and what each combination of their values gives."""
