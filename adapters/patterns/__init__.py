"""How runtimes run patterns: as shipped, with single rewrites switched off, and node by node."""
