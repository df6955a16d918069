"""How a backend runs a node: the protocol, one file a backend, process isolation."""
